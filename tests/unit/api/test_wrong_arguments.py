"""Wrong arguments are errors of ours, before anything is searched or written."""

from collections.abc import Callable
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import dse

PINGPONG = str(Path(__file__).resolve().parents[3] / "actors" / "pingpong" / "pingpong.xdf")
BOTH = "P0:PingPong P1:*"


@pytest.fixture(scope="module")
def program() -> dse.Program:
    return dse.load(PINGPONG, engine="reference")


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (lambda p: p.explore(budget=5, release="x"), "unknown release 'x'"),
        (lambda p: p.explore(budget=5, transfers="x"), "unknown transfers 'x'"),
        (lambda p: p.explore(budget=5, dialect="x"), "unknown dialect 'x'"),
        (lambda p: p.explore(budget=5, best=2.5), "best is 2.5"),
        (lambda p: p.explore(budget=5, workers="2"), "workers is '2'"),
        (lambda p: p.explore(budget=5, measure=1.5), "measure is 1.5"),
        (lambda p: p.explore(budget=5, pins=[("PingPong", "cpu")]), "the pins"),
        (lambda p: p.explore(budget=5, robust="mean", errors=0.3), "error 0.3 is no name"),
        (lambda p: p.estimate(BOTH, clocks={"cpu": "1k"}), "clocks '1k' are no numbers"),
        (lambda p: p.estimate({"P0": None}), "the actors of partition 'P0' are no list of names"),
        (lambda p: p.estimate(BOTH).save("x.xcf", dialect="x"), "unknown dialect 'x'"),
        (lambda p: p.compare(3), "3 is no mapping"),
        (lambda p: p.explore(buffers=1.5), "buffers 1.5 are no sizes to choose from"),
        (lambda p: p.explore(buffers={"a": 3}), "sizes to choose from"),
        (lambda p: p.explore(seed=2**63), "seed is 9223372036854775808"),
        (lambda p: p.measure(BOTH, seconds=-1), "seconds is -1"),
        (lambda p: p.throughput(release="x"), "unknown release 'x'"),
        (lambda _: dse.load(PINGPONG, engine="x"), "unknown engine 'x'"),
        (lambda _: dse.load(PINGPONG, natives="x"), "the natives 'x'"),
    ],
)
def test_wrong_arguments(
    program: dse.Program, call: Callable[[Any], object], said: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(dse.OptionError, match=said):
        call(program)
    assert not list(tmp_path.iterdir())


def test_numbers_of_other_kinds(program: dse.Program) -> None:
    assert program.estimate(BOTH, buffers=np.int64(64)).point.capacities[0] == 64  # type: ignore[arg-type]
    clocks: Any = {"cpu": Decimal("1000.5")}
    assert {part.clock_mhz for part in program.estimate(BOTH, clocks=clocks).point.partitions} == {Decimal("1000.5")}
    assert program.explore(budget=np.int64(3), partitions=np.int64(2)).best.point.partitions  # type: ignore[arg-type]
