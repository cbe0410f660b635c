"""Which device code is asked for: what ``--cuda`` and ``--cuda-arch`` say."""

from dataclasses import dataclass

from dse.native.cuda import ARCHITECTURES


@dataclass(frozen=True, slots=True, kw_only=True)
class CudaRequest:
    """With device code. ``emulated``: for a GPU that threads of the processor stand for; else by nvcc."""

    emulated: bool = False
    architectures: tuple[int, ...] = ARCHITECTURES
