"""Records of the timed program: read as they were written, refused where they are damaged."""

from pathlib import Path

import numpy as np
import pytest

from dse.base.errors import FormatError
from dse.measure.raw_records import read_samples
from dse.measure.samples import CounterKind, visits_of_actor
from tests.unit.measure.records import header, thread, write


def two_threads(path: Path) -> Path:
    first = thread(
        [(1000, 1100, 3, 0, 1), (1500, 1600, 2, 0, 0, 0x80 | 3), (1640, 1700, 1, 1, 0, 2)],
        [(1010, 0, 0, 1, 5, 6, 7, 8)],
        [(1, 4, 200, 40, 60)],
        partition=0,
        core=0,
    )
    second = thread([(1200, 1450, 2, 0, 2), (1450, 1550, 4, 1, 1)], partition=1)
    return write(path, header(2, 2), first, second)


def test_reads_what_was_written(tmp_path: Path) -> None:
    samples = read_samples(two_threads(tmp_path / "raw"), 2)
    assert samples.counter is CounterKind.TSC
    assert samples.steps_per_ns == pytest.approx(2.0)
    one, two = samples.threads
    assert (one.core, two.core, two.partition) == (0, None, 1)
    # from the end of the visit before, where the thread did not wait; with a reading of each of two visits in vain
    assert one.visits.steps.tolist() == [100.0, 100.0, 100.0]
    assert one.visits.readings.tolist() == [1, 1, 4]
    assert one.singles.computing.tolist() == [7]
    assert one.fruitless.steps.tolist() == [200]


def test_the_only_thread_read_the_counter_twice_for_a_visit_in_vain(tmp_path: Path) -> None:
    alone = thread([(1000, 1100, 3, 0, 1), (1150, 1200, 2, 0, 0, 3)])
    (one,) = read_samples(write(tmp_path / "raw", header(2, 1), alone), 2).threads
    assert one.visits.readings.tolist() == [1, 8]


def test_visits_of_an_actor_over_threads_are_its_trace(tmp_path: Path) -> None:
    samples = read_samples(two_threads(tmp_path / "raw"), 2)
    ids = np.array([0, 0, 1, 1, 1, 0, 2], dtype=np.uint8)
    visits = visits_of_actor(samples, 0, ids, 3)
    assert visits.steps.tolist() == [100.0, 250.0, 100.0]  # in order of time, not of threads
    assert visits.thread.tolist() == [0, 1, 0]
    assert visits.first.tolist() == [0, 3, 5]
    assert visits.counts.tolist() == [[2, 1, 0], [0, 2, 0], [1, 0, 1]]


def test_visits_that_do_not_fit_the_trace(tmp_path: Path) -> None:
    samples = read_samples(two_threads(tmp_path / "raw"), 2)
    with pytest.raises(ValueError, match="7 firings, its trace has 6"):
        visits_of_actor(samples, 0, np.zeros(6, dtype=np.uint8), 1)


def test_positions_beyond_32_bits(tmp_path: Path) -> None:
    singles = [(1, 2**32 - 1, 0, 0, 1, 1, 1, 1), (2, 7, 1, 0, 1, 1, 1, 1), (3, 5, 0, 0, 1, 1, 1, 1)]
    samples = read_samples(write(tmp_path / "raw", header(2, 1), thread(singles=singles)), 2)
    assert samples.threads[0].singles.firing.tolist() == [2**32 - 1, 7, 2**32 + 5]


@pytest.mark.parametrize(
    ("damage", "message"),
    [
        (lambda data: data[:20], "end in their header"),
        (lambda data: data[:-1], "cut off"),
        (lambda data: data + b"x", "1 bytes are left"),
        (lambda data: b"X" + data[1:], "no records"),
        (lambda data: b"", "it is empty"),
        (lambda data: data[:8] + b"\x09" + data[9:], "no records"),
    ],
)
def test_damaged_files_are_refused(tmp_path: Path, damage, message: str) -> None:
    path = two_threads(tmp_path / "raw")
    path.write_bytes(damage(path.read_bytes()))
    with pytest.raises(FormatError, match=message):
        read_samples(path, 2)


def test_another_network_is_refused(tmp_path: Path) -> None:
    with pytest.raises(FormatError, match="a network with 3 actors"):
        read_samples(two_threads(tmp_path / "raw"), 3)
    with pytest.raises(FormatError, match="actor 5 of 2"):
        read_samples(write(tmp_path / "bad", header(2, 1), thread([(1, 2, 3, 5, 0)])), 2)
    with pytest.raises(FormatError, match="No such file"):
        read_samples(tmp_path / "none", 2)
