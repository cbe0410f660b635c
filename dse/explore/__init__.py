"""Layer 5: search over design points."""
