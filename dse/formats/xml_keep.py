"""Carrying over what a reader does not know when a file is rewritten (formats.md: kept on a rewrite).

An ``ElementKind`` says which attributes and children of an element a format knows and which attributes identify it
among its siblings. Everything else of the old file is copied to the element of the new file with the same identity.
"""

from collections.abc import Callable
from copy import deepcopy
from dataclasses import dataclass

from lxml import etree

from dse.base.diagnostics import Gatherer
from dse.formats.xml_source import local_name, parse_xml


@dataclass(frozen=True, slots=True, kw_only=True)
class ElementKind:
    """An element of a format: names in lower case, attribute names canonical."""

    tag: str
    identity: tuple[str, ...] = ()
    attributes: tuple[str, ...] = ()
    """The known attributes apart from the identity."""
    children: tuple["ElementKind", ...] = ()


def keep_unknown(
    old_path: str, new: etree._Element, kind: ElementKind, canonical: Callable[[str], str] = str.lower
) -> None:
    """Copy the unknown attributes and elements of the file ``old_path`` into the new document ``new``.

    A file that is missing or no XML has nothing to keep. Known elements that the new document lacks stay out.
    """
    source = parse_xml(old_path, Gatherer())
    if source is not None and local_name(source.root).lower() == kind.tag:
        _carry(source.root, new, kind, canonical)


def _carry(old: etree._Element, new: etree._Element, kind: ElementKind, canonical: Callable[[str], str]) -> None:
    _carry_attributes(old, new, kind, canonical)
    kinds = {child.tag: child for child in kind.children}
    targets = {
        (local_name(c).lower(), _identity(c, kinds[local_name(c).lower()], canonical)): c
        for c in new
        if local_name(c).lower() in kinds
    }
    for child in old:
        tag = local_name(child).lower()
        if tag and tag not in kinds:
            new.append(deepcopy(child))
        elif tag:
            target = targets.get((tag, _identity(child, kinds[tag], canonical)))
            if target is not None:
                _carry(child, target, kinds[tag], canonical)


def _carry_attributes(
    old: etree._Element, new: etree._Element, kind: ElementKind, canonical: Callable[[str], str]
) -> None:
    """Copy the attributes that the format does not know and the new element lacks."""
    present = {canonical(str(name)) for name in new.attrib}
    for name, value in old.attrib.items():
        known = canonical(str(name)) in kind.attributes + kind.identity
        if not known and canonical(str(name)) not in present:
            new.set(str(name), str(value))


def _identity(element: etree._Element, kind: ElementKind, canonical: Callable[[str], str]) -> tuple[str, ...]:
    """Return the values of the identifying attributes."""
    values = {canonical(str(name)): str(value) for name, value in element.attrib.items()}
    return tuple(values.get(name, "") for name in kind.identity)
