"""C kernels to the IR."""
