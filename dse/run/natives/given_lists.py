"""What a user's Python function has left in the lists that it was given, as values of their types: they are stored."""

from collections.abc import Callable, Iterator
from typing import Any

from dse.base.errors import ExecutionError
from dse.codegen.python.support import Rows
from dse.passes.arithmetic import real, single, wrap
from dse.program.ir import Native
from dse.program.types import BoolType, FloatType, IntType, ListType, StringType, Type, scalar_of


def storing_lists(native: Native, function: Callable[..., Any]) -> Callable[..., Any]:
    """Return a function of a user after which its list parameters hold values of their types, as when C++ fills them.

    It raises ``ExecutionError`` where an element is no such value, or a list has another length.
    """
    lists = [(k, scalar_of(p.type)) for k, p in enumerate(native.parameters) if isinstance(p.type, ListType)]
    if not lists:
        return function

    def call(*arguments: Any) -> Any:
        lengths = {k: _lengths(arguments[k]) for k, _ in lists}
        value = function(*arguments)
        try:
            for k, of in lists:
                _store(arguments[k], of, lengths[k])
        except (TypeError, ValueError, OverflowError):
            raise _refused(native, k) from None
        return value

    return call


def _store(values: Any, of: Type, lengths: list[int]) -> None:
    """Store what is in a list. Raises ``TypeError``, ``ValueError`` or ``OverflowError`` where that is no value."""
    if _lengths(values) != lengths:
        raise ValueError
    convert = _stored(of)
    for elements in _innermost(values):
        if not _holds(elements, of):
            elements[:] = [convert(element) for element in elements]


def _lengths(values: Any) -> list[int]:
    """Return the lengths of the lists of scalars in a list; none where rows are made on demand."""
    return [] if isinstance(values, Rows) else list(map(len, _innermost(values)))


def _innermost(values: Any) -> Iterator[list[Any]]:
    """Yield the lists of scalars of a list that a function may have changed. Raises ``TypeError``."""
    if isinstance(values, tuple):  # a constant
        return
    rows = list(values.values()) if isinstance(values, Rows) else values
    if not isinstance(rows, list):
        raise TypeError
    if rows and isinstance(rows[0], list | tuple | Rows):
        for row in rows:
            yield from _innermost(row)
    elif rows is values:
        yield rows


def _holds(elements: list[Any], of: Type) -> bool:
    """Return whether all elements are values of a type."""
    kinds = set(map(type, elements))
    match of:
        case IntType():
            low, high = of.limits
            return kinds <= {int} and low <= min(elements, default=0) and max(elements, default=0) <= high
        case BoolType():
            return kinds <= {bool}
        case FloatType():
            return kinds <= {float} and of.bits == 64
        case _:
            return kinds <= {str}


def _stored(of: Type) -> Callable[[Any], Any]:
    """Return what makes a value of a type of what a function has put into a list."""
    match of:
        case IntType():
            return lambda value: wrap(int(_number(value)), of.container_bits, of.signed)
        case BoolType():
            return lambda value: bool(_number(value))
        case FloatType():
            return (lambda value: real(_number(value))) if of.bits == 64 else lambda value: single(real(_number(value)))
        case StringType():
            return _text
        case _:
            raise AssertionError("a list of lists has lists of scalars")


def _number(value: Any) -> Any:
    """Return what is a number. Raises ``TypeError``."""
    if isinstance(value, str | bytes) or value is None:
        raise TypeError
    return value


def _text(value: Any) -> str:
    """Return what is a text. Raises ``TypeError``."""
    if not isinstance(value, str):
        raise TypeError
    return value


def _refused(native: Native, position: int) -> ExecutionError:
    parameter = native.parameters[position]
    return ExecutionError(
        f"native '{native.source_name}', declared in {native.declared_in}, left in '{parameter.source_name}' what is no"
        " value of it",
        expected=f"a list of its type, {parameter.type}, as long as it was",
    )
