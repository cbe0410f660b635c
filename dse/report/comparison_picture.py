"""Mappings side by side: a bar for each, as long as it takes, in it the shares of what the cores did meanwhile."""

from collections.abc import Sequence
from dataclasses import dataclass

from dse.report.svg import CATEGORY_COLOURS, legend, picture, rectangle, text

_LENGTH, _ROW, _BAR = 620.0, 40.0, 16.0
_LONGEST_LABEL = 110


@dataclass(frozen=True, slots=True, kw_only=True)
class ComparedMapping:
    """A bar. ``makespan``: in ticks, None in a deadlock; ``time``: as people read it; ``parts``: (category, ticks)."""

    label: str
    makespan: int | None
    time: str
    parts: tuple[tuple[str, int], ...]


def comparison_picture(mappings: Sequence[ComparedMapping]) -> str:
    """Return the picture: mappings from top to bottom, all bars on one scale from 0."""
    longest = max((m.makespan or 0 for m in mappings), default=0) or 1
    content = []
    for row, mapping in enumerate(mappings):
        y = 4 + row * _ROW
        content.append(text(10, y + 12, _cut(mapping.label), size=12))
        content += _bar(mapping, y + 17, _LENGTH * (mapping.makespan or 0) / longest)
    bottom = 4 + len(mappings) * _ROW + 6
    content.append(legend(10, bottom))
    return picture(_LENGTH + 120, bottom + 20, "".join(content), "makespans of the mappings")


def _bar(mapping: ComparedMapping, y: float, length: float) -> list[str]:
    """Return the parts of a bar and the time behind it."""
    total, x, found = sum(ticks for _, ticks in mapping.parts) or 1, 10.0, []
    for what, ticks in mapping.parts if mapping.makespan is not None else ():
        width = length * ticks / total
        if width > 0:
            title = f"{what.replace('_', ' ')} {100 * ticks / total:.1f} %"
            found.append(rectangle(x, y, width, _BAR, CATEGORY_COLOURS[what], title))
        x += width
    return [*found, text(x + 6, y + 12, mapping.time, size=12)]


def _cut(label: str) -> str:
    return label if len(label) <= _LONGEST_LABEL else f"{label[: _LONGEST_LABEL - 3]}..."
