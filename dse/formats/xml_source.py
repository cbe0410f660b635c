"""XML files with places: parsing that never expands entities or reaches for the network, and the span of each tag.

lxml knows only the line of an element. The start tags are therefore found once more in the text, in document order, so
that a diagnostic can point at the tag or at one attribute of it.
"""

import codecs
import re
from bisect import bisect_right
from collections.abc import Iterator
from pathlib import Path
from typing import cast

from lxml import etree

from dse.base.diagnostics import Gatherer
from dse.base.errors import DseError
from dse.base.files import whole_content
from dse.base.source import Span, file_span

_MARKUP = re.compile(
    r"<!--.*?-->|<!\[CDATA\[.*?\]\]>|<\?.*?\?>|<!DOCTYPE[^\[>]*(?:\[.*?\]\s*)?>"
    r"""|(?P<tag><[^!?/\s>](?:[^'">]|"[^"]*"|'[^']*')*>)""",
    re.DOTALL,
)
_UTF16_MARKS = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)
_BEFORE_MARKUP = codecs.BOM_UTF8 + b" \t\r\n"
_NEWLINE = re.compile(r"\r\n|\r|\n")


class XmlSource:
    """A parsed XML document together with the place of each start tag."""

    def __init__(self, path: str, root: etree._Element, text: str) -> None:
        self.path = path
        self.root = root
        self._text = text
        self._line_starts = [0, *(m.end() for m in _NEWLINE.finditer(text))]
        tags = [m.span() for m in _MARKUP.finditer(text) if m.group("tag")]
        elements = list(_elements(root))
        # Counts differ only where entities hold markup; lines of lxml are the fallback then.
        self._tags = dict(zip(elements, tags, strict=True)) if len(tags) == len(elements) else {}

    def span(self, element: etree._Element) -> Span:
        """Return the place of the start tag of ``element``."""
        if element not in self._tags:
            return file_span(self.path, _line(element))
        return self._span_of(*self._tags[element])

    def attribute_span(self, element: etree._Element, name: str) -> Span:
        """Return the place of the value of an attribute, without its quotes; of the tag if it has no such attribute."""
        if element not in self._tags:
            return file_span(self.path, _line(element))
        start, end = self._tags[element]
        found = re.compile(rf"""\s{re.escape(name)}\s*=\s*("[^"]*"|'[^']*')""").search(self._text, start, end)
        return self._span_of(found.start(1) + 1, found.end(1) - 1) if found else self._span_of(start, end)

    def _span_of(self, start: int, end: int) -> Span:
        line, column = self._position(start)
        end_line, end_column = self._position(end)
        return Span(self.path, line, column, end_line, end_column)

    def _position(self, offset: int) -> tuple[int, int]:
        line = bisect_right(self._line_starts, offset)
        return line, offset - self._line_starts[line - 1] + 1


def _line(element: etree._Element) -> int:
    """Return the line of an element (the stubs of lxml do not know its type)."""
    return cast("int | None", element.sourceline) or 1


def _elements(root: etree._Element) -> Iterator[etree._Element]:
    """Yield the elements in document order, without comments, processing instructions and entity references."""
    return (node for node in root.iter() if isinstance(node.tag, str))


def local_name(element: etree._Element) -> str:
    """Return the tag of an element without its namespace."""
    tag = element.tag
    return tag.rpartition("}")[2] if isinstance(tag, str) else ""


def read_bytes(path: str) -> bytes:
    """Return the content of a file. Raises ``DseError`` that says why it cannot be read, as a device without end."""
    try:
        return whole_content(Path(path))
    except (OSError, ValueError) as error:
        raise DseError(_why_unreadable(error), span=file_span(path, 0)) from error


def _why_unreadable(error: OSError | ValueError) -> str:
    match error:
        case FileNotFoundError():
            return "no such file"
        case IsADirectoryError():
            return "this is a folder, not a file"
        case OSError(strerror=str(reason)):
            return f"cannot read this file: {reason}"
        case _:
            return "this is not a file name"


def parse_xml(path: str, gather: Gatherer, text: str | None = None) -> XmlSource | None:
    """Return the parsed document, or None with every syntax error of it in ``gather``.

    ``text`` stands for the content of the file where an editor holds it; the encoding that it declares does not count.
    """
    data = _content(path, gather, text)
    if data is None:
        return None
    parser = etree.XMLParser(
        encoding=None if text is None else "utf-8",
        resolve_entities=False,
        no_network=True,
        load_dtd=False,
        dtd_validation=False,
        recover=True,
        huge_tree=False,
    )
    try:
        root = etree.fromstring(data, parser)
    except etree.XMLSyntaxError:
        root = None  # nothing could be recovered; the log below says why
    if _report_syntax_errors(path, data, parser, gather):
        return None
    if root is None:
        gather.error("this is not an XML document", file_span(path, 1), "expected a start tag such as '<XDF ...>'")
        return None
    return XmlSource(path, root, _decode(data, root) if text is None else text)


def _content(path: str, gather: Gatherer, text: str | None) -> bytes | None:
    """Return what is to be parsed, or None with the reason why there is nothing in ``gather``."""
    try:
        data = read_bytes(path) if text is None else text.encode("utf-8", "replace")
    except DseError as error:
        gather.extend(error.diagnostics)
        return None
    if not data.strip():
        gather.error("the file is empty", file_span(path, 0), "expected an XML document")
        return None
    if b"\0" in data and not data.startswith(_UTF16_MARKS):
        gather.error("this is a binary file", file_span(path, 0), "expected an XML document")
        return None
    return data


def _report_syntax_errors(path: str, data: bytes, parser: etree.XMLParser, gather: Gatherer) -> bool:
    """Record what the parser complained about, each place once; return whether there was anything."""
    seen: set[tuple[int, int]] = set()
    if not data.lstrip(_BEFORE_MARKUP).startswith(b"<") and not data.startswith(_UTF16_MARKS):
        gather.error("this is not an XML document", file_span(path, 1), "a document starts with '<'")
        return True
    last_line = len(_NEWLINE.findall(data.rstrip().decode("latin-1"))) + 1
    for entry in parser.error_log:
        if entry.level < etree.ErrorLevels.ERROR or (entry.line, entry.column) in seen:
            continue
        seen.add((entry.line, entry.column))
        message = " ".join(str(entry.message).split())
        span = file_span(path, max(1, entry.line), max(1, entry.column))
        cut_off = entry.line >= last_line > 1
        gather.error(f"not well-formed XML: {message}", span, "the file ends here: is it cut off?" if cut_off else "")
    return bool(seen)


def _decode(data: bytes, root: etree._Element) -> str:
    """Return the text of the document by its declared encoding; Latin-1 as the last resort, which cannot fail."""
    declared = root.getroottree().docinfo.encoding or "utf-8"
    for encoding in (declared, "utf-8"):
        try:
            return data.decode(encoding)
        except (UnicodeDecodeError, LookupError):
            continue
    return data.decode("latin-1")
