"""Printing of expressions: as few brackets as the precedences of CAL allow, types where no rule gives them."""

import math
from dataclasses import dataclass
from typing import TypeAlias

from dse.base.source import NO_SPAN, Span
from dse.program.ir import (
    Binary,
    Call,
    Cast,
    Check,
    Conditional,
    Const,
    ConstList,
    Copy,
    Expr,
    Generator,
    Index,
    ListExpr,
    Load,
    Unary,
    Variable,
    VariableKind,
)
from dse.program.text.declared import Declared, type_by_rule, type_of_literal
from dse.program.text.tokens import name_text, span_text, string_text, type_text
from dse.program.types import FloatType, IntType, ListType, Type

SaysType: TypeAlias = Const | ConstList | ListExpr | Generator | Cast | Copy
TypedByRule: TypeAlias = Load | Index | Unary | Binary | Conditional | Call | Check

LEVELS = (
    ("or",),
    ("and",),
    ("|",),
    ("^",),
    ("&",),
    ("=", "!="),
    ("<", "<=", ">", ">="),
    ("<<", ">>"),
    ("+", "-"),
    ("*", "/", "mod"),
    ("**",),
)
"""The binary operators from the loosest to the tightest; all of them lean to the left."""
LEVEL_OF = {op: level for level, ops in enumerate(LEVELS) for op in ops}
UNARY_LEVEL = len(LEVELS)
PRIMARY_LEVEL = UNARY_LEVEL + 1

LONGEST_TABLE_LINE = 110
"""Tables of more characters are written in several lines."""
LEAST_RUN = 4
"""So many equal values of a table are written as one with its count."""


@dataclass(frozen=True, slots=True)
class ExpressionPrinter:
    """Prints expressions and variables of one actor. ``path``: the file of which spans do not name it."""

    declared: Declared
    path: str
    spans: bool

    def text(self, expression: Expr, level: int = 0, expected: Type | None = None) -> str:
        """Return an expression, in brackets if it binds less tightly than ``level``."""
        match expression:
            case Const() | ConstList() | ListExpr() | Generator() | Cast() | Copy():
                body, own = self._with_own_type(expression, expected), PRIMARY_LEVEL
            case _:
                body, own = self._body(expression)
                if type_by_rule(expression, self.declared) != expression.type:
                    body, own = f"({body} as {type_text(expression.type)})", PRIMARY_LEVEL
        mark = self.mark(expression.span)
        if mark and own < PRIMARY_LEVEL:
            body, own = f"({body})", PRIMARY_LEVEL
        return f"({body})" if own < level else body + mark

    def several(self, expressions: tuple[Expr, ...]) -> str:
        """Return expressions behind one another."""
        return ", ".join(self.text(e) for e in expressions)

    def mark(self, span: Span) -> str:
        """Return a span as it stands behind a name or an expression; nothing if there is none to print."""
        return span_text(span, self.path) if self.spans and span != NO_SPAN else ""

    def place(self, name: str, indices: tuple[Expr, ...]) -> str:
        """Return a variable or an element of it."""
        return name_text(name) + "".join(f"[{self.text(i)}]" for i in indices)

    def variable(self, variable: Variable, usual: VariableKind | None) -> str:
        """Return the declaration of a variable; its kind is left out where it is the usual one at its place."""
        kind = "" if variable.kind == usual else variable.kind + " "
        name = f"{name_text(variable.name)}{self.mark(variable.span)}"
        source = "" if variable.source_name == variable.name else f" {string_text(variable.source_name)}"
        text = f"{kind}{name}{source}: {type_text(variable.type)}"
        if variable.initial is None:
            return text
        return f"{text} = {self.text(variable.initial, expected=variable.type)}"

    def _with_own_type(self, expression: SaysType, expected: Type | None) -> str:
        """Return an expression that says its type itself; a list does not where that is the expected one."""
        match expression:
            case Const():
                return _literal(expression)
            case ConstList():
                return _prefix(expression, expected) + _table(expression.values)
            case ListExpr() | Generator():
                return _prefix(expression, expected) + self._list(expression)
            case Cast():
                return f"{type_text(expression.type)}({self.text(expression.operand)})"
            case Copy():
                kind = type_text(expression.type) + (", converting" if expression.convert else "")
                return f"copy<{kind}>({self.text(expression.operand)})"

    def _body(self, expression: TypedByRule) -> tuple[str, int]:
        """Return an expression without its type and span, and how tightly it binds."""
        match expression:
            case Load():
                return name_text(expression.name), PRIMARY_LEVEL
            case Index():
                return self.place(expression.name, expression.indices), PRIMARY_LEVEL
            case Unary():
                return self._unary(expression), UNARY_LEVEL
            case Binary():
                return self._binary(expression), LEVEL_OF[expression.op]
            case Conditional():
                parts = [self.text(e) for e in (expression.condition, expression.then, expression.otherwise)]
                return "if {} then {} else {} end".format(*parts), PRIMARY_LEVEL
            case Call():
                return f"{name_text(expression.routine)}({self.several(expression.arguments)})", PRIMARY_LEVEL
            case Check():
                return self._check(expression), PRIMARY_LEVEL

    def _unary(self, expression: Unary) -> str:
        operand = self.text(expression.operand, UNARY_LEVEL)
        if expression.op == "not":
            return f"not {operand}"
        if expression.op == "-" and isinstance(expression.operand, Const):
            return f"-({operand})"  # without brackets it would be a literal
        return expression.op + operand

    def _binary(self, expression: Binary) -> str:
        level = LEVEL_OF[expression.op]
        chain = [expression]
        left = expression.left
        while isinstance(left, Binary) and LEVEL_OF[left.op] == level and self._is_bare(left):
            chain.append(left)  # long chains lean to the left; they must not nest calls
            left = left.left
        parts = [self.text(left, level)]
        parts += [f"{node.op} {self.text(node.right, level + 1)}" for node in reversed(chain)]
        return " ".join(parts)

    def _is_bare(self, expression: Binary) -> bool:
        """Return whether an operation is written without its type and span."""
        return type_by_rule(expression, self.declared) == expression.type and not self.mark(expression.span)

    def _list(self, expression: ListExpr | Generator) -> str:
        of = expression.type.element if isinstance(expression.type, ListType) else None
        elements = ", ".join(self.text(e, expected=of) for e in expression.elements)
        if isinstance(expression, ListExpr):
            return f"[{elements}]"
        loops = [
            f"for {self.variable(loop.variable, 'loop')} in {self.text(loop.low)} .. {self.text(loop.high)}"
            for loop in expression.loops
        ]
        return f"[{elements} : {', '.join(loops)}]"

    def _check(self, expression: Check) -> str:
        tests = [word for word, tested in (("low", expression.low), ("high", expression.high)) if tested]
        size = [] if expression.size is None else [f"size {expression.size}"]
        return f"check({', '.join([self.text(expression.operand), *tests, *size])})"


