"""The journey of ``dse measure``: mappings are estimated with measured weights, run, and both are compared."""

import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain, product
from pathlib import Path

import numpy as np

from dse.base.cores import usable_cores
from dse.base.errors import Diagnostic, FormatError, OptionError
from dse.base.escaping import encodable, shown
from dse.estimate.engine import compile_engine, make_engine, needs_compiling
from dse.explore.space.build import build_space
from dse.explore.space.space import Candidate as SpaceCandidate
from dse.explore.space.space import Space, SpaceOptions
from dse.flows.actor_loads import heaviest_load, loads_by_kind
from dse.flows.bench import Bench, open_bench
from dse.flows.build import device_build
from dse.flows.cuda_request import CudaRequest
from dse.flows.inputs import default_input, require_file, require_input
from dse.flows.mappings import GivenMapping, read_mappings
from dse.flows.measure_journal import NO_JOURNAL, Journal
from dse.flows.measure_options import MeasureOptions, check_options
from dse.flows.measure_points import (
    UsualResults,
    cannot_run,
    plain_order,
    usual_results,
    why_wrong,
    written_point,
)
from dse.flows.measured_timelines import measured_timeline, run_and_time_all
from dse.flows.profile import ProfiledNetwork, Profiling, run_capacities
from dse.flows.profile_gpu import able_actors, profile_gpu_on_bench
from dse.flows.profile_manifest import Pairs, conditions
from dse.flows.program import UNNAMED_OUTPUT, unheard
from dse.flows.setting import COMPILING
from dse.flows.static_mapping import GPU
from dse.flows.timelines import estimated_timeline
from dse.formats.mapping_text import mapping_text
from dse.formats.platform_yaml import load_platform
from dse.formats.weights_folder import read_weights
from dse.frontend.network.elaborate import load_network
from dse.measure.comparison import Comparison, Prediction, compare
from dse.measure.counter import CounterFacts
from dse.measure.doubtful_runs import doubts as doubts_of
from dse.measure.machine import State, machine_moment, uneven_pace, unsteady
from dse.measure.platform import this_machine
from dse.measure.profiling import Profiler
from dse.measure.runs import RunOrder
from dse.measure.samples import CounterKind
from dse.measure.session import STATES, Candidate, MeasuredRun, Patience, Session, measure_candidates
from dse.model.design_point import DesignPoint, Partition
from dse.model.origins import origins_of
from dse.model.platform import Link, Platform
from dse.model.problem import Problem
from dse.model.trace import Trace, make_trace
from dse.model.weights import Origin, WeightTable
from dse.program.network import Network
from dse.report.timeline.timeline import Timeline
from dse.run.natives.effects import why_time_matters
from dse.run.record import topology_of

