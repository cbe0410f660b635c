"""From a point to others: steps, generators of steps, constructed mappings."""
