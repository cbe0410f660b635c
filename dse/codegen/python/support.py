"""What generated actor code calls: shifts, list copies, text of values, stray accesses."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from dse.base.errors import ExecutionError
from dse.base.source import Span


def shift_left(value: int, count: int) -> int:
    """Return ``value << count``; a negative count shifts right."""
    return value << min(count, 4096) if count >= 0 else value >> -count


def shift_right(value: int, count: int) -> int:
    """Return ``value >> count``; a negative count shifts left."""
    return value >> count if count >= 0 else value << min(-count, 4096)


def copy_nested(values: Sequence[Any]) -> list[Any]:
    """Return a deep copy of nested lists (or tuples) of scalars."""
    if values and isinstance(values[0], list | tuple):
        return [copy_nested(v) for v in values]
    return list(values)


def copy_into(target: list[Any], values: Sequence[Any], convert: Callable[[Any], Any] | None = None) -> None:
    """Copy ``values`` over the first elements of ``target``, each converted; a source that is too long is cut."""
    if values and isinstance(values[0], list | tuple):
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


def float_text(value: float) -> str:
    """Return a float as C's ``%f`` prints it."""
    return f"{value:f}"


def string_text(value: object) -> str:
    """Return a String as it is concatenated."""
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
