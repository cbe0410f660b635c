"""What one firing (or one SIMD block of firings) of an action does, with the ticks of the design point."""

from collections.abc import Callable
from dataclasses import dataclass

from dse.estimate.reference.fifo import FifoModel
from dse.estimate.reference.link import LinkModel


@dataclass(frozen=True, slots=True, kw_only=True)
class Transfer:
    """The read or the write of one buffer by one firing. ``server`` is None unless it has to ask a shared link."""

    fifo: FifoModel
    tokens: int
    ticks: int
    server: LinkModel | None


@dataclass(frozen=True, slots=True, kw_only=True)
class TransferPlan:
    """The reads or the writes of a firing, in buffer order."""

    transfers: tuple[Transfer, ...]
    ends: tuple[tuple[int, Transfer], ...]
    """Each transfer with its end after the beginning of the phase, by time; empty if some transfer asks a link."""
    ticks: int
    """Length of the phase if no transfer asks a link."""
    asks_link: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class BlockPlan:
    """The costs of ``firings`` firings of an action at once."""

    firings: int
    reads: TransferPlan
    compute: int
    writes: TransferPlan
    carried: tuple[tuple[LinkModel, int], ...]
    """The transfers over links that are not shared, with their ticks: nobody asks, but the link counts them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Ask:
    """What one firing needs of one FIFO: tokens of an input, space of an output."""

    fifo: FifoModel
    tokens: int
    question: Callable[[int], bool]
    """``fifo.ask_tokens`` or ``fifo.ask_space``."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ActionPlan:
    """An action on the unit of its actor."""

    asks: tuple[Ask, ...]
    """Inputs before outputs, in buffer order."""
    n_inputs: int
    first_scheduling: int
    pair_scheduling: tuple[int, ...]
    """Scheduling ticks by the previous action of the actor."""
    blocks: tuple[BlockPlan, ...]
    """Plans of 1, 2, ... firings at once; only the first unless the action is marked for SIMD."""
    simd: bool
    """Whether it is."""


def plan_transfers(transfers: tuple[Transfer, ...], *, parallel: bool) -> TransferPlan:
    """Return the plan of a list of transfers in buffer order."""
    ends: list[tuple[int, Transfer]] = []
    total = 0
    for transfer in transfers:
        total += transfer.ticks
        ends.append((transfer.ticks if parallel else total, transfer))
    ends.sort(key=lambda end: end[0])
    return TransferPlan(
        transfers=transfers,
        ends=tuple(ends),
        ticks=ends[-1][0] if ends else 0,
        asks_link=any(transfer.server is not None for transfer in transfers),
    )
