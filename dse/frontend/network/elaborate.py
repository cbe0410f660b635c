"""Elaboration: from a top XDF file to the flat network of lowered actors (cal.md sections 2.4 and 3).

Networks are flattened depth first: the instances of a network stand in the order of its file, those of a sub-network in
place of its instance, and its inner connections come before the connections of the network around it. A connection
through ports of sub-networks becomes one connection from actor to actor for each reader; of the buffer sizes on its way
the outermost wins.
"""

from dataclasses import dataclass
from typing import TypeAlias

from dse.base.collector import collector_paused
from dse.base.diagnostics import Gatherer, in_reading_order
from dse.base.errors import Diagnostic, SourceError
from dse.base.limits import limits, raise_it
from dse.base.registry import nearest_names
from dse.base.source import Span, file_span
from dse.frontend.cal.ast import ActorDecl, CalFile
from dse.frontend.network.arguments import actor_arguments, network_arguments
from dse.frontend.network.expressions import shown
from dse.frontend.network.network_scope import NetworkArguments, NetworkScope, same_kind
from dse.frontend.network.projects import find_source_roots, is_class_name, refuse_absent
from dse.frontend.network.sources import Library, SourceFiles
from dse.model.xdf import Direction, XdfAttribute, XdfConnection, XdfEndpoint, XdfInstance, XdfNetwork
from dse.program.ir import Actor
from dse.program.network import Connection, Instance, Network

