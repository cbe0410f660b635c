"""Whether two guards can never hold at one time: by what they compare, not by how their values come about.

A guard becomes cases, each of them a conjunction of atoms about terms: variables, tokens by their place at the port,
and whatever is computed from them. Two guards exclude each other when every case of the one contradicts every case of
the other. Nothing is assumed of a term but that it has one value: what cannot be decided counts as possible. A call of
a function without parameters and statements is true when its result is.
"""

import itertools
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Literal, TypeAlias

from dse.program.ir import Action, Binary, Call, Const, Expr, Index, InputPattern, Load, Routine, Unary
from dse.program.types import BOOL, IntType, ListType, Type
from dse.program.walk import operands_of

Key: TypeAlias = tuple[object, ...]
"""An expression without its places: two that are equal have the same value at one time."""
Order: TypeAlias = Literal["<", "=", ">", "?"]
"""How two values may lie; ``?`` where one is no number."""

_ALL: frozenset[Order] = frozenset(("<", "=", ">", "?"))
_HOLDS: Mapping[str, frozenset[Order]] = {
    "=": frozenset(("=",)),
    "!=": frozenset(("<", ">", "?")),
    "<": frozenset(("<",)),
    "<=": frozenset(("<", "=")),
    ">": frozenset((">",)),
    ">=": frozenset((">", "=")),
}
_TURNED: Mapping[Order, Order] = {"<": ">", "=": "=", ">": "<", "?": "?"}
_MOST_CASES = 64
_MOST_CASES_OF_CALL = 8


@dataclass(frozen=True, slots=True)
class Atom:
    """``left`` lies to ``right`` in one of the ways of ``orders``. A bool is compared with the constant True."""

    left: Key
    right: Key
    orders: frozenset[Order]
    whole: bool = False
    """Whether both are integers."""


