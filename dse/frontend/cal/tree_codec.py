"""Parse results as bytes: a pickle that can hold syntax trees and diagnostics and nothing else.

Reading can call only the constructors of this module's table, so a hostile file can produce a wrong tree but run no
code. Pickle is used because its reader is C: it is twice as fast as a parse, a reader in Python would be no faster.
"""

import io
import pickle
from collections.abc import Callable
from dataclasses import fields, is_dataclass
from functools import partial
from hashlib import blake2b
from operator import attrgetter
from typing import Any

from dse.base.errors import Diagnostic
from dse.base.source import Span
from dse.frontend.cal import ast

_CHECKSUM_BYTES = 16
_NODES = tuple(
    c for c in vars(ast).values() if isinstance(c, type) and is_dataclass(c) and c.__module__ == ast.__name__
)
_FIELDS: dict[type, Callable[[Any], tuple[Any, ...]]] = {
    node: attrgetter(*(field.name for field in fields(node))) for node in _NODES
}

Parsed = tuple[ast.CalFile | None, tuple[Diagnostic, ...]]
"""What a parse gives: the tree, and everything that was reported."""


class DecodeError(Exception):
    """The bytes are not those of a parse result (damaged, or written by something else)."""


def _diagnostic(message: str, span: Span, severity: Any, expected: str) -> Diagnostic:
    return Diagnostic(message=message, span=span, severity=severity, expected=expected)


_make_span = partial(tuple.__new__, Span)
_CONSTRUCTORS: dict[tuple[str, str], Callable[..., Any]] = {(c.__module__, c.__qualname__): c for c in _NODES}
_CONSTRUCTORS[_diagnostic.__module__, _diagnostic.__qualname__] = _diagnostic
_CONSTRUCTORS[Span.__module__, Span.__qualname__] = _make_span


class _Writer(pickle.Pickler):
    def reducer_override(self, value: Any) -> Any:
        if type(value) is Span:
            return Span, (tuple(value),)
        values = _FIELDS.get(type(value))
        if values is not None:
            return type(value), values(value)
        if type(value) is Diagnostic:
            return _diagnostic, (value.message, value.span, value.severity, value.expected)
        return NotImplemented


class _Reader(pickle.Unpickler):
    def find_class(self, module: str, name: str) -> Any:
        try:
            return _CONSTRUCTORS[module, name]
        except KeyError:
            raise DecodeError(f"a parse result holds no {module}.{name}") from None


def encode(parsed: Parsed) -> bytes:
    """Return the bytes of a parse result, behind a checksum."""
    buffer = io.BytesIO()
    _Writer(buffer, protocol=5).dump(parsed)
    body = buffer.getvalue()
    return blake2b(body, digest_size=_CHECKSUM_BYTES).digest() + body


def decode(data: bytes) -> Parsed:
    """Return the parse result in ``data``. Raises ``DecodeError`` when it holds none."""
    body = data[_CHECKSUM_BYTES:]
    if blake2b(body, digest_size=_CHECKSUM_BYTES).digest() != data[:_CHECKSUM_BYTES]:
        raise DecodeError("the checksum is wrong")
    try:
        tree, diagnostics = _Reader(io.BytesIO(body)).load()
    except (pickle.UnpicklingError, EOFError, LookupError, TypeError, ValueError, AttributeError) as problem:
        raise DecodeError(str(problem)) from problem
    if not isinstance(tree, ast.CalFile | None) or not isinstance(diagnostics, tuple):
        raise DecodeError("something else than a parse result")
    if not all(isinstance(d, Diagnostic) for d in diagnostics):
        raise DecodeError("something else than a parse result")
    return tree, diagnostics
