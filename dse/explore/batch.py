"""How many points a search asks for at a time."""

BATCH = 8
"""Points asked for at a time, unless the user says otherwise. Results depend on it, never on the number of workers."""
