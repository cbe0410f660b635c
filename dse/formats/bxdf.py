"""Buffer sizes (.bxdf): reader and writer; formats.md, section Buffer sizes.

Files before 2021 say ``source-actor`` and ``target-actor``; both are read. A connection that the file leaves out has
its ``default-size``; where that is missing too, 512 tokens. Elements of other names are passed over beside connections,
but not in their place.
"""

from lxml import etree

from dse.base.diagnostics import Gatherer
from dse.formats.connections import Buffers, connection_attributes, read_sizes
from dse.formats.xml_keep import ElementKind, keep_unknown
from dse.formats.xml_reading import XmlReader, open_xml, raise_errors, refuse_unwritable, topology_names, write_xml
from dse.formats.xml_source import local_name
from dse.model.design_point import DEFAULT_CAPACITY_TOKENS
from dse.model.trace import Topology

_CONNECTION = ElementKind(
    tag="connection",
    identity=("source", "source-port", "target", "target-port"),
    attributes=("size", "source-actor", "target-actor"),
)
_SHAPE = ElementKind(tag="bxdf", attributes=("network", "default-size"), children=(_CONNECTION,))


def read_bxdf(path: str, topology: Topology) -> tuple[int, ...]:
    """Return the capacity in tokens of each buffer of a network.

    Raises:
        FormatError: with everything that is wrong: unknown or repeated connections, sizes below 1.
    """
    gather = Gatherer()
    reader = open_xml(path, gather)
    if local_name(reader.root).lower() != "bxdf":
        tag = local_name(reader.root)
        reader.error(f"the root element is '{tag}'", reader.root, "expected 'bxdf': this is no file of buffer sizes")
    raise_errors(gather)
    buffers = Buffers(topology)
    default = reader.integer(reader.root, "default-size", least=1)
    sizes = read_sizes(reader, _connections(reader), buffers)
    raise_errors(gather)
    return buffers.capacities(sizes, default or DEFAULT_CAPACITY_TOKENS)


def _connections(reader: XmlReader) -> list[etree._Element]:
    """Return the elements that give sizes; that there are only others is an error: all FIFOs would have the default."""
    found = list(reader.children(reader.root, "connection"))
    other = next(reader.children(reader.root), None)
    if not found and other is not None:
        reader.error(
            f"'{local_name(other)}' gives no FIFO a size", other, "expected 'connection', of which there is none"
        )
    return found


def write_bxdf(
    capacities: tuple[int, ...],
    topology: Topology,
    path: str,
    *,
    default_tokens: int = DEFAULT_CAPACITY_TOKENS,
    keep: str | None = None,
) -> None:
    """Write the capacity in tokens of each buffer, all of them; unknown parts of the file ``keep`` are carried over."""
    refuse_unwritable(path, topology_names(topology))
    root = etree.Element("bxdf", {"network": topology.name, "default-size": str(default_tokens)})
    buffers = Buffers(topology)
    for index, size in enumerate(capacities):
        etree.SubElement(root, "connection", connection_attributes(buffers, index, size))
    if keep is not None:
        keep_unknown(keep, root, _SHAPE)
    write_xml(root, path)
