"""What generated actor code calls besides arithmetic: lists and their copies, text of values, stray accesses."""

import itertools
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from math import prod
from typing import Any

from dse.base.errors import ExecutionError
from dse.base.source import Span

MOST_CALLS = 960
"""How deep the routines of an actor that call themselves may be nested: as in a native program (``Depth``)."""
_ROW_ELEMENTS = 1 << 12
_EAGER_LISTS = 1 << 10


class Recursion:
    """How deep the routines of an actor that call themselves are nested."""

    __slots__ = ("depth",)

    def __init__(self) -> None:
        self.depth = 0

    def enter(self) -> None:
        """Begin a call. Raises ``RecursionError`` where there are too many."""
        if self.depth >= MOST_CALLS:
            raise RecursionError
        self.depth += 1


def copy_nested(values: Sequence[Any]) -> list[Any]:
    """Return a deep copy of nested lists (or tuples) of scalars."""
    if values and isinstance(values[0], list | tuple | Rows):
        return [copy_nested(v) for v in values]
    return list(values)


def copy_into(target: list[Any], values: Sequence[Any], convert: Callable[[Any], Any] | None = None) -> None:
    """Copy ``values`` over the first elements of ``target``, each converted; a source that is too long is cut."""
    if values and isinstance(values[0], list | tuple | Rows):
        for row, source in zip(target, [copy_nested(v) for v in values], strict=False):
            copy_into(row, source, convert)
    else:
        n = min(len(values), len(target))
        target[:n] = values[:n] if convert is None else [convert(v) for v in values[:n]]


def filled(
    dimensions: tuple[int, ...], zero: object, values: Sequence[Any], convert: Callable[[Any], Any] | None = None
) -> list[Any]:
    """Return new nested lists of the given sizes with ``values`` copied into them, zeros where there are fewer."""
    result = zeros(dimensions, zero)
    copy_into(result, values, convert)
    return result


def zeros(dimensions: tuple[int, ...], zero: object) -> list[Any]:
    """Return nested lists of the given sizes, outermost first, full of ``zero``."""
    if len(dimensions) == 1:
        return [zero] * dimensions[0]
    return [zeros(dimensions[1:], zero) for _ in range(dimensions[0])]


class Rows(dict[int, Any]):
    """The rows of a list of several dimensions, made when they are first met. Every index was checked."""

    __slots__ = ("dimensions", "make")

    def __init__(self, dimensions: tuple[int, ...], make: Callable[[], Any]) -> None:
        super().__init__()
        self.dimensions = dimensions
        self.make = make
        """Returns a new row."""

    def __missing__(self, index: int) -> Any:
        """Return a new row, and keep it."""
        row = self[index] = self.make()
        return row

    def __len__(self) -> int:
        """Return the number of rows that the list has, made or not."""
        return self.dimensions[0]

    def __bool__(self) -> bool:
        return True

    def __iter__(self) -> Iterator[Any]:
        """Yield every row, as a list does."""
        return (self[k] for k in range(self.dimensions[0]))


def large_list(dimensions: tuple[int, ...], zero: object) -> Any:
    """Return a list of zeros whose rows are made on demand."""
    return _rows(dimensions, zero, _lazy_depth(dimensions), _EAGER_LISTS)


def _rows(dimensions: tuple[int, ...], zero: object, depth: int, eager: int) -> Any:
    """Return a list whose rows ``depth`` indices down are made on demand; at most ``eager`` lists are made at once.

    A plain list is twice as quick to read as one that makes its rows: so only the last level of long ones does.
    """
    first, rest = dimensions[0], dimensions[1:]
    if depth == 1:
        return Rows(dimensions, partial(zeros, rest, zero))
    if first <= eager:
        return [_rows(rest, zero, depth - 1, eager // first) for _ in range(first)]
    return Rows(dimensions, partial(_rows, rest, zero, depth - 1, eager))


def _lazy_depth(dimensions: tuple[int, ...]) -> int:
    """Return how many indices lead to a row that is made whole: rows of at most about a picture line."""
    depths = range(1, len(dimensions))
    return next((k for k in depths if prod(dimensions[k:]) <= _ROW_ELEMENTS), len(dimensions) - 1)


def float_text(value: float) -> str:
    """Return a float as C's ``%f`` prints it."""
    return f"{value:f}"


def flattened(rows: Iterable[Iterable[Any]]) -> list[Any]:
    """Return the elements of all rows, in order."""
    return list(itertools.chain.from_iterable(rows))


def list_text(values: Iterable[Any]) -> str:
    """Return a list as Orcc's interpreter prints it: its elements between brackets."""
    return (
        "[" + ", ".join(list_text(v) if isinstance(v, list | tuple | Rows) else _element_text(v) for v in values) + "]"
    )


def _element_text(value: object) -> str:
    match value:
        case bool():
            return bool_text(value)
        case float():
            return float_text(value)
        case _:
            return str(value)


def bool_text(value: object) -> str:
    """Return a bool as the C back-end of Orcc prints it: 1 or 0."""
    return "1" if value else "0"


def endless() -> None:
    """Stand for a loop that can never end. Raises ``ExecutionError``."""
    raise ExecutionError("the program enters a loop without end ('while true')", expected="its input may be wrong")


@dataclass(slots=True)
class Strays:
    """Out-of-bounds accesses of one actor instance, by site. Reads give zero, writes are dropped (cal.md 2.2)."""

    sites: tuple[tuple[Span, str], ...]
    counts: dict[int, int] = field(default_factory=dict)

    def stray(self, site: int) -> int:
        """Count an access at ``site``; return 0, the value that a read gets."""
        self.counts[site] = self.counts.get(site, 0) + 1
        return 0

    def stray_list(self, site: int, dimensions: tuple[int, ...], zero: object) -> list[Any]:
        """Count a read of a sub-list at ``site``; return zeros."""
        self.stray(site)
        return zeros(dimensions, zero)
