"""Network models of TURNUS (.net): EMF XMI files with actors, actor classes and buffers; formats.md, section Trace.

References are EMF fragment paths (``//@actors.1/@inputPorts.0``). The model has no token rates: those of fired actions
come from the trace beside it. Read where present: ``production`` and ``consumption`` of actions (since TURNUS 2023).
Written is what every version of TURNUS reads. Buffers at ports of the network itself carry no firing's tokens and are
left out.
"""

import re
from dataclasses import dataclass

from lxml import etree

from dse.base.diagnostics import Gatherer
from dse.base.registry import nearest_names
from dse.formats.trace_header import MOST_TOKEN_BITS
from dse.formats.xml_reading import (
    XmlReader,
    open_xml,
    raise_errors,
    refuse_unwritable,
    shorten,
    topology_names,
    write_xml,
)
from dse.formats.xml_source import local_name
from dse.model.trace import Topology, Trace, TraceAction, TraceActor, TraceBuffer

_MODEL = "http://turnus.co/model/2015/dataflow"
_XMI = "http://www.omg.org/XMI"
_XSI = "http://www.w3.org/2001/XMLSchema-instance"
_PORT = re.compile(r"//@actors\.([0-9]{1,9})/@(inputPorts|outputPorts)\.([0-9]{1,9})", re.ASCII)
_CLASS = re.compile(r"//@actorClasses\.([0-9]{1,9})", re.ASCII)
_INITIALIZER = re.compile(r"initialize(_\d+)?", re.ASCII)
_FIXED_BITS = {"TypeBoolean": 1}


def is_initializer(name: str) -> bool:
    """Return whether an action of a TURNUS network is an initialiser: the files do not mark it, its name does."""
    return _INITIALIZER.fullmatch(name) is not None


def read_net(path: str) -> Topology:
    """Return the actors and buffers of a network model; rates are 0 where the model gives none.

    Raises:
        FormatError: with everything that is wrong in the file.
    """
    gather = Gatherer()
    reader = open_xml(path, gather, lambda name: name)
    if local_name(reader.root) != "Network":
        tag = local_name(reader.root)
        reader.error(f"the root element is '{tag}'", reader.root, "expected 'Network': this is no TURNUS network model")
    raise_errors(gather)
    topology = _NetReader(reader).topology()
    raise_errors(gather)
    return topology


