"""Layer 7: the user's journeys as plain typed functions."""
