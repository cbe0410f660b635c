"""Liberal reading of XML attributes and elements, shared by the readers of weights, mappings and buffer sizes.

The tools of the field disagree in letter case and spelling, so names are compared in lower case and may have aliases.
What is wrong is gathered with its place; the value is None then and the reader goes on.
"""

from collections.abc import Callable, Iterable, Iterator
from fractions import Fraction

from lxml import etree

from dse.base.diagnostics import Gatherer
from dse.base.errors import FormatError
from dse.base.escaping import not_in_xml
from dse.base.files import write_whole
from dse.base.numbers import ANY_NUMBER, Bounds, is_out_of_range, parse_decimal, parse_integer
from dse.base.registry import nearest_names
from dse.base.source import Span, file_span
from dse.formats.xml_source import XmlSource, local_name, parse_xml
from dse.model.design_point import MOST_TOKENS
from dse.model.trace import Topology


class XmlReader:
    """One document with the gatherer of its errors."""

    def __init__(self, source: XmlSource, gather: Gatherer, canonical: Callable[[str], str] = str.lower) -> None:
        """``canonical`` maps an attribute name to the name that the reader asks for."""
        self.source = source
        self.gather = gather
        self._canonical = canonical

    # Elements

    @property
    def root(self) -> etree._Element:
        """The root element."""
        return self.source.root

    def children(self, element: etree._Element, *tags: str) -> Iterator[etree._Element]:
        """Yield the child elements whose local name is one of ``tags`` (or all), in any letter case."""
        for child in element:
            tag = local_name(child).lower()
            if tag and (not tags or tag in tags):
                yield child

    # Attributes

    def attribute(self, element: etree._Element, name: str) -> tuple[str, Span] | None:
        """Return value and place of an attribute; names with a namespace match in full only."""
        for key, value in element.attrib.items():
            written = str(key)
            if written == name or (not written.startswith("{") and self._canonical(written) == name):
                return str(value), self.source.attribute_span(element, written)
        return None

    def text(self, element: etree._Element, name: str) -> str | None:
        """Return an attribute as it is written, or None where it is not there."""
        found = self.attribute(element, name)
        return None if found is None else found[0]

    def required(self, element: etree._Element, name: str, *, may_be_empty: bool = False) -> str | None:
        """Return an attribute that must be there; its absence is an error."""
        found = self.attribute(element, name)
        if found is not None and (found[0] or may_be_empty):
            return found[0]
        tag = local_name(element)
        problem = f"'{tag}' has no '{name}'" if found is None else f"the attribute '{name}' of '{tag}' is empty"
        self.error(problem, element, f"expected '<{tag} {name}=\"...\"'")
        return None

    def number(
        self,
        element: etree._Element,
        name: str,
        *,
        positive: bool = False,
        most: int | None = None,
        bounds: Bounds = ANY_NUMBER,
    ) -> Fraction | None:
        """Return an exact decimal of at least 0 (or above 0), within bounds and ``most``; None if absent or wrong."""
        found = self.attribute(element, name)
        if found is None:
            return None
        value = parse_decimal(found[0])
        fits = _fits(value, positive=positive, most=most)
        if value is not None and fits and bounds.holds(value):
            return value
        too_large = value is None and is_out_of_range(found[0])
        wanted = f"a number from {bounds}" if fits or too_large else _wanted(positive=positive, most=most)
        what = f"{_bare(name)} of '{local_name(element)}' is '{shorten(found[0])}'"
        self.gather.error(what, found[1], f"expected {wanted}")
        return None

    def integer(self, element: etree._Element, name: str, *, least: int = 0) -> int | None:
        """Return an integer of at least ``least`` that leaves room for sums in 64 bits; None if absent or wrong."""
        found = self.attribute(element, name)
        if found is None:
            return None
        value = parse_integer(found[0])
        if value is not None and least <= value <= MOST_TOKENS:
            return value
        what = f"{_bare(name)} of '{local_name(element)}' is '{shorten(found[0])}'"
        most = f" and at most {MOST_TOKENS}" if value is not None and value > MOST_TOKENS else ""
        self.gather.error(what, found[1], f"expected an integer of at least {least}{most}")
        return None

    def choice(self, element: etree._Element, name: str, known: tuple[str, ...]) -> str | None:
        """Return one of ``known`` in its spelling, any letter case; None if absent or unknown."""
        found = self.attribute(element, name)
        if found is None:
            return None
        value = next((k for k in known if k.lower() == found[0].strip().lower()), None)
        if value is None:
            what = f"unknown {_bare(name)} '{shorten(found[0])}' of '{local_name(element)}'"
            self.gather.error(what, found[1], nearest_names(found[0], known))
        return value

    # Errors

    def span(self, element: etree._Element, name: str | None = None) -> Span:
        """Return the place of an element or of one of its attributes."""
        found = self.attribute(element, name) if name is not None else None
        return self.source.span(element) if found is None else found[1]

    def error(self, message: str, element: etree._Element, expected: str, attribute: str | None = None) -> None:
        """Record an error at an element or at one of its attributes."""
        self.gather.error(message, self.span(element, attribute), expected)


