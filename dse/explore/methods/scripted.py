"""Methods written as one generator: it yields the candidates that it wants to know and is sent their evaluations.

``Scripted`` does the rest of the ask/tell seam: candidates that the method already knows are not asked for again, a
long batch is cut to what the caller takes, and a method that learns nothing new any more comes to an end.
"""

import abc
from collections.abc import Generator, Sequence
from typing import TypeAlias

from dse.explore.method import SearchContext
from dse.explore.space.space import Candidate
from dse.model.design_point import DesignPoint
from dse.model.study import Evaluation

Script: TypeAlias = Generator[Sequence[Candidate], list[Evaluation], None]
"""Yields batches of candidates, is sent their evaluations in that order. An empty batch only lets the clock be read."""


class Scripted(abc.ABC):
    """A search method whose ``_script`` is a generator."""

    exact = False
    """Whether a search that this method ends has proven its best point to be the best of the space."""
    ceiling: int | None = None
    """See ``SearchMethod``; a script that does not need every makespan sets it before it yields."""
    patience: int | None = 300
    """So many batches in a row without an unknown candidate end the search: the space is as good as exhausted."""

    def __init__(self, context: SearchContext) -> None:
        self._context = context
        self._space = context.space
        self._known: dict[Candidate, Evaluation] = {}
        self._batch: Sequence[Candidate] = ()
        self._waiting: list[Candidate] = []
        self._asked: list[Candidate] = []
        self._running: Script | None = None
        self._stale = 0
        self._done = False
        self._pruned = 0
        self._proven = 0

    @abc.abstractmethod
    def _script(self) -> Script:
        """Return the generator of the method."""

    @property
    def done(self) -> bool:
        """Whether the script ended, nothing unknown is left, or nothing new was found for long."""
        return self._done

    @property
    def asked(self) -> Sequence[Candidate]:
        """The candidates last asked for."""
        return self._asked

    @property
    def pruned(self) -> int:
        """The number of points that the script left out because their bound excludes them."""
        return self._pruned

    @property
    def proven(self) -> int:
        """A makespan that no point of the space can beat, as far as the search has proven it; 0 says nothing."""
        return self._proven

    def ask(self, n: int) -> Sequence[DesignPoint]:
        """Return the next unknown candidates of the script as points; none when it ended or only took its time."""
        paused = False
        while not self._waiting and not self._done and not paused:
            paused = self._advance()
        self._asked, self._waiting = self._waiting[:n], self._waiting[n:]
        return [self._space.to_point(candidate) for candidate in self._asked]

    def tell(self, results: Sequence[Evaluation]) -> None:
        """Note the evaluations; the script goes on when its whole batch is known."""
        self._known.update(zip(self._asked, results, strict=False))

    def _advance(self) -> bool:
        """Run the script to its next batch; returns whether it only paused."""
        try:
            if self._running is None:
                self._running = self._script()
                self._batch = next(self._running)
            else:
                self._batch = self._running.send([self._known[candidate] for candidate in self._batch])
        except StopIteration:
            self._done = True
            return False
        self._waiting = [c for c in dict.fromkeys(self._batch) if not self._suffices(c)]
        unknown = any(c not in self._known for c in self._waiting)
        self._stale = 0 if unknown else self._stale + 1
        self._done = self.patience is not None and self._stale > self.patience
        if len(self._known) >= self._space.size:
            self._done = True
        return not self._batch

    def _suffices(self, candidate: Candidate) -> bool:
        """Return whether a candidate is known well enough: exactly, or cut above what the script needs now."""
        known = self._known.get(candidate)
        return known is not None and (not known.cut or (self.ceiling is not None and known.makespan > self.ceiling))
