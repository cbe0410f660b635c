"""Layer 3: runs a network in Python and records its trace."""
