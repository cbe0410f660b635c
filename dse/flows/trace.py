"""The journeys of ``dse trace``: record, read, import and export traces, each said in one function."""

from dataclasses import dataclass, replace
from pathlib import Path

import dse
from dse.analyse.dependencies import derive_dependencies
from dse.base.digests import file_digest
from dse.base.errors import Diagnostic, ExecutionError, FormatError, OptionError
from dse.base.escaping import encodable
from dse.base.source import file_span
from dse.flows.execution import EXECUTIONS, UNHEARD, RunListeners
from dse.flows.inputs import require_file
from dse.flows.run import run_file
from dse.formats.token_counts import check_token_counts
from dse.formats.trace_store import is_trace_store, read_trace
from dse.formats.turnus_net import read_net, write_net
from dse.formats.turnus_trace import is_turnus_trace, read_turnus_trace, write_turnus_trace
from dse.model.dependencies import DependencyKind
from dse.model.trace import Trace
from dse.run.execution import Execution, RunOptions, RunResult
from dse.run.options import PLAIN_RUN

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
    if is_trace_store(path):
        trace = read_trace(path)
        check_token_counts(trace, path)
        return trace
    require_file(path, "a trace")
    return import_trace(path, net)


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
        expected="a file that 'dse trace NETWORK.xdf -o FILE' wrote, or a .trace or .tracez of TURNUS",
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
    """What an export wrote; ``dependencies`` of each kind, None where they were left out."""

    files: tuple[str, str]
    dependencies: dict[DependencyKind, int] | None


def export_trace(trace: Trace, path: str, net: str | None = None, *, with_dependencies: bool = True) -> Exported:
    """Write a trace for TURNUS with its network model (by default beside it) and its dependencies.

    Raises:
        FormatError: a file cannot be written, or the trace is inconsistent.
    """
    model = net or str(Path(path).with_suffix(".net"))
    dependencies = derive_dependencies(trace) if with_dependencies else None
    write_net(trace, model)
    write_turnus_trace(trace, path, dependencies)
    return Exported(files=(path, model), dependencies=None if dependencies is None else dependencies.counts())
