"""Rules of the choice of an action: what is known on each way to a firing is enough for it to happen."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Protocol

from dse.base.source import Span
from dse.program.explicit import (
    AwaitRoom,
    Blocked,
    ByState,
    Choice,
    Condition,
    Decision,
    ExplicitActor,
    Fire,
    Guard,
    HasRoom,
    HasTokens,
    Need,
    Peek,
    When,
)
from dse.program.ir import Const, Expr, Index, Load, ReadTokens, Transition, Variable
from dse.program.verify.bodies import BodyVerifier, Scope
from dse.program.verify.findings import Findings
from dse.program.walk import nodes_of


class ReadRules(Protocol):
    """The rules of a body that reads tokens."""

    def read(self, read: ReadTokens) -> None:
        """Check that what reads tokens has a connected input and a variable of their type."""

    def connected(self, port: int, span: Span) -> bool:
        """Check that an input is there and connected, and return whether it is."""


@dataclass(frozen=True, slots=True)
class Facts:
    """What is known on a way through the choice."""

    tokens: Mapping[int, int] = field(default_factory=dict)
    """Tokens that an input holds at least."""
    room: Mapping[int, int] = field(default_factory=dict)
    """Tokens that an output has room for at least."""
    peeked: Mapping[str, Variable] = field(default_factory=dict)
    guards: frozenset[int] = frozenset()
    """Actions whose guards hold."""
    lacks_room: bool = False
    """Whether a test of room has failed."""

    def both(self, other: "Facts") -> "Facts":
        """Return what is known where two ways meet."""
        return Facts(
            tokens=_least(self.tokens, other.tokens),
            room=_least(self.room, other.room),
            peeked={name: v for name, v in self.peeked.items() if name in other.peeked},
            guards=self.guards & other.guards,
            lacks_room=self.lacks_room and other.lacks_room,
        )


def _least(one: Mapping[int, int], other: Mapping[int, int]) -> dict[int, int]:
    return {port: min(tokens, other[port]) for port, tokens in one.items() if port in other}


def _with_needs(known: Mapping[int, int], needs: Iterable[Need]) -> dict[int, int]:
    found = dict(known)
    for need in needs:
        found[need.port] = max(found.get(need.port, 0), need.tokens)
    return found


def last_token(read: ReadTokens) -> int:
    """Return the place of the last token that is read."""
    return read.offset + read.stride * (max(1, read.count) - 1)


class ChoiceVerifier:
    """Checks both choices of an explicit actor. A way ends with ``None`` where an action fires or is blocked."""

    def __init__(
        self, explicit: ExplicitActor, bodies: BodyVerifier, reads: ReadRules, scope: Scope, findings: Findings
    ) -> None:
        self._explicit = explicit
        self._actor = explicit.actor
        self._bodies = bodies
        self._reads = reads
        self._scope = scope
        self._findings = findings
        self._require = findings.require
        self._starting = False
        kept = {v.name for v in explicit.variables}
        self._fixed = [v for v in explicit.actor.variables if v.name not in kept]

    def check(self) -> None:
        """Gather what is wrong."""
        every = tuple(range(len(self._actor.states)))
        self._findings.where, self._starting = "the start", True
        self._choice(self._explicit.start, Facts(), every)
        self._findings.where, self._starting = "the choice", False
        self._choice(self._explicit.choice, Facts(), every)

    def _choice(self, choice: Choice, facts: Facts, states: tuple[int, ...]) -> Facts | None:
        """Check decisions made in some states, and return what is known at their end; None if it is not reached."""
        known: Facts | None = facts
        for decision in choice:
            if known is None:
                self._findings.add(f"{type(decision).__name__} stands where the choice has ended")
                break
            known = self._decision(decision, known, states)
        return known

    def _decision(self, decision: Decision, facts: Facts, states: tuple[int, ...]) -> Facts | None:
        match decision:
            case When():
                return self._test(decision, facts, states)
            case Peek():
                return self._peek(decision, facts)
            case ByState():
                return self._by_state(decision, facts, states)
            case Fire():
                self._fire(decision, facts, states)
                return None
            case Blocked():
                self._require(facts.lacks_room, "an action is blocked though no test of room has failed")
                return None
            case AwaitRoom():
                self._require(facts.lacks_room, "room is awaited though no test of room has failed")
                return facts

    def _by_state(self, decision: ByState, facts: Facts, states: tuple[int, ...]) -> Facts | None:
        count = len(self._actor.states)
        self._require(len(states) == count, "a choice by state stands inside another")
        said = len(decision.states)
        self._require(said == count, f"there is a choice for {said} states, not for {count}")
        ends = [self._choice(choice, facts, (state,)) for state, choice in enumerate(decision.states)]
        return _meeting(ends)

    # Tests ------------------------------------------------------------------------------------------------------------

    def _test(self, test: When, facts: Facts, states: tuple[int, ...]) -> Facts | None:
        holds, fails = self._outcomes(test.condition, facts, test.span)
        ends = [self._choice(test.then, holds, states), self._choice(test.otherwise, fails, states)]
        return _meeting(ends)

    def _outcomes(self, condition: Condition, facts: Facts, span: Span) -> tuple[Facts, Facts]:
        """Check a condition, and return what is known where it holds and where it does not."""
        match condition:
            case HasTokens():
                for need in condition.needs:
                    self._reads.connected(need.port, span)
                return replace(facts, tokens=_with_needs(facts.tokens, condition.needs)), facts
            case HasRoom():
                outputs = len(self._actor.outputs)
                for need in condition.needs:
                    self._require(0 <= need.port < outputs, f"there is no output {need.port}", span)
                room = _with_needs(facts.room, condition.needs)
                return replace(facts, room=room), replace(facts, lacks_room=True)
            case Guard():
                self._guard(condition, facts, span)
                return replace(facts, guards=facts.guards | {condition.action}), facts

    def _guard(self, guard: Guard, facts: Facts, span: Span) -> None:
        self._require(0 <= guard.action < len(self._actor.actions), f"there is no action {guard.action}", span)
        self._require(not facts.room, f"the guard of {self._name(guard.action)} is tested behind a test of room", span)
        scope = self._scope.with_variables(facts.peeked.values())
        for condition in guard.conditions:
            self._bodies.condition(condition, scope, "a guard")

    def _peek(self, peek: Peek, facts: Facts) -> Facts:
        peeked = dict(facts.peeked)
        for read in peek.reads:
            self._reads.read(read)
            known = facts.tokens.get(read.port, 0)
            text = (
                f"'{read.variable.name}' is token {last_token(read)} of input {read.port}, of which {known} are known"
            )
            self._require(last_token(read) < known, text, read.span)
            peeked[read.variable.name] = read.variable
        return replace(facts, peeked=peeked)

    # Firings ----------------------------------------------------------------------------------------------------------

    def _name(self, action: int) -> str:
        actions = self._actor.actions
        return actions[action].name if 0 <= action < len(actions) else f"action {action}"

    def _fire(self, fire: Fire, facts: Facts, states: tuple[int, ...]) -> None:
        name = self._name(fire.action)
        if not self._require(0 <= fire.action < len(self._actor.actions), f"there is no {name}"):
            return
        firing = self._explicit.firings[fire.action]
        self._require(firing is not None, f"{name} fires, but has no firing")
        self._transition(fire, name, states)
        action = self._actor.actions[fire.action]
        for into in action.inputs:
            enough = facts.tokens.get(into.port, 0) >= into.tokens
            self._require(enough, f"{name} fires, but {into.tokens} tokens on input {into.port} are not known")
        for out in action.outputs:
            enough = not self._explicit.wiring.fan_outs[out.port] or facts.room.get(out.port, 0) >= out.tokens
            self._require(enough, f"{name} fires, but room for {out.tokens} tokens on output {out.port} is not known")
        guarded = any(not self._is_true(guard) for guard in action.guards)
        self._require(not guarded or fire.action in facts.guards, f"{name} fires, but its guards are not known")
        missing = self._needed(fire.action) - facts.peeked.keys()
        self._require(not missing, f"{name} fires, but {', '.join(sorted(missing))} is read by no one")

    def _is_true(self, guard: Expr) -> bool:
        """Return whether a guard is literally true, or a constant that is."""
        if isinstance(guard, Load):
            return any(v.name == guard.name and v.initial is not None and self._is_true(v.initial) for v in self._fixed)
        return isinstance(guard, Const) and guard.value is True

    def _needed(self, number: int) -> frozenset[str]:
        """Return the token variables that a firing looks at without reading them."""
        firing = self._explicit.firings[number] or ()
        own = {v.name for pattern in self._actor.actions[number].inputs for v in pattern.variables}
        named = {node.name for node in nodes_of(firing) if isinstance(node, Load | Index)}
        read = {node.variable.name for node in firing if isinstance(node, ReadTokens)}
        return frozenset((own & named) - read)

    def _transition(self, fire: Fire, name: str, states: tuple[int, ...]) -> None:
        """Check that an action may fire in some states, and leads where its transitions say."""
        if self._starting:
            self._require(fire.action in self._actor.initializers, f"{name} is no initializer")
            self._require(fire.target is None, f"the initializer {name} leads to a state")
            return
        for state in states:
            there = Transition(fire.action, state if fire.target is None else fire.target)
            text = f"{name} fires in state {state}, which has no such transition to state {there.target}"
            self._require(there in self._actor.transitions[state], text)


def _meeting(ends: list[Facts | None]) -> Facts | None:
    """Return what is known where ways meet; those that have ended do not."""
    met: Facts | None = None
    for end in ends:
        if end is not None:
            met = end if met is None else met.both(end)
    return met
