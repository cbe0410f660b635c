"""How far a run is, on standard error: one line of a terminal that changes, elsewhere a line now and then."""

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from dse.cli.streams import progress_line
from dse.cli.timing import note_stage
from dse.flows.execution import BUILDING
from dse.flows.program import RUNNING, told_firings

_FIRST_LINE_SECONDS = 30.0
_OF_RUNS = (RUNNING, BUILDING)
EVERY_STAGE = ("",)
"""How all stages begin: for what takes long in many of them."""


class RunLine:
    """Shows stages that begin with some words.

    Off a terminal the first line comes when such stages have taken half a minute. The time between lines doubles each
    time: a run that never ends says so, and how to end it, without filling a log.
    """

    def __init__(self, beginnings: tuple[str, ...] = _OF_RUNS) -> None:
        self._beginnings = beginnings
        self._terminal = sys.stderr.isatty()
        self._started: float | None = None
        self._wait = _FIRST_LINE_SECONDS
        self._shown = False

    def show(self, stage: str) -> None:
        """Show a stage; one that begins otherwise takes the line away."""
        note_stage(stage)
        if not stage.startswith(self._beginnings):
            self._started = None
            self.clear()
            return
        if self._started is None:
            self._started = time.monotonic()
        if self._terminal:
            self._shown = True
            progress_line(stage)
        elif time.monotonic() - self._started >= self._wait:
            self._wait *= 2
            advice = "; --max-firings N ends it" if stage.startswith(RUNNING) else ""
            print(f"{stage}{advice}", file=sys.stderr, flush=True)

    def clear(self) -> None:
        """Take the line away, so that what follows begins a line of its own."""
        if self._shown:
            self._shown = False
            progress_line("")


class FiringLines:
    """Shows the firings of ``dse run``: as ``RunLine`` on a terminal, else one line for about a million."""

    def __init__(self, line: RunLine) -> None:
        self._tell = told_firings(line.show)
        self._terminal = sys.stderr.isatty()
        self._shown = 0

    def __call__(self, firings: int) -> None:
        """Hear how many firings there were."""
        if self._terminal:
            self._tell(firings)
        elif firings - self._shown >= 1 << 20:
            self._shown = firings
            print(f"{firings} firings", file=sys.stderr)


@contextmanager
def run_line(beginnings: tuple[str, ...] = _OF_RUNS) -> Iterator[RunLine]:
    """Yield a line that is taken away at the end of the block, whatever ends it; ``beginnings``: as ``RunLine``."""
    line = RunLine(beginnings)
    try:
        yield line
    finally:
        line.clear()


def noted(listener: Callable[[str], None]) -> Callable[[str], None]:
    """Return a listener to stages that tells them to ``-v``, too."""

    def heard(stage: str) -> None:
        note_stage(stage)
        listener(stage)

    return heard


@contextmanager
def stage_line(*, quiet: bool) -> Iterator[Callable[[str], None]]:
    """Yield a listener to stages: a line of a terminal that changes and is taken away at the end; elsewhere nothing."""
    shown = not quiet and sys.stderr.isatty()
    try:
        yield noted(progress_line if shown else lambda _stage: None)
    finally:
        if shown:
            progress_line("")