def _literal(const: Const) -> str:
    text = _value(const.value)
    if const.type == type_of_literal(const.value):
        return text
    number = isinstance(const.value, int | float) and not isinstance(const.value, bool) and text[-1].isdigit()
    if number and isinstance(const.type, IntType | FloatType):
        return text + type_text(const.type)
    return f"({text} as {type_text(const.type)})"


def _value(value: object) -> str:
    """Return a value as a literal that says whether it is an integer, a float, a bool or a string."""
    match value:
        case bool():
            return "true" if value else "false"
        case str():
            return string_text(value)
        case float() if math.isnan(value):
            return "nan"
        case _:
            return repr(value)


def _prefix(expression: ConstList | ListExpr | Generator, expected: Type | None) -> str:
    return "" if expression.type == expected else type_text(expression.type)


def _table(values: tuple[object, ...]) -> str:
    """Return a table, equal values behind one another as one with its count."""
    texts = [_table(value) if isinstance(value, tuple) else _value(value) for value in values]
    items: list[str] = []
    at = 0
    while at < len(texts):
        end = at + 1
        while end < len(texts) and texts[end] == texts[at]:
            end += 1
        items += [f"{end - at} x {texts[at]}"] if end - at >= LEAST_RUN else texts[at:end]
        at = end
    text = "{" + ", ".join(items) + "}"
    return text if len(text) <= LONGEST_TABLE_LINE else "{\n" + "\n".join(_filled(items)) + "\n}"


def _filled(items: list[str]) -> list[str]:
    """Return the lines of a long table."""
    lines: list[str] = []
    line = ""
    for position, item in enumerate(items):
        word = item if position == len(items) - 1 else item + ","
        if line and len(line) + 1 + len(word) > LONGEST_TABLE_LINE:
            lines.append(line)
            line = word
        else:
            line = f"{line} {word}" if line else word
    return [*lines, line]
