"""The study file (formats.md, *Platform and study*): a search as a YAML file, read into options and written from them.

It stands here and not among the formats since what it holds are the options of a search. Paths are relative to the
file. Further keys than those of formats.md, in its style: ``source_paths``, ``missing_weights``, ``engine``, ``run``,
``batch``, ``no_screening``, ``best``, ``measure``, ``refine``, ``robust``, ``errors``, ``draws``, ``cuda``,
``dialect``, ``limits``, of ``space`` the rest of what ``dse explore`` knows,
and ``weights: {measured: DIR}``: those that an earlier search measured and
keeps in the folder ``DIR`` of its results.
"""

import os
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, fields, replace
from fractions import Fraction
from pathlib import Path
from typing import TypeVar, cast, get_args

from dse.base.cuda_kinds import CUDA_EMULATED, CUDA_KINDS, CUDA_NVCC
from dse.base.diagnostics import Gatherer
from dse.base.errors import OptionError
from dse.base.escaping import encodable
from dse.base.limits import MOST, Limits, limit_names, limits
from dse.base.numbers import MOST_COUNTED, Bounds
from dse.explore.evaluator import Budget
from dse.flows.cuda_request import CudaRequest, request_here
from dse.flows.options import (
    MOST_SECONDS,
    NOMINAL,
    ClockRequest,
    ExploreOptions,
    GraphOptions,
    MissingMode,
    ProblemOptions,
    ScalingFiles,
    parse_clocks,
    parse_policies,
)
from dse.formats.builtin import builtin_names
from dse.formats.decimals import format_decimal
from dse.formats.xcf_write import XcfDialect
from dse.formats.yaml_source import Entries, YamlSource, format_error, parse_yaml, quoted, yaml_document
from dse.model.design_point import Policy, ReleaseMode, TransferMode
from dse.model.weights import UnitKind
from dse.native.natives import is_user_native
from dse.run.options import EXECUTION_MODES, PLAIN_RUN, ExecutionMode, RunOptions
from dse.sizing.methods import SIZING_METHODS

STUDY_FILE = "study.yaml"
"""What the study file is called that a search writes into the folder of its results."""
_KEYS = (
    "network",
    "input",
    "source_paths",
    "run",
    "graph",
    "platform",
    "weights",
    "missing_weights",
    "engine",
    "space",
    "objectives",
    "method",
    "budget",
    "seed",
    "batch",
    "no_screening",
    "best",
    "measure",
    "refine",
    "robust",
    "errors",
    "draws",
    "dialect",
    "cuda",
    "limits",
)
_GRAPH_KEYS = ("name", "iterations", "processors")
_RUN_KEYS = ("loops", "frames", "max_firings", "max_memory_bytes", "execution", "allow_files", "natives")
_SPACE_KEYS = (
    "partitions",
    "policy",
    "policy_per_partition",
    "buffers",
    "clocks",
    "scaling",
    "pin",
    "gpu_capable",
    "release",
    "transfers",
)
_LIMIT = Bounds(least=Fraction(1), most=Fraction(MOST))
_COUNT = Bounds(least=Fraction(1), most=Fraction(MOST_COUNTED))
_SMALL_COUNT = Bounds(least=Fraction(1), most=Fraction(10**9))
_SECONDS = Bounds(least=Fraction(1, 1000), most=Fraction(MOST_SECONDS), unit="s")
_TRUSTED = "read what the study asks for; where you trust it, give --trust"
_T = TypeVar("_T")
_USUAL = ExploreOptions(problem=ProblemOptions(program=""))


# Reading


def read_study_options(path: str, *, trust: bool = False) -> ExploreOptions:
    """Return what a study file asks for; its paths lead from the folder of the file.

    ``trust``: it may bind natives to code and open folders to the network. Where the results go is not in it.

    Raises:
        FormatError: everything that is wrong in the file, or what needs trust.
    """
    gather = Gatherer()
    source = parse_yaml(path, gather)
    options = None if source is None else _Reader(source, trust=trust).options()
    if options is None or gather.errors:
        raise format_error(gather)
    return options


