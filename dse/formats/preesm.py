"""Graphs (.pi) and scenarios (.scenario) of PREESM: Desnos et al., "PiMM: Parameterized and interfaced dataflow
meta-model", SAMOS 2013; Pelcat et al., "PREESM: A dataflow-based rapid prototyping framework", EDERC 2014.

A graph is GraphML whose nodes say by ``kind`` what they are. A scenario names the graph by the path of a workspace,
``/PROJECT/Algo/x.pi``: the project is a folder above the scenario. Constraints, architectures (.slam) and code are left
out.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath
from typing import Literal

from lxml import etree

from dse.base.diagnostics import Gatherer
from dse.base.registry import nearest_names
from dse.formats.trace_header import MOST_TOKEN_BITS
from dse.formats.xml_reading import XmlReader, open_xml, raise_errors, shorten
from dse.formats.xml_source import local_name
from dse.model.pi_graph import PiDependency, PiFifo, PiGraph, PiNode, PiPort, PiScenario, PiTiming

_EDGES = ("fifo", "dependency")
_WITH_PORTS = ("actor", "broadcast", "fork", "join", "roundbuffer")
_BETWEEN = {"output": "put a broadcast or a fork between", "input": "put a join between"}
_ROOT = re.compile(rb"<([A-Za-z_][\w:.-]*)")


def is_preesm(beginning: bytes) -> bool:
    """Return whether the beginning of a file is that of a scenario or of GraphML."""
    root = _ROOT.search(beginning)
    return root is not None and root[1] in (b"scenario", b"graphml")


def is_scenario(path: str) -> bool:
    """Return whether a file of PREESM is a scenario."""
    with Path(path).open("rb") as file:
        root = _ROOT.search(file.read(4096))
    return root is not None and root[1] == b"scenario"


def find_in_project(url: str, beside: str) -> str | None:
    """Return the file that ``url`` names for the file ``beside``: in a folder above it; None where there is none."""
    parts = PurePosixPath(url.strip()).parts
    parts = parts[1:] if parts[:1] == ("/",) else parts
    if not parts or ".." in parts or "\0" in url:
        return None
    for folder in Path(beside).absolute().parents:
        for tail in (parts, parts[1:]):
            if tail and folder.joinpath(*tail).is_file():
                return _as_written(folder.joinpath(*tail), beside)
    return None


def _as_written(found: Path, beside: str) -> str:
    """Return a path in the manner of ``beside``: below the working directory where that is."""
    here = Path.cwd()
    return str(found.relative_to(here)) if not Path(beside).is_absolute() and found.is_relative_to(here) else str(found)


def read_pi(path: str) -> PiGraph:
    """Return the graph of a ``.pi`` file. Raises ``FormatError`` with everything that is wrong in it."""
    gather = Gatherer()
    reader = open_xml(path, gather)
    graphs = list(reader.children(reader.root, "graph"))
    if local_name(reader.root).lower() != "graphml" or len(graphs) != 1:
        reader.error("this is no graph of PREESM", reader.root, "expected '<graphml>' with one '<graph>'")
    raise_errors(gather)
    found = _graph(reader, graphs[0], path)
    raise_errors(gather)
    return found


def _graph(reader: XmlReader, graph: etree._Element, path: str) -> PiGraph:
    elements, edges = list(reader.children(graph, "node")), list(reader.children(graph, "edge"))
    if not any(_kind(reader, element) for element in elements):
        reader.error("no node has a 'kind': this is GraphML of another tool", graph, "expected a graph of PREESM")
    nodes = tuple(filter(None, (_node(reader, element) for element in elements)))
    _refuse_repeated(reader, elements)
    fifos = list(_fifos(reader, nodes, edges))
    return PiGraph(
        name=_data(reader, graph, "name") or Path(path).stem,
        path=path,
        nodes=nodes,
        fifos=tuple(fifos),
        dependencies=tuple(_dependency(reader, edge) for edge in edges if _kind(reader, edge) == "dependency"),
    )


def _refuse_repeated(reader: XmlReader, elements: list[etree._Element]) -> None:
    """Refuse a second node of a name."""
    first: dict[str, etree._Element] = {}
    for element in elements:
        name = reader.text(element, "id") or ""
        before = first.setdefault(name, element)
        if name and before is not element:
            where = f"the first is in line {reader.span(before).line}"
            reader.error(f"node '{shorten(name)}' is there twice", element, where, "id")


def _fifos(reader: XmlReader, nodes: tuple[PiNode, ...], edges: list[etree._Element]) -> Iterator[PiFifo]:
    """Yield the FIFOs; edges of an unknown kind, absent ports and a second FIFO at a port are errors."""
    ends = _Ends(reader, {node.name: node for node in nodes if node.kind in _WITH_PORTS})
    for edge in edges:
        kind = _kind(reader, edge)
        if kind not in _EDGES:
            reader.error(f"an edge of kind '{shorten(kind)}'", edge, nearest_names(kind, _EDGES), "kind")
        fifo = _fifo(reader, edge) if kind == "fifo" else None
        if fifo is not None:
            ends.check(edge, "output", fifo.source, fifo.source_port)
            ends.check(edge, "input", fifo.target, fifo.target_port)
            yield fifo


@dataclass(slots=True)
class _Ends:
    """The ports of actors, and the edges that are at them."""

    reader: XmlReader
    actors: dict[str, PiNode]
    taken: dict[tuple[str, str, str], etree._Element] = field(default_factory=dict)

    def check(self, edge: etree._Element, side: Literal["input", "output"], name: str, port: str) -> None:
        """Refuse a port that the actor does not have, and a second FIFO at one: that takes a broadcast, or a join."""
        actor = self.actors.get(name)
        if actor is None:
            return
        ports = tuple(p.name for p in (actor.outputs if side == "output" else actor.inputs))
        attribute = "sourceport" if side == "output" else "targetport"
        if port not in ports:
            what = f"actor '{shorten(name)}' has no {side} port '{shorten(port)}'"
            self.reader.error(what, edge, nearest_names(port, ports), attribute)
        before = self.taken.setdefault((side, name, port), edge)
        if before is not edge:
            what = f"{side} port '{shorten(port)}' of '{shorten(name)}' has a second FIFO"
            where = f"the first is in line {self.reader.span(before).line}; {_BETWEEN[side]}"
            self.reader.error(what, edge, where, attribute)


def _kind(reader: XmlReader, element: etree._Element) -> str:
    return (reader.text(element, "kind") or "").strip().lower()


def _data(reader: XmlReader, element: etree._Element, key: str) -> str | None:
    """Return the text of a ``data`` child."""
    found = (e for e in reader.children(element, "data") if reader.text(e, "key") == key)
    return next(((e.text or "").strip() for e in found), None) or None


def _node(reader: XmlReader, element: etree._Element) -> PiNode | None:
    name = reader.required(element, "id")
    refinement = _data(reader, element, "graph_desc") or ""
    if name is None:
        return None
    return PiNode(
        name=name,
        kind=_kind(reader, element),
        expr=reader.text(element, "expr") or "0",
        inputs=_ports(reader, element, "input"),
        outputs=_ports(reader, element, "output"),
        config_outputs=bool(_ports(reader, element, "cfg_output")),
        refinement=refinement if refinement.endswith(".pi") else None,
        setter=reader.text(element, "setter") or "",
        getter=reader.text(element, "getter") or "",
        span=reader.span(element),
    )


def _ports(reader: XmlReader, node: etree._Element, kind: str) -> tuple[PiPort, ...]:
    """Return the ports of a node of one kind."""
    elements = [element for element in reader.children(node, "port") if _kind(reader, element) == kind]
    return tuple(
        PiPort(name=reader.required(element, "name") or "", rate=reader.text(element, "expr") or "0")
        for element in elements
    )


def _fifo(reader: XmlReader, element: etree._Element) -> PiFifo | None:
    ends = [reader.required(element, name) for name in ("source", "sourceport", "target", "targetport")]
    source, source_port, target, target_port = ends
    if source is None or source_port is None or target is None or target_port is None:
        return None
    return PiFifo(
        source=source,
        source_port=source_port,
        target=target,
        target_port=target_port,
        type=(reader.text(element, "type") or "").strip(),
        delay=_data(reader, element, "delay"),
        initial=reader.text(element, "expr") or "0",
        span=reader.span(element),
    )


def _dependency(reader: XmlReader, element: etree._Element) -> PiDependency:
    return PiDependency(
        source=reader.text(element, "source") or "",
        target=reader.text(element, "target") or "",
        target_port=reader.text(element, "targetport") or "",
    )


def read_scenario(path: str) -> PiScenario:
    """Return a scenario. Raises ``FormatError`` with everything that is wrong in it."""
    gather = Gatherer()
    reader = open_xml(path, gather)
    algorithms = _below(reader, "files", "algorithm")
    if not algorithms:
        reader.error("the scenario names no algorithm", reader.root, "expected '<algorithm url=\"...\"/>'")
    url = reader.required(algorithms[0], "url") if algorithms else None
    timings = tuple(filter(None, (_timing(reader, element) for element in _below(reader, "timings", "timing"))))
    parameters = dict(_parameter(reader, element) for element in _below(reader, "parametervalues", "parameter"))
    bits = _type_bits(reader, 1 if _below(reader, "flags", "sizesareinbit") else 8)
    raise_errors(gather)
    return PiScenario(path=path, algorithm=url or "", timings=timings, parameters=parameters, type_bits=bits)


def _below(reader: XmlReader, *tags: str) -> list[etree._Element]:
    """Return the elements that lie below the root on a way of tags."""
    found = [reader.root]
    for tag in tags:
        found = [child for element in found for child in reader.children(element, tag)]
    return found


def _parameter(reader: XmlReader, element: etree._Element) -> tuple[tuple[str, str], str]:
    """Return graph and name of a parameter, and its value; one value in brackets is that value."""
    parent, name, value = (reader.text(element, key) or "" for key in ("parent", "name", "value"))
    return (parent, name), value.strip("[] ")


def _timing(reader: XmlReader, element: etree._Element) -> PiTiming | None:
    """Return a time of execution; others, such as energies, are left out."""
    kind = reader.text(element, "timingtype")
    operator, vertex, time = (reader.required(element, name) for name in ("opname", "vertexname", "time"))
    if operator is None or vertex is None or time is None or kind not in (None, "EXECUTION_TIME"):
        return None
    return PiTiming(operator=operator, vertex=vertex, time=time, span=reader.span(element, "time"))


def _type_bits(reader: XmlReader, bits_of_unit: int) -> dict[str, int]:
    found: dict[str, int] = {}
    for element in _below(reader, "simuparams", "datatypes", "datatype"):
        size = reader.integer(element, "size")
        if size is not None:
            found[reader.text(element, "name") or ""] = min(size * bits_of_unit, MOST_TOKEN_BITS)
    return found
