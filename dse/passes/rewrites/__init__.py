"""From IR to IR: what is implied becomes explicit."""
