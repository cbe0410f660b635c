"""The first stages that several flows share: program, trace, weights, platform, problem, and what they assume."""

from collections.abc import Callable, Collection
from dataclasses import dataclass, replace
from pathlib import Path

from dse.base.collector import collector_paused
from dse.base.errors import DeadlockError, Diagnostic, ExecutionError, OptionError
from dse.base.source import file_span
from dse.estimate.engine import needs_compiling
from dse.estimate.problem.build import build_tables, derivable
from dse.estimate.problem.prices import UNIT_KINDS
from dse.estimate.problem.tables import ProblemTables
from dse.flows.defaults import Capacities, default_capacities, outside_actors
from dse.flows.inputs import DEFAULT_INPUT, default_input, require_file
from dse.flows.manifest import file_digest, origins_text, platform_digest, weights_digest
from dse.flows.options import MissingMode, ProblemOptions
from dse.flows.predict import GpuOutlook, assumption, beside_given, clocked_platform, gpu_outlook
from dse.flows.trace import open_trace
from dse.formats.bxdf import read_bxdf
from dse.formats.platform_yaml import load_platform
from dse.formats.trace_store import is_trace_store
from dse.formats.turnus_trace import is_turnus_trace
from dse.formats.weights_folder import read_weights
from dse.frontend.network.elaborate import load_network
from dse.model.design_point import MOST_TOKENS
from dse.model.platform import Platform
from dse.model.problem import Problem
from dse.model.trace import Trace
from dse.model.weights import WeightTable, merge_weights
from dse.passes.analyses.nominal import fill_missing, nominal_weights
from dse.program.network import Network
from dse.run.execution import RunOptions, RunResult, run_network

_RUN_FIFOS = "fifo_tokens enlarged to"
"""Key in ``Trace.made_by`` of the default FIFO capacity of a run that deadlocks with the usual one."""
_MOST_RUN_TOKENS = 1 << 20
"""Where enlarging the FIFOs of a run ends."""


COMPILING = "compiling the engine, once for each version: up to a minute"
"""The stage that users wait for longest without seeing why."""


def unheard(what: object) -> None:
    """Take a message and do nothing: the listener of those who do not listen."""


