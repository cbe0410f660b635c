"""What a run tells of control that depends on data: how often loops went round, and how often branches were taken."""

from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import TypeAlias

from dse.base.source import Span
from dse.program.ir import ForEach, If, While

LoopKey: TypeAlias = tuple[Span, str]
"""A loop of an actor: its place, and its variable as the user wrote it ("" for a ``while``); ``if`` for a branch."""
Rounds: TypeAlias = Mapping[LoopKey, Fraction]
"""The mean rounds of the loops of one instance, over the times that they were entered; those never entered lack.

Of a branch: the share of the times that it was taken, to a 16th, so that instances which do alike are alike.
"""
BRANCH = "if"
"""Keyword of CAL, so that no variable of a loop has this name."""
_SHARES = 16


def loop_key(statement: ForEach | While | If) -> LoopKey:
    """Return what names a loop or branch, whatever its routine is called for and its variable was renamed to."""
    match statement:
        case ForEach():
            return statement.span, statement.variable.source_name
        case While():
            return statement.span, ""
        case If():
            return statement.span, BRANCH


def mean_rounds(loops: Sequence[LoopKey], counts: Sequence[int]) -> Rounds:
    """Return the mean rounds of the counted loops that were entered; ``counts``: entries and rounds, alternating."""
    pairs = zip(loops, counts[::2], counts[1::2], strict=True)
    return {loop: _mean(loop, turns, entries) for loop, entries, turns in pairs if entries}


def _mean(loop: LoopKey, turns: int, entries: int) -> Fraction:
    return (
        Fraction(round(Fraction(_SHARES * turns, entries)), _SHARES) if loop[1] == BRANCH else Fraction(turns, entries)
    )


def share_taken(branch: If, rounds: Rounds) -> Fraction:
    """Return the share of the times that a branch is taken: as in the run, else half."""
    return rounds.get(loop_key(branch), Fraction(1, 2))
