"""Layer 1: errors with spans, diagnostics with caret, units, registry. Standard library only."""
