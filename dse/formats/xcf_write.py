"""Mapping files (.xcf): writing, in one of four dialects with the project's own attributes beside (see ``xcf``)."""

import itertools
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal, TypeAlias

from lxml import etree

from dse.base.errors import FormatError
from dse.base.source import file_span
from dse.formats.connections import Buffers, connection_attributes
from dse.formats.decimals import format_decimal
from dse.formats.xcf import NAMESPACE, own
from dse.formats.xml_keep import ElementKind, keep_unknown
from dse.formats.xml_reading import refuse_unwritable, topology_names, write_xml
from dse.model.design_point import DesignPoint, Partition
from dse.model.platform import Platform, Unit
from dse.model.trace import Topology

XcfDialect: TypeAlias = Literal["exelixi", "turnus", "streamblocks", "art"]
_CONNECTION = ("source", "source-port", "target", "target-port")
_OWN = tuple(own(name) for name in ("name", "unit", "cores", "clock-mhz", "release", "transfers", "digest"))
_INSTANCE = ElementKind(tag="instance", identity=("id",))
_SIZE = tuple(
    ElementKind(tag=tag, identity=_CONNECTION, attributes=("size",))
    for tag in ("connection", "fifo-connection", "buffer")
)
_SHAPE = ElementKind(
    tag="configuration",
    attributes=("network", *_OWN),
    children=(
        ElementKind(tag="network", attributes=("id", "scheduling")),
        ElementKind(
            tag="partitioning",
            children=(
                ElementKind(
                    tag="partition",
                    identity=("id",),
                    attributes=("scheduling", "pe", "host", "code-generator", *_OWN),
                    children=(_INSTANCE, ElementKind(tag="order", children=(_INSTANCE,))),
                ),
            ),
        ),
        ElementKind(tag="code-generators"),
        ElementKind(tag="connections", children=_SIZE),
        ElementKind(tag="buffers", children=_SIZE),
    ),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Style:
    """How a dialect spells and what it can say."""

    configuration: str
    partitioning: str
    partition: str
    instance: str
    network_element: bool = False
    connections: str = ""
    """The tag of a connection in the dialect's own list of buffer sizes; "" if it has none."""


_STYLES: dict[XcfDialect, _Style] = {
    "exelixi": _Style(
        configuration="Configuration", partitioning="Partitioning", partition="Partition", instance="Instance"
    ),
    "turnus": _Style(
        configuration="configuration", partitioning="partitioning", partition="partition", instance="instance"
    ),
    "streamblocks": _Style(
        configuration="configuration",
        partitioning="partitioning",
        partition="partition",
        instance="instance",
        network_element=True,
        connections="connection",
    ),
    "art": _Style(
        configuration="configuration",
        partitioning="partitioning",
        partition="partition",
        instance="instance",
        connections="fifo-connection",
    ),
}


def write_xcf(
    point: DesignPoint,
    topology: Topology,
    path: str,
    *,
    platform: Platform | None = None,
    dialect: XcfDialect = "exelixi",
    keep: str | None = None,
) -> None:
    """Write a mapping file from which ``read_xcf`` reads the same design point.

    ``platform`` tells which units are GPUs: their partition is called as the unit says, else ``PG``. Without it the
    names in the design point stand. Unknown parts of the file ``keep`` are carried over.

    Raises:
        FormatError: the file cannot be written, or the dialect cannot number so many partitions.
    """
    refuse_unwritable(path, (*topology_names(topology), point.name, *_partition_names(point)))
    style, buffers = _STYLES[dialect], Buffers(topology)
    root = _root(style, point, topology)
    partitioning = etree.SubElement(root, style.partitioning)
    units = {unit.name: unit for unit in platform.units} if platform is not None else {}
    for partition, identity in zip(point.partitions, _identities(point, units, dialect, path), strict=True):
        _add_partition(partitioning, partition, identity, units.get(partition.unit), topology, dialect)
    if dialect == "streamblocks":
        _add_code_generators(root, point, units)
    group = etree.SubElement(root, "connections" if style.connections else own("buffers"))
    for index, size in enumerate(point.capacities):
        etree.SubElement(group, style.connections or own("buffer"), connection_attributes(buffers, index, size))
    if keep is not None:
        keep_unknown(keep, root, _SHAPE)
    write_xml(root, path)


def _partition_names(point: DesignPoint) -> Iterator[str]:
    return (name for partition in point.partitions for name in (partition.name, partition.unit, partition.policy))


def _root(style: _Style, point: DesignPoint, topology: Topology) -> etree._Element:
    """Return the root element: the network, and what holds for the whole design point."""
    root = etree.Element(style.configuration, nsmap={"dse": NAMESPACE})
    if style.network_element:
        etree.SubElement(root, "network", {"id": topology.name})
    else:
        root.set("network", topology.name)
    for name, value in (("release", point.release), ("transfers", point.transfers), ("name", point.name)):
        if value:
            root.set(own(name), value)
    root.set(own("digest"), point.digest())
    return root


def _identities(point: DesignPoint, units: dict[str, Unit], dialect: XcfDialect, path: str) -> list[str]:
    """Return the id of each partition in the dialect; numbers for the dialects of StreamBlocks."""
    if dialect in ("streamblocks", "art"):
        if len(point.partitions) > 256:
            message = f"{len(point.partitions)} partitions do not fit dialect {dialect}, whose ids are one byte"
            raise FormatError(message, span=file_span(path, 0), expected="choose --dialect exelixi or turnus")
        return [str(index) for index in range(len(point.partitions))]
    identities: list[str] = []
    for index, partition in enumerate(point.partitions):
        wanted = _wanted_identity(partition, units.get(partition.unit))
        numbered = (f"{wanted or 'P'}{number}" for number in itertools.count(index))
        candidates = itertools.chain([wanted] if wanted else [], numbered)
        identities.append(next(identity for identity in candidates if identity not in identities))
    return identities


def _wanted_identity(partition: Partition, unit: Unit | None) -> str:
    """Return the id that a partition should have: that of its GPU, else its name."""
    return (unit.partition or "PG") if unit is not None and unit.kind == "gpu" else partition.name


def _add_partition(
    parent: etree._Element,
    partition: Partition,
    identity: str,
    unit: Unit | None,
    topology: Topology,
    dialect: XcfDialect,
) -> None:
    """Add one partition with its instances and, for a static schedule, its order."""
    style = _STYLES[dialect]
    element = etree.SubElement(parent, style.partition, {"id": identity, "scheduling": partition.policy})
    if dialect == "turnus":
        element.set("pe", str(partition.cores))
    if dialect == "streamblocks":
        on_gpu = unit is not None and unit.kind == "gpu"
        pe, generator, host = ("GPU", "gpu", "false") if on_gpu else ("x86_64", "sw", "true")
        element.attrib.update({"pe": pe, "code-generator": generator, "host": host})
    if partition.name != identity:
        element.set(own("name"), partition.name)
    element.set(own("unit"), partition.unit)
    element.set(own("cores"), str(partition.cores))
    if partition.clock_mhz is not None:
        element.set(own("clock-mhz"), format_decimal(partition.clock_mhz))
    for actor in partition.actors:
        etree.SubElement(element, style.instance, {"id": topology.actors[actor].name})
    if partition.static_order:
        order = etree.SubElement(element, own("order"))
        for actor in partition.static_order:
            etree.SubElement(order, own("instance"), {"id": topology.actors[actor].name})


def _add_code_generators(root: etree._Element, point: DesignPoint, units: dict[str, Unit]) -> None:
    """Add the code generators that the partitions of the streamblocks dialect name."""
    group = etree.SubElement(root, "code-generators")
    kinds = {units[p.unit].kind if p.unit in units else "cpu" for p in point.partitions}
    for kind, identity, target in (("cpu", "sw", "multicore"), ("gpu", "gpu", "cuda")):
        if kind in kinds:
            etree.SubElement(group, "code-generator", {"id": identity, "platform": target})
