"""The journey of ``dse profile``: from a network and an input to weights that were measured on this machine."""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np

from dse.base.digests import text_digest
from dse.base.errors import DeadlockError, OptionError
from dse.estimate.problem.prepare import cores_of
from dse.flows.bench import Bench, BenchSettings, open_bench
from dse.flows.calibrating import Calibrated, Calibrator, StateWeights
from dse.flows.measure_points import cannot_run, written_point
from dse.flows.profile_manifest import (
    IN_PLACE,
    MICRO_BENCHMARK,
    NO_CROSSING,
    Pairs,
    profile_manifest,
    round_trip_pairs,
    state_pairs,
    visit_pairs,
)
from dse.flows.program import unheard
from dse.formats.mapping_text import mapping_text
from dse.measure.arrival import ping_pong_arrival
from dse.measure.calibration_mappings import Owners, calibration_mappings
from dse.measure.counter import CounterFacts
from dse.measure.crossing import dearer
from dse.measure.crossing_table import (
    CrossingLine,
    CrossingRow,
    crossing_lines,
    crossing_rows,
    line_for,
    table_text,
)
from dse.measure.machine import MachineMoment, RoundTrip, State, machine_moment, uneven_pace, unsteady
from dse.measure.platform import this_machine
from dse.measure.profile import MOST_CLOSURE_ERROR, Closure
from dse.measure.profile_weights import SIDES, local_weights, transfer_key
from dse.measure.profiling import CalibrationMapping, Profiler, ProfileRuns
from dse.measure.turns import timing_costs, visits_apart
from dse.model.design_point import DesignPoint, Partition
from dse.model.platform import Platform
from dse.model.trace import Topology
from dse.model.weights import WeightTable
from dse.program.network import Network
from dse.run.options import RunOptions


@dataclass(frozen=True, slots=True, kw_only=True)
class ProfileSettings:
    """How to profile. ``runs``: timed runs that are merged; ``calibrate``: mappings on two cores that are run too.

    ``in_place``: mappings to calibrate with besides, just as they are: what crosses in them costs what it costs there.
    ``mapping``: profile in this very configuration, None: on one core. ``capacities``: tokens of each FIFO on one core
    and in calibrations, None: as in a run. ``crossing_table``: run the micro-benchmark of crossing even where
    calibration makes it needless. ``seed``: of the order of the runs.
    """

    runs: int = 5
    calibrate: int = 2
    mapping: DesignPoint | None = None
    capacities: tuple[int, ...] | None = None
    in_place: tuple[DesignPoint, ...] = ()
    crossing_table: bool = False
    seed: int = 1
    bench: BenchSettings = field(default_factory=BenchSettings)


@dataclass(frozen=True, slots=True, kw_only=True)
class ProfiledNetwork:
    """What profiling gave. ``table``: the weights for the state that most calibrations had; ``states``: for each one.

    ``owners``: the partition of each actor in the calibration mappings. ``crossings``: the table of the
    micro-benchmark, empty where it was not run. ``warnings``: in words, what was not as it should be.
    """

    topology: Topology
    table: WeightTable
    states: tuple[StateWeights, ...]
    platform: Platform
    facts: CounterFacts
    runs: ProfileRuns
    owners: tuple[Owners, ...]
    crossings: str
    moments: tuple[MachineMoment, MachineMoment]
    warnings: tuple[str, ...]
    seconds: float

    @property
    def closure(self) -> Closure:
        """How the sum of all costs compares with the run that was not timed."""
        return self.runs.profile.closure

    @property
    def trips(self) -> tuple[RoundTrip, ...]:
        """The round trips between cores around the runs on one core."""
        return self.runs.trips


def profile_program(
    network: Network, run: RunOptions, settings: ProfileSettings, stage: Callable[[str], None] = unheard
) -> ProfiledNetwork:
    """Measure the weights of a network that is loaded on its input, ``run.input``; nothing of the user's is written.

    Raises:
        BuildError: there is no compiler, or it fails. NoNativeForm: an actor has no C++ form.
        ExecutionError: a run fails. OptionError: a number of runs is impossible.
    """
    check_settings(settings)
    with open_bench(network, run, settings.bench, stage) as bench:
        return profile_on_bench(bench, run, settings, stage)


def check_settings(settings: ProfileSettings) -> None:
    """Raise ``OptionError`` for numbers with which nothing is measured."""
    if settings.runs < 1 or settings.calibrate < 0:
        raise OptionError(
            f"a profile of {settings.runs} runs and {settings.calibrate} calibration mappings is none",
            expected="--runs takes 1 or more, --calibrate 0 or more",
        )


def profile_on_bench(
    bench: Bench, run: RunOptions, settings: ProfileSettings, stage: Callable[[str], None] = unheard
) -> ProfiledNetwork:
    """Measure the weights of a network on a bench; as ``profile_program``."""
    return Profiling(bench, run, settings, stage).profiled()


def _described(state: StateWeights, known: Pairs, mappings: int, facts: CounterFacts) -> StateWeights:
    pairs = (
        *state_pairs(state.state, state.calibrations, mappings, state.unexplained),
        *visit_pairs(state.table, state.waits, state.looks, facts),
    )
    return replace(state, table=replace(state.table, manifest=(*known, *pairs)))


