"""What the code generator needs to know about an actor beforehand: who writes what, who shares what, who calls natives.

Walks the IR once. Owns no generation and no execution.
"""

from collections.abc import Iterable
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
from dse.program.types import ListType, dimensions_of
from dse.program.walk import expressions_of, sub_expressions, sub_statements


@dataclass(slots=True)
class Uses:
    """Names that a piece of IR touches: scalars and lists read, written, passed by reference, routines called."""

    reads: set[str]
    writes: set[str]
    passed: list[tuple[str, int, str]]
    """(routine or native, argument position, list name) for each list passed by reference."""
    calls: set[str]


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
    by_reference: frozenset[str]
    """Passed by reference to something that may write it."""
    whole_assigned: frozenset[str]
    """Lists of which a whole or a sub-list is the target of an assignment."""
    shared: frozenset[str]
    """Actor variables that routines use."""
    shared_writes: frozenset[str]
    """Actor variables that routines assign."""
    accesses: tuple[ActionAccesses, ...]
    """One for each action."""

    @property
    def stateless(self) -> bool:
        """Whether no action leaves anything behind that a later firing could see (FSM aside)."""
        return not any(a.writes or a.body_calls_native for a in self.accesses)


def uses_of(expressions: Iterable[Expr], statements: Iterable[Stmt] = ()) -> Uses:
    """Return what expressions and statements touch directly (calls are not followed)."""
    uses = Uses(set(), set(), [], set())
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
    for position, argument in enumerate(arguments):
        if isinstance(argument, Load | Index) and isinstance(argument.type, ListType):
            uses.passed.append((routine, position, argument.name))


def gather_facts(actor: Actor) -> ActorFacts:
    """Return the facts of an actor."""
    own = {r.name: _routine_uses(r) for r in actor.routines}
    natives = {n.name for n in actor.natives}
    writing = _writing_parameters(actor, own)
    variables = frozenset(v.name for v in actor.variables)
    everything = [*own.values(), *(u for a in actor.actions for u in _action_uses(a))]
    assigned = frozenset(name for u in everything for name in u.writes)
    by_reference = frozenset(
        name for u in everything for routine, k, name in u.passed if routine in natives or (routine, k) in writing
    )
    in_routines = list(own.values())
    return ActorFacts(
        assigned=assigned,
        mutated=assigned | by_reference,
        by_reference=by_reference,
        whole_assigned=_whole_assigned(actor),
        shared=variables & frozenset(n for u in in_routines for n in u.reads | u.writes),
        shared_writes=variables & frozenset(n for u in in_routines for n in u.writes),
        accesses=tuple(_accesses(a, own, natives, writing, variables) for a in actor.actions),
    )


def _whole_assigned(actor: Actor) -> frozenset[str]:
    """Return the targets of assignments that give fewer indices than the list has dimensions."""
    ranks = {v.name: len(dimensions_of(v.type)) for v in actor.variables}
    bodies: list[Stmt] = []
    for action in actor.actions:
        bodies += (*action.declarations, *action.body)
    for routine in actor.routines:
        bodies += (*routine.declarations, *routine.body)
    return frozenset(
        s.name for s in sub_statements(bodies) if isinstance(s, Assign) and len(s.indices) < ranks.get(s.name, 0)
    )


def _routine_uses(routine: Routine) -> Uses:
    result = () if routine.result is None else (routine.result,)
    return uses_of(result, (*routine.declarations, *routine.body))


def _action_uses(action: Action) -> tuple[Uses, Uses]:
    outputs = [v for p in action.outputs for v in p.values]
    return uses_of(action.guards), uses_of(outputs, (*action.declarations, *action.body))


def _close(own: dict[str, Uses], name: str) -> set[str]:
    """Return ``name`` and all routines and natives reachable from it through calls."""
    reached: set[str] = set()
    pending = [name]
    while pending:
        current = pending.pop()
        if current not in reached:
            reached.add(current)
            pending += own[current].calls if current in own else ()
    return reached


def _writing_parameters(actor: Actor, own: dict[str, Uses]) -> set[tuple[str, int]]:
    """Return (routine, position) of every list parameter that is written, by the routine or by what it calls."""
    names = {(r.name, k): p.name for r in actor.routines for k, p in enumerate(r.parameters)}
    natives = {n.name for n in actor.natives}
    writing = {key for key, name in names.items() if name in own[key[0]].writes}
    while True:
        more = {
            key
            for key, name in names.items()
            if key not in writing
            and any(n == name and (r in natives or (r, k) in writing) for r, k, n in own[key[0]].passed)
        }
        if not more:
            return writing
        writing |= more


def _accesses(
    action: Action,
    own: dict[str, Uses],
    natives: set[str],
    writing: set[tuple[str, int]],
    variables: frozenset[str],
) -> ActionAccesses:
    guard, body = (_closed_uses(uses, own) for uses in _action_uses(action))
    by_reference = {n for r, k, n in body.passed if r in natives or (r, k) in writing}
    return ActionAccesses(
        guard_reads=frozenset(guard.reads & variables),
        body_reads=frozenset(body.reads & variables),
        writes=frozenset(variables & (body.writes | by_reference)),
        guard_calls_native=bool(guard.calls & natives),
        body_calls_native=bool(body.calls & natives),
    )


def _closed_uses(uses: Uses, own: dict[str, Uses]) -> Uses:
    """Return the uses with those of every routine that may be reached added."""
    total = Uses(set(uses.reads), set(uses.writes), list(uses.passed), set(uses.calls))
    for name in {reached for call in uses.calls for reached in _close(own, call)}:
        total.calls.add(name)
        if name in own:
            total.reads |= own[name].reads
            total.writes |= own[name].writes
            total.passed += own[name].passed
            total.calls |= own[name].calls
    return total
