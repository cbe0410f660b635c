"""Layer 3: the timing semantics, the engines that implement it, and bounds."""
