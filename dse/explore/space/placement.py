"""What actors and buffers cost at least by where they are placed: the linear model that exact methods reason with.

Every number is a part of the bound of ``dse.explore.mapping_bound``, so no sum of them exceeds an estimated makespan.
"""

from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class EdgeCosts:
    """Least ticks of all transfers of one buffer, by the units of its ends (indices into ``Space.units``).

    ``write_same[u]``: of the writer when both ends are in one slot of unit u. ``write_apart[u][v]``: of the writer on u
    when the reader is in another slot, of unit v. ``read_*`` alike, of the reader: the first index is its own unit.
    """

    source: int
    target: int
    write_same: tuple[int, ...]
    write_apart: tuple[tuple[int, ...], ...]
    read_same: tuple[int, ...]
    read_apart: tuple[tuple[int, ...], ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Spans:
    """For each actor, in ticks: when it can begin at the earliest, and how long the run goes on at least behind it."""

    begins: tuple[int, ...]
    after: tuple[int, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Placement:
    """The costs of one space.

    ``edges`` is empty where transfers do not simply add up (parallel transfers). ``additive``: the loads of the actors
    of a slot add up, which a policy that runs them side by side would not grant. ``least``: a makespan that no point
    can beat. ``spans``: of the actors, found when they are asked for; None where nobody knows them.
    """

    edges: tuple[EdgeCosts, ...] = ()
    additive: bool = True
    least: int = 0
    spans: Callable[[], Spans] | None = None
