"""Random XML documents in every spelling that is allowed, and what lxml makes of a document."""

import random
from collections.abc import Iterator
from typing import Literal, TypeAlias

from lxml import etree

Tree: TypeAlias = tuple[str, str, tuple[tuple[str, str], ...], "tuple[Tree, ...]"]
"""Tag, all text directly inside, attributes, children."""

NAMES = ("a", "Partition", "instance", "x_1", "é", "名", "_", "a-b.c", "xml1", "A\u0301")
PREFIXES = ("", "", "", "p:", "q:", "xml:")
SPACES = ("urn:dse:design-point:1", "urn:x", "http://example.com/a")
TEXTS = ("", " ", "x", "1 < 2", "a&b", "é", "\U0001f600", "\t\n", "]]", "'\"", "--", "?>", "\u2028", "\x85", "z" * 30)
DECLARATIONS = ("", "<?xml version='1.0'?>", '<?xml version="1.0" encoding="UTF-8" standalone = "yes" ?>\n')
LINE_ENDS = ("\n", "\r\n", "\r", "&#10;", "&#xD;")
NO_ERRORS = ("is not a valid URI", "xml:id")
"""What libxml2 complains about that has no part in whether a document is well-formed; it is silent of the rest then."""


def random_document(rng: random.Random) -> bytes:
    """Return a document that is well-formed but for the accidents of names."""
    parts = [rng.choice(("", "", "\ufeff"))]
    parts.append(
        rng.choice(("", "<?xml version='1.0'?>", '<?xml version="1.0" encoding="UTF-8" standalone = "yes" ?>\n'))
    )
    parts += [_misc(rng), _element(rng, 0), _misc(rng)]
    return "".join(parts).encode()


def _misc(rng: random.Random) -> str:
    return rng.choice(("", "", "\n", " <!-- - c --> ", "<?target some > data?>", "\r\n<?t?>"))


def _element(rng: random.Random, depth: int) -> str:
    name = rng.choice(PREFIXES[:5]) + rng.choice(NAMES)
    attributes = "".join(_attribute(rng) for _ in range(rng.choice((0, 0, 1, 2, 3))))
    if depth == 0:
        attributes += "".join(f" xmlns:{p}='{rng.choice(SPACES)}'" for p in "pq" if rng.random() < 0.9)
    elif rng.random() < 0.1:
        attributes += f' xmlns{rng.choice(("", ":p"))}="{rng.choice(SPACES)}"'
    blank = rng.choice(("", "", " ", "\r\n"))
    if rng.random() < 0.3:
        return f"<{name}{attributes}{blank}/>"
    inside = "".join(_content(rng, depth) for _ in range(rng.choice((0, 1, 2, 4))))
    return f"<{name}{attributes}{blank}>{inside}</{name}{blank}>"


def _attribute(rng: random.Random) -> str:
    quote = rng.choice("\"'")
    equals = rng.choice(("=", "=", " = ", "\n="))
    value = _escaped(rng, rng.choice(TEXTS)).replace(quote, "&quot;" if quote == '"' else "&apos;")
    return f"{rng.choice((' ', '  ', chr(10)))}{rng.choice(PREFIXES)}{rng.choice(NAMES)}{equals}{quote}{value}{quote}"


def _content(rng: random.Random, depth: int) -> str:
    kind = rng.random()
    if kind < 0.4 and depth < 5:
        return _element(rng, depth + 1)
    if kind < 0.5:
        return "<![CDATA[" + rng.choice(TEXTS) + "]]>"
    return _misc(rng) if kind < 0.6 else _escaped(rng, rng.choice(TEXTS))


def _escaped(rng: random.Random, text: str) -> str:
    """Return a text as markup, some characters as references."""
    text = text.replace("&", "&amp;").replace("<", "&lt;").replace("\n", rng.choice(LINE_ENDS))
    if text and rng.random() < 0.2:
        at = rng.randrange(len(text))
        if text[at] not in "&;" and "&" not in text:
            number = rng.choice((f"&#{ord(text[at])};", f"&#x{ord(text[at]):X};", f"&#x0{ord(text[at]):x};"))
            text = text[:at] + number + text[at + 1 :]
    return text


def tree_by_lxml(data: bytes) -> Tree | Literal["refused", "undecided"]:
    """Return the tree of a document, whether our reader of XML in Python refuses it, or that lxml cannot tell."""
    parser = etree.XMLParser(
        resolve_entities=False, no_network=True, load_dtd=False, dtd_validation=False, recover=True, huge_tree=False
    )
    try:
        root = etree.fromstring(data, parser)
    except (etree.XMLSyntaxError, ValueError):
        return "refused"
    errors = [str(entry.message) for entry in parser.error_log if entry.level >= etree.ErrorLevels.ERROR]
    if any(text in message for message in errors for text in NO_ERRORS):
        return "undecided"
    return "refused" if root is None or errors else _tree(root)


def _tree(element: "etree._Element") -> Tree:
    text = (element.text or "") + "".join(child.tail or "" for child in element)
    attributes = tuple((str(k), str(v)) for k, v in element.attrib.items())
    return str(element.tag), text, attributes, tuple(_tree(e) for e in _elements(element))


def _elements(element: "etree._Element") -> Iterator["etree._Element"]:
    return (child for child in element if isinstance(child.tag, str))