class Profiling:
    """A profile on a bench, made at once, to which calibration runs in another state of the machine can be added.

    Raises: as ``profile_program``.
    """

    def __init__(
        self, bench: Bench, run: RunOptions, settings: ProfileSettings, stage: Callable[[str], None] = unheard
    ) -> None:
        check_settings(settings)
        before, started = machine_moment(), time.monotonic()
        self._bench = bench
        self._run = run
        self._settings = settings
        self._stage = stage
        self._platform = this_machine(bench.facts, len(bench.cores))
        self._in_place = settings.in_place if settings.mapping is None and len(bench.cores) > 1 else ()
        self._rng = np.random.default_rng(settings.seed)
        self._profiler = Profiler(bench.program, bench.topology, bench.facts, run.input, bench.scratch)
        self._profiled = self._profiled_mapping()
        self._require_an_order_that_goes_on()
        self._found = self._profiler.profile(settings.runs, self._rng, mapping=self._profiled, heard=stage)
        self._local = local_weights(self._found.profile, bench.topology, self._found.firings)
        splits = self._splits()
        self._owners = (*splits, *map(owners_of, self._in_place))
        self._calibrator = self._made_calibrator(splits)
        self._lost = self._calibrator.run(settings.runs)
        self._rows = self._crossing_rows()
        self._moments, self._seconds = (before, machine_moment()), time.monotonic() - started

    def complete(self, state: State) -> bool:
        """Calibrate in a state of the machine as well, if it is in it now; return whether there are new runs.

        Raises ``ExecutionError`` where a run fails.
        """
        return self._calibrator.complete(state)

    def profiled(self) -> ProfiledNetwork:
        """Return the weights by all runs so far."""
        found, facts = self._found, self._bench.facts
        point = self._settings.mapping
        cores = 1 if point is None else sum(map(cores_of, point.partitions))
        where = f"{'' if point is None else 'in one mapping '}on {'one core' if cores == 1 else 'several cores'}"
        known = profile_manifest(self._bench, self._run, found, where, self._moments)
        known = (*known, *self._configuration())
        states = tuple(_described(state, known, len(self._owners), facts) for state in self._calibrator.states())
        return ProfiledNetwork(
            topology=self._bench.topology,
            table=states[0].table if states else self._without_calibration(known),
            states=states,
            platform=self._platform,
            facts=facts,
            runs=found,
            owners=self._owners,
            crossings=table_text(self._rows) if self._rows else "",
            moments=self._moments,
            warnings=(*self._unsteady(), *_doubts(found, self._lost), *self._crowded()),
            seconds=self._seconds,
        )

    def _unsteady(self) -> tuple[str, ...]:
        """Return in words how the machine was not steady."""
        trips = (*self._found.trips, *self._calibrator.trips)
        return (*unsteady(*self._moments, self._seconds), *uneven_pace(trips))

    def _without_calibration(self, known: Pairs) -> WeightTable:
        """Return weights without calibration runs: by micro-benchmark and round trips, where they were made."""
        bench, rows, table = self._bench, self._rows, self._local
        if rows:
            lines = _with_lines(self._local, bench.topology, crossing_lines(rows))
            table = replace(lines, arrival=ping_pong_arrival(self._found.trips, bench.facts))
        alone = NO_CROSSING if self._settings.mapping is None else IN_PLACE
        without = MICRO_BENCHMARK if rows else alone
        return replace(table, manifest=(*known, *without, *round_trip_pairs(table)))

    def _profiled_mapping(self) -> Path | None:
        """Return the mapping that is profiled; None: one thread without any."""
        settings, topology = self._settings, self._bench.topology
        point = settings.mapping
        if point is None and settings.capacities is not None:
            point = split_point(topology, (0,) * len(topology.actors), settings.capacities)
        return None if point is None else self._written(point, "profiled")

    def _require_an_order_that_goes_on(self) -> None:
        """Raise ``DeadlockError`` where a static order of the profiled mapping waits for what never comes."""
        point = self._settings.mapping
        if point is None or not any(part.policy == "STATIC_ORDER" for part in point.partitions):
            return
        self._stage("running the mapping")
        counts = [sum(map(len, self._profiler.firings(path))) for path in (self._profiled, None)]
        if counts[0] < counts[1]:
            raise DeadlockError(
                f"a static order of the mapping stands still after {counts[0]:,} of {counts[1]:,} firings",
                expected="an order that the run can follow; `dse estimate` with this mapping says who waits for what",
            )

    def _configuration(self) -> Pairs:
        """Return the mapping that is profiled, or those that calibrate in place, as a pair of the manifest."""
        point, topology = self._settings.mapping, self._bench.topology
        texts = [mapping_text(of, topology, self._platform) for of in self._in_place]
        pairs = (("measured in place", "; ".join(texts)),) if texts else ()
        return pairs if point is None else (("mapping", mapping_text(point, topology, self._platform)),)

    def _crowded(self) -> list[str]:
        """Return in words that the mapping which is profiled wants more of the machine than there is."""
        point = self._settings.mapping
        why = "" if point is None else cannot_run(point, self._platform, len(self._bench.cores))
        return [f"the mapping is not run as it is estimated: {why}"] if why else []

    def _splits(self) -> tuple[Owners, ...]:
        """Return the splits to calibrate with, beside the mappings that are measured in place."""
        if self._settings.mapping is not None or len(self._bench.cores) < 2:
            return ()
        loads = [costs.total for costs in self._found.profile.actors]
        chosen = calibration_mappings(self._bench.topology, loads, self._settings.calibrate)
        known = set(map(owners_of, self._in_place))
        return tuple(split for split in chosen if split not in known)

    def _made_calibrator(self, splits: Sequence[Owners]) -> Calibrator:
        """Return what makes the calibration runs; it has no mappings where there is nothing to calibrate with."""
        runs, topology = self._found, self._bench.topology
        every = visits_apart(runs.profile, [run.samples for run in runs.timed])
        capacities = self._settings.capacities or run_capacities(topology, self._run.fifo_tokens)
        points = [*(split_point(topology, split, capacities) for split in splits), *self._in_place]
        mappings = [
            CalibrationMapping(
                path=self._written(point, f"calibration-{text_digest(repr(point))}"),  # other profiles have others
                owners=owners_of(point),
                in_place=k >= len(splits),
                every=every if all(partition.cores == 1 for partition in point.partitions) else 1,
            )
            for k, point in enumerate(points)
        ]
        timing = self._timing(every) if mappings else ()
        beside = Calibrated(topology=topology, runs=runs, local=self._local, timing=timing)
        return Calibrator(self._profiler, mappings, beside, self._settings.runs, self._rng, self._stage)

    def _timing(self, every: int) -> tuple[float, ...]:
        """Return what timing adds to a visit of each actor where one in ``every`` is timed."""
        if every == 1:
            return ()
        self._stage("calibrating: what timing takes")
        runs = self._found
        alone = self._profiler.alone(self._settings.runs, every, runs.firings, self._profiled)
        return timing_costs(runs.profile, alone, runs.firings)

    def _crossing_rows(self) -> tuple[CrossingRow, ...]:
        """Return the table of the micro-benchmark, empty where nobody needs it or there is one core."""
        settings, cores = self._settings, self._bench.cores
        needed = settings.crossing_table or not self._calibrator.states()
        if len(cores) < 2 or settings.mapping is not None or not needed:
            return ()
        self._stage("measuring what crossing costs")
        return tuple(crossing_rows(self._bench.probe, (cores[0], cores[1])))

    def _written(self, point: DesignPoint, name: str) -> Path:
        return written_point(self._bench, self._platform, point, name)


