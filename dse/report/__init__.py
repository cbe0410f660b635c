"""Layer 6: tables, pages, configuration files."""
