"""Calibration finds the rates that made the times, and is judged by what it never saw."""

from dataclasses import replace

import numpy as np
import pytest

from dse.base.errors import OptionError
from dse.formats.device_yaml import load_device
from dse.gpu.models.calibration import FITTED, Sample, calibrate, left_out, predicted_s
from dse.gpu.models.hierarchy import Demand, Rates, total_cycles

DEVICE = load_device("gtx1080ti")
START = Rates.of(DEVICE)
TRUTH = replace(
    START,
    load_line_cycles=0.8, load_sector_cycles=0.6, store_line_cycles=2.0, store_whole_cycles=0.03,
    store_partial_cycles=0.1, store_lone_cycles=0.2, latency_memory_cycles=380.0, dram_efficiency=0.6,
)  # fmt: skip
ASKED = ("load_lines", "load_sectors", "store_lines", "whole_sectors", "partial_sectors", "lone_sectors", "waits")


def demand(random: np.random.Generator, part: int) -> Demand:
    """Return a demand in which one part asks most."""
    sizes = random.uniform(0.2, 1.0, size=8) * 1e5
    sizes[part] *= 30
    scale = np.array([1, 1, 1, 30, 10, 5, 1 / 300, 300])
    asked = dict(zip((*ASKED, "dram_bytes"), (sizes * scale).tolist(), strict=True))
    return Demand(
        **asked, near_cycles=0.0, line_waits=0.0, gap_cycles=0.0,
        shared_cycles=0.0, issue_cycles=1e4, drain_cycles=10.0,
        blocks=1, resident_blocks=1, resident_warps=1, waves=1, limit="", unit="",
    )  # fmt: skip


def samples(families: int = 8, noise: float = 0.0) -> list[Sample]:
    random = np.random.default_rng(7)
    found = []
    for family in range(families):
        for _ in range(12):
            one = demand(random, family % 8)
            time = total_cycles(one, TRUTH) / DEVICE.clock_hz + 3e-6
            time *= float(np.exp(noise * random.normal()))
            name, kernel = f"f{family}", f"f{family}"
            found.append(Sample(demand=one, measured_s=time, launches=1, start_s=3e-6, family=name, kernel=kernel))
    return found


def test_the_rates_that_made_the_times_are_found() -> None:
    found = calibrate(samples(noise=0.05), START, DEVICE.clock_hz)
    for rate in found.fitted:
        assert rate.value == pytest.approx(getattr(TRUTH, rate.name), rel=0.12), rate.name
        assert rate.least / 1.03 < getattr(TRUTH, rate.name) < 1.03 * rate.most  # the device file pulls a little
        assert rate.before == getattr(START, rate.name)
    assert found.error < 0.05
    assert (found.samples, found.kernels) == (96, 8)


def test_the_device_file_pulls_to_what_it_says() -> None:
    """Rates below a cycle, as an earlier calibration writes them, are no rates of a cycle; only 0 counts as one.

    A rate of 0 that no time asks for stays 0.
    """
    only = [s for s in samples() if s.family == "f6"]  # nearly all of it is latency
    told = replace(START, load_line_cycles=0.05, store_whole_cycles=0.0, delay_l2_cycles=0.0)
    found = {rate.name: rate for rate in calibrate(only, told, DEVICE.clock_hz).fitted}
    assert found["load_line_cycles"].value == pytest.approx(0.05, rel=0.2)
    delay = found["delay_l2_cycles"]
    assert (delay.value, delay.least, delay.at_bound) == (0.0, 0.0, False)
    waiting = [replace(s, demand=replace(s.demand, line_waits=5.0)) for s in only]
    asked = {rate.name: rate for rate in calibrate(waiting, told, DEVICE.clock_hz).fitted}
    assert asked["delay_l2_cycles"].value == pytest.approx(1.0, rel=0.3)
    assert all(np.isfinite(rate.value) for rate in found.values())


def test_what_no_kernel_measures_stays_as_the_device_file_says() -> None:
    only = [s for s in samples() if s.family == "f6"]  # nearly all of it is latency
    quiet = [replace(s, demand=replace(s.demand, lone_sectors=0.0)) for s in only]
    found = {rate.name: rate for rate in calibrate(quiet, START, DEVICE.clock_hz).fitted}
    assert found["store_lone_cycles"].value == pytest.approx(START.store_lone_cycles)
    lone, latency = found["store_lone_cycles"], found["latency_memory_cycles"]
    assert lone.most / lone.least > 2 * latency.most / latency.least


def test_one_stream_program_settles_the_share_of_the_bandwidth() -> None:
    """One kernel in a dozen blocks, nearly all of whose time is DRAM's, says so more surely than the device file."""
    found = calibrate([s for s in samples(noise=0.02) if s.family == "f7"], START, DEVICE.clock_hz)
    rate = next(rate for rate in found.fitted if rate.name == "dram_efficiency")
    assert rate.before == pytest.approx(0.74)
    assert rate.value == pytest.approx(TRUTH.dram_efficiency, rel=0.04)
    assert rate.least < TRUTH.dram_efficiency < rate.most < START.dram_efficiency
    assert not rate.at_bound


def test_kernels_with_few_blocks_count_less() -> None:
    """Two kernels disagree on the bandwidth; the one with more blocks is believed."""
    of_dram = [s for s in samples() if s.family == "f7"]
    slow = [replace(of_dram[0], kernel="other", measured_s=1.5 * of_dram[0].measured_s)]
    with_few, with_many = (calibrate([*of_dram, *slow * n], START, DEVICE.clock_hz).rates for n in (1, 40))
    assert with_few.dram_efficiency > 0.9 * TRUTH.dram_efficiency
    assert with_many.dram_efficiency < 0.85 * with_few.dram_efficiency


def test_outliers_pull_little() -> None:
    spoilt = samples()
    spoilt[::24] = [replace(s, measured_s=10 * s.measured_s) for s in spoilt[::24]]
    found = calibrate(spoilt, START, DEVICE.clock_hz)
    assert found.rates.latency_memory_cycles == pytest.approx(380, rel=0.15)


def test_a_family_is_priced_by_a_fit_that_has_not_seen_it() -> None:
    """A family whose times are nonsense changes what is predicted of the others, never what is predicted of it."""
    plain = samples(noise=0.02)
    spoilt = [replace(s, measured_s=3 * s.measured_s) if s.family == "f0" else s for s in plain]
    before, after = left_out(plain, START, DEVICE.clock_hz), left_out(spoilt, START, DEVICE.clock_hz)
    own = np.array([s.family == "f0" for s in plain])
    assert np.allclose(before[own], after[own])
    assert not np.allclose(before[~own], after[~own], rtol=1e-3)


def test_predicted_times_are_those_of_the_model() -> None:
    some = samples()[:5]
    expected = [total_cycles(s.demand, START) / DEVICE.clock_hz + 3e-6 for s in some]
    assert predicted_s(some, START, DEVICE.clock_hz) == pytest.approx(expected)
    assert len(FITTED) == 9


def test_nothing_to_calibrate_with() -> None:
    with pytest.raises(OptionError, match="no measured time"):
        calibrate([], START, DEVICE.clock_hz)
    with pytest.raises(OptionError, match="one family"):
        left_out(samples(1), START, DEVICE.clock_hz)
