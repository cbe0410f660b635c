"""The fast engine: numba over flat arrays, equal to the reference in every integer."""
