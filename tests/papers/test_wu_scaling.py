"""Scaling surfaces as Wu et al. 2015 define them: figures 7 and 8, equation 1, and what their model does with truth."""

import os
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

from dse.formats.scaling_sets import read_scaling_set
from dse.gpu.scaling.classify import predicted_surface, time_surface
from dse.gpu.scaling.judge import judge
from dse.gpu.scaling.surfaces import (
    along,
    clock_surface,
    clock_values,
    core_values,
    memory_values,
    unit_values,
    whole_surface,
)
from dse.gpu.scaling.train import TrainOptions, surface_error, train
from dse.model.scaling import Configuration, Reals, ScalingGrid, ScalingSet
from tests.examples import IN_FULL

ROOT = Path(__file__).resolve().parents[2]
DATA = Path(os.environ.get("DSE_REFERENCE_DATA", ROOT.parent / "shared")) / "data"
TIMES = np.array([[8.0, 4.0, 2.0, 2.0], [6.0, 3.0, 2.0, 1.0], [3.0, 2.0, 1.5, 1.0], [2.0, 1.0, 1.0, 0.5]])
"""Row i: core clock i; column j: memory clock j, as in figure 7 (a)."""


def test_figure_7() -> None:
    of_memory, of_core = memory_values(TIMES), core_values(TIMES)
    assert of_memory.shape == (4, 3)
    assert of_core.shape == (3, 4)
    assert of_memory[0].tolist() == [4 / 8, 2 / 4, 2 / 2]
    assert of_memory[3].tolist() == [1 / 2, 1.0, 0.5]
    assert of_core[:, 0].tolist() == [6 / 8, 3 / 6, 2 / 3]
    assert of_core[:, 3].tolist() == [1 / 2, 1.0, 0.5]


def test_figure_8() -> None:
    assert unit_values(np.array([8.0, 4.0, 3.0, 1.5])).tolist() == [0.5, 0.75, 0.5]


def test_equation_1() -> None:
    """From 400/400 to 1000/1000 MHz: the product of e[j, 0] and of m[3, i]."""
    product = np.prod(core_values(TIMES)[:, 0]) * np.prod(memory_values(TIMES)[3])
    surface = clock_surface(clock_values(TIMES), 4, 4, (0, 0))
    assert surface[3, 3] == pytest.approx(product, rel=1e-15)
    assert surface[3, 3] * TIMES[0, 0] == pytest.approx(TIMES[3, 3], rel=1e-15)


def test_reciprocals_downward() -> None:
    assert along(np.array([0.5, 0.75, 0.5]), 2).tolist() == [1 / 0.375, 1 / 0.75, 1.0, 0.5]


@pytest.mark.parametrize("base", [(0, 0, 0), (2, 3, 1), (1, 2, 3)])
def test_the_own_surface_is_the_kernel(base: tuple[int, int, int]) -> None:
    times = np.random.default_rng(7).uniform(0.5, 20.0, (3, 4, 4))
    rows = [clock_values(times[u]) for u in range(3)]
    surface = whole_surface(unit_values(times[:, base[1], base[2]]), rows, times.shape, base)
    np.testing.assert_allclose(surface * times[base], times, rtol=1e-12)


def family(kind: int, size: float, grid: ScalingGrid) -> Reals:
    """The time of a kernel that computes, waits for memory, needs both, or thrashes a cache that units share."""
    units, core, memory = np.meshgrid(
        np.array(grid.compute_units, float),
        np.array([float(c) for c in grid.core_mhz]),
        np.array([float(m) for m in grid.memory_mhz]),
        indexing="ij",
    )
    work, traffic = 1e6 / (units * core), 4e4 / memory
    thrash = traffic * np.maximum(1.0, units / 16) ** 1.5
    return size * np.stack([work, traffic, np.maximum(work, traffic), work + thrash])[kind]


def synthetic(n_of_kind: int) -> ScalingSet:
    """Kernels of four known families over compute units and clocks; their counters tell the family, with noise."""
    grid = ScalingGrid(
        compute_units=(8, 16, 24, 32),
        core_mhz=tuple(Fraction(c) for c in (400, 600, 800, 1000)),
        memory_mhz=tuple(Fraction(m) for m in (475, 925, 1375)),
    )
    rng = np.random.default_rng(3)
    kinds = [kind for _ in range(n_of_kind) for kind in range(4)]
    sizes = rng.uniform(0.1, 50.0, len(kinds)).tolist()
    times = np.stack([family(kind, size, grid) for kind, size in zip(kinds, sizes, strict=True)])
    marks = np.array([[1e6, 1e2], [1e2, 1e6], [1e6, 1e6], [1e4, 1e4]])
    counters = np.stack(
        [np.append(marks[k] * rng.uniform(0.7, 1.4, 2), 1e5 * s) for k, s in zip(kinds, sizes, strict=True)]
    )
    return ScalingSet(
        grid=grid,
        base=Configuration(compute_units=16, core_mhz=Fraction(800), memory_mhz=Fraction(925)),
        kernels=tuple(f"{'cmbt'[k]}{i}" for i, k in enumerate(kinds)),
        time_ms=times,
        power_watt=None,
        counter_names=("compute", "memory", "size"),
        counters=counters,
    )


