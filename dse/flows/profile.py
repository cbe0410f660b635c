"""The journey of ``dse profile``: from a network and an input to weights that were measured on this machine."""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np

from dse.base.errors import OptionError
from dse.flows.bench import Bench, BenchSettings, open_bench
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
from dse.measure.arrival import Waits, arrival_steps, calibrated_arrival, ping_pong_arrival, waits_of
from dse.measure.calibration_mappings import Owners, calibration_mappings
from dse.measure.counter import CounterFacts
from dse.measure.crossing import Calibration, crossing_costs, dearer, entries_of, with_crossings
from dse.measure.crossing_table import (
    CrossingLine,
    CrossingRow,
    crossing_lines,
    crossing_rows,
    line_for,
    table_text,
)
from dse.measure.looks import Looks, called, looks_of
from dse.measure.machine import MachineMoment, RoundTrip, State, machine_moment, unsteady
from dse.measure.platform import this_machine
from dse.measure.profile import MOST_CLOSURE_ERROR, Closure, Profile
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
class StateWeights:
    """The weights for one state of the machine.

    ``calibrations``: the runs on several cores that they rest on; ``unexplained``: the share of their busy time that
    no crossing explains. ``waits``: what arrivals took in them where a core waited, None where too few were seen.
    ``looks``: what lay between visits, scaled as the weights are.
    """

    state: State
    table: WeightTable
    calibrations: int
    unexplained: float
    waits: Waits | None
    looks: Looks


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
    check_settings(settings)
    before, started = machine_moment(), time.monotonic()
    journey = _Journey(bench, run, settings, stage)
    found = journey.profiled()
    local = local_weights(found.profile, bench.topology, found.firings)
    splits = journey.splits(found.profile)
    owners = (*splits, *map(owners_of, journey.in_place))
    states = journey.states(splits, found, local)
    rows = journey.crossing_rows(needed=not states)
    plain = _without_calibration(local, bench, found, rows)
    after, seconds = machine_moment(), time.monotonic() - started
    used = sum(state.calibrations for state in states)
    where = "on one core" if settings.mapping is None else "in one mapping on several cores"
    known = profile_manifest(bench, run, found, where, (before, after))
    without = MICRO_BENCHMARK if rows else NO_CROSSING if settings.mapping is None else IN_PLACE
    known = (*known, *journey.configuration())
    states = tuple(_described(state, known, len(owners), bench.facts) for state in states)
    return ProfiledNetwork(
        topology=bench.topology,
        table=states[0].table if states else replace(plain, manifest=(*known, *without, *round_trip_pairs(plain))),
        states=states,
        platform=journey.platform,
        facts=bench.facts,
        runs=found,
        owners=owners,
        crossings=table_text(rows) if rows else "",
        moments=(before, after),
        warnings=(
            *unsteady(before, after, seconds),
            *_doubts(found, len(owners) * settings.runs - used),
            *journey.crowded(),
        ),
        seconds=seconds,
    )


def _described(state: StateWeights, known: Pairs, mappings: int, facts: CounterFacts) -> StateWeights:
    pairs = (
        *state_pairs(state.state, state.calibrations, mappings, state.unexplained),
        *visit_pairs(state.table, state.waits, state.looks, facts),
    )
    return replace(state, table=replace(state.table, manifest=(*known, *pairs)))


