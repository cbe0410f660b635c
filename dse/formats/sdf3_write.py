"""Writes static graphs as SDF3 reads them: an SDF graph where every actor has one phase, else a CSDF graph.

Execution times are rounded to whole numbers, halves up: SDF3 reads no others.
"""

from collections.abc import Sequence
from fractions import Fraction
from itertools import count, groupby

from lxml import etree

from dse.formats.xml_reading import refuse_unwritable, write_xml
from dse.model.dataflow_graph import DataflowActor, DataflowChannel, DataflowGraph

_XSI = "http://www.w3.org/2001/XMLSchema-instance"
_HALF = Fraction(1, 2)
_SCHEMA = "http://www.es.ele.tue.nl/sdf3/xsd/sdf3-{kind}.xsd"


def write_sdf3(graph: DataflowGraph, path: str) -> None:
    """Write a graph. Raises ``FormatError`` when the file cannot be written, or holds a name that XML cannot have."""
    refuse_unwritable(path, _names(graph))
    kind = "sdf" if all(actor.n_phases == 1 for actor in graph.actors) else "csdf"
    root = etree.Element("sdf3", {"type": kind, "version": "1.0"}, nsmap={"xsi": _XSI})
    root.set(f"{{{_XSI}}}noNamespaceSchemaLocation", _SCHEMA.format(kind=kind))
    application = etree.SubElement(root, "applicationGraph", {"name": graph.name})
    body = etree.SubElement(application, kind, {"name": graph.name, "type": graph.name})
    properties = etree.SubElement(application, f"{kind}Properties")
    for actor in graph.actors:
        _add_actor(body, actor)
        if actor.times:
            _add_times(properties, actor)
    for channel in graph.channels:
        _add_channel(body, graph, channel)
        _add_sizes(properties, channel)
    write_xml(root, path)


def _names(graph: DataflowGraph) -> list[str]:
    names = [graph.name, *(channel.name for channel in graph.channels)]
    for actor in graph.actors:
        names += [actor.name, actor.class_name, *actor.inputs, *actor.outputs, *(t.processor for t in actor.times)]
    return names


def _add_actor(body: etree._Element, actor: DataflowActor) -> None:
    element = etree.SubElement(body, "actor", {"name": actor.name, "type": actor.class_name or actor.name})
    inputs = _input_names(actor)
    for direction, names, rates in (("in", inputs, actor.reads), ("out", actor.outputs, actor.writes)):
        for name, of_port in zip(names, rates, strict=True):
            rate = _list([str(n) for n in of_port])
            etree.SubElement(element, "port", {"name": name, "type": direction, "rate": rate})


def _input_names(actor: DataflowActor) -> list[str]:
    """Return the names of inputs: the ports of an actor have one each in SDF3, which other tools ask of a side only."""
    taken, names = {*actor.inputs, *actor.outputs}, list[str]()
    for name in actor.inputs:
        if name in actor.outputs:
            tried = (f"{name}_in{number or ''}" for number in count())
            name = next(free for free in tried if free not in taken)
            taken.add(name)
        names.append(name)
    return names


def _add_times(properties: etree._Element, actor: DataflowActor) -> None:
    element = etree.SubElement(properties, "actorProperties", {"actor": actor.name})
    defaults = [time.default for time in actor.times]
    for number, time in enumerate(actor.times):
        default = time.default or (number == 0 and not any(defaults))
        attributes = {"type": time.processor, "default": "true" if default else "false"}
        processor = etree.SubElement(element, "processor", attributes)
        etree.SubElement(processor, "executionTime", {"time": _list([str(int(t + _HALF)) for t in time.times])})


def _add_channel(body: etree._Element, graph: DataflowGraph, channel: DataflowChannel) -> None:
    source, target = graph.ends(channel)
    attributes = {
        "name": channel.name,
        "srcActor": source.name,
        "srcPort": source.outputs[channel.source_port],
        "dstActor": target.name,
        "dstPort": _input_names(target)[channel.target_port],
    }
    if channel.initial_tokens:
        attributes["initialTokens"] = str(channel.initial_tokens)
    etree.SubElement(body, "channel", attributes)


def _add_sizes(properties: etree._Element, channel: DataflowChannel) -> None:
    if not channel.token_bits and channel.capacity_tokens is None:
        return
    element = etree.SubElement(properties, "channelProperties", {"channel": channel.name})
    if channel.capacity_tokens is not None:
        size = str(channel.capacity_tokens)
        etree.SubElement(element, "bufferSize", {"sz": size, "src": size, "dst": size, "mem": size})
    if channel.token_bits:
        etree.SubElement(element, "tokenSize", {"sz": str(channel.token_bits)})


def _list(values: Sequence[str]) -> str:
    """Return a list with equal neighbours counted, as in ``3*0,1``."""
    runs = [(value, len(list(run))) for value, run in groupby(values)]
    return ",".join(value if n == 1 else f"{n}*{value}" for value, n in runs)
