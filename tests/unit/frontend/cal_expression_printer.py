"""Expressions, types and variable declarations back to RVC-CAL text, with the parentheses that precedence needs."""

import math
from typing import assert_never

from dse.frontend.cal.ast import (
    Annotation,
    BinaryExpr,
    CallExpr,
    Expr,
    GeneratorClause,
    IfExpr,
    IndexExpr,
    IntList,
    ListLit,
    ListTypeExpr,
    Lit,
    Name,
    NamedType,
    TypeExpr,
    UnaryExpr,
    VarDecl,
)
from dse.frontend.cal.tokens import BINARY_LEVELS, RESERVED


def name_text(name: str) -> str:
    """Return a name as it is written: a reserved word behind ``^``."""
    return "^" + name if name in RESERVED else name


def dotted_text(name: str) -> str:
    """Return a dotted name as it is written."""
    return ".".join(name_text(part) for part in name.split("."))


def expressions_text(expressions: tuple[Expr, ...]) -> str:
    """Return expressions with commas between them."""
    return ", ".join(expression_text(e) for e in expressions)


def expression_text(expression: Expr) -> str:
    """Return the text of an expression."""
    match expression:
        case Lit():
            return _literal(expression.value)
        case Name():
            return dotted_text(expression.name)
        case IndexExpr():
            indices = "".join(f"[{expression_text(i)}]" for i in expression.indices)
            return dotted_text(expression.name.name) + indices
        case CallExpr():
            annotations = "".join(annotation_text(a) + " " for a in expression.annotations)
            return f"{annotations}{dotted_text(expression.function.name)}({expressions_text(expression.arguments)})"
        case UnaryExpr():
            word = expression.op + (" " if expression.op == "not" else "")
            simple = not isinstance(expression.operand, UnaryExpr | BinaryExpr)
            return word + _parenthesized(expression.operand, simple)
        case BinaryExpr():
            return _binary(expression)
        case IfExpr():
            return _if(expression)
        case ListLit():
            generators = ", ".join(_generator(g) for g in expression.generators)
            return f"[{expressions_text(expression.elements)}{' : ' if generators else ''}{generators}]"
        case IntList():
            return f"[{', '.join(map(str, expression.values))}]"
        case _:
            assert_never(expression)


def _parenthesized(expression: Expr, simple: bool) -> str:
    return expression_text(expression) if simple else f"({expression_text(expression)})"


def _literal(value: int | float | bool | str) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        return f'"{value}"'
    assert 0 <= value < math.inf, "literals are finite and have no sign: a negative one is a UnaryExpr"
    return repr(value)


def _binary(expression: BinaryExpr) -> str:
    """Chains are long on the left side only, so that side is followed in a loop."""
    tail: list[str] = []
    head: Expr = expression
    outer = 0
    while isinstance(head, BinaryExpr) and BINARY_LEVELS[head.op] >= outer:
        outer = BINARY_LEVELS[head.op]
        right = head.right
        simple = not isinstance(right, BinaryExpr) or BINARY_LEVELS[right.op] > outer
        tail.append(f" {head.op} {_parenthesized(right, simple)}")
        head = head.left
    return _parenthesized(head, not isinstance(head, BinaryExpr)) + "".join(reversed(tail))


def _if(expression: IfExpr) -> str:
    text = ""
    rest: Expr = expression
    while isinstance(rest, IfExpr):
        word = "elsif" if text else "if"
        text += f"{word} {expression_text(rest.condition)} then {expression_text(rest.then)} "
        rest = rest.otherwise
    return f"{text}else {expression_text(rest)} end"


def _generator(generator: GeneratorClause) -> str:
    return "for " + generator_head_text(generator.variable, generator.low, generator.high)


def generator_head_text(variable: VarDecl, low: Expr, high: Expr) -> str:
    """Return ``type variable in low .. high``."""
    return f"{declaration_text(variable)} in {expression_text(low)} .. {expression_text(high)}"


def type_text(declared: TypeExpr) -> str:
    """Return the text of a type."""
    match declared:
        case NamedType():
            return declared.name + (f"(size={expression_text(declared.size)})" if declared.size is not None else "")
        case ListTypeExpr():
            return f"List(type: {type_text(declared.element)}, size={expression_text(declared.size)})"
        case _:
            assert_never(declared)


def declaration_text(variable: VarDecl) -> str:
    """Return a variable declaration without what ends it."""
    annotations = "".join(annotation_text(a) + " " for a in variable.annotations)
    dimensions = "".join(f"[{expression_text(d)}]" for d in variable.dimensions)
    text = f"{annotations}{type_text(variable.type)} {name_text(variable.name)}{dimensions}"
    if variable.value is None:
        return text
    return f"{text} {'=' if variable.constant else ':='} {expression_text(variable.value)}"


def annotation_text(annotation: Annotation) -> str:
    """Return ``@name(key="value", key)``."""
    arguments = ", ".join(name_text(k) + (f'="{v}"' if v else "") for k, v in annotation.arguments)
    return f"@{name_text(annotation.name)}" + (f"({arguments})" if arguments else "")