def open_xml(path: str, gather: Gatherer, canonical: Callable[[str], str] = str.lower) -> XmlReader:
    """Return a reader of a document. Raises ``FormatError`` when there is no well-formed document."""
    source = parse_xml(path, gather)
    if source is None:
        raise gathered_error(gather)
    return XmlReader(source, gather, canonical)


def gathered_error(gather: Gatherer) -> FormatError:
    """Return the gathered errors as one ``FormatError``, those of each file in the order of its lines."""
    files = {path: i for i, path in enumerate(dict.fromkeys(d.span.path for d in gather.diagnostics))}
    ordered = sorted(gather.diagnostics, key=lambda d: (files[d.span.path], d.span.line, d.span.column))
    first = gather.errors[0]
    error = FormatError(first.message, span=first.span, expected=first.expected)
    error.diagnostics = tuple(ordered)
    return error


def raise_errors(gather: Gatherer) -> None:
    """Raise everything gathered if any of it is an error."""
    if gather.errors:
        raise gathered_error(gather)


def _fits(value: Fraction | None, *, positive: bool, most: int | None) -> bool:
    """Return whether a number is there, not below 0 (or above 0) and at most ``most``."""
    return value is not None and value >= 0 and not (positive and value == 0) and (most is None or value <= most)


def _wanted(*, positive: bool, most: int | None) -> str:
    """Return what a number should have been."""
    wanted = "a number above 0" if positive else "a number of at least 0"
    return wanted if most is None else f"{wanted} and at most {most}"


def _bare(name: str) -> str:
    """Return a name without its namespace."""
    return name.rpartition("}")[2]


def shorten(text: str) -> str:
    """Return ``text`` cut to a length that fits a message."""
    return text if len(text) <= 40 else text[:37] + "..."


def refuse_unwritable(path: str, names: Iterable[str]) -> None:
    """Raise ``FormatError`` if one of the names that a document is to hold has characters that XML cannot have."""
    for name in names:
        if found := not_in_xml(name):
            raise FormatError(
                f"the name '{shorten(name)}' cannot stand in an XML file: it has the character U+{ord(found[0]):04X}",
                span=file_span(path, 0),
                expected="give it another name where it comes from",
            )


def topology_names(topology: Topology) -> Iterator[str]:
    """Yield every name of a network, its actors, ports and actions."""
    yield topology.name
    for actor in topology.actors:
        yield from (actor.name, actor.class_name, *actor.inputs, *actor.outputs)
        yield from (action.name for action in actor.actions)


def xml_text(root: etree._Element) -> str:
    """Return an element as text, whatever the encoding of its file was."""
    return str(etree.tostring(root, encoding="unicode", with_tail=False))


def write_xml(root: etree._Element, path: str) -> None:
    """Write a document: UTF-8 with declaration, two spaces a level. Raises ``FormatError`` if it cannot be written."""
    etree.indent(root)
    text = etree.tostring(root, encoding="UTF-8", xml_declaration=True) + b"\n"
    write_file(path, text)


def write_file(path: str, data: bytes) -> None:
    """Write a file. Raises ``FormatError`` that says why it cannot be written."""
    try:
        write_whole(path, data)
    except OSError as error:
        raise FormatError(f"cannot write this file: {error.strerror or error}", span=file_span(path, 0)) from error