BUFFER_SIZE = "bufferSize"
MAX_BUFFER_TOKENS = 1 << 40
_CONSEQUENCE: dict[Direction, str] = {
    "Input": "actions that read it never fire",
    "Output": "what is written to it is discarded",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class LoadedNetwork:
    """An elaborated network and the warnings that came up (unconnected ports, unknown and missing arguments, ...)."""

    network: Network
    warnings: tuple[Diagnostic, ...]


def load_network(
    path: str, *, source_paths: tuple[str, ...] = (), strict: bool = False, partial: bool = False
) -> LoadedNetwork:
    """Parse, elaborate and type-check the network of an XDF file.

    ``source_paths`` are searched before the roots found from the path. With ``strict``, unconnected ports, unknown
    arguments and missing arguments are errors. With ``partial``, instances of missing classes and connections that
    lead nowhere, have a second writer or differ in type are left out with a warning. Raises ``SourceError`` with
    everything that is wrong, and ``OptionError`` for a source path that is no folder.
    """
    refuse_absent(source_paths)
    gather = Gatherer()
    if path.lower().endswith(".cal"):
        gather.error(
            "this is a CAL actor or unit, not a network",
            file_span(path, 0),
            f"give a network (.xdf) with instances of it; 'dse check {path}' checks it alone",
        )
        raise SourceError(gather.diagnostics)
    library = Library(find_source_roots(path, source_paths, gather), SourceFiles(partial=partial))
    with collector_paused():
        network = elaborate(path, library, gather, strict=strict)
    if network is None or gather.errors:
        raise SourceError(gather.diagnostics)
    return LoadedNetwork(network=network, warnings=tuple(gather.warnings))


def elaborate(
    path: str, library: Library, gather: Gatherer, *, strict: bool = False, inner: bool = False
) -> Network | None:
    """Return the network of an XDF file, or None; each finding is in ``gather`` once.

    The library must be fresh: the files it reads become ``Network.sources``. ``inner``: it is looked at as a part of
    others, and its ports are theirs to connect.
    """
    own = Gatherer()
    top = library.xdf(path, own)
    network = None if top is None else _Elaborator(library, own, strict).top(top, inner=inner)
    if network is not None and not network.instances and not own.errors:
        own.warning(f"network '{network.name}' has no instances", file_span(path, 0))
    gather.extend(in_reading_order(own.diagnostics))
    return None if own.errors else network


@dataclass(frozen=True, slots=True)
class _End:
    """A port of a flattened instance; ``capacity`` is the buffer size met on the way to it."""

    instance: int
    port: int
    capacity: int | None


@dataclass(frozen=True, slots=True)
class _ActorPart:
    """An instance of an actor; ``actor`` is None if it has errors, its port names are known all the same."""

    index: int
    actor: Actor | None
    declaration: ActorDecl


@dataclass(frozen=True, slots=True)
class _NetworkPart:
    """An expanded sub-network: to which inner ports each of its ports leads."""

    network: XdfNetwork
    inputs: dict[str, list[_End]]
    outputs: dict[str, list[_End]]


_Part: TypeAlias = _ActorPart | _NetworkPart


class _TooLargeError(Exception):
    """The network reaches a limit; it has been reported."""


class _Elaborator:
    """Flattens one top network."""

    def __init__(self, library: Library, gather: Gatherer, strict: bool) -> None:
        self.library = library
        self.gather = gather
        self.strict = strict
        self.broken = library.files.broken(gather)
        self.instances: list[tuple[str, Actor | None, Span]] = []
        self.connections: list[Connection] = []
        self.limits = limits()
        self.expanded = 0
        """Instances so far, those of networks too: a thousand of them may hold no actor."""

    def top(self, xdf: XdfNetwork, *, inner: bool) -> Network | None:
        """Return the flattened network, or None when an actor could not be lowered."""
        if not inner:
            self.report_what_others_give(xdf)
        if not self.expanded_whole(xdf):
            return None
        instances = [Instance(name=n, actor=a, span=s) for n, a, s in self.instances if a is not None]
        if len(instances) < len(self.instances):
            return None
        return Network(
            name=xdf.name,
            path=xdf.path,
            instances=tuple(instances),
            connections=tuple(self.connections),
            sources=tuple(self.library.read),
        )

    def report_what_others_give(self, xdf: XdfNetwork) -> None:
        """Report ports and parameters of the top network: there is no network around that connects or gives them."""
        if xdf.ports:
            names = ", ".join(f"'{port.name}'" for port in xdf.ports)
            self.gather.warning(f"nothing is connected to the ports of the top network: {names}", xdf.ports[0].span)
        for declaration in xdf.declarations:
            if declaration.kind == "Param" and declaration.value is None:
                self.doubt(f"the parameter '{declaration.name}' has no value, 0 is taken", declaration.span)

    def expanded_whole(self, xdf: XdfNetwork) -> bool:
        """Expand the top network; return whether a limit let it grow to its end."""
        try:
            self.expand(xdf, {}, "", (xdf.path,))
        except RecursionError:
            self.gather.error("the networks nest too deeply", xdf.span, "a few hundred levels are supported")
        except _TooLargeError:
            pass
        else:
            return True
        return False

    def doubt(self, message: str, span: Span, expected: str = "") -> None:
        """Record a warning that ``strict`` makes an error."""
        (self.gather.error if self.strict else self.gather.warning)(message, span, expected)

    def expand(self, xdf: XdfNetwork, arguments: NetworkArguments, prefix: str, stack: tuple[str, ...]) -> _NetworkPart:
        """Flatten a network: append its instances and inner connections, return where its ports lead."""
        scope = NetworkScope(xdf, arguments, self.gather)
        scope.evaluate_declarations()
        for port in xdf.ports:
            if port.type is not None:
                scope.type_of(port.type)
        parts: dict[str, _Part | None] = {}
        for instance in xdf.instances:
            part = self.instantiate(instance, scope, prefix, stack)
            parts.setdefault(instance.id, part)
        boundary = _NetworkPart(xdf, {}, {})
        written: set[tuple[str, str]] = set()
        for connection in xdf.connections:
            target = (connection.target.instance, connection.target.port)
            if target not in written:  # a second writer was reported by the validation of the file
                self.connect(connection, scope, parts, boundary)
            written.add(target)
        self.report_unconnected(xdf, parts)
        return boundary

    # Instances

    def instantiate(
        self, instance: XdfInstance, scope: NetworkScope, prefix: str, stack: tuple[str, ...]
    ) -> _Part | None:
        """Add an actor or expand a sub-network; None when its class cannot be used at all."""
        self.expanded += 1
        if self.expanded > self.limits.actors:
            what = f"the network has more than {self.limits.actors} instances, those of its sub-networks counted"
            raise self.too_large(what, instance.span, raise_it("actors", self.limits.actors))
        if not is_class_name(instance.class_name):
            return None  # reported by the validation of the file
        path = self.library.find(instance.class_name, instance.class_span, self.gather)
        if path is None:
            return None
        if path.endswith(".xdf"):
            return self.instantiate_network(path, instance, scope, prefix, stack)
        file = self.library.cal(path, self.gather)
        return None if file is None else self.instantiate_actor(path, file, instance, scope, prefix)

    def instantiate_network(
        self, path: str, instance: XdfInstance, scope: NetworkScope, prefix: str, stack: tuple[str, ...]
    ) -> _Part | None:
        """Expand a sub-network with the arguments of its instance."""
        if path in stack:
            circle = " -> ".join([*stack[stack.index(path) :], path])
            self.gather.error(f"network '{instance.class_name}' contains itself", instance.class_span, circle)
            return None
        network = self.library.xdf(path, self.gather)
        if network is None:
            return None
        arguments = network_arguments(network, instance, scope, self.doubt)
        return self.expand(network, arguments, f"{prefix}{instance.id}/", (*stack, path))

    def instantiate_actor(
        self, path: str, file: CalFile, instance: XdfInstance, scope: NetworkScope, prefix: str
    ) -> _Part | None:
        """Add an instance of an actor, lowered for the arguments of the instance."""
        declaration = file.entity
        if not isinstance(declaration, ActorDecl):
            self.gather.error(f"'{instance.class_name}' is a unit, not an actor", instance.class_span)
            return None
        arguments, fits = actor_arguments(declaration, instance, scope, self.doubt)
        actor = self.library.actor(path, arguments, instance.span, self.gather) if fits else None
        self.instances.append((f"{prefix}{instance.id}", actor, instance.span))
        return _ActorPart(len(self.instances) - 1, actor, declaration)

    def too_large(self, message: str, span: Span, expected: str) -> "_TooLargeError":
        """Record that a limit is reached; return the exception that ends the elaboration."""
        self.gather.error(message, span, expected)
        return _TooLargeError()

    # Connections

    def connect(
        self, connection: XdfConnection, scope: NetworkScope, parts: dict[str, _Part | None], boundary: _NetworkPart
    ) -> None:
        """Resolve both ends; append connections between actors, note those that end at a port of the network."""
        capacity = self.buffer_size(connection, scope)
        sources = self.ends(connection.source, "Output", parts)
        targets = self.ends(connection.target, "Input", parts)
        if sources is None:
            boundary.inputs.setdefault(connection.source.port, []).extend(_within(targets, capacity))
        elif targets is None:
            boundary.outputs.setdefault(connection.target.port, []).extend(_within(sources, capacity))
        for source in sources or ():
            for target in targets or ():
                self.join(source, target, capacity, connection)

    def join(self, source: _End, target: _End, capacity: int | None, connection: XdfConnection) -> None:
        """Append a connection between two actors if the types of their ports agree."""
        writer, reader = self.instances[source.instance], self.instances[target.instance]
        if writer[1] is None or reader[1] is None:
            return
        output, accepting = writer[1].outputs[source.port], reader[1].inputs[target.port]
        if not same_kind(output.type, accepting.type):
            ends = f"'{writer[0]}.{output.name}' writes {output.type}, '{reader[0]}.{accepting.name}' reads"
            self.broken("the types of the connected ports differ", connection.span, f"{ends} {accepting.type}")
            return
        if len(self.connections) >= self.limits.fifos:
            what = f"the network has more than {self.limits.fifos} connections, those of its sub-networks counted"
            raise self.too_large(what, connection.span, raise_it("fifos", self.limits.fifos))
        self.connections.append(
            Connection(
                source=source.instance,
                source_port=source.port,
                target=target.instance,
                target_port=target.port,
                type=output.type,
                capacity=_first(capacity, source.capacity, target.capacity),
                span=connection.span,
            )
        )

    def ends(self, end: XdfEndpoint, direction: Direction, parts: dict[str, _Part | None]) -> list[_End] | None:
        """Return the actor ports behind an end, outputs or inputs of the instance; None for a port of the network.

        Where something is wrong the list is empty and the reason is reported (unknown instances by the validation).
        """
        if not end.instance:
            return None
        part = parts.get(end.instance)
        if part is None:
            return []
        names = _port_names(part, direction)
        if end.port not in names:
            kind = "network" if isinstance(part, _NetworkPart) else "actor"
            owner = part.network.name if isinstance(part, _NetworkPart) else part.declaration.name
            message = f"{kind} '{owner}' (instance '{end.instance}') has no {direction.lower()} port '{end.port}'"
            self.broken(message, end.port_span, nearest_names(end.port, names))
            return []
        if isinstance(part, _ActorPart):
            return [_End(part.index, names.index(end.port), None)]
        return (part.inputs if direction == "Input" else part.outputs).get(end.port, [])

    def buffer_size(self, connection: XdfConnection, scope: NetworkScope) -> int | None:
        """Return the buffer size that a connection asks for, in tokens, or None."""
        sizes = [attribute for attribute in connection.attributes if attribute.name == BUFFER_SIZE]
        for attribute in sizes[1:]:
            message = f"{BUFFER_SIZE} is given twice, and the first one holds"
            self.gather.warning(message, attribute.span, "leave out one of them")
        return self.size_of(sizes[0], scope) if sizes else None

    def size_of(self, attribute: XdfAttribute, scope: NetworkScope) -> int | None:
        """Return the tokens that an attribute gives; None after an error."""
        if attribute.value is None:
            self.gather.error(f"{BUFFER_SIZE} has no value", attribute.span, "expected an 'Expr' element in it")
            return None
        size = scope.evaluate(attribute.value)
        if size is None:
            return None
        if isinstance(size, bool) or not isinstance(size, int) or not 1 <= size <= MAX_BUFFER_TOKENS:
            expected = f"expected an integer number of tokens from 1 to {MAX_BUFFER_TOKENS}"
            self.gather.error(f"{BUFFER_SIZE} is {shown(size)}", attribute.value.span, expected)
            return None
        return size

    def report_unconnected(self, xdf: XdfNetwork, parts: dict[str, _Part | None]) -> None:
        """Report ports of instances that no connection of this file names, and network ports that lead nowhere."""
        read = {(c.source.instance, c.source.port) for c in xdf.connections}
        written = {(c.target.instance, c.target.port) for c in xdf.connections}
        for instance in xdf.instances:
            part = parts.get(instance.id)
            if part is not None:
                self.report_unconnected_of(instance, "Input", _port_names(part, "Input"), written)
                self.report_unconnected_of(instance, "Output", _port_names(part, "Output"), read)
        for port in xdf.ports:
            if ("", port.name) not in (read if port.direction == "Input" else written):
                self.doubt(f"no connection uses the {port.direction.lower()} port '{port.name}'", port.span)

    def report_unconnected_of(
        self, instance: XdfInstance, direction: Direction, names: tuple[str, ...], used: set[tuple[str, str]]
    ) -> None:
        """Report the ports of one side of an instance that no connection of its file names."""
        for name in names:
            if (instance.id, name) not in used:
                message = f"{direction.lower()} port '{name}' of instance '{instance.id}' is not connected"
                self.doubt(message, instance.span, _CONSEQUENCE[direction])


def _within(ends: list[_End] | None, capacity: int | None) -> list[_End]:
    """Return ends as they look from outside of a connection: its own buffer size, where it has one, counts."""
    return [_End(end.instance, end.port, _first(capacity, end.capacity)) for end in ends or ()]


def _port_names(part: _Part, direction: Direction) -> tuple[str, ...]:
    """Return the names of the inputs or outputs of an instance."""
    if isinstance(part, _NetworkPart):
        return part.network.port_names(direction)
    ports = part.declaration.inputs if direction == "Input" else part.declaration.outputs
    return tuple(port.name for port in ports)


def _first(*capacities: int | None) -> int | None:
    """Return the first capacity that is given: they are listed from the outside in."""
    return next((capacity for capacity in capacities if capacity is not None), None)
