"""What an actor touches: who writes what, who shares what, who calls natives. Walks the IR once."""

import itertools
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from dse.program.ir import (
    Action,
    Actor,
    Assign,
    Call,
    CallStmt,
    CopyInto,
    Expr,
    Index,
    Load,
    Routine,
    Stmt,
)
from dse.program.types import ListType
from dse.program.walk import expressions_of, sub_expressions, sub_statements


@dataclass(slots=True)
class Uses:
    """Names that a piece of IR touches: scalars and lists read, written, passed by reference, routines called."""

    reads: set[str]
    writes: set[str]
    passed: list[tuple[str, int, str]]
    """(routine or native, argument position, list name) for each list passed by reference."""
    calls: set[str]
    made: list[tuple[str, tuple[Expr, ...]]]
    """(routine or native, arguments) of each call."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ActionAccesses:
    """Actor variables that an action may touch, routines included: by its guards, its body; written."""

    guard_reads: frozenset[str]
    body_reads: frozenset[str]
    writes: frozenset[str]
    guard_calls_native: bool
    body_calls_native: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class ActorFacts:
    """Facts about one actor. Names are IR names."""

    assigned: frozenset[str]
    """Targets of an assignment anywhere."""
    mutated: frozenset[str]
    """Assigned, or passed by reference to something that may write it."""
    shared: frozenset[str]
    """Actor variables that routines use."""
    accesses: tuple[ActionAccesses, ...]
    """One for each action."""
    of_actions: tuple[tuple[Uses, Uses], ...]
    """What the guards, and what the rest of each action touch directly (calls are not followed)."""
    of_routines: Mapping[str, Uses]
    """The same of each routine."""
    calls: tuple[tuple[str, tuple[Expr, ...]], ...]
    """(routine or native, arguments) of every call, those of initial values included."""

    @property
    def stateless(self) -> bool:
        """Whether no action leaves anything behind that a later firing could see (FSM aside)."""
        return not any(a.writes or a.body_calls_native for a in self.accesses)


def uses_of(expressions: Iterable[Expr], statements: Iterable[Stmt] = ()) -> Uses:
    """Return what expressions and statements touch directly (calls are not followed)."""
    uses = Uses(set(), set(), [], set(), [])
    for expr in expressions:
        _use_expression(expr, uses)
    for stmt in sub_statements(statements):
        for expr in expressions_of(stmt):
            _use_expression(expr, uses)
        if isinstance(stmt, Assign | CopyInto):
            uses.writes.add(stmt.name)
        elif isinstance(stmt, CallStmt):
            _use_call(stmt.routine, stmt.arguments, uses)
    return uses


def _use_expression(root: Expr, uses: Uses) -> None:
    for expr in sub_expressions(root):
        if isinstance(expr, Load | Index):
            uses.reads.add(expr.name)
        elif isinstance(expr, Call):
            _use_call(expr.routine, expr.arguments, uses)


def _use_call(routine: str, arguments: tuple[Expr, ...], uses: Uses) -> None:
    uses.calls.add(routine)
    uses.made.append((routine, arguments))
    for position, argument in enumerate(arguments):
        if isinstance(argument, Load | Index) and isinstance(argument.type, ListType):
            uses.passed.append((routine, position, argument.name))


@dataclass(frozen=True, slots=True)
class _Callees:
    """What the calls of an actor lead to. ``writing``: (routine, position) of the list parameters that are written."""

    own: Mapping[str, Uses]
    """What each routine touches directly."""
    natives: frozenset[str]
    writing: set[tuple[str, int]]

    def written(self, uses: Uses) -> Iterator[str]:
        """Yield the lists that are passed by reference to something that may write them."""
        for routine, position, name in uses.passed:
            if routine in self.natives or (routine, position) in self.writing:
                yield name

    def spread(self, parameters: dict[tuple[str, int], str]) -> None:
        """Add the parameters that are passed on to something that writes them, until there are no more."""
        before = -1
        while before != len(self.writing):
            before = len(self.writing)
            written = {routine: set(self.written(uses)) for routine, uses in self.own.items()}
            self.writing.update(key for key, name in parameters.items() if name in written[key[0]])


def gather_facts(actor: Actor) -> ActorFacts:
    """Return the facts of an actor."""
    own = {routine.name: _routine_uses(routine) for routine in actor.routines}
    callees = _callees_of(actor, own, frozenset(native.name for native in actor.natives))
    of_routines = list(own.values())
    of_actions = tuple(_action_uses(a) for a in actor.actions)
    everything = [*of_routines, *itertools.chain.from_iterable(of_actions)]
    assigned = _names(u.writes for u in everything)
    variables = frozenset(v.name for v in actor.variables)
    return ActorFacts(
        assigned=assigned,
        mutated=assigned | _names(callees.written(u) for u in everything),
        shared=variables & _names(u.reads | u.writes for u in of_routines),
        accesses=tuple(_accesses(both, callees, variables) for both in of_actions),
        of_actions=of_actions,
        of_routines=own,
        calls=tuple(_calls([*everything, _initial_uses(actor)])),
    )


def _calls(everything: Iterable[Uses]) -> Iterator[tuple[str, tuple[Expr, ...]]]:
    for uses in everything:
        yield from uses.made


def _initial_uses(actor: Actor) -> Uses:
    return uses_of(v.initial for v in actor.variables if v.initial is not None)


def _names(sets: Iterable[Iterable[str]]) -> frozenset[str]:
    return frozenset(name for names in sets for name in names)


def filled_parameters(actor: Actor, facts: ActorFacts) -> frozenset[tuple[str, int]]:
    """Return (routine, position) of the list parameters that routines write; what natives may write is left out."""
    lists = {(r.name, k) for r in actor.routines for k, p in enumerate(r.parameters) if isinstance(p.type, ListType)}
    return frozenset(lists & _callees_of(actor, facts.of_routines, frozenset()).writing)


def _callees_of(actor: Actor, own: Mapping[str, Uses], natives: frozenset[str]) -> _Callees:
    """Return what calls lead to; ``own``: what each routine touches; ``natives``: those that may write every list."""
    parameters = {(r.name, k): p.name for r in actor.routines for k, p in enumerate(r.parameters)}
    writing = {key for key, name in parameters.items() if name in own[key[0]].writes}
    callees = _Callees(own, natives, writing)
    callees.spread(parameters)
    return callees


def _routine_uses(routine: Routine) -> Uses:
    result = () if routine.result is None else (routine.result,)
    return uses_of(result, (*routine.declarations, *routine.body))


def _action_uses(action: Action) -> tuple[Uses, Uses]:
    outputs = [v for p in action.outputs for v in p.values]
    return uses_of(action.guards), uses_of(outputs, (*action.declarations, *action.body))


def reached_by(calls: Iterable[str], own: Mapping[str, Uses]) -> set[str]:
    """Return the routines and natives that calls lead to, those called first with them; ``own``: uses by routine."""
    reached: set[str] = set()
    pending = list(calls)
    while pending:
        current = pending.pop()
        if current not in reached:
            reached.add(current)
            pending += own[current].calls if current in own else ()
    return reached


def recursive_routines(own: Mapping[str, Uses]) -> frozenset[str]:
    """Return the routines that may call themselves, through others too; ``own``: uses by routine."""
    return frozenset(name for name, uses in own.items() if name in reached_by(uses.calls, own))


def _accesses(of_action: tuple[Uses, Uses], callees: _Callees, variables: frozenset[str]) -> ActionAccesses:
    guard, body = (_closed_uses(uses, callees.own) for uses in of_action)
    return ActionAccesses(
        guard_reads=frozenset(guard.reads & variables),
        body_reads=frozenset(body.reads & variables),
        writes=variables & _names((body.writes, callees.written(body))),
        guard_calls_native=bool(guard.calls & callees.natives),
        body_calls_native=bool(body.calls & callees.natives),
    )


def _closed_uses(uses: Uses, own: Mapping[str, Uses]) -> Uses:
    """Return the uses with those of every routine that may be reached added."""
    total = Uses(set(uses.reads), set(uses.writes), list(uses.passed), set(uses.calls), list(uses.made))
    for name in reached_by(uses.calls, own):
        total.calls.add(name)
        if name in own:
            total.reads |= own[name].reads
            total.writes |= own[name].writes
            total.passed += own[name].passed
            total.calls |= own[name].calls
            total.made += own[name].made
    return total
