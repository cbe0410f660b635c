"""A program with its input, weights and platform: what mappings of it are estimated and searched with."""

import tempfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import TypeAlias

from dse.api.estimated import EstimatedMapping, EstimatedMappings
from dse.api.exploration import Exploration
from dse.api.given import (
    AnyPath,
    GivenBuffers,
    GivenClocks,
    GivenMapping,
    budget_of,
    clocks_of,
    partitions_of,
    path_text,
    policies_of,
    sizes_texts,
)
from dse.api.markup import block, line, note
from dse.api.progress import ProgressChoice, told
from dse.api.reading import MappingReader, as_paths
from dse.base.cores import usable_cores
from dse.base.errors import OptionError
from dse.base.escaping import shown
from dse.estimate.engine import Engine, make_engine
from dse.explore.evaluator import Budget
from dse.flows.clocks import clocked_setting, clocks_of_points
from dse.flows.estimate import mapping_estimate
from dse.flows.explore import explore
from dse.flows.options import ExploreOptions, ProblemOptions, parse_objectives
from dse.flows.setting import Setting
from dse.model.design_point import DesignPoint, ReleaseMode, TransferMode
from dse.model.platform import Platform
from dse.model.trace import Trace
from dse.model.weights import WeightTable
from dse.program.network import Network

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

    def __init__(self, setting: Setting, options: ProblemOptions) -> None:
        self.setting = setting
        """All that is fixed before mappings are looked at, as the flows have it."""
        self.options = options
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

    def point(
        self,
        mapping: GivenMapping | None = None,
        *,
        buffers: GivenBuffers | None = None,
        clocks: GivenClocks | None = None,
        release: ReleaseMode | None = None,
        transfers: TransferMode | None = None,
    ) -> DesignPoint:
        """Return the design point of a mapping, as ``estimate`` takes it."""
        changes = self._reader.changes(buffers, clocks, release, transfers)
        return changes.applied(self._reader.read(mapping, sized=changes.tokens is not None).point)

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
        mappings: Iterable[GivenMapping | None] | AnyPath,
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
        read = self._reader.read_all(as_paths(mappings), sized=changes.tokens is not None)
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
        measure: int | None = None,
        progress: ProgressChoice = None,
    ) -> Exploration:
        """Search for the best mappings and return their ranking. An interrupt ends the search and keeps what it found.

        ``budget``: a number of evaluations, a time (``"30s"``), or both (``"2000,30s"``); None: by the size of the
        problem. ``partitions``: at most so many, or (from, to); None: up to all cores. ``pins``: actors that stay on a
        unit. ``buffers``: tokens of all FIFOs, a ``.bxdf`` file, ``"minimal"`` and the like, or several of them to
        choose from. ``clocks``: MHz by unit to choose from. ``workers``: threads, None: all cores; no result depends
        on it. ``out``: a folder for mapping files, report and study, which ``resume`` continues; None: nothing is kept.
        ``best``: how many mapping files. ``measure``: so many of the best are run on this machine. ``progress``: see
        ``dse.api.progress``.

        Raises:
            DeadlockError: every mapping that was evaluated deadlocks. InfeasibleDesign: there is no mapping.
            OptionError: an option is wrong, or the budget ended before a mapping was evaluated.
        """
        with self._folder(out, resume=resume) as folder, told(progress, self.setting.tables.tick_unit) as telling:
            options = ExploreOptions(
                problem=self.options,
                partitions=partitions_of(partitions),
                pins=tuple((pins or {}).items()),
                policies=policies_of(policies),
                policy_per_partition=policy_per_partition,
                buffers=sizes_texts(buffers),
                clocks=clocks_of(clocks),
                release=release,
                transfers=transfers,
                method=method,
                objectives=parse_objectives(objectives) if isinstance(objectives, str) else tuple(objectives),
                budget=budget_of(budget),
                seed=seed,
                workers=len(usable_cores()) if workers is None else workers,
                best=best,
                out=folder,
                resume=resume,
                measure=measure,
            )
            found = explore(options, telling.watcher, self.setting)
        return Exploration(
            found=found,
            estimated=lambda point, name: self._estimated(point, name, found.study.assumed),
            usual=self._reader.usual_tokens,
            folder=None if out is None else folder,
        )

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
            timed=lambda one: clocked.engine.estimate(one, firing_times=True),
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
            engine = make_engine(self.options.engine, setting.problem) if same is None else same.engine
            self._clocked[key] = _Clocked(setting, engine)
        return self._clocked[key]

    def __repr__(self) -> str:
        topology = self.trace.topology
        size = f"{len(topology.actors)} actors, {len(topology.buffers)} FIFOs, {self.trace.n_firings:,} firings"
        return shown(f"<Program {self.name}: {size}, on {self.platform.name}>")

    def _repr_html_(self) -> str:
        return block(line(repr(self)[1:-1]), note(self.assumed))