class _Keys:
    """The entries of one mapping of the file, by typed access; what is not there is None."""

    def __init__(self, source: YamlSource, entries: Entries, what: str) -> None:
        self.source = source
        self.entries = entries
        self._what = what

    def inner(self, key: str, known: tuple[str, ...] | None) -> "_Keys":
        """Return the mapping under a key, an empty one where it is not there."""
        if key not in self.entries:
            return _Keys(self.source, {}, key)
        return _Keys(self.source, self.source.mapping(self.entries[key][1], key, known), key)

    def name_of(self, key: str) -> str:
        """Return what messages call a key."""
        return f"{key} of {self._what}" if self._what else key

    def text(self, key: str) -> str | None:
        """Return a text."""
        return self.source.text(self.entries[key][1], self.name_of(key)) if key in self.entries else None

    def texts(self, key: str) -> tuple[str, ...]:
        """Return the texts of a list, or the only one that stands without it."""
        if key not in self.entries:
            return ()
        node, source = self.entries[key][1], self.source
        nodes = [node] if source.is_text(node) else source.items(node, self.name_of(key))
        found = (source.text(item, f"an item of {self.name_of(key)}") for item in nodes)
        return tuple(text for text in found if text is not None)

    def integer(self, key: str, bounds: Bounds = _SMALL_COUNT) -> int | None:
        """Return an integer above 0."""
        return self.source.integer(self.entries[key][1], self.name_of(key), bounds) if key in self.entries else None

    def choice(self, key: str, known: tuple[str, ...]) -> str | None:
        """Return one of several words."""
        return self.source.choice(self.entries[key][1], self.name_of(key), known) if key in self.entries else None

    def boolean(self, key: str) -> bool:
        """Return whether something is true; false where it is not there."""
        return key in self.entries and bool(self.source.boolean(self.entries[key][1], self.name_of(key)))

    def parsed(self, key: str, parse: Callable[[], _T]) -> _T | None:
        """Return what is made of the value of a key; what is wrong with it is an error at its place."""
        try:
            return parse()
        except OptionError as error:
            self.error(key, error.first_error.message, error.first_error.expected)
            return None

    def error(self, key: str, message: str, expected: str) -> None:
        """Record an error at the value of a key."""
        self.source.error(message, self.entries[key][1], expected)


