"""What a search optimises, and the points that no other beats."""
