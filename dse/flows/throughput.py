"""``dse throughput`` as a function: the most that static graphs and static regions can do, and what limits them."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from pathlib import Path

from dse.base.errors import DeadlockError, Diagnostic, OptionError
from dse.base.source import file_span
from dse.base.units import PS_PER_S
from dse.estimate.engine import make_engine
from dse.estimate.steady import IntArray, Steady, last_half, steady_state
from dse.flows.capacities import given_capacities
from dse.flows.estimate import GivenPoints, load_points
from dse.flows.graphs import is_graph, read_graph
from dse.flows.options import EstimateOptions, ProblemOptions
from dse.flows.program import unheard
from dse.flows.setting import Setting, load_setting
from dse.formats.bxdf import write_bxdf
from dse.formats.platform_yaml import load_platform
from dse.model.dataflow_graph import DataflowGraph
from dse.model.design_point import ReleaseMode
from dse.model.estimate import TickUnit
from dse.model.trace import Topology
from dse.sdf.balance import repetition_vector
from dse.sdf.liveness import require_live
from dse.sdf.regions import Region, Regions, static_regions
from dse.sdf.throughput.periodic import CycleStep, LeastPeriod, least_period
from dse.sdf.throughput.storage import Storage, TimedDataflow, storage_front
from dse.sdf.throughput.timed_graph import TimedGraph
from dse.sdf.unfold import graph_topology, is_state, usual_iterations
from dse.sdf.weights import phase_times, types_of_units

_MOST_NAMED = 5
_LONGER = 3
"""So often a run that does not become steady is made four times as long."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ThroughputOptions:
    """What to analyse, and mappings whose steady state is to be found.

    ``overlap``: actors of one phase may overlap with themselves, as SDF3 has it.
    ``storage``: so many sizes of channels are tried, at most, for the front of memory and throughput; None: no front.
    ``buffers``: sizes of the channels, a number of tokens or a ``.bxdf`` file, over those of the graph; None: its own.
    ``out``: where the sizes of the last point of the front are written, a ``.bxdf`` file.
    """

    problem: ProblemOptions
    release: ReleaseMode = "processing"
    overlap: bool = False
    storage: int | None = None
    mappings: tuple[str, ...] = ()
    buffers: str | None = None
    out: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class MappingRate:
    """The steady state of a mapping by simulation, None where it is not reached within the ``iterations`` of the run.

    ``last_half``: ticks of an iteration in the second half of the run, which is about what it will be.
    """

    mapping: str
    steady: Steady | None
    last_half: Fraction
    iterations: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Turn:
    """A place on a critical cycle: an actor, and the channel over which the next one waits for its tokens or its room.

    ``channel`` empty: the actor's own next firing waits.
    """

    actor: str
    channel: str
    room: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class ActorRate:
    """An actor: firings in an iteration, what they take in all, and the least period that what is before it allows."""

    name: str
    firings: int
    work: Fraction
    own_period: Fraction


