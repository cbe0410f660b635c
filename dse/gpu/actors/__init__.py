"""Actors on a GPU: bodies cut into kernels, the cost of firings, weights of a network."""
