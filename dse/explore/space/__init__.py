"""The design space: what may be chosen, counted, and what is equivalent."""