Case: TypeAlias = tuple[Atom, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Condition:
    """The guards of an action as cases; None where there are too many of them."""

    cases: tuple[Case, ...] | None


def condition_of(action: Action, constants: Mapping[str, Const], routines: Iterable[Routine] = ()) -> Condition:
    """Return the guards of an action.

    ``constants``: the variables of the actor that are literals; ``routines``: of the actor.
    """
    terms = _Terms(action.inputs, constants, plain_results(routines))
    cases: tuple[Case, ...] | None = ((),)
    for guard in action.guards:
        cases = _both(cases, terms.cases(guard, holds=True))
    return Condition(cases=cases)


def exclude_each_other(first: Condition, second: Condition) -> bool:
    """Return whether the two can never hold at one time, as far as that is decided."""
    if first.cases is None or second.cases is None:
        return False
    return all(_contradict((*a, *b)) for a, b in itertools.product(first.cases, second.cases))


# From expressions to cases --------------------------------------------------------------------------------------------


class _Terms:
    """The keys of one action's expressions: tokens are named by port and place, whatever the action calls them."""

    def __init__(
        self, inputs: Iterable[InputPattern], constants: Mapping[str, Const], results: Mapping[str, Expr]
    ) -> None:
        self._constants = constants
        self._results = results
        self._tokens: dict[str, tuple[int, int, int, int]] = {}
        """Port, place of the first token, distance of the others, and how many there are."""
        for pattern in inputs:
            for offset, variable in enumerate(pattern.variables):
                stride, count = len(pattern.variables), max(1, pattern.repeat)
                self._tokens[variable.name] = (pattern.port, offset, stride, count)

    def cases(self, expr: Expr, *, holds: bool) -> tuple[Case, ...] | None:
        """Return when a bool expression is True, or False; None for too many cases."""
        match expr:
            case Const():
                return ((),) if expr.value is holds else ()
            case Unary(op="not"):
                return self.cases(expr.operand, holds=not holds)
            case Binary(op="and" | "or"):
                sides = self.cases(expr.left, holds=holds), self.cases(expr.right, holds=holds)
                return _both(*sides) if (expr.op == "and") == holds else _either(*sides)
            case Binary() if expr.op in _HOLDS:
                return self._comparison(expr, holds=holds)
            case Call() if expr.routine in self._results:
                return self._call(expr, holds=holds)
            case _:
                return ((self._truth(expr, holds=holds),),)

    def _call(self, expr: Call, *, holds: bool) -> tuple[Case, ...] | None:
        """Return the cases of a call: what its result says, and that it has one value."""
        value = (self._truth(expr, holds=holds),)
        others = {name: of for name, of in self._results.items() if name != expr.routine}  # no function for ever
        cases = _Terms((), self._constants, others).cases(self._results[expr.routine], holds=holds)
        if cases is None or len(cases) > _MOST_CASES_OF_CALL:
            return (value,)
        return tuple((*case, *value) for case in cases)

    def _comparison(self, expr: Binary, *, holds: bool) -> tuple[Case, ...] | None:
        """Return the cases of a comparison; one with a literal bool is what it says of the other side."""
        for side, other in ((expr.left, expr.right), (expr.right, expr.left)):
            literal = self._literal(other)
            if literal is not None and literal.type == BOOL:
                wanted = (literal.value is True) == (expr.op == "=")
                return self.cases(side, holds=wanted == holds)
        orders = _HOLDS[expr.op]
        known = _order(self._literal(expr.left), self._literal(expr.right))
        if known is not None:
            return ((),) if (known in orders) == holds else ()
        whole = isinstance(expr.left.type, IntType) and isinstance(expr.right.type, IntType)
        possible = _ALL - {"?"} if whole else _ALL
        return ((_atom(self.key(expr.left), self.key(expr.right), orders if holds else possible - orders, whole),),)

    def _truth(self, expr: Expr, *, holds: bool) -> Atom:
        true: Key = ("literal", True)
        return Atom(self.key(expr), true, _HOLDS["=" if holds else "!="])

    def _literal(self, expr: Expr) -> Const | None:
        if isinstance(expr, Load) and expr.name not in self._tokens:
            return self._constants.get(expr.name)
        return expr if isinstance(expr, Const) else None

    def key(self, expr: Expr) -> Key:
        """Return what stands for the value of an expression."""
        literal = self._literal(expr)
        if literal is not None:
            return ("literal", literal.value)
        operands = tuple(self.key(o) for o in operands_of(expr))
        match expr:
            case Load() | Index():
                return self._variable(expr.name, operands)
            case Unary() | Binary():
                # What a shift by less than nothing gives depends on the type on its left.
                return (expr.op, tuple(str(o.type) for o in operands_of(expr)), *operands)
            case Call():
                return ("call", expr.routine, *operands)
            case _:
                return (type(expr).__name__, str(expr.type), id(expr))

    def _variable(self, name: str, indices: tuple[Key, ...]) -> Key:
        if name not in self._tokens:
            return ("variable", name, indices)
        port, offset, stride, count = self._tokens[name]
        if not indices:
            return ("token", port, offset, count)
        match indices:
            case (("literal", int(place)),) if 0 <= place < count:
                return ("token", port, offset + place * stride, 1)
            case _:
                return ("tokens", port, offset, stride, count, indices)


def plain_results(routines: Iterable[Routine]) -> dict[str, Expr]:
    """Return the results of the functions that are true or false, by name, if they are all that the functions do."""
    return {
        routine.name: routine.result
        for routine in routines
        if routine.result is not None
        and routine.result_type == BOOL
        and not (routine.parameters or routine.declarations or routine.body)
    }


def constants_of(variables: Iterable[tuple[str, Type, Expr | None]], assigned: frozenset[str]) -> dict[str, Const]:
    """Return the scalar variables that nothing assigns and whose initial value is a literal of their own type."""
    found = {}
    for name, of, initial in variables:
        fits = isinstance(initial, Const) and not isinstance(of, ListType) and _keeps(of, initial.value)
        if name not in assigned and fits:
            assert isinstance(initial, Const)
            found[name] = Const(initial.value, of, initial.span)
    return found


def _keeps(of: Type, value: object) -> bool:
    """Return whether a value stays what it is when a variable of that type is initialised with it."""
    if isinstance(of, IntType):
        return isinstance(value, int) and not isinstance(value, bool) and of.limits[0] <= value <= of.limits[1]
    return of == BOOL and isinstance(value, bool)


def _both(first: tuple[Case, ...] | None, second: tuple[Case, ...] | None) -> tuple[Case, ...] | None:
    """Return the cases in which both hold; none at all where one never holds."""
    if () in (first, second):
        return ()
    if first is None or second is None:
        return None
    return tuple((*a, *b) for a in first for b in second) if len(first) * len(second) <= _MOST_CASES else None


def _either(first: tuple[Case, ...] | None, second: tuple[Case, ...] | None) -> tuple[Case, ...] | None:
    if first is None or second is None or len(first) + len(second) > _MOST_CASES:
        return None
    return (*first, *second)


def _order(left: Const | None, right: Const | None) -> Order | None:
    """Return how two literal numbers lie, None where one is no literal or no number."""
    if left is None or right is None or isinstance(left.value, str | bool) or isinstance(right.value, str | bool):
        return None
    if left.value == right.value:
        return "="
    return "<" if left.value < right.value else ">"


def _atom(left: Key, right: Key, orders: frozenset[Order], whole: bool) -> Atom:
    """Return an atom whose sides stand in one order, a literal on the right."""
    if left[0] == "literal" or (right[0] != "literal" and repr(left) > repr(right)):
        left, right, orders = right, left, frozenset(_TURNED[o] for o in orders)
    return Atom(left, right, orders, whole)


# Contradictions -------------------------------------------------------------------------------------------------------


def _contradict(atoms: Case) -> bool:
    """Return whether atoms cannot all be true."""
    orders: dict[tuple[Key, Key], frozenset[Order]] = {}
    for atom in atoms:
        pair = (atom.left, atom.right)
        orders[pair] = orders.get(pair, _ALL) & atom.orders
    if not all(orders.values()):
        return True
    whole: dict[Key, list[Atom]] = {}
    for atom in atoms:
        if atom.whole and atom.right[0] == "literal":
            whole.setdefault(atom.left, []).append(atom)
    return any(_empty(of) for of in whole.values())


def _empty(atoms: list[Atom]) -> bool:
    """Return whether no integer lies to the literals of all atoms as they ask."""
    tops = [_value(a) - ("=" not in a.orders) for a in atoms if ">" not in a.orders]
    bottoms = [_value(a) + ("=" not in a.orders) for a in atoms if "<" not in a.orders]
    excluded = {_value(a) for a in atoms if "=" not in a.orders}
    if not tops or not bottoms:
        return False
    possible = range(max(bottoms), min(tops) + 1)
    return len(possible) <= len(excluded) and excluded.issuperset(possible)


def _value(atom: Atom) -> int:
    value = atom.right[1]
    assert isinstance(value, int)
    return value
