"""Kernels: their plan, instructions and counts, and what tiling and transposing do to them."""
