"""The tags of an XML text as it is while somebody writes it: without an error, whatever is missing.

What is wrong with the text the reader of XDF says (``dse.formats.xdf``); this finds what stands at a place, and what is
around it, in a text that the reader refuses.
"""

import re
from collections import Counter
from dataclasses import dataclass, field

_MARKUP = re.compile(
    r"""<!--.*?(?:-->|\Z) | <!\[CDATA\[.*?(?:\]\]>|\Z) | <\?.*?(?:\?>|\Z) | <![^<>]*>?
    | </\s*(?P<closed>[\w:.-]*)[^<>]*>?
    | <(?P<opened>[\w:.-]+)(?P<attributes>(?:[^<>"'/]|"[^"<]*"?|'[^'<]*'?|/(?!>))*+)(?P<empty>/?>)?
    """,
    re.VERBOSE | re.DOTALL,
)
_ATTRIBUTE = re.compile(r"""(?<![\w:.-])([\w:.-]++)\s*+=\s*+(?:"([^"<]*)("?)|'([^'<]*)('?))""")


@dataclass(frozen=True, slots=True)
class Attribute:
    """An attribute; ``start`` and ``end`` are the offsets of its value, without the quotes."""

    name: str
    value: str
    start: int
    end: int


@dataclass(slots=True, eq=False)
class Tag:
    """An element with the tags in it. ``start`` to ``head_end`` is its start tag, ``start`` to ``end`` all of it."""

    name: str
    attributes: dict[str, Attribute]
    start: int
    head_end: int
    end: int
    parent: "Tag | None" = None
    children: list["Tag"] = field(default_factory=list)

    def value(self, name: str) -> str:
        """Return the value of an attribute, "" where it has none."""
        found = self.attributes.get(name)
        return "" if found is None else found.value

    def child(self, name: str) -> "Tag | None":
        """Return the first element in it that has a name."""
        return next((tag for tag in self.children if tag.name == name), None)

    def around(self, name: str) -> "Tag | None":
        """Return this or the nearest element around it that has a name."""
        tag: Tag | None = self
        while tag is not None and tag.name != name:
            tag = tag.parent
        return tag


def scan_tags(text: str) -> tuple[Tag, ...]:
    """Return all elements in the order of their start tags; a namespace prefix is left out of their names."""
    tags: list[Tag] = []
    opened = _Open()
    for markup in _MARKUP.finditer(text):
        if markup["opened"] is not None:
            tag = _tag(markup)
            opened.put(tag)
            tags.append(tag)
            if markup["empty"] != "/>":
                opened.enter(tag)
        elif markup["closed"] is not None:
            opened.close(markup["closed"].rpartition(":")[2], markup.end())
    opened.close_all()
    return tuple(tags)


class _Open:
    """The elements around a place, and how many there are of each name: most wrong end tags close none of them."""

    def __init__(self) -> None:
        self._tags: list[Tag] = []
        self._counts: Counter[str] = Counter()

    def put(self, tag: Tag) -> None:
        """Put an element into the innermost open one."""
        if self._tags:
            tag.parent = self._tags[-1]
            self._tags[-1].children.append(tag)

    def enter(self, tag: Tag) -> None:
        """Open an element."""
        self._tags.append(tag)
        self._counts[tag.name] += 1

    def close(self, name: str, end: int) -> None:
        """Close the innermost open element of a name, and those in it; an end tag of none closes nothing."""
        if not self._counts[name]:
            return
        while True:
            tag = self._tags.pop()
            self._counts[tag.name] -= 1
            tag.end = end
            if tag.name == name:
                return

    def close_all(self) -> None:
        """Let each element that is still open end with what is in it."""
        for tag in reversed(self._tags):
            tag.end = max([tag.end, *(child.end for child in tag.children)])


def _tag(markup: "re.Match[str]") -> Tag:
    start, end = markup.span()
    base = markup.start("attributes")
    attributes: dict[str, Attribute] = {}
    for found in _ATTRIBUTE.finditer(markup["attributes"]):
        group = 2 if found[2] is not None else 4
        value = Attribute(found[1], found[group], base + found.start(group), base + found.end(group))
        attributes.setdefault(value.name, value)
    return Tag(markup["opened"].rpartition(":")[2], attributes, start, end, end)
