"""One XDF file as an editor asks about it: what stands at a place, and what it means. It need not be well-formed."""

import html
from dataclasses import dataclass
from typing import Literal

from dse.lsp.source_text import SourceText
from dse.lsp.xdf_tags import Attribute, Tag, scan_tags

Meaning = Literal["class", "instance", "input port", "output port", "parameter", "declaration", "network port"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Named:
    """A name that stands at ``start`` to ``end``, and what it names.

    ``owner``: the instance whose port or parameter it is, "" for the network itself.
    """

    meaning: Meaning
    name: str
    owner: str
    start: int
    end: int


class XdfView:
    """An XDF file, scanned for questions about places."""

    def __init__(self, path: str, text: str) -> None:
        self.source = SourceText(path, text, is_xml=True)
        self.tags = scan_tags(text)
        self._by_key: dict[tuple[str, str], Tag] = {}
        for tag in self.tags:
            key = _KEYS.get(tag.name)
            if key is not None and tag.value(key):
                self._by_key.setdefault((tag.name, text_of(tag.value(key))), tag)

    def network(self) -> Tag | None:
        """Return the root element."""
        return next((tag for tag in self.tags if tag.name == "XDF"), None)

    def all(self, name: str) -> tuple[Tag, ...]:
        """Return the elements of a name in the order of the file."""
        return tuple(tag for tag in self.tags if tag.name == name)

    def instance(self, name: str) -> Tag | None:
        """Return an instance."""
        return self._by_key.get(("Instance", name))

    def declaration(self, name: str) -> Tag | None:
        """Return a parameter or variable of the network."""
        return self._by_key.get(("Decl", name))

    def port(self, name: str, direction: str) -> Tag | None:
        """Return a port of the network: ``direction`` is "Input" or "Output"."""
        found = (t for t in self.all("Port") if text_of(t.value("name")) == name)
        return next((t for t in found if t.value("kind").lower() == direction.lower()), None)

    def ports(self, direction: str) -> tuple[str, ...]:
        """Return the names of the ports of the network."""
        return tuple(text_of(t.value("name")) for t in self.all("Port") if t.value("kind").lower() == direction.lower())

    def class_of(self, instance: str) -> str:
        """Return the class of an instance, "" where none is known."""
        tag = self.instance(instance)
        named = None if tag is None else tag.child("Class")
        return "" if named is None else text_of(named.value("name"))

    def named_at(self, offset: int) -> Named | None:
        """Return what the attribute at a place names."""
        found = self._attribute_at(offset)
        return None if found is None else _named(*found)

    def _attribute_at(self, offset: int) -> tuple[Tag, Attribute] | None:
        for tag in self.tags:
            if tag.start <= offset <= tag.head_end:
                for attribute in tag.attributes.values():
                    if attribute.start <= offset <= attribute.end:
                        return tag, attribute
        return None


_KEYS = {"Instance": "id", "Decl": "name"}


def text_of(value: str) -> str:
    """Return what the value of an attribute stands for."""
    return html.unescape(value) if "&" in value else value


def _named(tag: Tag, attribute: Attribute) -> Named | None:
    """Return what an attribute of a tag names; None where it names nothing."""
    found = _meaning(tag, attribute.name)
    if found is None:
        return None
    meaning, owner = found
    return Named(meaning=meaning, name=text_of(attribute.value), owner=owner, start=attribute.start, end=attribute.end)


def _meaning(tag: Tag, attribute: str) -> tuple[Meaning, str] | None:
    instance = tag.around("Instance")
    owner = "" if instance is None else text_of(instance.value("id"))
    match tag.name, attribute:
        case "Class", "name":
            return "class", owner
        case "Instance", "id":
            return "instance", ""
        case "Parameter", "name":
            return "parameter", owner
        case "Decl", "name":
            return "declaration", ""
        case "Port", "name":
            return "network port", tag.value("kind")
        case "Expr", "name":
            return "declaration", ""
        case "Connection", _:
            return _end_of_connection(tag, attribute)
    return None


def _end_of_connection(tag: Tag, attribute: str) -> tuple[Meaning, str] | None:
    """Return what an attribute of a connection names. A port of the network is an input where tokens come from."""
    match attribute:
        case "src" | "dst":
            return "instance", ""
        case "src-port":
            source = text_of(tag.value("src"))
            return ("output port", source) if source else ("network port", "Input")
        case "dst-port":
            target = text_of(tag.value("dst"))
            return ("input port", target) if target else ("network port", "Output")
    return None
