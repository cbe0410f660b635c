"""The first stages that several flows share: program, trace, weights, platform, problem, and what they assume."""

import time
from collections.abc import Callable
from dataclasses import dataclass, replace

from dse.base.collector import collector_paused
from dse.base.errors import DeadlockError, Diagnostic, ExecutionError, OptionError
from dse.base.source import file_span
from dse.flows.execution import RunListeners, execute
from dse.flows.graphs import is_graph, refuse_graph_options, unfold_graph
from dse.flows.inputs import default_input, require_file, require_input
from dse.flows.options import PLAIN_GRAPH, GraphOptions
from dse.flows.trace import is_recorded, is_trace_file, open_trace, settled_trace
from dse.frontend.network.elaborate import load_network
from dse.model.dataflow_graph import DataflowGraph
from dse.model.trace import Trace
from dse.program.network import Network
from dse.run.execution import RunResult
from dse.run.options import PLAIN_RUN, RunOptions
from dse.sdf.weights import GraphWeights

_RUN_FIFOS = "fifo_tokens enlarged to"
"""Key in ``Trace.made_by`` of the default FIFO capacity of a run that deadlocks with the usual one."""
_MOST_RUN_TOKENS = 1 << 20
"""Where enlarging the FIFOs of a run ends."""
RUNNING = "running the network"
"""How the stage begins in which the network is run."""
UNNAMED_OUTPUT = "output"
"""Name below the folder of ``--files`` of what a writer writes, for verbs that have no option to name it."""
_SECONDS_BETWEEN = 0.25
_WAITS = 3
"""So many actors are told that wait, where nothing fires."""


def unheard(what: object) -> None:
    """Take a message and do nothing: the listener of those who do not listen."""


@dataclass(frozen=True, slots=True, kw_only=True)
class GivenProgram:
    """A network, or the trace of one whose source is not at hand, or of a static graph of another tool.

    ``graph``: the graph, ``weights``: its execution times. ``assumed``: in words, how a graph became a trace.
    """

    path: str
    network: Network | None
    trace: Trace | None
    warnings: tuple[Diagnostic, ...] = ()
    graph: DataflowGraph | None = None
    weights: GraphWeights | None = None
    assumed: tuple[str, ...] = ()


def run_tokens(trace: Trace) -> str | None:
    """Return the default FIFO capacity in tokens of the run that made a trace where the usual one is too small."""
    return dict(trace.made_by).get(_RUN_FIFOS)


def load_program(path: str, source_paths: tuple[str, ...] = (), graph: GraphOptions = PLAIN_GRAPH) -> GivenProgram:
    """Return the network of an XDF file, or the trace of a trace or a graph; told apart by what is in the file."""
    require_file(path, "a network (.xdf), a trace, or a graph of another tool")
    if source_paths and is_recorded(path):
        raise OptionError(
            f"'{path}' has no sources to be found", expected="leave out --source-path: it is for networks"
        )
    if is_graph(path):
        found = unfold_graph(path, graph)
        return GivenProgram(
            path=path,
            network=None,
            trace=found.trace,
            graph=found.graph,
            weights=found.weights,
            assumed=found.assumed,
        )
    refuse_graph_options(graph)
    if is_trace_file(path):
        return GivenProgram(path=path, network=None, trace=open_trace(path))
    with collector_paused():
        loaded = load_network(path, source_paths=source_paths)
    return GivenProgram(path=path, network=loaded.network, trace=None, warnings=loaded.warnings)


