"""Counting of instructions, as Table 2 of the CGPredict paper maps them (gpu-models page, section cgpredict).

Of an innermost iteration: one for each load and store; 2 * (dims - 1) for the address of each, and arithmetic written
in subscripts; one for each multiplication and addition of the expression as parsed, an addition with a multiplication
as direct operand being one fma; one add and one branch for the loop. Comparisons, conversions and negations cost
nothing (icmp, sext, phi and getelementptr are not counted); what Table 2 does not have (division, logic, calls of
mathematical functions) counts one each.
"""

from collections.abc import Callable
from dataclasses import dataclass, fields
from typing import TypeAlias

from dse.program.ir import Binary, BinaryOp, Call, Cast, Conditional, Const, Expr, Index, Load, Unary
from dse.program.walk import operands_of

IsMemory: TypeAlias = Callable[[str, tuple[Expr, ...]], bool]
"""Whether an access of the element (array, subscripts) is a memory instruction."""

_OTHER: tuple[BinaryOp, ...] = ("/", "mod", "<<", ">>", "&", "|", "^", "**")


@dataclass(frozen=True, slots=True, kw_only=True)
class OperationCount:
    """Instructions by kind, of one execution of a piece of a thread."""

    loads: int = 0
    stores: int = 0
    address: int = 0
    add: int = 0
    mul: int = 0
    fma: int = 0
    other: int = 0
    loop: int = 0

    def __add__(self, more: "OperationCount") -> "OperationCount":
        names = [f.name for f in fields(self)]
        return OperationCount(**{n: getattr(self, n) + getattr(more, n) for n in names})


_OPERATORS: dict[BinaryOp, OperationCount] = {
    "+": OperationCount(add=1),
    "-": OperationCount(add=1),
    "*": OperationCount(mul=1),
    **dict.fromkeys(_OTHER, OperationCount(other=1)),
}
"""What an operation costs; comparisons and logic cost nothing."""


def count_expression(expression: Expr, is_memory: IsMemory) -> OperationCount:
    """Return the instructions that an expression costs."""
    match expression:
        case Index():
            return _element(expression.indices, is_memory, OperationCount(loads=1), is_memory(*_element_of(expression)))
        case Binary():
            return _operation(expression, is_memory)
        case Call():
            return OperationCount(other=1) + _sum(expression.arguments, is_memory)
        case Unary(op="~"):
            return OperationCount(other=1) + count_expression(expression.operand, is_memory)
        case _:
            return _sum(operands_of(expression), is_memory)


def _operation(expression: Binary, is_memory: IsMemory) -> OperationCount:
    left, right = expression.left, expression.right
    if expression.op in ("+", "-") and (_is_product(left) or _is_product(right)):
        fused, other = (right, left) if _is_product(right) else (left, right)
        return OperationCount(fma=1) + _sum([*operands_of(fused), other], is_memory)
    return _OPERATORS.get(expression.op, OperationCount()) + _sum(operands_of(expression), is_memory)


def count_store(indices: tuple[Expr, ...], is_memory: IsMemory, stored: bool, *, again: bool) -> OperationCount:
    """Return the instructions of storing to an element; ``again``: its address was computed for its load as well."""
    if again and not stored:
        return OperationCount()
    return _element(indices, is_memory, OperationCount(stores=1), stored)


def _element(indices: tuple[Expr, ...], is_memory: IsMemory, access: OperationCount, counted: bool) -> OperationCount:
    """Return the cost of an element's address and access; nothing for one in a register."""
    if not counted:
        return OperationCount()
    count = access + OperationCount(address=2 * (len(indices) - 1))
    for index in indices:
        count = count + _subscript(index, is_memory)
    return count


def _subscript(index: Expr, is_memory: IsMemory) -> OperationCount:
    """Return the cost of a subscript: one for each operation, no fma (integers), and the loads in it."""
    match index:
        case Index():
            return count_expression(index, is_memory)
        case Binary() | Call():
            own = OperationCount(address=1)
        case _:
            own = OperationCount()
    for operand in operands_of(index):
        own = own + _subscript(operand, is_memory)
    return own


def _element_of(expression: Index) -> tuple[str, tuple[Expr, ...]]:
    return expression.name, expression.indices


def _is_product(expression: Expr) -> bool:
    return isinstance(expression, Binary) and expression.op == "*"


def _sum(parts: list[Expr] | tuple[Expr, ...], is_memory: IsMemory) -> OperationCount:
    count = OperationCount()
    for part in parts:
        count = count + count_expression(part, is_memory)
    return count


def expression_key(expression: Expr) -> tuple[object, ...]:
    """Return a value that equal expressions share, wherever they stand."""
    parts = tuple(expression_key(o) for o in operands_of(expression))
    match expression:
        case Const():
            return ("const", expression.value)
        case Load():
            return ("load", expression.name)
        case Index():
            return ("index", expression.name, *parts)
        case Unary() | Binary():
            return (expression.op, *parts)
        case Call():
            return ("call", expression.routine, *parts)
        case Cast():
            return ("cast", str(expression.type), *parts)
        case Conditional():
            return ("if", *parts)
        case _:
            return (id(expression),)
