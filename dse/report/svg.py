"""Building blocks of inline SVG pictures: elements, colours, stacked bars, legends."""

from collections.abc import Sequence
from dataclasses import dataclass

from dse.base.escaping import page_text

PALETTE = ("#4e79a7", "#f28e2b", "#59a14f", "#b07aa1", "#e15759", "#76b7b2", "#edc948", "#9c755f", "#ff9da7", "#86bcb6")
"""Ten colours that stay apart for most eyes; they repeat for more partitions, and names stand beside them always."""
CATEGORY_COLOURS = {
    "scheduling": "#edc948",
    "reading": "#76b7b2",
    "processing": "#4e79a7",
    "writing": "#59a14f",
    "link_waiting": "#e15759",
    "unoccupied": "#e6e6e6",
}


def colour(index: int) -> str:
    """Return the colour of the index-th thing."""
    return PALETTE[index % len(PALETTE)]


def tag(name: str, attributes: Sequence[tuple[str, str | float]], content: str = "") -> str:
    """Return an element; ``content`` is markup. Numbers are written with at most two decimals."""
    text = "".join(f' {key}="{page_text(_value(value))}"' for key, value in attributes)
    return f"<{name}{text}>{content}</{name}>" if content else f"<{name}{text}/>"


def _value(value: str | float) -> str:
    return value if isinstance(value, str) else f"{value:.2f}".rstrip("0").rstrip(".")


def rectangle(x: float, y: float, width: float, height: float, fill: str, title: str = "", radius: float = 0) -> str:
    """Return a rectangle; ``title`` is shown when the pointer rests on it."""
    content = f"<title>{page_text(title)}</title>" if title else ""
    corners: list[tuple[str, str | float]] = [("rx", radius)] if radius else []
    box: list[tuple[str, str | float]] = [("x", x), ("y", y), ("width", width), ("height", height), ("fill", fill)]
    return tag("rect", [*box, *corners], content)


def text(x: float, y: float, content: str, *, anchor: str = "start", size: float = 12, fill: str = "#222") -> str:
    """Return a line of text; ``y`` is its base line, ``anchor`` start, middle or end."""
    return tag(
        "text", [("x", x), ("y", y), ("text-anchor", anchor), ("font-size", size), ("fill", fill)], page_text(content)
    )


def picture(width: float, height: float, content: str, label: str) -> str:
    """Return a picture that scales down to the width of the page; ``label`` is what a screen reader says."""
    return tag(
        "svg",
        [
            ("viewBox", f"0 0 {_value(width)} {_value(height)}"),
            ("width", width),
            ("role", "img"),
            ("aria-label", label),
            ("xmlns", "http://www.w3.org/2000/svg"),
            ("font-family", "system-ui, sans-serif"),
            ("style", "max-width:100%;height:auto"),
        ],
        content,
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Bar:
    """A bar of stacked parts: (what, amount); amounts of one bar are drawn in proportion to their sum."""

    label: str
    parts: tuple[tuple[str, int], ...]


def stacked_bars(bars: Sequence[Bar], label: str, *, width: float = 900) -> str:
    """Return horizontal stacked bars of equal length, one a line, with a legend of ``CATEGORY_COLOURS`` below."""
    left = 20 + 7.2 * max((len(bar.label) for bar in bars), default=0)
    length, content = width - left - 10, list[str]()
    for row, bar in enumerate(bars):
        y, x = 6 + row * 28, left
        content.append(text(left - 8, y + 15, bar.label, anchor="end"))
        total = sum(amount for _, amount in bar.parts)
        for what, amount in bar.parts:
            share = amount / total if total else 0.0
            if share > 0:
                title = f"{bar.label}: {what.replace('_', ' ')} {100 * share:.1f} %"
                content.append(rectangle(x, y, share * length, 20, CATEGORY_COLOURS[what], title))
                if share > 0.06 and what != "unoccupied":
                    content.append(
                        text(
                            x + share * length / 2,
                            y + 14,
                            f"{100 * share:.0f} %",
                            anchor="middle",
                            size=11,
                            fill="#fff",
                        )
                    )
            x += share * length
    bottom = 6 + len(bars) * 28 + 8
    return picture(width, bottom + 24, "".join(content) + legend(left, bottom), label)


def legend(x: float, y: float) -> str:
    """Return the legend of the time categories in one line."""
    content = []
    for name, fill in CATEGORY_COLOURS.items():
        shown = name.replace("_", " ")
        content += [rectangle(x, y, 12, 12, fill), text(x + 16, y + 10.5, shown, size=11)]
        x += 30 + 6.6 * len(shown)
    return "".join(content)
