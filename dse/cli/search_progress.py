"""How far a search is: the best makespan, how far it is from the proven bound, the budget and the time that is left."""

import sys
import time
from collections.abc import Callable

from dse.base.numbers import short_count
from dse.explore.evaluator import Budget, Progress
from dse.report.quantities import time_text

LINE_SECONDS = 5.0
"""Off a terminal there is a line about so often."""
FOREVER = 10**15
"""A search of more evaluations never ends; the number of points of a space need not fit a float."""


def progress_text(progress: Progress, budget: Budget, points: int) -> str:
    """Return in a line how far a search of a space of so many points is."""
    total = points if budget.evaluations is None else min(budget.evaluations, points)
    parts = [f"{progress.evaluations:,} of at most {short_count(total)} mappings"]
    if progress.best is None:
        parts.append("none without deadlock yet" if progress.deadlocks else "none estimated yet")
    else:
        best = f"best {time_text(progress.best, progress.tick_unit)}"
        if progress.bound:
            best += f" (+{100 * (progress.best / progress.bound - 1):.1f} % to bound)"
        parts.append(best)
    left = seconds_left(progress, budget, total)
    if left is not None:
        parts.append(f"at most {_duration(left)} left")
    return ", ".join(parts)


def seconds_left(progress: Progress, budget: Budget, total: int) -> float | None:
    """Return the seconds that a search goes on at its pace, at most; None where nobody can tell yet."""
    found = []
    if progress.evaluations and progress.seconds > 0:
        left = min(FOREVER, max(0, total - progress.evaluations))
        found.append(left * progress.seconds / progress.evaluations)
    if budget.seconds is not None:
        found.append(max(0.0, budget.seconds - progress.seconds))
    return min(found, default=None)


def _duration(seconds: float) -> str:
    if seconds < 100:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 6000 else f"{min(seconds / 3600, 10**6):,.0f} h"


class SearchLines:
    """Prints a line on standard error every few seconds."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._last = clock()

    def show(self, text: str) -> None:
        """Print a line, unless there was one just now."""
        now = self._clock()
        if now - self._last >= LINE_SECONDS:
            self._last = now
            print(f"searching: {text}", file=sys.stderr, flush=True)
