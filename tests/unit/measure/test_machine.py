"""States of the machine, and what it says of itself."""

from dataclasses import replace
from pathlib import Path

import pytest

from dse.measure.machine import (
    MachineMoment,
    RoundTrip,
    cpu_model,
    machine_moment,
    state_of,
    trips_text,
    uneven_pace,
    unsteady,
)


def trip(before: float, after: float, cores: tuple[int, int] = (0, 1)) -> RoundTrip:
    return RoundTrip(cores=cores, before_ns=before, after_ns=after)


def test_states() -> None:
    assert state_of([trip(80, 110)]) == "near"
    assert state_of([trip(320, 480)]) == "far"
    assert state_of([trip(80, 400)]) is None
    assert state_of([trip(80, 90), trip(400, 410, (0, 2))]) is None
    assert state_of([]) is None


def test_range_of_round_trips() -> None:
    assert trips_text([trip(80.4, 110.2), trip(72.0, 99.0)]) == "72 to 110 ns"
    assert trips_text([]) == ""


def test_the_system_is_read(tmp_path: Path) -> None:
    (tmp_path / "loadavg").write_text("0.75 0.5 0.4 1/100 99\n")
    (tmp_path / "stat").write_text("cpu  100 0 50 1000 20 0 5 30 0 0\ncpu0 1 2 3\n")
    (tmp_path / "cpuinfo").write_text(
        "model name\t: Test CPU\ncpu MHz\t\t: 2600.0\nmodel name\t: Test CPU\ncpu MHz\t\t: 2596.1\n"
    )
    moment = machine_moment(tmp_path)
    assert moment.load == 0.75
    assert moment.stolen_s == pytest.approx(0.3)
    assert moment.busy_s == pytest.approx((100 + 50 + 5 + 30) / 100)
    assert moment.mhz == (2600.0, 2596.1)
    assert cpu_model(tmp_path) == "Test CPU"


def test_a_system_that_tells_nothing(tmp_path: Path) -> None:
    assert machine_moment(tmp_path) == MachineMoment(load=None, stolen_s=None, busy_s=None, mhz=())
    assert cpu_model(tmp_path) == "unknown"
    assert unsteady(machine_moment(tmp_path), machine_moment(tmp_path), 10.0) == ()


def test_what_was_not_steady() -> None:
    calm = MachineMoment(load=0.1, stolen_s=1.0, busy_s=5.0, mhz=(2600.0, 2600.0))
    assert unsteady(calm, replace(calm, stolen_s=1.1, load=2.0), 10.0) == ()
    assert unsteady(replace(calm, load=1.4), calm, 10.0) == ("the load was 1.40 at the start: others use the cores",)
    (stolen,) = unsteady(calm, replace(calm, stolen_s=3.5), 10.0)
    assert stolen.startswith("2.5 s in 10 s")
    assert unsteady(calm, replace(calm, stolen_s=1.02), 0.4) == (), "two steps of the system's clock say nothing"
    (clock,) = unsteady(calm, replace(calm, mhz=(2600.0, 3100.0)), 10.0)
    assert clock == "the clock moved from 2600 to 3100 MHz"


def test_cores_that_others_share() -> None:
    """Each core is compared with itself: the second one is slower anyway."""
    calm = [replace(trip(90, 90), work_ns=(1.0, 1.3, 1.02, 1.31))] * 9
    assert uneven_pace([]) == uneven_pace([trip(90, 90)]) == uneven_pace(calm) == ()
    once = replace(trip(90, 90), work_ns=(1.9, 1.3, 1.0, 1.3))
    assert uneven_pace([*calm, once]) == (), "an interruption now and then is usual"
    shared = replace(trip(90, 90, (0, 2)), work_ns=(1.0, 1.0, 1.8, 1.7))
    (words,) = uneven_pace([*calm, *[shared] * 5])
    assert words.startswith("the same work took the cores up to 1.8 times as long, in 10 of 56 looks beside the runs ")
