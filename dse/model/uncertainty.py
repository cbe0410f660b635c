"""How sure a ranking is: stated errors of weights, and what thousands of drawn weights make of mappings."""

from dataclasses import dataclass
from typing import Literal, TypeAlias

from dse.model.estimate import TickUnit
from dse.model.weights import Origin

RankedBy: TypeAlias = float | Literal["mean"]
"""Mappings are ranked by the mean of their makespans, or by the quantile of this probability, above 0 and below 1."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StatedError:
    """A relative error (standard deviation over mean) of weights of one origin.

    ``own``: of each action by itself. ``common``: of all weights of that origin on one kind of unit together: a model
    that is wrong about a card is wrong about all actions on it.
    """

    origin: Origin
    own: float
    common: float = 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class RobustRow:
    """What the draws say of one mapping. Times are in ticks.

    ``index``: its place among the mappings as they were given. ``low``, ``high``: 95 % of the makespans lie between.
    ``first``: the probability that it is the best, equals share it. ``regret``: how much longer than the best of each
    draw it takes, on average. ``tied``: with the row ``tied`` above it (by place in the ranking from 0): the weights
    cannot tell them apart; None: they can.
    """

    index: int
    nominal: int
    mean: float
    low: float
    high: float
    value: float
    """What ranks: the mean, or the quantile that was asked for."""
    first: float
    regret: float
    tied: int | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Robust:
    """A ranking under uncertain weights, the best first.

    ``sources``: in words what was drawn, and what was not. ``unit``: of all times.
    """

    rows: tuple[RobustRow, ...]
    by: RankedBy
    draws: int
    seed: int
    unit: TickUnit
    sources: tuple[str, ...]
