"""Predicted times of GPU kernels beside times that nobody had looked at when the model was written."""
