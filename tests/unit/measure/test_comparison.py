"""Estimates beside measurements, with baselines."""

import numpy as np
import pytest

from dse.measure.comparison import Prediction, compare


def prediction(name: str, estimated: float, load: float, *, scored: bool = True) -> Prediction:
    return Prediction(name=name, estimated_ns=estimated, load_ns=load, scored=scored)


def test_a_good_estimate_beats_its_baselines() -> None:
    rng = np.random.default_rng(1)
    true = np.linspace(80e6, 160e6, 12)
    predictions = [prediction(f"m{k}", t * 1.02, 200e6 - t) for k, t in enumerate(true)]
    runs = [(t * (1 + rng.normal(0, 0.002, 6))).tolist() for t in true]
    found = compare("near", predictions, runs)
    assert found is not None
    assert found.estimated.spearman == pytest.approx(1.0)
    assert found.estimated.regret_first == 0.0
    assert found.by_load.spearman == pytest.approx(-1.0)
    assert found.by_load.regret_first == pytest.approx(1.0, abs=0.02)
    assert found.random_first == pytest.approx(0.5, abs=0.02)
    assert 0 < found.random_ten < 0.05
    assert found.noise is not None
    assert found.noise.relative.mean < 0.01
    assert not found.noisy


def test_calibration_mappings_are_shown_and_not_scored() -> None:
    predictions = [prediction("a", 10, 10), prediction("b", 99, 99, scored=False), prediction("c", 20, 20)]
    found = compare("far", predictions, [[10.0, 10.0], [30.0, 30.0], [20.0, 20.0]])
    assert found is not None
    assert len(found.pairs) == 3
    assert found.estimated.candidates == 2
    assert found.estimated.relative.maximum == 0.0


def test_candidates_with_too_few_runs_are_left_out() -> None:
    found = compare("near", [prediction("a", 10, 10), prediction("b", 20, 20)], [[10.0, 11.0], [20.0]])
    assert found is not None
    assert (found.left_out, len(found.pairs)) == (1, 1)
    assert compare("near", [prediction("a", 10, 10)], [[]]) is None
    assert compare("near", [prediction("a", 10, 10, scored=False)], [[1.0, 2.0]]) is None


def test_differences_within_the_noise_are_called_noise() -> None:
    runs = [[100.0, 110.0, 101.0, 112.0], [105.0, 96.0, 104.0, 95.0], [103.0, 108.0, 102.0, 100.0]]
    found = compare("near", [prediction(n, 100, 100) for n in "abc"], runs)
    assert found is not None
    assert found.noisy


def test_the_fastest_runs_hide_what_others_did() -> None:
    disturbed = [[100.0, 180.0, 101.0, 190.0], [130.0, 131.0, 132.0, 133.0], [140.0, 141.0, 142.0, 143.0]]
    predictions = [prediction(n, t, t) for n, t in zip("abc", (100, 130, 140), strict=True)]
    found = compare("near", predictions, disturbed)
    assert found is not None
    assert found.estimated.spearman < 1.0
    assert found.least.spearman == pytest.approx(1.0)
    assert found.least.relative.maximum == 0.0
    assert [pair.least for pair in found.pairs] == [100.0, 130.0, 140.0]
    assert found.noise is not None
    assert found.least_noise is not None
    assert found.noise.relative.maximum > 0.4  # every second run of the first was disturbed
    assert found.least_noise.relative.maximum == pytest.approx(1 - 100 / 180)