def test_truth_is_recovered_over_compute_units() -> None:
    """Surfaces with compute units, among them one that turns back: clusters are the families, errors are none."""
    given = synthetic(4)
    grid, base = given.grid, given.base_index
    model = train(given, TrainOptions(clusters=4, penalty=0.1), "made up", "families")
    for found in (*model.time.by_clocks, model.time.by_units):
        assert found is not None
        kinds = [{name[0] for name in names} for names in found.members]
        assert all(len(kind) == 1 or kind == {"m", "b"} or kind == {"c", "b"} for kind in kinds)
    fresh = synthetic(6)
    assert fresh.counters is not None
    for k in range(16, 24):
        assert surface_error(time_surface(model, fresh.counters[k]), fresh.time_ms[k], given) < 1e-6
    thrashing = time_surface(model, fresh.counters[19])[:, base[1], base[2]]
    assert thrashing.argmin() < len(grid.compute_units) - 1, "more units make it slower at last, as figure 1 (d)"


def test_classes_of_two_clusters() -> None:
    """With two clusters scikit-learn has one output; the softmax of our head chooses as it does."""
    given = synthetic(3)
    model = train(given, TrainOptions(clusters=2, penalty=0.1), "made up", "families").time
    assert given.counters is not None
    for found in model.by_clocks:
        assert len(found.members) == 2
        for k, name in enumerate(given.kernels):
            surface = predicted_surface(model, given.counters[k], given.grid.shape, given.base_index)
            assert (surface > 0).all(), name


def test_a_seed_gives_one_model() -> None:
    given = synthetic(3)
    a, b = (train(given, TrainOptions(clusters=3, penalty=0.1, seed=5), "made up", "") for _ in range(2))
    assert a.time.by_clocks[0].classifier is not None
    assert b.time.by_clocks[0].classifier is not None
    assert (a.time.by_clocks[0].centroids == b.time.by_clocks[0].centroids).all()
    assert (a.time.by_clocks[0].classifier.hidden == b.time.by_clocks[0].classifier.hidden).all()


def measured(*names: str, base: tuple[int, int]) -> ScalingSet:
    """A set of public data, which is not in the repository."""
    files = [str(DATA / name) for name in names]
    if not all(Path(file).exists() for file in files):
        pytest.skip(f"{files[0]} is missing; set DSE_REFERENCE_DATA")
    return read_scaling_set(files, Configuration(core_mhz=Fraction(base[0]), memory_mhz=Fraction(base[1])))


def test_own_surfaces_of_measured_kernels() -> None:
    given = measured("gtx1080ti-dvfs.csv", base=(1800, 5000))
    for times in given.time_ms:
        surface = whole_surface(np.ones(0), [clock_values(times[0])], given.grid.shape, given.base_index)
        np.testing.assert_allclose(surface * times[given.base_index], times, rtol=1e-12)


@IN_FULL
def test_unseen_kernels_of_a_gtx_1080_ti() -> None:
    """Fixed here is what cross-validation chooses, for the time it takes; docs/gpu-scaling.md has what that gives."""
    given = measured("gtx1080ti-dvfs.csv", base=(1800, 5000))
    assert len(given.kernels) == 30
    time, power = judge(given, TrainOptions(clusters=4, penalty=10.0))
    assert time.classified
    assert time.mean("error") < 0.05
    assert power.mean("error") < 0.03
    assert time.mean("copied") == pytest.approx(0.0785, abs=5e-5)
    assert power.mean("copied") == pytest.approx(0.0601, abs=5e-5)
    assert time.mean("mean") == pytest.approx(0.0546, abs=5e-5)
    assert time.mean("error") < time.mean("mean")
    assert power.mean("error") < power.mean("mean")


def test_unseen_kernels_of_a_titan_x() -> None:
    """No counters: the best of 12 clusters, which is a bound on what a classifier could reach."""
    given = measured("titanx_realbenchmarks.csv", base=(975, 3505))
    assert given.counters is None
    time, power = judge(given, TrainOptions(clusters=12))
    assert not time.classified
    assert time.mean("error") < 0.05
    assert power.mean("error") < 0.03
    assert time.mean("error") == time.mean("best")
