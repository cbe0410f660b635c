"""Static graphs of other tools as programs: read, checked, and unfolded to a trace of some iterations with weights."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias

import dse
from dse.base.digests import file_digest
from dse.base.errors import FormatError, OptionError
from dse.base.escaping import encodable
from dse.base.numbers import shortened
from dse.base.source import file_span
from dse.flows.options import PLAIN_GRAPH, GraphOptions
from dse.formats.preesm import find_in_project, is_preesm, is_scenario, read_pi, read_scenario
from dse.formats.sdf3 import is_sdf3, read_sdf3
from dse.formats.tgff import is_tgff, read_tgff
from dse.formats.token_counts import check_token_counts
from dse.model.dataflow_graph import DataflowGraph
from dse.model.pi_graph import PiGraph
from dse.model.trace import Trace
from dse.sdf.balance import repetition_vector
from dse.sdf.hierarchy import flatten
from dse.sdf.liveness import require_live
from dse.sdf.unfold import graph_trace, usual_iterations
from dse.sdf.weights import GraphWeights, graph_weights

_Reader: TypeAlias = Callable[[str, str | None], DataflowGraph]
_READERS: tuple[tuple[Callable[[bytes], bool], _Reader], ...] = (
    (is_sdf3, lambda path, name: _only(read_sdf3(path), name)),
    (is_tgff, read_tgff),
    (is_preesm, lambda path, name: _only(_read_preesm(path), name)),
)
"""How the beginning of a file tells what it is, and who reads it: the graph of a name, or all that there is."""
GRAPH = "graph"
"""Key in ``Trace.made_by`` of the file with the static graph that was unfolded."""
_BEGINNING = 4096
"""Bytes of a file by which it is told what it is."""


@dataclass(frozen=True, slots=True, kw_only=True)
class UnfoldedGraph:
    """A graph, its firings in one iteration, the trace of all, and its times as weights, None where it has none.

    ``assumed``: in words, how many iterations there are, and what was left out.
    """

    graph: DataflowGraph
    firings: tuple[int, ...]
    iterations: int
    trace: Trace
    weights: GraphWeights | None
    assumed: tuple[str, ...]


def is_graph(path: str) -> bool:
    """Return whether a file begins like a static graph of a tool that is known."""
    with Path(path).open("rb") as file:
        beginning = file.read(_BEGINNING)
    return any(tells(beginning) for tells, _ in _READERS)


def _only(graph: DataflowGraph, name: str | None) -> DataflowGraph:
    """Return the one graph of a file. Raises ``OptionError`` where another name is given."""
    if name not in (None, graph.name):
        raise OptionError(f"'{graph.path}' has no graph '{name}'", expected=f"it has one: leave out --graph {name}")
    return graph


def _read_preesm(path: str) -> DataflowGraph:
    """Return the flat graph of a scenario, or of a graph without one, which has no times then.

    Raises:
        FormatError: a file is missing or wrong, or the graph is not static.
    """
    scenario = read_scenario(path) if is_scenario(path) else None
    top = path if scenario is None else find_in_project(scenario.algorithm, path)
    if top is None or (scenario is not None and not scenario.algorithm):
        what = f"there is no file '{shortened(scenario.algorithm if scenario else path)}', which the scenario names"
        raise FormatError(what, span=file_span(path, 0), expected="/PROJECT/Algo/x.pi, the project above the scenario")
    return flatten(read_pi(top), _load_pi, scenario)


def _load_pi(url: str, beside: str) -> PiGraph | None:
    """Return the graph of a file in the project of another one; None where there is none."""
    found = find_in_project(url, beside)
    return None if found is None else read_pi(found)


def read_graph(path: str, name: str | None = None) -> DataflowGraph:
    """Return the static graph of a file for which ``is_graph`` holds; ``name``: one of several, None: all of them.

    Raises:
        FormatError: the file is wrong. OptionError: it has no graph of that name.
    """
    with Path(path).open("rb") as file:
        beginning = file.read(_BEGINNING)
    return next(read for tells, read in _READERS if tells(beginning))(path, name)


def refuse_graph_options(options: GraphOptions) -> None:
    """Raise ``OptionError`` for options of graphs where there is none."""
    if options != PLAIN_GRAPH:
        raise OptionError(
            "--iterations, --processor and --graph are for static graphs of other tools, such as SDF3",
            expected="leave them out: how often a network fires, its input says",
        )


def unfold_graph(path: str, options: GraphOptions = PLAIN_GRAPH) -> UnfoldedGraph:
    """Return the trace and the weights of a file with a static graph.

    Raises:
        FormatError: the file is wrong, or the rates of a channel do not balance.
        DeadlockError: no iteration comes to its end. OptionError: an option does not fit the graph.
    """
    if options.iterations is not None and options.iterations < 1:
        raise OptionError(f"{options.iterations} iterations of a graph are none", expected="--iterations of 1 or more")
    graph = read_graph(path, options.graph)
    firings = repetition_vector(graph)
    require_live(graph, firings)
    iterations = options.iterations or usual_iterations(firings)
    made_by = (
        ("tool", f"dse {dse.__version__}, from a graph of {graph.tool}"),
        (GRAPH, encodable(path)),
        ("graph digest", file_digest(path)),
        ("iterations", str(iterations)),
    )
    trace = graph_trace(graph, firings, iterations, made_by)
    check_token_counts(trace, path)
    weights = graph_weights(graph, options.processors)
    if weights is None and options.processors:
        raise OptionError(f"the graph of '{path}' has no execution times", expected="leave out --processor")
    counted = "1 iteration" if iterations == 1 else f"{iterations:,} iterations"
    return UnfoldedGraph(
        graph=graph,
        firings=firings,
        iterations=iterations,
        trace=trace,
        weights=weights,
        assumed=(
            f"{counted} of {sum(firings):,} firings{'' if options.iterations else ' (--iterations N)'}",
            *graph.notes,
        ),
    )
