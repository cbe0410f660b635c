"""Comparing syntax trees, for the tests of the syntactic half of the front-end."""

from dataclasses import fields, is_dataclass
from typing import Any

from dse.base.diagnostics import Gatherer
from dse.base.source import NO_SPAN, Span
from dse.frontend.cal.ast import CalFile
from dse.frontend.cal.parser import parse_cal


def without_spans(node: Any) -> Any:
    """Return a tree with every span replaced by ``NO_SPAN``."""
    if isinstance(node, Span):
        return NO_SPAN
    if is_dataclass(node) and not isinstance(node, type):
        return type(node)(*[without_spans(getattr(node, field.name)) for field in fields(node)])
    if isinstance(node, tuple):
        return tuple(without_spans(item) for item in node)
    return node


def parse_clean(text: str, path: str = "a.cal") -> CalFile:
    """Parse text that must have no errors."""
    gather = Gatherer()
    file = parse_cal(path, text, gather)
    assert gather.diagnostics == []
    assert file is not None
    return file
