"""The throughput of the steady state as an objective: by hand, and never above its bounds."""

from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from dse.base.errors import OptionError
from dse.estimate.bounds.lower_bounds import Bounds, Room
from dse.estimate.engine import make_engine
from dse.estimate.problem.build import build_tables
from dse.estimate.static_program import StaticProgram
from dse.estimate.steady import steady_state
from dse.explore.objectives.objectives import Basis, Objective, make_objective
from dse.explore.space.space import SpaceOptions
from dse.model.design_point import DesignPoint, Partition, Policy
from dse.model.problem import Problem
from dse.model.trace import TraceAction, make_trace
from dse.model.weights import Cost
from dse.sdf.balance import repetition_vector
from dse.sdf.throughput.periodic import least_period
from dse.sdf.throughput.timed_graph import timed_graph
from dse.sdf.unfold import is_state
from dse.sizing.buffers import size_buffers
from tests.examples import examples
from tests.unit.explore.test_buffers import pipeline
from tests.unit.sdf.graphs import Sized, sized_graphs
from tests.unit.sdf.test_steady_state import problem_of

POLICIES: tuple[Policy, ...] = ("NON_PREEMPTIVE", "ROUND_ROBIN", "DATA_DEMAND_DRIVEN", "FULL_PARALLEL")


def steady(problem: Problem) -> Objective:
    basis = Basis(tables=build_tables(problem), engine=make_engine("compiled", problem))
    return make_objective("steady-throughput", basis)


def cost(problem: Problem, point: DesignPoint) -> int:
    return steady(problem).cost(point, make_engine("compiled", problem).estimate(point))


def mapped(
    parts: Sequence[Sequence[int]], capacities: tuple[int, ...], policy: Policy = "NON_PREEMPTIVE"
) -> DesignPoint:
    partitions = tuple(
        Partition(name=f"P{n}", actors=tuple(actors), unit="cpu", policy=policy) for n, actors in enumerate(parts)
    )
    return DesignPoint(partitions=partitions, capacities=capacities)


def test_the_steady_state_of_a_pipeline_by_hand() -> None:
    """Firings of 10, 20 and 30 cycles: the last sets the pace, or both on its core; the run itself is longer."""
    problem = pipeline((10, 20, 30))
    objective = steady(problem)
    assert (objective.unit, objective.maximise, objective.of_makespan) == ("iterations/cycle", True, False)
    for parts, period in [(((0,), (1,), (2,)), 30), (((0,), (1, 2)), 50), (((0, 1), (2,)), 30), (((0, 1, 2),), 60)]:
        point = mapped(parts, (2, 2))
        assert cost(problem, point) == objective.bound(point) == 1000 * period
        assert objective.value(1000 * period) == pytest.approx(1 / period)
    assert objective.least(SpaceOptions(capacities=((2, 2),)), 3) == 30_000
    assert objective.least(SpaceOptions(capacities=((2, 2),)), 1) == 60_000
    # With room for one token a firing waits until its tokens are taken: 20 + 30 in turn, whatever the cores.
    assert objective.least(SpaceOptions(capacities=((2, 1),), release="processing"), 3) == 50_000
    tight = replace(mapped(((0,), (1,), (2,)), (2, 1)), release="processing")
    assert cost(problem, tight) == objective.bound(tight) == 50_000
    assert objective.remark == ""


def test_a_period_that_is_a_fraction_meets_its_bound() -> None:
    """Three tokens go round a ring of 41 cycles: 13 2/3 an iteration, which is rounded as what is measured."""
    problem = pipeline((10, 10, 10, 11), 60)
    row = problem.trace.topology
    actors = tuple(
        replace(actor, inputs=("i",), outputs=("o",), actions=(TraceAction(name="x", reads=(1,), writes=(1,)),))
        for actor in row.actors
    )
    back = replace(row.buffers[0], source=3, target=0, initial_tokens=3)
    ring = make_trace(replace(row, actors=actors, buffers=(*row.buffers, back)), [[0] * 60] * 4)
    problem = replace(problem, trace=ring)
    point = mapped(((0,), (1,), (2,), (3,)), (5, 5, 5, 5))
    objective = steady(problem)
    assert cost(problem, point) == objective.bound(point) == 13_667
    assert objective.least(SpaceOptions(capacities=(point.capacities,)), 4) == 13_667
    assert objective.remark == ""


@given(made=sized_graphs(), data=st.data())
@settings(max_examples=examples(40), deadline=None)
def test_no_mapping_is_quicker_than_its_bound(made: Sized, data: st.DataObject) -> None:
    firings = repetition_vector(made.graph)
    found = least_period(timed_graph(made.graph, firings, made.times, capacities=made.sizes, release=made.release))
    assume(found.ticks)
    problem = problem_of(made, firings)
    owner = [data.draw(st.integers(0, 2)) for _ in firings]
    parts = [[a for a, core in enumerate(owner) if core == wanted] for wanted in sorted(set(owner))]
    policy = data.draw(st.sampled_from(POLICIES))
    point = replace(mapped(parts, capacities_of(made), policy), release=made.release)
    outcome = make_engine("compiled", problem).estimate(point, firing_times=True)
    assume(outcome.deadlock is None)
    objective = steady(problem)
    options = SpaceOptions(capacities=(point.capacities,), release=made.release, policies=(policy,))
    cores = len(firings) if policy == "FULL_PARALLEL" else len(parts)
    assert objective.least(options, cores) <= objective.bound(point) <= objective.cost(point, outcome)
    times = outcome.firing_times
    assert times is not None
    repeats = steady_state([of_actor.start for of_actor in times], firings)
    assert (repeats is None) == bool(objective.remark)
    if repeats is not None:
        # Phases that are alike are one in the trace, so that its iterations may be shorter than those of the graph.
        shorter = firings[0] // StaticProgram(build_tables(problem)).firings[0]
        assert abs(shorter * objective.cost(point, outcome) - 1000 * repeats.period) <= Fraction(shorter, 2)


