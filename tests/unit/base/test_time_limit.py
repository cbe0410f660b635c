"""A limit of time ends what does not look at the clock, compiled code too, and only where it is in force."""

import signal
import threading
import time
from collections.abc import Callable

import numpy as np
import pytest

from dse.base.apart import apart
from dse.base.time_limit import TimeLimit, TimeSpent

LONG = 60.0


def endless() -> None:
    while True:
        pass


def waiting() -> None:
    threading.Event().wait(LONG)


def swallowing() -> None:
    """Lose the first alarm, as a callback of a library does."""
    try:
        endless()
    except TimeSpent:
        endless()


@pytest.mark.parametrize("doing", [endless, waiting, lambda: apart(waiting), swallowing])
def test_what_does_not_end_is_ended(doing: Callable[[], None], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("dse.base.time_limit.AGAIN_SECONDS", 0.2)
    limit, begin = TimeLimit(0.1), time.perf_counter()
    with pytest.raises(TimeSpent), limit.enforced():
        doing()
    assert time.perf_counter() - begin < LONG / 2
    assert signal.getitimer(signal.ITIMER_REAL) == (0.0, 0.0)
    assert signal.getsignal(signal.SIGALRM) is signal.SIG_DFL


def test_a_limit_that_is_over_lets_nothing_begin() -> None:
    now = [0.0]
    limit = TimeLimit(1.0, clock=lambda: now[0])
    now[0] = 1.0
    with pytest.raises(TimeSpent), limit.enforced():
        pytest.fail("it began")


def test_no_limit_and_other_threads_are_left_alone() -> None:
    seen: list[str] = []

    def inside(limit: TimeLimit) -> None:
        with limit.enforced():
            seen.append(str(signal.getitimer(signal.ITIMER_REAL)))

    inside(TimeLimit(None))
    thread = threading.Thread(target=inside, args=(TimeLimit(LONG),))
    thread.start()
    thread.join()
    assert seen == ["(0.0, 0.0)"] * 2


def test_what_does_not_count_is_not_disturbed() -> None:
    now = [0.0]
    limit = TimeLimit(10.0, clock=lambda: now[0])
    with limit.enforced():
        with limit.uncounted():
            assert signal.getitimer(signal.ITIMER_REAL) == (0.0, 0.0)
            now[0] += 100.0
        assert 0 < signal.getitimer(signal.ITIMER_REAL)[0] <= 11
        assert limit.spent == 0.0
        now[0] += 4.0
        assert limit.left == 6.0


def test_the_longest_stage_is_told() -> None:
    now = [0.0]
    limit = TimeLimit(10.0, clock=lambda: now[0])
    for stage, seconds in (("reading", 1.0), ("running: 10", 2.0), ("running: 20", 2.5), ("bounding", 3.0)):
        limit.stage(stage)
        now[0] += seconds
    assert limit.longest_stage() == ("running", 4.5)
    assert limit.spent == 8.5


def test_a_call_apart_returns_raises_and_is_made_in_place_elsewhere() -> None:
    assert apart(lambda: 7) == 7
    with pytest.raises(ValueError, match="wrong"):
        apart(lambda: int("wrong"))
    here = threading.current_thread()
    assert (
        apart(threading.current_thread) is apart(threading.current_thread) is not here
    )  # solvers keep state by thread
    found: list[bool] = []
    thread = threading.Thread(
        target=lambda: found.append(apart(threading.current_thread) is threading.current_thread())
    )
    thread.start()
    thread.join()
    assert found == [True]


def test_a_call_that_was_left_is_told_to_stop_and_does_not_hold_up_the_next() -> None:
    stop = np.zeros(1)
    ended = threading.Event()

    def until_stopped() -> None:
        while not stop[0]:
            time.sleep(0.01)
        ended.set()

    with pytest.raises(TimeSpent), TimeLimit(0.05).enforced():
        apart(until_stopped, lambda: stop.fill(1))
    assert apart(lambda: 1) == 1
    assert ended.wait(LONG)
