"""Numbers as people read them: times with a fitting unit, shares in per cent."""

import textwrap

from dse.model.estimate import TickUnit

_SCALES = ((10**12, "s"), (10**9, "ms"), (10**6, "us"), (10**3, "ns"), (1, "ps"))


def time_text(ticks: int, unit: TickUnit) -> str:
    """Return a time with four significant digits and its unit: ``12.35 ms``, ``48,210 cycles``."""
    if unit == "cycles":
        return f"{ticks:,} cycles"
    scale, name = next(((s, n) for s, n in _SCALES if abs(ticks) >= s), _SCALES[-1])
    value = ticks / scale
    decimals = 0 if scale == 1 else 3 if value < 10 else 2 if value < 100 else 1
    return f"{value:.{decimals}f} {name}"


def value_text(value: float, unit: str) -> str:
    """Return the value of an objective with its unit (``ObjectiveAxis``)."""
    match unit:
        case "ps":
            return time_text(round(value), "ps")
        case "cycles":
            return time_text(round(value), "cycles")
        case "bytes":
            return f"{round(value):,} B"
        case "partitions" | "units":
            return f"{round(value)}"
        case "joule":
            return f"{value:.4g} J"
        case "watt":
            return f"{value:.4g} W"
        case _:
            return f"{value:.4g} {unit}"


def percent_text(part: int, whole: int) -> str:
    """Return a share with one decimal: ``43.1 %``; ``0.0 %`` of nothing."""
    return f"{100 * part / whole if whole else 0.0:.1f} %"


def ratio(part: int, whole: int) -> float | None:
    """Return ``part / whole``, or None of nothing."""
    return part / whole if whole else None


def wrapped(line: str, width: int = 100) -> str:
    """Return a sentence broken at ``width`` columns, further lines indented."""
    return "\n".join(textwrap.wrap(line, width, subsequent_indent="  ", break_long_words=False, break_on_hyphens=False))
