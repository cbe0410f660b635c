"""Reading of expressions. A text is read twice: first for what it declares, then with the types that follow from it."""

import math
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import ClassVar, TypeVar, cast

from dse.base.errors import FormatError
from dse.base.source import Span
from dse.program.ir import (
    Binary,
    BinaryOp,
    Call,
    Cast,
    Check,
    Conditional,
    Const,
    ConstList,
    Copy,
    Expr,
    Generator,
    GeneratorLoop,
    Index,
    ListExpr,
    Load,
    Unary,
    UnaryOp,
    Variable,
    VariableKind,
)
from dse.program.text.cursor import Cursor
from dse.program.text.declared import Declared, type_by_rule, unique_names
from dse.program.text.expressions import LEVEL_OF
from dse.program.text.tokens import Token, numeric_type, unquoted
from dse.program.types import INT32, ListType, Type

_WORDS = {"true": True, "false": False, "inf": math.inf, "-inf": -math.inf, "nan": math.nan, "-nan": math.nan}
_NUMBER = re.compile(r"(.*?)([iuf]\d+)?")

KINDS = ("state", "constant", "parameter", "local", "token", "loop")
_OPEN = ListType(INT32, -1)
"""The type of a node whose type is not written: rules or what stands around it give it."""

Item = TypeVar("Item")


@dataclass(slots=True)
class Known:
    """What the first reading of a text finds for the second one, in which it is ``complete``."""

    declared: Declared = field(default_factory=Declared)
    inputs: list[str] = field(default_factory=list)
    outputs: list[str] = field(default_factory=list)
    actions: list[str] = field(default_factory=list)
    states: list[str] = field(default_factory=list)
    path: str = ""
    complete: bool = False


