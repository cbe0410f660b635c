"""Objectives of small problems, computed by hand."""

from dataclasses import replace
from fractions import Fraction

import pytest

from dse.base.errors import OptionError
from dse.estimate.compiled.engine import CompiledEngine
from dse.estimate.problem.build import build_tables
from dse.explore.objectives.front import make_goals
from dse.explore.objectives.objectives import Basis, make_objective
from dse.explore.objectives.registry import OBJECTIVES
from dse.model.design_point import DesignPoint, Partition
from dse.model.platform import ClockScaling, Platform, Unit
from dse.model.problem import GpuAt, GpuScaling, Problem
from tests.unit.explore.test_buffers import pipeline, spread


def clocked(watts: tuple[Fraction | None, Fraction | None] = (Fraction(5, 2), Fraction(10))) -> Problem:
    """Three actors, 10, 20 and 30 cycles of 1 GHz a firing, 40 firings each; two CPUs."""
    problem = pipeline((10, 20, 30))
    compute = {key: replace(cost, frequency_mhz=Fraction(1000)) for key, cost in problem.weights.compute.items()}
    units = (
        Unit(name="little", kind="cpu", cores=2, power_watt=watts[0]),
        Unit(name="big", kind="cpu", cores=2, power_watt=watts[1]),
    )
    return replace(
        problem, weights=replace(problem.weights, compute=compute), platform=Platform(name="two", units=units)
    )


def two_units() -> DesignPoint:
    return DesignPoint(
        partitions=(Partition(name="P0", actors=(0, 1), unit="little"), Partition(name="P1", actors=(2,), unit="big")),
        capacities=(3, 5),
    )


def basis(problem: Problem) -> Basis:
    return Basis(tables=build_tables(problem), engine=CompiledEngine(problem))


def measured(name: str, problem: Problem, point: DesignPoint) -> tuple[int, float, str]:
    objective = make_objective(name, basis(problem))
    cost = objective.cost(point, CompiledEngine(problem).estimate(point))
    return cost, objective.value(cost), objective.unit


def test_every_objective_by_hand() -> None:
    problem, point = clocked(), two_units()
    makespan = CompiledEngine(problem).estimate(point).makespan
    assert measured("makespan", problem, point) == (makespan, makespan, "ps")
    assert measured("memory", problem, point) == (32, 32, "bytes")
    assert measured("traffic", problem, point) == (160, 160, "bytes")  # only a1 -> a2 crosses: 40 tokens of 4 bytes
    assert measured("partitions", problem, point) == (2, 2, "partitions")
    assert measured("units", problem, point) == (2, 2, "units")
    assert measured("throughput", problem, point) == (makespan, 120 * 10**12 / makespan, "firings/s")
    assert measured("throughput:a1.o", problem, point) == (makespan, 40 * 10**12 / makespan, "tokens/s")
    assert measured("throughput:a1.i", problem, point)[1] == 40 * 10**12 / makespan
    picojoule = 40 * 30_000 * Fraction(5, 2) + 40 * 30_000 * 10
    assert measured("energy", problem, point) == (picojoule, float(picojoule) / 10**12, "joule")
    microwatt = round(picojoule * 10**6 / makespan)
    assert measured("power", problem, point) == (microwatt, microwatt / 10**6, "watt")


def test_units_and_partitions_differ() -> None:
    problem = clocked()
    point = replace(two_units(), partitions=tuple(replace(p, unit="little") for p in two_units().partitions))
    assert measured("partitions", problem, point)[0] == 2
    assert measured("units", problem, point)[0] == 1


def test_without_a_clock_throughput_is_per_cycle() -> None:
    problem = pipeline((1, 2))
    point = spread(problem, (1,))
    cost, value, unit = measured("throughput", problem, point)
    assert (unit, value) == ("firings/cycle", 80 / cost)


def test_energy_needs_power_and_a_clock() -> None:
    with pytest.raises(OptionError, match="gives none for big"):
        make_objective("energy", basis(clocked((Fraction(1), None))))
    unclocked = replace(clocked(), weights=pipeline((10, 20, 30)).weights)
    with pytest.raises(OptionError, match="without a clock"):
        make_objective("energy", basis(unclocked))


