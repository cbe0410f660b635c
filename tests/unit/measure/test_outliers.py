"""The Gaussian filter: normal samples stay, interruptions go."""

import numpy as np
import pytest

from dse.measure.outliers import far_deviations, ordinary


def test_the_bound_grows_with_the_number() -> None:
    assert far_deviations(100) == pytest.approx(2.5758, abs=1e-3)
    assert far_deviations(10**6) > far_deviations(1000) > far_deviations(100)


def test_normal_samples_stay_and_interruptions_go() -> None:
    rng = np.random.default_rng(7)
    values = rng.normal(1000.0, 20.0, 20_000)
    values[::997] += 50_000.0
    kept = ordinary(values)
    assert not kept[::997].any()
    assert (~kept).sum() <= 21 + 3
    assert values[kept].mean() == pytest.approx(1000.0, abs=1.0)


def test_short_samples_are_never_outliers() -> None:
    values = np.full(100, 50.0)
    values[3] = 0.0
    assert ordinary(values).all()


def test_few_samples_stay() -> None:
    assert ordinary(np.array([1.0, 1.0, 1.0, 1000.0])).all()
