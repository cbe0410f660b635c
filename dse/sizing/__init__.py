"""Layer 5: sizes of FIFOs for a mapping."""
