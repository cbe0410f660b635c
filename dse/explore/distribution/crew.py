"""Those who walk the legs of a search: hands elsewhere, one thread here for each, and this thread while it waits.

A leg is a quarter of a second and more of work that needs nothing from here, and its proposals are made where it is
walked. Legs are handed back in the order of their numbers. Which hand walks which leg changes nothing in it, and one
whose hand is lost is walked by somebody else.
"""

import threading
from collections import Counter
from collections.abc import Callable, Sequence
from typing import Protocol

from dse.explore.distribution.leg_run import LegRun
from dse.explore.evaluator import Estimator
from dse.explore.method import SearchContext
from dse.explore.methods.improving.leg import Leg, LegOutcome
from dse.model.study import Evaluation

LOOK_SECONDS = 0.1
"""So often somebody who waits for a leg looks at the clock."""


class HandLost(Exception):
    """Raised by a hand that can walk no more legs; the one that it had is walked again."""


class Hand(Protocol):
    """Walks legs elsewhere."""

    def begin(self) -> None:
        """Get ready, which may take long; where that was done, do nothing. Raises ``HandLost``."""

    def walk(self, leg: Leg) -> LegOutcome:
        """Walk a leg. Raises ``HandLost``, or a ``DseError`` that is to end the search."""

    def close(self) -> None:
        """Stop at once, also while it walks: nobody waits for what it does any more."""


class Crew:
    """Walks legs. ``estimate``: makes estimates here. ``walks``: whether this thread takes legs too. Close it.

    A hand stands among ``hands`` as often as it may have legs at a time: a thread here serves each.
    """

    def __init__(
        self,
        context: SearchContext,
        estimate: Estimator,
        hands: Sequence[Hand],
        *,
        clock: Callable[[], float],
        walks: bool = True,
    ) -> None:
        self._context, self._estimate, self._clock = context, estimate, clock
        self._hands, self._walks = hands, walks
        self._threads: list[threading.Thread] = []
        self._change = threading.Condition()
        self._waiting: dict[int, Leg] = {}
        self._found: dict[int, LegOutcome] = {}
        self._error: BaseException | None = None
        self._busy = Counter[int]()
        """The legs that each hand has, by its ``id``."""
        self._at_work = 0
        """Hands that are not lost."""
        self._closed = False
        self._own: tuple[Leg, LegRun] | None = None
        """The leg that this thread walks."""
        self._behind: int | None = None
        self._replays = False
        self._stored: Callable[[str], Evaluation | None] = lambda _: None

    def replay(self, stored: Callable[[str], Evaluation | None]) -> None:
        """Take evaluations from an earlier part of the search, until a leg needs one that is not there."""
        self._stored, self._replays = stored, True

    def get_ready(self) -> None:
        """Have the hands begin; what they need until they can walk goes on beside."""
        if self._threads or self._closed:
            return
        self._at_work = len(self._hands)
        for hand in self._hands:
            thread = threading.Thread(target=self._serve, args=(hand,), name="dse-hand", daemon=True)
            self._threads.append(thread)
            thread.start()

    def give(self, leg: Leg) -> None:
        """Have a leg walked."""
        with self._change:
            self._waiting[leg.number] = leg
            self._change.notify_all()

    def hold(self, behind: int | None) -> None:
        """Begin no leg from this number on: the budget is likely to end before it. None: begin all."""
        with self._change:
            self._behind = behind
            self._change.notify_all()

    def outcome(self, number: int, is_late: Callable[[], bool]) -> LegOutcome | None:
        """Return what came of a leg; where it is late, what this thread has of it, or None.

        Raises: what a hand raised.
        """
        while (outcome := self._taken(number)) is None:
            if is_late():
                return self._begun(number)
            if self._own is not None or self._begin_own():
                self._go_on()
            else:
                self._wait_for(number)
        return outcome

    def _taken(self, number: int) -> LegOutcome | None:
        """Return a leg that has come to its end, None where it has not. Raises what a hand raised."""
        with self._change:
            if self._error is not None:
                raise self._error
            return self._found.pop(number, None)

    def _begun(self, number: int) -> LegOutcome | None:
        """Return what this thread has of a leg, None where it is not the one that it walks."""
        return self._own[1].outcome() if self._own is not None and self._own[0].number == number else None

    def _wait_for(self, number: int) -> None:
        with self._change:
            if number not in self._found and self._error is None:
                self._change.wait(LOOK_SECONDS)

    def close(self) -> None:
        """Stop all; what is under way is lost."""
        with self._change:
            self._closed = True
            self._waiting.clear()
            self._change.notify_all()
        for hand in self._hands:
            hand.close()
        for thread in self._threads:
            thread.join(timeout=1.0)

    @property
    def _may_begin(self) -> bool:
        """Whether a leg waits that is to be walked."""
        return bool(self._waiting) and (self._behind is None or min(self._waiting) < self._behind)

    def _begin_own(self) -> bool:
        """Set out on the first leg that waits; returns whether there was one for this thread."""
        with self._change:
            if not self._may_begin or not (self._walks or self._replays or not self._at_work):
                return False
            leg = self._waiting.pop(min(self._waiting))
        self._own = leg, LegRun(leg, self._context, self._estimate, self._clock, self._stored)
        return True

    def _go_on(self) -> None:
        assert self._own is not None, "a leg was begun"
        leg, run = self._own
        run.step()
        if not run.done:
            return
        self._own = None
        with self._change:
            self._found[leg.number] = run.outcome()
            if run.simulated and self._replays:
                self._replays = False
                self._change.notify_all()

    # In the thread of a hand ------------------------------------------------------------------------------------------

    def _serve(self, hand: Hand) -> None:
        leg: Leg | None = None
        try:
            hand.begin()
            while (leg := self._next(hand)) is not None:
                outcome = hand.walk(leg)
                with self._change:
                    self._found[leg.number] = outcome
                    self._busy[id(hand)] -= 1
                    self._change.notify_all()
        except HandLost:
            self._lose(leg, None)
        except BaseException as error:  # raised again by the thread that waits for legs
            self._lose(leg, error)

    def _next(self, hand: Hand) -> Leg | None:
        """Return the first leg that waits; None when there will be none.

        A hand that walks one gets the next one ahead, but not the last one that waits: this thread would have none.
        """
        with self._change:
            while not self._closed and (
                not self._may_begin or self._replays or (self._busy[id(hand)] and len(self._waiting) == 1)
            ):
                self._change.wait()
            if self._closed:
                return None
            self._busy[id(hand)] += 1
            return self._waiting.pop(min(self._waiting))

    def _lose(self, leg: Leg | None, error: BaseException | None) -> None:
        with self._change:
            self._at_work -= 1
            if self._closed:
                return
            if leg is not None and leg.number not in self._found:
                self._waiting[leg.number] = leg
            self._error = self._error or error
            self._change.notify_all()
