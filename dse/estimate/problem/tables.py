"""The part of a problem that no design point changes, as integer tick tables. Built once, shared by all engines.

``build_tables`` of ``dse.estimate.problem.build`` makes them. They are flat, so that the compiled engine can use them
as they are: the actions of all actors are numbered through (``action_base[actor] + action``), the transfers of an
action are a slice of an entry list, and a missing weight is ``UNKNOWN``; only ``prepare`` knows whether a design point
needs it.
"""

from dataclasses import dataclass
from fractions import Fraction
from typing import Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from dse.base.escaping import shown
from dse.estimate.problem.prices import UNIT_KINDS
from dse.model.estimate import TickUnit
from dse.model.platform import Platform
from dse.model.problem import Problem
from dse.model.trace import Topology

IntArray: TypeAlias = NDArray[np.int64]
Side: TypeAlias = Literal["read", "write"]

UNKNOWN = -1


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class TransferTable:
    """The reads (or the writes) of all actions. Entry ``e`` belongs to action ``x`` if ``first[x] <= e < first[x+1]``.

    Entries of one action are in buffer order; ports of rate 0 and unconnected ports have none. The ticks of entry
    ``e`` in a block of k firings at price ``p`` are ``ticks[p, cost[e] + k - 1]``; k > 1 only where ``width[e]`` > 1.
    Rows of prices are as in ``dse.estimate.problem.prices``.
    """

    first: IntArray
    """shape (n_actions + 1,)"""
    buffer: IntArray
    """shape (n_entries,)"""
    tokens: IntArray
    """shape (n_entries,): tokens of one firing"""
    cost: IntArray
    """shape (n_entries,): first column of the entry in ``ticks``"""
    width: IntArray
    """shape (n_entries,): number of columns of the entry, at least 1"""
    ticks: IntArray
    """shape (n_prices, n_columns)"""
    known: tuple[tuple[bool, ...], ...]
    """``known[price][buffer]``: whether there is such a price"""


@dataclass(frozen=True, slots=True)
class CostRow:
    """Whose computing and scheduling a row of the tables holds: units of a kind (an index into ``UNIT_KINDS``) at a
    chosen clock, or at that of their weights (None).

    ``least_of``: no units have it, it is for bounds: each cost is the least of those at these clocks. There are such
    rows where the fastest clock need not be the quickest.
    """

    kind: int
    clock_mhz: Fraction | None = None
    least_of: tuple[Fraction, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class VisitTicks:
    """What visits cost (``semantics``, Visits)."""

    look: int
    glance: int
    wake: int
    entries: IntArray
    """shape (2, n_buffers): of the reader and the writer of each buffer, if it travels"""

    @property
    def dearest_call(self) -> int:
        """The most that a call in vain takes."""
        return max(self.look, self.glance)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class ProblemTables:
    """Integer ticks of a problem. Row ``r`` of an array of shape (n_rows, ...) is for ``rows[r]``."""

    problem: Problem
    rows: tuple[CostRow, ...]
    """First one for each of ``UNIT_KINDS`` at the clock of the weights, then those of the clocks of the problem."""
    tick_unit: TickUnit
    action_base: IntArray
    """shape (n_actors + 1,)"""
    count: IntArray
    """shape (n_actions,): firings of each action in the trace"""
    first_action: IntArray
    """shape (n_actors,): action of the first firing, -1 where an actor never fires"""
    compute: IntArray
    """shape (n_rows, n_actions); 0 for actions that never fire"""
    block_width: IntArray
    """shape (n_rows, n_actions): width of the SIMD block, 0 where the action is not marked"""
    block_base: IntArray
    """shape (n_rows, n_actions): k firings at once take ``block_ticks[block_base + k - 1]``"""
    block_ticks: IntArray
    first_scheduling: IntArray
    """shape (n_rows, n_actions): scheduling where another actor's firing, or none, ended last on the core"""
    pair_base: IntArray
    """shape (n_actors,): ``pair_scheduling[row, pair_base[a] + q * n + x]`` for x after q, n actions of the actor"""
    pair_scheduling: IntArray
    """shape (n_rows, n_pairs)"""
    pair_count: IntArray
    """shape (n_pairs,): how often x follows q in the trace of the actor"""
    actor_known: tuple[tuple[bool, ...], ...]
    """``actor_known[row][actor]``: whether no compute or scheduling weight that it could need is unknown."""
    reads: TransferTable
    writes: TransferTable
    arrival: int
    """Ticks from the publication of tokens for another core to their arrival; 0: they are seen when written."""
    turn_firings: int
    """Firings after which an actor publishes though its turn goes on."""
    turn_tokens: IntArray
    """shape (n_buffers,): if tokens of a buffer travel, both ends publish after ``capacity / turn_tokens`` firings as
    well; 0: they do not."""
    visits: VisitTicks | None
    """None: the semantics know of no visits."""
    deviations: IntArray
    """shape (n_firings,), actor after actor: what the computation of each firing on a CPU takes more than ``compute``
    (or less); shape (0,) where none does."""
    least_capacity: tuple[int, ...]
    """The largest rate of a fired action on each buffer, and not below its initial tokens."""

    def __repr__(self) -> str:
        return f"<ProblemTables of {shown(self.topology.name)}: {len(self.rows)} rows, ticks in {self.tick_unit}>"

    @property
    def topology(self) -> Topology:
        """Actors and buffers of the problem."""
        return self.problem.trace.topology

    def action_count(self, actor: int) -> int:
        """Return the number of actions of an actor."""
        return len(self.topology.actors[actor].actions)


def kind_indices(platform: Platform) -> dict[str, int]:
    """Return the index into ``UNIT_KINDS`` of each unit by its name."""
    return {unit.name: UNIT_KINDS.index(unit.kind) for unit in platform.units}


def cost_rows(problem: Problem) -> tuple[CostRow, ...]:
    """Return the rows of the tables of a problem."""
    kind_of = kind_indices(problem.platform)
    plain = (CostRow(kind) for kind in range(len(UNIT_KINDS)))
    chosen = (CostRow(kind_of[unit], clock) for unit, clock in problem.clocks)
    least = (row for unit in clocked_units(problem) if (row := least_row(problem, kind_of[unit], unit)) is not None)
    return tuple(dict.fromkeys((*plain, *chosen, *least)))


def clocked_units(problem: Problem) -> tuple[str, ...]:
    """Return the names of the units whose clock is chosen."""
    return tuple(dict.fromkeys(unit for unit, _ in problem.clocks))


def least_row(problem: Problem, kind: int, unit: str) -> CostRow | None:
    """Return the row of the least costs of a unit at its clocks; None where that is the row of the fastest one."""
    if problem.scaling is None or UNIT_KINDS[kind] != "gpu":
        return None
    clocks = tuple(clock for name, clock in problem.clocks if name == unit)
    return CostRow(kind, None, clocks) if clocks else None


def run_ends(firings: NDArray[np.uint8] | NDArray[np.uint16]) -> IntArray:
    """Return for each position of a trace the position behind the run of equal actions that it stands in."""
    if not len(firings):
        return np.zeros(0, dtype=np.int64)
    last = np.append(np.flatnonzero(firings[1:] != firings[:-1]), len(firings) - 1) + 1
    return np.repeat(last, np.diff(last, prepend=0)).astype(np.int64)
