"""CUDA: the actors of a network that may run on a GPU, and the kernel that runs them."""
