"""What lies between visits, from threads that are made by hand."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from dse.measure.looks import Called, Looks, looks_of
from dse.measure.raw_records import read_samples
from dse.measure.samples import MOST_VAIN, Samples
from tests.unit.measure.records import header, thread, write

READING, BETWEEN, LOOK, GLANCE = 20.0, 35.0, 90.0, 25.0
WAITED = 0x80
Noise = Callable[[np.random.Generator], float]


def visited(path: Path, vain: list[int], noise: Noise = lambda _: 0.0, apart: int = 0) -> Samples:
    """Return a thread with so many calls in vain before each of its visits; ``apart``: set in their records."""
    rng, now, rows = np.random.default_rng(3), 1000, []
    for calls in vain:
        start = now + round(READING * (1 + 2 * calls) + BETWEEN + LOOK * calls + noise(rng))
        now = start + int(rng.integers(100, 900))
        rows.append((start, now, 1, 0, 1, apart | calls))
    return read_samples(write(path, header(3, 1, span=(1000, now)), thread(rows)), 3)


def test_calls_in_vain_are_told_from_what_lies_between_visits_anyway(tmp_path: Path) -> None:
    vain = np.random.default_rng(2).integers(0, 6, 4000).tolist()

    def interrupted(rng: np.random.Generator) -> float:
        return 50_000.0 if rng.random() < 0.005 else 8 * float(rng.normal())

    found = looks_of(
        [Called(samples=visited(tmp_path / "a", vain, interrupted)), Called(samples=visited(tmp_path / "b", vain))],
        READING,
    )
    assert found.between == pytest.approx(BETWEEN, rel=0.02)
    assert found.look == pytest.approx(LOOK, rel=0.02)
    assert found.gaps == 2 * (len(vain) - 1), "nothing lies before the first visit of a thread"


@pytest.mark.parametrize(("vain", "apart"), [([0, 1, 2] * 30, WAITED), ([MOST_VAIN] * 90, 0), ([], 0)])
def test_who_waited_or_lost_count_says_nothing(tmp_path: Path, vain: list[int], apart: int) -> None:
    assert looks_of([Called(samples=visited(tmp_path / "raw", vain, apart=apart))], READING) == Looks()


def test_who_asked_in_vain_until_tokens_came_says_nothing(tmp_path: Path) -> None:
    """Such calls go on until the tokens are there, however long that is."""
    vain = [0, 2, 4] * 300
    samples = visited(tmp_path / "raw", vain)
    waited = np.array(vain) == 4
    visits = samples.threads[0].visits
    late = np.cumsum(np.where(waited, 5000, 0)).astype(np.uint64)
    moved = replace(visits, start=visits.start + late, end=visits.end + late)
    thread_of = replace(samples.threads[0], visits=moved)
    run = Called(samples=replace(samples, threads=(thread_of,)))
    assert looks_of([run], READING).look > 2 * LOOK
    found = looks_of([replace(run, there=(~waited,))], READING)
    assert (found.between, found.look) == (pytest.approx(BETWEEN, rel=0.02), pytest.approx(LOOK, rel=0.02))
    assert found.gaps == 600 - 1


def test_without_calls_in_vain_they_take_nothing(tmp_path: Path) -> None:
    found = looks_of([Called(samples=visited(tmp_path / "raw", [0] * 90))], READING)
    assert (found.between, found.look) == (pytest.approx(BETWEEN), 0.0)


def test_scaled() -> None:
    assert Looks(between=10.0, look=4.0, gaps=3).scaled(0.5) == Looks(between=5.0, look=2.0, gaps=3)


def test_a_glance_is_told_from_a_look(tmp_path: Path) -> None:
    """In a pass actor 1 is looked at and actor 2 glanced at; 0 and 3 find work."""
    rng = np.random.default_rng(4)
    now, rows, last = 1000, list[tuple[int, ...]](), 3
    for _ in range(3000):
        actor = int(rng.integers(0, 4))
        passed = [(last + k) % 4 for k in range(1, 1 + (actor - last - 1) % 4)]
        vain = sum(a in (1, 2) for a in passed)
        start = now + round(READING * (1 + vain) + BETWEEN + LOOK * (1 in passed) + GLANCE * (2 in passed))
        now = start + 300
        rows.append((start, now, 1, actor, 1, vain))
        last = actor
    samples = read_samples(write(tmp_path / "raw", header(4, 2, span=(1000, now)), thread(rows), thread()), 4)
    run = Called(
        samples=samples,
        partition_of=(0, 0, 0, 0),
        from_others=(False, True, False, False),
        to_others=(False, False, True, False),
    )
    found = looks_of([run], READING)
    assert (found.between, found.look, found.glance) == (
        pytest.approx(BETWEEN, rel=0.02),
        pytest.approx(LOOK, rel=0.02),
        pytest.approx(GLANCE, rel=0.02),
    )
    assert looks_of([Called(samples=samples)], READING).glance is None
