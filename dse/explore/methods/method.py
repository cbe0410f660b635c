"""The seam between search methods and the rest: a method asks for design points and is told their evaluations.

A method never sees an engine, a store or a budget: ``dse/explore/search.py`` runs the loop, ``Evaluator`` does the
rest.
To add a method, write a class with ``ask``, ``tell``, ``done``, ``pruned`` and the rest of ``SearchMethod`` whose
constructor takes a ``SearchContext``, and register it in ``METHODS``.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Protocol

import numpy as np

from dse.base.registry import Registry
from dse.explore.space.placement import Placement
from dse.explore.space.space import Candidate, Space
from dse.model.design_point import DesignPoint
from dse.model.study import Evaluation

METHODS = Registry(
    "search method",
    {
        "exhaustive": "dse.explore.methods.exact.exhaustive:Exhaustive",
        "branch-and-bound": "dse.explore.methods.exact.branch_and_bound:BranchAndBound",
        "integer-program": "dse.explore.methods.exact.integer_program:IntegerProgram",
        "greedy": "dse.explore.methods.constructive.greedy:Greedy",
        "workload-balance": "dse.explore.methods.constructive.workload_balance:WorkloadBalance",
        "balanced-pipeline": "dse.explore.methods.constructive.balanced_pipeline:BalancedPipeline",
        "kernighan-lin": "dse.explore.methods.improving.kernighan_lin:KernighanLin",
        "metis": "dse.explore.methods.constructive.metis:Metis",
        "hypergraph": "dse.explore.methods.constructive.hypergraph:Hypergraph",
        "round-robin": "dse.explore.methods.constructive.round_robin:RoundRobin",
        "random": "dse.explore.methods.sampling.random_search:RandomSearch",
        "local-search": "dse.explore.methods.improving.local_search:LocalSearch",
        "iterated-search": "dse.explore.methods.improving.iterated_search:IteratedSearch",
        "idle": "dse.explore.methods.improving.guided_descent:IdleSearch",
        "communication-frequency": "dse.explore.methods.improving.guided_descent:CommunicationSearch",
        "tabu": "dse.explore.methods.improving.tabu:Tabu",
        "tabu-joint": "dse.explore.methods.improving.tabu:TabuJoint",
        "tabu-reinsert": "dse.explore.methods.improving.tabu:TabuReinsert",
        "tabu-swap": "dse.explore.methods.improving.tabu:TabuSwap",
        "tabu-random": "dse.explore.methods.improving.tabu:TabuRandom",
        "tabu-idle": "dse.explore.methods.improving.tabu:TabuIdle",
        "tabu-communication": "dse.explore.methods.improving.tabu:TabuCommunication",
        "tabu-balancing": "dse.explore.methods.improving.tabu:TabuBalancing",
        "annealing": "dse.explore.methods.improving.annealing:SimulatedAnnealing",
        "nsga2": "dse.explore.methods.sampling.nsga2:Nsga2",
        "portfolio": "dse.explore.methods.sampling.portfolio:Portfolio",
        "pareto-search": "dse.explore.methods.sampling.pareto_search:ParetoSearch",
    },
)
"""Name -> class. ``auto`` is not a method: ``choose_method`` turns it into one of these."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Traffic:
    """Tokens that one buffer carries in the whole trace, from actor to actor."""

    source: int
    target: int
    tokens: int
    port: int = 0
    """Index of the writing port: buffers of one port carry the same tokens."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchContext:
    """What a method may know.

    ``loads[a][u]``: ticks that actor a computes on unit u in the whole trace. ``bounds``: for each candidate a makespan
    that it cannot beat; 0 says nothing. ``keep``: how many of the best points must be exact; a method that leaves out
    points by their bound leaves out only those that ``keep`` evaluated ones beat (branch and bound and the integer
    program promise no more than the best). ``placement``: the parts of ``bounds``, for points that are not complete.
    ``objectives``: so many costs every evaluation brings; 0 where the makespan is all that counts.
    """

    space: Space
    rng: np.random.Generator
    loads: tuple[tuple[int, ...], ...]
    traffic: tuple[Traffic, ...]
    bounds: Callable[[Sequence[Candidate]], list[int]]
    keep: int
    placement: Placement = field(default_factory=Placement)
    objectives: int = 0
    partners: tuple[tuple[tuple[int, int], ...], ...] = field(init=False, repr=False, compare=False)
    """For each actor the (actor, tokens) at the other ends of its buffers, in their order; from ``traffic``."""

    def __post_init__(self) -> None:
        found: list[list[tuple[int, int]]] = [[] for _ in range(self.space.n_actors)]
        for edge in self.traffic:
            if edge.source != edge.target:
                found[edge.source].append((edge.target, edge.tokens))
                found[edge.target].append((edge.source, edge.tokens))
        object.__setattr__(self, "partners", tuple(map(tuple, found)))


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


EXHAUSTIVE_POINTS = 200_000
"""Up to this many points ``exhaustive`` sorts by their bound (a few seconds) and ``auto`` prefers it.

Sorted, the points most likely to be good come first and few are left to estimate: of the 175 275 mappings of
``smith_waterman`` on four cores 237 had to be, in 1 s; local search took 5000 estimations to find no better one.
"""


def choose_method(space: Space) -> tuple[str, str]:
    """Return the method that ``auto`` stands for, and why in words."""
    if space.size <= EXHAUSTIVE_POINTS:
        return "exhaustive", "the likely best first, until a bound excludes the rest"
    return "portfolio", f"{size_text(space)} are too many to cover: searches in turns, and branch and bound for a proof"


def size_text(space: Space) -> str:
    """Return the size of a space in words."""
    if space.size == space.mappings:
        return f"{_short(space.size)} mappings"
    return f"{_short(space.size)} points ({_short(space.mappings)} mappings)"


def _short(number: int) -> str:
    """Return a number in full, or by its power of ten when it is long."""
    return f"{number:,}" if number < 10**9 else f"about 10^{len(str(number)) - 1}"
