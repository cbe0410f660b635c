"""A program with its input, weights and platform: what mappings of it are estimated and searched with."""

import tempfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import partial
from pathlib import Path
from typing import TypeAlias, get_args

from dse.api.estimated import EstimatedMapping, EstimatedMappings
from dse.api.exploration import Exploration
from dse.api.given import (
    MOST_SEED,
    AnyPath,
    GivenBuffers,
    GivenClocks,
    GivenMapping,
    budget_of,
    clocks_of,
    names_of,
    one_of,
    pairs_of,
    partitions_of,
    path_text,
    policies_of,
    sizes_texts,
    texts_of,
    whole_number,
)
from dse.api.markup import block, line, note
from dse.api.measured import MeasuredMapping, MeasuredMappings
from dse.api.progress import ProgressChoice, told
from dse.api.reading import MappingReader, each_of
from dse.api.sized import SizedFifos
from dse.base.cores import usable_cores
from dse.base.errors import OptionError
from dse.base.escaping import shown
from dse.estimate.engine import Engine, make_engine
from dse.estimate.problem.tables import ProblemTables
from dse.explore.evaluator import Budget
from dse.flows.buffers import parse_sizing_method, parse_tolerance, spread_point
from dse.flows.clocks import clocked_setting, clocks_of_points
from dse.flows.estimate import mapping_estimate
from dse.flows.kept_weights import kept_weights
from dse.flows.measure_points import MeasureSettings, measure_points
from dse.flows.measured import run_of
from dse.flows.options import ExploreOptions, parse_objectives
from dse.flows.refine import refine as run_refined
from dse.flows.setting import Setting
from dse.flows.throughput import Throughput, ThroughputOptions, find_throughput, throughput_of
from dse.flows.trace import is_graph_file
from dse.formats.xcf_write import XcfDialect
from dse.model.design_point import DesignPoint, ReleaseMode, TransferMode
from dse.model.estimate import Estimate
from dse.model.platform import Platform
from dse.model.trace import Trace
from dse.model.weights import WeightTable
from dse.program.network import Network
from dse.sizing.buffers import DEFAULT_TOLERANCE, size_buffers
from dse.sizing.methods import SizingMethod

_Clocks: TypeAlias = tuple[tuple[str, Fraction], ...]
"""(unit, MHz) of clocks that a mapping chooses."""


@dataclass(frozen=True, slots=True)
class _Clocked:
    """A setting with the clocks that some mapping chooses, and its engine."""

    setting: Setting
    engine: Engine