@dataclass(slots=True)
class _NetReader:
    """Reads one document; ``reader.children`` matches tags in lower case."""

    reader: XmlReader

    def topology(self) -> Topology:
        reader, root = self.reader, self.reader.root
        classes = [reader.text(c, "name") or "" for c in reader.children(root, "actorclasses")]
        actors = [self._actor(element, classes) for element in reader.children(root, "actors")]
        self._check_unique([a.name for a in actors], list(reader.children(root, "actors")), "actor", "the network")
        buffers = [self._buffer(element, actors) for element in reader.children(root, "buffers")]
        return Topology(
            name=reader.required(root, "name") or "",
            actors=tuple(actors),
            buffers=tuple(buffer for buffer in buffers if buffer is not None),
        )

    def _check_unique(self, names: list[str], elements: list[etree._Element], what: str, where: str) -> None:
        seen: set[str] = set()
        for name, element in zip(names, elements, strict=True):
            if name and name in seen:
                self.reader.error(f"{what} '{name}' is there twice in {where}", element, "expected distinct names")
            seen.add(name)

    def _actor(self, element: etree._Element, classes: list[str]) -> TraceActor:
        reader = self.reader
        name = reader.required(element, "name") or ""
        ports = {tag: list(reader.children(element, tag.lower())) for tag in ("inputPorts", "outputPorts", "actions")}
        names = {tag: [reader.required(e, "name") or "" for e in elements] for tag, elements in ports.items()}
        for tag, what in (("inputPorts", "input port"), ("outputPorts", "output port"), ("actions", "action")):
            self._check_unique(names[tag], ports[tag], what, f"actor '{name}'")
        class_name = _class_name(reader.text(element, "actorClass") or "", classes)
        n_inputs, n_outputs = len(names["inputPorts"]), len(names["outputPorts"])
        actions = tuple(
            self._action(action, action_name, n_inputs, n_outputs)
            for action, action_name in zip(ports["actions"], names["actions"], strict=True)
        )
        return TraceActor(
            name=name,
            class_name=class_name,
            inputs=tuple(names["inputPorts"]),
            outputs=tuple(names["outputPorts"]),
            actions=actions,
        )

    def _action(self, element: etree._Element, name: str, n_inputs: int, n_outputs: int) -> TraceAction:
        reads = self._rates(element, "consumption", "inputPorts", n_inputs)
        writes = self._rates(element, "production", "outputPorts", n_outputs)
        return TraceAction(name=name, reads=reads, writes=writes, initializer=is_initializer(name))

    def _rates(self, action: etree._Element, tag: str, ports: str, n_ports: int) -> tuple[int, ...]:
        """Return the rates of an action, as far as the model gives them."""
        rates = [0] * n_ports
        for entry in self.reader.children(action, tag):
            match = _PORT.fullmatch(self.reader.text(entry, "key") or "")
            value = self.reader.integer(entry, "value")
            if match and match[2] == ports and int(match[3]) < n_ports and value is not None:
                rates[int(match[3])] = value
        return tuple(rates)

    def _buffer(self, element: etree._Element, actors: list[TraceActor]) -> TraceBuffer | None:
        reader = self.reader
        source = self._port(element, "source", "outputPorts", actors)
        target = self._port(element, "target", "inputPorts", actors)
        bits = self._bits(element)
        initial = reader.integer(element, "initialTokens")
        if source is None or target is None:
            return None
        return TraceBuffer(
            source=source[0],
            source_port=source[1],
            target=target[0],
            target_port=target[1],
            token_bits=bits,
            token_bytes=_container_bytes(bits),
            initial_tokens=initial or 0,
        )

    def _port(self, element: etree._Element, name: str, ports: str, actors: list[TraceActor]) -> tuple[int, int] | None:
        """Return (actor, port) of a reference; None for a port of the network or after an error."""
        text = self.reader.required(element, name)
        if text is None or re.fullmatch(r"//@(inputPorts|outputPorts)\.[0-9]+", text):
            return None
        match = _PORT.fullmatch(text)
        if match and match[2] == ports and int(match[1]) < len(actors):
            actor = actors[int(match[1])]
            if int(match[3]) < len(actor.inputs if ports == "inputPorts" else actor.outputs):
                return int(match[1]), int(match[3])
        expected = f"expected a reference such as //@actors.0/@{ports}.0"
        self.reader.error(f"{name} '{shorten(text)}' of a buffer is no port of an actor", element, expected, name)
        return None

    def _bits(self, element: etree._Element) -> int:
        """Return the size of a token in bits."""
        found = list(self.reader.children(element, "type"))
        if not found:
            self.reader.error("the buffer has no 'type'", element, 'expected \'<type xsi:type="..." size="..."/>\'')
            return 0
        return self._type_bits(found[0])

    def _type_bits(self, element: etree._Element) -> int:
        kind = (self.reader.text(element, f"{{{_XSI}}}type") or "").rpartition(":")[2]
        if kind in _FIXED_BITS:
            return _FIXED_BITS[kind]
        if kind == "TypeList":
            inner = next(self.reader.children(element, "listtype"), None)
            elements = self.reader.integer(element, "elements") or 0
            bits = elements * self._type_bits(inner) if inner is not None else 0
            if bits > MOST_TOKEN_BITS:
                self.reader.error(f"a token of {bits:.3g} bits", element, f"expected at most {MOST_TOKEN_BITS} bits")
            return min(bits, MOST_TOKEN_BITS)
        return self.reader.integer(element, "size") or 0


