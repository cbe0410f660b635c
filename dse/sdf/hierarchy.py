"""Graphs of PREESM made flat: parameters evaluated, hierarchical actors replaced by their graphs.

Interfaces follow Piat, Bhattacharyya and Raulet, "Interface-based hierarchy for synchronous data-flow graphs", SiPS
2009: one firing of a hierarchical actor is as many iterations of its graph as use up what arrives at each interface and
make what leaves by it. What the graph reads of an interface beyond that, it reads again, from a broadcast that is put
in; what it writes beyond that is overwritten, in a round buffer.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from fractions import Fraction
from typing import NoReturn

from dse.base.errors import FormatError
from dse.base.source import Span, file_span
from dse.model.dataflow_graph import DataflowActor, DataflowChannel, DataflowGraph, ProcessorTime
from dse.model.design_point import MOST_TOKENS
from dse.model.pi_graph import PiFifo, PiGraph, PiNode, PiScenario, PiTiming
from dse.sdf.balance import repetition_vector
from dse.sdf.expressions import ExpressionError, evaluate, whole

MOST_DEPTH = 30
"""Levels of hierarchy, at most."""
MOST_ACTORS = 20_000
UNTIMED = 100
"""What PREESM takes for an actor of which a scenario gives no time."""
_SPECIAL = ("broadcast", "fork", "join", "roundbuffer")
_LEAVES = ("actor", *_SPECIAL)
_BITS = {"char": 8, "uchar": 8, "short": 16, "int": 32, "float": 32, "long": 64, "double": 64}
_Values = dict[str, Fraction]
Load = Callable[[str, str], PiGraph | None]
"""Returns the graph that a file (second) names by a path (first); None where there is no such file."""


@dataclass(slots=True)
class _Leaf:
    """An actor of the flat graph while it is made. ``names``: of graphs above it, for timings."""

    name: str
    kind: str
    class_name: str
    names: tuple[str, ...]
    span: Span
    values: _Values
    inputs: list[tuple[str, int]] = field(default_factory=list)
    outputs: list[tuple[str, int]] = field(default_factory=list)


@dataclass(slots=True)
class _Channel:
    """A FIFO of the flat graph: ends as (actor, port)."""

    source: tuple[int, int]
    target: tuple[int, int]
    initial: int
    type: str
    span: Span


@dataclass(slots=True)
class _Inner:
    """The graph of a hierarchical actor after it was put in: the end of each interface, and the tokens of a firing."""

    ends: dict[str, tuple[int, int, int]]
    """Interface -> (actor, port, tokens in one firing of the hierarchical actor)."""
    rates: dict[str, int]
    """Interface -> tokens that it lets through in one firing."""


def flatten(top: PiGraph, load: Load, scenario: PiScenario | None) -> DataflowGraph:
    """Return the flat graph of ``top``. Without ``scenario`` there are no execution times.

    Raises:
        FormatError: an expression means nothing, a rate depends on the run, or an interface does not fit.
    """
    flat = _Flat(load, scenario)
    flat.expand(top, (), {}, 0)
    timer = _Timer(top.name, scenario)
    actors = tuple(_actor(leaf, timer) for leaf in flat.leaves)
    channels = tuple(_channel(channel, flat, scenario) for channel in flat.channels)
    return DataflowGraph(
        name=top.name,
        path=top.path,
        tool="PREESM",
        actors=actors,
        channels=channels,
        notes=timer.notes(),
    )


class _Flat:
    """Gathers actors and channels of all levels."""

    def __init__(self, load: Load, scenario: PiScenario | None) -> None:
        self._load = load
        self._scenario = scenario
        self.leaves: list[_Leaf] = []
        self.channels: list[_Channel] = []

    def expand(self, graph: PiGraph, path: tuple[str, ...], given: _Values, depth: int) -> _Inner:
        """Put in the actors of a graph, whose names begin with ``path``; ``given``: its parameters from above."""
        if depth > MOST_DEPTH:
            _fail(graph, "the hierarchy does not end", f"at most {MOST_DEPTH} levels: does a graph contain itself?")
        values = _parameters(graph, given, self._scenario)
        first = len(self.leaves)
        before = len(self.channels)
        ends: dict[tuple[str, str], tuple[int, int]] = {}
        for node in graph.nodes:
            if node.kind in _LEAVES:
                self._place(graph, node, path, _seen(graph, node, values), depth, ends)
        if len(self.leaves) > MOST_ACTORS:
            _fail(graph, f"the graph has more than {MOST_ACTORS:,} actors", "fewer, or a part of it")
        ports = _interfaces(graph, values)
        open_ends: dict[str, tuple[int, int]] = {}
        for fifo in graph.fifos:
            self._connect(graph, fifo, ends, ports, open_ends, values)
        return self._bound(graph, ports, open_ends, first, before)

    def _place(
        self,
        graph: PiGraph,
        node: PiNode,
        path: tuple[str, ...],
        values: _Values,
        depth: int,
        ends: dict[tuple[str, str], tuple[int, int]],
    ) -> None:
        """Put in an actor, or the graph that it stands for; ``ends`` learns where its ports are."""
        if node.config_outputs:
            _fail(graph, f"actor '{node.name}' sets parameters when it runs", "rates that are known before", node.span)
        if node.refinement is not None:
            inner = self._load(node.refinement, graph.path)
            if inner is None:
                what = f"there is no file '{node.refinement}', which actor '{node.name}' stands for"
                _fail(graph, what, "it lies in a folder above this file", node.span)
            self._replace(graph, node, inner, path, values, depth, ends)
            return
        rates = [[(p.name, _rate(graph, node, p.rate, values)) for p in ports] for ports in (node.inputs, node.outputs)]
        kind = node.kind if node.kind in _SPECIAL else "actor"
        name, class_name = "/".join((*path, node.name)), node.name if kind == "actor" else kind
        leaf = _Leaf(name, kind, class_name, (graph.name, node.name), node.span, values, *rates)
        for side, ports in (("in", rates[0]), ("out", rates[1])):
            for place, (port, _) in enumerate(ports):
                ends[node.name, f"{side}:{port}"] = (len(self.leaves), place)
        self.leaves.append(leaf)

    def _replace(
        self,
        graph: PiGraph,
        node: PiNode,
        inner: PiGraph,
        path: tuple[str, ...],
        values: _Values,
        depth: int,
        ends: dict[tuple[str, str], tuple[int, int]],
    ) -> None:
        """Put in the graph of a hierarchical actor; where an interface needs it, a broadcast or a round buffer."""
        found = self.expand(inner, (*path, node.name), values, depth + 1)
        for side, ports in (("in", node.inputs), ("out", node.outputs)):
            for port in ports:
                rate = _rate(graph, node, port.rate, values)
                if port.name not in found.ends:
                    what = f"'{inner.name}', which actor '{node.name}' stands for, does not use its port '{port.name}'"
                    _fail(graph, what, "a graph uses all its interfaces", node.span)
                if found.rates[port.name] != rate:
                    what = f"port '{port.name}' of '{node.name}' moves {rate} tokens, its interface in '{inner.name}'"
                    _fail(graph, f"{what} {found.rates[port.name]}", "one rate on both sides", node.span)
                actor, place, tokens = found.ends[port.name]
                if tokens != rate:
                    name = "/".join((*path, node.name, port.name))
                    actor, place = self._adapt(graph, node, name, side, rate, (actor, place, tokens))
                ends[node.name, f"{side}:{port.name}"] = (actor, place)

    def _adapt(
        self, graph: PiGraph, node: PiNode, name: str, side: str, rate: int, inner: tuple[int, int, int]
    ) -> tuple[int, int]:
        """Put a broadcast or a round buffer between the port of a hierarchical actor and what is inside."""
        actor, place, tokens = inner
        if not rate or tokens % rate:
            what = f"'{name}' moves {rate} tokens a firing of '{node.name}', and {tokens} inside of it"
            _fail(graph, what, "a multiple inside, or what is moved outside", node.span)
        kind = "broadcast" if side == "in" else "roundbuffer"
        reads, writes = (rate, tokens) if side == "in" else (tokens, rate)
        new = len(self.leaves)
        self.leaves.append(_Leaf(name, kind, kind, (), node.span, {}, [("in", reads)], [("out", writes)]))
        ends = ((new, 0), (actor, place)) if side == "in" else ((actor, place), (new, 0))
        self.channels.append(_Channel(*ends, 0, "", node.span))
        return new, 0

    def _connect(
        self,
        graph: PiGraph,
        fifo: PiFifo,
        ends: dict[tuple[str, str], tuple[int, int]],
        ports: dict[str, int],
        open_ends: dict[str, tuple[int, int]],
        values: _Values,
    ) -> None:
        """Add a FIFO between actors, or note what is at an interface."""
        source = ends.get((fifo.source, f"out:{fifo.source_port}"))
        target = ends.get((fifo.target, f"in:{fifo.target_port}"))
        initial = _delay(graph, fifo, values)
        if source is not None and target is not None:
            self.channels.append(_Channel(source, target, initial, fifo.type, fifo.span))
            return
        interface = fifo.source if source is None else fifo.target
        inside = target if source is None else source
        if interface not in ports or inside is None or initial:
            what = f"a FIFO from '{fifo.source}.{fifo.source_port}' to '{fifo.target}.{fifo.target_port}'"
            _fail(
                graph, f"{what} cannot be made flat", "FIFOs between actors, or one actor and an interface", fifo.span
            )
        open_ends[interface] = inside

    def _bound(
        self, graph: PiGraph, ports: dict[str, int], open_ends: dict[str, tuple[int, int]], first: int, before: int
    ) -> _Inner:
        """Return the tokens at the interfaces in one firing of the actor that the graph stands for."""
        if not open_ends:
            return _Inner({}, ports)
        inside = [c for c in self.channels[before:] if c.source[0] >= first and c.target[0] >= first]
        firings = repetition_vector(_bare(graph, self.leaves[first:], inside, first))
        part = _parts(len(firings), [(c.source[0] - first, c.target[0] - first) for c in inside])
        rounds = [1] * len(firings)
        moved: dict[str, int] = {}
        for name, (actor, place) in open_ends.items():
            moved[name] = self._tokens(graph, name, actor, place) * firings[actor - first]
            if not moved[name]:
                _fail(graph, f"no tokens move at the interface '{name}'", "a rate above 0")
            label = part[actor - first]
            rounds[label] = max(rounds[label], math.ceil(ports[name] / moved[name]))
        ends = {n: (a, place, moved[n] * rounds[part[a - first]]) for n, (a, place) in open_ends.items()}
        return _Inner(ends, ports)

    def _tokens(self, graph: PiGraph, interface: str, actor: int, place: int) -> int:
        """Return what one firing of the actor at an interface moves."""
        inputs = any(node.name == interface and node.kind == "src" for node in graph.nodes)
        leaf = self.leaves[actor]
        return (leaf.inputs if inputs else leaf.outputs)[place][1]


def _parts(count: int, pairs: list[tuple[int, int]]) -> list[int]:
    """Return for each actor the first of those that hang together with it."""
    first = list(range(count))

    def root(a: int) -> int:
        while first[a] != a:
            first[a] = first[first[a]]
            a = first[a]
        return a

    for a, b in pairs:
        low, high = sorted((root(a), root(b)))
        first[high] = low
    return [root(a) for a in range(count)]


def _bare(graph: PiGraph, leaves: list[_Leaf], channels: list[_Channel], first: int) -> DataflowGraph:
    """Return a part of the flat graph, for its repetition vector."""
    return DataflowGraph(
        name=graph.name,
        path=graph.path,
        tool="PREESM",
        actors=tuple(_actor(leaf, None) for leaf in leaves),
        channels=tuple(
            DataflowChannel(
                name=_name(leaves[c.source[0] - first], leaves[c.target[0] - first], c),
                source=c.source[0] - first,
                source_port=c.source[1],
                target=c.target[0] - first,
                target_port=c.target[1],
                span=c.span,
            )
            for c in channels
        ),
    )


def _name(source: _Leaf, target: _Leaf, channel: _Channel) -> str:
    return f"{source.name}.{source.outputs[channel.source[1]][0]}->{target.name}.{target.inputs[channel.target[1]][0]}"


def _channel(channel: _Channel, flat: _Flat, scenario: PiScenario | None) -> DataflowChannel:
    known = {} if scenario is None else scenario.type_bits
    return DataflowChannel(
        name=_name(flat.leaves[channel.source[0]], flat.leaves[channel.target[0]], channel),
        source=channel.source[0],
        source_port=channel.source[1],
        target=channel.target[0],
        target_port=channel.target[1],
        initial_tokens=channel.initial,
        token_bits=known.get(channel.type, _BITS.get(channel.type, 0)),
        span=channel.span,
    )


def _actor(leaf: _Leaf, timer: "_Timer | None") -> DataflowActor:
    return DataflowActor(
        name=leaf.name,
        class_name=leaf.class_name,
        inputs=tuple(name for name, _ in leaf.inputs),
        outputs=tuple(name for name, _ in leaf.outputs),
        reads=tuple((rate,) for _, rate in leaf.inputs),
        writes=tuple((rate,) for _, rate in leaf.outputs),
        times=() if timer is None else timer.of(leaf),
        span=leaf.span,
    )


class _Timer:
    """Execution times of a scenario, and how many actors have none."""

    def __init__(self, top: str, scenario: PiScenario | None) -> None:
        self._top = top
        self._scenario = scenario
        self._timings: dict[str, list[PiTiming]] = {}
        given = () if scenario is None else scenario.timings
        for timing in given:
            self._timings.setdefault(timing.vertex, []).append(timing)
        self._operators = tuple(dict.fromkeys(timing.operator for timing in given))
        self._untimed = self._special = 0

    def of(self, leaf: _Leaf) -> tuple[ProcessorTime, ...]:
        """Return the times of an actor on each type of operator."""
        if self._scenario is None:
            return ()
        names = (f"{self._top}/{leaf.name}", "/".join(leaf.names), leaf.name)
        found = next((self._timings[name] for name in names if name in self._timings), [])
        times = {timing.operator: self._value(timing, leaf) for timing in found}
        if not times:
            self._special += leaf.kind != "actor"
            self._untimed += leaf.kind == "actor"
            assumed = Fraction(UNTIMED if leaf.kind == "actor" else 0)
            times = dict.fromkeys(self._operators or ("core",), assumed)
        return tuple(ProcessorTime(processor=name, times=(time,)) for name, time in times.items())

    def _value(self, timing: PiTiming, leaf: _Leaf) -> Fraction:
        try:
            value = evaluate(timing.time, leaf.values)
        except ExpressionError as error:
            what = f"the time '{timing.time[:40]}' of '{timing.vertex}' has no value: {error}"
            raise FormatError(what, span=timing.span, expected="a number, or an expression of parameters") from None
        if value < 0:
            raise FormatError(f"'{timing.vertex}' takes {value}", span=timing.span, expected="a time of at least 0")
        return value

    def notes(self) -> tuple[str, ...]:
        """Return in words what the scenario does not say."""
        found = []
        if self._untimed:
            actors = "1 actor" if self._untimed == 1 else f"{self._untimed} actors"
            found.append(f"{UNTIMED} cycles for {actors} without a time in the scenario, as PREESM does")
        if self._special:
            found.append(f"nothing for {self._special} broadcasts, forks, joins and round buffers without a time")
        return tuple(found)


# Parameters


def _parameters(graph: PiGraph, given: _Values, scenario: PiScenario | None) -> _Values:
    """Return the values of all parameters of a graph, each after those that it depends on."""
    values = {node.name: _given(graph, node, given) for node in graph.nodes if node.kind == "cfg_in_iface"}
    stated = {} if scenario is None else scenario.parameters
    own = [node for node in graph.nodes if node.kind == "param"]
    waiting = [(node, stated.get((graph.name, node.name), node.expr)) for node in own]
    _evaluate_all(graph, waiting, values)
    return values


def _evaluate_all(graph: PiGraph, waiting: list[tuple[PiNode, str]], values: _Values) -> None:
    """Put the values of parameters into ``values``, whatever their order; circles are an error."""
    while waiting:
        left = [(node, text, why) for node, text in waiting if (why := _without_value(node, text, values)) is not None]
        if len(left) == len(waiting):
            node, text, why = left[0]
            _fail(graph, f"parameter '{node.name}' = '{text[:40]}' has no value: {why}", "an expression", node.span)
        waiting = [(node, text) for node, text, _ in left]


def _without_value(node: PiNode, text: str, values: _Values) -> str | None:
    """Put the value of a parameter into ``values``; return why there is none (yet)."""
    try:
        values[node.name] = Fraction(whole(evaluate(text, values)))
    except ExpressionError as error:
        return str(error)
    return None


def _given(graph: PiGraph, node: PiNode, given: _Values) -> Fraction:
    """Return the value of a parameter that comes from the graph above."""
    if node.name not in given:
        _fail(graph, f"nothing gives parameter '{node.name}' a value", "a value from the graph above", node.span)
    return given[node.name]


def _seen(graph: PiGraph, node: PiNode, values: _Values) -> _Values:
    """Return the parameters by the names that a node gives them."""
    seen = dict(values)
    for dependency in graph.dependencies:
        if dependency.target == node.name and dependency.source in values:
            seen[dependency.target_port or dependency.source] = values[dependency.source]
    return seen


def _interfaces(graph: PiGraph, values: _Values) -> dict[str, int]:
    """Return the tokens of each interface in one firing of the actor that the graph stands for."""
    found: dict[str, int] = {}
    for node in graph.nodes:
        ports = (*node.inputs, *node.outputs)
        if node.kind in ("src", "snk") and ports:
            found[node.name] = _rate(graph, node, ports[0].rate, _seen(graph, node, values))
    return found


def _rate(graph: PiGraph, node: PiNode, text: str, values: _Values) -> int:
    try:
        rate = whole(evaluate(text, values))
    except ExpressionError as error:
        _fail(graph, f"the rate '{text[:40]}' of '{node.name}' has no value: {error}", "an expression", node.span)
    if not 0 <= rate <= MOST_TOKENS:
        _fail(graph, f"the rate '{text[:40]}' of '{node.name}' is {rate}", f"0 to {MOST_TOKENS}", node.span)
    return rate


def _delay(graph: PiGraph, fifo: PiFifo, values: _Values) -> int:
    """Return the initial tokens of a FIFO."""
    if fifo.delay is None:
        end = next((n for n in graph.nodes if n.name == fifo.source), graph.nodes[0])
        return _rate(graph, end, fifo.initial, values)
    node = next((n for n in graph.nodes if n.name == fifo.delay and n.kind == "delay"), None)
    if node is None:
        _fail(graph, f"there is no delay '{fifo.delay}'", "a node of kind 'delay'", fifo.span)
    if node.setter or node.getter:
        what = f"delay '{node.name}' gets its tokens from an actor"
        _fail(graph, what, "delays without setter and getter", node.span)
    return _rate(graph, node, node.expr, _seen(graph, node, values))


def _fail(graph: PiGraph, message: str, expected: str, span: Span | None = None) -> NoReturn:
    place = span if span is not None and span.line else file_span(graph.path, 0)
    raise FormatError(message, span=place, expected=f"expected {expected}")
