"""When GPU weights are predicted, what stands beside them, and what is said."""

from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import pytest

from dse.base.errors import OptionError
from dse.flows.estimate import estimate_mappings
from dse.flows.options import EstimateOptions, ProblemOptions
from dse.flows.predict import beside_given, gpu_outlook, parse_shape
from dse.flows.program import load_program, record_trace
from dse.flows.setting import load_setting
from dse.flows.weighing import choose_weights
from dse.formats.platform_yaml import load_platform
from dse.gpu.actors.firing import LaunchShape
from dse.model.platform import Platform
from dse.model.weights import Cost, WeightTable
from dse.passes.analyses.nominal import nominal_weights

ROOT = Path(__file__).resolve().parents[3]
PROGRAM = load_program(str(ROOT / "actors" / "pingpong" / "pingpong.xdf"))
NETWORK = PROGRAM.network
TRACE, _ = record_trace(PROGRAM, None)
DESKTOP = load_platform("desktop-gtx1660s")
assert NETWORK is not None
NOMINAL = nominal_weights(NETWORK, DESKTOP)
CPU_ONLY = WeightTable(
    name="measured",
    compute={k: replace(c, origin="measured") for k, c in NOMINAL.compute.items() if k[2] == "cpu"},
    has_scheduling=False,
    has_transfers=False,
)


def with_gpu(**changes: object) -> Platform:
    """The desktop with another GPU unit."""
    units = tuple(replace(u, **changes) if u.kind == "gpu" else u for u in DESKTOP.units)  # type: ignore[arg-type]
    return replace(DESKTOP, units=units)


def test_without_weights_the_cpu_is_nominal_and_the_gpu_predicted() -> None:
    weights, assumed = choose_weights(PROGRAM, TRACE, DESKTOP, None, "error")
    assert assumed[0] == "nominal CPU weights (operation counts)"
    assert assumed[1].startswith("predicted GPU weights (hierarchy on gtx1660s, confidence ")
    assert assumed[2].startswith("host FIFOs at 10 us a transfer and 12 GB/s, of the device file")
    origins = {(key[0], key[2]): cost.origin for key, cost in weights.compute.items()}
    assert origins["CopyTokensA", "gpu"] == "predicted"
    assert origins["CopyTokensA", "cpu"] == "nominal"
    assert origins["Merger", "gpu"] == "nominal"  # prints: it cannot go there
    assert ("CopyTokensA", "copy", "gpu") in weights.simd


def test_given_cpu_weights_stay_as_they_are() -> None:
    weights, assumed = choose_weights(PROGRAM, TRACE, DESKTOP, CPU_ONLY, "error")
    assert {k: c for k, c in weights.compute.items() if k[2] == "cpu"} == CPU_ONLY.compute
    assert weights.compute["CopyTokensA", "copy", "gpu"].origin == "predicted"
    free = weights.scheduling["CopyTokensA", "", "copy", "cpu"]
    assert (free.mean_cycles, free.origin, free.frequency_mhz) == (0, "zero", 2900)
    assert weights.scheduling["CopyTokensA", "", "copy", "gpu"].mean_cycles > 0
    assert "no scheduling costs (no .sxdf in the weights)" in assumed
    assert any(text.startswith("predicted GPU weights") for text in assumed)
    assert weights.name == "measured"


def test_given_gpu_weights_are_not_predicted() -> None:
    measured = replace(CPU_ONLY, compute=NOMINAL.compute)
    assert choose_weights(PROGRAM, TRACE, DESKTOP, measured, "error")[0] == measured


@pytest.mark.parametrize(
    ("platform", "given", "why_not"),
    [
        (load_platform(), None, ""),
        (with_gpu(device=None), None, ""),
        (replace(DESKTOP, gpu_capable=("Merger",)), None, ""),
        (DESKTOP, WeightTable(name="g", compute={("a", "x", "cpu"): Cost(mean_cycles=Fraction(1))}),
         "no prediction for unit gpu: the weights have no clock"),
        (replace(DESKTOP, units=tuple(replace(u, clock_mhz=None) for u in DESKTOP.units)), None,
         "no prediction for unit gpu: a CPU of the platform has no clock"),
    ],
)  # fmt: skip
def test_no_prediction(platform: Platform, given: WeightTable | None, why_not: str) -> None:
    assert NETWORK is not None
    found = gpu_outlook(NETWORK, TRACE, platform, given)
    assert (found.predicted, found.why_not) == (None, why_not)


def test_without_a_device_costs_are_nominal_and_say_so() -> None:
    weights, assumed = choose_weights(PROGRAM, TRACE, with_gpu(device=None), None, "error")
    assert assumed == ("nominal CPU and GPU weights (operation counts)",)
    assert weights == NOMINAL


def test_the_clock_is_that_of_the_unit() -> None:
    assert NETWORK is not None
    slow = gpu_outlook(NETWORK, TRACE, with_gpu(clock_mhz=Fraction(900)), None).predicted
    fast = gpu_outlook(NETWORK, TRACE, DESKTOP, None).predicted
    assert slow is not None
    assert fast is not None
    assert {c.frequency_mhz for c in slow.table.compute.values()} == {900}
    for key, cost in slow.table.compute.items():  # cycles are the same or rounded, so the time is twice as long
        assert cost.mean_cycles == fast.table.compute[key].mean_cycles


def test_an_unknown_device_is_an_error_of_the_platform() -> None:
    assert NETWORK is not None
    with pytest.raises(OptionError, match="unit 'gpu' of platform 'desktop-gtx1660s' has the unknown device 'x'"):
        gpu_outlook(NETWORK, TRACE, with_gpu(device="x"), None)


def test_only_capable_actors_are_predicted() -> None:
    assert NETWORK is not None
    found = gpu_outlook(NETWORK, TRACE, replace(DESKTOP, gpu_capable=("Prod",)), None).predicted
    assert found is not None
    assert {key[0] for key in found.table.compute} == {"Prod"}


def test_given_entries_go_before_predicted_ones() -> None:
    assert NETWORK is not None
    found = gpu_outlook(NETWORK, TRACE, DESKTOP, None).predicted
    assert found is not None
    key = ("Prod", "Out", "PingPong", "In", "host", "gpu", "write")
    mine = Cost(mean_cycles=Fraction(7), frequency_mhz=Fraction(1800))
    given = replace(CPU_ONLY, transfers={key: mine}, has_transfers=True)  # type: ignore[dict-item]
    assert beside_given(given, found, NETWORK).transfers[key] == mine  # type: ignore[index]


def test_estimates_use_the_prediction() -> None:
    problem = ProblemOptions(program=PROGRAM.path, platform="desktop-gtx1660s")
    assumed = estimate_mappings(EstimateOptions(problem=problem)).assumed
    assert any(text.startswith("predicted GPU weights") for text in assumed)
    manifest = dict(load_setting(problem).manifest)
    assert manifest["weights model"].startswith("hierarchy")


def test_threads_are_read() -> None:
    assert parse_shape("22x256") == parse_shape("22X256") == LaunchShape(blocks=22, threads=256)
    for text in ("22", "x", "22x", "ax2", "-1x2", "1.5x2"):
        with pytest.raises(OptionError, match="not understood"):
            parse_shape(text)
