"""Buffer sizes by connection, as .bxdf files and the ``connections`` of mapping files give them."""

from dataclasses import dataclass

from lxml import etree

from dse.base.registry import nearest_names
from dse.formats.xml_reading import XmlReader
from dse.model.design_point import DEFAULT_CAPACITY_TOKENS
from dse.model.trace import Topology

_SYNONYMS = (
    ("source", "source-actor", "src"),
    ("source-port", "src-port"),
    ("target", "target-actor", "dst"),
    ("target-port", "dst-port"),
)


@dataclass(slots=True)
class Buffers:
    """The buffers of a network by the names of their ends."""

    topology: Topology

    def by_ends(self) -> dict[tuple[str, str, str, str], int]:
        """Return the index of each buffer; names may also have ``_`` for ``/``, where that is unambiguous."""
        found = {self.topology.ends(i): i for i in range(len(self.topology.buffers))}
        loose: dict[tuple[str, str, str, str], list[int]] = {}
        for (source, source_port, target, target_port), index in found.items():
            key = (source.replace("/", "_"), source_port, target.replace("/", "_"), target_port)
            loose.setdefault(key, []).append(index)
        return {key: indices[0] for key, indices in loose.items() if len(indices) == 1} | found

    def capacities(self, sizes: dict[int, int], default: int | None = None) -> tuple[int, ...]:
        """Return the capacity of each buffer: the size given, else ``default``, else what the network says.

        Where the network says nothing it is 512 tokens, or as many as the largest rate of an action on the buffer.
        """
        return tuple(
            sizes.get(i, default or buffer.capacity or max(DEFAULT_CAPACITY_TOKENS, self.topology.largest_rate(i)))
            for i, buffer in enumerate(self.topology.buffers)
        )


def _named_buffer(reader: XmlReader, element: etree._Element, names: list[str | None], buffers: Buffers) -> int | None:
    """Return the buffer between the ends that an element names; None where one is missing, or after an error."""
    ends = tuple(name for name in names if name is not None)
    if len(ends) != 4:
        return None
    index = buffers.by_ends().get(ends)
    if index is None:
        topology = buffers.topology
        shown = tuple(topology.buffer_name(i) for i in range(len(topology.buffers)))
        message = f"there is no connection {ends[0]}.{ends[1]}->{ends[2]}.{ends[3]} in network '{topology.name}'"
        reader.error(message, element, nearest_names(f"{ends[0]}.{ends[1]}->{ends[2]}.{ends[3]}", shown))
    return index


def read_sizes(reader: XmlReader, elements: list[etree._Element], buffers: Buffers) -> dict[int, int]:
    """Return the size in tokens of each buffer that an element names; errors go to the reader's gatherer."""
    sizes, places = dict[int, int](), dict[int, etree._Element]()
    for element in elements:
        names = [_end(reader, element, synonyms) for synonyms in _SYNONYMS]
        size = reader.integer(element, "size", least=1)
        if size is None and reader.attribute(element, "size") is None:
            reader.error("the connection has no 'size'", element, "expected 'size=\"TOKENS\"'")
        index = _named_buffer(reader, element, names, buffers)
        if index is None:
            continue
        if index in sizes:
            line, name = reader.span(places[index]).line, buffers.topology.buffer_name(index)
            reader.error(f"connection {name} is given twice", element, f"the first is in line {line}")
        elif size is not None:
            sizes[index], places[index] = size, element
    return sizes


def _end(reader: XmlReader, element: etree._Element, synonyms: tuple[str, ...]) -> str | None:
    """Return an attribute by any of its names."""
    for name in synonyms[1:]:
        found = reader.text(element, name)
        if found:
            return found
    return reader.required(element, synonyms[0])


def connection_attributes(buffers: Buffers, index: int, size: int) -> dict[str, str]:
    """Return the attributes of a connection with its size in tokens."""
    names = zip(("source", "source-port", "target", "target-port"), buffers.topology.ends(index), strict=True)
    return dict(names) | {"size": str(size)}
