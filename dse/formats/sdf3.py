"""Graphs of SDF3 (.xml): SDF and CSDF application graphs; Stuijk, Geilen and Basten, "SDF3: SDF For Free", ACSD 2006.

Read are actors, ports with rates, channels with initial tokens, and of the properties the execution times by type of
processor, token sizes (in bits) and buffer sizes (``sz``, in tokens). Rates and times of a CSDF graph are lists such as
``1,2,3*0``; one number stands for all phases. Left out are memory sizes, bandwidths, latencies and constraints. Other
tools write the same form with small differences, which are read too: an ``sdf`` element that holds a CSDF graph, no
names of graphs, fractions as times.
"""

import math
import re
from collections.abc import Callable
from dataclasses import dataclass, field
from fractions import Fraction
from typing import TypeVar

from lxml import etree

from dse.base.diagnostics import Gatherer
from dse.base.numbers import ANY_NUMBER, parse_decimal, parse_integer
from dse.base.registry import nearest_names
from dse.formats.trace_header import MOST_TOKEN_BITS
from dse.formats.xml_reading import XmlReader, open_xml, raise_errors, shorten
from dse.formats.xml_source import local_name
from dse.model.dataflow_graph import DataflowActor, DataflowChannel, DataflowGraph, ProcessorTime
from dse.model.design_point import MOST_TOKENS

MOST_PHASES = 100_000
"""Phases of an actor, at most."""
_KINDS = ("sdf", "csdf")
_ROOT = re.compile(rb"<([A-Za-z_][\w:.-]*)")
Value = TypeVar("Value", int, Fraction)


def is_sdf3(beginning: bytes) -> bool:
    """Return whether the beginning of a file is that of an SDF3 file: its first tag is ``sdf3``."""
    root = _ROOT.search(beginning)
    return root is not None and root[1].lower() == b"sdf3"


def read_sdf3(path: str) -> DataflowGraph:
    """Return the application graph of an SDF3 file.

    Raises:
        FormatError: with everything that is wrong in the file, or that the file holds a graph of another kind.
    """
    gather = Gatherer()
    reader = open_xml(path, gather)
    if local_name(reader.root).lower() != "sdf3":
        tag = local_name(reader.root)
        reader.error(f"the root element is '{tag}'", reader.root, "expected 'sdf3': this is no graph of SDF3")
        raise_errors(gather)
    kind = reader.text(reader.root, "type")
    if kind is not None and kind.lower() not in _KINDS:
        expected = "graphs with static rates are read: type 'sdf' or 'csdf'"
        reader.error(f"a graph of type '{shorten(kind)}'", reader.root, expected, "type")
        raise_errors(gather)
    graph = _Reader(reader).graph(path)
    raise_errors(gather)
    return graph


_ONCE = "expected the properties of a channel in one place"


@dataclass(slots=True)
class _Port:
    """A port: its rates, and the channels at it."""

    name: str
    rates: tuple[int, ...]
    channels: int = 0


@dataclass(slots=True)
class _Actor:
    """An actor while the file is read."""

    name: str
    class_name: str
    element: etree._Element
    inputs: list[_Port] = field(default_factory=list)
    outputs: list[_Port] = field(default_factory=list)
    times: list[tuple[str, tuple[Fraction, ...], bool]] = field(default_factory=list)
    loops: int = 0


@dataclass(slots=True)
class _Properties:
    """What the properties say of a channel."""

    bits: int = 0
    capacity: int | None = None
    element: etree._Element | None = None
    """Where it is said."""


