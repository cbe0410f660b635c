"""What is assumed when the user does not say: which actors stay on a CPU, the budget; in words."""

from collections.abc import Sequence
from dataclasses import dataclass

from dse.estimate.problem.prices import UNIT_KINDS
from dse.estimate.problem.tables import ProblemTables
from dse.explore.evaluator import Budget
from dse.model.trace import Topology
from dse.program.ir import Actor, Print, Stmt
from dse.program.network import Network
from dse.program.walk import sub_statements

FIRINGS_OF_DEFAULT_BUDGET = {"compiled": 500_000_000, "reference": 10_000_000}
"""Simulated firings that an engine is given when the user sets no budget: about a minute on one core of 2020."""
LEAST_EVALUATIONS, MOST_EVALUATIONS = 50, 60_000
USUAL_EVALUATIONS, EVALUATIONS_PER_ACTOR = 5_000, 1_000
"""Where the trace is short enough: the larger of the first number and the second one for each actor."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CpuOnly:
    """The actors that a search keeps on a CPU although the platform has a GPU, and why, in words."""

    actors: tuple[int, ...]
    assumed: tuple[str, ...]


def cpu_only_actors(tables: ProblemTables, network: Network | None) -> CpuOnly:
    """Return the actors that cannot go to a GPU: they call natives or print, or no GPU weight is known for them."""
    platform = tables.problem.platform
    if not platform.has_gpu:
        return CpuOnly(actors=(), assumed=())
    topology = tables.topology
    capable = [a for a, actor in enumerate(topology.actors) if platform.may_use_gpu(actor.name)]
    names = outside_actors(network)
    outside = [a for a in capable if topology.actors[a].name in names]
    known = tables.actor_known[UNIT_KINDS.index("gpu")]
    weightless = [a for a in capable if a not in outside and not known[a]]
    assumed = (
        *_kept_on_cpu(topology, outside, "files, printing or display"),
        *_kept_on_cpu(topology, weightless, "no GPU weights"),
    )
    return CpuOnly(actors=tuple(sorted((*outside, *weightless))), assumed=assumed)


def _kept_on_cpu(topology: Topology, actors: Sequence[int], why: str) -> tuple[str, ...]:
    """Return in words which actors stay on a CPU, if any do."""
    return (f"{_names(topology, actors)} on a CPU ({why})",) if actors else ()


def outside_actors(network: Network | None) -> frozenset[str]:
    """Return the names of the actors that call natives or print: they read files, or put something out."""
    instances = () if network is None else network.instances
    return frozenset(instance.name for instance in instances if _talks_to_the_world(instance.actor))


def _talks_to_the_world(actor: Actor) -> bool:
    bodies = [action.body for action in actor.actions] + [routine.body for routine in actor.routines]
    return actor.native or bool(actor.natives) or any(_prints(body) for body in bodies)


def _prints(body: Sequence[Stmt]) -> bool:
    return any(isinstance(statement, Print) for statement in sub_statements(body))


def _names(topology: Topology, actors: Sequence[int], shown: int = 6) -> str:
    names = [topology.actors[a].name for a in actors[:shown]]
    more = [f"{len(actors) - shown} more"] if len(actors) > shown else []
    return ", ".join(names + more)


def default_budget(engine: str, n_firings: int, n_actors: int) -> Budget:
    """Return a budget by the size of the problem: a number of evaluations, so that it is the same on every machine."""
    firings = FIRINGS_OF_DEFAULT_BUDGET.get(engine, FIRINGS_OF_DEFAULT_BUDGET["reference"])
    evaluations = firings // max(1, n_firings)
    most = min(MOST_EVALUATIONS, max(USUAL_EVALUATIONS, EVALUATIONS_PER_ACTOR * n_actors))
    return Budget(evaluations=min(most, max(LEAST_EVALUATIONS, evaluations)))
