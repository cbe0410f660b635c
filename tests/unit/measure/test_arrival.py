"""Arrivals, from two threads whose visits are made by hand."""

import re
from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

from dse.measure.arrival import TURN_FIRINGS, TURN_PARTS, Arrivals, Waits, arrivals_of, calibrated_arrival, waits_of
from dse.measure.crossing import Calibration
from dse.measure.looks import Looks
from dse.measure.machine import RoundTrip
from dse.measure.raw_records import read_samples
from dse.model.weights import Arrival, EntryKey, Visits
from dse.native.project import runtime_headers
from tests.unit.measure.networks import FACTS, chain
from tests.unit.measure.records import header, thread, write
from tests.unit.measure.thinned import thinned

WAITED = 0x80
SHORT, FULL = 1, 2
"""Why visits end: tokens are lacking, room is."""
Visit = tuple[int, ...]


def found(path: Path, writer: Sequence[Visit], reader: Sequence[Visit]) -> Arrivals:
    """Return what is seen where the source is on one core, filter and sink are on another; both filter only "even"."""
    sources, filters = (sum(v[2] for v in visits) for visits in (writer, reader))
    firings = (np.zeros(sources, dtype=np.uint8), np.ones(filters, dtype=np.uint8), np.zeros(0, dtype=np.uint8))
    parts = (header(3, 2), thread(writer, partition=0), thread(reader, partition=1))
    calibration = Calibration(partition_of=(0, 1, 1), samples=read_samples(write(path, *parts), 3), firings=firings)
    return arrivals_of(calibration, chain())


def arrivals(path: Path, writer: Sequence[Visit], reader: Sequence[Visit]) -> list[float]:
    """Return how long each arrival took."""
    return found(path, writer, reader).steps.tolist()


def test_an_arrival_is_from_the_end_of_the_writer_to_the_start_of_who_waited(tmp_path: Path) -> None:
    writer = [(1000, 1100, 2, 0, FULL), (2000, 2100, 3, 0, FULL), (3000, 3100, 1, 0, FULL)]
    reader = [(1150, 1300, 2, 1, SHORT, WAITED), (2170, 2400, 3, 1, SHORT, WAITED), (3230, 3300, 1, 1, SHORT, WAITED)]
    # the first visit of the thread tells nothing: it may not have begun when the tokens came
    assert arrivals(tmp_path / "raw", writer, reader) == [70.0, 130.0]


def test_the_last_token_counts_that_the_first_firing_needs(tmp_path: Path) -> None:
    writer = [(1000, 1100, 2, 0, FULL), (2000, 2100, 1, 0, FULL), (2110, 2190, 5, 0, FULL)]
    reader = [(1150, 1300, 2, 1, SHORT, WAITED), (2200, 2400, 6, 1, SHORT, WAITED)]
    assert arrivals(tmp_path / "raw", writer, reader) == [100.0]


def test_tokens_that_come_before_a_thread_has_asked_all_its_actors_count_too(tmp_path: Path) -> None:
    writer = [(1000, 1100, 2, 0, FULL), (2000, 2100, 3, 0, FULL)]
    reader = [(1150, 1300, 2, 1, SHORT), (2170, 2400, 3, 1, SHORT)]
    assert arrivals(tmp_path / "raw", writer, reader) == [70.0]


def test_who_waited_for_room_says_nothing(tmp_path: Path) -> None:
    writer = [(1000, 1100, 2, 0, FULL), (2000, 2100, 3, 0, FULL)]
    reader = [(1150, 1300, 2, 1, FULL), (2170, 2400, 3, 1, SHORT, WAITED)]
    of_room = found(tmp_path / "raw", writer, reader)
    assert of_room.steps.tolist() == []
    assert not of_room.there[1].any(), "when the room came is not known"


def test_what_lay_there_is_told_from_what_came(tmp_path: Path) -> None:
    writer = [(1000, 1100, 5, 0, FULL), (2000, 2100, 3, 0, FULL), (2450, 2500, 1, 0, FULL)]
    # two of five, then the others, what has come meanwhile, what comes later
    reader = [
        (1150, 1300, 2, 1, SHORT),
        (1310, 2400, 3, 1, SHORT),
        (2410, 2490, 3, 1, SHORT),
        (2600, 2700, 1, 1, SHORT),
    ]
    of_visits = found(tmp_path / "raw", writer, reader)
    assert of_visits.there[1].tolist() == [False, True, True, False]
    assert of_visits.steps.tolist() == [100.0]
    assert of_visits.there[0].tolist() == [False] * 3, "a writer that wanted room"


def test_tokens_that_lay_there_say_nothing(tmp_path: Path) -> None:
    writer = [(1000, 1100, 5, 0, FULL)]
    reader = [(1150, 1300, 2, 1, SHORT), (2170, 2400, 3, 1, SHORT, WAITED)]
    assert arrivals(tmp_path / "raw", writer, reader) == []


