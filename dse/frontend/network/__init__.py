"""XDF networks: source roots, elaboration, checks."""