class _Reader:
    """Reads one document; what is wrong goes to the gatherer of the source."""

    def __init__(self, source: YamlSource, *, trust: bool) -> None:
        self._source = source
        self._trust = trust
        self._folder = os.path.realpath(Path(source.path).parent)
        self._keys = _Keys(source, source.mapping(source.root, "a study", _KEYS), "")

    def options(self) -> ExploreOptions | None:
        """Return the options, or None where there are errors."""
        keys = self._keys
        network = keys.text("network")
        if network is None:
            if "network" not in keys.entries:
                expected = "expected 'network: FILE', a network or a trace of one"
                self._source.error("the study has no 'network'", self._source.root, expected)
            return None
        options = self._searched(ExploreOptions(problem=self._problem(network)))
        measured = self._measured()
        return replace(
            self._spaced(options),
            measured_in=measured,
            study_file=Path(self._source.path),
            measure=keys.integer("measure"),
            refine=self._refine(measured),
            robust=keys.text("robust"),
            errors=keys.texts("errors"),
            draws=keys.integer("draws"),
            cuda=self._cuda(),
            limits=self._limits(keys.inner("limits", limit_names())),
        )

    def _cuda(self) -> CudaRequest | None:
        kind = self._keys.choice("cuda", CUDA_KINDS)
        return None if kind is None else request_here(emulated=kind == CUDA_EMULATED)

    def _limits(self, keys: _Keys) -> Limits | None:
        """Return the limits that are named, or those that hold now where they are higher; None where none is named."""
        given = {name.replace("-", "_"): keys.integer(name, _LIMIT) or 1 for name in keys.entries}
        if given and not self._trust:
            self._keys.error("limits", "this study raises limits on what small files may grow to", _TRUSTED)
        now = limits()
        return (
            replace(now, **{name: max(value, getattr(now, name)) for name, value in given.items()}) if given else None
        )

    def _refine(self, measured: Path | None) -> int:
        count = self._keys.integer("refine") or 0
        if count and measured is not None:
            self._keys.error("refine", "weights that are kept are not refined", "leave out 'refine', or the weights")
        return count

    def _problem(self, network: str) -> ProblemOptions:
        keys = self._keys
        given = keys.text("input")
        engine = keys.text("engine")
        space = keys.inner("space", None).entries
        auto = "gpu_capable" not in space or (
            self._source.is_text(space["gpu_capable"][1]) and space["gpu_capable"][1].value == "auto"
        )
        return ProblemOptions(
            program=self._path(network),
            input=None if given is None else self._path(given),
            source_paths=tuple(map(self._path, keys.texts("source_paths"))),
            weights=self._weights(),
            missing_weights=cast(MissingMode, keys.choice("missing_weights", get_args(MissingMode)) or "error"),
            platform=self._platform(keys.text("platform")),
            engine=engine or "compiled",
            run=self._run(keys.inner("run", _RUN_KEYS)),
            graph=self._graph(keys.inner("graph", _GRAPH_KEYS)),
            gpu_capable=None if auto else _Keys(self._source, space, "space").texts("gpu_capable"),
        )

    def _weights(self) -> tuple[str, ...]:
        if self._has_measured():
            return ()
        given = self._keys.texts("weights")
        if NOMINAL in given and len(given) > 1:
            self._keys.error("weights", "nominal weights stand alone", "a folder of this name is ./nominal")
        return tuple(text if text == NOMINAL else self._path(text) for text in given)

    def _has_measured(self) -> bool:
        return "weights" in self._keys.entries and self._source.is_mapping(self._keys.entries["weights"][1])

    def _measured(self) -> Path | None:
        """Return the folder of results whose measured weights are to be taken."""
        if not self._has_measured():
            return None
        if "platform" in self._keys.entries:
            expected = "leave out 'platform': measured weights have their own"
            self._keys.error("platform", "measured weights are of the platform that they were measured on", expected)
        folder = self._keys.inner("weights", ("measured",)).text("measured")
        return None if folder is None else Path(self._path(folder))

    def _platform(self, name: str | None) -> str | None:
        """Return the path of a platform file, or the name of a built-in platform where there is no such file."""
        if name is None or (name in builtin_names("platforms") and not Path(self._path(name)).exists()):
            return name
        return self._path(name)

    def _run(self, keys: _Keys) -> RunOptions:
        for key in ("natives", "allow_files"):
            if key in keys.entries and not self._trust:
                what = "binds natives to code" if key == "natives" else "opens folders to the network"
                keys.error(key, f"this study {what}", _TRUSTED)
        return replace(
            PLAIN_RUN,
            loops=keys.integer("loops") or 1,
            frames=keys.integer("frames"),
            max_firings=keys.integer("max_firings", _COUNT),
            max_memory_bytes=keys.integer("max_memory_bytes", _COUNT),
            execution=cast(ExecutionMode, keys.choice("execution", EXECUTION_MODES) or "auto"),
            allow_files=tuple(map(self._path, keys.texts("allow_files"))),
            natives=tuple(self._natives(keys.inner("natives", None))),
        )

    def _graph(self, keys: _Keys) -> GraphOptions:
        types = keys.inner("processors", get_args(UnitKind))
        named = ((cast(UnitKind, kind), types.text(kind)) for kind in types.entries)
        processors = tuple((kind, name) for kind, name in named if name is not None)
        return GraphOptions(graph=keys.text("name"), iterations=keys.integer("iterations"), processors=processors)

    def _natives(self, keys: _Keys) -> Iterator[tuple[str, str]]:
        for key in keys.entries:
            target = keys.text(key)
            if target is None:
                continue
            if "." not in key or ":" not in target:
                expected = "expected UNIT.FUNCTION: FILE.cpp:SYMBOL, or MODULE:CALLABLE"
                keys.error(key, f"'{key}: {target}' binds no native", expected)
            yield key, _native_target(key, target, self._path)

    def _searched(self, options: ExploreOptions) -> ExploreOptions:
        """Return options with what is said of the search itself."""
        keys = self._keys
        seed = None
        if "seed" in keys.entries:
            seed = self._source.integer(keys.entries["seed"][1], "seed", _COUNT, positive=False)
        return replace(
            options,
            objectives=keys.texts("objectives") or options.objectives,
            method=keys.text("method") or options.method,
            budget=self._budget(keys.inner("budget", ("evaluations", "seconds"))),
            seed=options.seed if seed is None else seed,
            batch=keys.integer("batch") or options.batch,
            screening=not keys.boolean("no_screening"),
            best=keys.integer("best") or options.best,
            dialect=cast(XcfDialect, keys.choice("dialect", get_args(XcfDialect)) or options.dialect),
        )

    def _budget(self, keys: _Keys) -> Budget | None:
        evaluations, seconds = keys.integer("evaluations", _COUNT), None
        if "seconds" in keys.entries:
            seconds = self._source.number(keys.entries["seconds"][1], keys.name_of("seconds"), bounds=_SECONDS)
        if evaluations is None and seconds is None:
            return None
        return Budget(evaluations=evaluations, seconds=None if seconds is None else float(seconds))

    def _spaced(self, options: ExploreOptions) -> ExploreOptions:
        """Return options with the space that is searched."""
        keys = self._keys.inner("space", _SPACE_KEYS)
        pins = keys.inner("pin", None)
        units = ((actor, pins.text(actor)) for actor in pins.entries)
        policies: tuple[Policy, ...] | None = None
        if "policy" in keys.entries:
            policies = keys.parsed("policy", lambda: parse_policies(",".join(keys.texts("policy"))))
        return replace(
            options,
            partitions=self._partitions(keys),
            policies=policies or options.policies,
            policy_per_partition=keys.boolean("policy_per_partition"),
            buffers=tuple(map(self._buffers, keys.texts("buffers"))),
            clocks=tuple(self._clocks(keys.inner("clocks", None))),
            scaling=self._scaling(keys),
            pins=tuple((actor, unit) for actor, unit in units if unit is not None),
            release=cast(ReleaseMode, keys.choice("release", get_args(ReleaseMode)) or options.release),
            transfers=cast(TransferMode, keys.choice("transfers", get_args(TransferMode)) or options.transfers),
        )

    def _partitions(self, keys: _Keys) -> tuple[int, int] | None:
        """Return the range of ``4`` (one to four) or ``[2, 4]``."""
        if "partitions" not in keys.entries:
            return None
        node = keys.entries["partitions"][1]
        if self._source.is_text(node):
            most = keys.integer("partitions")
            return None if most is None else (1, most)
        found = [
            self._source.integer(n, "a number of partitions", _SMALL_COUNT)
            for n in self._source.items(node, "partitions")
        ]
        ends = [number for number in found if number is not None]
        if len(ends) == 2 and 1 <= ends[0] <= ends[1]:
            return ends[0], ends[1]
        if None not in found:
            keys.error("partitions", "partitions is no range", "expected a number, or two such as [1, 4]")
        return None

    def _scaling(self, keys: _Keys) -> ScalingFiles | None:
        if "scaling" not in keys.entries:
            return None
        files = keys.inner("scaling", ("model", "counters"))
        model, counters = files.text("model"), files.text("counters")
        if model is None or counters is None:
            keys.error("scaling", "scaling needs a model and counters", "expected {model: FILE, counters: FILE}")
            return None
        return ScalingFiles(model=self._path(model), counters=self._path(counters))

    def _clocks(self, keys: _Keys) -> Iterator[ClockRequest]:
        for names in keys.entries:
            values = ",".join(keys.texts(names))
            request = keys.parsed(names, lambda n=names, v=values: parse_clocks(f"{n}={v}"))  # type: ignore[misc]
            if request is not None:
                yield request

    def _buffers(self, text: str) -> str:
        return text if _is_no_path(text) else self._path(text)

    def _path(self, text: str) -> str:
        """Return a path of the file as somebody would type it in the working folder."""
        found = os.path.normpath(os.path.join(self._folder, text))  # noqa: PTH118  # pathlib keeps the `..`
        near = os.path.relpath(found)
        return found if Path(text).is_absolute() or near.startswith("..") else near


