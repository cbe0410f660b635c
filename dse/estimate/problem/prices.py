"""Classes of prices: what a transfer costs follows from the kind of its FIFO and the kind of unit that pays.

The rows of ``TransferTable.ticks`` are one for each class, one for transfers that are free, one for each link.
"""

from enum import IntEnum

import numpy as np
from numpy.typing import NDArray

from dse.model.weights import FifoKind, UnitKind

UNIT_KINDS: tuple[UnitKind, ...] = ("cpu", "gpu")


class PriceClass(IntEnum):
    """A class of prices; its number is its row of ``TransferTable.ticks``."""

    LOCAL = 0
    CPU_CPU = 1
    CUDA = 2
    HOST_CPU = 3
    HOST_GPU = 4

    @property
    def fifo_kind(self) -> FifoKind:
        """The kind of FIFO whose transfers have such a price."""
        return _MEANINGS[self][0]

    @property
    def payer(self) -> UnitKind:
        """The kind of unit that spends the time."""
        return _MEANINGS[self][1]

    @property
    def as_host(self) -> "PriceClass":
        """The class of the same payer where the FIFO is a host FIFO."""
        return price_class("host", self.payer)


_MEANINGS: dict[PriceClass, tuple[FifoKind, UnitKind]] = {
    PriceClass.LOCAL: ("local", "cpu"),
    PriceClass.CPU_CPU: ("cpu_cpu", "cpu"),
    PriceClass.CUDA: ("cuda", "gpu"),
    PriceClass.HOST_CPU: ("host", "cpu"),
    PriceClass.HOST_GPU: ("host", "gpu"),
}
_CLASSES = {meaning: of_meaning for of_meaning, meaning in _MEANINGS.items()}

ROW_FREE = len(PriceClass)
"""The row of transfers that cost nothing: no communication weights, or missing ones taken as zero."""
ROW_LINKS = ROW_FREE + 1
"""The row of host transfers priced by latency and bandwidth of link 0; link ``i`` has row ``ROW_LINKS + i``."""

PAYER_KINDS = tuple(UNIT_KINDS.index(price.payer) for price in PriceClass)
"""The kind of unit that pays, an index into ``UNIT_KINDS``, by class."""

TOGETHER, APART, ACROSS = range(3)
"""Where the ends of a buffer are: on one slot; on two, and it crosses no link; its port crosses one."""
CLASS_OF_ENDS: NDArray[np.int64] = np.array(
    [
        [PriceClass.LOCAL, PriceClass.CPU_CPU, PriceClass.HOST_CPU],
        [PriceClass.CUDA, PriceClass.CUDA, PriceClass.HOST_GPU],
    ],
    dtype=np.int64,
)
"""The class of the price of one end, by the kind of its unit and where the ends are; the kernels take it as it is."""


def price_class(fifo_kind: FifoKind, payer: UnitKind) -> PriceClass:
    """Return the class of a FIFO kind and the kind of unit that pays; no unit pays for a FIFO of the other kind."""
    return _CLASSES[fifo_kind, payer]
