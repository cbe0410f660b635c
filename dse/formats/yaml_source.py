"""YAML documents with places: typed access to the nodes, so that every error has a line and a column.

Works on the nodes of the YAML parser, never on Python values: numbers stay exact decimals, ``yes`` is no surprise, and
unknown or repeated keys are found. Errors are gathered; a value that is wrong is None and its reader goes on.
"""

import re
from collections.abc import Iterator
from fractions import Fraction
from typing import TypeAlias

import yaml

from dse.base.diagnostics import Gatherer
from dse.base.errors import DseError, FormatError
from dse.base.escaping import not_in_xml
from dse.base.numbers import ANY_NUMBER, Bounds, parse_decimal, parse_integer
from dse.base.registry import nearest_names
from dse.base.source import Span, file_span
from dse.formats.xml_source import read_bytes

Entries: TypeAlias = dict[str, tuple[yaml.Node, yaml.Node]]
"""The entries of a mapping: key -> (node of the key, node of the value), in the order of the file."""

_TRUTH = {"true": True, "false": False}
_PLAIN = re.compile(r"[A-Za-z_][A-Za-z0-9_./-]*(?: [A-Za-z0-9_./-]+)*", re.ASCII)
_RESERVED = frozenset({"true", "false", "yes", "no", "on", "off", "null", "y", "n"})
"""Words that YAML 1.1 reads as something else than a text."""


class YamlSource:
    """A YAML document and the gatherer of its errors."""

    def __init__(self, path: str, root: yaml.Node, gather: Gatherer) -> None:
        self.path = path
        self.root = root
        self.gather = gather

    # Places and errors

    def span(self, node: yaml.Node) -> Span:
        """Return the place of a node; of its first line only, so that an excerpt stays short."""
        start, end = node.start_mark, node.end_mark
        if end.line == start.line:
            return Span(self.path, start.line + 1, start.column + 1, end.line + 1, end.column + 1)
        return file_span(self.path, start.line + 1, start.column + 1)

    def error(self, message: str, node: yaml.Node, expected: str) -> None:
        """Record an error at a node."""
        self.gather.error(message, self.span(node), expected)

    # Structure

    def mapping(self, node: yaml.Node, what: str, known: tuple[str, ...] | None) -> Entries:
        """Return the entries of a mapping; unknown keys (of ``known``, if given) and repeated keys are errors."""
        entries: Entries = {}
        if not isinstance(node, yaml.MappingNode):
            self.error(f"{what} is {_kind(node)}", node, "expected 'key: value' pairs")
            return entries
        for key_node, value_node in node.value:
            key = self.text(key_node, f"a key of {what}")
            if key is None:
                continue
            if key in entries:
                first = entries[key][0].start_mark.line + 1
                self.error(f"'{key}' is given twice in {what}", key_node, f"the first is in line {first}")
            elif known is not None and key not in known:
                self.error(f"unknown key '{key}' in {what}", key_node, nearest_names(key, known))
            else:
                entries[key] = (key_node, value_node)
        return entries

    def items(self, node: yaml.Node, what: str) -> list[yaml.Node]:
        """Return the items of a list."""
        if isinstance(node, yaml.SequenceNode):
            return list(node.value)
        self.error(f"{what} is {_kind(node)}", node, "expected a list such as [a, b]")
        return []

    def is_text(self, node: yaml.Node) -> bool:
        """Return whether a node is a scalar."""
        return isinstance(node, yaml.ScalarNode)

    def is_mapping(self, node: yaml.Node) -> bool:
        """Return whether a node holds entries."""
        return isinstance(node, yaml.MappingNode)

    # Scalars

    def text(self, node: yaml.Node, what: str) -> str | None:
        """Return a scalar as it is written."""
        if isinstance(node, yaml.ScalarNode) and node.tag != "tag:yaml.org,2002:null":
            if not_in_xml(node.value):
                self.error(f"{what} holds control characters", node, "expected a text that prints")
                return None
            return str(node.value)
        self.error(f"{what} is {_kind(node)}", node, "expected a text")
        return None

    def number(
        self, node: yaml.Node, what: str, *, positive: bool = True, bounds: Bounds = ANY_NUMBER
    ) -> Fraction | None:
        """Return an exact decimal number between bounds; 0 too if ``positive`` is false."""
        value = parse_decimal(node.value) if isinstance(node, yaml.ScalarNode) else None
        wanted = "a number above 0" if positive else "a number of at least 0"
        return self._bounded(value, node, what, wanted, bounds, positive=positive)

    def integer(self, node: yaml.Node, what: str, bounds: Bounds = ANY_NUMBER, *, positive: bool = True) -> int | None:
        """Return an integer above 0 between bounds; 0 too if ``positive`` is false."""
        value = parse_integer(node.value) if isinstance(node, yaml.ScalarNode) else None
        wanted = "an integer above 0" if positive else "an integer of at least 0"
        given = None if value is None else Fraction(value)
        exact = self._bounded(given, node, what, wanted, bounds, positive=positive)
        return None if exact is None else int(exact)

    def _bounded(
        self, value: Fraction | None, node: yaml.Node, what: str, wanted: str, bounds: Bounds, *, positive: bool = True
    ) -> Fraction | None:
        if value is not None and (value > 0 or (value == 0 and not positive)):
            if bounds.holds(value):
                return value
            wanted = f"{wanted.split(' ')[0]} {wanted.split(' ')[1]} from {bounds}"
        shown = f"'{_shorten(node.value)}'" if isinstance(node, yaml.ScalarNode) else _kind(node)
        self.error(f"{what} is {shown}", node, f"expected {wanted}")
        return None

    def boolean(self, node: yaml.Node, what: str) -> bool | None:
        """Return true or false."""
        value = _TRUTH.get(str(node.value).lower()) if isinstance(node, yaml.ScalarNode) else None
        if value is None:
            shown = f"'{_shorten(node.value)}'" if isinstance(node, yaml.ScalarNode) else _kind(node)
            self.error(f"{what} is {shown}", node, "expected true or false")
        return value

    def choice(self, node: yaml.Node, what: str, known: tuple[str, ...]) -> str | None:
        """Return one of ``known``; letter case is not significant."""
        text = self.text(node, what)
        if text is None:
            return None
        found = next((name for name in known if name.lower() == text.lower()), None)
        if found is None:
            self.error(f"{what} is '{_shorten(text)}'", node, nearest_names(text, known))
        return found


