"""Kernels of C text for tests."""

from dse.frontend.c.lower import kernels_of
from dse.gpu.trace.features import kernel_features
from dse.model.kernel import Kernel, KernelFeatures, TraceMachine
from dse.passes.analyses.parallel_loops import parallelise


def kernels(text: str, **sizes: int) -> tuple[Kernel, ...]:
    """Return the parallel kernels of a text."""
    defines = {name: str(value) for name, value in sizes.items()}
    return tuple(parallelise(k) for k in kernels_of("kernel.c", text, defines))


def kernel(text: str, **sizes: int) -> Kernel:
    """Return the only kernel of a text."""
    (found,) = kernels(text, **sizes)
    return found


def features(
    text: str,
    work: int,
    trace: int | None = None,
    *,
    block: tuple[int, int, int] | None = None,
    promote: bool = True,
    max_steps: int = 100_000,
    compiled: bool | None = None,
) -> KernelFeatures:
    """Return the features of a text's kernel, whose size is N."""
    return kernel_features(
        kernel(text, N=work),
        kernel(text, N=trace or work),
        TraceMachine(),
        block=block,
        promote_accumulators=promote,
        max_steps=max_steps,
        compiled=compiled,
    )