@dataclass(frozen=True, slots=True, kw_only=True)
class RegionThroughput:
    """The most that a graph, or a static region of a program, can do, whatever the mapping. Times in ticks.

    ``period``: the least time of an iteration in the long run, exactly; 0: nothing limits it. ``cycle``: what limits
    it. ``iterations``: how often the trace goes through the region, None for a graph. ``channels``: names, in the order
    of the sizes of ``storage``.
    """

    graph: DataflowGraph
    actors: tuple[ActorRate, ...]
    period: Fraction
    cycle: tuple[Turn, ...]
    schedules: int
    iterations: int | None
    averaged: tuple[str, ...]
    channels: tuple[str, ...]
    storage: Storage | None = None

    @property
    def work(self) -> Fraction:
        """What the firings of an iteration take in all."""
        return sum((actor.work for actor in self.actors), Fraction(0))

    @property
    def least_cores(self) -> int:
        """Cores below which the period cannot be reached."""
        return 0 if not self.period else -(-self.work // self.period)


@dataclass(frozen=True, slots=True, kw_only=True)
class Throughput:
    """The outcome of ``find_throughput``. ``others``: actors of the program that are in no static region."""

    network: str
    tick_unit: TickUnit
    regions: tuple[RegionThroughput, ...]
    others: tuple[str, ...]
    assumed: tuple[str, ...]
    warnings: tuple[Diagnostic, ...] = ()
    mappings: tuple[MappingRate, ...] = ()
    """The quickest first."""


def find_throughput(options: ThroughputOptions, stage: Callable[[str], None] = unheard) -> Throughput:
    """Return the maximal throughput of a static graph, or of the static regions of a program.

    Raises:
        FormatError: the file is wrong, or the rates of a channel do not balance.
        DeadlockError: the graph stands still; it names the cycle. OptionError: times are missing, or too much is asked.
    """
    if options.out is not None and options.storage is None:
        raise OptionError("-o writes the sizes that --storage finds", expected="--storage -o X.bxdf")
    stage("reading the program")
    of_graph = is_graph(options.problem.program)
    found = _of_graph(options, stage) if of_graph else _of_program(options, stage)
    if not options.mappings:
        return found
    return _with_mappings(found, options, stage, grows=of_graph)


def _with_mappings(
    found: Throughput, options: ThroughputOptions, stage: Callable[[str], None], *, grows: bool
) -> Throughput:
    """Return the outcome with the steady states of the mappings; ``grows``: runs may have more iterations."""
    region = _whole_region(found, options)
    firings = tuple(actor.firings for actor in region.actors)
    iterations = usual_iterations(firings) if grows else None
    rates, given = _rates_of_mappings(options, firings, iterations, stage)
    for _ in range(_LONGER):
        if iterations is not None and not all(rate.steady for rate in rates):
            iterations *= 4
            rates, given = _rates_of_mappings(options, firings, iterations, stage)
    rates.sort(key=lambda rate: rate.steady.period if rate.steady else rate.last_half)
    assumed = tuple(dict.fromkeys((*found.assumed, *given.assumed)))
    return replace(found, mappings=tuple(rates), warnings=given.warnings, assumed=assumed)


def _whole_region(found: Throughput, options: ThroughputOptions) -> RegionThroughput:
    """Return the region that is the whole program. Raises ``OptionError`` where mappings have no steady state."""
    if options.overlap:
        raise OptionError("the actors of a mapping never overlap with themselves", expected="leave out --overlap")
    if found.others or len(found.regions) > 1:
        raise OptionError(
            "a mapping has a steady state where the whole program is one static region",
            expected=f"leave out --mapping: there are {len(found.regions)}, and {len(found.others)} actors in none",
        )
    return found.regions[0]


def _rates_of_mappings(
    options: ThroughputOptions, firings: tuple[int, ...], iterations: int | None, stage: Callable[[str], None]
) -> tuple[list[MappingRate], GivenPoints]:
    """Return the steady states of the mappings in runs of so many iterations, None: of the trace that there is."""
    graph = replace(options.problem.graph, iterations=iterations)
    problem = replace(options.problem, graph=graph)
    wanted = EstimateOptions(
        problem=problem, mappings=options.mappings, release=options.release, buffers=options.buffers
    )
    given = load_points(wanted, stage)
    engine = make_engine(options.problem.engine, given.setting.tables)
    rates = []
    for name, point in given.points:
        stage(f"estimating {name}")
        estimate = engine.estimate(point, firing_times=True)
        if estimate.deadlock is not None or estimate.firing_times is None:
            raise DeadlockError(f"mapping '{name}' deadlocks", expected="see who waits for what with `dse estimate`")
        rates.append(_rate(name, [times.start for times in estimate.firing_times], firings))
    return rates, given


def _rate(name: str, starts: list[IntArray], firings: tuple[int, ...]) -> MappingRate:
    period, made = last_half(starts, firings)
    return MappingRate(mapping=name, steady=steady_state(starts, firings), last_half=period, iterations=made)


def _of_graph(options: ThroughputOptions, stage: Callable[[str], None]) -> Throughput:
    _check_graph_options(options)
    graph = read_graph(options.problem.program, options.problem.graph.graph)
    firings = repetition_vector(graph)
    require_live(graph, firings)
    if options.buffers is not None:
        sizes = given_capacities(options.buffers, graph_topology(graph))
        graph = _sized(graph, dict(zip(_fifos(graph), sizes, strict=True)))
    unit: TickUnit = "cycles" if graph.unit_mhz is None else "ps"
    scale = Fraction(1) if graph.unit_mhz is None else PS_PER_S / (graph.unit_mhz * 10**6)
    times, assumed = _times(graph, options)
    flow = TimedDataflow(
        graph=graph,
        firings=firings,
        times=tuple(tuple(time * scale for time in of_actor) for of_actor in times),
        release=options.release,
        overlap=options.overlap,
    )
    stage("looking for the critical cycle")
    region = _analysed(flow, options, tuple(channel.name for channel in graph.channels), None)
    if options.out is not None:
        _write(region, _fifos(graph), graph_topology(graph), options.out)
    return Throughput(
        network=graph.name, tick_unit=unit, regions=(region,), others=(), assumed=(*assumed, *graph.notes)
    )


def _check_graph_options(options: ThroughputOptions) -> None:
    """Raise ``OptionError`` for options that a graph has no use for."""
    if options.problem.graph.iterations is not None:
        raise OptionError("a steady state has no number of iterations", expected="leave out --iterations")
    if options.problem.weights:
        raise OptionError("the times are those of the graph", expected="leave out --weights")


def _fifos(graph: DataflowGraph) -> tuple[int, ...]:
    """Return the channels that are FIFOs of its traces, in their order."""
    return tuple(n for n, channel in enumerate(graph.channels) if not is_state(graph, channel))


def _sized(graph: DataflowGraph, sizes: Mapping[int, int]) -> DataflowGraph:
    """Return a graph with such sizes of its channels, by their numbers. Raises ``OptionError`` for too little room."""
    for number, size in sizes.items():
        channel = graph.channels[number]
        if size < channel.initial_tokens:
            raise OptionError(
                f"channel '{channel.name}' begins with {channel.initial_tokens:,} tokens and is to hold {size:,}",
                expected=f"--buffers of {channel.initial_tokens:,} or more for it",
            )
    channels = tuple(
        replace(channel, capacity_tokens=sizes.get(number, channel.capacity_tokens))
        for number, channel in enumerate(graph.channels)
    )
    return replace(graph, channels=channels)


def _write(region: RegionThroughput, fifos: Sequence[int], topology: Topology, out: str) -> None:
    """Write the sizes of the last point of a front; ``fifos``: the channel of each FIFO of the topology.

    A channel from an actor to itself limits nothing: its size is what it begins with and what a firing adds.
    """
    assert region.storage is not None, "-o comes with --storage"
    graph, sizes = region.graph, region.storage.points[-1].sizes
    least = [c.initial_tokens + max(graph.written(c)) for c in graph.channels]
    tokens = tuple(sizes[channel] or max(1, least[channel]) for channel in fifos)
    try:
        Path(out).parent.mkdir(parents=True, exist_ok=True)
        write_bxdf(tokens, topology, out)
    except OSError as cause:
        raise OptionError(f"cannot write '{out}': {cause.strerror}", expected="choose another place with -o") from cause


def _times(graph: DataflowGraph, options: ThroughputOptions) -> tuple[list[tuple[Fraction, ...]], tuple[str, ...]]:
    """Return the times of all actors, and what is assumed of them. Raises ``OptionError`` where some are missing."""
    wanted = _wanted_type(graph, options)
    found = phase_times(graph, wanted)
    lacking = [actor.name for actor, times in zip(graph.actors, found, strict=True) if times is None]
    if lacking and options.problem.missing_weights != "zero":
        raise _without_times(lacking, wanted)
    whose = "each actor's default processor" if wanted is None else f"'{wanted}'"
    words = f"execution times of the {graph.tool} file, those of {whose}"
    absent = (f"no time for {len(lacking)} actors without one",) if lacking else ()
    times = [t or (Fraction(0),) * a.n_phases for t, a in zip(found, graph.actors, strict=True)]
    return times, (words, *absent)


def _wanted_type(graph: DataflowGraph, options: ThroughputOptions) -> str | None:
    """Return the type of processor whose times count: the one that is named, else what a CPU is named after.

    That is the type on which mappings are estimated. Raises ``OptionError`` for one of a GPU.
    """
    processors = dict(options.problem.graph.processors)
    if "gpu" in processors:
        raise OptionError("every actor has a processor of its own here", expected="--processor TYPE")
    if "cpu" in processors or options.problem.platform is None:
        return processors.get("cpu")
    units = load_platform(options.problem.platform).units
    return dict(types_of_units(graph, [(unit.name, unit.kind) for unit in units]).processors).get("cpu")


def _without_times(lacking: list[str], wanted: str | None) -> OptionError:
    on = "" if wanted is None else f" on '{wanted}'"
    named = ", ".join(f"'{name}'" for name in lacking[:_MOST_NAMED])
    more = f" and {len(lacking) - _MOST_NAMED} more" if len(lacking) > _MOST_NAMED else ""
    return OptionError(
        f"there are no execution times{on} of {named}{more}", expected="--missing-weights zero takes them as 0"
    )


def _of_program(options: ThroughputOptions, stage: Callable[[str], None]) -> Throughput:
    if options.overlap:
        raise OptionError("actors of a program never overlap with themselves", expected="leave out --overlap")
    return throughput_of(load_setting(options.problem, stage), options, stage)


def throughput_of(setting: Setting, options: ThroughputOptions, stage: Callable[[str], None] = unheard) -> Throughput:
    """Return the maximal throughput of the static regions of a program at hand, without mappings.

    Raises:
        OptionError: no actor is static, or too much is asked. DeadlockError: sizes with which a region stands still.
    """
    stage("looking for static regions")
    trace, tables = setting.trace, setting.tables
    found = _regions_of(setting, options)
    given = None if options.buffers is None else given_capacities(options.buffers, trace.topology)
    regions = [_of_region(region, options, trace.topology, given) for region in found.regions]
    if options.out is not None:
        _write(regions[0], range(len(trace.topology.buffers)), trace.topology, options.out)
    return Throughput(
        network=trace.topology.name,
        tick_unit=tables.tick_unit,
        regions=tuple(regions),
        others=tuple(trace.topology.actors[a].name for a in found.others),
        assumed=(*setting.assumed, "each actor on a core of its own, scheduling and transfers at no cost"),
        warnings=setting.warnings,
    )


def _regions_of(setting: Setting, options: ThroughputOptions) -> Regions:
    """Return the static regions of a program, by its times on the CPU. Raises ``OptionError`` where there are none."""
    trace, tables = setting.trace, setting.tables
    base = tables.action_base.tolist()
    ticks = tables.compute[0].tolist()
    times = [[Fraction(n) for n in ticks[base[a] : base[a + 1]]] for a in range(len(trace.topology.actors))]
    found = static_regions(trace, times)
    if not found.regions:
        raise OptionError(
            f"no actor of '{trace.topology.name}' is static: none repeats its firings to the end of the trace",
            expected="a network with constant or periodic rates, or a longer input",
        )
    if options.out is not None and (found.others or len(found.regions) > 1):
        raise OptionError(
            "-o writes the sizes of all FIFOs, and some are in no static region, or in another one",
            expected="leave out -o: `--storage --json` has the sizes of each region",
        )
    return found


def _of_region(
    region: Region, options: ThroughputOptions, topology: Topology, given: tuple[int, ...] | None
) -> RegionThroughput:
    """Return the throughput of a region; ``given``: the sizes of all FIFOs of the program, None: its own."""
    graph = region.graph
    if given is not None:
        graph = _sized(graph, {number: given[b] for number, b in enumerate(region.buffers)})
    flow = TimedDataflow(
        graph=graph,
        firings=region.firings,
        times=tuple(actor.times[0].times for actor in graph.actors),
        release=options.release,
    )
    names = tuple(topology.buffer_name(b) for b in region.buffers)
    return _analysed(flow, options, names, region.iterations, region.averaged)


def _analysed(
    flow: TimedDataflow,
    options: ThroughputOptions,
    names: tuple[str, ...],
    iterations: int | None,
    averaged: tuple[str, ...] = (),
) -> RegionThroughput:
    """Return the throughput of a graph. Raises ``DeadlockError`` where it stands still."""
    graph, timed = flow.graph, flow.timed()
    found = least_period(timed)
    cycle = tuple(_turn(timed, names, step) for step in found.cycle)
    if found.ticks is None:
        raise _deadlock(graph, cycle)
    return RegionThroughput(
        graph=graph,
        actors=_rates(flow, found, timed.ticks_per_unit),
        period=found.ticks / timed.ticks_per_unit,
        cycle=cycle,
        schedules=found.schedules,
        iterations=iterations,
        averaged=averaged,
        channels=names,
        storage=None if options.storage is None else storage_front(flow, options.storage),
    )


def _turn(timed: TimedGraph, names: tuple[str, ...], step: CycleStep) -> Turn:
    actor = timed.actors[step.actor].name
    if step.arc is None:
        return Turn(actor=actor, channel="", room=False)
    arc = timed.arcs[step.arc]
    return Turn(actor=actor, channel=names[arc.channel], room=arc.kind == "room")


def _rates(flow: TimedDataflow, found: LeastPeriod, scale: int) -> tuple[ActorRate, ...]:
    return tuple(
        ActorRate(
            name=actor.name,
            firings=firings,
            work=sum(times, Fraction(0)) * (firings // actor.n_phases),
            own_period=(own or Fraction(0)) / scale,
        )
        for actor, firings, times, own in zip(flow.graph.actors, flow.firings, flow.times, found.of_actor, strict=True)
    )


def _deadlock(graph: DataflowGraph, cycle: tuple[Turn, ...]) -> DeadlockError:
    """Return the error for a cycle that stands still: it has too few tokens, or too little room."""
    rooms = list(dict.fromkeys(turn.channel for turn in cycle if turn.room))
    named = ", ".join(f"'{name}'" for name in rooms[:_MOST_NAMED])
    remedy = "a cycle starts with initial tokens" if not rooms else f"give more room to {named}"
    return DeadlockError(
        f"the graph deadlocks: {cycle_text(cycle)}, each waits for the one before it",
        span=file_span(graph.path, 0),
        expected=remedy,
    )


def cycle_text(cycle: tuple[Turn, ...], most: int = 12) -> str:
    """Return a cycle in words, of a long one the beginning: ``a -x-> b -room in y-> a``."""
    if not cycle:
        return ""
    if all(not turn.channel for turn in cycle):
        return cycle[0].actor
    shown = cycle[:most]
    arrows = "".join(f"{turn.actor} -{'room in ' if turn.room else ''}{turn.channel}-> " for turn in shown)
    return arrows + (cycle[0].actor if len(shown) == len(cycle) else f"... ({len(cycle)} in all)")
