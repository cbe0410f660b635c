"""Properties that every estimate has, on random networks, mappings, weights and policies."""

import random
from dataclasses import replace

import numpy as np
from hypothesis import given, settings

from dse.estimate.engine import make_engine
from dse.estimate.problem.build import build_tables
from dse.model.design_point import DesignPoint
from dse.model.estimate import Estimate
from dse.model.problem import Problem
from dse.model.trace import Trace
from tests.examples import WHOLE, examples
from tests.property.estimation_cases import Case, Shape, estimation_cases, random_case

EXAMPLES = settings(max_examples=examples(60), deadline=None)


def run(case: Case, *, firing_times: bool = False, point: DesignPoint | None = None) -> Estimate:
    return make_engine("reference", case.problem).estimate(point or case.point, firing_times=firing_times)


def work(estimate: Estimate) -> int:
    return sum(a.scheduling + a.reading + a.processing + a.writing + a.link_waiting for a in estimate.actors)


@given(case=estimation_cases())
@EXAMPLES
def test_accounts_add_up(case: Case) -> None:
    estimate = run(case)
    assert [account.total for account in estimate.actors] == [estimate.makespan] * len(estimate.actors)
    for account in estimate.partitions:
        assert account.busy + account.unoccupied == account.cores * estimate.makespan
        assert account.unoccupied >= 0
    for buffer, capacity in zip(estimate.buffers, case.point.capacities, strict=True):
        assert buffer.max_tokens <= capacity
        assert (buffer.read_blockings > 0) == (buffer.read_blocked > 0)
        assert (buffer.write_blockings > 0) == (buffer.write_blocked > 0)
    assert sum(b.read_blocked for b in estimate.buffers) == sum(a.blocked_reading for a in estimate.actors)
    assert sum(b.write_blocked for b in estimate.buffers) == sum(a.blocked_writing for a in estimate.actors)
    fired = sum(a.firings for a in estimate.actors)
    assert (fired == case.problem.trace.n_firings) == (estimate.deadlock is None)


@given(case=estimation_cases())
@EXAMPLES
def test_firing_times_are_ordered_and_fill_the_firing_categories(case: Case) -> None:
    estimate = run(case, firing_times=True)
    assert estimate.firing_times is not None
    last = 0
    for account, times in zip(estimate.actors, estimate.firing_times, strict=True):
        start, end = times.start[: account.firings], times.end[: account.firings]
        assert (start <= end).all()
        assert (times.start[account.firings :] == -1).all()
        blocks = np.unique(np.stack([start, end]), axis=1)
        busy = account.scheduling + account.reading + account.processing + account.writing + account.link_waiting
        assert int((blocks[1] - blocks[0]).sum()) == busy
        last = max(last, int(end.max(initial=0)))
    if estimate.deadlock is None:
        assert last == estimate.makespan
    assert last <= estimate.makespan  # the last event of a deadlock may be the arrival of tokens


@given(case=estimation_cases())
@EXAMPLES
def test_one_estimate_after_the_other_gives_the_same(case: Case) -> None:
    engine = make_engine("reference", case.problem)
    first, second = engine.estimate(case.point), engine.estimate(case.point)
    assert first == second == run(case)


@given(case=estimation_cases())
@EXAMPLES
def test_names_change_nothing(case: Case) -> None:
    assert run(renamed(case)) == run(case)


def renamed(case: Case) -> Case:
    """The same case, the order of the names turned round."""
    topology = case.problem.trace.topology
    new = {actor.name: f"z{len(topology.actors) - index}" for index, actor in enumerate(topology.actors)}
    weights, platform = case.problem.weights, case.problem.platform
    capable = None if platform.gpu_capable is None else tuple(new[name] for name in platform.gpu_capable)
    trace = Trace(
        topology=replace(topology, actors=tuple(replace(actor, name=new[actor.name]) for actor in topology.actors)),
        firings=case.problem.trace.firings,
        digest="renamed",
    )
    table = replace(
        weights,
        compute={(new[a], x, k): c for (a, x, k), c in weights.compute.items()},
        simd={(new[a], x, k): c for (a, x, k), c in weights.simd.items()},
        scheduling={(new[a], q, x, k): c for (a, q, x, k), c in weights.scheduling.items()},
        transfers={(new[s], o, new[t], i, f, k, w): c for (s, o, t, i, f, k, w), c in weights.transfers.items()},
    )
    arrival = table.arrival
    if arrival is not None and arrival.visits is not None:
        entries = {(new[s], o, new[t], i, w): c for (s, o, t, i, w), c in arrival.visits.entries.items()}
        table = replace(table, arrival=replace(arrival, visits=replace(arrival.visits, entries=entries)))
    problem = Problem(
        trace=trace,
        weights=table,
        platform=replace(platform, gpu_capable=capable),
        missing_weights=case.problem.missing_weights,
    )
    return Case(problem=problem, point=case.point)


