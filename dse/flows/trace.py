"""The journeys of ``dse trace``: record, read, import and export traces, each said in one function."""

from dataclasses import dataclass, replace
from fractions import Fraction
from pathlib import Path

import dse
from dse.analyse.dependencies import derive_dependencies
from dse.base.digests import file_digest
from dse.base.errors import Diagnostic, ExecutionError, FormatError, OptionError
from dse.base.escaping import encodable
from dse.base.source import file_span
from dse.flows.execution import EXECUTIONS, UNHEARD, RunListeners
from dse.flows.graphs import UnfoldedGraph, is_graph, refuse_graph_options, unfold_graph
from dse.flows.inputs import require_file
from dse.flows.options import PLAIN_GRAPH, GraphOptions
from dse.flows.run import run_file
from dse.formats.graphviz import write_dot
from dse.formats.sdf3_write import write_sdf3
from dse.formats.streamblocks import read_profile
from dse.formats.token_counts import check_token_counts
from dse.formats.trace_store import is_trace_store, read_trace
from dse.formats.turnus_net import read_net, write_net
from dse.formats.turnus_trace import is_turnus_trace, read_turnus_trace, write_turnus_trace
from dse.formats.weights_folder import read_weights, write_weights_folder
from dse.model.dataflow_graph import DataflowGraph
from dse.model.dependencies import DependencyKind
from dse.model.trace import Trace
from dse.model.weights import ComputeKey, Cost, WeightTable
from dse.run.execution import Execution, RunOptions, RunResult
from dse.run.options import PLAIN_RUN
from dse.sdf.fold import trace_graph