def record_trace(
    program: GivenProgram,
    given_input: str | None,
    *,
    run: RunOptions = PLAIN_RUN,
    count_rounds: bool = False,
    stage: Callable[[str], None] = unheard,
) -> tuple[Trace, str | None]:
    """Return the trace of a program on an input, and the path of the input that it read.

    ``run``: how the network is run. ``count_rounds``: with ``Trace.rounds``, for a prediction of GPU costs. ``stage``
    hears how many firings there were, now and then.

    Raises ``ExecutionError`` where the run fails or nothing fires, ``OptionError`` for an input beside a trace.
    """
    if program.trace is not None:
        _refuse_run(given_input, run)
        return _checked(program.trace, program.path), None
    assert program.network is not None, "a program is a network or a trace"
    path = given_input if given_input is not None else default_input(program.path)
    if path is not None:
        require_input(path)
    options = replace(run, input=path, count_rounds=count_rounds, unnamed_output=UNNAMED_OUTPUT)
    stage(RUNNING)
    listeners = RunListeners(progress=told_firings(stage), stage=stage)
    result, tokens = _run_with_room(program.network, options, listeners)
    _require_good_end(result)
    settled = settled_trace(replace(options, fifo_tokens=run.fifo_tokens), result)
    trace = _checked(settled, program.path, tuple(map(str, result.waits)))
    if result.why == "budget":
        trace = replace(trace, made_by=(*trace.made_by, ("ended", result.why)))
    if tokens > run.fifo_tokens:
        trace = replace(trace, made_by=(*trace.made_by, (_RUN_FIFOS, str(tokens))))
    return trace, path


def _refuse_run(given_input: str | None, run: RunOptions) -> None:
    """Raise ``OptionError`` for options of a run where a trace is given."""
    if given_input is not None:
        raise OptionError("a trace takes no input: it is the record of a run", expected="leave out -i")
    if run != PLAIN_RUN:
        raise OptionError("a trace is not run again", expected="leave out the options of the run, or name its network")


def _require_good_end(result: RunResult) -> None:
    """Raise ``DeadlockError`` or ``ExecutionError`` for a run that came to no good end."""
    if result.deadlock is not None:
        actors, fifo = ", ".join(result.deadlock.actors), result.deadlock.fifo
        raise DeadlockError(
            f"the network deadlocks when it runs: {actors} wait for each other, {fifo} is full",
            expected=f"its writer goes on with a bufferSize of {result.deadlock.needed_tokens} in the XDF, later it may"
            " need more: try powers of two; `dse run --why` says who waits for what",
        )
    if result.exit_code != 0:
        last = result.stdout.strip().splitlines()[-1:] or ["nothing was printed"]
        raise ExecutionError(
            f"the run of the network ended with exit code {result.exit_code}: {last[0]}",
            expected="try it alone with `dse run`",
        )


def told_firings(stage: Callable[[str], None]) -> Callable[[int], None]:
    """Return a listener to the firings of a run that tells a stage how many there were and how quickly they come."""
    started = time.perf_counter()
    told = [started]

    def tell(firings: int) -> None:
        now = time.perf_counter()
        if now - told[0] >= _SECONDS_BETWEEN:
            told[0] = now
            stage(f"{RUNNING}: {firings:,} firings, {firings / (now - started):,.0f}/s")

    return tell


def _run_with_room(network: Network, options: RunOptions, listeners: RunListeners) -> tuple[RunResult, int]:
    """Run a network, again with larger FIFOs as long as it deadlocks on a full one.

    The capacities of the run are not those of a design point: the same firings can be estimated with any. Returned is
    the run and the default capacity of its FIFOs in tokens.
    """
    tokens = options.fifo_tokens
    while True:
        result = execute(network, replace(options, fifo_tokens=tokens), listeners)
        if result.deadlock is None or tokens >= _MOST_RUN_TOKENS:
            return result, tokens
        tokens *= 8


def _checked(trace: Trace, path: str, waits: tuple[str, ...] = ()) -> Trace:
    """Return a trace with firings. Raises ``ExecutionError`` with what the actors wait for where it has none."""
    if trace.n_firings == 0:
        more = f" (and {len(waits) - _WAITS} more)" if len(waits) > _WAITS else ""
        raise ExecutionError(
            "nothing fires in this program: there is nothing to estimate",
            span=file_span(path, 0),
            expected="; ".join(waits[:_WAITS]) + more,
        )
    return trace