class Program:
    """A program that was run once, with the weights and the platform that its mappings are estimated with.

    ``dse.load`` makes one. Nothing of it changes; estimates of one program do not influence each other.
    """

    def __init__(self, setting: Setting, search: ExploreOptions) -> None:
        self.setting = setting
        """All that is fixed before mappings are looked at, as the flows have it."""
        self.options = search.problem
        """What was asked for."""
        self._search = search
        self._reader = MappingReader(setting)
        self._clocked: dict[tuple[_Clocks, frozenset[str]], _Clocked] = {}

    @property
    def name(self) -> str:
        """The name of the network."""
        return self.trace.topology.name

    @property
    def network(self) -> Network | None:
        """The network with its actors; None where a trace was loaded."""
        return self.setting.network

    @property
    def trace(self) -> Trace:
        """The firings of every actor on the input."""
        return self.setting.trace

    @property
    def platform(self) -> Platform:
        """Units and links that actors are mapped to."""
        return self.setting.platform

    @property
    def weights(self) -> WeightTable:
        """What actions, scheduling and transfers cost."""
        return self.setting.problem.weights

    @property
    def assumed(self) -> tuple[str, ...]:
        """What was assumed so far, in words: weights that were counted, a default platform, and so on."""
        return self.setting.assumed

    @property
    def actors(self) -> tuple[str, ...]:
        """The names of the actors in their declared order."""
        return tuple(actor.name for actor in self.trace.topology.actors)

    @property
    def fifos(self) -> tuple[str, ...]:
        """The names of the FIFOs in their declared order: ``source.port->target.port``."""
        topology = self.trace.topology
        return tuple(topology.buffer_name(b) for b in range(len(topology.buffers)))

    def estimate(
        self,
        mapping: GivenMapping | None = None,
        *,
        buffers: GivenBuffers | None = None,
        clocks: GivenClocks | None = None,
        release: ReleaseMode | None = None,
        transfers: TransferMode | None = None,
        name: str | None = None,
    ) -> EstimatedMapping:
        """Return the estimate of a mapping: its makespan, and where the time of every partition, actor and FIFO went.

        ``mapping``: a text (``"P0:a,b P1:c"``), the path of a mapping file, ``{"P0": ["a", "b"], "P1": ["c"]}``, a
        design point, a result; None: all actors on one core. ``buffers``: sizes of FIFOs in tokens, of all, of a
        ``.bxdf`` file or by name, in place of those of the mapping. ``clocks``: MHz by unit. ``release``,
        ``transfers``: the modes of the estimation, None: as the mapping says, else the default. ``name``: for tables.

        A deadlock is no error here: ``EstimatedMapping.deadlock`` tells who waits for what.

        Raises:
            FormatError: the mapping does not fit the network or the platform, or weights are missing (all are named).
            InfeasibleDesign: it can never run, whatever its timing. OptionError: an option is wrong.
        """
        changes = self._reader.changes(buffers, clocks, release, transfers)
        read = self._reader.read(mapping, sized=changes.tokens is not None)
        return self._estimated(changes.applied(read.point), name or read.name, read.assumed)

    def compare(
        self,
        mappings: GivenMapping | Iterable[GivenMapping | None],
        *,
        buffers: GivenBuffers | None = None,
        clocks: GivenClocks | None = None,
        release: ReleaseMode | None = None,
        transfers: TransferMode | None = None,
        progress: ProgressChoice = None,
    ) -> EstimatedMappings:
        """Return the estimates of several mappings in their order: of an iterable, or a CSV file with many.

        Options and errors are those of ``estimate``, for each mapping alike.
        """
        changes = self._reader.changes(buffers, clocks, release, transfers)
        read = self._reader.read_all(each_of(mappings), sized=changes.tokens is not None)
        found = []
        with told(progress, self.setting.tables.tick_unit) as telling:
            for number, one in enumerate(read, start=1):
                telling.stage(f"estimating mapping {number:,} of {len(read):,}")
                found.append(self._estimated(changes.applied(one.point), one.name, one.assumed))
        return EstimatedMappings(found)

    def explore(
        self,
        *,
        budget: int | str | Budget | None = None,
        method: str = "auto",
        objectives: str | Sequence[str] = ("makespan",),
        partitions: int | str | tuple[int, int] | None = None,
        pins: Mapping[str, str] | None = None,
        policies: str | Sequence[str] = ("NON_PREEMPTIVE",),
        policy_per_partition: bool = False,
        buffers: int | AnyPath | Sequence[int | AnyPath] | None = None,
        clocks: GivenClocks | None = None,
        release: ReleaseMode = "reading",
        transfers: TransferMode = "sequential",
        seed: int = 1,
        workers: int | None = None,
        out: AnyPath | None = None,
        best: int = 5,
        resume: bool = False,
        dialect: XcfDialect = "exelixi",
        measure: int | None = None,
        refine: int = 0,
        robust: str | float | None = None,
        errors: str | Sequence[str] = (),
        draws: int | None = None,
        progress: ProgressChoice = None,
    ) -> Exploration:
        """Search for the best mappings and return their ranking. An interrupt ends the search and keeps what it found.

        ``budget``: a number of evaluations, a time (``"30s"``), or both (``"2000,30s"``); None: by the size of the
        problem. ``partitions``: at most so many, or (from, to); None: up to all cores. ``pins``: actors that stay on a
        unit. ``buffers``: tokens of all FIFOs, a ``.bxdf`` file, ``"minimal"`` and the like, or several of them to
        choose from. ``clocks``: MHz by unit to choose from. ``workers``: threads, None: all cores; no result depends
        on it. ``out``: a folder for mapping files, report and study, which ``resume`` continues; None: nothing is kept.
        ``best``: how many mapping files; ``dialect``: of them. ``measure``: so many of the best are run here.
        ``refine``: so often at most the best mapping is measured in place, and the search repeated with what that
        tells; it needs ``weights="measured"``. ``robust``: rank the best under drawn weights, by their mean
        (``"mean"``) or a quantile (``0.95``); ``errors`` state what relative errors weights have (``"30%"``,
        ``"predicted=30%+10%"``), ``draws`` how many are made (docs/what-if.md). ``progress``: see ``dse.api.progress``.

        Raises:
            DeadlockError: every mapping that was evaluated deadlocks. InfeasibleDesign: there is no mapping.
            OptionError: an option is wrong, or the budget ended before a mapping was evaluated.
        """
        self._check_refine(refine)
        with self._folder(out, resume=resume) as folder, told(progress, self.setting.tables.tick_unit) as telling:
            options = replace(
                self._search,
                partitions=partitions_of(partitions),
                pins=pairs_of(pins, "pins"),
                policies=policies_of(policies),
                policy_per_partition=policy_per_partition,
                buffers=sizes_texts(buffers),
                clocks=clocks_of(clocks),
                release=one_of("release", release, get_args(ReleaseMode)),
                transfers=one_of("transfers", transfers, get_args(TransferMode)),
                method=names_of(method, "method"),
                objectives=parse_objectives(names_of(objectives, "objective")),
                budget=budget_of(budget),
                seed=whole_number("seed", seed, most=MOST_SEED),
                workers=len(usable_cores()) if workers is None else whole_number("workers", workers, 1),
                best=whole_number("best", best),
                out=folder,
                resume=resume,
                dialect=one_of("dialect", dialect, get_args(XcfDialect)),
                measure=None if measure is None else whole_number("measure", measure),
                refine=whole_number("refine", refine),
                robust=None if robust is None else str(robust),
                errors=texts_of(errors, "error"),
                draws=None if draws is None else whole_number("draws", draws, 1),
                measured_in=self._kept_in(),
            )
            refined = run_refined(options, telling.watcher, self.setting)
        found = refined.explored
        program = Program(found.setting, self._search) if refined.rounds else self  # with the weights that were refined
        return Exploration(
            found=found,
            estimated=lambda point, name: program._estimated(point, name, found.study.assumed),
            usual=self._reader.usual_tokens,
            folder=None if out is None else folder,
            rounds=refined.rounds,
            ended=refined.ended,
        )

    def _check_refine(self, refine: int) -> None:
        """Raise ``OptionError`` where there is nothing to refine."""
        if refine and self._kept_in() is None:
            raise OptionError("only measured weights can be refined", expected='dse.load(..., weights="measured")')

    def _kept_in(self) -> Path | None:
        """Return the folder where the measured weights of this program are kept; None where none are."""
        folder = self._search.measured_in
        return None if folder is None or kept_weights(folder) is None else folder

    def size_buffers(
        self,
        mapping: GivenMapping | None = None,
        *,
        method: SizingMethod = "critical",
        tolerance: float | Fraction = DEFAULT_TOLERANCE,
        progress: ProgressChoice = None,
    ) -> SizedFifos:
        """Return sizes for the FIFOs of a mapping, with the memory they take and the makespan they give.

        ``mapping``: as for ``estimate``; None: each actor on a core of its own. ``method``: ``"minimal"``,
        ``"maximal"``, or as little as costs no time beyond ``tolerance`` (a share of the makespan): ``"critical"``,
        ``"heavy"``, ``"top-down"``; or the least memory that keeps the steady state of a static program as quick as any
        sizes make it: ``"throughput"``.

        Raises:
            DeadlockError: no sizes help. Else as ``estimate``.
        """
        wanted, share = parse_sizing_method(method), parse_tolerance(str(tolerance))
        read = None if mapping is None else self._reader.read(mapping, sized=False)
        point = spread_point(self.setting) if read is None else read.point
        clocked = self._with_clocks(point)
        with told(progress, self.setting.tables.tick_unit) as telling:
            telling.stage("sizing the FIFOs")
            tables, with_own = clocked.setting.tables, read is not None
            sizing = size_buffers(tables, clocked.engine, point, wanted, share, with_own=with_own)
        name = "each actor on a core of its own" if read is None else read.name
        return SizedFifos(
            sizing=sizing,
            topology=self.trace.topology,
            estimate=lambda sizes: self._estimated(replace(point, capacities=sizes), name, ()),
        )

    def throughput(
        self,
        *,
        buffers: int | AnyPath | None = None,
        storage: int | None = None,
        release: ReleaseMode = "processing",
        progress: ProgressChoice = None,
    ) -> Throughput:
        """Return the most that the static regions of the program can do on any cores, exactly, and what limits them.

        ``buffers``: sizes of FIFOs, of all or of a ``.bxdf`` file, in place of those of the network. ``storage``: so
        many sizes are tried, at most, for the front of memory and throughput. ``regions[0].period`` has the least time
        of an iteration in ticks, a fraction (docs/throughput.md). A graph of another tool is analysed with its own
        times; estimates have them in whole ticks.

        Raises:
            OptionError: no actor is static, or an argument is wrong. FormatError: the file is.
            DeadlockError: sizes with which a region stands still.
        """
        if storage is not None:
            whole_number("storage", storage, 1)
        wanted = buffers if buffers is None or isinstance(buffers, int) else path_text(buffers, "buffer sizes")
        options = ThroughputOptions(
            problem=self.options,
            release=one_of("release", release, get_args(ReleaseMode)),
            storage=storage,
            buffers=None if wanted is None else str(wanted),
        )
        with told(progress) as telling:
            if is_graph_file(self.options.program) and not self.options.weights:
                graph = replace(self.options.graph, iterations=None)  # a steady state has no number of them
                problem = replace(self.options, graph=graph)
                return find_throughput(replace(options, problem=problem), telling.stage)
            return throughput_of(self.setting, options, telling.stage)

    def measure(
        self,
        mappings: GivenMapping | Iterable[GivenMapping | None] | None = None,
        *,
        runs: int = 7,
        seconds: float | None = None,
        seed: int = 1,
        progress: ProgressChoice = None,
    ) -> MeasuredMappings:
        """Run mappings on this machine as native programs, and return their times beside the estimates.

        ``mappings``: as for ``compare``; None: all actors on one core. Each runs ``runs`` times, in random order by
        ``seed``; no further round begins after ``seconds``. The sizes of the FIFOs are those of the mappings.

        Raises:
            OptionError: a trace was loaded, which cannot be run. BuildError: there is no compiler, or it fails.
            NoNativeForm: an actor has no C++ form. ExecutionError: the program fails on one core.
        """
        network = self.network
        if network is None:
            raise OptionError("a trace cannot be run", expected="load its network")
        if seconds is not None and not (isinstance(seconds, (int, float)) and 0 <= seconds < float("inf")):
            raise OptionError(f"seconds is {seconds!r}", expected="0 or more")
        found = self.compare([None] if mappings is None else mappings, progress=progress)
        settings = MeasureSettings(
            rounds=whole_number("runs", runs, 1), seconds=seconds, seed=whole_number("seed", seed)
        )
        run = run_of(self.trace, self.setting.input, self.options)
        with told(progress) as telling:
            points = [one.point for one in found]
            times = measure_points(network, self.platform, points, run, settings, telling.stage)
        pairs = zip(found, times, strict=True)
        return MeasuredMappings([MeasuredMapping(estimated=one, measured=of) for one, of in pairs])

    @contextmanager
    def _folder(self, out: AnyPath | None, *, resume: bool) -> Iterator[Path]:
        """Yield the folder of a search; one that is not kept is gone behind it."""
        if out is not None:
            yield Path(path_text(out, "folder of results"))
            return
        if resume:
            raise OptionError(
                "nothing was kept that could be resumed", expected="name the folder of the study: out=..."
            )
        with tempfile.TemporaryDirectory(prefix="dse-study-") as folder:
            yield Path(folder)

    def _estimated(self, point: DesignPoint, name: str, assumed: tuple[str, ...]) -> EstimatedMapping:
        """Return the estimate of a point; errors as ``estimate``."""
        clocked = self._with_clocks(point)
        estimate = clocked.engine.estimate(point)
        return EstimatedMapping(
            name=name,
            found=mapping_estimate(name, point, estimate, clocked.setting),
            setting=clocked.setting,
            timed=partial(_timed, self.options.engine, clocked.setting.tables),
            usual=self._reader.usual_tokens,
            assumed=tuple(dict.fromkeys((*clocked.setting.assumed, *assumed))),
        )

    def _with_clocks(self, point: DesignPoint) -> _Clocked:
        """Return setting and engine for the clocks of a point, made once for all points that choose the same ones."""
        clocks = clocks_of_points((point,), self.platform)
        used = frozenset(partition.unit for partition in point.partitions)
        key = (clocks, used)
        if key not in self._clocked:
            setting = clocked_setting(self.setting, clocks, used=used)
            same = next((c for (of, _), c in self._clocked.items() if of == clocks), None)
            engine = make_engine(self.options.engine, setting.tables) if same is None else same.engine
            self._clocked[key] = _Clocked(setting, engine)
        return self._clocked[key]

    def __repr__(self) -> str:
        topology = self.trace.topology
        size = f"{len(topology.actors)} actors, {len(topology.buffers)} FIFOs, {self.trace.n_firings:,} firings"
        return shown(f"<Program {self.name}: {size}, on {self.platform.name}>")

    def _repr_html_(self) -> str:
        return block(line(repr(self)[1:-1]), note(self.assumed))


def _timed(engine: str, tables: ProblemTables, point: DesignPoint) -> Estimate:
    """Return the estimate of a point with the time of every firing; a function, so that results can be pickled."""
    return make_engine(engine, tables).estimate(point, firing_times=True)
