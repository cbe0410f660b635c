"""What each model says of the rows of one card: arrays of seconds in the order of the rows."""

from dataclasses import dataclass

import numpy as np

from dse.base.errors import ModelNotApplicable
from dse.flows.kernels import default_trace_size
from dse.flows.measured_kernels import SHORT_S, Prepared, sample_of
from dse.gpu.models import cgpredict
from dse.gpu.models.calibration import calibrate, predicted_s
from dse.gpu.models.hierarchy import Rates, demand_of
from dse.gpu.trace.features import kernel_features
from dse.model.device import Device
from dse.model.kernel import KernelFeatures, TraceMachine

NAMES = (
    "`hierarchy`, data sheets only",
    "`hierarchy`, calibrated on other programs",
    "`cgpredict`, as printed",
    "KLARAPTOR",
    "roofline",
)

ORDER_ONLY = "KLARAPTOR"
"""Its cycles are of the order of anything from 1e4 to 1e16: only their order means something."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Card:
    """The rows of a card with their kernels. ``fitted_to``: which rows may calibrate."""

    gpu: str
    device: Device
    rows: tuple[Prepared, ...]
    fitted_to: np.ndarray

    @property
    def measured_s(self) -> np.ndarray:
        """The measured times, of all launches together."""
        return np.array([row.row.median_ms for row in self.rows]) * 1e-3


def all_predictions(card: Card) -> dict[str, np.ndarray]:
    """Return the predictions by the names of ``NAMES``; NaN where a predictor says nothing."""
    found = (_by_rule(card), _calibrated(card), _printed(card), _klaraptor(card), _roofline(card))
    return dict(zip(NAMES, found, strict=True))


def _by_rule(card: Card) -> np.ndarray:
    samples = [sample_of(row, card.device) for row in card.rows]
    return predicted_s(samples, Rates.of(card.device), card.device.clock_hz)


def _calibrated(card: Card) -> np.ndarray:
    """Price each program by a fit to all other programs."""
    samples = [sample_of(row, card.device) for row in card.rows]
    rates, found = Rates.of(card.device), np.full(len(samples), np.nan)
    for family in dict.fromkeys(s.family for s in samples):
        others = [s for s, use in zip(samples, card.fitted_to, strict=True) if use and s.family != family]
        own = [k for k, s in enumerate(samples) if s.family == family]
        fitted = calibrate(others, rates, card.device.clock_hz).rates
        found[own] = predicted_s([samples[k] for k in own], fitted, card.device.clock_hz)
    return found


def _printed(card: Card) -> np.ndarray:
    """CGPredict from a trace at its own sizes; of two loops only, since a trace of ``correlate`` takes 16 s a block."""
    machine = card.device.trace_machine("cgpredict")
    traced: dict[tuple[str, int, tuple[int, int, int]], KernelFeatures | None] = {}
    found = np.full(len(card.rows), np.nan)
    for k, row in enumerate(card.rows):
        key = (row.name, row.row.n, row.block)
        if row.known.one_loop:
            continue
        if key not in traced:
            traced[key] = _features(row, machine)
        features = traced[key]
        if features is not None:
            found[k] = cgpredict.MODEL.predict(features, card.device).time_s * row.known.launches
    return found


def _features(row: Prepared, machine: TraceMachine) -> KernelFeatures | None:
    trace = row.source.traced(default_trace_size(row.work))[0]
    try:
        return kernel_features(row.work, trace, machine, block=row.block)
    except ModelNotApplicable:
        return None


def _klaraptor(card: Card) -> np.ndarray:
    """What that program predicted on the card, with instruction counts that a profiler measured there."""
    cycles = np.array([row.row.klaraptor_cycles or np.nan for row in card.rows])
    return cycles / card.device.clock_hz


def _roofline(card: Card) -> np.ndarray:
    """The greater of bytes by bandwidth and operations by peak; every array moves once."""
    found = []
    for row in card.rows:
        work, demand = row.features.warp_work, demand_of(row.features, card.device, 1)
        assert work is not None, "rows are prepared with it"
        warps = row.features.blocks * -(-row.features.block_threads // 32) * work.active
        peak = card.device.require("fp32_lanes", "roofline") * card.device.sms * card.device.clock_hz
        arrays = sum({a.array: a.array_bytes for a in work.accesses}.values())
        moved = arrays / (card.device.require("dram_bandwidth_gb_s", "roofline") * 1e9)
        assert demand.blocks == row.features.blocks, "one launch"
        found.append(row.known.launches * max(moved, warps * 32 * work.fp32 / peak))
    return np.array(found)


def may_fit(row: Prepared, largest: bool) -> bool:
    """Whether a row may calibrate: the largest sizes, no repeated work, no short launch."""
    return largest and not row.repeats and row.launch_s >= SHORT_S
