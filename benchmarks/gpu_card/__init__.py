"""The kernels of docs/gpu-truth.md and micro-benchmarks of constants, in plain CUDA, on the card of this machine."""