class ExpressionReader(Cursor):
    """Reads expressions and declarations of variables; enters what it finds in ``found``, looks up in ``known``."""

    def __init__(self, tokens: Sequence[Token], known: Known) -> None:
        super().__init__(tokens, known.path)
        self.known = known
        self.found = Known(complete=True)

    # References and lists ---------------------------------------------------------------------------------------------

    def reference(self, names: list[str], what: str) -> int:
        """Take the name of one of several things, or its number behind ``#``, and return the number."""
        if self.accept("#"):
            return self.natural("a number")
        span = self.token.span
        name = self.name(f"the name of {what}")
        if not self.known.complete:
            return 0
        positions = unique_names(names)
        if name not in positions:
            some = "twice" if name in names else "never"
            expected = f"expected one of: {', '.join(positions)}" if positions else ""
            raise FormatError(f"'{name}' is declared {some} as {what}", span=span, expected=expected)
        return positions[name]

    def several(self, close: str, read: Callable[[], Item]) -> tuple[Item, ...]:
        """Take what stands between commas up to a closing bracket, which is taken too."""
        items: list[Item] = []
        if not self.accept(close):
            items.append(read())
            while self.accept(","):
                items.append(read())
            if not self.accept(close):
                self.missing(f"',' or '{close}'")
        return tuple(items)

    # Variables --------------------------------------------------------------------------------------------------------

    def variable(self, usual: VariableKind | None) -> Variable:
        """Take the declaration of a variable; of the usual kind if none is said."""
        kind = usual
        if self.sees(*KINDS) and (usual is None or self.second.kind == "name"):
            kind = cast("VariableKind", self.take().text)
        if kind is None:
            self.missing("a variable: " + ", ".join(KINDS))
        name = self.name("the name of a variable")
        span = self.span()
        source = self.string("a name") if self.token.kind == "string" else name
        self.expect(":")
        of = self.type()
        self.found.declared.variable(name, of)
        initial = self.expression(of) if self.accept("=") else None
        return Variable(name, source, of, kind, initial, span)

    # Types of what was read -------------------------------------------------------------------------------------------

    def _settled(self, node: Expr, place: Span, expected: Type | None = None) -> Expr:
        """Return an expression, that began at a place, with its type where none was written."""
        if node.type is not _OPEN:
            return node
        if expected is not None and isinstance(node, ConstList):
            return replace(node, type=expected)
        if expected is not None and isinstance(node, ListExpr | Generator):
            return self._list_of(node, place, expected)
        found = type_by_rule(node, self.known.declared)
        if found is None and self.known.complete:
            raise FormatError("no rule gives the type of this", span=place, expected="write (... as TYPE)")
        return _with_type(node, INT32 if found is None else found)

    def _list_of(self, node: ListExpr | Generator, place: Span, of: Type) -> Expr:
        """Return a list with its type; those of its elements may follow from it."""
        element = of.element if isinstance(of, ListType) else None
        return replace(node, type=of, elements=tuple(self._settled(e, place, element) for e in node.elements))

    # Operations -------------------------------------------------------------------------------------------------------

    def expression(self, expected: Type | None = None) -> Expr:
        """Take an expression."""
        return self._operation(0, expected)

    def _operation(self, lowest: int, expected: Type | None = None) -> Expr:
        """Take an expression whose operators are at least of a level."""
        place = self.token.span
        return self._settled(self._open(lowest), place, expected)

    def _open(self, lowest: int = 0) -> Expr:
        """Take an expression as ``_operation`` does; its type may stay open."""
        place = self.token.span
        left = self._unary()
        while (level := self._level()) >= lowest:
            op = cast("BinaryOp", self.take().text)
            left = Binary(op, self._settled(left, place), self._operation(level + 1), _OPEN)
        return left

    def _level(self) -> int:
        """Return the level of the operator that comes next, -1 where none does."""
        token = self.token
        return LEVEL_OF.get(token.text, -1) if token.kind in ("name", "sign") else -1

    def _unary(self) -> Expr:
        if self._sees_negative():
            self.take()
            return self._marked(self._literal("-"))
        if self.sees("-", "~", "#", "not"):
            op = cast("UnaryOp", self.take().text)
            place = self.token.span
            return Unary(op, self._settled(self._unary(), place), _OPEN)
        return self._marked(self._primary())

    def _sees_negative(self) -> bool:
        number = self.second
        literal = number.kind == "number" or number.text in ("inf", "nan")
        return self.sees("-") and literal and number.span.column == self.token.span.end_column

    def _marked(self, node: Expr) -> Expr:
        """Return a node with the span behind it."""
        return replace(node, span=self.span()) if self.token.kind == "span" else node

    # What stands for itself -------------------------------------------------------------------------------------------

    def _primary(self) -> Expr:
        if self.sees_type():
            return self._typed(self.type())
        if self.sees_name():
            return self._named()
        if self.token.kind in ("number", "string") or self.sees("true", "false", "inf", "nan"):
            return self._literal()
        read = self._starts.get(self.token.text)
        if read is None or self.token.kind not in ("name", "sign"):
            self.missing("an expression")
        return read(self)

    def _named(self) -> Expr:
        name = self.name("a name")
        if self.accept("("):
            return Call(name, self.several(")", self.expression), _OPEN)
        indices = self.indices()
        return Index(name, indices, _OPEN) if indices else Load(name, _OPEN)

    def indices(self) -> tuple[Expr, ...]:
        """Take indices in square brackets."""
        found: list[Expr] = []
        while self.accept("["):
            found.append(self.expression())
            self.expect("]")
        return tuple(found)

    def _literal(self, sign: str = "") -> Const:
        token = self.take()
        if token.kind == "string":
            return Const(unquoted(token.text), _OPEN)
        if token.kind == "name":
            return Const(_WORDS[sign + token.text], _OPEN)
        match = _NUMBER.fullmatch(token.text)
        assert match is not None, token
        digits, suffix = match.groups()
        value = float(digits) if not digits.isdecimal() else int(digits)
        return Const(-value if sign else value, _OPEN if suffix is None else numeric_type(suffix))

    def _bracketed(self) -> Expr:
        """Take ``(expression)`` or ``(expression as type)``; the type of the first may stay open."""
        self.take()
        node = self._open()
        if self.accept("as"):
            node = _with_type(node, self.type())
        self.expect(")")
        return node

    def _conditional(self) -> Expr:
        self.take()
        condition = self.expression()
        self.expect("then")
        then = self.expression()
        self.expect("else")
        otherwise = self.expression()
        self.expect("end")
        return Conditional(condition, then, otherwise, _OPEN)

    # Conversions and checks -------------------------------------------------------------------------------------------

    def _typed(self, of: Type) -> Expr:
        """Take what stands behind a type: the operand of a cast, or the parts of a list."""
        place = self.token.span
        if self.accept("("):
            operand = self.expression()
            self.expect(")")
            return Cast(operand, of)
        if not self.sees("{", "["):
            self.missing("'(', '{' or '['")
        return self._settled(self._list(), place, of)

    def _check(self) -> Expr:
        self.take()
        self.expect("(")
        operand = self.expression()
        low, high = self._flag("low"), self._flag("high")
        size = self.natural("a size") if self._flag("size") else None
        self.expect(")")
        return Check(operand, size, low, high, _OPEN)

    def _flag(self, word: str) -> bool:
        """Go behind a comma and a word if these come next, and say whether they did."""
        if self.sees(",") and self.second.text == word:
            self.take()
            self.take()
            return True
        return False

    def _copy(self) -> Expr:
        self.take()
        self.expect("<")
        of = self.list_type()
        convert = self._flag("converting")
        self.close_angle()
        self.expect("(")
        operand = self.expression()
        self.expect(")")
        return Copy(operand, of, convert)

    # Lists ------------------------------------------------------------------------------------------------------------

    def _list(self) -> ConstList | ListExpr | Generator:
        if self.sees("{"):
            return ConstList(self._table(), _OPEN)
        self.expect("[")
        elements = [] if self.sees("]", ":") else [self._open()]
        while self.accept(","):
            elements.append(self._open())
        loops: list[GeneratorLoop] = []
        generator = self.accept(":")
        while generator:
            loops.append(self._loop())
            generator = self.accept(",")
        self.expect("]")
        return Generator(tuple(elements), tuple(loops), _OPEN) if loops else ListExpr(tuple(elements), _OPEN)

    def _loop(self) -> GeneratorLoop:
        self.expect("for")
        variable = self.variable("loop")
        self.expect("in")
        low = self.expression()
        self.expect("..")
        return GeneratorLoop(variable, low, self.expression())

    def _table(self) -> tuple[object, ...]:
        self.expect("{")
        return tuple(value for run in self.several("}", self._run) for value in run)

    def _run(self) -> tuple[object, ...]:
        """Take a value of a table, or a number of times the same one."""
        times = 1
        if self.token.kind == "number" and self.second.text == "x":
            times = self.natural("how often")
            self.take()
        return (self._value(),) * times

    def _value(self) -> object:
        if self.sees("{"):
            return self._table()
        negative = self.accept("-")
        if self.token.kind not in ("number", "string") and not self.sees("true", "false", "inf", "nan"):
            self.missing("a literal or a table")
        return self._literal("-" if negative else "").value

    _starts: ClassVar[dict[str, "Callable[[ExpressionReader], Expr]"]] = {
        "(": _bracketed,
        "[": _list,
        "{": _list,
        "if": _conditional,
        "check": _check,
        "copy": _copy,
    }


def _with_type(node: Expr, of: Type) -> Expr:
    assert not isinstance(node, Copy)
    return replace(node, type=of)
