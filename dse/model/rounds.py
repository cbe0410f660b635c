"""How often loops ran: what a run tells of the loops whose ends depend on data."""

from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import TypeAlias

from dse.base.source import Span
from dse.program.ir import ForEach, While

LoopKey: TypeAlias = tuple[Span, str]
"""A loop of an actor: its place, and its variable as the user wrote it ("" for a ``while``)."""
Rounds: TypeAlias = Mapping[LoopKey, Fraction]
"""The mean rounds of the loops of one instance, over the times that they were entered; those never entered lack."""


def loop_key(loop: ForEach | While) -> LoopKey:
    """Return what names a loop, whatever its routine is called for and whatever its variable was renamed to."""
    return loop.span, loop.variable.source_name if isinstance(loop, ForEach) else ""


def mean_rounds(loops: Sequence[LoopKey], counts: Sequence[int]) -> Rounds:
    """Return the mean rounds of the counted loops that were entered; ``counts``: entries and rounds, alternating."""
    pairs = zip(loops, counts[::2], counts[1::2], strict=True)
    return {loop: Fraction(turns, entries) for loop, entries, turns in pairs if entries}
