"""Timelines as files: every slice, flow and level of both formats is what firings and tokens one by one give."""

import io
import random
from collections import Counter, deque
from collections.abc import Iterator
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest

import dse.report.timeline.windows as cutting
from dse.base.errors import DseError, ExecutionError, OptionError
from dse.estimate.engine import make_engine
from dse.model.design_point import DesignPoint
from dse.model.estimate import Estimate
from dse.model.trace import Topology, TraceAction, TraceActor, TraceBuffer
from dse.report.timeline.cores import cores_of_firings
from dse.report.timeline.pftrace import write_pftrace
from dse.report.timeline.timeline import ActorTimes, Segments, Timeline
from dse.report.timeline.trace_events import write_trace_events
from dse.report.timeline.write import require_timeline, write_timelines
from tests.property.estimation_cases import Case, Shape, random_case
from tests.unit.report.timeline_readers import Process, Slice, read

WRITERS = {"t.json": write_trace_events, "t.pftrace": write_pftrace}
SHAPES = (Shape(), Shape(max_actors=12, max_firings=400, max_rate=4, flowing=True, mixed=True))


def written(name: str, *timelines: Timeline) -> bytes:
    file = io.BytesIO()
    WRITERS[name](file, timelines)
    return file.getvalue()


def timeline_of(case: Case, title: str = "a run") -> Timeline | None:
    """The timeline of an estimate: output tokens take room at the start, input tokens leave at the end."""
    try:
        estimate = make_engine("reference", case.problem).estimate(case.point, firing_times=True)
    except DseError:
        return None
    trace = case.problem.trace
    return Timeline(
        title=title, topology=trace.topology, firings=trace.firings, times=times_of(estimate, case.point),
        cores=tuple(f"core {k}" for k in range(sum(p.cores for p in estimate.partitions))),
        ticks_per_ns=7, path=None,
    )  # fmt: skip


