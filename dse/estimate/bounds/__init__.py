"""What can be said of a mapping without simulating it: lower bounds, loads, paths."""
