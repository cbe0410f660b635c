"""Layer 2: the frozen types that cross stages. No input or output here."""
