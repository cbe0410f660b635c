"""The seam between search methods and the rest: a method asks for design points and is told their evaluations.

A method never sees an engine, a store or a budget: ``dse/explore/search.py`` runs the loop, ``Evaluator`` does the
rest.
To add a method, write a class with ``ask``, ``tell``, ``done`` and ``pruned`` whose constructor takes a
``SearchContext``, and register it in ``METHODS``.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from dse.base.registry import Registry
from dse.explore.space import Candidate, Space
from dse.model.design_point import DesignPoint
from dse.model.study import Evaluation

METHODS = Registry(
    "search method",
    {
        "exhaustive": "dse.explore.methods.exhaustive:Exhaustive",
        "greedy": "dse.explore.methods.greedy:Greedy",
        "local-search": "dse.explore.methods.local_search:LocalSearch",
    },
)
"""Name -> class. ``auto`` is not a method: ``choose_method`` turns it into one of these."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Traffic:
    """Tokens that one buffer carries in the whole trace, from actor to actor."""

    source: int
    target: int
    tokens: int


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchContext:
    """What a method may know.

    ``loads[a][u]``: ticks that actor a computes on unit u in the whole trace. ``bounds``: for each candidate a makespan
    that it cannot beat; 0 says nothing. ``keep``: how many of the best points must be exact; a method that leaves out
    points by their bound leaves out only those that ``keep`` evaluated ones beat.
    """

    space: Space
    rng: np.random.Generator
    loads: tuple[tuple[int, ...], ...]
    traffic: tuple[Traffic, ...]
    bounds: Callable[[Sequence[Candidate]], list[int]]
    keep: int


class SearchMethod(Protocol):
    """Ask/tell: the caller evaluates what ``ask`` returns, in that order, and tells all of it before asking again.

    The points asked for may depend on the number asked for, never on anything but the context and what was told:
    that makes a search repeatable and lets a resumed one replay its stored evaluations.
    """

    @property
    def done(self) -> bool:
        """Whether the method has nothing more to ask."""

    @property
    def pruned(self) -> int:
        """The number of distinct points left out because their bound shows that they are not among the best."""

    def ask(self, n: int) -> Sequence[DesignPoint]:
        """Return up to ``n`` points to evaluate; none means that the method is done."""

    def tell(self, results: Sequence[Evaluation]) -> None:
        """Take the evaluations of the points last asked for, in their order; fewer when the budget ended."""


def cost(evaluation: Evaluation) -> tuple[bool, int]:
    """Return the key that searches minimise: no deadlock before any makespan, then the makespan."""
    return evaluation.deadlock, 0 if evaluation.deadlock else evaluation.makespan


EXHAUSTIVE_POINTS = 200_000
"""Up to this many points ``exhaustive`` sorts by their bound (a few seconds) and ``auto`` prefers it.

Sorted, the points most likely to be good come first and few are left to estimate: of the 175 275 mappings of
``smith_waterman`` on four cores 237 had to be, in 1 s; local search took 5000 estimations to find no better one.
"""


def choose_method(space: Space) -> tuple[str, str]:
    """Return the method that ``auto`` stands for, and why in words."""
    if space.size <= EXHAUSTIVE_POINTS:
        return "exhaustive", "the likely best first, until a bound excludes the rest"
    return "local-search", "the space is too large to cover"


def size_text(space: Space) -> str:
    """Return the size of a space in words."""
    if space.size == space.mappings:
        return f"{_short(space.size)} mappings"
    return f"{_short(space.size)} points ({_short(space.mappings)} mappings)"


def _short(number: int) -> str:
    """Return a number in full, or by its power of ten when it is long."""
    return f"{number:,}" if number < 10**9 else f"about 10^{len(str(number)) - 1}"
