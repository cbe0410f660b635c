"""Layer 3: one module a file format, reader and writer."""
