"""The choice of an actor's next action as a tree of tests that any backend prints (cal.md 2.3).

Candidates are tried in the order of the transitions of the present state: enough tokens, then the guard with the tokens
it looks at, then room for what is written. A chosen action that lacks room blocks the actor, unless room is part of
its condition (``schedule_outputs``). Actions that need an unconnected input are left out. Those that every state tries
first, and that change no state (the untagged ones), stand before the choice by state.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from dse.base.source import Span
from dse.program.explicit import (
    AwaitRoom,
    Blocked,
    ByState,
    Choice,
    Decision,
    Fire,
    Guard,
    HasRoom,
    HasTokens,
    Need,
    Peek,
    When,
    Wiring,
)
from dse.program.ir import Action, Actor, Const, Expr, ReadTokens, Transition


@dataclass(frozen=True, slots=True, kw_only=True)
class Trial:
    """The conditions of one action, explicit: the tokens its guards look at, and the guards."""

    peeks: tuple[ReadTokens, ...]
    guards: tuple[Expr, ...]


def first_choice(actor: Actor, wiring: Wiring, trials: Mapping[int, Trial]) -> Choice:
    """Return the choice of the ``initialize`` action: the first whose condition holds; it does not change the state."""
    return tuple(
        decision
        for index in actor.initializers
        if index in trials
        for decision in _tried(actor.actions[index], index, None, wiring, trials[index])
    )


def next_choice(actor: Actor, wiring: Wiring, trials: Mapping[int, Trial]) -> Choice:
    """Return the choice of the next action. ``trials``: those of the actions that can ever fire, by index."""
    tables = [[t for t in table if t.action in trials] for table in actor.transitions]
    common = _common_prefix(tables)

    def choice(transitions: list[Transition], state: int) -> Choice:
        return tuple(
            decision
            for t in transitions
            for decision in _tried(
                actor.actions[t.action], t.action, None if t.target == state else t.target, wiring, trials[t.action]
            )
        )

    first = choice(tables[0][:common], tables[0][0].target) if common else ()
    states = tuple(choice(table[common:], state) for state, table in enumerate(tables))
    if not any(states):
        return first
    return (*first, *states[0]) if len(states) == 1 else (*first, ByState(states))


def _common_prefix(tables: list[list[Transition]]) -> int:
    """Return how many first transitions all states have in common without changing state: the untagged actions."""
    for k in range(min(map(len, tables))):
        action = tables[0][k].action
        if any(table[k].action != action or table[k].target != state for state, table in enumerate(tables)):
            return k
    return min(map(len, tables))


def _tried(action: Action, index: int, target: int | None, wiring: Wiring, trial: Trial) -> tuple[Decision, ...]:
    """Return the tests of one action, from the inside out, and what happens when they hold."""
    span = action.guards[0].span if action.guards else action.span
    inner = _with_room(action, Fire(index, target), wiring, span)
    guards = tuple(g for g in trial.guards if not (isinstance(g, Const) and g.value is True))
    if guards:
        inner = (When(Guard(index, guards), inner, (), span),)
    if trial.peeks:
        inner = (Peek(trial.peeks), *inner)
    if action.inputs:
        needs = tuple(Need(p.port, p.tokens) for p in action.inputs)
        inner = (When(HasTokens(needs), inner, (), span),)
    return inner


def _with_room(action: Action, fire: Fire, wiring: Wiring, span: Span) -> tuple[Decision, ...]:
    """Return the firing behind the test that all that it writes finds room."""
    needs = tuple(Need(p.port, p.tokens) for p in action.outputs if wiring.fan_outs[p.port])
    if not needs:
        return (fire,)
    return (When(HasRoom(needs), (fire,), (AwaitRoom(),) if action.schedule_outputs else (Blocked(),), span),)
