"""The seam between search methods and the rest: a method asks for design points and is told their evaluations.

A method never sees an engine, a store or a budget: ``dse/explore/search.py`` runs the loop, ``Evaluator`` does the
rest.
To add a method, write a class with ``ask``, ``tell``, ``done``, ``pruned`` and the rest of ``SearchMethod`` whose
constructor takes a ``SearchContext``, and register it in ``METHODS`` of ``dse.explore.methods.registry``.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from dse.explore.space.placement import Placement
from dse.explore.space.space import Candidate, Space
from dse.model.design_point import DesignPoint
from dse.model.study import Evaluation


@dataclass(frozen=True, slots=True, kw_only=True)
class Traffic:
    """Tokens that one buffer carries in the whole trace, from actor to actor."""

    source: int
    target: int
    tokens: int
    port: int = 0
    """Index of the writing port: buffers of one port carry the same tokens."""


class Sieve(Protocol):
    """Knows cheaply, and not exactly, which neighbours of a point are hardly better."""

    def passes(self, origin: Candidate, neighbours: Sequence[Candidate]) -> list[bool]:
        """Return for each neighbour whether it is worth an estimate."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchContext:
    """What a method may know.

    ``loads[a][u]``: ticks that actor a computes on unit u in the whole trace. ``bounds``: for each candidate a makespan
    that it cannot beat; 0 says nothing. ``keep``: how many of the best points must be exact; a method that leaves out
    points by their bound leaves out only those that ``keep`` evaluated ones beat (branch and bound and the integer
    program promise no more than the best). ``placement``: the parts of ``bounds``, for points that are not complete.
    ``objectives``: so many costs every evaluation brings; 0 where the makespan is all that counts.
    ``start``: points that somebody has already; methods that begin at constructed mappings begin at these first.
    ``begun``: they are the best of a search of this space, so that iterated search goes on from them alone.
    ``constructed``: what ``methods.constructive.greedy`` makes of all that, where somebody has done it already: methods
    that share a search then need not do it again.
    ``legs``: whether parts of the search are taken that can be walked anywhere (``dse.explore.methods.in_legs``).
    ``threads``: so many may work side by side here; nothing that a method asks for depends on it.
    ``sieve``: what leaves out neighbours in descents, where there is something; it depends on nothing but the order of
    the questions.
    """

    space: Space
    rng: np.random.Generator
    loads: tuple[tuple[int, ...], ...]
    traffic: tuple[Traffic, ...]
    bounds: Callable[[Sequence[Candidate]], list[int]]
    keep: int
    placement: Placement = field(default_factory=Placement)
    objectives: int = 0
    start: tuple[Candidate, ...] = ()
    begun: bool = False
    legs: bool = False
    threads: int = 1
    constructed: tuple[Candidate, ...] = ()
    sieve: Sieve | None = None
    partners: tuple[tuple[tuple[int, int], ...], ...] = field(init=False, repr=False, compare=False)
    """For each actor the (actor, tokens) at the other ends of its buffers, in their order; from ``traffic``."""
    exchanges: NDArray[np.int64] = field(init=False, repr=False, compare=False)
    """``partners`` as rows of actors, of those at the other ends, and of tokens: shape (3, n)."""

    def __post_init__(self) -> None:
        found: list[list[tuple[int, int]]] = [[] for _ in range(self.space.n_actors)]
        for edge in self.traffic:
            if edge.source != edge.target:
                found[edge.source].append((edge.target, edge.tokens))
                found[edge.target].append((edge.source, edge.tokens))
        object.__setattr__(self, "partners", tuple(map(tuple, found)))
        rows = [(actor, *partner) for actor, partners in enumerate(found) for partner in partners]
        object.__setattr__(self, "exchanges", np.array(rows, dtype=np.int64).reshape(-1, 3).T)


class SearchMethod(Protocol):
    """Ask/tell: the caller evaluates what ``ask`` returns, in that order, and tells all of it before asking again.

    The points asked for may depend on the number asked for, never on anything but the context and what was told:
    that makes a search repeatable and lets a resumed one replay its stored evaluations.
    """

    @property
    def done(self) -> bool:
        """Whether the method has nothing more to ask."""

    @property
    def exact(self) -> bool:
        """Whether the best point is proven to be the best of the space when the method is done."""

    @property
    def proven(self) -> int:
        """A makespan that the search has proven no point of the space can beat; 0 says nothing."""

    @property
    def pruned(self) -> int:
        """The number of distinct points left out because their bound shows that they are not among the best."""

    @property
    def ceiling(self) -> int | None:
        """Makespans above it need not be exact in the evaluations of the points last asked for: they may be cut.

        0: the method only wants to know what is among the best. None: it needs every makespan. What a method does must
        be the same for a cut evaluation and for the exact one that it stands for.
        """

    def ask(self, n: int) -> Sequence[DesignPoint]:
        """Return up to ``n`` points to evaluate; none means that the method is done."""

    def tell(self, results: Sequence[Evaluation]) -> None:
        """Take the evaluations of the points last asked for, in their order; fewer when the budget ended."""


def cost(evaluation: Evaluation) -> tuple[bool, int]:
    """Return the key that searches minimise: no deadlock before any makespan, then the makespan.

    That of a cut evaluation is a lower bound of it.
    """
    return evaluation.deadlock, 0 if evaluation.deadlock else evaluation.makespan


def least_makespan(results: Sequence[Evaluation], best: int | None = None) -> int | None:
    """Return the least makespan of evaluations and ``best``; None where none completed."""
    found = [r.makespan for r in results if not r.deadlock and not r.cut]
    return min([*found, *([] if best is None else [best])], default=None)