_MOST_ESTIMATED = 20_000
"""Of a larger space so many mappings are drawn, of which ``top`` takes the best."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Measured:
    """The outcome of ``measure_mappings``. ``comparisons``: for each state, that with the most runs first.

    ``profiles``: of each input and FIFO size by a name for it, empty where weights were given; ``skipped``:
    (candidate, why).
    ``made``: on what, when and how it was measured, as pairs. ``timelines``: of the fastest mapping, estimated and
    measured; empty where they were not asked for.
    """

    network: str
    comparisons: tuple[Comparison, ...]
    session: Session
    profiles: tuple[tuple[str, ProfiledNetwork], ...]
    skipped: tuple[tuple[str, str], ...]
    made: Pairs
    warnings: tuple[str, ...]
    diagnostics: tuple[Diagnostic, ...]
    timelines: tuple[Timeline, ...] = ()


_OTHER_WEIGHTS = "give weights that were measured for this network, or none: then they are measured first"
EMULATED_TIMES = "the GPU was emulated: these times say nothing of a card"
_ANY_COUNTER = CounterFacts(kind=CounterKind.NANOSECONDS, hz=1e9, step=1.0, cost=1.0)
"""For this machine before it is measured: a mapping does not depend on how quick its counter is."""


def measure_mappings(
    options: MeasureOptions, stage: Callable[[str], None] = unheard, journal: Journal = NO_JOURNAL
) -> Measured:
    """Estimate and measure mappings of a network on this machine.

    ``journal``: is told of weights and runs as they are made. An interrupt ends the runs, and what was measured until
    then is compared.

    Raises:
        SourceError, FormatError, OptionError: an input is wrong. BuildError, NoNativeForm: it cannot be built.
        ExecutionError: a run on one core fails, or one while profiling.
    """
    check_options(options)
    stage("reading the program")
    require_file(options.program, "a network (.xdf)")
    loaded = load_network(options.program, source_paths=options.source_paths)
    inputs = options.inputs or (default_input(options.program),)
    for path in inputs:
        if path is not None:
            require_input(path)
    anybody = machine_of(options, loaded.network, this_machine(_ANY_COUNTER, len(usable_cores())))
    read_mappings(options.mappings, topology_of(loaded.network), anybody)  # what is wrong is said before all is built
    if needs_compiling(options.engine):
        stage(COMPILING)
        compile_engine()
    run = replace(options.run, input=inputs[0], unnamed_output=UNNAMED_OUTPUT)
    device = None if options.cuda is None else device_build(options.cuda)[0]
    with open_bench(loaded.network, run, replace(options.settings.bench, device=device), stage) as bench:
        measured = compare_on_bench(bench, options, tuple(inputs), stage, journal)
    return replace(measured, diagnostics=loaded.warnings)


def compare_on_bench(
    bench: Bench,
    options: MeasureOptions,
    inputs: tuple[str | None, ...],
    stage: Callable[[str], None] = unheard,
    journal: Journal = NO_JOURNAL,
) -> Measured:
    """Estimate and measure mappings of a network on a bench, on each of the inputs; as ``measure_mappings``."""
    return _Journey(bench, options, inputs, stage, journal).measured()


def machine_of(options: MeasureOptions, network: Network, here: Platform) -> Platform:
    """Return the platform of a measurement: this machine, with its GPU and link where mappings may use them.

    Raises:
        OptionError: no actor can run on a GPU, or the platform of the link has none. FormatError: it is wrong.
    """
    if options.cuda is None:
        return here
    names = tuple(instance.name for instance in network.instances)
    able = tuple(names[k] for k in sorted(able_actors(network)))
    links = () if options.link is None else _link_here(options.link, emulated=options.cuda.emulated)
    return replace(here, units=(*here.units, GPU), links=links, dynamic_network=options.dynamic, gpu_capable=able)


def _link_here(name: str, *, emulated: bool) -> tuple[Link, ...]:
    """Return the link between the first CPU and the first GPU of a platform, between the units of this machine."""
    platform = load_platform(name)
    kinds = {unit.name: unit.kind for unit in platform.units}
    link = next((one for one in platform.links if {kinds[end] for end in one.between} == {"cpu", "gpu"}), None)
    if link is None:
        raise OptionError(
            f"the platform '{shown(name)}' has no link between a CPU and a GPU", expected="dse gpu link writes one"
        )
    if link.emulated and not emulated:
        raise OptionError(
            f"link '{shown(link.name)}' of '{shown(name)}' is that of an emulated GPU, and mappings are measured",
            expected="measure it here: dse gpu link",
        )
    return (replace(link, between=("cpu", GPU.name)),)


@dataclass(slots=True, kw_only=True)
class _Case:
    """An input with FIFO sizes: its trace and weights. ``label``: empty where there is only one case.

    ``profile``: with the calibrations of all states so far, None where weights were given; ``profiling``: what can
    calibrate in another state too, None where a GPU is used or weights were given.
    """

    input: str | None
    tokens: int | None
    capacities: tuple[int, ...]
    trace: Trace
    usual: WeightTable
    label: str
    profile: ProfiledNetwork | None = None
    profiling: Profiling | None = None

    def complete(self, state: State) -> bool:
        """Calibrate in a state that the machine is in, if that was not done, and return whether it had to be.

        Raises ``ExecutionError`` as a run may.
        """
        if self.profiling is None or not self.profiling.complete(state):
            return False
        self.profile = self.profiling.profiled()
        return True

    def table(self, state: State) -> WeightTable:
        """Return the weights for a state; those for the usual one where it was not calibrated."""
        states = () if self.profile is None else self.profile.states
        return next((of.table for of in states if of.state == state), self.usual)


def _profiles(cases: Iterable[_Case]) -> tuple[tuple[str, ProfiledNetwork], ...]:
    """Return what was profiled for some cases, with their labels."""
    return tuple((case.label, case.profile) for case in cases if case.profile is not None)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Entry:
    """A mapping in a case, with what is predicted of it in each state."""

    case: _Case
    point: DesignPoint
    name: str


class _Journey:
    """The stages of one measurement."""

    def __init__(
        self,
        bench: Bench,
        options: MeasureOptions,
        inputs: tuple[str | None, ...],
        stage: Callable[[str], None],
        journal: Journal,
    ) -> None:
        self._bench = bench
        self._options = options
        self._inputs = inputs
        self._stage = stage
        self._journal = journal
        self._platform = machine_of(options, bench.network, this_machine(bench.facts, len(bench.cores)))
        self._rng = np.random.default_rng(options.settings.seed)
        self._given = read_mappings(options.mappings, bench.topology, self._platform).mappings

    def measured(self) -> Measured:
        """Return the outcome of all stages."""
        before, started = machine_moment(), time.monotonic()
        self._journal.begins(self._bench.topology.name)
        cases = self._cases()
        usual = {path: usual_results(self._bench, path) for path in self._inputs}
        entries, skipped = self._runnable(list(chain.from_iterable(map(self._entries, cases))), usual)
        if self._options.weights:  # what is wrong with them is said before everything is run
            self._predictions(cases, entries[:1], STATES[0])
        session = self._session(cases, entries, usual)
        lasted = [state for state in STATES if any(session.of(state))]
        predictions = {state: self._predictions(cases, entries, state) for state in lasted}
        comparisons = _comparisons(predictions, session)
        timelines = () if session.interrupted else self._timelines(entries, session, comparisons)
        profiles = _profiles(cases)
        doubts = (*_other_states(entries, lasted), *self._doubts(), *doubts_of(session.figures))
        after, seconds = machine_moment(), time.monotonic() - started
        pairs = conditions(self._bench, self._options.run, self._inputs, (before, after))
        return Measured(
            network=self._bench.topology.name,
            comparisons=comparisons,
            session=session,
            profiles=profiles,
            skipped=tuple(skipped),
            made=(*pairs, *self._made(len(profiles))),
            warnings=_distinct(
                *(p.warnings for _, p in profiles), unsteady(before, after, seconds), uneven_pace(session.trips), doubts
            ),
            diagnostics=(),
            timelines=timelines,
        )

    def _doubts(self) -> Iterator[str]:
        """Yield in words why what was measured may say little."""
        differs = why_time_matters(self._bench.network, (key for key, _ in self._options.run.natives))
        if differs:
            yield differs
        if self._options.cuda is not None and self._options.cuda.emulated:
            yield EMULATED_TIMES

    def _made(self, profiles: int) -> Pairs:
        """Return how it was measured, as pairs."""
        options = self._options
        given = ", ".join(map(encodable, options.weights))
        mappings = options.profile.calibrate
        weights = given or f"measured here, {profiles} profiles, up to {mappings} calibration mappings each"
        runs = f"up to {options.settings.rounds} of each mapping, in random order by seed {options.settings.seed}"
        return (("weights", weights), ("runs", runs), ("engine", options.engine), *self._made_on_gpu())

    def _made_on_gpu(self) -> Pairs:
        """Return as pairs what a GPU adds to how it was measured."""
        cuda, link = self._options.cuda, next(iter(self._platform.links), None)
        if cuda is None:
            return ()
        fifos = "all as if they might cross" if self._options.dynamic else "special inside the GPU"
        told = "none" if link is None else f"{encodable(link.name)}: {encodable(link.source)}"
        kind = "emulated" if cuda.emulated else "measured"
        return (("gpu", f"{kind}, actions one by one"), ("fifos", fifos), ("link", told))

    def _cases(self) -> list[_Case]:
        """Return each input with each of the FIFO sizes."""
        given = self._given_weights()
        if given is not None:
            refuse_other_origin(given, self._options.cuda)
        sizes = self._options.buffers or (None,)
        found = []
        for path, tokens in product(self._inputs, sizes):
            found.append(self._case(path, tokens, given))
            self._journal.profiled(_profiles(found))
        return found

    def _given_weights(self) -> WeightTable | None:
        """Return the weights that are given. Raises ``OptionError``, ``FormatError`` where they are wrong."""
        if "nominal" in self._options.weights and not Path("nominal").exists():
            raise OptionError("nominal weights count operations, which no clock can confirm", expected=_OTHER_WEIGHTS)
        return read_weights(self._options.weights) if self._options.weights else None

    def _case(self, path: str | None, tokens: int | None, given: WeightTable | None) -> _Case:
        """Return an input with FIFO sizes, profiled if no weights are given."""
        topology, options = self._bench.topology, self._options
        run = replace(options.run, input=path)
        capacities = run_capacities(topology, run.fifo_tokens) if tokens is None else (tokens,) * len(topology.buffers)
        label = self._label(path, tokens)
        if given is not None:
            profiler = Profiler(self._bench.program, topology, self._bench.facts, path, self._bench.scratch)
            trace = make_trace(topology, profiler.firings())
            return _Case(input=path, tokens=tokens, capacities=capacities, trace=trace, usual=given, label=label)
        settings = replace(options.profile, capacities=capacities)
        if options.cuda is None:
            profiling = Profiling(self._bench, run, settings, self._stage)
            profile = profiling.profiled()
        else:
            profiling, profile = None, profile_gpu_on_bench(self._bench, run, settings, self._stage)
        return _Case(
            input=path,
            tokens=tokens,
            capacities=capacities,
            trace=make_trace(topology, profile.runs.firings),
            usual=profile.table,
            label=label,
            profile=profile,
            profiling=profiling,
        )

    def _label(self, path: str | None, tokens: int | None) -> str:
        words = [Path(path).name] if path is not None and len(self._inputs) > 1 else []
        return " ".join([*words, *([f"{tokens} tokens"] if tokens is not None else [])])

    def _entries(self, case: _Case) -> list[_Entry]:
        """Return the mappings of a case."""
        topology, found = self._bench.topology, []
        for point in self._points(case):
            name = point.name or mapping_text(point, topology, self._platform, capacities=case.capacities)
            found.append(_Entry(case=case, point=point, name=f"{name} {case.label}".strip()))
        return found

    def _points(self, case: _Case) -> list[DesignPoint]:
        """Return the mappings that are asked for; of ``top``, those that are best in this case."""
        options, topology = self._options, self._bench.topology
        if options.mappings:
            return [self._of_given(mapping, case) for mapping in self._given]
        space = build_space(topology, self._platform, SpaceOptions(capacities=(case.capacities,)))
        rng = np.random.default_rng(options.settings.seed)
        if options.sample is not None:
            return on_card(drawn_points(space, options.sample, rng))
        points = on_card(drawn_points(space, _MOST_ESTIMATED, rng))
        times = self._estimates(case, case.usual, points)
        best = sorted(range(len(points)), key=lambda k: (times[k] is None, times[k] or 0.0))
        return [points[k] for k in best[: options.top]]

    def _of_given(self, mapping: GivenMapping, case: _Case) -> DesignPoint:
        name = mapping.name if mapping.text else Path(mapping.name).stem
        keeps = case.tokens is None and mapping.sized
        return replace(mapping.point, name=name, capacities=mapping.point.capacities if keeps else case.capacities)

    def _runnable(
        self, entries: Sequence[_Entry], usual: Mapping[str | None, UsualResults]
    ) -> tuple[list[_Entry], list[tuple[str, str]]]:
        """Return what this machine can run with the right results, and the names of the others with the reasons."""
        self._stage(f"trying {len(entries)} mappings")
        reasons = [self._why_not(entry, usual[entry.case.input]) for entry in entries]
        kept = [entry for entry, why in zip(entries, reasons, strict=True) if not why]
        if not kept:
            raise OptionError(
                "there is no mapping that this machine can run",
                expected=f"the first one: {reasons[0]}" if reasons else "name a folder with mapping files (.xcf)",
            )
        return kept, [(entry.name, why) for entry, why in zip(entries, reasons, strict=True) if why]

    def _why_not(self, entry: _Entry, usual: UsualResults) -> str:
        """Return in words why a mapping cannot be measured, empty where it can."""
        why = cannot_run(entry.point, self._platform, len(self._bench.cores), gpu=self._bench.has_gpu)
        if why:
            return why
        return why_wrong(self._bench, self._order(entry, "tried"), usual)

    def _order(self, entry: _Entry, name: str) -> RunOrder:
        mapping = written_point(self._bench, self._platform, entry.point, name)
        return plain_order(self._bench, self._platform, entry.case.input, mapping)

    def _predictions(self, cases: Sequence[_Case], entries: Sequence[_Entry], state: State) -> list[Prediction]:
        """Return what is predicted of each entry in a state."""
        found: dict[int, Prediction] = {}
        for case in cases:
            own = [k for k, entry in enumerate(entries) if entry.case is case]
            table = case.table(state)
            times = self._estimates(case, table, [entries[k].point for k in own])
            loads, on_gpu = loads_by_kind(table, case.trace)
            for k, time_ns in zip(own, times, strict=True):
                point = entries[k].point
                found[k] = Prediction(
                    name=entries[k].name,
                    estimated_ns=time_ns if time_ns is not None else float("inf"),
                    load_ns=heaviest_load(point, loads, on_gpu),
                    scored=time_ns is not None and not _calibrated(point, case, len(self._bench.topology.actors)),
                )
        return [found[k] for k in range(len(entries))]

    def _estimates(self, case: _Case, table: WeightTable, points: Sequence[DesignPoint]) -> list[float | None]:
        """Return the estimated times in ns; None for a deadlock."""
        self._stage(f"estimating {len(points)} mappings {case.label}".rstrip())
        problem = Problem(trace=case.trace, weights=table, platform=self._platform)
        try:
            estimates = make_engine(self._options.engine, problem).estimates(points)
        except FormatError as error:
            *others, last = error.diagnostics
            error.diagnostics = (*others, replace(last, expected=_OTHER_WEIGHTS))
            raise
        if any(estimate.tick_unit != "ps" for estimate in estimates):
            raise OptionError("the weights have no clock: what they add up to is no time", expected="measure them")
        return [None if estimate.deadlock is not None else estimate.makespan / 1000 for estimate in estimates]

    def _session(
        self, cases: Sequence[_Case], entries: Sequence[_Entry], usual: Mapping[str | None, UsualResults]
    ) -> Session:
        """Run everything; each result must be that of one core on the same input.

        Where the machine came into a state for which a case has no weights, or few calibrations, these are made.
        """
        program, settings = self._bench.program, self._options.settings
        candidates = []
        for k, entry in enumerate(entries):
            order = self._order(entry, f"candidate-{k}")
            candidates.append(Candidate(name=entry.name, order=order, result=usual[entry.case.input].counted))
        patience = Patience(rounds=settings.rounds, seconds=settings.seconds)

        def heard(run: MeasuredRun, done: int, count: int) -> None:
            self._journal.ran(entries[run.candidate].name, run)
            self._stage(f"measuring: run {done} of {count}")

        def between(state: State) -> None:
            calibrated = [case.complete(state) for case in cases]
            if any(calibrated):
                self._journal.profiled(_profiles(cases))

        return measure_candidates(program, candidates, patience, self._rng, heard, between=between)

    def _timelines(
        self, entries: Sequence[_Entry], session: Session, comparisons: Sequence[Comparison]
    ) -> tuple[Timeline, ...]:
        """Return the timelines of the fastest mapping: estimated, and of one more run; none if they are not wanted."""
        if not self._options.timeline:
            return ()
        state = comparisons[0].state if comparisons else STATES[0]
        medians = [np.median(times) if times else np.inf for times in session.of(state)]
        entry = entries[int(np.argmin(medians))]
        self._stage(f"running {entry.name} for its timeline")
        bench, case = self._bench, entry.case
        profiler = Profiler(bench.program, bench.topology, bench.facts, case.input, bench.scratch)
        run = run_and_time_all(profiler, bench.topology, written_point(bench, self._platform, entry.point, "timeline"))
        problem = Problem(trace=case.trace, weights=case.table(state), platform=self._platform)
        return (
            estimated_timeline(entry.name, problem, entry.point),
            measured_timeline(entry.name, run.samples, bench.topology, run.firings, entry.point),
        )


def _comparisons(predictions: dict[State, list[Prediction]], session: Session) -> tuple[Comparison, ...]:
    """Return the comparison in each state that lasted, that with the most runs first."""
    found = [compare(state, of_state, session.of(state)) for state, of_state in predictions.items()]
    lasting = [comparison for comparison in found if comparison is not None]
    return tuple(sorted(lasting, key=lambda comparison: -sum(pair.measured.count for pair in comparison.pairs)))


def _distinct(*warnings: Iterable[str]) -> tuple[str, ...]:
    """Return each of some warnings once."""
    return tuple(dict.fromkeys(chain.from_iterable(warnings)))


def _other_states(entries: Sequence[_Entry], lasted: Sequence[State]) -> Iterator[str]:
    """Yield in words in which states what crosses cores is estimated with weights of another one."""
    for state in lasted:
        crossing = (entry.case.table(state) for entry in entries if len(entry.point.partitions) > 1)
        known = dict.fromkeys(dict(table.manifest).get("core distance") for table in crossing)
        for other in known:
            if other != state:
                said = f"while they were {other}" if other else "on no two cores"
                yield f"cores {state}: the weights were calibrated {said}"


def on_card(points: list[DesignPoint]) -> list[DesignPoint]:
    """Return points with all actors of a partition on the GPU at work at once, as they are there by themselves."""

    def spread(part: Partition) -> Partition:
        return replace(part, policy="FULL_PARALLEL") if part.unit == GPU.name else part

    return [replace(point, partitions=tuple(map(spread, point.partitions))) for point in points]


def refuse_other_origin(weights: WeightTable, cuda: CudaRequest | None) -> None:
    """Raise ``OptionError`` for weights of an emulated GPU beside measured times, and the other way round."""
    wrong: Origin = "measured" if cuda is not None and cuda.emulated else "emulated"
    if wrong in origins_of(weights):
        raise OptionError(
            f"the weights were {wrong}, and the times that are to stand beside them are not",
            expected="weights of the same kind, or none: they are taken first",
        )


def drawn_points(space: Space, count: int, rng: np.random.Generator) -> list[DesignPoint]:
    """Return all points of a space, or ``count`` different ones where it has more, drawn with equal chances."""
    if space.size <= count:
        return [space.to_point(candidate) for candidate in space.candidates()]
    if space.size <= _MOST_ESTIMATED:
        chosen = sorted(rng.choice(space.size, count, replace=False).tolist())
        wanted = iter(chosen)
        found, following = [], next(wanted)
        for index, candidate in enumerate(space.candidates()):
            if index == following:
                found.append(space.to_point(candidate))
                following = next(wanted, -1)
        return found
    drawn: dict[tuple[int, ...], DesignPoint] = {}
    while len(drawn) < count:
        assignment = space.random_assignment(rng)
        drawn[assignment] = space.to_point(SpaceCandidate(assignment=assignment))
    return list(drawn.values())


def _calibrated(point: DesignPoint, case: _Case, actors: int) -> bool:
    """Return whether the weights of a case were calibrated with the mapping of a point, whatever its FIFO sizes."""
    if case.profile is None or any(part.unit == GPU.name for part in point.partitions):
        return False
    split = _groups(point.partition_of(actors))
    return any(_groups(owners) == split for owners in case.profile.owners)


def _groups(owners: Sequence[int]) -> frozenset[frozenset[int]]:
    """Return which actors are together."""
    return frozenset(frozenset(a for a, other in enumerate(owners) if other == owner) for owner in owners)
