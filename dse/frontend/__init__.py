"""Layer 3: source languages to the IR."""
