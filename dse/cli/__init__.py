"""Layer 8: the command line, one file a verb."""
