"""Costs of firings on disk: found again, equal, only for what they were predicted for, and never in the way."""

from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import pytest

from dse.base.source import Span
from dse.formats.device_yaml import load_device
from dse.gpu.actors.firing import FiringCost, FiringModel, LaunchShape
from dse.gpu.actors.kept_costs import KeptCosts
from dse.model.device import Device
from dse.model.rounds import Rounds
from dse.program.ir import Actor
from tests.unit.gpu.actor_support import actor

TEXT = """
  twice: action I:[v] repeat 256 ==> O:[w] repeat 256 var int w[256]
  do foreach int i in 0 .. 255 do w[i] := 2 * v[i]; end end
  sum: action I:[v] repeat 8 ==> O:[s] var int s := 0
  do foreach int i in 0 .. 7 do s := s + v[i]; end end
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("DSE_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache" / "gpu"


@pytest.fixture
def priced(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Return the list to which the names of actions go that are really predicted."""
    found: list[str] = []
    plain = FiringModel.firing

    def noted(self: FiringModel, *given: object, **named: object) -> FiringCost:
        cost = plain(self, *given, **named)  # type: ignore[arg-type]  # handed on as they are
        found.append(cost.action)
        return cost

    monkeypatch.setattr(FiringModel, "firing", noted)
    return found


def costs(
    of: Actor,
    device: Device | None = None,
    *,
    runs: tuple[int, int] = (5, 0),
    rounds: Rounds | None = None,
    shape: LaunchShape | None = None,
    model: str = "hierarchy",
) -> tuple[FiringCost, ...]:
    kept = KeptCosts(FiringModel(device or load_device("h200"), shape, model))
    return kept.costs(of, runs, rounds or {})


def test_what_was_predicted_is_read_and_equal(tmp_path: Path, folder: Path, priced: list[str]) -> None:
    of = actor(tmp_path / "a", TEXT)
    first = costs(of)
    assert priced == ["twice", "sum"]
    assert len(first[0].simd_cycles) == 5
    assert first[0].threads > 1
    assert costs(of) == first
    assert priced == ["twice", "sum"]
    assert len(list(folder.iterdir())) == 1


def test_whatever_the_costs_depend_on_is_another_entry(tmp_path: Path, folder: Path, priced: list[str]) -> None:
    of = actor(tmp_path / "a", TEXT)
    device = load_device("h200")
    costs(of, device)
    loop = Span(str(tmp_path / "a" / "A.cal"), 4, 6, 4, 13), "i"
    costs(actor(tmp_path / "b", TEXT.replace("2 * v", "3 * v")), device)
    costs(actor(tmp_path / "c", "\n" + TEXT), device)  # reasons name lines
    costs(of, replace(device, clock_mhz=1000.0))
    costs(of, replace(device, latency_l2_cycles=1.0))
    costs(of, device, runs=(6, 0))
    costs(of, device, rounds={loop: Fraction(9, 2)})
    costs(of, device, shape=LaunchShape(blocks=1, threads=8))
    costs(of, device, model="cgpredict")
    assert len(list(folder.iterdir())) == 9
    assert len(priced) == 18
    costs(of, replace(device, origins=()))  # where constants come from changes no cost
    assert len(priced) == 18


@pytest.mark.parametrize("damage", ["", "[]", "[1, 2]", '[{"action": "twice"}, {}]', "[" * 100_000])
def test_a_damaged_entry_is_made_again(tmp_path: Path, folder: Path, priced: list[str], damage: str) -> None:
    of = actor(tmp_path / "a", TEXT)
    first = costs(of)
    (entry,) = folder.iterdir()
    whole = entry.read_text()
    entry.write_text(damage)
    assert costs(of) == first
    assert len(priced) == 4
    assert entry.read_text() == whole


def test_without_a_cache_nothing_is_kept(tmp_path: Path, priced: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    of = actor(tmp_path / "a", TEXT)
    (tmp_path / "file").write_text("")
    for place in ("", str(tmp_path / "file")):
        monkeypatch.setenv("DSE_CACHE", place)
        costs(of)
        costs(of)
    assert len(priced) == 8
