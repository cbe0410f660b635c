"""What every atomic model of the DEVS formalism has (Zeigler; figure 3 of the paper shows the four kinds used here).

An atomic model is state; a time advance; an output function, which sends on output ports just before an internal
transition; an internal transition, made when the time advance has passed; and external transitions, made when something
arrives on an input port. Here one method an input port is one external transition, an output port is an attribute that
the coupled model sets to input ports of other models, and a reply of the same instant is a return value. Output
function and internal transition are one call, ``internal``: nothing can happen between them.
"""

from typing import Protocol

PASSIVE = -1
"""The time advance of a model that waits for input only (infinity in the formalism)."""


class Atomic(Protocol):
    """An atomic model with time of its own."""

    key: tuple[int, int]
    """(partition, actor) or (link server, 0): orders the models that are imminent in one phase."""

    def time_advance(self, now: int) -> int:
        """Return the ticks until the next internal transition, or ``PASSIVE``."""

    def internal(self, now: int) -> None:
        """Send what the state has to send and pass to the next state."""
