"""The profiler's program notes every visit, and the firings that are timed singly, in the file that measuring reads."""

from pathlib import Path

import numpy as np
import pytest

from dse.measure.raw_records import read_samples
from dse.measure.samples import ThreadSamples
from tests.native.runtime.programs import VARIANTS, fan, output_of
from tests.native.same.batches import CASES

MAPPINGS = {"-": 1, "1:1:0,1/0:1:2,3": 2, "3:1:0,1,2,3": 4, "0:2:0,1,2,3": 2}
SINK, FOUR = 3, 0


def check_what_lies_between(thread: ThreadSamples, *, alone: bool) -> None:
    """Check what is noted of the time between visits: alone nobody waits, and each visit in vain is before another."""
    visits = thread.visits
    assert visits.apart[:1].all(), "nothing lies before the first visit"
    timed = int(thread.fruitless.visits.sum())
    if not alone:
        assert timed == 0, "threads beside others only count their visits in vain"
    else:
        assert (thread.fruitless.visits > 0).all()
        assert int(visits.vain.sum()) <= timed
        assert not visits.apart[1:].any()
        assert visits.steps.sum() == visits.end[-1] - visits.start[0], "the visits cover the run"


@pytest.mark.parametrize("variant", VARIANTS if CASES else ["plain"])
@pytest.mark.parametrize("mapping", MAPPINGS)
def test_records_of_a_run(tmp_path: Path, variant: str, mapping: str) -> None:
    program = fan(variant, timed=True)
    lines = output_of(program, "fan", "64", "0", mapping, str(tmp_path / "raw")).splitlines()
    samples = read_samples(tmp_path / "raw", actors=4)
    assert len(samples.threads) == MAPPINGS[mapping]
    firings = np.zeros(4, dtype=np.int64)
    for thread in samples.threads:
        np.add.at(firings, thread.visits.actor, thread.visits.firings.astype(np.int64))
        assert (thread.visits.firings > 0).all()
        assert (thread.visits.end >= thread.visits.start).all()
        assert (thread.visits.start[1:] >= thread.visits.end[:-1]).all()
        assert (thread.fruitless.least <= thread.fruitless.most).all()
        check_what_lies_between(thread, alone=len(samples.threads) == 1)
    assert firings.tolist() == [sum(map(int, x.split()[1:])) for x in lines if x.startswith("actions")]
    ids = np.array([x.split()[1:] for x in lines if x.startswith("trace")][SINK], dtype=int)
    timed = np.sort(np.concatenate([t.singles.firing for t in samples.threads]))
    assert timed.tolist() == np.flatnonzero(ids == FOUR).tolist()


def test_the_plain_program_notes_nothing(tmp_path: Path) -> None:
    output_of(fan(), "fan", "64", "0", "-", str(tmp_path / "raw"))
    assert not (tmp_path / "raw").exists()


@pytest.mark.parametrize("mapping", ["-", "1:1:0,1/0:1:2,3"])
def test_visits_are_noted_in_turns(tmp_path: Path, mapping: str) -> None:
    """One visit in eight, two in a row, each with its place in the trace of its actor."""
    program, path = fan(timed=True), tmp_path / "raw"
    samples, whole = (
        read_samples(path, actors=4)
        for every in ("8", "1")
        if output_of(program, "fan", "64", "0", mapping, str(path), every)
    )
    assert (samples.every, whole.every) == (8, 1)
    for thread, other in zip(samples.threads, whole.threads, strict=True):
        visits = thread.visits
        # Of how many visits the firings are is chance where two threads run, how many firings there are is not.
        assert 0 < visits.firings.sum() < other.visits.firings.sum() / 3
        assert not thread.fruitless.visits.any()
        assert visits.follows[1::2].all(), "the second of two visits follows"
        assert not visits.follows[::2].any()
        assert visits.apart[::2].all(), "nothing is known of what lies before the first of two"
        for actor in range(4):
            mine = visits.actor == actor
            first, firings = visits.first[mine].astype(np.int64), visits.firings[mine].astype(np.int64)
            assert (first[1:] >= (first + firings)[:-1]).all(), "places in the trace only grow"
