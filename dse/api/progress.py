"""How far a long call is: a line in a notebook or on a terminal, or what a listener makes of it.

In a notebook, and at a prompt on a terminal, calls that take longer than half a second show a line that changes and
goes away at the end. A script is told nothing unless it asks, with ``progress=True`` or with a function.
"""

import sys
import time
import uuid
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Protocol, TypeAlias

from dse.base.escaping import shown
from dse.explore.evaluator import Progress as SearchProgress
from dse.flows.search.plan import SearchPlan, Watcher
from dse.model.estimate import TickUnit
from dse.report.quantities import time_text

FIRST_SECONDS, SECONDS_BETWEEN = 0.5, 0.25
PLAIN_SECONDS = 5.0
"""Between two lines where they cannot take each other's place."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ProgressReport:
    """How far a call is: the stage, and of a search the mappings estimated, out of how many at most, and the best.

    ``best``: the smallest makespan so far in ticks, None before there is one; ``bound``: no mapping takes fewer, None
    where that is not known. ``seconds``: since the call began.
    """

    stage: str
    seconds: float
    evaluations: int = 0
    most: int | None = None
    best: int | None = None
    bound: int | None = None
    tick_unit: TickUnit = "ps"

    @property
    def gap(self) -> float | None:
        """How far the best is above the bound, as a share of that; None where either is not known."""
        return None if self.best is None or not self.bound else self.best / self.bound - 1

    def __str__(self) -> str:
        parts = [self.stage]
        if self.evaluations:
            of = "" if self.most is None else f" of {self.most:,}"
            parts.append(f"{self.evaluations:,}{of} mappings")
        if self.best is not None:
            gap = "" if self.gap is None else f" (+{100 * self.gap:.1f} % to bound)"
            parts.append(f"best {time_text(self.best, self.tick_unit)}{gap}")
        return ", ".join([*parts, f"{self.seconds:.0f} s"])


Listener: TypeAlias = Callable[[ProgressReport], object]
ProgressChoice: TypeAlias = bool | Listener | None
"""What ``progress=`` takes: a function that is told; True: a line in any case; False: none; None: where one looks."""


class _Line(Protocol):
    """Where a line is shown."""

    seconds_between: float

    def show(self, text: str) -> None:
        """Show a line in the place of the one before."""

    def clear(self) -> None:
        """Take the line away."""


class _NotebookLine:
    """A line below the cell of a notebook."""

    seconds_between = SECONDS_BETWEEN

    def __init__(self, display: Callable[..., Any]) -> None:
        self._display = display
        self._id = uuid.uuid4().hex
        self._begun = False

    def show(self, text: str) -> None:
        update, self._begun = self._begun, True  # first: an interrupt may come while it is shown
        self._display({"text/plain": text}, raw=True, display_id=self._id, update=update)

    def clear(self) -> None:
        if self._begun:
            self.show("")


class _TerminalLine:
    """A line of the terminal that changes."""

    seconds_between = SECONDS_BETWEEN

    def show(self, text: str) -> None:
        sys.stderr.write(f"\r\x1b[K{shown(text)}")
        sys.stderr.flush()

    def clear(self) -> None:
        self.show("")


class _PlainLines:
    """Lines below each other, where none can take the place of another."""

    seconds_between = PLAIN_SECONDS

    def show(self, text: str) -> None:
        print(shown(text), file=sys.stderr, flush=True)

    def clear(self) -> None:
        """Leave what was shown."""


def notebook_display() -> Callable[..., Any] | None:
    """Return what shows something in the notebook that this is called from; None outside of one."""
    package = sys.modules.get("IPython")
    shell = None if package is None else package.get_ipython()
    if shell is None or not hasattr(shell, "kernel"):
        return None
    found: Callable[..., Any] = sys.modules["IPython"].display.display
    return found


def _line(progress: bool | None) -> _Line | None:
    """Return where lines are shown, None where nowhere."""
    if progress is False:
        return None
    display = notebook_display()
    if display is not None:
        return _NotebookLine(display)
    terminal = sys.stderr is not None and sys.stderr.isatty()
    if progress is None and not (terminal and _prompted()):
        return None
    return _TerminalLine() if terminal else _PlainLines()


def _prompted() -> bool:
    """Return whether somebody types at a prompt of Python or IPython."""
    return hasattr(sys, "ps1") or "IPython" in sys.modules


class Telling:
    """Tells a listener, or a line, how far one call is. Nothing that is told influences a result."""

    def __init__(self, listener: Listener | None, line: _Line | None, tick_unit: TickUnit) -> None:
        self._listener, self._line, self._tick_unit = listener, line, tick_unit
        self._started = time.perf_counter()
        self._next = self._started + FIRST_SECONDS
        self._stage = "starting"
        self._most: int | None = None
        self._search: SearchProgress | None = None

    @property
    def watcher(self) -> Watcher:
        """What a search tells."""
        return Watcher(planned=self._planned, progress=self._evaluated, stage=self.stage)

    def stage(self, what: str) -> None:
        """Hear what is done from now on."""
        self._stage = what
        self._tell()

    def _planned(self, plan: SearchPlan) -> None:
        most = plan.budget.evaluations
        self._most = plan.points if most is None else min(most, plan.points)

    def _evaluated(self, progress: SearchProgress) -> None:
        self._search = progress
        self._tell()

    def _tell(self) -> None:
        now = time.perf_counter()
        if self._listener is not None:
            listener, self._listener = self._listener, None  # one that raises, to end a search, is not called again
            listener(self._report(now))
            self._listener = listener
        elif self._line is not None and now >= self._next:
            self._next = now + self._line.seconds_between
            self._line.show(str(self._report(now)))

    def _report(self, now: float) -> ProgressReport:
        search = self._search
        return ProgressReport(
            stage=self._stage,
            seconds=now - self._started,
            evaluations=0 if search is None else search.evaluations,
            most=self._most,
            best=None if search is None else search.best,
            bound=None if search is None else search.bound,
            tick_unit=self._tick_unit,
        )

    def end(self) -> None:
        """Take the line away."""
        if self._line is not None:
            self._line.clear()


@contextmanager
def told(progress: ProgressChoice, tick_unit: TickUnit = "ps") -> Iterator[Telling]:
    """Yield what a call tells its progress to; the line is gone behind it. ``tick_unit``: of what a search reports."""
    listens = callable(progress)
    telling = Telling(
        progress if callable(progress) else None,
        None if listens else _line(bool(progress) if progress is not None else None),
        tick_unit,
    )
    try:
        yield telling
    finally:
        telling.end()
