"""Timelines of estimates agree with their accounts; those of runs are what the records say, under the same names."""

import random
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from dse.base.errors import DseError, ExecutionError
from dse.estimate.engine import make_engine
from dse.flows.measured_timelines import measured_timeline
from dse.flows.timelines import core_counts, core_names, estimated_timeline, write_estimated
from dse.measure.raw_records import read_samples
from dse.measure.samples import UNKNOWN_STEPS
from dse.model.design_point import DesignPoint, Partition
from dse.model.trace import Topology, TraceAction, TraceActor, TraceBuffer
from tests.property.estimation_cases import Shape, random_case
from tests.unit.measure.records import header, thread, write
from tests.unit.report.timeline_readers import read

SHAPES = (
    Shape(),
    Shape(max_actors=12, max_firings=300, max_rate=4, flowing=True, mixed=True),
    Shape(max_firings=200, flowing=True, hosts=True),
)


def test_estimates_and_their_timelines_agree() -> None:
    compared = parallel = several = 0
    for seed in range(60):
        case = random_case(random.Random(seed), SHAPES[seed % 3])
        try:
            estimate = make_engine("compiled", case.problem).estimate(case.point, firing_times=True)
        except DseError:
            continue
        found = estimated_timeline("m", case.problem, case.point)
        assert core_counts(case.point) == [account.cores for account in estimate.partitions]
        assert len(found.cores) == sum(core_counts(case.point))
        assert estimate.firing_times is not None
        for times, known in zip(found.times, estimate.firing_times, strict=True):
            made = known.start >= 0
            assert times.start.tolist() == known.start[made].tolist()
            assert times.end.tolist() == known.end[made].tolist()
        owner = case.point.partition_of(len(found.times))
        first = np.cumsum([0, *core_counts(case.point)])
        for actor, times in enumerate(found.times):
            assert all(first[owner[actor]] <= core < first[owner[actor] + 1] for core in times.core.tolist())
        path = found.path
        assert path is not None
        assert path.start.tolist() == [0, *path.end.tolist()][: len(path.start)]
        assert (path.end[-1] if len(path.end) else 0) == estimate.makespan
        compared += 1
        parallel += any(p.policy == "FULL_PARALLEL" for p in case.point.partitions)
        several += any(p.cores > 1 for p in case.point.partitions)
    assert compared > 40
    assert parallel
    assert several


@pytest.mark.parametrize("name", ["t.json", "t.pftrace"])
def test_counters_reach_what_the_accounts_say(name: str, tmp_path: Path) -> None:
    """The largest filling is that of the account, or below it where one instant has several rounds."""
    exact = fifos = 0
    for seed in range(0, 60, 3):
        case = random_case(random.Random(seed), SHAPES[seed % 2])
        try:
            estimate = make_engine("compiled", case.problem).estimate(case.point)
        except DseError:
            continue
        write_estimated(str(tmp_path / name), case.problem, [("m", case.point)])
        (process,) = read(name, (tmp_path / name).read_bytes())
        for buffer, account in enumerate(estimate.buffers):
            most = max(tokens for _, tokens in process.counters[case.problem.trace.topology.buffer_name(buffer)])
            assert most <= account.max_tokens
            exact += most == account.max_tokens
            fifos += 1
    assert fifos > 30
    assert exact > 0.9 * fifos


def test_cycles_are_said_to_be_shown_as_nanoseconds() -> None:
    found = {}
    for seed in range(40):
        case = random_case(random.Random(seed))
        try:
            timeline = estimated_timeline("m.xcf", case.problem, case.point)
            unit = make_engine("compiled", case.problem).estimate(case.point).tick_unit
        except DseError:
            continue
        found[unit] = (timeline.title, timeline.ticks_per_ns)
    assert found == {
        "ps": ("random, estimated: m.xcf", 1000),
        "cycles": ("random, estimated, 1 ns stands for 1 cycle: m.xcf", 1),
    }


def topology() -> Topology:
    """Two actors: src writes a token in each firing, snk reads two."""
    actors = (
        TraceActor(
            name="src", class_name="S", inputs=(), outputs=("O",),
            actions=(TraceAction(name="go", reads=(), writes=(1,)),),
        ),
        TraceActor(
            name="snk", class_name="T", inputs=("I",), outputs=(),
            actions=(TraceAction(name="two", reads=(2,), writes=()),),
        ),
    )  # fmt: skip
    fifo = TraceBuffer(source=0, source_port=0, target=1, target_port=0, token_bytes=4, token_bits=32)
    return Topology(name="pair", actors=actors, buffers=(fifo,))


POINT = DesignPoint(
    partitions=(
        Partition(name="P0", actors=(1,), unit="cpu"),
        Partition(name="P1", actors=(0,), unit="cpu", cores=2),
    ),
    capacities=(8,),
)  # fmt: skip
IDS = (np.zeros(2, dtype=np.uint8), np.zeros(1, dtype=np.uint8))


def records(path: Path, *, short: bool = False) -> Path:
    """A run of 4 us with a counter of two steps a ns: src on two threads of the second partition, snk on the first."""
    # chosen, firing, actor, action, choosing, reading, computing, writing
    first = (2100, 0, 0, 0, 100, 0, 50, 50)
    second = (2400, 1, 0, 0, UNKNOWN_STEPS, 0, 100, 100)
    sink = (2700, 0, 1, 0, 100, 200, 300, 0)
    parts = [
        thread([(2600, 3200, 1, 1, 1)], [] if short else [sink], partition=0, core=0),
        thread([(2000, 2200, 1, 0, 1)], [first], partition=1, core=1),
        thread([(2400, 2600, 1, 0, 1)], [second], partition=1, core=2),
    ]
    write(path, header(2, len(parts), span=(1000, 9000)), *parts)
    return path


def test_a_run_in_the_form_of_an_estimate(tmp_path: Path) -> None:
    samples = read_samples(records(tmp_path / "records"), 2)
    found = measured_timeline("m.xcf", samples, topology(), IDS, POINT)
    assert found.title == "pair, measured: m.xcf"
    assert found.cores == core_names(POINT, core_counts(POINT), topology())
    assert found.cores == ("P0 (cpu)", "P1 (cpu) core 1", "P1 (cpu) core 2")
    source, sink = found.times
    assert source.core.tolist() == [1, 2]
    assert (source.start.tolist(), source.end.tolist()) == ([500_000, 700_000], [600_000, 800_000])
    assert source.given.tolist() == [575_000, 750_000]
    assert (sink.start.tolist(), sink.taken.tolist(), sink.end.tolist()) == ([800_000], [950_000], [1_100_000])
    assert sink.core.tolist() == [0]


def test_records_that_lack_a_firing(tmp_path: Path) -> None:
    samples = read_samples(records(tmp_path / "records", short=True), 2)
    with pytest.raises(ExecutionError, match="the records have 0 firings of snk, the run had 1"):
        measured_timeline("m.xcf", samples, topology(), IDS, POINT)


def test_full_parallel_cores_are_named_for_their_actors() -> None:
    one = replace(POINT, partitions=(Partition(name="P", actors=(1, 0), unit="gpu", policy="FULL_PARALLEL"),))
    assert core_names(one, core_counts(one), topology()) == ("P (gpu) snk", "P (gpu) src")
