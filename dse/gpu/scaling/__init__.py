"""Scaling of time and power over the configurations of a card, learnt from measured kernels: Wu et al. 2015."""
