"""The problem as integers: tick tables, prepared design points, checks."""
