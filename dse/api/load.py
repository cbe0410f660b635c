"""``dse.load``: from files to a program whose mappings can be estimated."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from dse.api.given import AnyPath, one_of, optional_path, pairs_of, path_text, paths_of, whole_number
from dse.api.program import Program
from dse.api.progress import ProgressChoice, told
from dse.api.warned import warn
from dse.base.errors import OptionError
from dse.estimate.engine import ENGINES
from dse.flows.measured import measuring, output_folder
from dse.flows.options import (
    NOMINAL,
    ExploreOptions,
    GraphOptions,
    MissingMode,
    ProblemOptions,
    parse_memory,
    parse_processor,
)
from dse.flows.program import GivenProgram
from dse.flows.setting import NOTHING, AtHand, Measuring, load_setting
from dse.model.platform import Platform
from dse.model.trace import Trace
from dse.model.weights import UnitKind, WeightTable
from dse.run.options import EXECUTION_MODES, FIFO_TOKENS, ExecutionMode, RunOptions

MEASURED = "measured"
"""As weights: they are measured on this machine."""
_MISSING: tuple[MissingMode, ...] = ("error", "zero", "nominal")


def load(
    program: AnyPath | Trace,
    *,
    input: AnyPath | None = None,  # noqa: A002  # what it is called everywhere else
    weights: AnyPath | Sequence[AnyPath] | WeightTable | None = None,
    platform: AnyPath | Platform | None = None,
    missing_weights: MissingMode = "error",
    source_paths: AnyPath | Sequence[AnyPath] = (),
    natives: Mapping[str, str] | None = None,
    fifo_tokens: int = FIFO_TOKENS,
    loops: int = 1,
    frames: int | None = None,
    max_firings: int | None = None,
    execution: ExecutionMode = "auto",
    max_memory: str | None = None,
    allow_files: AnyPath | Sequence[AnyPath] = (),
    iterations: int | None = None,
    graph: str | None = None,
    processor: str | Mapping[str, str] = "",
    engine: str = "compiled",
    out: AnyPath | None = None,
    progress: ProgressChoice = None,
) -> Program:
    """Run a network once and return it with the weights and the platform that its mappings are estimated with.

    ``program``: an XDF network, a trace file, or a ``Trace``. ``input``: the file or folder that the network reads;
    None: what ``input.default`` beside it names. ``weights``: a folder, files, or a ``WeightTable``; ``"measured"``: on
    this machine, once for a folder of results (``out``, else ``dse-out/NAME``); None or ``"nominal"``: counted from the
    program, good for a first ranking and not for milliseconds. ``platform``: a file, the name of one that comes with
    dse, or a ``Platform``; None: the default one. ``missing_weights``: what an absent weight means: ``"error"``,
    ``"zero"``, ``"nominal"``. ``source_paths``: folders that hold the packages of the classes. ``natives``: targets of
    native functions by ``unit.function``. ``fifo_tokens``, ``loops``, ``frames``, ``max_firings``, ``execution``,
    ``max_memory`` (``"4G"``): of the run; ``allow_files``: folders below which it may read and write any file.
    ``iterations``: of a static graph of another tool, None: about 10,000 firings; ``graph``: one of several in its
    file; ``processor``: the type whose times the CPU cores have, or types by kind (``{"cpu": "arm", "gpu": "dsp"}``).
    ``engine``: ``"compiled"`` or ``"reference"``. ``progress``: see ``dse.api.progress``.

    Warnings are ``DseWarning``; what was assumed is in ``Program.assumed``.

    Raises:
        SourceError, FormatError, ExecutionError, OptionError: an input is wrong; the message says which, where, and
            what to do. DeadlockError: the network deadlocks when it runs.
    """
    one_of("missing_weights", missing_weights, _MISSING)
    one_of("execution", execution, EXECUTION_MODES)
    one_of("engine", engine, ENGINES.names())
    given, measured = _weights(weights)
    options = ProblemOptions(
        program=program.topology.name if isinstance(program, Trace) else path_text(program, "program"),
        input=optional_path(input, "input"),
        source_paths=paths_of(source_paths, "source path"),
        weights=given,
        missing_weights=missing_weights,
        platform=None if isinstance(platform, Platform) else optional_path(platform, "platform"),
        engine=engine,
        graph=GraphOptions(
            graph=graph, iterations=_optional_number("iterations", iterations), processors=_processors(processor)
        ),
        run=RunOptions(
            natives=pairs_of(natives, "natives"),
            fifo_tokens=whole_number("fifo_tokens", fifo_tokens, 1),
            loops=whole_number("loops", loops, 1),
            frames=_optional_number("frames", frames),
            max_firings=_optional_number("max_firings", max_firings),
            max_memory_bytes=None if max_memory is None else parse_memory(max_memory),
            allow_files=paths_of(allow_files, "folder of files"),
            execution=execution,
        ),
    )
    kept = optional_path(out, "folder of results")
    measure = _measuring(options, platform, kept) if measured else None
    with told(progress) as telling:
        at_hand = _at_hand(program, platform, weights)
        setting = load_setting(options, telling.stage, measuring=measure, at_hand=at_hand)
    warn(setting.warnings)
    search = _results_in(options, kept)
    folder = output_folder(search, setting.trace.topology.name) if measured else None
    return Program(setting, replace(search, measured_in=folder, of_objects=at_hand != NOTHING, out=None))


def _processors(given: str | Mapping[str, str]) -> tuple[tuple[UnitKind, str], ...]:
    """Return the types of processors by kind of unit. Raises ``OptionError``."""
    if isinstance(given, str):
        return (parse_processor(given),) if given else ()
    return tuple(parse_processor(f"{kind}={name}") for kind, name in given.items())


def _at_hand(program: object, platform: object, weights: object) -> AtHand:
    """Return what of a problem is given as an object."""
    return AtHand(
        program=_of_trace(program) if isinstance(program, Trace) else None,
        platform=platform if isinstance(platform, Platform) else None,
        weights=weights if isinstance(weights, WeightTable) else None,
    )


def _of_trace(trace: Trace) -> GivenProgram:
    return GivenProgram(path=trace.topology.name, network=None, trace=trace)


def _results_in(options: ProblemOptions, out: str | None) -> ExploreOptions:
    """Return the options of a search whose results are kept in a folder."""
    return ExploreOptions(problem=options, out=None if out is None else Path(out))


def _optional_number(what: str, value: int | None) -> int | None:
    """Return a number of 1 or more, or None. Raises ``OptionError``."""
    return None if value is None else whole_number(what, value, 1)


def _weights(given: AnyPath | Sequence[AnyPath] | WeightTable | None) -> tuple[tuple[str, ...], bool]:
    """Return the paths of weights, and whether they are to be measured instead. Raises ``OptionError``."""
    if given is None or isinstance(given, WeightTable):
        return (), False
    paths = paths_of(given, "weights")
    alone = next((word for word in (NOMINAL, MEASURED) if word in paths), None)
    if alone is not None and len(paths) > 1:
        raise OptionError(
            f"{alone} weights stand alone", expected=f"leave out the others; a folder of this name is ./{alone}"
        )
    return ((), True) if alone == MEASURED else (paths, False)


def _measuring(options: ProblemOptions, platform: AnyPath | Platform | None, out: str | None) -> Measuring:
    """Return what measures the weights on this machine. Raises ``OptionError`` where they are to be for another."""
    measure = None if platform is not None else measuring(_results_in(options, out))
    if measure is None:
        raise OptionError(
            "measured weights are of this machine, and complete",
            expected="leave out platform and missing_weights, or give a folder of weights that were measured elsewhere",
        )
    return measure
