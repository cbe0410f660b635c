"""Whether what a network does may depend on when its tokens arrive, and by which actions.

Actors that wait for tokens before they choose compute functions of streams, and then each actor does the same actions
in the same order under every schedule (Kahn, *The semantics of a simple language for parallel programming*, 1974). An
actor leaves that class when the *absence* of a token lets it do something:

* an action is tried first, lacks tokens, and another one fires in its place although the guard of the first would
  have held. It cannot happen where the second action asks for all tokens that the first asks for, nor where the
  guards of both exclude each other (``exclusion``);
* an action with ``schedule_outputs`` is passed over because it lacks room;
* its guards call natives whose value may change, or which leave something behind each time a guard is tried;
* two actors call natives that share something, as the position in one input file.

Not counted are: an action without guards, tried in every state, that always ends the run with an error, since no run
that went well has met its token; and natives whose values decide only about calls that have no effect.

What is told is sound and no more: a network without findings has the same traces under every schedule, a network with
findings may have them too. That is so for a run that goes on until no actor can fire. Where it is cut off, by a
budget, by a native that ends the program or while actors fire without moving a token, each actor has got as far on
its one way as its time allowed. The order in which lines printed by different actors mix is not a part of a trace.
"""

import itertools
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Literal, TypeAlias

from dse.base.source import Span
from dse.passes.analyses.exclusion import condition_of, constants_of, exclude_each_other
from dse.passes.analyses.uses import ActorFacts, gather_facts
from dse.program.ir import Action, Actor, Call, CallStmt, Expr, ForEach, If, Native, Stmt, While
from dse.program.network import Network
from dse.program.walk import expressions_of, sub_expressions

Cause: TypeAlias = Literal["tokens", "room", "guard", "shared", "unknown", "end"]


@dataclass(frozen=True, slots=True, kw_only=True)
class NativeEffects:
    """What a native has to do with other calls. ``state``: names of what it looks at, empty for nothing."""

    state: frozenset[str] = frozenset()
    changes: bool = False
    """Whether a call leaves something behind in its state."""
    ends: bool = False
    """Whether it ends the program, wherever other actors are."""
    fails: bool = False
    """Whether it ends the run with an error."""

    @property
    def idle(self) -> bool:
        """Whether a call that returns nothing might as well not be there."""
        return not (self.state or self.changes or self.ends or self.fails)


