"""What changes of a problem would give: makespans that were simulated again, beside what the critical path promises."""

from dataclasses import dataclass
from fractions import Fraction

from dse.model.changes import Change
from dse.model.design_point import DesignPoint
from dse.model.estimate import TickUnit


@dataclass(frozen=True, slots=True, kw_only=True)
class Tried:
    """Changes that were made together, and what came of them.

    ``makespan``: in ticks of ``unit``, a fraction where costs are in cycles; None: it deadlocks. ``promised``: what the
    critical path of the run without the changes lets one expect at best; None where that was not asked.
    """

    changes: tuple[Change, ...]
    makespan: Fraction | None
    promised: Fraction | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class CurvePoint:
    """One point of a sensitivity curve. ``speed`` of an action or actor, None: infinite; or ``tokens`` of a buffer."""

    makespan: Fraction | None
    speed: Fraction | None = None
    tokens: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Curve:
    """The makespan over one cost or capacity; ``name``: as it was asked for."""

    name: str
    points: tuple[CurvePoint, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class WhatIf:
    """What changes give under one design point. Outcomes are in ticks of ``unit``, as ``makespan`` is.

    ``singles``: one change each, in the order of actors, actions, buffers and links. ``pairs``: all pairs of ``pool``,
    the changes that save most alone, each of another place. ``simulations``: how many runs that took.
    """

    point: DesignPoint
    makespan: Fraction
    unit: TickUnit
    singles: tuple[Tried, ...]
    pool: tuple[Tried, ...]
    pairs: tuple[Tried, ...]
    memory: Tried | None
    """More room in the FIFO where it saves most, no more than is needed for that; None where it saves nothing."""
    curves: tuple[Curve, ...]
    simulations: int
    untouched: tuple[int, ...]
    """The buffers for which more room was not simulated: they never came near their capacity."""

    def saved(self, tried: Tried) -> Fraction | None:
        """Return the share of the makespan that changes save, below 0 where it grows; None in a deadlock."""
        return None if tried.makespan is None else 1 - tried.makespan / self.makespan if self.makespan else Fraction(0)


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchedImprovement:
    """A change for which the best mapping was searched again. Makespans are in ticks.

    ``kept``: with the mapping that is best without the change, None: it deadlocks. ``found``: with ``point``, the best
    mapping that was found for it. ``without``: of that mapping without the change, None: it deadlocks.
    """

    change: Change
    kept: Fraction | None
    found: Fraction
    point: DesignPoint
    without: Fraction | None


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchedAgain:
    """The improvements that pay most over the best mapping of each, the best first.

    ``point``: the best mapping that was found without any, ``makespan``: its, in ticks of ``unit``. ``evaluations``: of
    that search.
    """

    point: DesignPoint
    makespan: Fraction
    unit: TickUnit
    improvements: tuple[SearchedImprovement, ...]
    evaluations: int
