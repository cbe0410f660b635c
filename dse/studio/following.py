"""Live view of a search that another process makes: its store of evaluations, looked at again and again.

A search with ``dse explore`` commits to ``study.sqlite`` in the folder of its results at least every fifth of a second.
The file is looked at past its lock (``glimpse_study``); between two looks at least ten times as long goes by as one
takes, so that a long search is not slowed down by its viewers.
"""

import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from dse.formats.study_file import StoredStudy, glimpse_study, is_written
from dse.model.design_point import DesignPoint
from dse.model.estimate import TickUnit
from dse.model.study import Evaluation

SECONDS = 1.0
"""So long between two looks, at least."""
_SHARE = 10
MOST_STEPS = 500
"""So many improvements of the best-so-far curve are told; of more, every second one and so on."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Followed:
    """What a search has found so far. ``steps``: (number of evaluations, best makespan in ticks) at improvements.

    ``same``: it searches the problem of the page: trace, weights and platform are equal. ``point``: its best.
    ``running``: it has not ended yet.
    """

    evaluations: int
    deadlocks: int
    steps: tuple[tuple[int, int], ...]
    tick_unit: TickUnit
    point: DesignPoint | None
    same: bool
    running: bool


class Follower:
    """Looks at a study file in a thread of its own and tells what is new in it. Close it after use."""

    def __init__(self, path: Path, identity: dict[str, str], told: Callable[[Followed], None]) -> None:
        self._path = path
        self._identity = identity
        self._told = told
        self._end = threading.Event()
        self._seen: tuple[int, int, int, bool] | None = None
        """File, time of its last change, size, and whether a search was writing it."""
        self._thread = threading.Thread(target=self._run, name="dse-studio-follower", daemon=True)
        self._thread.start()

    def close(self) -> None:
        """End the thread."""
        self._end.set()
        self._thread.join(2.0)

    def _run(self) -> None:
        pause = 0.0
        while not self._end.wait(pause):
            started = time.monotonic()
            self._look()
            pause = max(SECONDS, _SHARE * (time.monotonic() - started))

    def _look(self) -> None:
        try:
            found = self._path.stat()
        except OSError:
            return
        running = is_written(self._path)
        now = (found.st_ino, found.st_mtime_ns, found.st_size, running)
        if now == self._seen:
            return
        stored = glimpse_study(self._path)
        if stored is not None:
            self._seen = now
            self._told(followed(stored, self._identity, running=running))


def followed(stored: StoredStudy, identity: dict[str, str], *, running: bool) -> Followed:
    """Return what a study says. ``identity``: what of its identity makes it one of the page's problem."""
    improvements = _improvements(stored.evaluations)
    best = improvements[-1][1] if improvements else None
    return Followed(
        evaluations=len(stored.evaluations),
        deadlocks=sum(e.deadlock for e in stored.evaluations),
        steps=_steps(improvements),
        tick_unit="ps" if best is None else best.tick_unit,
        point=None if best is None else best.point,
        same=all(stored.identity.get(key) == value for key, value in identity.items()),
        running=running,
    )


def _steps(improvements: Sequence[tuple[int, Evaluation]]) -> tuple[tuple[int, int], ...]:
    """Return number and makespan of improvements; of many some, and the last one."""
    steps = [(number, evaluation.makespan) for number, evaluation in improvements]
    while len(steps) > MOST_STEPS:
        steps = [*steps[:-1:2], steps[-1]]
    return tuple(steps)


def _improvements(evaluations: Sequence[Evaluation]) -> list[tuple[int, Evaluation]]:
    """Return the evaluations that were better than all before them, each behind its number, counted from 1."""
    found = list[tuple[int, Evaluation]]()
    for number, evaluation in enumerate(evaluations, start=1):
        complete = not evaluation.deadlock and not evaluation.cut
        if complete and (not found or evaluation.makespan < found[-1][1].makespan):
            found.append((number, evaluation))
    return found
