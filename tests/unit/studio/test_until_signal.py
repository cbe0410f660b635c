"""Signals to what serves: handled when its loop has ended, whatever they came to."""

import asyncio
import os
import signal
import threading
from collections.abc import Iterator
from types import FrameType

import pytest

from dse.studio.until_signal import serve_until_signal


@pytest.fixture(autouse=True)
def handled() -> Iterator[list[int]]:
    """Return the numbers of the signals that the program has handled, by raising as it does."""
    numbers: list[int] = []

    def raising(number: int, _frame: FrameType | None) -> None:
        numbers.append(number)
        raise KeyboardInterrupt

    former = {number: signal.signal(number, raising) for number in (signal.SIGINT, signal.SIGTERM)}
    yield numbers
    for number, handler in former.items():
        signal.signal(number, handler)


class Served:
    """Something that serves, and what became of it."""

    def __init__(self) -> None:
        self.steps: list[str] = []

    async def run(self, *signals: int) -> None:
        """Take signals within a step, then wait for ever."""
        try:
            for number in signals:
                os.kill(os.getpid(), number)
            self.steps.append("the step came to its end")
            await asyncio.Event().wait()
        finally:
            await asyncio.sleep(0)
            self.steps.append("closed")


@pytest.mark.parametrize("signals", [(signal.SIGINT,), (signal.SIGTERM,), (signal.SIGTERM, signal.SIGINT)])
def test_a_signal_within_a_step(signals: tuple[int, ...], handled: list[int]) -> None:
    served = Served()
    with pytest.raises(KeyboardInterrupt):
        serve_until_signal(served.run(*signals))
    assert served.steps == ["the step came to its end", "closed"]
    assert handled == [signals[0]]


def test_a_signal_while_the_loop_waits(handled: list[int]) -> None:
    served = Served()
    timer = threading.Timer(0.2, os.kill, (os.getpid(), signal.SIGINT))
    timer.start()
    with pytest.raises(KeyboardInterrupt):
        serve_until_signal(served.run())
    assert (served.steps[-1], handled) == ("closed", [signal.SIGINT])


def test_what_ends_by_itself_leaves_signals_as_they_were(handled: list[int]) -> None:
    former = signal.getsignal(signal.SIGINT)

    async def short() -> None:
        assert signal.getsignal(signal.SIGINT) is not former

    serve_until_signal(short())
    assert signal.getsignal(signal.SIGINT) is former
    assert handled == []


def test_an_error_of_what_serves_comes_through(handled: list[int]) -> None:
    async def broken() -> None:
        raise OSError("broken")

    with pytest.raises(OSError, match="broken"):
        serve_until_signal(broken())
    assert handled == []


def test_signals_that_are_ignored_stay_ignored(handled: list[int]) -> None:
    signal.signal(signal.SIGTERM, signal.SIG_IGN)

    async def short() -> None:
        os.kill(os.getpid(), signal.SIGTERM)

    serve_until_signal(short())
    assert signal.getsignal(signal.SIGTERM) is signal.SIG_IGN
    assert handled == []


def test_in_another_thread_signals_are_nothing_of_ours(handled: list[int]) -> None:
    seen: list[object] = []

    async def short() -> None:
        seen.append(signal.getsignal(signal.SIGINT))

    former = signal.getsignal(signal.SIGINT)
    thread = threading.Thread(target=serve_until_signal, args=(short(),))
    thread.start()
    thread.join()
    assert (seen, handled) == ([former], [])
