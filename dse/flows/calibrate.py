"""A device calibrated with measured times: ``dse gpu calibrate`` as a function."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from dse.base.errors import OptionError
from dse.flows.measured_kernels import SHORT_S, KernelShelf, Prepared, largest_sizes, rank_correlation, sample_of
from dse.formats.device_yaml import load_device, plain_name
from dse.formats.measured_csv import MeasuredTime, read_measured_csv
from dse.gpu.models.calibration import Calibration, JudgedFamily, calibrate, left_out, predicted_s
from dse.gpu.models.hierarchy import GlobalLoads, Rates, compiled_with
from dse.model.device import DEVICE_KEYS, Device


@dataclass(frozen=True, slots=True, kw_only=True)
class CalibrateOptions:
    """``measured``: a CSV file. ``kernels``: the folder of C files of kernels that are not built in, "" for none."""

    device: str
    measured: str
    kernels: str = ""
    loads: GlobalLoads | None = None
    """How the measured programs' loads of global memory were compiled; None: as the device file has it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CalibratedDevice:
    """``device`` has the fitted rates; ``judged`` is empty with one program, which cannot judge itself."""

    device: Device
    calibration: Calibration
    judged: tuple[JudgedFamily, ...]
    left_out: tuple[tuple[str, int], ...]
    """Why rows were not used, and how many."""


def calibrate_device(options: CalibrateOptions, stage: Callable[[str], None] = lambda _: None) -> CalibratedDevice:
    """Return a device whose rates fit the measured times of the two largest sizes of each kernel.

    Raises:
        FormatError: the CSV or device file is wrong, or lacks a constant.
        OptionError: no row is of the device, or a kernel has no C file.
    """
    device = compiled_with(load_device(options.device), options.loads)
    chosen, reasons = _chosen(read_measured_csv(options.measured), device, options, stage)
    samples = [sample_of(one, device) for one in chosen]
    rates = Rates.of(device)
    stage(f"fitting {len(samples)} times")
    found = calibrate(samples, rates, device.clock_hz)
    families = {s.family for s in samples}
    judged: tuple[JudgedFamily, ...] = ()
    if len(families) > 1:
        stage("judging each program by a fit to the others")
        before = predicted_s(samples, rates, device.clock_hz)
        judged = _judged(chosen, before, left_out(samples, rates, device.clock_hz))
    return CalibratedDevice(
        device=_calibrated(device, found, options.measured),
        calibration=found,
        judged=judged,
        left_out=tuple(reasons.items()),
    )


def _calibrated(device: Device, found: Calibration, measured: str) -> Device:
    """Return a device with fitted rates, whose sources tell from what and how sure."""
    sources = {
        DEVICE_KEYS[rate.name]: (
            f"fitted to {found.samples} times of {found.kernels} kernels ({Path(measured).name}), "
            f"95 % from {rate.least:.4g} to {rate.most:.4g}; before {rate.before:.4g}"
        )
        for rate in found.fitted
    }
    origins = tuple(replace(o, source=sources[o.key], assumed=False) if o.key in sources else o for o in device.origins)
    return replace(found.rates.in_device(device), origins=origins)


def _chosen(
    rows: tuple[MeasuredTime, ...], device: Device, options: CalibrateOptions, stage: Callable[[str], None]
) -> tuple[list[Prepared], dict[str, int]]:
    """Return the rows that calibrate, and why others do not. Raises ``OptionError`` where none is left."""
    own = _own_rows(rows, device, options.measured)
    reasons = {"of other GPUs": len(rows) - len(own)}
    large = largest_sizes(own)
    reasons["of smaller sizes"] = len(own) - len(large)
    stage(f"reading the kernels of {len(large)} times")
    shelf, chosen = KernelShelf(options.kernels), []
    for row in large:
        prepared = shelf.prepared(row)
        why = _why_not(prepared)
        if prepared is None or why:
            reasons[why] = reasons.get(why, 0) + 1
        else:
            chosen.append(prepared)
    if not chosen:
        raise OptionError(f"no row of {options.measured} can calibrate {device.name}", expected="; ".join(reasons))
    return chosen, {why: count for why, count in reasons.items() if count}


def _own_rows(rows: tuple[MeasuredTime, ...], device: Device, path: str) -> list[MeasuredTime]:
    """Return the rows of a device. Raises ``OptionError`` where there are none."""
    own = [row for row in rows if not row.gpu or plain_name(row.gpu) == plain_name(device.name)]
    if own:
        return own
    names = ", ".join(dict.fromkeys(row.gpu for row in rows))
    raise OptionError(f"no row of {path} is of {device.name}", expected=f"a device for one of its GPUs: {names[:200]}")


def _why_not(prepared: Prepared | None) -> str:
    """Return why a row does not calibrate, empty if it does."""
    if prepared is None:
        return "with impossible blocks"
    if prepared.repeats:
        return "with threads that repeat the work of others"
    return "of launches below 20 us" if prepared.launch_s < SHORT_S else ""


def _judged(chosen: list[Prepared], before: np.ndarray, after: np.ndarray) -> tuple[JudgedFamily, ...]:
    """Return how each family does, ``after`` from fits that have not seen it."""
    measured = np.array([one.row.median_ms for one in chosen]) * 1e-3
    found = []
    for family in dict.fromkeys(one.row.benchmark for one in chosen):
        own = [k for k, one in enumerate(chosen) if one.row.benchmark == family]
        cells: dict[tuple[str, int], list[int]] = {}
        for k in own:
            cells.setdefault((chosen[k].name, chosen[k].row.n), []).append(k)
        orders = [rank_correlation(after[cell].tolist(), measured[cell].tolist()) for cell in cells.values()]
        found.append(
            JudgedFamily(
                family=family,
                rows=len(own),
                error_before=float(np.median(np.abs(before[own] / measured[own] - 1))),
                error_after=float(np.median(np.abs(after[own] / measured[own] - 1))),
                correlation=float(np.median(orders)),
            )
        )
    return tuple(found)
