"""The seam between those who ask for estimates and the engines that make them."""

from collections.abc import Sequence
from typing import Protocol, Self

from dse.base.registry import Registry
from dse.estimate.compiled.ready import is_compiled
from dse.estimate.draws import DrawnCosts
from dse.estimate.problem.tables import IntArray, ProblemTables
from dse.model.design_point import DesignPoint
from dse.model.estimate import Estimate, Outcome
from dse.model.problem import Problem


class Engine(Protocol):
    """Estimates design points of one problem. All engines give identical integers (``dse.estimate.semantics``).

    Calls do not influence each other.
    """

    name: str

    def estimate(self, point: DesignPoint, *, firing_times: bool = False) -> Estimate:
        """Return the estimate of ``point``; with ``firing_times`` also start and end of every firing.

        Raises:
            FormatError: the point does not fit the problem, or weights that it needs are missing (all are named).
            InfeasibleDesign: the point can never run (``dse.estimate.problem.prepare``).
        """

    def estimates(self, points: Sequence[DesignPoint]) -> list[Estimate]:
        """Return the estimates of several points, the same as one by one; errors as ``estimate``.

        What would end a deadlock is left out (``Deadlock.sought``): of most of many points nobody asks for it.
        """

    def estimate_within(self, point: DesignPoint, limit: int) -> Estimate | None:
        """Return the estimate of a point that completes by ``limit`` (in ticks, inclusive), else None.

        None means that the point deadlocks or takes longer; the run stops as soon as that is clear. Errors as
        ``estimate``.
        """

    def estimates_within(self, points: Sequence[DesignPoint], limit: int) -> list[Estimate | None]:
        """Return the estimates of several points, the same as ``estimate_within`` one by one."""

    def outcomes(self, points: Sequence[DesignPoint], limit: int | None = None) -> list[Outcome | None]:
        """Return the outcomes of several points: those of ``estimates``, or with a ``limit`` of ``estimates_within``.

        They may be made in a quicker way than estimates; not one integer depends on that.
        """

    def with_tables(self, tables: ProblemTables) -> Self:
        """Return an engine of the same trace for tables that were changed in ticks or links, made at little cost."""

    def drawn(self, point: DesignPoint, costs: DrawnCosts) -> IntArray:
        """Return the makespan of a point, in ticks, under each set of drawn costs: shape (n,), -1 for a deadlock.

        The same as one by one with tables that have these costs. Errors as ``estimate``.
        """

    def stop(self) -> None:
        """End the estimates that other threads are making now: they raise ``EstimateStopped``. Later ones go on."""


ENGINES = Registry(
    "engine",
    {
        "compiled": "dse.estimate.compiled.engine:CompiledEngine",
        "reference": "dse.estimate.reference.engine:ReferenceEngine",
    },
)
"""Name to a factory that takes a ``Problem``, or its tables where they are made already; the default first."""


def make_engine(name: str, problem: Problem | ProblemTables) -> Engine:
    """Return the engine called ``name`` for a problem, or for its tables where they are made already.

    Raises:
        OptionError: there is no such engine.
        FormatError: the weights of the problem mix clocks and none, or a cost is negative.
    """
    engine: Engine = ENGINES.load(name)(problem)
    return engine


def needs_compiling(name: str) -> bool:
    """Return whether the engine called ``name`` is about to be compiled, which takes many seconds, once per machine."""
    return name == "compiled" and not is_compiled()


def compile_engine() -> None:
    """Compile what the compiled engine needs, or find that it is compiled."""
    from dse.estimate.compiled.warm import warm  # late: it loads numba

    warm()


def compile_behind(name: str) -> None:
    """Have compiled, beside this process, what makes the outcomes of an engine quicker, where that is missing."""
    if name == "compiled":
        from dse.estimate.compiled.behind import compile_behind as behind  # late: few need to start a process

        behind()
