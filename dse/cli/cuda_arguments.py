"""The options ``--cuda`` and ``--cuda-arch`` of all verbs that build device code."""

from dse.base.cuda_kinds import CUDA_EMULATED, CUDA_NVCC
from dse.base.errors import OptionError
from dse.flows.cuda_request import CudaRequest
from dse.native.cuda import ARCHITECTURES, architectures_of


def cuda_request(kind: str | None, architectures: str | None) -> CudaRequest | None:
    """Return what is asked for of device code. Raises ``OptionError`` for architectures that make no sense."""
    if architectures is not None and kind != CUDA_NVCC:
        raise OptionError("--cuda-arch is for --cuda with nvcc, which is not there", expected="give both, or neither")
    if kind is None:
        return None
    chosen = ARCHITECTURES if architectures is None else architectures_of(architectures)
    return CudaRequest(emulated=kind == CUDA_EMULATED, architectures=chosen)
