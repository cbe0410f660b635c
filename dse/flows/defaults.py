"""What is assumed when the user does not say: capacities, GPU-capable actors, budgets; each in words."""

from collections.abc import Sequence
from dataclasses import dataclass

from dse.estimate.problem.prices import UNIT_KINDS
from dse.estimate.problem.tables import ProblemTables
from dse.explore.evaluator import Budget
from dse.model.design_point import DEFAULT_CAPACITY_TOKENS
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
class Capacities:
    """A capacity in tokens for each buffer, and the assumptions in it."""

    tokens: tuple[int, ...]
    assumed: tuple[str, ...]


def default_capacities(topology: Topology, least: Sequence[int], uniform: int | None = None) -> Capacities:
    """Return the network's buffer sizes where it gives them, else ``uniform`` or 512, never below what a firing needs.

    ``least``: the capacity of each buffer below which some firing can never happen. A size that the user gives
    (``uniform``) replaces the network's, and is not raised: what cannot run is then an error of the estimation.
    """
    if uniform is not None:
        return Capacities(tokens=(uniform,) * len(topology.buffers), assumed=())
    tokens, plain, raised = [], 0, 0
    for buffer, needed in zip(topology.buffers, least, strict=True):
        if buffer.capacity is None:
            plain += 1
            raised += needed > DEFAULT_CAPACITY_TOKENS
            tokens.append(max(DEFAULT_CAPACITY_TOKENS, needed))
        else:
            tokens.append(buffer.capacity)
    assumed = []
    if plain:
        of = "all FIFOs" if plain == len(tokens) else f"{plain} of {len(tokens)} FIFOs"
        more = f" ({raised} raised to what one firing needs)" if raised else ""
        assumed.append(f"a capacity of {DEFAULT_CAPACITY_TOKENS} tokens for {of}{more}")
    return Capacities(tokens=tuple(tokens), assumed=tuple(assumed))


@dataclass(frozen=True, slots=True, kw_only=True)
class CpuOnly:
    """The actors that a search keeps on a CPU although the platform has a GPU, and why, in words."""

    actors: tuple[int, ...]
    assumed: tuple[str, ...]


def cpu_only_actors(tables: ProblemTables, network: Network | None) -> CpuOnly:
    """Return the actors that cannot go to a GPU: they call natives or print, or no GPU weight is known for them."""
    platform = tables.problem.platform
    if all(unit.kind == "cpu" for unit in platform.units):
        return CpuOnly(actors=(), assumed=())
    topology = tables.topology
    actors = range(len(topology.actors))
    capable = [platform.may_use_gpu(topology.actors[a].name) for a in actors]
    names = outside_actors(network)
    outside = [a for a in actors if capable[a] and topology.actors[a].name in names]
    known = tables.actor_known[UNIT_KINDS.index("gpu")]
    weightless = [a for a in actors if capable[a] and a not in outside and not known[a]]
    assumed = []
    if outside:
        assumed.append(f"{_names(topology, outside)} on a CPU (files, printing or display)")
    if weightless:
        assumed.append(f"{_names(topology, weightless)} on a CPU (no GPU weights)")
    return CpuOnly(actors=tuple(sorted((*outside, *weightless))), assumed=tuple(assumed))


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