def _with_lines(local: WeightTable, topology: Topology, lines: Sequence[CrossingLine]) -> WeightTable:
    """Return weights whose transfers between cores cost more by what the micro-benchmark says."""
    transfers = dict(local.transfers)
    for index, buffer in enumerate(topology.buffers):
        line = line_for(lines, buffer.token_bytes)
        for side in SIDES:
            price = line.reading if side == "read" else line.writing
            key = transfer_key(topology, index, "cpu_cpu", side)
            transfers[key] = dearer(local.transfers[key], price)
    return replace(local, transfers=transfers)


def owners_of(point: DesignPoint) -> Owners:
    """Return the partition of each actor in a mapping, by its number."""
    of = {actor: number for number, partition in enumerate(point.partitions) for actor in partition.actors}
    return tuple(of[actor] for actor in range(len(of)))


def split_point(topology: Topology, owners: Owners, capacities: tuple[int, ...]) -> DesignPoint:
    """Return the mapping of a split over cores of this machine; ``owners``: the partition of each actor, from 0."""
    members: dict[int, list[int]] = {}
    for actor, owner in enumerate(owners[: len(topology.actors)]):
        members.setdefault(owner, []).append(actor)
    partitions = tuple(
        Partition(name=f"P{owner}", actors=tuple(actors), unit="cpu") for owner, actors in sorted(members.items())
    )
    return DesignPoint(partitions=partitions, capacities=capacities)


def run_capacities(topology: Topology, fifo_tokens: int) -> tuple[int, ...]:
    """Return the FIFO sizes to run mappings with: those of the network, else ``fifo_tokens`` or what a firing needs."""
    return tuple(
        b.capacity if b.capacity is not None else max(fifo_tokens, topology.largest_rate(k))
        for k, b in enumerate(topology.buffers)
    )


def _doubts(found: ProfileRuns, left_out: int) -> list[str]:
    """Return in words what makes a profile doubtful."""
    closure, outliers = found.profile.closure, found.profile.outliers
    words = []
    if abs(closure.error) > MOST_CLOSURE_ERROR:
        words.append(f"the costs add up to {100 * closure.error:+.1f} % of the run that was not timed")
    if outliers.left_out > 0.01 * outliers.samples:
        words.append(f"{outliers.left_out} of {outliers.samples} samples are outliers")
    if left_out:
        words.append(f"{left_out} calibration runs were left out: the distance of the cores changed")
    return words