Effects: TypeAlias = Callable[[Native], NativeEffects | None]
"""Returns the effects of a native, or None where they are not known."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TimeDependence:
    """One reason why an actor may do something else when tokens come earlier or later."""

    actor: str
    """Name of the instance."""
    cause: Cause
    first: str = ""
    """The action that is tried first."""
    second: str = ""
    """The action that may fire in its place."""
    ports: tuple[str, ...] = ()
    """Inputs on which the first action may lack tokens, or outputs on which it may lack room."""
    native: str = ""
    others: tuple[str, ...] = ()
    """Instances whose natives share something with those of this one."""
    span: Span

    def __str__(self) -> str:
        match self.cause:
            case "tokens":
                lack = f"while '{self.first}', which is tried first, waits for tokens on {_listed(self.ports)}"
                return f"'{self.actor}': '{self.second}' may fire {lack}"
            case "room":
                lack = f"while '{self.first}', which is tried first, waits for room on {_listed(self.ports)}"
                return f"'{self.actor}': '{self.second}' may fire {lack}"
            case "guard":
                return f"'{self.actor}': the guard of '{self.first}' calls '{self.native}', whose value may change"
            case "shared":
                return f"'{self.actor}': '{self.native}' shares something with natives of {_listed(self.others)}"
            case "unknown":
                return f"'{self.actor}': what the native '{self.native}' does is not known"
            case "end":
                return f"'{self.actor}': '{self.native}' ends the program, wherever the other actors are"


def find_time_dependence(network: Network, effects: Effects) -> tuple[TimeDependence, ...]:
    """Return why traces of a network may depend on time, in the order of its instances; empty if they cannot."""
    actors = {id(i.actor): i.actor for i in network.instances}
    natives = {key: _ActorNatives(actor, gather_facts(actor), effects) for key, actor in actors.items()}
    found: list[TimeDependence] = []
    sharing = _sharing(network, [natives[id(i.actor)] for i in network.instances])
    for index, instance in enumerate(network.instances):
        view = _View(network, index, natives[id(instance.actor)])
        found += view.choices()
        found += view.natives()
        found += sharing.get(index, ())
    return tuple(dict.fromkeys(found))


class _ActorNatives:
    """The natives of an actor that have something to do with time, and which routines and actions call them."""

    def __init__(self, actor: Actor, facts: ActorFacts, effects: Effects) -> None:
        self.actor = actor
        self.facts = facts
        self.known = {n.name: effects(n) for n in actor.natives}
        called = set(self._all_calls())
        self.called = tuple(n for n in actor.natives if n.name in called)
        """Those whose calls matter, in the order of the actor."""

    def _all_calls(self) -> Iterator[str]:
        """Yield what the actor calls anywhere."""
        yield from self._calls_of((v.initial for v in self.actor.variables if v.initial is not None), ())
        for routine in self.actor.routines:
            result = () if routine.result is None else (routine.result,)
            yield from self._calls_of(result, (*routine.declarations, *routine.body))
        for action in self.actor.actions:
            outputs = itertools.chain.from_iterable(p.values for p in action.outputs)
            yield from self._calls_of((*action.guards, *outputs), (*action.declarations, *action.body))

    def _calls_of(self, expressions: Iterable[Expr], statements: Iterable[Stmt]) -> Iterator[str]:
        """Yield what expressions and statements call, but for what decides only about calls without effect."""
        for expr in expressions:
            yield from (e.routine for e in sub_expressions(expr) if isinstance(e, Call))
        for stmt in statements:
            if isinstance(stmt, If) and self._is_idle(stmt):
                continue
            if isinstance(stmt, CallStmt):
                yield stmt.routine
            parts: tuple[Stmt, ...] = ()
            match stmt:
                case If():
                    parts = (*stmt.then, *stmt.otherwise)
                case While() | ForEach():
                    parts = stmt.body
                case _:
                    pass
            yield from self._calls_of(expressions_of(stmt), parts)

    def _is_idle(self, choice: If) -> bool:
        """Return whether a choice is between calls without effect, by a condition that leaves nothing behind."""
        for name in self._calls_of((choice.condition,), ()):
            known = self.known.get(name)
            if known is None or known.changes or known.ends or known.fails:
                return False
        return all(self._is_idle_call(s) for s in (*choice.then, *choice.otherwise))

    def _is_idle_call(self, stmt: Stmt) -> bool:
        if not isinstance(stmt, CallStmt) or any(self._calls_of(stmt.arguments, ())):
            return False
        known = self.known.get(stmt.routine)
        return known is not None and known.idle

    def of_guard(self, action: int) -> Iterator[tuple[Native, NativeEffects | None]]:
        """Yield the natives that the guards of an action call, routines included."""
        reached: set[str] = set()
        pending = sorted(self.facts.of_actions[action][0].calls)
        while pending:
            name = pending.pop()
            if name not in reached:
                reached.add(name)
                pending += sorted(self.facts.of_routines[name].calls) if name in self.facts.of_routines else []
        yield from ((n, self.known[n.name]) for n in self.actor.natives if n.name in reached)

    def always_fails(self, body: tuple[Stmt, ...], seen: frozenset[str] = frozenset()) -> bool:
        """Return whether statements always end the run with an error, unless one of them fails by itself before."""
        return any(self._fails(stmt, seen) for stmt in body)

    def _fails(self, stmt: Stmt, seen: frozenset[str]) -> bool:
        match stmt:
            case If():
                return self.always_fails(stmt.then, seen) and self.always_fails(stmt.otherwise, seen)
            case CallStmt(routine=name) if name not in seen:
                known = self.known.get(name)
                bodies = (r.body for r in self.actor.routines if r.name == name)
                return (known is not None and known.fails) or any(self.always_fails(b, seen | {name}) for b in bodies)
            case _:
                return False


class _View:
    """One instance as it is connected."""

    def __init__(self, network: Network, index: int, natives: _ActorNatives) -> None:
        self.name = network.instances[index].name
        self.actor = natives.actor
        self.of_natives = natives
        self.leaving = {c.source_port for c in network.connections if c.source == index}
        literals = ((v.name, v.type, v.initial) for v in self.actor.variables)
        constants = constants_of(literals, natives.facts.mutated)
        self.conditions = [condition_of(a, constants, self.actor.routines) for a in self.actor.actions]
        self.live = self._live({c.target_port for c in network.connections if c.target == index})

    def _live(self, entering: set[int]) -> list[int]:
        """Return the actions that may fire in a run that goes well."""
        connected = (k for k, a in enumerate(self.actor.actions) if entering.issuperset(p.port for p in a.inputs))
        return [k for k in connected if not self._ends_the_run(k)]

    def _ends_the_run(self, index: int) -> bool:
        """Return whether an action fires in no run that goes well: it ends each run that has its tokens."""
        action = self.actor.actions[index]
        everywhere = all(any(t.action == index for t in table) for table in self.actor.transitions)
        return everywhere and not action.guards and not action.outputs and self.of_natives.always_fails(action.body)

    # Choices ----------------------------------------------------------------------------------------------------------

    def choices(self) -> Iterator[TimeDependence]:
        """Yield the pairs of actions of which one may fire only because the other one, tried first, has to wait."""
        live = set(self.live)
        orders = [self.actor.initializers, *(tuple(t.action for t in table) for table in self.actor.transitions)]
        pairs = (pair for order in orders for pair in itertools.combinations([a for a in order if a in live], 2))
        for first, second in dict.fromkeys(pairs):
            yield from self._pair(first, second)

    def _pair(self, first: int, second: int) -> Iterator[TimeDependence]:
        actions = self.actor.actions
        ports = _more_tokens(actions[first], actions[second])
        room = self._awaited_room(actions[first])
        if not (ports or room) or exclude_each_other(self.conditions[first], self.conditions[second]):
            return
        if ports:
            yield self._finding("tokens", first, second, tuple(self.actor.inputs[p].name for p in ports))
        if room:
            yield self._finding("room", first, second, tuple(self.actor.outputs[p].name for p in room))

    def _awaited_room(self, action: Action) -> list[int]:
        """Return the outputs for whose room an action waits while others are tried."""
        return [p.port for p in action.outputs if p.port in self.leaving and action.schedule_outputs]

    def _finding(
        self, cause: Cause, first: int, second: int | None = None, ports: tuple[str, ...] = ()
    ) -> TimeDependence:
        actions = self.actor.actions
        return TimeDependence(
            actor=self.name,
            cause=cause,
            first=actions[first].name,
            second=actions[second].name if second is not None else "",
            ports=ports,
            span=actions[first].span,
        )

    # Natives ----------------------------------------------------------------------------------------------------------

    def natives(self) -> Iterator[TimeDependence]:
        """Yield the natives whose calls tell time, and those that end the program."""
        for native in self.of_natives.called:
            known = self.of_natives.known[native.name]
            if known is None or known.ends:
                yield self._native("unknown" if known is None else "end", native)
        for index in self.live:
            for native, known in self.of_natives.of_guard(index):
                if known is not None and known.changes:
                    yield self._native("guard", native, self.actor.actions[index].name)

    def _native(self, cause: Cause, native: Native, action: str = "") -> TimeDependence:
        return TimeDependence(actor=self.name, cause=cause, first=action, native=native.source_name, span=native.span)


def _more_tokens(first: Action, second: Action) -> list[int]:
    """Return the inputs on which the first action asks for more tokens than the second."""
    asked = {p.port: p.tokens for p in second.inputs}
    return [p.port for p in first.inputs if p.tokens > asked.get(p.port, 0)]


def _sharing(network: Network, natives: list[_ActorNatives]) -> dict[int, list[TimeDependence]]:
    """Return for each instance the natives of which another instance may feel that they were called, or change."""
    found: dict[int, list[TimeDependence]] = {}
    for users in _users(natives).values():
        for index, (native, changes) in users.items():
            others = tuple(network.instances[k].name for k, (_, c) in users.items() if k != index and (c or changes))
            if others:
                name = network.instances[index].name
                shared = TimeDependence(
                    actor=name, cause="shared", native=native.source_name, others=others, span=native.span
                )
                found.setdefault(index, []).append(shared)
    return found


def _users(natives: list[_ActorNatives]) -> dict[str, dict[int, tuple[Native, bool]]]:
    """Return for each state of natives its users: one native of the instance, and whether the instance changes it."""
    users: dict[str, dict[int, tuple[Native, bool]]] = {}
    for index, of in enumerate(natives):
        for native in of.called:
            known = of.known[native.name]
            for state in sorted(known.state) if known is not None else ():
                before = users.setdefault(state, {}).get(index, (native, False))
                users[state][index] = (before[0], before[1] or (known is not None and known.changes))
    return users


def _listed(names: tuple[str, ...]) -> str:
    return ", ".join(f"'{n}'" for n in names)