@given(case=estimation_cases())
@EXAMPLES
def test_one_core_without_deadlock_or_link_is_the_sum_of_all_work(case: Case) -> None:
    """A core that never rests while something is ready: with one partition nothing else can make it rest."""
    unit = next(u.name for u in case.problem.platform.units if u.kind == "cpu")
    actors = tuple(range(len(case.problem.trace.topology.actors)))
    policy = "NON_PREEMPTIVE" if case.point.partitions[0].policy == "STATIC_ORDER" else case.point.partitions[0].policy
    one = replace(case.point.partitions[0], actors=actors, unit=unit, cores=1, policy=policy, static_order=())
    estimate = run(case, point=replace(case.point, partitions=(one,)))
    if policy == "FULL_PARALLEL":
        assert estimate.makespan <= work(estimate)
    else:
        assert estimate.makespan == work(estimate)


@given(case=estimation_cases())
@EXAMPLES
def test_something_is_always_under_way(case: Case) -> None:
    """A firing, or tokens between cores: each firing publishes once at most, and all its buffers at the same time."""
    estimate = run(case)
    on_the_way = build_tables(case.problem).arrival * sum(len(firings) for firings in case.problem.trace.firings)
    assert estimate.makespan <= work(estimate) + len(case.point.capacities) * on_the_way


@given(case=estimation_cases())
@EXAMPLES
def test_room_for_all_tokens_never_deadlocks_an_acyclic_network(case: Case) -> None:
    """The traces were executed, so only a trace with firings added or a static order that waits can get stuck."""
    static = any(p.policy == "STATIC_ORDER" for p in case.point.partitions)
    roomy = run(case, point=replace(case.point, capacities=(10_000,) * len(case.point.capacities)))
    if roomy.deadlock is not None:
        assert roomy.deadlock.remedy is None
        assert all(row.kind == "tokens" for row in roomy.deadlock.rows)
        if not static:
            assert not executable(case.problem)


def executable(problem: Problem) -> bool:
    """Whether every firing of the trace gets its tokens when room is no matter."""
    topology = problem.trace.topology
    tokens = [b.initial_tokens for b in topology.buffers]
    positions = [0] * len(topology.actors)
    moved = True
    while moved:
        moved = False
        for a, firings in enumerate(problem.trace.firings):
            while positions[a] < len(firings):
                action = topology.actors[a].actions[int(firings[positions[a]])]
                inputs = [(i, action.reads[b.target_port]) for i, b in enumerate(topology.buffers) if b.target == a]
                if any(tokens[i] < n for i, n in inputs):
                    break
                for i, n in inputs:
                    tokens[i] -= n
                for i, b in enumerate(topology.buffers):
                    if b.source == a:
                        tokens[i] += action.writes[b.source_port]
                positions[a] += 1
                moved = True
    return all(p == len(f) for p, f in zip(positions, problem.trace.firings, strict=True))


@given(case=estimation_cases())
@EXAMPLES
def test_the_remedy_is_that_of_the_definition(case: Case) -> None:
    """Raise the lowest-index buffer that lacks space by its shortage and run again, with the engine itself."""
    estimate = run(case)
    if estimate.deadlock is None:
        return
    assert estimate.deadlock.rows
    told = estimate.deadlock.remedy
    engine = make_engine("reference", case.problem)
    capacities = list(case.point.capacities)
    while estimate.deadlock is not None:
        lacking = [row for row in estimate.deadlock.rows if row.kind == "space"]
        if not lacking:
            assert told is None
            return
        row = min(lacking, key=lambda row: row.buffer)
        capacities[row.buffer] += row.need - row.have
        estimate = engine.estimate(replace(case.point, capacities=tuple(capacities)))
    assert told == tuple(capacities)


def test_many_seeds_run_and_add_up() -> None:
    """Hypothesis likes small cases; these are larger. The engine itself asserts that accounts add up."""
    reached = {"deadlock": 0, "link": 0, "blocked writing": 0, "completed": 0}
    seeds = 600 if WHOLE else 300
    for seed in range(seeds):
        estimate = run(random_case(random.Random(seed), Shape(max_firings=300)))
        reached["deadlock" if estimate.deadlock else "completed"] += 1
        reached["link"] += any(link.waiting for link in estimate.links)
        reached["blocked writing"] += any(buffer.write_blocked for buffer in estimate.buffers)
    assert min(reached.values()) > seeds // 20, reached