def _is_no_path(text: str) -> bool:
    """Return whether what is said of buffers is a number or a method of sizing."""
    return text in SIZING_METHODS or text.removeprefix("-").isdecimal()


def _native_target(key: str, target: str, path: Callable[[str], str]) -> str:
    """Return what a native is bound to, its file of C++ changed by ``path``."""
    if not is_user_native(f"{key}={target}"):
        return target
    file, _, symbol = target.rpartition(":")
    return f"{path(file)}:{symbol}"


# Writing


@dataclass(frozen=True, slots=True, kw_only=True)
class StudyNotes:
    """What of a search is not in its options.

    ``measured``: its weights were measured, and are kept in the folder of the results; ``counted``: they were counted
    from the program. ``ended_after``: so many evaluations had been made when its time was over, None: it was not.
    """

    measured: bool = False
    counted: bool = False
    ended_after: int | None = None


def study_text(options: ExploreOptions, folder: Path, notes: StudyNotes) -> str:
    """Return a search as a study file that is to lie in ``folder``; running it gives the same ranking."""
    return yaml_document(_Writer(options, folder, notes).lines())


def is_study_file(path: Path, used: Path | None) -> bool:
    """Return whether a path leads to the study file that is ``used``."""
    return used is not None and path.exists() and used.exists() and path.samefile(used)


