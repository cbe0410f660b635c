"""Layer 3: the arithmetic of the language, analyses and rewrites of the IR."""
