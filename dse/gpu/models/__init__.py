"""The kernel cost models, by name."""

from dse.base.registry import Registry

KERNEL_COST_MODELS = Registry(
    "kernel cost model",
    {
        "cgpredict": "dse.gpu.models.cgpredict:MODEL",
        "hierarchy": "dse.gpu.models.hierarchy:MODEL",
        "memory_pipeline": "dse.gpu.models.memory_pipeline:MODEL",
    },
)
"""Each entry is a ``KernelCostModel`` (dse/gpu/models/seam.py)."""
