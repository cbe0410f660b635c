"""Walks over statements and expressions of the IR, in source order."""

from collections.abc import Callable, Collection, Iterable, Iterator
from dataclasses import dataclass, fields, is_dataclass, replace
from typing import assert_never

from dse.base.source import Span
from dse.program.ir import (
    Assign,
    Binary,
    Call,
    CallStmt,
    Cast,
    Check,
    Conditional,
    Const,
    ConstList,
    ConsumeTokens,
    Copy,
    CopyInto,
    Count,
    Declare,
    Evaluate,
    Expr,
    ForEach,
    Generator,
    If,
    Index,
    ListExpr,
    Load,
    Print,
    ReadTokens,
    Stmt,
    Unary,
    While,
    WriteTokens,
)
from dse.program.types import BoolType, FloatType, IntType, ListType, StringType


def sub_statements(statements: Iterable[Stmt]) -> Iterator[Stmt]:
    """Yield every statement, a compound one before its parts."""
    for statement in statements:
        yield statement
        match statement:
            case If():
                yield from sub_statements(statement.then)
                yield from sub_statements(statement.otherwise)
            case While() | ForEach():
                yield from sub_statements(statement.body)
            case _:
                pass


def expressions_of(statement: Stmt) -> tuple[Expr, ...]:
    """Return the expressions that stand in a statement itself, not in its parts."""
    match statement:
        case Declare() | Print():
            return (statement.value,) if statement.value is not None else ()
        case Assign() | CopyInto():
            return (*statement.indices, statement.value)
        case Evaluate():
            return (statement.value,)
        case WriteTokens():
            return statement.values
        case ReadTokens() | ConsumeTokens() | Count():
            return ()
        case CallStmt():
            return statement.arguments
        case If() | While():
            return (statement.condition,)
        case ForEach():
            return (statement.low, statement.high)
        case _:
            assert_never(statement)


def with_parts(
    statement: Stmt, value: Callable[[Expr], Expr], body: Callable[[tuple[Stmt, ...]], tuple[Stmt, ...]]
) -> Stmt:  # ways: one case for each node of the IR
    """Return a statement whose expressions are what ``value`` makes of them, and its parts what ``body`` does."""
    match statement:
        case Declare() | Print():
            return statement if statement.value is None else replace(statement, value=value(statement.value))
        case Assign() | CopyInto():
            return replace(statement, indices=tuple(map(value, statement.indices)), value=value(statement.value))
        case Evaluate():
            return replace(statement, value=value(statement.value))
        case WriteTokens():
            return replace(statement, values=tuple(map(value, statement.values)))
        case ReadTokens() | ConsumeTokens() | Count():
            return statement
        case CallStmt():
            return replace(statement, arguments=tuple(map(value, statement.arguments)))
        case If():
            then, otherwise = body(statement.then), body(statement.otherwise)
            return replace(statement, condition=value(statement.condition), then=then, otherwise=otherwise)
        case While():
            return replace(statement, condition=value(statement.condition), body=body(statement.body))
        case ForEach():
            low, high = value(statement.low), value(statement.high)
            return replace(statement, low=low, high=high, body=body(statement.body))
        case _:
            assert_never(statement)


def reads_any(expressions: Iterable[Expr], names: Collection[str]) -> bool:
    """Return whether an expression reads one of some variables."""
    return any(isinstance(p, Load) and p.name in names for e in expressions for p in sub_expressions(e))


def operands_of(expression: Expr) -> tuple[Expr, ...]:  # ways: one case for each node of the IR
    """Return the direct operands of an expression, left to right."""
    match expression:
        case Const() | ConstList() | Load():
            return ()
        case Index():
            return expression.indices
        case Unary() | Cast() | Check() | Copy():
            return (expression.operand,)
        case Binary():
            return (expression.left, expression.right)
        case Conditional():
            return (expression.condition, expression.then, expression.otherwise)
        case Call():
            return expression.arguments
        case ListExpr():
            return expression.elements
        case Generator():
            bounds = tuple(b for loop in expression.loops for b in (loop.low, loop.high))
            return (*bounds, *expression.elements)
        case _:
            assert_never(expression)


def sub_expressions(expression: Expr) -> Iterator[Expr]:
    """Yield an expression and all its parts, left to right, each before its own parts."""
    pending = [expression]
    while pending:
        current = pending.pop()
        yield current
        pending += reversed(operands_of(current))


def with_operands(expression: Expr, operands: tuple[Expr, ...]) -> Expr:
    """Return an expression with other operands, in the order of ``operands_of``."""
    match expression:
        case Const() | ConstList() | Load() | Generator():
            return expression  # the parts of a generator are its own affair: its loops' bounds are constants
        case Index():
            return Index(expression.name, operands, expression.type, expression.span)
        case Unary() | Cast() | Check() | Copy():
            return replace(expression, operand=operands[0])
        case Binary():
            return Binary(expression.op, operands[0], operands[1], expression.type, expression.span)
        case Conditional():
            return replace(expression, condition=operands[0], then=operands[1], otherwise=operands[2])
        case Call():
            return replace(expression, arguments=operands)
        case ListExpr():
            return replace(expression, elements=operands)
        case _:
            assert_never(expression)


def nodes_of(tree: object) -> Iterator[object]:
    """Yield every node of the IR in a node or a tuple of them, each before its parts; types and spans are none."""
    pending = [tree]
    while pending:
        node = pending.pop()
        if isinstance(node, Span):
            continue
        if isinstance(node, tuple):
            pending.extend(reversed(node))
            continue
        parts = _PARTS.get(type(node))
        if parts is None:
            parts = _PARTS[type(node)] = _parts_of(node)
        if parts.is_node:
            yield node
            pending.extend([getattr(node, name) for name in parts.names])


@dataclass(frozen=True, slots=True)
class _Parts:
    """The fields of a class that may hold nodes, the last first."""

    is_node: bool
    names: tuple[str, ...] = ()


_PARTS: dict[type, _Parts] = {}
"""What ``_parts_of`` has found; a walk asks it for each node."""


def _parts_of(node: object) -> _Parts:
    if not is_dataclass(node) or isinstance(node, IntType | FloatType | BoolType | StringType | ListType):
        return _Parts(is_node=False)
    names = [] if isinstance(node, ConstList) else [field.name for field in reversed(fields(node))]
    return _Parts(is_node=True, names=tuple(names))
