"""Places in sources apart from the IR: what a text that does not print them reads back as."""

from dataclasses import fields, is_dataclass, replace
from typing import Any, TypeVar

from dse.base.source import NO_SPAN, Span
from dse.program.explicit import ExplicitActor
from dse.program.ir import Actor, ConstList

Tree = TypeVar("Tree", Actor, ExplicitActor)


def without_spans(tree: Tree) -> Tree:
    """Return an actor whose nodes all have ``NO_SPAN``."""
    stripped: Tree = _stripped(tree)
    return stripped


def _stripped(node: Any) -> Any:
    if isinstance(node, Span):
        return NO_SPAN
    if isinstance(node, tuple):
        return tuple(_stripped(part) for part in node)
    if not is_dataclass(node) or isinstance(node, type):
        return node
    if isinstance(node, ConstList):
        return replace(node, span=NO_SPAN)
    return replace(node, **{field.name: _stripped(getattr(node, field.name)) for field in fields(node) if field.init})
