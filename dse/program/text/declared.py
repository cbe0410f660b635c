"""What the declarations of an actor say of the types in it, and the types that expressions have by rule."""

from collections.abc import Iterable
from dataclasses import dataclass, field

from dse.program.explicit import ExplicitActor
from dse.program.ir import (
    Actor,
    Binary,
    Call,
    Check,
    Conditional,
    Const,
    Expr,
    Index,
    Load,
    Native,
    Routine,
    Unary,
    Variable,
)
from dse.program.types import BOOL, FLOAT32, STRING, ListType, Type
from dse.program.typing import binary_type, least_upper_bound, literal_type, unary_type
from dse.program.walk import nodes_of


@dataclass(slots=True)
class Declared:
    """Types of variables and results of functions by name; None where two declarations of a name disagree."""

    types: dict[str, Type | None] = field(default_factory=dict)
    results: dict[str, Type | None] = field(default_factory=dict)

    def variable(self, name: str, of: Type) -> None:
        """Enter a variable."""
        self.types[name] = of if self.types.get(name, of) == of else None

    def routine(self, name: str, result: Type | None) -> None:
        """Enter a routine or native."""
        self.results[name] = result if self.results.get(name, result) == result else None


def declared_in(actor: Actor | ExplicitActor) -> Declared:
    """Return what all declarations of an actor say."""
    declared = Declared()
    for node in nodes_of(actor):
        match node:
            case Variable():
                declared.variable(node.name, node.type)
            case Routine() | Native():
                declared.routine(node.name, node.result_type)
            case _:
                pass
    return declared


def type_by_rule(expression: Expr, declared: Declared) -> Type | None:
    """Return the type that an expression has when none is written; None where it has to be written.

    Variables, elements and calls have the declared type; ``Check`` that of its operand; operations what
    ``dse.program.typing`` makes of their operands; a conditional the least upper bound of its branches.
    """
    match expression:
        case Const():
            return type_of_literal(expression.value)
        case Load():
            return declared.types.get(expression.name)
        case Index():
            return _element(declared.types.get(expression.name), len(expression.indices))
        case Unary():
            return unary_type(expression.op, expression.operand.type)
        case Binary():
            return binary_type(expression.op, expression.left.type, expression.right.type)
        case Conditional():
            return least_upper_bound(expression.then.type, expression.otherwise.type)
        case Call():
            return declared.results.get(expression.routine)
        case Check():
            return expression.operand.type
        case _:
            return None


def type_of_literal(value: int | float | bool | str) -> Type:
    """Return the type of a literal that is not marked with one."""
    match value:
        case bool():
            return BOOL
        case int():
            return literal_type(value)
        case float():
            return FLOAT32
        case str():
            return STRING


def _element(of: Type | None, indices: int) -> Type | None:
    for _ in range(indices):
        if not isinstance(of, ListType):
            return None
        of = of.element
    return of


def unique_names(names: Iterable[str]) -> dict[str, int]:
    """Return the position of each name that stands only once."""
    found: dict[str, int] = {}
    twice: set[str] = set()
    for position, name in enumerate(names):
        if name in found:
            twice.add(name)
        found[name] = position
    return {name: position for name, position in found.items() if name not in twice}