class _Journey:
    """The stages of one profile."""

    def __init__(self, bench: Bench, run: RunOptions, settings: ProfileSettings, stage: Callable[[str], None]) -> None:
        self.platform = this_machine(bench.facts, len(bench.cores))
        self.in_place = settings.in_place if settings.mapping is None and len(bench.cores) > 1 else ()
        self._bench = bench
        self._run = run
        self._settings = settings
        self._stage = stage
        self._rng = np.random.default_rng(settings.seed)
        self._profiled: Path | None = None  # the mapping that is profiled, None: one thread without any
        self._profiler = Profiler(bench.program, bench.topology, bench.facts, run.input, bench.scratch)

    def profiled(self) -> ProfileRuns:
        """Return the profile on one core, or in the configuration that is asked for."""
        settings, topology = self._settings, self._bench.topology
        point = settings.mapping
        if point is None and settings.capacities is not None:
            point = split_point(topology, (0,) * len(topology.actors), settings.capacities)
        self._profiled = None if point is None else self._written(point, "profiled")
        return self._profiler.profile(settings.runs, self._rng, mapping=self._profiled, heard=self._stage)

    def configuration(self) -> Pairs:
        """Return the mapping that is profiled, or those that calibrate in place, as a pair of the manifest."""
        point, topology = self._settings.mapping, self._bench.topology
        texts = [mapping_text(of, topology, self.platform) for of in self.in_place]
        pairs = (("measured in place", "; ".join(texts)),) if texts else ()
        return pairs if point is None else (("mapping", mapping_text(point, topology, self.platform)),)

    def crowded(self) -> list[str]:
        """Return in words that the mapping which is profiled wants more of the machine than there is."""
        point = self._settings.mapping
        why = "" if point is None else cannot_run(point, self.platform, len(self._bench.cores))
        return [f"the mapping is not run as it is estimated: {why}"] if why else []

    def splits(self, profile: Profile) -> tuple[Owners, ...]:
        """Return the splits to calibrate with, beside the mappings that are measured in place."""
        if self._settings.mapping is not None or len(self._bench.cores) < 2:
            return ()
        loads = [costs.total for costs in profile.actors]
        chosen = calibration_mappings(self._bench.topology, loads, self._settings.calibrate)
        known = set(map(owners_of, self.in_place))
        return tuple(split for split in chosen if split not in known)

    def states(self, splits: Sequence[Owners], runs: ProfileRuns, local: WeightTable) -> tuple[StateWeights, ...]:
        """Return the weights for each state that calibrations had, the one with the most first."""
        profile, every = runs.profile, visits_apart(runs.profile, [run.samples for run in runs.timed])
        topology = self._bench.topology
        capacities = self._settings.capacities or run_capacities(topology, self._run.fifo_tokens)
        points = [*(split_point(topology, split, capacities) for split in splits), *self.in_place]
        mappings = [
            CalibrationMapping(
                path=self._written(point, f"calibration-{k}"),
                owners=owners_of(point),
                in_place=k >= len(splits),
                every=every if all(partition.cores == 1 for partition in point.partitions) else 1,
            )
            for k, point in enumerate(points)
        ]
        if not mappings:
            return ()
        timing = self._timing(every, runs)
        found = self._profiler.calibrations(mappings, self._settings.runs, self._rng, self._stage, runs.timed[0])
        weighed = [_state_weights(state, local, profile, topology, some, timing) for state, some in found.items()]
        return tuple(sorted(weighed, key=lambda of_state: -of_state.calibrations))

    def _timing(self, every: int, runs: ProfileRuns) -> tuple[float, ...]:
        """Return what timing adds to a visit of each actor where one in ``every`` is timed."""
        if every == 1:
            return ()
        self._stage("calibrating: what timing takes")
        alone = self._profiler.alone(self._settings.runs, every, runs.firings, self._profiled)
        return timing_costs(runs.profile, alone, runs.firings)

    def crossing_rows(self, *, needed: bool) -> tuple[CrossingRow, ...]:
        """Return the table of the micro-benchmark, empty where nobody needs it or there is one core."""
        settings, cores = self._settings, self._bench.cores
        if len(cores) < 2 or settings.mapping is not None or not (needed or settings.crossing_table):
            return ()
        self._stage("measuring what crossing costs")
        return tuple(crossing_rows(self._bench.probe, (cores[0], cores[1])))

    def _written(self, point: DesignPoint, name: str) -> Path:
        return written_point(self._bench, self.platform, point, name)


def _state_weights(
    state: State,
    local: WeightTable,
    profile: Profile,
    topology: Topology,
    calibrations: Sequence[Calibration],
    timing: Sequence[float],
) -> StateWeights:
    runs = [called(calibration.samples, calibration.partition_of, topology) for calibration in calibrations]
    found = looks_of(runs, profile.facts.cost)
    crossings = crossing_costs(profile, topology, calibrations, found, timing)
    waits = waits_of(arrival_steps(calibrations, topology, profile.facts.cost))
    looks = found.scaled(profile.closure.factor)
    arrival = calibrated_arrival(calibrations, waits, looks, entries_of(crossings, topology), profile.facts)
    return StateWeights(
        state=state,
        table=replace(with_crossings(local, crossings, topology), arrival=arrival),
        calibrations=len(calibrations),
        unexplained=crossings.unexplained,
        waits=waits,
        looks=looks,
    )


def _without_calibration(
    local: WeightTable, bench: Bench, found: ProfileRuns, rows: Sequence[CrossingRow]
) -> WeightTable:
    """Return weights without calibration runs: by micro-benchmark and round trips, where they were made."""
    if not rows:
        return local
    table = _with_lines(local, bench.topology, crossing_lines(rows))
    return replace(table, arrival=ping_pong_arrival(found.trips, bench.facts))


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
