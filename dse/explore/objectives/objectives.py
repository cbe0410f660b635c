"""What a search may optimise: each objective is an integer cost of an evaluated design point; smaller is better.

Costs are exact, so that fronts and hypervolumes are. ``value`` turns a cost into what people read (more firings a
second is better). Everything is computed from what an evaluation keeps, so that a resumed study needs no estimate
again. To add an objective, write a class like these and register it in ``OBJECTIVES``.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from dse.base.errors import OptionError
from dse.base.registry import nearest_names
from dse.base.units import PS_PER_S
from dse.estimate.engine import Engine
from dse.estimate.problem.tables import ProblemTables
from dse.explore.objectives.registry import MAKESPAN, OBJECTIVES
from dse.explore.space.space import SpaceOptions
from dse.model.design_point import DesignPoint
from dse.model.estimate import PartitionAccount
from dse.model.trace import Trace


class Outcome(Protocol):
    """What objectives look at: an ``Estimate`` or an ``Evaluation`` without deadlock."""

    @property
    def makespan(self) -> int:
        """Ticks until the last firing ends."""

    @property
    def partitions(self) -> tuple[PartitionAccount, ...]:
        """Core time of each partition."""


class Objective(Protocol):
    """One objective of one problem."""

    @property
    def unit(self) -> str:
        """The unit of ``value``."""

    @property
    def maximise(self) -> bool:
        """Whether a larger ``value`` is better; a larger cost never is."""

    @property
    def of_makespan(self) -> bool:
        """Whether ``cost`` is the makespan: bounds of makespans then hold for it, and simulations may be cut."""

    def cost(self, point: DesignPoint, outcome: Outcome) -> int:
        """Return the cost of a point; of two points the one with the smaller cost is better."""

    def value(self, cost: int) -> float:
        """Return a cost as people read it."""

    def least(self, options: SpaceOptions, cores: int) -> int:
        """Return a cost that no point beats which such options allow, with so many cores at most; 0 says nothing."""

    def bound(self, point: DesignPoint) -> int:
        """Return a cost that a point cannot beat, found without an estimate; 0 says nothing."""

    @property
    def remark(self) -> str:
        """What is to be said of the costs asked for so far, in words; empty where nothing is."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Basis:
    """What objectives are computed from: the tables of a problem, and an engine of it."""

    tables: ProblemTables
    engine: Engine


class Unbounded:
    """The part of an objective of whose costs nothing is known but by estimates."""

    remark = ""

    def least(self, _options: SpaceOptions, _cores: int) -> int:
        """Nothing is known."""
        return 0

    def bound(self, _point: DesignPoint) -> int:
        """Nothing is known."""
        return 0


def make_objective(text: str, basis: Basis) -> Objective:
    """Return the objective of ``name`` or ``name:argument``.

    Raises:
        OptionError: there is no such objective, or the problem does not give what it needs.
    """
    name, colon, argument = text.partition(":")
    objective: Objective = OBJECTIVES.load(name)(basis, argument if colon else None)
    return objective


def no_argument(name: str, argument: str | None) -> None:
    """Raise ``OptionError`` where an objective that takes no argument is given one."""
    if argument is not None:
        raise OptionError(f"objective '{name}' takes nothing behind a colon", expected=f"write '{name}'")


class Makespan(Unbounded):
    """Ticks from the start to the end of the last firing."""

    maximise = False
    of_makespan = True

    def __init__(self, basis: Basis, argument: str | None = None) -> None:
        no_argument(MAKESPAN, argument)
        self.unit: str = basis.tables.tick_unit

    def cost(self, _point: DesignPoint, outcome: Outcome) -> int:
        """Return the makespan in ticks."""
        return outcome.makespan

    def value(self, cost: int) -> float:
        """Return the ticks."""
        return cost


