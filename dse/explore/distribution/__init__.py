"""Where estimates are made: threads of this process, workers of a cluster."""
