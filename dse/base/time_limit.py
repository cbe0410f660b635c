"""A limit of wall time that holds for everything the main thread does, by an alarm of the operating system.

What looks at the clock itself ends by itself; the alarm, a moment later, is for what does not: an action that never
ends, the set-up of a search over thousands of actors, one estimate of a trace of many million firings. It raises
``TimeSpent`` in the main thread, in the way of an interrupt by the user. Compiled code is to be called by
``dse.base.apart``, else the alarm waits for its end.
"""

import signal
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType

GRACE_SECONDS = 0.5
"""The alarm comes so long behind the limit: what looks at the clock has ended by then."""
AGAIN_SECONDS = 5.0
"""It comes again where the first one was lost, as in a callback of a library."""
_HAS_ALARM = hasattr(signal, "setitimer")


class TimeSpent(BaseException):
    """The time is over. No ``Exception``, so that nobody takes it for an error of what just happened to run."""


class TimeLimit:
    """A number of seconds from now on, or none. Knows what the time went for."""

    def __init__(self, seconds: float | None, clock: Callable[[], float] = time.perf_counter) -> None:
        self.seconds = seconds
        self._clock = clock
        self._started = clock()
        self._uncounted = 0.0
        self._armed = False
        self._stages: list[tuple[str, float]] = [("starting", 0.0)]

    @property
    def spent(self) -> float:
        """Seconds since the beginning that count."""
        return self._clock() - self._started - self._uncounted

    @property
    def left(self) -> float | None:
        """Seconds until the limit, below 0 behind it; None without a limit."""
        return None if self.seconds is None else self.seconds - self.spent

    def check(self) -> None:
        """Raise ``TimeSpent`` where the time is over."""
        if self.left is not None and self.left <= 0:
            raise TimeSpent

    def stage(self, what: str) -> None:
        """Note what is done from now on; what stands behind a colon tells only how far it is."""
        what = what.partition(":")[0]
        if what == self._stages[-1][0]:
            return
        self._stages.append((what, self.spent))

    def longest_stage(self) -> tuple[str, float]:
        """Return what took the most time until now, and its seconds."""
        ends = [begin for _, begin in self._stages[1:]] + [self.spent]
        return max(
            ((what, end - begin) for (what, begin), end in zip(self._stages, ends, strict=True)),
            key=lambda stage: stage[1],
        )

    @contextmanager
    def uncounted(self) -> Iterator[None]:
        """Take the time of what is done inside for nothing, and let no alarm disturb it."""
        begin, armed = self._clock(), self._armed
        self._disarm()
        try:
            yield
        finally:
            self._uncounted += self._clock() - begin
            if armed:
                self._arm()

    @contextmanager
    def enforced(self) -> Iterator[None]:
        """Raise ``TimeSpent`` in what is done inside when the time is over.

        The alarm works in the main thread, on systems that have one; elsewhere only ``check`` ends anything.
        """
        self.check()
        if self.seconds is None or not _HAS_ALARM or threading.current_thread() is not threading.main_thread():
            yield
            return
        before = signal.signal(signal.SIGALRM, self._ring)
        self._arm()
        try:
            yield
        finally:
            self._disarm()
            signal.signal(signal.SIGALRM, before)

    def _arm(self) -> None:
        assert self.left is not None, "only a limit is armed"
        self._armed = True
        signal.setitimer(signal.ITIMER_REAL, max(0.001, self.left + GRACE_SECONDS), AGAIN_SECONDS)

    def _disarm(self) -> None:
        armed, self._armed = self._armed, False
        if armed:
            signal.setitimer(signal.ITIMER_REAL, 0)

    def _ring(self, _signal: int, _frame: FrameType | None) -> None:
        if self._armed:  # not one that was under way when the alarm was put off
            raise TimeSpent
