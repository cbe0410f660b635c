"""Batches of mappings on a card: what one thread does, the card, and the comparison with a processor."""
