"""Pictures of networks for Graphviz (.dot): an ellipse an actor, an arrow a FIFO; https://graphviz.org/doc/info/lang.html.

Written only. An actor shows its class and its firings; an arrow the tokens that firings write and read, initial tokens
and the size of the FIFO, as far as they are known.
"""

from dse.base.escaping import shown
from dse.formats.xml_reading import write_file
from dse.model.trace import Topology, Trace


def write_dot(trace: Trace, path: str) -> None:
    """Write the network of a trace. Raises ``FormatError`` when the file cannot be written."""
    topology = trace.topology
    lines = [f"digraph {_quoted(topology.name)} {{", "  rankdir=LR;", "  node [shape=ellipse];"]
    for a, (actor, ids) in enumerate(zip(topology.actors, trace.firings, strict=True)):
        fired = "1 firing" if len(ids) == 1 else f"{len(ids):,} firings"
        lines.append(f"  a{a} [label={_quoted(actor.name, actor.class_name, fired)}];")
    lines += [_arrow(topology, index) for index in range(len(topology.buffers))]
    write_file(path, "\n".join([*lines, "}", ""]).encode("utf-8", "replace"))


def _arrow(topology: Topology, index: int) -> str:
    buffer = topology.buffers[index]
    source, target = topology.actors[buffer.source], topology.actors[buffer.target]
    written = _range([action.writes[buffer.source_port] for action in source.actions])
    read = _range([action.reads[buffer.target_port] for action in target.actions])
    notes = [f"{buffer.initial_tokens} initial"] if buffer.initial_tokens else []
    notes += [f"size {buffer.capacity}"] if buffer.capacity is not None else []
    label = _quoted(f"{written} : {read}", *notes)
    return f"  a{buffer.source} -> a{buffer.target} [label={label}, tooltip={_quoted(topology.buffer_name(index))}];"


def _range(rates: list[int]) -> str:
    """Return the rates of actions: one number where they are equal."""
    least, most = min(rates, default=0), max(rates, default=0)
    return str(most) if least == most else f"{least}-{most}"


def _quoted(*lines: str) -> str:
    """Return lines of text as one string of the language: what stands in a name means nothing there."""
    escaped = (shown(line).replace("\\", "\\\\").replace('"', '\\"') for line in lines if line)
    return '"' + "\\n".join(escaped) + '"'
