"""What a measurement leaves behind: the comparison as JSON, pictures of it, and every single run."""

import math
from pathlib import Path
from typing import Any

from dse.base.escaping import json_text
from dse.base.files import write_whole
from dse.flows.measure import Measured
from dse.flows.measure_journal import OUT, RUNS, WEIGHTS, runs_text, write_profiles
from dse.flows.profile_files import written_into
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
        "interrupted": session.interrupted,
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


_PICTURES = {f"scatter-{state}.{kind}" for state in STATES for kind in ("svg", "png")}


def write_measured(measured: Measured, folder: Path) -> tuple[Path, ...]:
    """Write ``measured.json``, ``runs.tsv``, the weights that were measured and a picture for each state into a folder.

    Return what was written. Pictures of an earlier measurement there do not stay.

    Raises:
        ExecutionError, FormatError: a file cannot be written.
    """
    session = measured.session
    files: dict[str, bytes | str] = {
        "measured.json": json_text(measured_document(measured)) + "\n",
        RUNS: runs_text([(session.candidates[run.candidate].name, run) for run in session.runs]),
    }
    for comparison in measured.comparisons:
        scatter = scatter_of(measured.network, comparison)
        files[f"scatter-{comparison.state}.svg"] = scatter_svg(scatter)
        files[f"scatter-{comparison.state}.png"] = scatter_png(scatter)
    with written_into(folder, OUT):
        folder.mkdir(parents=True, exist_ok=True)
        for name, data in files.items():
            write_whole(folder / name, data)
        for name in _PICTURES - files.keys():  # of an earlier measurement, in a state that this one did not see
            (folder / name).unlink(missing_ok=True)
    return (*(folder / name for name in files), *write_profiles(measured.profiles, folder / WEIGHTS))
