"""Reports to open: networks of any size with made-up times, so that nothing is simulated."""

from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import numpy as np

from dse.formats.mapping_text import MappingTexts
from dse.model.critical_path import SegmentKind, Segments
from dse.model.design_point import DesignPoint, Partition
from dse.model.estimate import ActorAccount, BufferAccount, Estimate, FiringTimes, PartitionAccount
from dse.model.platform import Platform, Unit
from dse.model.steps import FiringSteps
from dse.model.study import Evaluation, Front, FrontPoint, LowerBound, ObjectiveAxis, Study
from dse.model.trace import Topology, Trace, TraceAction, TraceActor, TraceBuffer, make_trace
from dse.model.uncertainty import Robust, RobustRow
from dse.report.html import PAGE_BYTES, ReportInputs, report_page
from dse.report.page.document import mapping_view
from dse.report.ranking import ranked_rows
from dse.report.why import reasons_of

PLATFORM = Platform(name="box", units=(Unit(name="cpu", kind="cpu", cores=8, clock_mhz=Fraction(1000)),))


def network(n_actors: int, name: str = "made", prefix: str = "actor") -> Topology:
    """Return a network in layers of up to four actors, each with FIFOs from the layers before it."""
    rng = np.random.default_rng(n_actors)
    pairs = [(k, j) for j in range(1, n_actors) for k in {max(0, j - 1 - int(rng.integers(4))), max(0, j - 4)}]
    inputs: list[list[str]] = [[] for _ in range(n_actors)]
    outputs: list[list[str]] = [[] for _ in range(n_actors)]
    buffers = []
    for source, target in pairs:
        buffers.append(
            TraceBuffer(
                source=source, source_port=len(outputs[source]), target=target, target_port=len(inputs[target]),
                token_bytes=4, token_bits=32,
            )
        )  # fmt: skip
        outputs[source].append(f"Out{len(outputs[source])}")
        inputs[target].append(f"In{len(inputs[target])}")
    actors = tuple(
        TraceActor(
            name=f"{prefix}{k}", class_name="made.Actor", inputs=tuple(inputs[k]), outputs=tuple(outputs[k]),
            actions=tuple(
                TraceAction(name=action, reads=(1,) * len(inputs[k]), writes=(1,) * len(outputs[k]))
                for action in ("work", "rest")
            ),
        )
        for k in range(n_actors)
    )  # fmt: skip
    return Topology(name=name, actors=actors, buffers=tuple(buffers))


