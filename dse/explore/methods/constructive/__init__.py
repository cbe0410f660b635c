"""Methods that build a mapping from loads and traffic."""
