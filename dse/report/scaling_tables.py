"""Scaling models as tables: what they predict, and how good they are."""

from collections.abc import Sequence

from rich.table import Table

from dse.gpu.scaling.judge import Judged
from dse.model.scaling import Configuration, Reals, ScalingModel
from dse.report.tables import NamesTable


def judged_means_table(judged: Sequence[Judged]) -> Table:
    """Return one row a quantity: mean errors of the model and of answers without one."""
    table = _numbers("kernels", judged[0].classified and "classifier", "best cluster", "mean surface", "base value")
    for one in judged:
        cells = [f"{100 * one.mean(what):.2f} %" for what in ("error", "best", "mean", "copied")]
        table.add_row(one.quantity, str(len(one.kernels)), *(cells if one.classified else cells[1:]))
    return table


def judged_kernels_table(judged: Sequence[Judged]) -> Table:
    """Return one row a kernel: the error and the number of clusters for each quantity."""
    table = _numbers(*(word for one in judged for word in (one.quantity, "clusters")), first="kernel")
    for of_kernel in zip(*(one.kernels for one in judged), strict=True):
        cells = (cell for kernel in of_kernel for cell in (f"{100 * kernel.error:.2f} %", str(kernel.clusters)))
        table.add_row(of_kernel[0].name, *cells)
    return table


def clusters_table(model: ScalingModel) -> Table:
    """Return one row a set of clusters: how many, and how many kernels each has."""
    table = _numbers("clusters", "kernels of each", first="set")
    quantities = [("time", model.time), *([] if model.power is None else [("power", model.power)])]
    for name, surfaces in quantities:
        units = model.grid.compute_units or ("",)
        sets = [
            (f"{name} over clocks{f' at {u} compute units' if u else ''}", found)
            for u, found in zip(units, surfaces.by_clocks, strict=True)
        ]
        if surfaces.by_units is not None:
            sets.append((f"{name} over compute units", surfaces.by_units))
        for words, found in sets:
            table.add_row(words, str(len(found.members)), ", ".join(str(len(m)) for m in found.members))
    return table


def configurations_table(
    rows: Sequence[tuple[str, Configuration, float, float | None]], units: tuple[str, str]
) -> Table:
    """Return one row for a kernel and configuration: time and power, in ``units``, a factor where that is empty."""
    table = _numbers("configuration", f"time {units[0]}".strip(), f"power {units[1]}".strip(), first="kernel")
    for name, configuration, time, power in rows:
        table.add_row(name, str(configuration), f"{time:.4g}", "" if power is None else f"{power:.4g}")
    return table


def lowest_text(surface: Reals, model: ScalingModel) -> str:
    """Return in words where a surface is lowest; of equals the first configuration."""
    at = int(surface.argmin())
    return f"{list(model.grid.configurations())[at]} ({surface.ravel()[at]:.3f} of the base)"


def _numbers(*names: str | bool, first: str = "") -> NamesTable:
    table = NamesTable()
    table.add_column(first, overflow="fold")
    for name in names:
        if name:
            table.add_column(str(name), justify="right", no_wrap=True)
    return table
