"""What can be checked in one XDF file alone: names that are defined twice, connections that lead nowhere.

Each file is checked once, however often the network is instantiated.
"""

from collections.abc import Collection
from typing import Protocol

from dse.base.diagnostics import Gatherer
from dse.base.registry import nearest_names
from dse.base.source import Span
from dse.frontend.network.projects import is_class_name
from dse.model.xdf import Direction, XdfConnection, XdfEndpoint, XdfNetwork


class Report(Protocol):
    """Records a finding: ``Gatherer.error`` or ``Gatherer.warning``."""

    def __call__(self, message: str, span: Span, expected: str = "") -> None:
        """Record it."""


def validate_xdf(network: XdfNetwork, gather: Gatherer, broken: Report) -> None:
    """Report duplicate names, malformed class names, unknown ends of connections and inputs with two writers.

    What concerns one connection only goes to ``broken``: a partial elaboration leaves the connection out.
    """
    for direction in ("Input", "Output"):
        ports = [(port.name, port.span) for port in network.ports if port.direction == direction]
        _report_duplicates(f"{direction.lower()} port", ports, gather)
    _report_duplicates("parameter or variable", [(d.name, d.span) for d in network.declarations], gather)
    _report_duplicates("instance", [(instance.id, instance.span) for instance in network.instances], gather)
    for instance in network.instances:
        if not is_class_name(instance.class_name):
            wanted = "expected identifiers joined with dots, such as 'decoder.Parser'"
            gather.error(f"'{instance.class_name}' is no class name", instance.class_span, wanted)
        arguments = [(parameter.name, parameter.span) for parameter in instance.parameters]
        _report_duplicates("argument", arguments, gather, f" of instance '{instance.id}'")
        if "/" in instance.id:
            gather.error(f"the instance name '{instance.id}' has a '/'", instance.span, "'/' joins the names of a path")
    _check_connections(network, broken)


def _report_duplicates(kind: str, names: list[tuple[str, Span]], gather: Gatherer, owner: str = "") -> None:
    first: dict[str, Span] = {}
    for name, span in names:
        if name in first:
            gather.error(
                f"the {kind} '{name}'{owner} is there twice", span, f"the first one is in line {first[name].line}"
            )
        first.setdefault(name, span)


def _check_connections(network: XdfNetwork, broken: Report) -> None:
    writers: dict[tuple[str, str], XdfConnection] = {}
    known = dict.fromkeys(instance.id for instance in network.instances)
    for connection in network.connections:
        source, target = connection.source, connection.target
        _check_end(network, known, source, "Input", broken)
        _check_end(network, known, target, "Output", broken)
        if not source.instance and not target.instance:
            advice = "put an actor between them, or connect around the network"
            broken("a network input cannot go straight to a network output", connection.span, advice)
        end = (target.instance, target.port)
        if end in writers:
            first = writers[end]
            broken(
                f"two writers to {describe_end(target)}",
                connection.span,
                f"{describe_end(first.source)} already writes to it in line {first.span.line}: merge them in an actor",
            )
        writers.setdefault(end, connection)


def _check_end(
    network: XdfNetwork, known: Collection[str], end: XdfEndpoint, direction: Direction, broken: Report
) -> None:
    """Check that one end of a connection names one of the ``known`` instances, or a port of the network itself."""
    if end.instance:
        if end.instance not in known:
            broken(f"unknown instance '{end.instance}'", end.instance_span, nearest_names(end.instance, tuple(known)))
        return
    ports = network.port_names(direction)
    if end.port not in ports:
        message = f"network '{network.name}' has no {direction.lower()} port '{end.port}'"
        broken(message, end.port_span, nearest_names(end.port, ports))


def describe_end(end: XdfEndpoint) -> str:
    """Return ``'instance.port'`` or the network port that an endpoint names."""
    return f"'{end.instance}.{end.port}'" if end.instance else f"the network port '{end.port}'"
