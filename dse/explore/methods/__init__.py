"""Search methods behind the ask/tell seam, one a file."""