def scaled(scaling: ClockScaling | None, clock_mhz: str = "500") -> tuple[Problem, DesignPoint]:
    """The point with ``big``, 10 W at 1 GHz, at another clock."""
    problem, clock = clocked(), Fraction(clock_mhz)
    little, big = problem.platform.units
    big = replace(big, clock_mhz=Fraction(1000), scaling=scaling)
    point = two_units()
    slowed = replace(point.partitions[1], clock_mhz=clock)
    return (
        replace(problem, platform=Platform(name="two", units=(little, big)), clocks=(("big", clock),)),
        replace(point, partitions=(point.partitions[0], slowed)),
    )


@pytest.mark.parametrize(
    ("scaling", "watt"),
    [
        (None, Fraction(10, 8)),
        (ClockScaling(exponent=1), Fraction(5)),
        (ClockScaling(static_watt=Fraction(2)), 2 + Fraction(8, 8)),
        (ClockScaling(points=((Fraction(500), Fraction(3)), (Fraction(1000), Fraction(11)))), Fraction(3)),
    ],
)
def test_energy_follows_the_clock(scaling: ClockScaling | None, watt: Fraction) -> None:
    problem, point = scaled(scaling)
    # 40 firings of 30 cycles: 30 ns each at 1 GHz on little, 60 ns each at 500 MHz on big
    assert measured("energy", problem, point)[0] == 40 * 30_000 * Fraction(5, 2) + 40 * 60_000 * watt


def test_energy_at_a_clock_without_a_measured_power_is_refused() -> None:
    problem, _ = scaled(ClockScaling(points=((Fraction(1000), Fraction(11)),)))
    with pytest.raises(OptionError, match="lacks big at 500 MHz"):
        make_objective("energy", basis(problem))


@pytest.mark.parametrize("text", ["enegry", "throughput:a1.nothing", "memory:x", "throughput:"])
def test_what_is_not_an_objective_is_refused(text: str) -> None:
    with pytest.raises(OptionError):
        make_objective(text, basis(clocked()))


def test_goals_are_named_once_and_the_makespan_alone_is_no_goal() -> None:
    given = basis(clocked())
    assert make_goals(("makespan",), given) is None
    with pytest.raises(OptionError, match="twice"):
        make_goals(("memory", "memory"), given)
    with pytest.raises(OptionError, match="no objective"):
        make_goals((), given)
    goals = make_goals(OBJECTIVES.names(), given)
    assert goals is not None
    assert [a.name for a in goals.axes if a.maximise] == ["throughput", "steady-throughput"]


def test_power_of_a_gpu_by_a_scaling_model() -> None:
    """The mean of its actions, weighted by what they compute at the clock; a slower clock may be quicker."""
    problem = clocked((Fraction(3), Fraction(10)))
    gpu = Unit(name="big", kind="gpu", power_watt=Fraction(10), clock_mhz=Fraction(1000))
    names = [(actor.name, actor.actions[0].name) for actor in problem.trace.topology.actors]
    compute = {(a, x, "gpu"): problem.weights.compute[a, x, "cpu"] for a, x in names}
    watts = {name: Fraction(20 + 30 * k) for k, name in enumerate(names)}
    at = {
        Fraction(500): GpuAt(times=dict.fromkeys(names, Fraction(1, 2)), watts=watts),
        Fraction(2000): GpuAt(times=dict.fromkeys(names, Fraction(3)), watts=watts),
    }
    problem = replace(
        problem,
        platform=replace(problem.platform, units=(problem.platform.units[0], gpu)),
        weights=replace(problem.weights, compute={**problem.weights.compute, **compute}),
        clocks=(("big", Fraction(500)), ("big", Fraction(2000))),
        scaling=GpuScaling(name="made up", digest="", at=at),
    )
    plain = DesignPoint(partitions=(Partition(name="PG", actors=(0, 1, 2), unit="big"),), capacities=(3, 5))
    slow, quick = (
        replace(plain, partitions=(replace(plain.partitions[0], clock_mhz=Fraction(mhz)),)) for mhz in (2000, 500)
    )
    of_slow, of_quick = (CompiledEngine(problem).estimate(point) for point in (slow, quick))
    assert of_slow.partitions[0].busy == 6 * of_quick.partitions[0].busy == 40 * 60_000 * 3
    mean = Fraction(10 * 20 + 20 * 50 + 30 * 80, 60)
    assert measured("energy", problem, slow)[0] == round(40 * 60_000 * 3 * mean)
    assert measured("power", problem, slow)[0] == round(
        40 * 60_000 * 3 * mean * 10**6 / CompiledEngine(problem).estimate(slow).makespan
    )
