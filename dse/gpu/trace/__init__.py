"""The memory trace of a kernel and its features: threads executed, warps, cache."""
