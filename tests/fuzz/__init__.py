"""Attacks: seeded functions that make a random hostile case, run it in this process, and say what went wrong."""