@given(made=sized_graphs())
@settings(max_examples=examples(30), deadline=None)
def test_the_bound_of_makespans_goes_round_the_cycle_that_limits(made: Sized) -> None:
    """The longest path with room is of all iterations: bounds of makespans lose nothing to the least period."""
    firings = repetition_vector(made.graph)
    timed = timed_graph(made.graph, firings, made.times, capacities=made.sizes, release=made.release)
    period = least_period(timed).ticks
    assume(period)
    problem = problem_of(made, firings)
    tables, room = build_tables(problem), Room(capacities=capacities_of(made), release=made.release)
    program = StaticProgram(tables)
    assert period is not None
    shorter = firings[0] // program.firings[0]  # phases that are alike are one in the trace
    cycle, exactly = shorter * program.cycle(room.capacities, made.release), 2 * period / timed.ticks_per_unit
    assert cycle == exactly
    longest = Bounds(tables).of_any_point(cores=len(firings), room=room).makespan
    assert longest >= (program.iterations - 3) * program.cycle(room.capacities, made.release)


def capacities_of(made: Sized) -> tuple[int, ...]:
    pairs = zip(made.sizes, made.graph.channels, strict=True)
    return tuple(size or 1 for size, channel in pairs if not is_state(made.graph, channel))


def test_a_short_run_is_said_to_be_short() -> None:
    problem = pipeline((10, 20, 30))
    short = replace(problem, trace=replace(problem.trace, firings=tuple(ids[:4] for ids in problem.trace.firings)))
    objective, point = steady(short), mapped(((0,), (1,), (2,)), (2, 2))
    found = objective.cost(point, make_engine("compiled", short).estimate(point))
    assert found > objective.bound(point) == 30_000  # so short a run proves nothing
    assert objective.remark.endswith("the period of 1 of 1 mappings, which does not repeat within it")


@pytest.mark.parametrize("firings", [2, 0])
def test_programs_without_a_steady_state_are_refused(firings: int) -> None:
    problem = pipeline((10, 20, 30))
    ids = problem.trace.firings
    cut = (ids[0][:firings], ids[1][:firings], ids[2][:firings])
    with pytest.raises(OptionError, match="too seldom" if firings else "not one static region"):
        steady(replace(problem, trace=replace(problem.trace, firings=cut)))
    with pytest.raises(OptionError, match="nothing behind a colon"):
        make_objective(
            "steady-throughput:a.b", Basis(tables=build_tables(problem), engine=make_engine("compiled", problem))
        )


def test_sizes_of_the_steady_state_keep_it_and_no_smaller_do() -> None:
    """By hand, room free when a firing has ended: 20 and 30 in turn with one token, side by side with two."""
    problem = pipeline((10, 20, 30))
    tables, engine = build_tables(problem), make_engine("compiled", problem)
    point = replace(mapped(((0,), (1,), (2,)), (1, 1)), release="processing")
    sizing = size_buffers(tables, engine, point, "throughput")
    assert sizing.chosen.capacities == (1, 2)  # 10 and 20 in turn are 30 too
    assert cost(problem, replace(point, capacities=(1, 2))) == 30_000
    assert cost(problem, replace(point, capacities=(1, 1))) == 50_000
    assert sizing.chosen.memory_bytes == 12 < sizing.maximal.memory_bytes


def test_firings_that_take_several_times_in_turn_are_phases_of_the_sizes() -> None:
    """10 then 50 beside 30 and 30: with room for one the first waits for the second; the mean, 30, would not tell."""
    problem = pipeline((10, 30))
    slow = replace(problem.trace.topology.actors[0].actions[0], name="slow")
    first, second = problem.trace.topology.actors
    topology = replace(problem.trace.topology, actors=(replace(first, actions=(*first.actions, slow)), second))
    trace = make_trace(topology, [[0, 1] * 20, [0] * 40])
    compute = {**problem.weights.compute, ("a0", "slow", "cpu"): Cost(mean_cycles=Fraction(50))}
    problem = replace(problem, trace=trace, weights=replace(problem.weights, compute=compute))
    tables, engine = build_tables(problem), make_engine("compiled", problem)
    point = replace(mapped(((0,), (1,)), (1,)), release="processing")
    (chosen,) = size_buffers(tables, engine, point, "throughput").chosen.capacities
    costs = {size: cost(problem, replace(point, capacities=(size,))) for size in range(1, 6)}
    assert chosen == min(size for size, found in costs.items() if found == 30_000) > 1


def test_sizes_of_a_program_that_is_not_static_are_refused() -> None:
    problem = pipeline((10, 20))
    trace = replace(problem.trace, firings=(problem.trace.firings[0][:0], problem.trace.firings[1][:0]))
    problem = replace(problem, trace=trace)
    with pytest.raises(OptionError, match="not one static region"):
        size_buffers(build_tables(problem), make_engine("compiled", problem), mapped(((0,), (1,)), (1,)), "throughput")
