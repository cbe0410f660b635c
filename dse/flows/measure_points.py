"""Measuring given design points on this machine: which of them it can run, and how long they take."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np

from dse.base.errors import DeadlockError, ExecutionError, OptionError
from dse.flows.bench import Bench, BenchSettings, open_bench
from dse.flows.program import unheard
from dse.formats.xcf_write import write_xcf
from dse.measure.agreement import spread_of
from dse.measure.runs import FifoChoice, RunOrder
from dse.measure.session import STATES, Candidate, Patience, Session, measure_candidates
from dse.model.design_point import DesignPoint
from dse.model.measurement import MeasuredPoint, StateTimes
from dse.model.platform import Platform
from dse.program.network import Network
from dse.run.options import RunOptions


@dataclass(frozen=True, slots=True, kw_only=True)
class MeasureSettings:
    """How to measure: ``rounds`` runs of each point, no further round after ``seconds``; ``seed``: of the order."""

    rounds: int = 7
    seconds: float | None = None
    seed: int = 1
    bench: BenchSettings = field(default_factory=BenchSettings)


def measure_points(
    network: Network,
    platform: Platform,
    points: Sequence[DesignPoint],
    run: RunOptions,
    settings: MeasureSettings,
    stage: Callable[[str], None] = unheard,
) -> tuple[MeasuredPoint, ...]:
    """Measure design points of a network on its input; the results are in the order of the points.

    ``platform``: the one that the points are for, which tells CPUs from GPUs.

    Raises:
        BuildError: there is no compiler, or it fails. NoNativeForm: an actor has no C++ form.
        ExecutionError: the program fails on one core.
    """
    with open_bench(network, run, settings.bench, stage) as bench:
        return measure_on_bench(bench, platform, points, run, settings, stage)


def measure_on_bench(
    bench: Bench,
    platform: Platform,
    points: Sequence[DesignPoint],
    run: RunOptions,
    settings: MeasureSettings,
    stage: Callable[[str], None] = unheard,
) -> tuple[MeasuredPoint, ...]:
    """Measure design points on a bench; as ``measure_points``."""
    usual = usual_results(bench, run.input)
    skipped = [cannot_run(point, platform, len(bench.cores), gpu=bench.has_gpu) for point in points]
    candidates: dict[int, Candidate] = {}
    for index, point in enumerate(points):
        if skipped[index]:
            continue
        order = plain_order(bench, platform, run.input, written_point(bench, platform, point, f"point-{index}"))
        skipped[index] = why_wrong(bench, order, usual)
        if not skipped[index]:
            candidates[index] = Candidate(name=str(index), order=order, result=usual.counted)
    rng = np.random.default_rng(settings.seed)
    patience = Patience(rounds=settings.rounds, seconds=settings.seconds)
    session = measure_candidates(
        bench.program,
        tuple(candidates.values()),
        patience,
        rng,
        lambda _run, done, count: stage(f"measuring: run {done} of {count}"),
    )
    if session.interrupted:  # half of the times is no answer here
        raise KeyboardInterrupt
    place = {index: k for k, index in enumerate(candidates)}
    return tuple(
        MeasuredPoint(times=(), skipped=skipped[index]) if skipped[index] else _measured(session, place[index])
        for index in range(len(points))
    )


def written_point(bench: Bench, platform: Platform, point: DesignPoint, name: str) -> Path:
    """Return a mapping file of a point in the scratch folder of a bench."""
    path = bench.scratch / f"{name}.xcf"
    write_xcf(point, bench.topology, str(path), platform=platform)
    return path


def plain_order(bench: Bench, platform: Platform, path: str | None, mapping: Path) -> RunOrder:
    """Return how a mapping is run as it is estimated on a platform; ``path``: of the input.

    With device code FIFOs lie where estimates have them: inside the GPU, or all as if they might cross where the
    platform says that it is one of dynamic networks.
    """
    if not bench.has_gpu:
        return RunOrder(input=path, mapping=mapping)
    fifos: FifoChoice = "pinned" if platform.dynamic_network else "special"
    return RunOrder(input=path, mapping=mapping, fifos=fifos, singular=True)


def cannot_run(point: DesignPoint, platform: Platform, cores: int, *, gpu: bool = False) -> str:
    """Return in words why this machine cannot run a point as it is estimated; empty where it can.

    ``gpu``: it has one, and programs have device code. Whether actors can run there is found by running.
    """
    threads = 0
    for partition in point.partitions:
        unit = platform.unit(partition.unit)
        if gpu and unit is not None and unit.kind == "gpu":
            continue
        if unit is None or unit.kind != "cpu":
            return f"partition {partition.name} is on '{partition.unit}', which is no CPU"
        threads += len(partition.actors) if partition.policy == "FULL_PARALLEL" else partition.cores
    if threads > cores:
        return f"it needs {threads} cores, this machine has {cores}"
    return ""


_WRONG = "its result is not that of one core"


@dataclass(frozen=True, slots=True, kw_only=True)
class UsualResults:
    """What a network computes on one core: ``hashed`` by the values of all tokens, ``counted`` by their numbers."""

    hashed: str
    counted: str


def usual_results(bench: Bench, path: str | None) -> UsualResults:
    """Run a network on one core, on the input at ``path``. Raises ``ExecutionError`` where it fails."""
    hashed, counted = (bench.program.run(RunOrder(input=path, hashed=hashed)).result for hashed in (True, False))
    return UsualResults(hashed=hashed, counted=counted)


def why_wrong(bench: Bench, order: RunOrder, usual: UsualResults) -> str:
    """Run a mapping once, which is not measured: all tokens are hashed.

    Return in words why it fails, or that it computes something else; empty where it is right.
    """
    try:
        result = bench.program.run(replace(order, hashed=True)).result
    except (ExecutionError, DeadlockError, OptionError) as error:
        return error.first_error.message
    return "" if result == usual.hashed else _WRONG


def _measured(session: Session, candidate: int) -> MeasuredPoint:
    runs = [run for run in session.runs if run.candidate == candidate]
    if any(run.wrong for run in runs):
        return MeasuredPoint(times=(), skipped=_WRONG, discarded=len(runs))
    times = []
    for state in STATES:
        lengths = [float(run.run_ns) for run in runs if run.state == state]
        if lengths:
            spread = spread_of(lengths)
            times.append(
                StateTimes(
                    state=state,
                    median_ns=spread.median,
                    lower_ns=spread.lower,
                    upper_ns=spread.upper,
                    runs=spread.count,
                )
            )
    discarded = sum(run.state is None for run in runs)
    stalls = _stalls(session, session.candidates[candidate].name)
    return MeasuredPoint(times=tuple(sorted(times, key=lambda t: -t.runs)), discarded=discarded, stalls=stalls)


def _stalls(session: Session, name: str) -> float:
    return next((of.stalls for of in session.figures if of.name == name), 0.0)