@dataclass(slots=True)
class _Reader:
    """Reads one document."""

    reader: XmlReader
    actors: dict[str, _Actor] = field(default_factory=dict)
    numbers: dict[str, int] = field(default_factory=dict)

    def graph(self, path: str) -> DataflowGraph:
        """Return the graph of the document; what is wrong is gathered."""
        reader = self.reader
        application = self._only(reader.root, "applicationgraph", "'<applicationGraph>'")
        body = None if application is None else self._only(application, "sdf or csdf", "'<sdf>' or '<csdf>'", _KINDS)
        if application is None or body is None:
            raise_errors(reader.gather)
            raise AssertionError("what is missing was gathered")
        self._read_actors(body)
        found = [c for tag in ("sdfproperties", "csdfproperties") for c in reader.children(application, tag)]
        properties = self._read_properties(found)
        channels = self._read_channels(body, properties)
        return DataflowGraph(
            name=reader.text(body, "name") or reader.text(application, "name") or "graph",
            path=path,
            tool="SDF3",
            actors=tuple(self._actor(actor) for actor in self.actors.values()),
            channels=channels,
        )

    def _only(
        self, parent: etree._Element, name: str, written: str, tags: tuple[str, ...] = ()
    ) -> etree._Element | None:
        """Return the one child of a kind; none or several are an error."""
        found = list(self.reader.children(parent, *(tags or (name,))))
        if len(found) == 1:
            return found[0]
        problem = f"no {written}" if not found else f"{len(found)} of {written}"
        self.reader.error(f"'{local_name(parent)}' has {problem}", parent, "expected one graph in a file")
        return None

    # Actors

    def _read_actors(self, body: etree._Element) -> None:
        reader = self.reader
        for element in reader.children(body, "actor"):
            name = reader.required(element, "name")
            if name is None:
                continue
            if name in self.actors:
                reader.error(f"actor '{shorten(name)}' is there twice", element, "expected distinct names", "name")
                continue
            actor = _Actor(name, reader.text(element, "type") or name, element)
            for port in reader.children(element, "port"):
                self._read_port(actor, port)
            self.numbers[name] = len(self.actors)
            self.actors[name] = actor
        if not self.actors:
            reader.error("the graph has no actors", body, "expected '<actor name=\"...\">'")

    def _read_port(self, actor: _Actor, element: etree._Element) -> None:
        reader = self.reader
        name, rate = reader.required(element, "name"), reader.required(element, "rate")
        direction = reader.choice(element, "type", ("in", "out"))
        if direction is None and reader.text(element, "type") is None:
            reader.error("'port' has no 'type'", element, "expected type 'in' or 'out'")
        rates = None if rate is None else self._values(element, "rate", rate, _rate)
        if name is None or direction is None:
            return
        if any(port.name == name for port in (*actor.inputs, *actor.outputs)):
            where = f"actor '{shorten(actor.name)}'"
            reader.error(
                f"port '{shorten(name)}' is there twice in {where}", element, "expected distinct names", "name"
            )
            return
        (actor.inputs if direction == "in" else actor.outputs).append(_Port(name, rates or (1,)))

    def _values(
        self, element: etree._Element, name: str, text: str, parse: Callable[[str], Value | None]
    ) -> tuple[Value, ...] | None:
        """Return the numbers of a list such as ``1,2,3*0``; None after an error."""
        if ";" in text:
            what = (
                f"{name} of '{local_name(element)}' is '{shorten(text)}': it begins with phases that never come again"
            )
            self.reader.error(what, element, "expected phases that repeat, without ';'", name)
            return None
        values: list[Value] = []
        for part in text.split(","):
            times, star, number = part.rpartition("*")
            count, value = parse_integer(times) if star else 1, parse(number)
            if count is None or count < 0 or value is None:
                what = f"{name} of '{local_name(element)}' is '{shorten(text)}'"
                self.reader.error(what, element, "expected a number of at least 0, or a list: 1,2,3*0", name)
                return None
            if len(values) + count > MOST_PHASES:
                what = f"{name} of '{local_name(element)}' has more than {MOST_PHASES:,} phases"
                self.reader.error(what, element, "expected fewer", name)
                return None
            values += [value] * count
        if not values:
            self.reader.error(f"{name} of '{local_name(element)}' has no phase", element, "expected at least one", name)
            return None
        return tuple(values)

    # Properties

    def _read_properties(self, elements: list[etree._Element]) -> dict[str, _Properties]:
        """Read the execution times into the actors; return what is said of channels, by name."""
        found: dict[str, _Properties] = {}
        for element in (child for e in elements for child in self.reader.children(e)):
            tag = local_name(element).lower()
            if tag == "actorproperties":
                self._read_times(element)
            elif tag == "channelproperties":
                name = self.reader.required(element, "channel")
                if name in found:
                    self.reader.error(f"channel '{shorten(name)}' has properties twice", element, _ONCE, "channel")
                elif name is not None:
                    found[name] = self._channel_properties(element)
        return found

    def _read_times(self, element: etree._Element) -> None:
        name = self.reader.required(element, "actor")
        actor = None if name is None else self._named(element, "actor", name)
        for processor in self.reader.children(element, "processor"):
            kind = self.reader.required(processor, "type")
            default = (self.reader.text(processor, "default") or "").strip().lower() in ("true", "1")
            entries = list(self.reader.children(processor, "executiontime"))
            found = [self._times_of(entry) for entry in entries]
            if actor is None or kind is None:
                continue
            self._refuse_twice(actor, kind, processor, len(entries))
            actor.times += [(kind, times, default) for times in found if times is not None]

    def _times_of(self, entry: etree._Element) -> tuple[Fraction, ...] | None:
        """Return the times of an element, one for each phase; None after an error."""
        text = self.reader.required(entry, "time")
        return None if text is None else self._values(entry, "time", text, _time)

    def _refuse_twice(self, actor: _Actor, kind: str, processor: etree._Element, entries: int) -> None:
        """Refuse a second time of an actor on a type of processor."""
        if entries > 1 or any(kind == known for known, _, _ in actor.times):
            what = f"actor '{shorten(actor.name)}' has times on '{shorten(kind)}' twice"
            self.reader.error(what, processor, "expected one 'executionTime', with commas between those of phases")

    def _channel_properties(self, element: etree._Element) -> _Properties:
        reader, found = self.reader, _Properties(element=element)
        for child in reader.children(element, "tokensize"):
            found.bits = min(reader.integer(child, "sz") or 0, MOST_TOKEN_BITS)
        for child in reader.children(element, "buffersize"):
            of_ends = any(reader.text(child, name) is not None for name in ("src", "dst", "mem"))
            text = reader.text(child, "sz") if of_ends else reader.required(child, "sz")
            if text is not None and text.strip() not in ("-1", "0", "inf"):
                found.capacity = reader.integer(child, "sz", least=1)
        return found

    def _named(self, element: etree._Element, attribute: str, name: str) -> _Actor | None:
        """Return the actor of a name; none is an error."""
        actor = self.actors.get(name)
        if actor is None:
            expected = nearest_names(name, tuple(self.actors))
            self.reader.error(f"there is no actor '{shorten(name)}'", element, expected, attribute)
        return actor

    # Channels

    def _read_channels(self, body: etree._Element, properties: dict[str, _Properties]) -> tuple[DataflowChannel, ...]:
        reader, found = self.reader, list[DataflowChannel]()
        names: set[str] = set()
        for element in reader.children(body, "channel"):
            name = reader.required(element, "name") or ""
            if name in names:
                reader.error(f"channel '{shorten(name)}' is there twice", element, "expected distinct names", "name")
            names.add(name)
            channel = self._channel(element, name, properties.get(name, _Properties()))
            if channel is not None:
                found.append(channel)
        for name, said in properties.items():
            if name not in names and said.element is not None:
                what = f"there is no channel '{shorten(name)}'"
                reader.error(what, said.element, nearest_names(name, tuple(names)), "channel")
        return tuple(found)

    def _channel(self, element: etree._Element, name: str, said: _Properties) -> DataflowChannel | None:
        source = self._end(element, "srcactor", "srcport", "outputs")
        target = self._end(element, "dstactor", "dstport", "inputs")
        initial = self.reader.integer(element, "initialtokens") or 0
        if source is None or target is None:
            return None
        if source[0] == target[0] and initial:
            [*self.actors.values()][source[0]].loops += 1
        return DataflowChannel(
            name=name,
            source=source[0],
            source_port=source[1],
            target=target[0],
            target_port=target[1],
            initial_tokens=initial,
            token_bits=said.bits,
            capacity_tokens=None if said.capacity is None else max(said.capacity, initial),
            span=self.reader.span(element),
        )

    def _end(self, element: etree._Element, actor_key: str, port_key: str, side: str) -> tuple[int, int] | None:
        """Return (actor, port) of one end of a channel; None after an error."""
        reader = self.reader
        actor_name, port_name = reader.required(element, actor_key), reader.required(element, port_key)
        actor = None if actor_name is None else self._named(element, actor_key, actor_name)
        if actor is None or port_name is None:
            return None
        ports = actor.inputs if side == "inputs" else actor.outputs
        number = next((p for p, port in enumerate(ports) if port.name == port_name), None)
        if number is None:
            what = f"actor '{shorten(actor.name)}' has no {side[:-1]} port '{shorten(port_name)}'"
            reader.error(what, element, nearest_names(port_name, tuple(port.name for port in ports)), port_key)
            return None
        ports[number].channels += 1
        if ports[number].channels == 2:
            what = f"port '{shorten(port_name)}' of '{shorten(actor.name)}' has more than one channel"
            reader.error(what, element, "expected a port for each channel", port_key)
        return self.numbers[actor.name], number

    # What was read

    def _actor(self, actor: _Actor) -> DataflowActor:
        """Return an actor with all its lists as long as it has phases."""
        lists = [*(port.rates for port in (*actor.inputs, *actor.outputs)), *(times for _, times, _ in actor.times)]
        n_phases = math.lcm(*map(len, lists)) if lists else 1
        if n_phases > MOST_PHASES:
            what = f"actor '{shorten(actor.name)}' has {n_phases:.3g} phases: its lists have many different lengths"
            self.reader.error(what, actor.element, f"expected at most {MOST_PHASES:,}")
            n_phases = 1

        def whole(values: tuple[Value, ...]) -> tuple[Value, ...]:
            return values * (n_phases // len(values)) if n_phases >= len(values) else values[:1]

        return DataflowActor(
            name=actor.name,
            class_name=actor.class_name,
            inputs=tuple(port.name for port in actor.inputs),
            outputs=tuple(port.name for port in actor.outputs),
            n_phases=n_phases,
            reads=tuple(whole(port.rates) for port in actor.inputs),
            writes=tuple(whole(port.rates) for port in actor.outputs),
            times=tuple(
                ProcessorTime(processor=kind, times=whole(times), default=default)
                for kind, times, default in actor.times
            ),
            stateless=not actor.loops,
            span=self.reader.span(actor.element),
        )


def _rate(text: str) -> int | None:
    value = parse_integer(text)
    return value if value is not None and 0 <= value <= MOST_TOKENS else None


def _time(text: str) -> Fraction | None:
    value = parse_decimal(text)
    return value if value is not None and value >= 0 and ANY_NUMBER.holds(value) else None
