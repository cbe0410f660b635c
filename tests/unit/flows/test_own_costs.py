"""What a profile keeps of single firings, as what an estimate adds to them."""

from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

from dse.base.errors import FormatError, OptionError
from dse.flows.own_costs import deviations
from dse.formats.samples_file import samples_bytes
from tests.unit.estimate.networks import network, weights

TRACE = network([("s.o", "k")], {"s": "xxx", "k": "xyx"})
TABLE = weights(TRACE, {"s": 100, "k": 10})


def folder(tmp_path: Path, **counts: list[float]) -> str:
    arrays = {name: np.array(of, dtype=np.float32) for name, of in counts.items()}
    (tmp_path / "samples.npz").write_bytes(samples_bytes(arrays))
    return str(tmp_path)


def test_each_firing_is_compared_with_the_mean_of_its_action(tmp_path: Path) -> None:
    found = deviations((folder(tmp_path, k=[5, 70, 10]),), TRACE, TABLE)
    assert [of_actor.tolist() for of_actor in found] == [[], [-3, 0, 3]]  # a third below and above the mean of x, of 10


def test_cycles_become_picoseconds(tmp_path: Path) -> None:
    clocked = {key: replace(cost, frequency_mhz=Fraction(2000)) for key, cost in TABLE.compute.items()}
    found = deviations((folder(tmp_path, k=[5, 70, 10]),), TRACE, replace(TABLE, compute=clocked))
    assert found[1].tolist() == [-1667, 0, 1667]


def test_what_took_no_time_at_all_stays_as_it_is(tmp_path: Path) -> None:
    assert deviations((folder(tmp_path, s=[0, 0, 0]),), TRACE, TABLE)[0].tolist() == [0, 0, 0]


def test_an_action_without_weight_stays_without(tmp_path: Path) -> None:
    found = deviations((folder(tmp_path, k=[5, 70, 10]),), TRACE, replace(TABLE, compute={}))
    assert found[1].tolist() == [0, 0, 0]


def test_the_last_folder_wins(tmp_path: Path) -> None:
    paths = []
    for name, last in (("a", 20), ("b", 40)):
        (tmp_path / name).mkdir()
        paths.append(folder(tmp_path / name, s=[0, 10, last]))
    assert deviations(tuple(paths), TRACE, TABLE)[0].tolist() == [-100, -40, 140]
    assert deviations(tuple(paths[::-1]), TRACE, TABLE)[0].tolist() == [-100, 0, 100]


@pytest.mark.parametrize("paths", [(), ("nominal",), ("here",)])
def test_without_samples_it_says_how_to_get_them(tmp_path: Path, paths: tuple[str, ...]) -> None:
    given = tuple(str(tmp_path) if path == "here" else path for path in paths)
    with pytest.raises(OptionError, match="there are no costs of single firings"):
        deviations(given, TRACE, TABLE)


def test_samples_of_another_trace_are_refused(tmp_path: Path) -> None:
    with pytest.raises(FormatError, match="shape"):
        deviations((folder(tmp_path, k=[5, 70]),), TRACE, TABLE)
