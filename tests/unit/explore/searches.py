"""Runs a search on a problem with a real engine, for the tests of the methods."""

import itertools
from dataclasses import dataclass

import numpy as np

from dse.estimate.engine import make_engine
from dse.estimate.problem.build import build_tables, tables_of
from dse.estimate.problem.tables import ProblemTables
from dse.explore.evaluator import Budget, Evaluator
from dse.explore.mapping_bound import MappingBound
from dse.explore.method import SearchContext, SearchMethod, Traffic
from dse.explore.methods.registry import METHODS
from dse.explore.search import SearchOutcome, ranked, run_search
from dse.explore.space.build import build_space
from dse.explore.space.space import Space, SpaceOptions
from dse.model.platform import Platform
from dse.model.problem import Problem
from dse.model.study import Evaluation


class NoStore:
    """Keeps nothing."""

    def known(self) -> dict[str, Evaluation]:
        return {}

    def add(self, evaluation: Evaluation) -> None:
        pass

    def commit(self) -> None:
        pass


@dataclass(frozen=True, kw_only=True)
class Found:
    method: SearchMethod
    evaluations: list[Evaluation]
    outcome: SearchOutcome

    @property
    def best(self) -> int:
        return ranked(self.evaluations)[0].makespan


def space_of(problem: Problem, **options: object) -> Space:
    topology = problem.trace.topology
    capacities = ((20,) * len(topology.buffers),)
    chosen = SpaceOptions(**{"capacities": capacities, **options})  # type: ignore[arg-type]
    return build_space(topology, problem.platform, chosen)


def context_of(given: Problem | ProblemTables, space: Space, *, seed: int = 1, keep: int = 1) -> SearchContext:
    tables = tables_of(given)
    problem, bound = tables.problem, MappingBound(tables, space)
    edges = problem.trace.topology.buffers
    tokens = [problem.trace.firings[b.source].size for b in edges]
    return SearchContext(
        space=space,
        rng=np.random.default_rng(seed),
        loads=bound.unit_loads,
        traffic=tuple(
            Traffic(source=b.source, target=b.target, tokens=n, port=b.source_port)
            for b, n in zip(edges, tokens, strict=True)
        ),
        bounds=bound.of,
        keep=keep,
        placement=bound.placement(0),
    )


def run(name: str, problem: Problem, space: Space, *, seed: int = 1, evaluations: int | None = None) -> Found:
    tables = build_tables(problem)
    method: SearchMethod = METHODS.load(name)(context_of(tables, space, seed=seed))
    engine = make_engine("compiled", tables)
    evaluator = Evaluator(
        lambda points, _: iter(engine.outcomes(points)), budget=Budget(evaluations=evaluations), store=NoStore(),
        clock=itertools.count().__next__, progress=lambda p: None,
    )  # fmt: skip
    outcome = run_search(method, evaluator, None)
    return Found(method=method, evaluations=evaluator.evaluations, outcome=outcome)


def small_cores(problem: Problem, cores: int) -> Problem:
    """The same problem on a CPU alone, with another number of cores."""
    cpu = next(unit for unit in problem.platform.units if unit.kind == "cpu")
    platform = Platform(name="cpu", units=(type(cpu)(name=cpu.name, kind="cpu", cores=cores),))
    return Problem(trace=problem.trace, weights=problem.weights, platform=platform)
