"""A breakdown as tables: what was counted, the terms, the coefficients with their intervals, the split by tile."""

from collections.abc import Sequence

from rich.table import Table

from dse.model.breakdown import PARTS, Breakdown, Factors, KernelCounts, MeasuredTile, PredictedTile
from dse.report.tables import NamesTable


def counts_table(counts: Sequence[KernelCounts], measured: Sequence[MeasuredTile]) -> Table:
    """Return what a work-item does at each tile."""
    table = _numbers(
        "tile", "operations", "global to local", "local to private", "private to local", "global to private",
        "private to global", "local bytes",
    )  # fmt: skip
    for one, tile in zip(counts, measured, strict=True):
        moves = (one.global_to_local, one.local_to_private, one.private_to_local, one.global_to_private)
        numbers = (tile.tile, one.operations, *moves, one.private_to_global, one.local_bytes)
        table.add_row(*(f"{number:,}" for number in numbers))
    return table


def terms_table(terms: Sequence[Factors]) -> Table:
    """Return the terms of each tile."""
    table = _numbers("tile", "local size", "WF_wg", "WG_total", "WF_max", "WF_ndr", "PUT", "G2ST", "S2PT")
    for one in terms:
        whole = (one.tile, one.local_size, one.wavefronts_per_group, one.groups, one.wavefronts_at_once, one.wavefronts)
        table.add_row(*map(str, whole), *(f"{term:.6g}" for term in one.terms))
    return table


def coefficients_table(fits: Sequence[Breakdown]) -> Table:
    """Return the coefficients of each reading with their intervals."""
    table = NamesTable()
    for name in ("PUT as", "term"):
        table.add_column(name, no_wrap=True)
    for name in ("seconds", "from", "to (95 %)"):
        table.add_column(name, justify="right", no_wrap=True)
    for fit in fits:
        for one in fit.coefficients:
            term = one.term if one.knot is None else f"{one.term} above {one.knot:.4g}"
            table.add_row(fit.reading, term, f"{one.value:.4g}", f"{one.least:.4g}", f"{one.most:.4g}")
    return table


def parts_table(fit: Breakdown, measured: Sequence[MeasuredTile], predicted: Sequence[PredictedTile | None]) -> Table:
    """Return measured and fitted time of each tile, the share of each part, and what a model predicts."""
    modelled = any(tile is not None for tile in predicted)
    table = _numbers("tile", "measured ms", "fitted ms", *PARTS, *(("predicted ms",) if modelled else ()))
    if modelled:
        table.add_column("bound by", no_wrap=True)
    for tile, parts, model in zip(measured, fit.parts, predicted, strict=True):
        total = sum(parts)
        shares = (f"{100 * part / total if total else 0:.2f} %" for part in parts)
        said = ("", "") if model is None else (f"{model.ms:.4g}", model.bottleneck)
        table.add_row(str(tile.tile), f"{tile.ms:.4g}", f"{1e3 * total:.4g}", *shares, *(said if modelled else ()))
    return table


def _numbers(*names: str) -> NamesTable:
    table = NamesTable()
    for name in names:
        table.add_column(name, justify="right")
    return table
