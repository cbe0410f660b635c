"""GPU costs that follow a clock as a model says, up or down: engines agree, no bound exceeds a makespan."""

import itertools
import random
from dataclasses import replace
from fractions import Fraction

from dse.base.errors import DseError
from dse.estimate.engine import make_engine
from dse.estimate.problem.build import build_tables
from dse.explore.mapping_bound import MappingBound, fastest_rows, most_room
from dse.explore.methods.exact.unit_program import unit_bound
from dse.explore.space.build import build_space
from dse.explore.space.clocks import ClockDomain
from dse.explore.space.space import Space, SpaceOptions
from dse.model.problem import GpuAt, GpuScaling
from tests.property.estimation_cases import MORE, Case, Shape, random_case
from tests.property.test_search_bounds import search

CLOCKS = (Fraction(2000), Fraction(1500), Fraction(700))
MOST_POINTS = 400


def scaled_case(seed: int) -> tuple[Case, Space] | None:
    """A case whose GPUs have clocks and scale at random, and its space; None where it has no GPU or no clock."""
    rng = random.Random(seed)
    case = random_case(rng, Shape(max_actors=4, max_firings=80, hosts=True))
    problem = replace(case.problem, missing_weights="error")
    gpus = [unit.name for unit in problem.platform.units if unit.kind == "gpu"]
    if not gpus or any(cost.frequency_mhz is None for cost in problem.weights.compute.values()):
        return None
    keys = [(a.name, x.name) for a in problem.trace.topology.actors for x in a.actions]
    at = {
        clock: GpuAt(times={key: Fraction(rng.randint(20, 300), 100) for key in keys}, watts=None) for clock in CLOCKS
    }
    scaling = GpuScaling(name="made up", digest="", at=at)
    problem = replace(problem, clocks=tuple(itertools.product(gpus, CLOCKS)), scaling=scaling)
    options = SpaceOptions(
        policies=(case.point.partitions[0].policy,),
        capacities=(tuple(c + 50 for c in case.point.capacities),),
        release=case.point.release,
        transfers=case.point.transfers,
        clocks=tuple(ClockDomain(units=(gpu,), clocks_mhz=CLOCKS) for gpu in gpus),
    )
    try:
        space = build_space(problem.trace.topology, problem.platform, options)
    except DseError:
        return None
    return Case(problem=problem, point=case.point), space


def test_bounds_hold_where_a_faster_clock_is_slower() -> None:
    checked = slower = proven = 0
    for seed in range(160 * MORE):
        found = scaled_case(seed)
        if found is None or found[1].size > MOST_POINTS:
            continue
        case, space = found
        engine = make_engine("compiled", case.problem)
        candidates = list(space.candidates())
        try:
            estimates = [engine.estimate(space.to_point(c)) for c in candidates]
        except DseError:
            continue  # weights are missing for some placement
        alive = [(c, e.makespan) for c, e in zip(candidates, estimates, strict=True) if e.deadlock is None]
        if not alive:
            continue
        optimum = min(makespan for _, makespan in alive)
        tables = build_tables(case.problem)
        bound, rows = MappingBound(tables, space), fastest_rows(tables, space)
        whole = bound.of_trace.of_any_point(
            cores=space.n_actors if "FULL_PARALLEL" in space.options.policies else min(space.most, space.n_actors),
            transfers=space.options.transfers,
            room=most_room(space),
            rows=[sorted({rows[u] for u in units}) for units in space.allowed],
        )
        assert whole.makespan <= unit_bound(tables, space, bound, whole.makespan) <= optimum, seed
        of_each = bound.of([c for c, _ in alive])
        assert all(least <= makespan for least, (_, makespan) in zip(of_each, alive, strict=True)), seed
        slower += next(c for c, makespan in alive if makespan == optimum).clocks != ()
        if seed % 4 == 0:
            method, best, stop = search("branch-and-bound", case, space, MOST_POINTS)
            if stop == "complete" and method.exact:
                assert best == optimum, seed
                proven += 1
        checked += 1
    assert checked > 15 * MORE
    assert slower > 1 * MORE
    assert proven > 0


def test_engines_agree_under_scaling() -> None:
    checked = 0
    for seed in range(400, 520):
        found = scaled_case(seed)
        if found is None:
            continue
        case, space = found
        reference, compiled = (make_engine(name, case.problem) for name in ("reference", "compiled"))
        point = space.to_point(next(iter(space.candidates())))
        try:
            assert reference.estimate(point).makespan == compiled.estimate(point).makespan
        except DseError:
            continue
        checked += 1
    assert checked > 5
