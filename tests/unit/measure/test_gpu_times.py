"""What a run tells of a GPU: its clock, runs that are made again, and the weights that become of sums of cycles."""

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from dse.base.errors import ExecutionError
from dse.measure.gpu_runs import steady_runs
from dse.measure.gpu_times import GpuTimes, TimeSum, added, gpu_times
from dse.measure.gpu_weights import GpuRunFacts, accounted_ns, gpu_weights
from dse.measure.runs import RunRecord
from tests.unit.measure.networks import chain

READING = 10


def told(*rates_mhz: float, actors: list[dict[str, Any]] | None = None, ends: list[Any] | None = None) -> GpuTimes:
    """Return what a run tells whose clock had such rates, each for a millisecond."""
    cycles, ns = [0], [0]
    for mhz in rates_mhz:
        cycles.append(cycles[-1] + round(1000 * mhz))
        ns.append(ns[-1] + 1_000_000)
    clocks = [{"reading": READING, "cycles": cycles, "ns": ns}]
    document = {
        "gpu": {
            "name": "a card",
            "major": 8,
            "minor": 6,
            "emulated": False,
            "clocks": clocks,
            "actors": actors or [],
            "ends": ends or [],
        }
    }
    found = gpu_times(document)
    assert found is not None
    return found


def test_the_clock_is_told_by_both_counters() -> None:
    found = told(1800, 1700, 1900)
    assert found.clock is not None
    assert found.card == "a card, compute capability 8.6"
    assert (found.clock.mhz, found.clock.least_mhz, found.clock.most_mhz) == pytest.approx((1800, 1700, 1900))
    assert found.clock.moved == pytest.approx(200 / 1800)
    assert gpu_times({"gpu": None}) is None


@pytest.mark.parametrize("wrong", [{}, {"clocks": [{"reading": 1, "cycles": [1], "ns": [1]}]}, {"actors": [{}]}])
def test_what_is_not_understood_is_an_error(wrong: dict[str, Any]) -> None:
    document = {"name": "a", "major": 1, "minor": 2, "emulated": True, "clocks": [], "actors": [], "ends": []}
    given = {"gpu": document | wrong if wrong else {"name": "a"}}
    with pytest.raises(ExecutionError, match="tells of the GPU is not understood"):
        gpu_times(given)


def record(times: GpuTimes | None, run_ns: int = 1) -> RunRecord:
    return RunRecord(run_ns=run_ns, result="", trips=(), gpu=times)


def test_runs_whose_clock_moved_are_made_again() -> None:
    made = iter([told(1800, 1810), told(1800, 1700), told(1800, 1800), told(1500, 1500), told(1801, 1801)])
    found = steady_runs(lambda: record(next(made)), 3)
    assert (found.repeated, found.unsteady) == (2, 0)
    rates = [times.clock.mhz for times in found.times if times.clock]
    assert rates == pytest.approx([1805, 1800, 1801])


def test_where_no_clock_is_steady_that_is_told() -> None:
    def moving() -> Iterator[RunRecord]:
        while True:
            yield record(told(1800, 1500))

    made = moving()
    found = steady_runs(lambda: next(made), 2)
    assert (found.repeated, found.unsteady, len(found.records)) == (4, 2, 2)
    with pytest.raises(ExecutionError, match="does not tell of the GPU"):
        steady_runs(lambda: record(None), 1)


def row(count: int, each: float) -> list[float] | None:
    """Return a sum of so many durations, in each of which there is a reading besides."""
    whole = each + READING
    return [count, count * whole, whole, whole, count * whole**2] if count else None


def test_sums_of_cycles_become_weights() -> None:
    """The second actor of the chain: two actions, one input, one output."""
    topology = chain()
    actor = topology.actors[1]
    assert len(actor.actions) == 2
    reads, writes = (max(getattr(a, side)[0] for a in actor.actions) for side in ("reads", "writes"))
    n = 2
    choosing = [row(4, 7), None, None, row(6, 5), row(6, 3), None]
    phases = [row(10, 20), row(10, 100), row(10, 30), row(6, 20), row(6, 200), row(6, 30)]
    actors = [{"actor": 1, "choosing": choosing, "phases": phases, "rest": [row(4, 11), row(9, 2), None]}]
    ends = [
        {"connection": 0, "writes": False, "times": [row(4, 40), row(4, 8)]},
        {"connection": 1, "writes": True, "times": [row(4, 0), row(4, 16)]},
    ]
    times = told(1000, 1000, actors=actors, ends=ends)
    ids = np.array(([0, 1] * 6) + [0] * 4, dtype=np.uint8)
    firings = [ids if k == 1 else ids[:0] for k in range(len(topology.actors))]
    facts = GpuRunFacts(times=times, runs=1, firings=firings, kinds=["cuda", "host"], origin="measured")
    table = gpu_weights(topology, facts)
    name, first, second = actor.name, *(a.name for a in actor.actions)
    assert len(choosing) == (n + 1) * n
    assert set(table.compute) == {(name, first, "gpu"), (name, second, "gpu")}
    assert table.scheduling[name, first, second, "gpu"].mean_cycles == 5
    assert table.scheduling[name, second, first, "gpu"].mean_cycles == 3
    assert table.scheduling[name, "", first, "gpu"].mean_cycles == 7 + 11
    assert table.scheduling[name, "", second, "gpu"].mean_cycles == 7 + 11  # never seen first: as those that were
    read = table.transfers[*topology.ends(0), "cuda", "gpu", "read"]
    write = table.transfers[*topology.ends(1), "host", "gpu", "write"]
    assert (read.frequency_mhz, read.origin) == (1000, "measured")
    assert set(table.transfers) == {
        (*topology.ends(0), "cuda", "gpu", "read"),
        (*topology.ends(1), "host", "gpu", "write"),
    }
    moved = 10 * (actor.actions[0].reads[0] > 0) + 6 * (actor.actions[1].reads[0] > 0)
    assert float(read.mean_cycles) >= 4 * 48 / moved - 1e-4
    assert reads
    assert writes
    whole = sum(float(c.mean_cycles) * (c.count or 0) for c in table.compute.values())
    for cost, k, side in ((read, 0, "reads"), (write, 0, "writes")):
        for x, fired in ((0, 10), (1, 6)):
            tokens = getattr(actor.actions[x], side)[k]
            whole += fired * float(cost.mean_cycles + tokens * cost.per_token_cycles) * (tokens > 0)
    phases_sum = 10 * 150 + 6 * 250
    assert whole == pytest.approx(phases_sum + 4 * 48 + 4 * 16, abs=0.1)
    everything = phases_sum + 4 * 7 + 6 * 5 + 6 * 3 + 4 * 11 + 9 * 2 + 4 * 48 + 4 * 16
    assert accounted_ns(times) == pytest.approx(everything)


def test_runs_are_added_up() -> None:
    actors = [{"actor": 0, "choosing": [row(2, 5)], "phases": [row(2, 1)] * 3, "rest": [None, None, row(1, 9)]}]
    runs = [told(1000, actors=actors), told(1010, actors=actors)]
    both = added(runs)
    assert both.clock is not None
    assert both.clock.mhz == pytest.approx(1005)
    assert both.actors[0].choosing[0].count == 4
    assert both.actors[0].starting.spread(both.reading).mean == 9
    assert TimeSum().without(5) == 0
