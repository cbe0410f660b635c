"""How wrong the weights of a problem may be: the relative error of each mean, and where in the tables it counts.

A weight is known to its own error: what was measured to the standard error of its mean, anything else to the error that
it states itself, or that users state of its origin. A part of a stated error may be common to all weights of an origin
on a kind of unit: a model that is wrong about a card is wrong about all of them.
"""

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import product
from typing import Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from dse.estimate.problem.prices import ROW_LINKS, UNIT_KINDS, PriceClass
from dse.estimate.problem.tables import IntArray, ProblemTables, TransferTable
from dse.model.uncertainty import StatedError
from dse.model.weights import Cost, Origin, UnitKind

Reals = NDArray[np.float64]
What: TypeAlias = Literal["computing", "scheduling", "transfers"]
NO_WEIGHT = -1
"""What has a cost that no weight says, such as a transfer that is priced by its link; it is not drawn."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class WeightPlaces:
    """Which weight, by number, each cost of ``ProblemTables`` comes from; ``NO_WEIGHT``: none.

    ``compute`` and ``first_scheduling``: shape (n_kinds, n_actions), kinds by index into ``UNIT_KINDS``;
    ``pair_scheduling``: (n_kinds, n_pairs); ``reads`` and ``writes``: as the ``ticks`` of the tables.
    """

    compute: IntArray
    first_scheduling: IntArray
    pair_scheduling: IntArray
    reads: IntArray
    writes: IntArray


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class CostErrors:
    """The relative errors of the means of all weights that something in the trace needs.

    ``own``: shape (n_weights,), 0 where nothing is known. ``group``: the same shape, an index into ``common``, shape
    (n_groups,): relative errors that all weights of a group have together; -1: none. ``sources``: in words.
    """

    own: Reals
    group: IntArray
    common: Reals
    places: WeightPlaces
    sources: tuple[str, ...]

    @property
    def none(self) -> bool:
        """Whether no mean is uncertain."""
        return not self.own.any() and not self.common.any()

    def drawn_at(self, places: IntArray) -> bool:
        """Return whether a cost at some places is uncertain."""
        uncertain = np.append((self.own > 0) | (self.group >= 0), False)
        return bool(uncertain[places].any())


def cost_errors(tables: ProblemTables, stated: Sequence[StatedError]) -> CostErrors:
    """Return what is known of the errors of all weights; what is stated of an origin wins over what weights say."""
    known = _Known(stated)
    places = WeightPlaces(
        compute=_computing(tables, known),
        first_scheduling=_after_none(tables, known),
        pair_scheduling=_after_actions(tables, known),
        reads=_transfers(tables, tables.reads, "read", known),
        writes=_transfers(tables, tables.writes, "write", known),
    )
    return CostErrors(
        own=np.array(known.own, dtype=np.float64),
        group=np.array(known.group, dtype=np.int64),
        common=np.array(list(known.common.values()), dtype=np.float64),
        places=places,
        sources=(*known.sources(), *_not_drawn(tables)),
    )


def _not_drawn(tables: ProblemTables) -> Iterator[str]:
    """Yield in words what takes time and is no weight."""
    if tables.arrival > 0:
        yield "the time that tokens take to another core is not drawn"
    arrival = tables.problem.weights.arrival
    if arrival is not None and arrival.visits is not None:
        yield "what visits of a scheduler cost where tokens arrive is not drawn"
    if any(bool((table.ticks[ROW_LINKS:] > 0).any()) for table in (tables.reads, tables.writes)):
        yield "transfers that are priced by latency and bandwidth of their links are not drawn"


class _Known:
    """Numbers weights as they are met, with their errors."""

    def __init__(self, stated: Sequence[StatedError]) -> None:
        self._stated = {error.origin: error for error in stated}
        self._numbers: dict[tuple[object, ...], int] = {}
        self._seen: dict[tuple[What, Origin, UnitKind], list[float]] = {}
        self.own: list[float] = []
        self.group: list[int] = []
        self.common: dict[tuple[Origin, UnitKind], float] = {}

    def number(self, key: tuple[object, ...], what: What, kind: UnitKind, origin: Origin, error: float) -> int:
        """Return the number of a weight; ``error``: the relative one that it says itself, 0: none."""
        if key not in self._numbers:
            self._numbers[key] = len(self.own)
            stated = self._stated.get(origin)
            self.own.append(error if stated is None else stated.own)
            self._seen.setdefault((what, origin, kind), []).append(self.own[-1])
            shared = stated is not None and stated.common > 0
            if stated is not None and shared:
                self.common.setdefault((origin, kind), stated.common)
            self.group.append(list(self.common).index((origin, kind)) if shared else -1)
        return self._numbers[key]

    def sources(self) -> Iterator[str]:
        """Yield in words where the errors come from, and of which weights none is known."""
        for (what, origin, kind), errors in self._seen.items():
            of = f"{len(errors)} {origin} costs of {what} on the {kind}"
            stated = self._stated.get(origin)
            if stated is not None:
                common = f", and {100 * stated.common:g} % in common" if stated.common else ""
                yield f"{of}: {100 * stated.own:g} % each{common}, as stated"
            elif any(errors):
                middle, most = 100 * float(np.median(errors)), 100 * max(errors)
                told = "standard errors" if origin == "measured" else "errors of their own"
                yield f"{of}: {told} of {middle:.2g} % (median), up to {most:.2g} %"
            else:
                yield f"{of}: no error is known, they are not drawn"


def _computing(tables: ProblemTables, known: _Known) -> IntArray:
    """Return the places of the weights of actions. A table of SIMD blocks counts as predicted."""
    found = _nowhere(len(UNIT_KINDS), len(tables.count))
    weights = tables.problem.weights
    for (k, kind), (column, names) in product(enumerate(UNIT_KINDS), enumerate(_action_names(tables))):
        if not tables.count[column] or tables.compute[k, column] <= 0:
            continue
        key = (*names, kind)
        cost = weights.compute.get(key)
        blocks: Origin = "predicted" if key in weights.simd else "unknown"
        origin, error = (blocks, 0.0) if cost is None else (cost.origin, _relative_error(cost, cost.mean_cycles))
        found[k, column] = known.number(("compute", *key), "computing", kind, origin, error)
    return found


def _after_none(tables: ProblemTables, known: _Known) -> IntArray:
    """Return the places of the weights of scheduling an action where another actor, or none, was before."""
    found = _nowhere(len(UNIT_KINDS), len(tables.count))
    for (k, kind), (column, (actor, action)) in product(enumerate(UNIT_KINDS), enumerate(_action_names(tables))):
        if tables.count[column] and tables.first_scheduling[k, column] > 0:
            found[k, column] = _scheduling(tables, known, actor, ("",), action, kind)
    return found


def _after_actions(tables: ProblemTables, known: _Known) -> IntArray:
    """Return the places of the weights of scheduling an action behind another one of its actor."""
    found = _nowhere(len(UNIT_KINDS), len(tables.pair_count))
    for (k, kind), (a, actor) in product(enumerate(UNIT_KINDS), enumerate(tables.topology.actors)):
        base, names = int(tables.pair_base[a]), [action.name for action in actor.actions]
        pairs = slice(base, base + len(names) ** 2)
        costs = (tables.pair_count[pairs] > 0) & (tables.pair_scheduling[k, pairs] > 0)
        for pair in np.flatnonzero(costs).tolist():
            before, after = names[pair // len(names)], names[pair % len(names)]
            found[k, base + pair] = _scheduling(tables, known, actor.name, (before, ""), after, kind)
    return found


def _scheduling(
    tables: ProblemTables, known: _Known, actor: str, before: Iterable[str], action: str, kind: UnitKind
) -> int:
    """Return the number of the first weight that there is of scheduling an action behind one of ``before``."""
    keys = ((actor, previous, action, kind) for previous in before)
    key = next((key for key in keys if key in tables.problem.weights.scheduling), None)
    if key is None:
        return NO_WEIGHT
    cost = tables.problem.weights.scheduling[key]
    error = _relative_error(cost, cost.mean_cycles)
    return known.number(("scheduling", *key), "scheduling", kind, cost.origin, error)


def _transfers(tables: ProblemTables, table: TransferTable, side: Literal["read", "write"], known: _Known) -> IntArray:
    """Return the places of the weights of transfers. What one varies by counts against the transfer of a token."""
    found = np.full(table.ticks.shape, NO_WEIGHT, dtype=np.int64)
    buffer_of = np.repeat(table.buffer, table.width)
    fired = np.repeat(np.repeat(tables.count > 0, np.diff(table.first)), table.width)
    for price, index in product(PriceClass, range(len(tables.topology.buffers))):
        key = (*tables.topology.ends(index), price.fifo_kind, price.payer, side)
        cost = tables.problem.weights.transfers.get(key)
        columns = (buffer_of == index) & fired & (table.ticks[price] > 0)
        if cost is not None and columns.any():
            error = _relative_error(cost, cost.mean_cycles + cost.per_token_cycles)
            number = known.number(("transfers", *key), "transfers", price.payer, cost.origin, error)
            found[price, columns] = number
    return found


def _relative_error(cost: Cost, mean_cycles: Fraction) -> float:
    """Return the relative error that a weight says itself, 0 where it says nothing.

    What was measured is known to the standard error of its mean; the variance of any other is that of its error.
    """
    if cost.variance_cycles2 is None or mean_cycles <= 0:
        return 0.0
    samples = cost.count or 1 if cost.origin == "measured" else 1
    return math.sqrt(cost.variance_cycles2 / samples) / float(mean_cycles)


def _action_names(tables: ProblemTables) -> list[tuple[str, str]]:
    """Return (actor, action) of each column."""
    return [(actor.name, action.name) for actor in tables.topology.actors for action in actor.actions]


def _nowhere(rows: int, columns: int) -> IntArray:
    return np.full((rows, columns), NO_WEIGHT, dtype=np.int64)
