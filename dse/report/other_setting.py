"""What another policy or other sizes of the FIFOs would give, as a line and as JSON; and what a loose bound says."""

from dse.model.study import OtherSetting, Study
from dse.report.quantities import percent_text

LOOSE = 0.1
"""A bound further below the best makespan than this part of itself says little."""


def other_text(other: OtherSetting) -> str:
    """Return the line: what would be different, what that gives, and how to ask for it."""
    parts: list[str] = [other.policy] if other.policy else []
    if other.more_bytes:
        parts.append(f"{abs(other.more_bytes):,} {'more' if other.more_bytes > 0 else 'fewer'} bytes")
    elif other.buffers:
        parts.append("other sizes of as many bytes")
    asked = [f"--policy {other.policy}"] if other.policy else []
    asked += [f"--buffers {other.buffers}"] if other.buffers else []
    return f"with {' and '.join(parts)}: {percent_text(other.makespan - other.than, other.than)} (`{' '.join(asked)}`)"


def other_json(other: OtherSetting | None) -> dict[str, object]:
    """Return the key that a setting adds to the ranking document, none without one; ``null``: as in the search."""
    if other is None:
        return {}
    found = {"policy": other.policy, "buffers": other.buffers or None}
    return {"other_setting": {**found, "more_bytes": other.more_bytes, "makespan": other.makespan}}


def remarks(study: Study) -> list[str]:
    """Return the lines that stand below the outcome of a search."""
    return [*filter(None, (loose_text(study), "" if study.other is None else other_text(study.other)))]


def loose_text(study: Study) -> str:
    """Return in words that the bound of a study is loose, empty where it is not, or where nothing was found."""
    best, bound = next(iter(study.ranking), None), study.lower_bounds[0].makespan
    if best is None or study.complete or not 0 < bound * (1 + LOOSE) < best.makespan:
        return ""
    return "the bound is loose: what is between it and the best mapping tells nothing of the mapping"
