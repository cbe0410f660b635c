"""What ``--cuda`` and the key ``cuda`` of a study may say: by what device code is compiled."""

CUDA_NVCC, CUDA_EMULATED = CUDA_KINDS = ("nvcc", "emulated")