def test_what_came_before_its_publication_took_no_time(tmp_path: Path) -> None:
    writer = [(1000, 1100, 2, 0, FULL), (2000, 2180, 3, 0, FULL)]
    reader = [(1150, 1300, 2, 1, SHORT), (2170, 2400, 3, 1, SHORT, WAITED)]
    assert arrivals(tmp_path / "raw", writer, reader) == [0.0]


def test_of_visits_in_turns_those_count_that_are_known(tmp_path: Path) -> None:
    rng = np.random.default_rng(5)
    writer, reader, now = list[Visit](), list[Visit](), 1000
    for k in range(4000):
        n = int(rng.integers(1, 9))
        writer.append((now, now + 100, n, 0, FULL))
        reader.append((now + 101 + k, now + 105 + k, n, 1, SHORT, WAITED if rng.random() < 0.8 else 0))
        now += 10_000
    counts = sum(v[2] for v in writer)
    firings = (np.zeros(counts, dtype=np.uint8), np.ones(counts, dtype=np.uint8), np.zeros(0, dtype=np.uint8))
    parts = (header(3, 2), thread(writer, partition=0), thread(reader, partition=1))
    whole = Calibration(
        partition_of=(0, 1, 1), samples=read_samples(write(tmp_path / "raw", *parts), 3), firings=firings
    )
    some = replace(whole, samples=thinned(whole.samples, 4, rng))
    of_some, of_all = (arrivals_of(run, chain()).steps.tolist() for run in (some, whole))
    assert 50 < len(of_some) < len(of_all) / 4
    assert set(of_some) <= set(of_all), "each arrival is one of those that are seen where all visits are recorded"


def test_nothing_arrives_inside_a_core(tmp_path: Path) -> None:
    both: list[Visit] = [(1000, 1100, 2, 0, FULL), (1150, 1300, 2, 1, SHORT), (2000, 2100, 1, 0, FULL)]
    both.append((2150, 2200, 1, 1, SHORT, WAITED))
    firings = (np.zeros(3, dtype=np.uint8), np.ones(3, dtype=np.uint8), np.zeros(0, dtype=np.uint8))
    samples = read_samples(write(tmp_path / "raw", header(3, 1), thread(both)), 3)
    alone = Calibration(partition_of=(0, 0, 0), samples=samples, firings=firings)
    assert arrivals_of(alone, chain()).steps.tolist() == []


def test_waits_are_told_by_mean_and_quartiles() -> None:
    waits = waits_of(np.arange(101.0), 1e9)
    assert waits is not None
    assert (waits.mean, waits.quartiles, waits.count) == (50.0, (25.0, 75.0), 101)
    assert waits_of(np.arange(3.0), 1e9) is None


def test_an_interruption_is_no_long_wait() -> None:
    waits = waits_of(np.append(np.full(99, 300.0), 5e6), 1e9)
    assert waits is not None
    assert waits.mean == pytest.approx((99 * 300.0 + 20_000.0) / 100)


TRIP = RoundTrip(cores=(0, 1), before_ns=120.0, after_ns=100.0)
READ: EntryKey = ("source", "Out", "filter", "In", "read")


@pytest.mark.parametrize(("mean", "wake"), [(360.0, 238), (40.0, 0), (None, 0)])
def test_a_core_that_waited_takes_longer_than_half_a_round_trip(tmp_path: Path, mean: float | None, wake: int) -> None:
    waits = None if mean is None else Waits(mean=mean, quartiles=(20.0, 800.0), count=99)
    samples = read_samples(write(tmp_path / "raw", header(3, 0)), 3)
    slow, alone = (
        Calibration(partition_of=(0, 1, 1), samples=samples, firings=(), trips=trips)
        for trips in ((replace(TRIP, before_ns=900.0), TRIP), ())
    )
    entries = {READ: Fraction(7)}
    found = calibrated_arrival([slow, alone], waits, Looks(between=12.0, look=31.25, glance=8.0), entries, FACTS)
    assert found == Arrival(
        cycles=Fraction(110),  # half of the median one, two counts a nanosecond
        frequency_mhz=Fraction(2000),
        turn_firings=TURN_FIRINGS,
        turn_parts=TURN_PARTS,
        visits=Visits(
            look_cycles=Fraction("31.25"), glance_cycles=Fraction(8), wake_cycles=Fraction(wake), entries=entries
        ),
    )
    assert calibrated_arrival([alone], waits, Looks(), {}, FACTS) is None


def test_the_firings_of_a_turn_are_those_of_the_runtime() -> None:
    text = next(text for name, text in runtime_headers() if name.endswith("teams.hpp"))
    stated = re.search(r"visit_firings = (\d+);", text)
    assert stated is not None
    assert int(stated[1]) == TURN_FIRINGS