class _Writer:
    """Writes one document. What is as it is without being said is left out, apart from what readers look for."""

    def __init__(self, options: ExploreOptions, folder: Path, notes: StudyNotes) -> None:
        self._options = options
        self._folder = os.path.realpath(folder)
        self._notes = notes

    def lines(self) -> Iterator[str]:
        """Yield the lines."""
        options, problem = self._options, self._options.problem
        yield "# A search of `dse explore`; `dse study run` on this file makes it again. Paths lead from this file."
        yield f"network: {self._path(problem.program)}"
        if problem.input is not None:
            yield f"input: {self._path(problem.input)}"
        if problem.source_paths:
            yield f"source_paths: {_items(map(self._path, problem.source_paths))}"
        yield from self._run(problem.run)
        yield from _section("graph", self._graph(problem.graph))
        yield from self._costs(problem)
        yield from _section("space", self._space())
        yield f"objectives: {_items(map(quoted, options.objectives))}"
        yield f"method: {quoted(options.method)}"
        yield from self._budget(options.budget)
        yield f"seed: {options.seed}"
        for key, value, usual in (("batch", options.batch, _USUAL.batch), ("best", options.best, _USUAL.best)):
            if value != usual:
                yield f"{key}: {value}"
        if not options.screening:
            yield "no_screening: true"
        yield from self._measured_here()
        yield from self._robust()
        if options.dialect != _USUAL.dialect:
            yield f"dialect: {options.dialect}"
        yield from _section("limits", _raised(options.limits or limits()))

    def _measured_here(self) -> Iterator[str]:
        options = self._options
        if options.measure is not None:
            yield f"measure: {options.measure}"
        if options.cuda is not None:
            yield f"cuda: {CUDA_EMULATED if options.cuda.emulated else CUDA_NVCC}"

    def _robust(self) -> Iterator[str]:
        options = self._options
        if options.robust is not None:
            yield f"robust: {quoted(options.robust)}"
        if options.errors:
            yield f"errors: {_items(map(quoted, options.errors))}"
        if options.draws is not None:
            yield f"draws: {options.draws}"

    def _run(self, run: RunOptions) -> Iterator[str]:
        def lines() -> Iterator[str]:
            for key in ("loops", "frames", "max_firings", "max_memory_bytes", "execution"):
                if getattr(run, key) != getattr(PLAIN_RUN, key):
                    yield f"{key}: {getattr(run, key)}"
            if run.allow_files:
                yield f"allow_files: {_items(map(self._path, run.allow_files))}"
            if run.natives:
                targets = ((key, _native_target(key, target, self._relative)) for key, target in run.natives)
                yield f"natives: {_pairs((key, quoted(target)) for key, target in targets)}"

        return _section("run", lines())

    def _graph(self, graph: GraphOptions) -> Iterator[str]:
        if graph.graph is not None:
            yield f"name: {quoted(graph.graph)}"
        if graph.iterations is not None:
            yield f"iterations: {graph.iterations}"
        if graph.processors:
            yield f"processors: {_pairs((kind, quoted(name)) for kind, name in graph.processors)}"

    def _costs(self, problem: ProblemOptions) -> Iterator[str]:
        """Yield platform, weights and engine."""
        if problem.platform is not None:
            given = Path(problem.platform).exists()
            yield f"platform: {self._path(problem.platform) if given else quoted(problem.platform)}"
        yield from self._weights(problem.weights)
        if problem.missing_weights != "error":
            yield f"missing_weights: {problem.missing_weights}"
        if problem.engine != _USUAL.problem.engine:
            yield f"engine: {quoted(problem.engine)}"

    def _weights(self, given: tuple[str, ...]) -> Iterator[str]:
        if self._notes.measured:
            yield "weights: {measured: .}"
        elif given not in ((), (NOMINAL,)):
            paths = [self._path(text) for text in given]
            yield f"weights: {paths[0] if len(paths) == 1 else _items(paths)}"
        elif given or self._notes.counted:
            yield f"weights: {NOMINAL}"

    def _space(self) -> Iterator[str]:  # ways: one for each key that may be left out
        options = self._options
        if options.partitions is not None:
            yield f"partitions: [{options.partitions[0]}, {options.partitions[1]}]"
        yield f"policy: {_items(options.policies)}"
        if options.policy_per_partition:
            yield "policy_per_partition: true"
        if options.buffers:
            yield f"buffers: {_items(text if _is_no_path(text) else self._path(text) for text in options.buffers)}"
        if options.clocks:
            clocks = (("+".join(c.names), _items(map(format_decimal, c.clocks_mhz))) for c in options.clocks)
            yield f"clocks: {_pairs(clocks)}"
        if options.scaling is not None:
            files = (("model", options.scaling.model), ("counters", options.scaling.counters))
            yield f"scaling: {_pairs((key, self._path(path)) for key, path in files)}"
        if options.pins:
            yield f"pin: {_pairs((actor, quoted(unit)) for actor, unit in options.pins)}"
        if options.problem.gpu_capable is not None:
            yield f"gpu_capable: {_items(map(quoted, options.problem.gpu_capable))}"
        yield f"release: {options.release}"
        yield f"transfers: {options.transfers}"

    def _budget(self, budget: Budget | None) -> Iterator[str]:
        if budget is None:
            return
        parts = [] if budget.evaluations is None else [("evaluations", str(budget.evaluations))]
        if budget.seconds is not None:
            parts.append(("seconds", format_decimal(Fraction(budget.seconds).limit_denominator(10**6))))
        if self._notes.ended_after is not None:
            yield f"# Its time was over after {self._notes.ended_after} evaluations; it is not always after so many."
            yield f"# 'budget: {{evaluations: {self._notes.ended_after}}}' gives these again."
        yield f"budget: {_pairs(parts)}"

    def _path(self, path: str) -> str:
        return quoted(encodable(self._relative(path)))

    def _relative(self, path: str) -> str:
        """Return a path as it leads from the folder; a name that would mean something else gets ``./`` before it."""
        found = os.path.relpath(Path(path).absolute(), self._folder)
        taken = found == NOMINAL or _is_no_path(found) or found in builtin_names("platforms")
        return f"./{found}" if taken else found


def _raised(now: Limits) -> Iterator[str]:
    """Yield the limits that are not the usual ones."""
    for field, name in zip(fields(Limits), limit_names(), strict=True):
        if getattr(now, field.name) != field.default:
            yield f"{name}: {getattr(now, field.name)}"


def _section(name: str, lines: Iterator[str]) -> Iterator[str]:
    """Yield the lines of a mapping below its key, nothing where there are none."""
    found = list(lines)
    if found:
        yield f"{name}:"
        yield from (f"  {line}" for line in found)


def _items(texts: Iterator[str] | Sequence[str]) -> str:
    return f"[{', '.join(texts)}]"


def _pairs(pairs: Iterator[tuple[str, str]] | Sequence[tuple[str, str]]) -> str:
    return f"{{{', '.join(f'{quoted(key)}: {value}' for key, value in pairs)}}}"
