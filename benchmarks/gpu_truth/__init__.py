"""Predicted times of GPU kernels beside measured ones."""
