"""What the stages of a verb take: ``-v`` prints it at the end, ``-vv`` each stage as it begins, too; on standard error.

Listeners to stages (``dse/cli/progress.py``) tell ``note_stage``. Without ``-v`` nobody hears it.
"""

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar


class StageClock:
    """Adds up the time of stages by what they do; what follows a colon is how far they are, and no stage."""

    def __init__(self, first: str, clock: Callable[[], float] = time.perf_counter) -> None:
        self._clock = clock
        self._started = self._since = clock()
        self._stage = first
        self._spent: dict[str, float] = {}

    def note(self, what: str) -> bool:
        """Hear that a stage begins, or how far it is; return whether it is another one than before."""
        stage = what.partition(":")[0]
        if stage == self._stage or not stage:
            return False
        self._end()
        self._stage = stage
        return True

    def _end(self) -> None:
        now = self._clock()
        self._spent[self._stage] = self._spent.get(self._stage, 0.0) + now - self._since
        self._since = now

    @property
    def seconds(self) -> float:
        """The time since the start."""
        return self._clock() - self._started

    def lines(self) -> list[str]:
        """Return the seconds of each stage, in the order in which they first began, and of all."""
        self._end()
        rows = [*self._spent.items(), ("in all", self._since - self._started)]
        return [f"{seconds:9.3f} s  {stage}" for stage, seconds in rows]


_heard: ContextVar[Callable[[str], None] | None] = ContextVar("stages", default=None)


def note_stage(what: str) -> None:
    """Tell that a stage begins, or how far it is, to whom it may concern."""
    hear = _heard.get()
    if hear is not None:
        hear(what)


@contextmanager
def timed_stages(level: int) -> Iterator[None]:
    """Print the times of the stages of the block when it ends, however that is; ``level``: the number of ``-v``."""
    if not level:
        yield
        return
    clock = StageClock("importing")

    def hear(what: str) -> None:
        if clock.note(what) and level > 1:
            say_line(f"{clock.seconds:9.3f} s: {what}")

    token = _heard.set(hear)
    try:
        yield
    finally:
        _heard.reset(token)
        say_line("time of the stages:")
        for line in clock.lines():
            say_line(line)


def say_line(text: str) -> None:
    """Print a line on standard error."""
    from dse.cli.streams import say  # imported late: --help must not pay for it

    sys.stdout.flush()
    say(text, error=True)
