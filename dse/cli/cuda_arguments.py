"""The options ``--cuda`` and ``--cuda-arch`` of all verbs that build device code."""

from dse.base.cuda_kinds import CUDA_EMULATED, CUDA_NVCC
from dse.base.errors import OptionError
from dse.flows.cuda_request import CudaRequest, request_here
from dse.native.cuda import architectures_of


def cuda_request(kind: str | None, architectures: str | None, *, here: bool = False) -> CudaRequest | None:
    """Return what is asked for of device code; ``here``: it runs on this machine, and is for its cards by default.

    Raises ``OptionError`` for architectures that make no sense.
    """
    if architectures is not None and kind != CUDA_NVCC:
        raise OptionError("--cuda-arch is for --cuda with nvcc, which is not there", expected="give both, or neither")
    if kind is None:
        return None
    emulated = kind == CUDA_EMULATED
    if architectures is not None:
        return CudaRequest(emulated=emulated, architectures=architectures_of(architectures))
    return request_here(emulated=emulated) if here else CudaRequest(emulated=emulated)