def spread(topology: Topology, n_partitions: int, turn: int) -> DesignPoint:
    """Return a mapping that deals the actors out, beginning with another one at each turn."""
    actors = range(len(topology.actors))
    parts = [tuple(a for a in actors if (a + turn * (a // 3)) % n_partitions == p) for p in range(n_partitions)]
    partitions = tuple(Partition(name=f"P{p}", actors=own, unit="cpu") for p, own in enumerate(parts) if own)
    return DesignPoint(partitions=partitions, capacities=(16,) * len(topology.buffers))


def estimate(trace: Trace, point: DesignPoint, seed: int) -> Estimate:
    """Return times of the right form: each actor fires for some time, then waits."""
    rng = np.random.default_rng(seed)
    times = []
    for ids in trace.firings:
        gaps, lengths = rng.integers(0, 4000, len(ids)), rng.integers(500, 3000, len(ids))
        start = np.cumsum(gaps + np.concatenate([[0], lengths[:-1]]))
        times.append(FiringTimes(start=start, end=start + lengths))
    makespan = max(int(t.end[-1]) for t in times) + 1000 * seed
    busy = [int((t.end - t.start).sum()) for t in times]
    actors = [
        ActorAccount(
            scheduling=b // 10, reading=0, processing=b - b // 10, writing=0, link_waiting=0,
            blocked_reading=makespan - b, blocked_writing=0, idle=0, finished=0, firings=len(t.end),
        )
        for b, t in zip(busy, times, strict=True)
    ]  # fmt: skip
    partitions = []
    for p in point.partitions:
        used = min(makespan, sum(busy[a] for a in p.actors))
        partitions.append(
            PartitionAccount(
                scheduling=used // 10, reading=0, processing=used - used // 10, writing=0, link_waiting=0,
                unoccupied=makespan - used, cores=1,
            )
        )  # fmt: skip
    buffers = [
        BufferAccount(max_tokens=b % 16, read_blockings=b, read_blocked=37 * b, write_blockings=0, write_blocked=0)
        for b in range(len(trace.topology.buffers))
    ]
    return Estimate(
        makespan=makespan, tick_unit="ps", actors=actors, partitions=tuple(partitions), buffers=buffers, links=(),
        deadlock=None, firing_times=tuple(times),
    )  # fmt: skip


def steps(given: Estimate) -> tuple[FiringSteps, ...]:
    """Return steps of the firings of an estimate: a tenth is scheduling, the rest processing."""
    assert given.firing_times is not None
    found = []
    for times in given.firing_times:
        scheduled = times.start + (times.end - times.start) // 10
        found.append(
            FiringSteps(start=times.start, scheduled=scheduled, read=scheduled, computed=times.end, end=times.end)
        )
    return tuple(found)


def path_through(given: Estimate) -> Segments:
    """Return a path through all firings of the last actor, and between them through the first one."""
    assert given.firing_times is not None
    times, last = given.firing_times[-1], len(given.firing_times) - 1
    edges = np.append(np.column_stack([times.start, times.end]).ravel(), given.makespan)
    n = len(edges)
    own = np.arange(n) % 2 == 1
    none = np.full(n, -1, dtype=np.int64)
    return Segments(
        kind=np.where(own, int(SegmentKind.PROCESSING), int(SegmentKind.ARRIVAL)),
        actor=np.where(own, last, 0),
        firing=np.where(own, np.arange(n) // 2, 0),
        buffer=none,
        link=none,
        start=np.append(0, edges[:-1]),
        end=edges,
        cause=np.zeros(n, dtype=np.int64),
        cause_buffer=none,
        waited=np.zeros(n, dtype=np.int64),
    )


def report_inputs(
    topology: Topology, *, firings: int, mappings: int = 3, partitions: int = 4, front: bool = False
) -> ReportInputs:
    """Return what the report of a network shows whose actors fire ``firings`` times in all."""
    each = firings // len(topology.actors)
    trace = make_trace(topology, [np.arange(each) % 2 for _ in topology.actors])
    points = [spread(topology, partitions, turn) for turn in range(mappings)]
    estimates = [estimate(trace, point, seed) for seed, point in enumerate(points)]
    ranking = tuple(
        Evaluation.of(
            ordinal=ordinal, point=point, digest=point.digest(), makespan=e.makespan, tick_unit="ps", deadlock=False,
            partitions=e.partitions, seconds=0.0,
        )
        for ordinal, (point, e) in enumerate(zip(points, estimates, strict=True))
    )  # fmt: skip
    bound = LowerBound(makespan=min(e.makespan for e in estimates) // 2, reason="work")
    study = Study(
        network=topology.name, method="exhaustive", method_reason="small space", seed=1, space_size=9,
        evaluations=mappings, deadlocks=0, pruned=0, complete=True, stop="complete", seconds=1.0, ranking=ranking,
        baseline=ranking[-1], lower_bounds=(bound,), assumed=("nominal weights",),
        front=_front(ranking) if front else None, values=tuple((1.0, 2.0) for _ in ranking) if front else (),
    )  # fmt: skip
    texts = MappingTexts(topology=topology, platform=PLATFORM)
    rows = ranked_rows(study, texts, mappings)
    views = tuple(
        mapping_view(
            trace,
            point,
            e,
            label=f"#{row.rank}",
            mapping=row.mapping,
            lines=("what limits it: time",),
            path=path_through(e),
            steps=steps(e),
        )
        for row, point, e in zip(rows, points, estimates, strict=True)
    )
    reasons = reasons_of(topology, points[0], estimates[0], study.lower_bounds)
    return ReportInputs(
        study=study, trace=trace, texts=texts, rows=rows, estimate=estimates[0], reasons=reasons, manifest=(),
        views=views,
    )  # fmt: skip


def write_report(
    path: Path,
    topology: Topology,
    *,
    firings: int,
    mappings: int = 3,
    partitions: int = 4,
    front: bool = False,
    robust: bool = False,
    most_bytes: int = PAGE_BYTES,
) -> Path:
    """Write the report of a network whose actors fire ``firings`` times in all."""
    inputs = report_inputs(topology, firings=firings, mappings=mappings, partitions=partitions, front=front)
    if robust:
        inputs = replace(inputs, robust=drawn_ranking(inputs))
    path.write_text(report_page(inputs, most_bytes), "utf-8")
    return path


def drawn_ranking(inputs: ReportInputs) -> Robust:
    """Return a ranking in the order of the rows, of which the second is a tie with the first."""
    rows = tuple(
        RobustRow(
            index=k, nominal=row.makespan, mean=row.makespan, low=0.9 * row.makespan, high=1.1 * row.makespan,
            value=row.makespan, first=0.5 if k < 2 else 0.0, regret=float(k), tied=0 if k == 1 else None,
        )
        for k, row in enumerate(inputs.rows)
    )  # fmt: skip
    return Robust(rows=rows, by=0.9, draws=100, seed=1, unit="ps", sources=("3 nominal costs: 20 % each",))


def _front(ranking: tuple[Evaluation, ...]) -> Front:
    points = tuple(FrontPoint(evaluation=e, values=(1.0 + k, 9.0 - k)) for k, e in enumerate(ranking))
    axes = tuple(ObjectiveAxis(name=n, unit=u, maximise=False) for n, u in (("energy", "joule"), ("memory", "bytes")))
    return Front(axes=axes, points=points, reference=(9.0, 9.0), ideal=(1.0, 1.0), hypervolume=0.5, history=((1, 0.5),))
