"""Methods that go on in legs: parts of a search that can be walked anywhere, several at a time.

A leg that has set out is told nothing more. Which legs may set out follows from how many have been taken, and they are
taken in the order of their numbers, so that no result depends on who walks them, nor on how long anybody takes.
"""

from typing import Protocol, runtime_checkable

from dse.explore.methods.improving.leg import Leg, LegOutcome


@runtime_checkable
class InLegs(Protocol):
    """What such a method offers beside ``SearchMethod``, where its context has ``legs``."""

    @property
    def legs_soon(self) -> bool:
        """Whether it has legs, or will: whoever walks them may get ready."""

    @property
    def awaited(self) -> int | None:
        """The number of the leg that is to be taken next; None where the method is to be asked instead."""

    def next_leg(self) -> Leg | None:
        """Return the next leg that may set out, None where none may now. To be called until it returns None."""

    def take(self, outcome: LegOutcome) -> None:
        """Take a complete leg, that with the number of ``awaited``."""
