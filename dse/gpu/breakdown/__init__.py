"""Measured times of a kernel over tile widths, split into computing and moving data: Chapa Martell 2014."""
