"""Which actions may fire several times at once, each firing by a thread of its own, and why the others may not.

The paper of this project calls it SIMD (section 4.3): an action is fired by ``bl`` blocks of ``th`` threads. A batch
of n firings of an action is what n firings one behind the other are if

* no firing sees what another one of them did: the action writes no state, calls no native and prints nothing, and its
  tokens do not come back to it by a connection from the actor to itself;
* the actor would choose the action n times in a row. Rates are fixed, so tokens and room are counted. The state of the
  machine stays, guards that look at state only stay what they are, and what lacked tokens or room lacks them still.
  Guards that look at tokens which the action takes are asked for each firing before the batch: n ends at the first that
  would not choose the action (``asks``);
* asking a guard more or less often than one firing after the other would is not seen: it cannot fail, and makes no
  access that may lie out of bounds, which is counted.

Bodies may fail and may stray: a thread of a batch that fails tells of its firing, and the first firing counts.
The analysis is conservative: what a routine might do counts as done.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from dse.base.source import Span
from dse.passes.analyses.uses import ActorFacts, Uses, reached_by
from dse.passes.analyses.values import Values
from dse.program.explicit import ByState, Choice, ExplicitActor, Fire, Guard, Peek, When
from dse.program.ir import (
    Action,
    Actor,
    Assign,
    Binary,
    Call,
    CallStmt,
    Cast,
    Check,
    CopyInto,
    Count,
    Expr,
    Print,
    ReadTokens,
    Routine,
    Stmt,
    While,
)
from dse.program.types import FloatType, IntType, ListType, scalar_of
from dse.program.walk import expressions_of, sub_expressions, sub_statements


@dataclass(frozen=True, slots=True, kw_only=True)
class SimdFiring:
    """Whether an action may fire several times at once. ``reason``: why not, a part of a sentence; ``span``: where.

    ``asks``: whether the choice depends on the tokens of each firing, so that it has to be asked for each.
    """

    action: int
    reason: str
    span: Span
    asks: bool = False

    @property
    def able(self) -> bool:
        """Whether it may."""
        return not self.reason


@dataclass(frozen=True, slots=True)
class _Site:
    """A place of the choice where an action fires, and the guards that were asked before, with what they look at."""

    fire: Fire
    guards: tuple[tuple[Peek | None, Guard], ...]


def simd_firings(explicit: ExplicitActor, facts: ActorFacts, values: Values) -> tuple[SimdFiring, ...]:
    """Return for each action of an actor whether it may fire several times at once."""
    sites = list(_sites(explicit.choice, []))
    return tuple(_Judge(explicit, facts, values, sites).verdict(k) for k in range(len(explicit.actor.actions)))


def _sites(choice: Choice, asked: list[tuple[Peek | None, Guard]]) -> Iterator[_Site]:
    """Yield where actions fire; ``asked`` grows by the guards that are asked on the way through a choice."""
    peek: Peek | None = None
    for decision in choice:
        match decision:
            case Peek():
                peek = decision
            case When(condition=condition):
                if isinstance(condition, Guard):
                    asked.append((peek, condition))
                yield from _sites(decision.then, asked)
                yield from _sites(decision.otherwise, asked)
                peek = None
            case ByState():
                for state in decision.states:
                    yield from _sites(state, list(asked))
            case Fire():
                yield _Site(decision, tuple(asked))
            case _:
                pass


class _Judge:
    """Looks for what keeps one action of an actor from a batch."""

    def __init__(self, explicit: ExplicitActor, facts: ActorFacts, values: Values, sites: Sequence[_Site]) -> None:
        self.explicit = explicit
        self.actor: Actor = explicit.actor
        self.facts = facts
        self.values = values
        self.sites = sites
        self.routines = {r.name: r for r in explicit.routines}
        parameters = (p for r in self.actor.routines for p in r.parameters)
        self.lasting = {v.name for v in self.actor.variables} | {
            p.name for p in parameters if isinstance(p.type, ListType)
        }

    def verdict(self, index: int) -> SimdFiring:
        """Return whether an action may fire several times at once."""
        found = self._never(index) or self._sharing(index) or self._choice(index)
        if found is not None:
            return SimdFiring(action=index, reason=found[0], span=found[1])
        action = self.actor.actions[index]
        taken = {p.port for p in action.inputs}
        looked = (r.port for site in self._staying(index) for peek, _ in site.guards if peek for r in peek.reads)
        return SimdFiring(action=index, reason="", span=action.span, asks=any(port in taken for port in looked))

    def _never(self, index: int) -> tuple[str, Span] | None:
        """Return why an action does not fire over and over at all."""
        action = self.actor.actions[index]
        if self.explicit.firings[index] is None:
            return "an input that it reads is not connected", action.span
        if index in self.actor.initializers:
            return "it fires once, at the start", action.span
        return None

    # What firings share -----------------------------------------------------------------------------------------------

    def _sharing(self, index: int) -> tuple[str, Span] | None:
        """Return what a firing of an action leaves for the next one."""
        action, (_, body) = self.actor.actions[index], self.facts.of_actions[index]
        written = self.facts.accesses[index].writes
        if written:
            name, span = self._first_write(action, body, written)
            return f"it changes '{name}'", span
        called = reached_by(body.calls, self.facts.of_routines)
        for native in self.actor.natives:
            if native.name in called:
                return f"it calls the native '{native.source_name}'", native.span
        prints = next((s for s in self._statements(action, called) if isinstance(s, Print)), None)
        if prints is not None:
            return "it prints", prints.span
        return self._going_round(action)

    def _going_round(self, action: Action) -> tuple[str, Span] | None:
        """Return why the tokens of an action are not those of firings apart from each other."""
        ins, outs = {p.port for p in action.inputs}, {p.port for p in action.outputs}
        for i, j in self.explicit.wiring.loops:
            if i in ins or j in outs:
                name = self.actor.outputs[j].name
                return f"a connection leads from the output '{name}' back to the actor itself", action.span
        if not any(self.explicit.wiring.fan_outs[port] for port in outs):
            return "it sends nothing, so that there is nothing to be gained", action.span
        return None

    def _statements(self, action: Action, called: Iterable[str]) -> Iterator[Stmt]:
        """Yield all statements that a firing of an action may do."""
        yield from sub_statements((*action.declarations, *action.body))
        reached = set(called)
        for routine in self.actor.routines:
            if routine.name in reached:
                yield from sub_statements((*routine.declarations, *routine.body))

    def _first_write(self, action: Action, body: Uses, written: frozenset[str]) -> tuple[str, Span]:
        """Return a variable that an action changes, and where: by a store, or by a call that may be one."""
        names = {v.name: v.source_name for v in self.actor.variables}
        for stmt in self._statements(action, reached_by(body.calls, self.facts.of_routines)):
            if isinstance(stmt, Assign) and stmt.name in written:
                return names[stmt.name], stmt.span
        for stmt in self._statements(action, ()):
            if isinstance(stmt, CallStmt):
                return names[min(written)], stmt.span
        return names[min(written)], action.span

    # What the choice asks ---------------------------------------------------------------------------------------------

    def _staying(self, index: int) -> list[_Site]:
        """Return where an action fires without a change of the state of the machine."""
        return [site for site in self.sites if site.fire.action == index and site.fire.target is None]

    def _choice(self, index: int) -> tuple[str, Span] | None:
        """Return why it cannot be told beforehand how often in a row an action is chosen."""
        sites = self._staying(index)
        if not sites:
            return "each firing changes the state of the machine", self.actor.actions[index].span
        for site in sites:
            for peek, guard in site.guards:
                found = self._seen(peek, guard)
                if found is not None:
                    name = self.actor.actions[guard.action].name
                    return f"the guard of '{name}' is asked before it, which {found[0]}", found[1]
        return None

    def _seen(self, peek: Peek | None, guard: Guard) -> tuple[str, Span] | None:
        """Return what can be seen of how often a guard is asked."""
        called: set[str] = set()
        for condition in guard.conditions:
            called |= reached_by(_calls_in((condition,)), self.facts.of_routines)
            seen = self._seen_of(condition)
            if seen:
                return seen, condition.span
        if peek is not None and any(self._may_fail_to_convert(read) for read in peek.reads):
            return "may fail", guard.conditions[0].span
        for name in called:
            if name not in self.routines:
                return "calls a native", guard.conditions[0].span
            found = self._seen_of_routine(self.routines[name])
            if found is not None:
                return found
        return None

    def _seen_of_routine(self, routine: Routine) -> tuple[str, Span] | None:
        for stmt in sub_statements(routine.body):
            seen = self._seen_of_statement(stmt)
            if seen:
                return seen, stmt.span
        seen = "" if routine.result is None else self._seen_of(routine.result)
        return (seen, routine.span) if seen else None

    def _seen_of_statement(self, stmt: Stmt) -> str:
        """Return what can be seen of a statement of a routine, its parts aside."""
        if isinstance(stmt, Print | CallStmt | While | Count):
            return "does more than compute"
        if isinstance(stmt, Assign | CopyInto) and stmt.name in self.lasting:
            return "changes what lasts"
        return next((found for expr in expressions_of(stmt) if (found := self._seen_of(expr))), "")

    def _seen_of(self, expr: Expr) -> str:
        """Return what can be seen of an expression being evaluated, "" for nothing."""
        for part in sub_expressions(expr):
            if isinstance(part, Check):
                return "may access a list out of bounds"
            if self._may_fail(part):
                return "may fail"
        return ""

    def _may_fail_to_convert(self, read: ReadTokens) -> bool:
        """Return whether a token is a number with a fraction, or none, where its variable holds integers."""
        return isinstance(self.explicit.wiring.inputs[read.port], FloatType) and isinstance(
            scalar_of(read.variable.type), IntType
        )

    def _may_fail(self, expr: Expr) -> bool:
        if isinstance(expr.type, IntType) and self.values.interval(expr) is None:
            return True  # an integer without a bound may become too large
        match expr:
            case Binary(op="/" | "mod") if isinstance(expr.type, IntType):
                divisor = self.values.interval(expr.right)
                return divisor is None or divisor[0] <= 0 <= divisor[1]
            case Binary(op="mod"):
                return True
            case Cast():
                return isinstance(expr.operand.type, FloatType) and isinstance(expr.type, IntType)
            case _:
                return False


def _calls_in(expressions: Iterable[Expr]) -> set[str]:
    return {e.routine for root in expressions for e in sub_expressions(root) if isinstance(e, Call)}