class Throughput(Unbounded):
    """Firings, or with ``throughput:ACTOR.PORT`` tokens of a port, of the whole trace over the makespan.

    The trace is the same for all points, so that the largest throughput is the smallest makespan.
    """

    maximise = True
    of_makespan = True

    def __init__(self, basis: Basis, argument: str | None = None) -> None:
        tables, trace = basis.tables, basis.tables.problem.trace
        self._amount = trace.n_firings if argument is None else tokens_of_port(trace, argument)
        self._ticks = PS_PER_S if tables.tick_unit == "ps" else 1
        what = "firings" if argument is None else "tokens"
        self.unit = f"{what}/{'s' if tables.tick_unit == 'ps' else 'cycle'}"

    def cost(self, _point: DesignPoint, outcome: Outcome) -> int:
        """Return the makespan in ticks."""
        return outcome.makespan

    def value(self, cost: int) -> float:
        """Return the amount per second, or per cycle where weights have no clock; 0 where no time passes."""
        return self._amount * self._ticks / cost if cost else 0.0


class Memory(Unbounded):
    """Bytes of the tokens that all FIFOs may hold."""

    maximise = False
    of_makespan = False
    unit = "bytes"

    def __init__(self, basis: Basis, argument: str | None = None) -> None:
        no_argument("memory", argument)
        self._topology = basis.tables.topology

    def cost(self, point: DesignPoint, _outcome: Outcome) -> int:
        """Return the bytes."""
        return self._topology.memory_bytes(point.capacities)

    def value(self, cost: int) -> float:
        """Return the bytes."""
        return cost


class CrossTraffic(Unbounded):
    """Bytes of all tokens of the trace that go from one partition to another."""

    maximise = False
    of_makespan = False
    unit = "bytes"

    def __init__(self, basis: Basis, argument: str | None = None) -> None:
        no_argument("traffic", argument)
        trace = basis.tables.problem.trace
        self._n_actors = len(trace.topology.actors)
        self._edges = [
            (b.source, b.target, b.token_bytes * _written(trace, b.source, b.source_port))
            for b in trace.topology.buffers
        ]

    def cost(self, point: DesignPoint, _outcome: Outcome) -> int:
        """Return the bytes."""
        owner = point.partition_of(self._n_actors)
        return sum(size for source, target, size in self._edges if owner[source] != owner[target])

    def value(self, cost: int) -> float:
        """Return the bytes."""
        return cost


class Partitions(Unbounded):
    """The number of partitions: CPU cores and GPUs in use."""

    maximise = False
    of_makespan = False
    unit = "partitions"

    def __init__(self, _basis: Basis, argument: str | None = None) -> None:
        no_argument("partitions", argument)

    def cost(self, point: DesignPoint, _outcome: Outcome) -> int:
        """Return the number."""
        return len(point.partitions)

    def value(self, cost: int) -> float:
        """Return the number."""
        return cost


class Units(Unbounded):
    """The number of units of the platform in use."""

    maximise = False
    of_makespan = False
    unit = "units"

    def __init__(self, _basis: Basis, argument: str | None = None) -> None:
        no_argument("units", argument)

    def cost(self, point: DesignPoint, _outcome: Outcome) -> int:
        """Return the number."""
        return len({partition.unit for partition in point.partitions})

    def value(self, cost: int) -> float:
        """Return the number."""
        return cost


def tokens_of_port(trace: Trace, name: str) -> int:
    """Return the tokens that pass ``ACTOR.PORT`` in a trace. Raises ``OptionError`` where there is no such port."""
    tokens: dict[str, int] = {}
    for a, actor in enumerate(trace.topology.actors):
        for index, port in enumerate(actor.inputs):
            tokens[f"{actor.name}.{port}"] = _amount(trace, a, [action.reads[index] for action in actor.actions])
        for index, port in enumerate(actor.outputs):
            tokens[f"{actor.name}.{port}"] = _written(trace, a, index)
    if name not in tokens:
        raise OptionError(f"there is no port '{name}'", expected=nearest_names(name, tuple(tokens)))
    return tokens[name]


def _written(trace: Trace, actor: int, port: int) -> int:
    return _amount(trace, actor, [action.writes[port] for action in trace.topology.actors[actor].actions])


def _amount(trace: Trace, actor: int, rates: Sequence[int]) -> int:
    """Return the tokens of all firings of an actor; ``rates``: by action."""
    counts = np.bincount(trace.firings[actor].astype(np.int64), minlength=len(rates))
    return int(counts @ np.array(rates, dtype=np.int64)) if rates else 0
