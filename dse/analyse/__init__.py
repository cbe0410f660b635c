"""Layer 6: why a mapping is slow."""
