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


def other_json(other: OtherSetting) -> dict[str, object]:
    """Return the JSON of a setting that nobody asked for; ``null`` where it is as in the search."""
    return {
        "policy": other.policy,
        "buffers": other.buffers or None,
        "more_bytes": other.more_bytes,
        "makespan": other.makespan,
    }


def loose_text(study: Study) -> str:
    """Return in words that the bound of a study is loose, empty where it is not, or where nothing was found."""
    best, bound = next(iter(study.ranking), None), study.lower_bounds[0].makespan
    if best is None or study.complete or not 0 < bound * (1 + LOOSE) < best.makespan:
        return ""
    return "the bound is loose: what is between it and the best mapping tells nothing of the mapping"
