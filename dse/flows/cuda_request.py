"""Which device code is asked for: what ``--cuda`` and ``--cuda-arch`` say."""

from dataclasses import dataclass

from dse.native.cards import capabilities
from dse.native.cuda import ARCHITECTURES, LEAST_ARCHITECTURE


@dataclass(frozen=True, slots=True, kw_only=True)
class CudaRequest:
    """With device code. ``emulated``: for a GPU that threads of the processor stand for; else by nvcc."""

    emulated: bool = False
    architectures: tuple[int, ...] = ARCHITECTURES


def request_here(*, emulated: bool) -> CudaRequest:
    """Return what is asked for where the program runs on this machine: code for its cards, if there are any.

    nvcc takes seconds to minutes for each architecture. A card that is older or newer than what every nvcc knows leaves
    it at all of them.
    """
    found = () if emulated else tuple(sorted(set(capabilities())))
    usual = bool(found) and all(LEAST_ARCHITECTURE <= one <= max(ARCHITECTURES) for one in found)
    return CudaRequest(emulated=emulated, architectures=found if usual else ARCHITECTURES)