SDF3 = (".xml", ".sdf3")
"""Names of files that ``export`` writes for SDF3 end so."""
GRAPHVIZ = (".dot", ".gv")
_TOLD_OPTIONS = ("loops", "frames", "fifo_tokens", "max_firings")
EXECUTION = "execution"
"""Key in ``Trace.made_by`` of what ran the network: native or python; the trace is the same."""
IDLE_LEFT_OUT = "idle firings left out"
"""Key in ``Trace.made_by`` of the number of firings after the last token moved, which a trace leaves out."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Recorded:
    """A trace with what is remarkable about how it came to be. ``exit_code``: of the run, 0 where there was none."""

    trace: Trace
    warnings: tuple[Diagnostic, ...] = ()
    exit_code: int = 0
    unfolded: UnfoldedGraph | None = None
    """The static graph of another tool that it was made of."""


def record(
    network: str,
    options: RunOptions,
    *,
    source_paths: tuple[str, ...] = (),
    listeners: RunListeners = UNHEARD,
) -> Recorded:
    """Run the network of an XDF file and return its trace, which knows its network, input and options.

    Raises:
        SourceError, ExecutionError, OptionError: as ``run_file``; ``ExecutionError`` too where nothing fires.
    """
    report = run_file(network, options, source_paths=source_paths, listeners=listeners)
    if report.result.trace.n_firings == 0:
        raise ExecutionError("nothing fires in this network: there is no trace", span=file_span(network, 0))
    made_by = [
        ("tool", f"dse {dse.__version__}"),
        ("network", encodable(network)),
        ("network digest", file_digest(network)),
    ]
    if report.input is not None:
        made_by.append(("input", encodable(report.input)))
        if Path(report.input).is_file():
            made_by.append(("input digest", file_digest(report.input)))
    settled = settled_trace(options, report.result)
    trace = replace(settled, made_by=(*made_by, *settled.made_by, ("ended", report.result.why)))
    warnings = (*report.warnings, *_deadlock_warning(network, report.result))
    return Recorded(trace=trace, warnings=warnings, exit_code=report.exit_code)


def settled_trace(options: RunOptions, result: RunResult) -> Trace:
    """Return the trace of a run without its idle tail; it knows what of its options, inputs and end is unusual."""
    made_by = [(f"read {path}", file_digest(path)) for path in result.inputs if Path(path).is_file()]
    given = ((name, getattr(options, name), getattr(PLAIN_RUN, name)) for name in _TOLD_OPTIONS)
    made_by += [(name, str(value)) for name, value, plain in given if value != plain]
    if any(result.idle_tail):
        made_by.append((IDLE_LEFT_OUT, str(sum(result.idle_tail))))
    made_by.append((EXECUTION, result.execution))
    return replace(result.settled_trace, made_by=tuple(made_by))


def execution_of(trace: Trace) -> Execution | None:
    """Return what ran the network of a trace; None where that is not known."""
    told = dict(trace.made_by).get(EXECUTION)
    return next((e for e in EXECUTIONS if e == told), None)


def left_out(trace: Trace) -> str:
    """Return in words which firings of its run a trace lacks; empty where it has all."""
    count = dict(trace.made_by).get(IDLE_LEFT_OUT)
    if count is None:
        return ""
    return f"without the last {int(count):,} firings of the run, which came after the last token had moved"


def _deadlock_warning(network: str, result: RunResult) -> tuple[Diagnostic, ...]:
    """Return the warning that a trace ends in a deadlock, if it does."""
    found = result.deadlock
    if found is None:
        return ()
    message = (
        f"the trace ends in a deadlock: {', '.join(found.actors)} wait for each other; "
        f"{found.fifo} is full with {found.capacity_tokens} tokens"
    )
    expected = (
        f"its writer goes on when it holds {found.needed_tokens} tokens (-s {found.needed_tokens}); "
        "if the run then stops later, it needs more: try powers of two"
    )
    return (Diagnostic(message=message, span=file_span(network, 0), severity="warning", expected=expected),)


def open_trace(path: str, net: str | None = None) -> Trace:
    """Return the trace of a file: the project's own, or one of TURNUS with its network model.

    Raises:
        FormatError: the file is no trace or is wrong. OptionError: a TURNUS trace without network model.
    """
    return open_recorded(path, net).trace


def open_recorded(path: str, net: str | None = None, graph: GraphOptions = PLAIN_GRAPH) -> Recorded:
    """Return as ``open_trace``, or the trace of a static graph of another tool.

    Raises:
        FormatError, OptionError, DeadlockError: as ``open_trace`` and ``unfold_graph``.
    """
    if is_graph_file(path):
        unfolded = unfold_graph(path, graph)
        return Recorded(trace=unfolded.trace, unfolded=unfolded)
    refuse_graph_options(graph)
    if is_trace_store(path):
        trace = read_trace(path)
        check_token_counts(trace, path)
        return Recorded(trace=trace)
    require_file(path, "a trace")
    return Recorded(trace=import_trace(path, net))


def is_graph_file(path: str) -> bool:
    """Return whether a path is that of a file with a static graph of another tool."""
    return Path(path).is_file() and is_graph(path)


def is_recorded(path: str) -> bool:
    """Return whether a path is that of a trace, or of a static graph that becomes one: nothing that can be run."""
    return is_trace_file(path) or is_graph_file(path)


def is_trace_file(path: str) -> bool:
    """Return whether a path is that of a trace: one that dse has written, or one of TURNUS."""
    return is_trace_store(path) or is_turnus_trace(path)


def import_any(path: str, net: str | None = None, graph: GraphOptions = PLAIN_GRAPH) -> Recorded:
    """Return the trace of another tool's file: a static graph, or as ``import_trace``.

    Raises:
        FormatError, OptionError, DeadlockError: as ``unfold_graph`` and ``import_trace``.
    """
    if not is_graph_file(path):
        refuse_graph_options(graph)
        return Recorded(trace=import_trace(path, net))
    if net is not None:
        raise OptionError(f"'{path}' is a graph, which has no network model beside it", expected="leave out --net")
    return open_recorded(path, graph=graph)


def profile_weights(trace: Trace, path: str) -> WeightTable:
    """Return a profile of StreamBlocks as weights of the CPU: each firing of an actor takes the mean of all.

    The trace is of the same network and input. Ticks become cycles without a clock. Raises ``FormatError``.
    """
    ticks = read_profile(path, trace.topology)
    compute: dict[ComputeKey, Cost] = {}
    for actor, total, ids in zip(trace.topology.actors, ticks, trace.firings, strict=True):
        mean = Fraction(total, max(1, len(ids)))
        compute |= {(actor.name, action.name, "cpu"): Cost(mean_cycles=mean) for action in actor.actions}
    name = trace.topology.name
    return WeightTable(
        name=name,
        compute=compute,
        has_scheduling=False,
        has_transfers=False,
        manifest=(("profile of StreamBlocks", file_digest(path)),),
    )


def write_graph_weights(recorded: Recorded, folder: str, profile: str | None = None) -> None:
    """Write the execution times of a static graph, or of a ``profile`` of StreamBlocks, as a folder of weights.

    Raises:
        OptionError: there is no such graph, or it has no times. FormatError: as ``write_weights_folder``.
    """
    if profile is not None:
        write_weights_folder(profile_weights(recorded.trace, profile), folder)
        return
    unfolded = recorded.unfolded
    if unfolded is None or unfolded.weights is None:
        raise OptionError(
            "there are no execution times to write", expected="--write-weights goes with a graph, or --profile"
        )
    write_weights_folder(unfolded.weights.table, folder)


def _require_turnus_trace(path: str) -> None:
    """Do nothing for a trace of TURNUS. Raises ``FormatError`` that says what a file is that is none."""
    require_file(path, "a trace of TURNUS")
    if is_turnus_trace(path):
        return
    if Path(path).suffix.lower() == ".xdf":
        raise FormatError(
            "this is a network, not a trace of one",
            span=file_span(path, 0),
            expected=f"'dse trace {path} -o FILE' runs it and records its trace",
        )
    raise FormatError(
        "this is no trace",
        span=file_span(path, 0),
        expected="a file that 'dse trace NETWORK.xdf -o FILE' wrote, a .trace or .tracez of TURNUS, or a graph of SDF3",
    )


def import_trace(path: str, net: str | None = None) -> Trace:
    """Return a trace of TURNUS; without ``net``, the network model is the ``.net`` file beside it of the same name.

    Raises:
        FormatError: a file is missing or wrong. OptionError: there is no network model.
    """
    if is_trace_store(path):
        raise OptionError(f"'{path}' is a trace of this program, not of TURNUS", expected="name it without --import")
    _require_turnus_trace(path)
    model = net or str(Path(path).with_suffix(".net"))
    if net is None and not Path(model).is_file():
        raise OptionError(
            f"the network model of '{path}' is needed, and there is no '{model}'",
            expected="name it with --net F.net",
        )
    made_by = (
        ("tool", f"dse {dse.__version__}, imported from TURNUS"),
        ("trace", encodable(path)),
        ("trace digest", file_digest(path)),
        ("network model", encodable(model)),
    )
    trace = read_turnus_trace(path, read_net(model), made_by)
    check_token_counts(trace, path)
    return trace


@dataclass(frozen=True, slots=True, kw_only=True)
class Exported:
    """What an export wrote; ``dependencies`` of each kind, None where they were left out.

    ``notes``: what the form that was written cannot hold, in words.
    """

    files: tuple[str, ...]
    dependencies: dict[DependencyKind, int] | None = None
    notes: tuple[str, ...] = ()


def export(
    recorded: Recorded,
    path: str,
    net: str | None = None,
    *,
    with_dependencies: bool = True,
    weights: tuple[str, ...] = (),
) -> Exported:
    """Write a trace in the form that the name of the file asks for: ``.xml`` SDF3, ``.dot`` or ``.gv`` Graphviz.

    All others are of TURNUS. ``weights``: folders and files with the execution times of an SDF3 graph.

    Raises:
        FormatError: a file is wrong, or cannot be written, or no static graph does what the trace does.
        OptionError: an option means nothing to the form.
    """
    suffix = Path(path).suffix.lower()
    if suffix in (*SDF3, *GRAPHVIZ) and net is not None:
        raise OptionError(f"a '{suffix}' file has no network model beside it", expected="leave out --net")
    if suffix not in SDF3 and weights:
        raise OptionError(f"no weights go into '{path}'", expected="--weights goes with --export F.xml, for SDF3")
    if suffix in SDF3:
        return _export_sdf3(recorded, path, weights)
    if suffix in GRAPHVIZ:
        write_dot(recorded.trace, path)
        return Exported(files=(path,))
    return export_trace(recorded.trace, path, net, with_dependencies=with_dependencies)


def _export_sdf3(recorded: Recorded, path: str, weights: tuple[str, ...]) -> Exported:
    """Write a static graph: the one that was read as it is, or that of the trace."""
    if recorded.unfolded is not None and not weights:
        graph = recorded.unfolded.graph
    else:
        graph = trace_graph(recorded.trace, read_weights(weights) if weights else None, path)
    write_sdf3(graph, path)
    return Exported(files=(path,), notes=(*graph.notes, *_times_left_out(graph)))


def _times_left_out(graph: DataflowGraph) -> tuple[str, ...]:
    """Return in words what of the execution times of a graph is not in an SDF3 file of it."""
    times = [value for actor in graph.actors for time in actor.times for value in time.times]
    if not times:
        return ("execution times (--weights W gives them)",)
    return ("fractions of execution times: SDF3 has whole numbers",) if any(t.denominator > 1 for t in times) else ()


def export_trace(trace: Trace, path: str, net: str | None = None, *, with_dependencies: bool = True) -> Exported:
    """Write a trace for TURNUS with its network model (by default beside it) and its dependencies.

    Raises:
        FormatError: a file cannot be written, or the trace is inconsistent.
    """
    model = net or str(Path(path).with_suffix(".net"))
    dependencies = derive_dependencies(trace) if with_dependencies else None
    write_net(trace, model)
    write_turnus_trace(trace, path, dependencies)
    sized = sum(buffer.capacity is not None for buffer in trace.topology.buffers)
    notes = (f"sizes of {sized} FIFOs: a network model has none (.bxdf files do)",) if sized else ()
    counts = None if dependencies is None else dependencies.counts()
    return Exported(files=(path, model), dependencies=counts, notes=notes)