def times_of(estimate: Estimate, point: DesignPoint) -> tuple[ActorTimes, ...]:
    assert estimate.firing_times is not None
    found: dict[int, ActorTimes] = {}
    first = 0
    for partition, account in zip(point.partitions, estimate.partitions, strict=True):
        made = [int((estimate.firing_times[a].start >= 0).sum()) for a in partition.actors]
        pairs = [
            (estimate.firing_times[a].start[:n], estimate.firing_times[a].end[:n])
            for a, n in zip(partition.actors, made, strict=True)
        ]
        at = cores_of_firings(pairs, account.cores)
        for a, (start, end), core in zip(partition.actors, pairs, at, strict=True):
            scheduled, read, computed = (start + (end - start) * k // 5 for k in (1, 2, 3))
            found[a] = ActorTimes(
                start=start, end=end, taken=end, given=start, core=core + np.int32(first),
                phases=(scheduled, read, computed),
            )  # fmt: skip
        first += account.cores
    return tuple(found[a] for a in sorted(found))


def blocks_of(times: ActorTimes) -> list[tuple[int, int]]:
    """Each slice of an actor: its first firing, and how many."""
    found: list[tuple[int, int]] = []
    pairs = list(zip(times.start.tolist(), times.end.tolist(), strict=True))
    for k, (start, end) in enumerate(pairs):
        if k and (start, end) == pairs[k - 1] and end > start:
            found[-1] = (found[-1][0], found[-1][1] + 1)
        else:
            found.append((k, 1))
    return found


def phases_of(times: ActorTimes, firing: int, ns: int) -> tuple[int, ...]:
    """What the time of a firing goes into, in ns: nothing where that is not known."""
    if times.phases is None:
        return ()
    edges = [int(edge[firing]) // ns for edge in (times.start, *times.phases, times.end)]
    return tuple(end - begin for begin, end in pairwise(edges))


def expected(timeline: Timeline) -> tuple[list[Slice], Counter[tuple[Slice, Slice]], dict[str, list[tuple[int, int]]]]:
    """Slices, flows and levels, by moving every single token."""
    topology, ns = timeline.topology, timeline.ticks_per_ns
    slices: list[list[tuple[Slice, range]]] = []
    for a, times in enumerate(timeline.times):
        own = []
        for first, count in blocks_of(times):
            action = topology.actors[a].actions[int(timeline.firings[a][first])].name
            at = Slice(
                timeline.cores[int(times.core[first])], int(times.start[first]) // ns, int(times.end[first]) // ns,
                f"{topology.actors[a].name}.{action}", first, count, phases=phases_of(times, first, ns),
            )  # fmt: skip
            own.append((at, range(first, first + count)))
        slices.append(own)
    flows: Counter[tuple[Slice, Slice]] = Counter()
    levels = {}
    for b, buffer in enumerate(topology.buffers):
        tokens: deque[Slice | None] = deque([None] * buffer.initial_tokens)
        source, target = topology.actors[buffer.source], topology.actors[buffer.target]
        moves: list[tuple[int, int, int]] = []
        for at, firings in slices[buffer.source]:
            for k in firings:
                rate = source.actions[int(timeline.firings[buffer.source][k])].writes[buffer.source_port]
                tokens.extend([at] * rate)
                moves.append((int(timeline.times[buffer.source].given[k]), 1, rate))
        for at, firings in slices[buffer.target]:
            writers = set()
            for k in firings:
                rate = target.actions[int(timeline.firings[buffer.target][k])].reads[buffer.target_port]
                writers |= {tokens.popleft() for _ in range(rate)}
                moves.append((int(timeline.times[buffer.target].taken[k]), 0, -rate))
            flows.update((writer, at) for writer in writers if writer is not None)
        levels[topology.buffer_name(b)] = levels_of(buffer.initial_tokens, moves, ns)
    return sorted(at for own in slices for at, _ in own), flows, levels


def levels_of(initial: int, moves: list[tuple[int, int, int]], ns: int) -> list[tuple[int, int]]:
    """The level at 0 and behind every tick at which it may have changed."""
    level, found = initial, {0: initial}
    for tick, _, change in sorted(moves):
        level += change
        if change:
            found[tick] = level
    return [(tick // ns, tokens) for tick, tokens in found.items()]


def check(process: Process, timeline: Timeline) -> None:
    slices, flows, levels = expected(timeline)
    assert process.title == timeline.title
    assert process.tracks == list(timeline.cores)
    assert sorted(process.slices) == slices
    assert process.counters == levels
    lost = Counter(process.lost)
    assert all(at.start == at.end for at in lost), "only firings without length may lose a flow"
    assert sum((flows - Counter(process.flows)).values()) == sum(lost.values())
    assert not Counter(process.flows) - flows


@pytest.mark.parametrize("name", WRITERS)
def test_slices_flows_and_levels(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    seen = blocks = flows = lost = 0
    for seed in range(60):
        monkeypatch.setattr(cutting.windows, "__defaults__", ((1, 7, 30, 100, 1000)[seed % 5],))
        timeline = timeline_of(random_case(random.Random(seed), SHAPES[seed % 2]))
        if timeline is None:
            continue
        (process,) = read(name, written(name, timeline))
        check(process, timeline)
        seen += len(process.slices)
        blocks += sum(at.firings > 1 for at in process.slices)
        flows += len(process.flows)
        lost += len(process.lost)
    assert seen > 2000
    assert flows > 1000
    assert blocks > 10
    assert lost < flows / 100


def two_actors() -> Topology:
    """A source that writes one token or three, and a sink that reads two."""
    source = TraceActor(
        name="src", class_name="S", inputs=(), outputs=("O",),
        actions=(TraceAction(name="one", reads=(), writes=(1,)), TraceAction(name="three", reads=(), writes=(3,))),
    )  # fmt: skip
    sink = TraceActor(
        name="snk", class_name="T", inputs=("I",), outputs=(), actions=(TraceAction(name="two", reads=(2,), writes=()),)
    )
    fifo = TraceBuffer(source=0, source_port=0, target=1, target_port=0, token_bytes=4, token_bits=32, initial_tokens=1)
    return Topology(name="pair", actors=(source, sink), buffers=(fifo,))


def actor_times(start: list[int], end: list[int], core: int) -> ActorTimes:
    starts, ends = np.array(start, dtype=np.int64), np.array(end, dtype=np.int64)
    return ActorTimes(start=starts, end=ends, taken=starts, given=ends, core=np.full(len(start), core, dtype=np.int32))


def pair(title: str = "pair, estimated: m.xcf", path: Segments | None = None) -> Timeline:
    return Timeline(
        title=title, topology=two_actors(), firings=(np.array([0, 1, 0], dtype=np.uint8), np.zeros(2, dtype=np.uint8)),
        times=(actor_times([0, 1000, 2999], [1000, 2999, 4000], 0), actor_times([1001, 3500], [3500, 9001], 1)),
        cores=("P0 (cpu)", "P1 (cpu)"), ticks_per_ns=1000, path=path,
    )  # fmt: skip


@pytest.mark.parametrize("name", WRITERS)
def test_a_small_one_in_full(name: str) -> None:
    names = np.array([0, 1])
    path = Segments(
        track="critical path", start=np.array([0, 3500]), end=np.array([3500, 9001]), name=names, firing=names + 5,
        because=names, names=("src.one", "snk.two"), reasons=("the run began", "tokens"),
    )  # fmt: skip
    (found,) = read(name, written(name, pair(path=path)))
    one, three, last = (
        Slice("P0 (cpu)", 0, 1, "src.one", 0),
        Slice("P0 (cpu)", 1, 2, "src.three", 1),
        Slice("P0 (cpu)", 2, 4, "src.one", 2),
    )
    two, more = Slice("P1 (cpu)", 1, 3, "snk.two", 0), Slice("P1 (cpu)", 3, 9, "snk.two", 1)
    marked = [
        Slice("critical path", 0, 3, "src.one", 5, because="the run began"),
        Slice("critical path", 3, 9, "snk.two", 6, because="tokens"),
    ]
    assert found.title == "pair, estimated: m.xcf"
    assert found.tracks == ["P0 (cpu)", "P1 (cpu)", "critical path"]
    assert sorted(found.slices) == sorted([one, three, last, two, more, *marked])
    assert sorted(found.flows) == [(one, two), (three, more)]  # the last two tokens are left over
    assert found.counters == {"src.O->snk.I": [(0, 1), (1, 2), (1, 0), (2, 3), (3, 1), (4, 2)]}
    assert not found.lost


@pytest.mark.parametrize("name", WRITERS)
def test_clocks_that_differ_make_no_fifo_emptier_than_empty(name: str) -> None:
    """The reader's core says that tokens were taken before the writer's says that they came."""
    early = pair()
    early = replace(early, times=(early.times[0], actor_times([500, 3500], [3500, 9001], 1)))
    (found,) = read(name, written(name, early))
    assert found.counters["src.O->snk.I"][:3] == [(0, 1), (0, 0), (1, 0)]


@pytest.mark.parametrize("name", WRITERS)
def test_flows_between_firings_of_no_length(name: str) -> None:
    """The reader is declared before the writer; both fire at once and take no time."""
    known = two_actors()
    fifo = replace(known.buffers[0], source=1, target=0, initial_tokens=0)
    timeline = Timeline(
        title="at once", topology=replace(known, actors=known.actors[::-1], buffers=(fifo,)),
        firings=(np.zeros(1, dtype=np.uint8), np.ones(1, dtype=np.uint8)),
        times=(actor_times([5], [5], 0), actor_times([5], [5], 1)), cores=("P0", "P1"), ticks_per_ns=1,
    )  # fmt: skip
    (found,) = read(name, written(name, timeline))
    assert found.flows == [(Slice("P1", 5, 5, "src.three", 0), Slice("P0", 5, 5, "snk.two", 0))]
    assert not found.lost


@pytest.mark.parametrize("name", WRITERS)
def test_several_in_one_file(name: str) -> None:
    titles = [f"pair {k}" for k in range(300)]
    found = read(name, written(name, *map(pair, titles)))
    assert [process.title for process in found] == titles
    alone = read(name, written(name, pair("pair 0")))[0]
    assert all(replace(process, title="pair 0") == alone for process in found)


def test_perfetto_traces_one_behind_the_other_are_one_trace() -> None:
    estimated, measured = (written("t.pftrace", pair(f"pair, {how}: m.xcf")) for how in ("estimated", "measured"))
    both = read("t.pftrace", estimated + measured)
    assert [process.title for process in both] == ["pair, estimated: m.xcf", "pair, measured: m.xcf"]
    assert both == read("t.pftrace", estimated) + read("t.pftrace", measured)


def test_cores_of_firings() -> None:
    """On two cores: a firing stays on the core of its actor, takes the free one else, and those of no length fit in."""
    of = [([0, 10, 20], [10, 20, 30]), ([5, 10, 10], [10, 10, 25]), ([25], [25])]
    times = [(np.array(start), np.array(end)) for start, end in of]
    found = [cores.tolist() for cores in cores_of_firings(times, 2)]
    assert found == [[0, 0, 0], [1, 1, 1], [1]]
    blocks = [(np.array([0, 0, 7]), np.array([7, 7, 9])), (np.array([0]), np.array([9]))]
    assert [cores.tolist() for cores in cores_of_firings(blocks, 2)] == [[0, 0, 0], [1]]


@pytest.mark.parametrize(
    ("path", "message"),
    [
        ("t.txt", "ends in no way"),
        ("pftrace", "ends in no way"),
        ("none/t.json", "there is no folder"),
        ("folder.json", "is a folder"),
    ],
)
def test_where_none_can_be_written(path: str, message: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "folder.json").mkdir()
    with pytest.raises(OptionError, match=message):
        require_timeline(path)
    require_timeline("T.PFTRACE")


def test_a_file_that_is_half_written_is_none(tmp_path: Path) -> None:
    (tmp_path / "t.json").write_text("before")

    def timelines() -> Iterator[Timeline]:
        yield pair()
        raise OSError(28, "No space left on device")

    with pytest.raises(ExecutionError, match=r"cannot write the timeline .*: No space left"):
        write_timelines(str(tmp_path / "t.json"), timelines())
    assert [(p.name, p.read_text()) for p in tmp_path.iterdir()] == [("t.json", "before")]
