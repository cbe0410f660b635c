"""What stands below the outcome of a search, as lines and as JSON: screening, a loose bound, another setting."""

from dse.model.study import OtherSetting, Screening, Study
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
    screened = "" if study.screening is None else screening_text(study.screening)
    other = "" if study.other is None else other_text(study.other)
    return [*filter(None, (screened, loose_text(study), other))]


def screening_text(screening: Screening) -> str:
    """Return in words what a search was screened on."""
    counted = f"{screening.estimates:,} estimates, counted as {screening.counted:,} evaluations"
    runs = f"{screening.firings:,} runs of the {screening.whole:,} firings"
    left = "" if screening.agreed else "; left, since they rank mappings otherwise than the whole trace"
    return f"screened on {runs}: {counted}{left} (--no-screening leaves it out)"


def screening_json(screening: Screening | None) -> dict[str, object]:
    """Return the key that screening adds to the ranking document, none without it."""
    if screening is None:
        return {}
    counts = {"runs": screening.firings, "estimates": screening.estimates, "counted_evaluations": screening.counted}
    return {"screening": {**counts, "agreed": screening.agreed}}


def loose_text(study: Study) -> str:
    """Return in words that the bound of a study is loose, empty where it is not, or where nothing was found."""
    best, bound = next(iter(study.ranking), None), study.lower_bounds[0].makespan
    if best is None or study.complete or not 0 < bound * (1 + LOOSE) < best.makespan:
        return ""
    return "the bound is loose: what is between it and the best mapping tells nothing of the mapping"
