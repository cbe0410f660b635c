"""What a measurement leaves behind: the comparison as JSON, pictures of it, and every single run."""

import math
import re
from pathlib import Path
from typing import Any

from dse.base.errors import ExecutionError
from dse.base.escaping import json_text, shown
from dse.base.files import write_whole
from dse.flows.measure import Measured
from dse.flows.profile_files import write_profiled_set
from dse.measure.agreement import Agreement, Divergence
from dse.measure.comparison import Comparison, Pair
from dse.measure.session import STATES
from dse.report.scatter import Scatter, ScatterPoint, scatter_png, scatter_svg


def measured_document(measured: Measured) -> dict[str, Any]:
    """Return the JSON of a measurement; the keys of the first level are of the state with the most runs."""
    first = comparison_document(measured.comparisons[0]) if measured.comparisons else {}
    session = measured.session
    return {
        "network": measured.network,
        "made": dict(measured.made),
        **first,
        "states": [comparison_document(comparison) for comparison in measured.comparisons],
        "runs": len(session.runs),
        "rounds": session.rounds,
        "mixed_runs": session.mixed,
        "wrong": list(session.wrong),
        "skipped": [{"name": name, "why": why} for name, why in measured.skipped],
        "closure_error": [profile.closure.error for _, profile in measured.profiles],
        "warnings": list(measured.warnings),
    }


def comparison_document(comparison: Comparison) -> dict[str, Any]:
    """Return the JSON of a comparison in one state; shares are no percents, times are in ns."""
    return {
        "state": comparison.state,
        "pairs": [_pair(pair) for pair in comparison.pairs],
        **agreement_document(comparison.estimated),
        "by_first": _divergence(comparison.by_first),
        "heaviest_load": agreement_document(comparison.by_load),
        "random_pick": {"regret": comparison.random_first, "regret_of_ten": comparison.random_ten},
        "noise": None if comparison.noise is None else agreement_document(comparison.noise),
        "within_noise": comparison.noisy,
        "least_of_runs": agreement_document(comparison.least),
        "least_of_runs_noise": None if comparison.least_noise is None else agreement_document(comparison.least_noise),
        "left_out": comparison.left_out,
    }


def agreement_document(agreement: Agreement) -> dict[str, Any]:
    """Return the JSON of figures of agreement; a correlation that does not exist is null."""
    return {
        "candidates": agreement.candidates,
        "spearman": _number(agreement.spearman),
        "kendall": _number(agreement.kendall),
        "regret": agreement.regret_first,
        "regret_of_ten": agreement.regret_ten,
        "mean_divergence": agreement.normalised.mean,
        "max_divergence": agreement.normalised.maximum,
        "common_scale": _divergence(agreement.common),
        "relative_error": _divergence(agreement.relative),
    }


def _divergence(divergence: Divergence) -> dict[str, float]:
    return {"mean": divergence.mean, "max": divergence.maximum}


def _number(value: float) -> float | None:
    return value if math.isfinite(value) else None


def _pair(pair: Pair) -> dict[str, Any]:
    return {
        "name": pair.prediction.name,
        "estimated_ns": _number(pair.prediction.estimated_ns),
        "heaviest_load_ns": pair.prediction.load_ns,
        "scored": pair.prediction.scored,
        "median_ns": pair.measured.median,
        "least_ns": pair.least,
        "lower_quartile_ns": pair.measured.lower,
        "upper_quartile_ns": pair.measured.upper,
        "runs": pair.measured.count,
    }


def scatter_of(network: str, comparison: Comparison) -> Scatter:
    """Return the picture of a comparison: both sides divided by their largest scored value.

    A name that ends with the same words as others ("512 tokens") is of their group.
    """
    pairs = [pair for pair in comparison.pairs if math.isfinite(pair.prediction.estimated_ns)]
    scored = [pair for pair in pairs if pair.prediction.scored]
    largest = max(pair.prediction.estimated_ns for pair in scored)
    longest = max(pair.measured.median for pair in scored)
    groups = tuple(dict.fromkeys(_group(pair) for pair in pairs))
    points = tuple(
        ScatterPoint(
            name=pair.prediction.name,
            estimated=pair.prediction.estimated_ns / largest,
            measured=pair.measured.median / longest,
            group=groups.index(_group(pair)),
            hollow=not pair.prediction.scored,
        )
        for pair in pairs
    )
    title = f"{network}, cores {comparison.state}"
    return Scatter(title=title, points=points, groups=groups if len(groups) > 1 else ())


def _group(pair: Pair) -> str:
    words = pair.prediction.name.split(" ")
    return " ".join(words[-2:]) if words[-1] == "tokens" else ""


_RUN_HEADINGS = ("round", "candidate", "run_ns", "state", "round_trips_ns", "work_ns", "involuntary_switches", "result")


def runs_text(measured: Measured) -> str:
    """Return every run in the order of their making, as a table with tabs."""
    lines = ["\t".join(_RUN_HEADINGS)]
    for run in measured.session.runs:
        trips = " ".join(f"{trip.before_ns:.0f}/{trip.after_ns:.0f}" for trip in run.trips)
        work = " ".join("{:.2f},{:.2f}/{:.2f},{:.2f}".format(*trip.work_ns) for trip in run.trips if trip.work_ns)
        name = shown(measured.session.candidates[run.candidate].name)
        switches = "" if run.switches is None else str(run.switches)
        result = "wrong" if run.wrong else "right"
        cells = (str(run.round), name, str(run.run_ns), run.state or "mixed", trips, work, switches, result)
        lines.append("\t".join(cells))
    return "\n".join(lines) + "\n"


WEIGHTS = "weights"
"""Folder with the weights that were measured for the estimates; a set for each input and FIFO size where there are
several."""
_PICTURES = {f"scatter-{state}.{kind}" for state in STATES for kind in ("svg", "png")}


def write_measured(measured: Measured, folder: Path) -> tuple[Path, ...]:
    """Write ``measured.json``, ``runs.tsv``, the weights that were measured and a picture for each state into a folder.

    Return what was written. Pictures of an earlier measurement there do not stay.

    Raises:
        ExecutionError, FormatError: a file cannot be written.
    """
    files: dict[str, bytes | str] = {
        "measured.json": json_text(measured_document(measured)) + "\n",
        "runs.tsv": runs_text(measured),
    }
    for comparison in measured.comparisons:
        scatter = scatter_of(measured.network, comparison)
        files[f"scatter-{comparison.state}.svg"] = scatter_svg(scatter)
        files[f"scatter-{comparison.state}.png"] = scatter_png(scatter)
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for name, data in files.items():
            write_whole(folder / name, data)
        for name in _PICTURES - files.keys():  # of an earlier measurement, in a state that this one did not see
            (folder / name).unlink(missing_ok=True)
    except OSError as error:
        raise ExecutionError(
            f"cannot write '{error.filename or folder}': {error.strerror or error}",
            expected="choose another with --out",
        ) from error
    return (*(folder / name for name in files), *_write_weights(measured, folder / WEIGHTS))


def _write_weights(measured: Measured, folder: Path) -> list[Path]:
    """Write the weights of the estimates, so that others can be made with them; return the files."""
    written: list[Path] = []
    taken: set[str] = set()
    for label, profiled in measured.profiles:
        name = re.sub(r"[^\w.-]+", "-", label, flags=re.ASCII).strip(".-") or ("input" if label else "")
        while name in taken:
            name += "-"
        taken.add(name)
        written += [folder / name / file for file in write_profiled_set(profiled, folder / name)]
    return written
