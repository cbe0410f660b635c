"""Methods that end with a proof."""