def parse_yaml(path: str, gather: Gatherer) -> YamlSource | None:
    """Return the only document of a YAML file, or None with the errors in ``gather``."""
    try:
        data = read_bytes(path)
    except DseError as error:
        gather.extend(error.diagnostics)
        return None
    try:
        root = yaml.compose(data, Loader=yaml.SafeLoader)
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        span = file_span(path, mark.line + 1, mark.column + 1) if mark else file_span(path, 0)
        gather.error(f"not well-formed YAML: {error.problem or error.context}", span, error.note or "")
        return None
    except (yaml.YAMLError, UnicodeError, ValueError) as error:
        gather.error(f"not well-formed YAML: {' '.join(str(error).split())}", file_span(path, 0))
        return None
    except RecursionError:
        gather.error("the YAML is nested too deeply", file_span(path, 0), "expected a few levels of 'key: value' pairs")
        return None
    if root is None:
        gather.error("the file is empty", file_span(path, 0), "expected 'key: value' pairs")
        return None
    return YamlSource(path, root, gather)


def format_error(gather: Gatherer) -> FormatError:
    """Return the gathered errors as one ``FormatError``."""
    first = gather.errors[0]
    error = FormatError(first.message, span=first.span, expected=first.expected)
    error.diagnostics = tuple(gather.diagnostics)
    return error


def yaml_document(lines: Iterator[str]) -> str:
    """Return lines as a document with a final newline."""
    return "\n".join(lines) + "\n"


def quoted(text: str) -> str:
    """Return a text as a YAML scalar, quoted where it would read as something else."""
    if _PLAIN.fullmatch(text) and text.lower() not in _RESERVED:
        return text
    return str(yaml.safe_dump(text, default_style='"', allow_unicode=True, width=2**31)).strip()


def _kind(node: yaml.Node) -> str:
    """Return what a node is, in words."""
    if isinstance(node, yaml.MappingNode):
        return "a mapping"
    if isinstance(node, yaml.SequenceNode):
        return "a list"
    return f"'{_shorten(node.value)}'" if node.value else "empty"


def _shorten(text: object) -> str:
    """Return a text cut to a length that fits a message."""
    return str(text) if len(str(text)) <= 40 else str(text)[:37] + "..."
