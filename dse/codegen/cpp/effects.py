"""What evaluating an expression may do besides giving a value: C++ leaves the order of most operands open.

Operands whose order can be seen are evaluated one behind the other, left to right, as the language says.
"""

import itertools
from collections.abc import Iterable

from dse.passes.analyses.uses import ActorFacts, recursive_routines
from dse.passes.analyses.values import Values
from dse.program.ir import Actor, Binary, Call, Cast, Const, ConstList, Expr, Print
from dse.program.types import FloatType, IntType, ListType
from dse.program.walk import sub_expressions, sub_statements


def _acting(actor: Actor, facts: ActorFacts) -> set[str]:
    """Return the routines and natives that have an effect themselves: they write what lasts, or print."""
    parameters = itertools.chain.from_iterable(r.parameters for r in actor.routines)
    lasting = {v.name for v in (*actor.variables, *(p for p in parameters if isinstance(p.type, ListType)))}
    acting = {n.name for n in actor.natives}
    for routine in actor.routines:
        prints = any(isinstance(s, Print) for s in sub_statements(routine.body))
        if prints or facts.of_routines[routine.name].writes & lasting:
            acting.add(routine.name)
    return acting


class Effects:
    """Knows which routines of an actor do more than compute, and which may call themselves."""

    def __init__(self, actor: Actor, facts: ActorFacts, values: Values) -> None:
        self._values = values
        self._calls = {name: uses.calls for name, uses in facts.of_routines.items()}
        acting = _acting(actor, facts)
        self.impure = frozenset({r for r in self._calls if self._reached(r) & acting} | acting)
        """Routines and natives whose calls have effects."""
        self.recursive = recursive_routines(facts.of_routines)

    def _reached(self, routine: str) -> set[str]:
        reached: set[str] = set()
        pending = [routine]
        while pending:
            current = pending.pop()
            if current not in reached:
                reached.add(current)
                pending += self._calls.get(current, ())
        return reached

    def acts(self, expr: Expr) -> bool:
        """Return whether evaluating an expression has an effect."""
        return any(isinstance(e, Call) and e.routine in self.impure for e in sub_expressions(expr))

    def may_end(self, expr: Expr) -> bool:
        """Return whether evaluating an expression may end the firing: by a fault, or by what a call does."""
        return any(self._ends(e) for e in sub_expressions(expr))

    def _ends(self, expr: Expr) -> bool:
        match expr:
            case Call():
                return True
            case Binary(op="/" | "mod"):
                divisor = self._values.interval(expr.right)
                integers = isinstance(expr.type, IntType)
                return not integers or divisor is None or divisor[0] <= 0 <= divisor[1]
            case Cast():
                return isinstance(expr.operand.type, FloatType) and isinstance(expr.type, IntType)
            case _:
                return False

    def ordered(self, operands: Iterable[Expr]) -> bool:
        """Return whether it can be seen in which order operands are evaluated."""
        counted = [o for o in operands if not isinstance(o, Const | ConstList)]
        return len(counted) > 1 and any(self.acts(o) for o in counted)
