"""RVC-CAL source to IR."""
