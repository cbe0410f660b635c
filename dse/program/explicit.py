"""Actors with nothing left implied: what every backend prints (``dse/passes/rewrites`` makes them).

In an explicit actor each conversion, bounds check, list copy, token access and choice of an action is a node; what is
not there need not happen. Expressions are still evaluated in unbounded integers: how wide an intermediate result may
grow is told by ``dse/passes/analyses/ranges.py``. An explicit actor belongs to one way of being connected.
"""

from dataclasses import dataclass
from typing import TypeAlias

from dse.base.source import NO_SPAN, Span
from dse.program.ir import Actor, Expr, ReadTokens, Routine, Stmt, Variable
from dse.program.types import Type


@dataclass(frozen=True, slots=True)
class Wiring:
    """How an instance is connected, as far as its meaning depends on it. Instances of one wiring share their code."""

    inputs: tuple[Type | None, ...]
    """Type of the tokens that arrive, or None for an unconnected input."""
    loops: tuple[tuple[int, int], ...]
    """(input, output) pairs of connections from the actor to itself."""
    fan_outs: tuple[int, ...]
    """Number of readers of each output."""
    accesses: bool = False
    """Whether guard and state accesses are recorded."""
    rounds: bool = False
    """Whether the rounds of loops are counted."""


# The choice of an action ----------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Need:
    """So many tokens on an input, or room for so many tokens on an output."""

    port: int
    tokens: int


@dataclass(frozen=True, slots=True)
class HasTokens:
    """Whether all these inputs hold that many tokens."""

    needs: tuple[Need, ...]


@dataclass(frozen=True, slots=True)
class HasRoom:
    """Whether all these outputs have room for that many tokens at each of their readers."""

    needs: tuple[Need, ...]


@dataclass(frozen=True, slots=True)
class Guard:
    """Whether the guards of an action hold: all of ``conditions``, in order, until one fails."""

    action: int
    conditions: tuple[Expr, ...]


Condition: TypeAlias = HasTokens | HasRoom | Guard


@dataclass(frozen=True, slots=True)
class Peek:
    """Token variables that the next guard looks at take their values; nothing is consumed."""

    reads: tuple[ReadTokens, ...]


@dataclass(frozen=True, slots=True)
class When:
    """``then`` if the condition holds, else ``otherwise``; where the end of either is reached the choice goes on."""

    condition: Condition
    then: "Choice"
    otherwise: "Choice" = ()
    span: Span = NO_SPAN


@dataclass(frozen=True, slots=True)
class ByState:
    """The choice for the present state of the FSM; where its end is reached the choice goes on."""

    states: tuple["Choice", ...]


@dataclass(frozen=True, slots=True)
class Fire:
    """The action fires, and the state becomes ``target`` (None: it stays). The choice has ended."""

    action: int
    target: int | None


@dataclass(frozen=True, slots=True)
class Blocked:
    """An action was chosen but lacks room: nothing else is tried. The choice has ended."""


@dataclass(frozen=True, slots=True)
class AwaitRoom:
    """An action lacks room and the choice goes on: if nothing else fires, the actor waits for room too."""


Decision: TypeAlias = When | Peek | ByState | Fire | Blocked | AwaitRoom
Choice: TypeAlias = tuple[Decision, ...]
"""Decisions one behind the other. Where the end of a whole choice is reached, no action can fire."""


# Actors ---------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, kw_only=True)
class ExplicitActor:
    """An actor for one wiring, nothing left implied.

    ``variables`` and ``routines``: those of ``actor``, their expressions and statements explicit; constants that are
    literals stand for themselves wherever they were read, and are left out. ``firings``: for each
    action what a firing does, from the tokens it reads (those a guard has peeked are read already) to those it writes;
    None for an action that needs an unconnected input. ``start``: the choice of the initializer, made once.
    ``choice``: the choice of the next action. ``loops``: the loops that ``Count`` counts, in order (see
    ``dse.model.rounds``).
    """

    actor: Actor
    wiring: Wiring
    variables: tuple[Variable, ...]
    routines: tuple[Routine, ...]
    firings: tuple[tuple[Stmt, ...] | None, ...]
    start: Choice
    choice: Choice
    loops: tuple[tuple[Span, str], ...] = ()
