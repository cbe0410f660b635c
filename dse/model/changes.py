"""Changes of a problem that a what-if analysis tries: what would the makespan be if this were faster, or roomier?"""

from dataclasses import dataclass
from fractions import Fraction
from typing import TypeAlias


@dataclass(frozen=True, slots=True, kw_only=True)
class Faster:
    """The computing of an action, or of all actions of an actor (``action`` None), is ``speed`` times as fast.

    Its ticks are divided by the speed and rounded half up; ``speed`` None: it takes no time at all. Scheduling, reading
    and writing stay as they are.
    """

    actor: int
    action: int | None = None
    speed: Fraction | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Room:
    """A buffer has a capacity of ``tokens``."""

    buffer: int
    tokens: int


@dataclass(frozen=True, slots=True, kw_only=True)
class FreeTransfers:
    """Reading and writing a buffer takes no time; a link that it occupies is free at once."""

    buffer: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Uncontended:
    """A link serves any number of transfers at a time: nothing waits for it, transfers take what they took."""

    link: int


@dataclass(frozen=True, slots=True, kw_only=True)
class FreeLink:
    """Transfers over a link take no time."""

    link: int


Change: TypeAlias = Faster | Room | FreeTransfers | Uncontended | FreeLink
