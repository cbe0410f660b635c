"""The maximal throughput of a static graph, exactly: K-periodic schedules, maximum cycle ratios, sizes of channels."""
