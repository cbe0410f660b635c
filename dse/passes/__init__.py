"""Layer 3: analyses and rewrites of the IR."""