@dataclass(frozen=True, slots=True, kw_only=True)
class GivenProgram:
    """A network, or the trace of one whose source is not at hand."""

    path: str
    network: Network | None
    trace: Trace | None
    warnings: tuple[Diagnostic, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Setting:
    """Everything that is fixed before mappings are looked at, and what was assumed on the way."""

    network: Network | None
    trace: Trace
    platform: Platform
    problem: Problem
    tables: ProblemTables
    assumed: tuple[str, ...]
    manifest: tuple[tuple[str, str], ...]
    warnings: tuple[Diagnostic, ...]


def load_setting(options: ProblemOptions, stage: Callable[[str], None] = unheard) -> Setting:
    """Load, run and gather what ``options`` ask for; ``stage`` is told what goes on.

    Raises:
        SourceError, FormatError, OptionError, ExecutionError: an input is wrong; the message says which and where.
    """
    stage("reading the program")
    program = load_program(options.program, options.source_paths)
    platform = load_platform(options.platform) if options.platform else load_platform()
    given = read_weights(options.weights) if options.weights else None
    stage("running the network")
    predicts = any(unit.kind == "gpu" and unit.device is not None for unit in platform.units)
    trace, input_path = record_trace(program, options.input, count_rounds=predicts)
    weights, weights_assumed = choose_weights(program, trace, platform, given, options.missing_weights, stage)
    problem = Problem(
        trace=trace,
        weights=weights,
        platform=platform,
        missing_weights="zero" if options.missing_weights == "zero" else "error",
    )
    outside = outside_actors(program.network)
    grown = [value for key, value in trace.made_by if key == _RUN_FIFOS]
    room = [f"the firings of a run with FIFOs of {tokens} tokens (with less it deadlocks)" for tokens in grown]
    assumed = [*room, *weights_assumed, *_derived_costs(trace, weights, platform, outside)]
    if options.platform is None:
        assumed.append(f"platform {_platform_text(platform)}")
    if options.input is None and input_path is not None:
        assumed.append(f"input {input_path} (from {DEFAULT_INPUT})")
    manifest = [
        ("program", options.program),
        *((f"source {s}", file_digest(s)) for s in (program.network.sources if program.network else ())),
        *(((f"input {input_path}", file_digest(input_path)),) if input_path else ()),
        ("weights", f"{weights.name or 'unnamed'} ({origins_text(weights)}), digest {weights_digest(weights)}"),
        *((f"weights {key}", value) for key, value in weights.manifest),
        ("platform", f"{platform.name}, digest {platform_digest(platform)}"),
        *((f"unit {u.name}", u.source) for u in platform.units if u.source),
    ]
    if needs_compiling(options.engine):
        stage(COMPILING)
    return Setting(
        network=program.network,
        trace=trace,
        platform=platform,
        problem=problem,
        tables=build_tables(problem),
        assumed=tuple(assumed),
        manifest=tuple(manifest),
        warnings=program.warnings,
    )


def load_program(path: str, source_paths: tuple[str, ...] = ()) -> GivenProgram:
    """Return the network of an XDF file, or the trace of a trace file; told apart by what is in the file."""
    require_file(path, "a network (.xdf) or a trace")
    if is_trace_store(path) or is_turnus_trace(path):
        return GivenProgram(path=path, network=None, trace=open_trace(path))
    with collector_paused():
        loaded = load_network(path, source_paths=source_paths)
    return GivenProgram(path=path, network=loaded.network, trace=None, warnings=loaded.warnings)


def record_trace(
    program: GivenProgram, given_input: str | None, *, count_rounds: bool = False
) -> tuple[Trace, str | None]:
    """Return the trace of a program on an input, and the path of the input that it read.

    ``count_rounds``: with ``Trace.rounds``, for a prediction of GPU costs.

    Raises ``ExecutionError`` where the run fails or nothing fires, ``OptionError`` for an input beside a trace.
    """
    if program.trace is not None:
        if given_input is not None:
            raise OptionError("a trace takes no input: it is the record of a run", expected="leave out -i")
        return _checked(program.trace, program.path), None
    assert program.network is not None, "a program is a network or a trace"
    path = given_input if given_input is not None else default_input(program.path)
    if path is not None:
        require_file(path, "give the file that the network reads")
    result, tokens = _run_with_room(program.network, path, count_rounds=count_rounds)
    if result.deadlock is not None:
        actors, fifo = ", ".join(result.deadlock.actors), result.deadlock.fifo
        raise DeadlockError(
            f"the network deadlocks when it runs: {actors} wait for each other, {fifo} is full",
            expected=f"give {fifo} a bufferSize of {result.deadlock.needed_tokens} or more in the XDF;"
            " `dse run --why` says who waits for what",
        )
    if result.exit_code != 0:
        last = result.stdout.strip().splitlines()[-1:] or ["nothing was printed"]
        raise ExecutionError(
            f"the run of the network ended with exit code {result.exit_code}: {last[0]}",
            expected="try it alone with `dse run`",
        )
    trace = _checked(result.trace, program.path)
    if tokens > RunOptions().fifo_tokens:
        trace = replace(trace, made_by=(*trace.made_by, (_RUN_FIFOS, str(tokens))))
    return trace, path


def _run_with_room(network: Network, path: str | None, *, count_rounds: bool) -> tuple[RunResult, int]:
    """Run a network, again with larger FIFOs as long as it deadlocks on a full one.

    The capacities of the run are not those of a design point: the same firings can be estimated with any. Returned is
    the run and the default capacity of its FIFOs in tokens.
    """
    tokens = RunOptions().fifo_tokens
    while True:
        result = run_network(network, RunOptions(input=path, fifo_tokens=tokens, count_rounds=count_rounds))
        if result.deadlock is None or tokens >= _MOST_RUN_TOKENS:
            return result, tokens
        tokens *= 8


def _checked(trace: Trace, path: str) -> Trace:
    if trace.n_firings == 0:
        raise ExecutionError("nothing fires in this program: there is nothing to estimate", span=file_span(path, 0))
    return trace


def choose_weights(
    program: GivenProgram,
    trace: Trace,
    platform: Platform,
    given: WeightTable | None,
    missing: MissingMode,
    stage: Callable[[str], None] = unheard,
) -> tuple[WeightTable, tuple[str, ...]]:
    """Return the weights to estimate with, and what is assumed in them.

    Without given weights nominal ones are counted from the program; ``zero`` and ``nominal`` fill what given ones lack.
    Unless one of these was asked for, costs on a GPU with a device are predicted where none are given.
    Of a trace without its program nothing can be counted: there ``zero`` is left to the estimation.
    """
    outlook = GpuOutlook(predicted=None)
    if missing == "error" and program.network is not None:
        outlook = gpu_outlook(program.network, trace, platform, given, stage)
    why_not = (outlook.why_not,) if outlook.why_not else ()
    if given is not None and missing == "error":
        if outlook.predicted is None or program.network is None:
            return given, (*_free_costs(given), *why_not)
        both = beside_given(given, outlook.predicted, program.network)
        return both, (*_free_costs(given), *assumption(outlook.predicted))
    if given is None and missing == "zero":
        return WeightTable(name="zero", has_scheduling=False, has_transfers=False), ("all weights zero",)
    if program.network is None and missing == "zero":
        assert given is not None, "the case without weights is above"
        return given, (f"zero for {_absent(trace, given)} missing compute weights", *_free_costs(given))
    if program.network is None:
        raise OptionError(
            f"weights are needed: '{program.path}' is a trace, without the program to count operations in",
            expected="give weights with --weights, or take all as zero with --missing-weights zero",
        )
    nominal = nominal_weights(program.network, clocked_platform(platform, outlook), trace.rounds)
    how = "operation counts, rounds of loops as in the run" if any(trace.rounds) else "operation counts"
    if given is None and outlook.predicted is not None:
        counted = (f"nominal CPU weights ({how})", *assumption(outlook.predicted))
        return merge_weights(nominal, outlook.predicted.table), counted
    if given is None or missing == "error":
        kinds = dict.fromkeys(unit.kind.upper() for unit in platform.units)
        return nominal, (f"nominal {' and '.join(kinds)} weights ({how})", *why_not)
    filled, count = fill_missing(given, nominal, missing)
    return filled, ((f"{missing} for {count} missing weights",) if count else ()) + _free_costs(given)


def _free_costs(given: WeightTable) -> tuple[str, ...]:
    """Return what given weights say nothing of at all and what is therefore free."""
    scheduling = () if given.has_scheduling else ("no scheduling costs (no .sxdf in the weights)",)
    transfers = () if given.has_transfers else ("no communication costs (no .cxdf in the weights)",)
    return scheduling + transfers


def _derived_costs(trace: Trace, weights: WeightTable, platform: Platform, outside: Collection[str]) -> tuple[str, ...]:
    """Return in words from which links the costs of host FIFOs come that the weights do not give.

    ``outside``: the actors that stay on a CPU; a FIFO has a read and a write, each on either unit, as far as they go.
    """
    given = sum(fifo == "host" for _, _, _, _, fifo, _, _ in weights.transfers)
    names = [actor.name for actor in trace.topology.actors]
    ends = [names[end] for buffer in trace.topology.buffers for end in (buffer.source, buffer.target)]
    possible = len(UNIT_KINDS) * sum(name not in outside for name in ends)
    links = [link.name for link in platform.links if derivable(link)]
    if not links or given >= possible or all(unit.kind == "cpu" for unit in platform.units):
        return ()
    which = "the missing costs" if given else "costs"
    return (f"{which} of host FIFOs from latency and bandwidth of {' and '.join(links)}",)


def _absent(trace: Trace, table: WeightTable) -> int:
    """Return how many actions fire for which a table has no CPU compute weight."""
    return sum(
        (actor.name, action.name, "cpu") not in table.compute
        for actor, firings in zip(trace.topology.actors, trace.firings, strict=True)
        for index, action in enumerate(actor.actions)
        if (firings == index).any()
    )


def _platform_text(platform: Platform) -> str:
    units = []
    for unit in platform.units:
        cores = f"{unit.cores} x " if unit.cores > 1 else ""
        clock = f" {float(unit.clock_mhz):g} MHz" if unit.clock_mhz is not None else ""
        units.append(f"{cores}{unit.kind}{clock}")
    return f"{platform.name} ({', '.join(units)})"


def read_capacities(text: str, setting: Setting) -> Capacities:
    """Return the capacities of ``--buffers``: a number of tokens, a ``.bxdf`` file, or nothing for the default.

    Raises:
        OptionError: a number below 1. FormatError: the file is wrong or does not fit the network.
    """
    topology, least = setting.trace.topology, setting.tables.least_capacity
    if not text:
        return default_capacities(topology, least)
    if text.lstrip("-").isdigit():
        if int(text) < 1:
            raise OptionError(f"a capacity of {text} tokens holds nothing", expected="--buffers takes 1 or more")
        if int(text) > MOST_TOKENS:
            raise OptionError(f"no memory holds {text} tokens", expected=f"--buffers takes at most {MOST_TOKENS}")
        return default_capacities(topology, least, int(text))
    if not Path(text).is_file():
        raise OptionError(
            f"buffers '{text}' is neither a number nor a file", expected="--buffers 512, --buffers X.bxdf"
        )
    return Capacities(tokens=read_bxdf(text, topology), assumed=())