def _container_bytes(bits: int) -> int:
    """Return the bytes of the smallest machine word that holds a token; whole bytes beyond 64 bits."""
    return next((n for n in (1, 2, 4, 8) if bits <= 8 * n), -(-bits // 8))


def _class_name(reference: str, classes: list[str]) -> str:
    """Return the class that a reference names, "" where there is none."""
    match = _CLASS.fullmatch(reference)
    return classes[int(match[1])] if match and int(match[1]) < len(classes) else ""


def write_net(trace: Trace, path: str) -> None:
    """Write the network model of a trace. Raises ``FormatError`` when the file cannot be written."""
    topology = trace.topology
    refuse_unwritable(path, topology_names(topology))
    root = etree.Element(f"{{{_MODEL}}}Network", nsmap={"xmi": _XMI, "xsi": _XSI, "turnus.model.dataflow": _MODEL})
    root.set(f"{{{_XMI}}}version", "2.0")
    for name in ("name", "sourceFile", "project"):
        root.set(name, topology.name)
    classes = list(dict.fromkeys(actor.class_name for actor in topology.actors))
    for a, actor in enumerate(topology.actors):
        element = etree.SubElement(root, "actors", {"name": actor.name})
        element.set("actorClass", f"//@actorClasses.{classes.index(actor.class_name)}")
        _add_ports(element, topology, a)
        for variable in _variables(trace, a):
            _type(etree.SubElement(element, "variables", {"name": variable}), 0)
        for action in actor.actions:
            etree.SubElement(element, "actions", {"name": action.name})
    for name in classes:
        actors = " ".join(f"//@actors.{a}" for a, actor in enumerate(topology.actors) if actor.class_name == name)
        attributes = {"name": name, "sourceFile": name, "nameSpace": "", "actors": actors}
        etree.SubElement(root, "actorClasses", attributes)
    for buffer in topology.buffers:
        _add_buffer(root, buffer)
    write_xml(root, path)


def _add_ports(element: etree._Element, topology: Topology, a: int) -> None:
    """Add the ports of an actor, each with the buffers at it and its type."""
    actor = topology.actors[a]
    for p, port in enumerate(actor.inputs):
        buffers = [i for i, b in enumerate(topology.buffers) if (b.target, b.target_port) == (a, p)]
        _port(element, "inputPorts", port, {"input": buffers[:1]}, _bits(topology, buffers))
    for p, port in enumerate(actor.outputs):
        buffers = [i for i, b in enumerate(topology.buffers) if (b.source, b.source_port) == (a, p)]
        _port(element, "outputPorts", port, {"outputs": buffers}, _bits(topology, buffers))


def _bits(topology: Topology, buffers: list[int]) -> int | None:
    """Return the bits of a token at a port with some buffers, None where it is not connected."""
    return topology.buffers[buffers[-1]].token_bits if buffers else None


def _add_buffer(root: etree._Element, buffer: TraceBuffer) -> None:
    """Add a buffer with its ends and its initial tokens."""
    ends = {
        "source": f"//@actors.{buffer.source}/@outputPorts.{buffer.source_port}",
        "target": f"//@actors.{buffer.target}/@inputPorts.{buffer.target_port}",
    }
    initial = {"initialTokens": str(buffer.initial_tokens)} if buffer.initial_tokens else {}
    _type(etree.SubElement(root, "buffers", ends | initial), buffer.token_bits)


def _port(parent: etree._Element, tag: str, name: str, buffers: dict[str, list[int]], bits: int | None) -> None:
    """Add a port with the references to its buffers."""
    port = etree.SubElement(parent, tag, {"name": name})
    for attribute, indices in buffers.items():
        if indices:
            port.set(attribute, " ".join(f"//@buffers.{i}" for i in indices))
    if bits is not None:
        _type(port, bits)


def _type(parent: etree._Element, bits: int) -> None:
    """Add the type of tokens; signedness is not known here and means nothing to an estimation."""
    kind = "TypeUndefined" if bits == 0 else "TypeBoolean" if bits == 1 else "TypeInt"
    element = etree.SubElement(parent, "type", {f"{{{_XSI}}}type": f"turnus.model.dataflow:{kind}"})
    if bits != 1:
        element.set("size", str(bits))


def _variables(trace: Trace, actor: int) -> list[str]:
    """Return the state variables of an actor, as far as accesses were recorded."""
    if not trace.accesses:
        return []
    return sorted({name for signature in trace.accesses[actor].signatures for names in signature for name in names})


def unknown_name(what: str, name: str, known: tuple[str, ...]) -> tuple[str, str]:
    """Return message and advice for a name that the network model lacks."""
    return f"the network model has no {what} called '{shorten(name)}'", nearest_names(name, known)
