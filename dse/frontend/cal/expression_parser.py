"""Expressions, types, variable declarations and annotations of RVC-CAL (the last four sections of Cal.xtext)."""

import math
import re

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
from dse.frontend.cal.cursor import MAX_CHAIN, MAX_NESTING, Cursor
from dse.frontend.cal.tokens import BINARY_LEVELS, IDENTIFIER, INTEGER, REAL, STRING, TYPE_WORDS, UNARY_OPERATORS

MAX_DIGITS = 1000
"""Digits that an integer literal may have: far beyond every type, and within what Python converts to text."""

_UNCHECKED_LINKS = MAX_CHAIN - MAX_NESTING
_UNESCAPED_QUOTE = re.compile(r'((?:\\.)+|[^"\\]+)|"')


class ExpressionParser(Cursor):
    """Parses expressions and what they are made of."""

    # Expressions ------------------------------------------------------------------------------------------------------

    def _expression(self, floor: int = 1) -> Expr:
        """``AstExpression``: operands joined by the operators of ``BINARY_LEVELS`` from level ``floor`` up."""
        self._depth += 1
        if self._depth > MAX_NESTING:
            raise self._too_deep(f"nested deeper than {MAX_NESTING} levels")
        start = self._at
        left = self._operand()
        operator = self._kinds[self._at]
        level = BINARY_LEVELS.get(operator, 0)
        links = 0
        while level >= floor:
            links += 1
            if links > _UNCHECKED_LINKS:
                self._check_chain(links)
            self._at += 1
            right = self._expression(level + 1)
            left = BinaryExpr(operator, left, right, self._span(start))
            operator = self._kinds[self._at]
            level = BINARY_LEVELS.get(operator, 0)
        self._depth -= 1
        return left

    def _operand(self) -> Expr:
        """``ExpressionUnary: ('~' | 'not' | '-' | '#')? ExpressionPostfix`` with the postfix forms dispatched here."""
        start = self._at
        kind = self._kinds[start]
        if kind == IDENTIFIER or kind == "^":
            return self._reference()
        if kind == INTEGER:
            return self._integer()
        if kind == "(":
            self._at = start + 1
            inside = self._expression()
            self._expect(")")
            return inside
        if kind == "[":
            return self._list()
        if kind in UNARY_OPERATORS:
            return self._unary()
        if kind == "if":
            return self._if_expression()
        return self._rare_operand(kind)

    def _unary(self) -> Expr:
        """``('~' | 'not' | '-' | '#') ExpressionPostfix``: one operator only."""
        start = self._at
        self._at += 1
        following = self._kinds[self._at]
        if following in UNARY_OPERATORS:
            raise self._fail("an operand", "put the second unary operator and its operand in parentheses")
        operand = self._operand()
        return UnaryExpr(self._kinds[start], operand, self._span(start))

    def _rare_operand(self, kind: str) -> Expr:
        """``ExpressionBoolean | ExpressionFloat | ExpressionString | ExpressionCall`` with annotations."""
        start = self._at
        if kind == "@":
            annotations = self._annotations()
            name = self._name("the function that the annotation belongs to")
            return self._call(start, self._rest_of_reference(name, start), annotations)
        if kind == "true" or kind == "false":
            self._at += 1
            return Lit(kind == "true", self._token_span(start))
        if kind == STRING:
            self._at += 1
            return Lit(string_value(self._texts[start]), self._token_span(start))
        if kind == REAL:
            value = float(self._texts[start])
            if not math.isfinite(value):
                self._report(f"the number {self._texts[start][:40]} is too large", None, "double reaches 1.8e308")
                value = 0.0
            self._at += 1
            return Lit(value, self._token_span(start))
        raise self._fail("an expression")

    def _integer(self) -> Lit:
        """``ExpressionInteger: DECIMAL | OCTAL | HEX``."""
        start = self._at
        value = self._integer_value(start)
        self._at = start + 1
        return Lit(value, self._token_span(start))

    def _integer_value(self, at: int) -> int:
        """Return the value of integer token ``at``; reports one that is none and returns 0."""
        text = self._texts[at]
        if len(text) > MAX_DIGITS:
            self._gather.error(f"an integer of {len(text)} digits fits no type", self._token_span(at), "shorten it")
            return 0
        if text[0] != "0" or len(text) == 1:
            return int(text)
        if text[1] in "xX":
            return int(text, 16)
        try:
            return int(text, 8)
        except ValueError:
            hint = "a leading 0 makes a number octal: leave it out for a decimal one"
            self._gather.error(f"'{text}' has digits that are not octal", self._token_span(at), hint)
            return 0

    def _reference(self) -> Expr:
        """``ExpressionVariable | ExpressionIndex | ExpressionCall``, with dotted names."""
        start = self._at
        if self._kinds[start] == IDENTIFIER:
            self._at = start + 1
            name = Name(self._texts[start], self._token_span(start))
        else:
            name = self._name("an expression")
        kind = self._kinds[self._at]
        if kind == ".":
            name = self._rest_of_reference(name, start)
            kind = self._kinds[self._at]
        if kind == "[":
            return IndexExpr(name, self._indices(), self._span(start))
        if kind == "(":
            return self._call(start, name, ())
        return name

    def _rest_of_reference(self, name: Name, start: int) -> Name:
        """Read ``('.' ID)*`` behind the first name of a ``QualifiedName`` that begins at token ``start``."""
        if self._kinds[self._at] != ".":
            return name
        text = name.name
        while self._accept("."):
            text += "." + self._identifier("a name behind '.'")
        return Name(text, self._span(start))

    def _indices(self) -> tuple[Expr, ...]:
        """``('[' AstExpression ']')*``."""
        indices = []
        while self._kinds[self._at] == "[":
            self._at += 1
            indices.append(self._expression())
            self._expect("]", "a list of lists is indexed like a[i][j]" if self._kinds[self._at] == "," else "")
        return tuple(indices)

    def _call(self, start: int, function: Name, annotations: tuple[Annotation, ...]) -> CallExpr:
        """``AstAnnotation* QualifiedName '(' (AstExpression (',' AstExpression)*)? ')'`` from the parenthesis."""
        arguments = self._arguments()
        return CallExpr(function, arguments, annotations, self._span(start))

    def _arguments(self) -> tuple[Expr, ...]:
        """``'(' (AstExpression (',' AstExpression)*)? ')'``."""
        self._expect("(")
        if self._accept(")"):
            return ()
        arguments = self._expressions()
        if self._kinds[self._at] != ")":
            raise self._fail("',' or ')' in the arguments")
        self._at += 1
        return arguments

    def _expressions(self) -> tuple[Expr, ...]:
        """``AstExpression (',' AstExpression)*``."""
        expressions = [self._expression()]
        while self._kinds[self._at] == ",":
            self._at += 1
            expressions.append(self._expression())
        return tuple(expressions)

    def _if_expression(self) -> IfExpr:
        """``'if' c 'then' a ('elsif' c 'then' a)* 'else' b 'end'``."""
        self._open_ifs += 1
        starts, heads = [], []
        while True:
            starts.append(self._at)
            self._at += 1
            condition = self._expression()
            self._expect("then")
            heads.append((condition, self._expression()))
            if self._kinds[self._at] != "elsif":
                break
            self._check_chain(len(heads))
        if not self._accept("else"):
            raise self._fail("'else' or 'elsif'", "an if-expression needs a value for every case")
        value = self._expression()
        self._expect("end", f"it closes the if-expression of line {self._lines[starts[0]]}")
        self._open_ifs -= 1
        for start, (condition, then) in zip(reversed(starts), reversed(heads), strict=True):
            value = IfExpr(condition, then, value, self._span(start))
        assert isinstance(value, IfExpr), "an if-expression has at least one condition"
        return value

    # Lists ------------------------------------------------------------------------------------------------------------

    def _list(self) -> Expr:
        """``'[' AstExpression (',' AstExpression)* (':' Generator (',' Generator)*)? ']'``."""
        start = self._at
        folded = self._integer_list()
        if folded is not None:
            return folded
        self._at += 1
        elements = self._expressions()
        generators = self._generators() if self._accept(":") else ()
        if self._kinds[self._at] != "]":
            raise self._fail("',' or ']' in the generators" if generators else "',', ':' or ']' in the list")
        self._at += 1
        span = self._span(start)
        values = () if generators else _literal_values(elements)
        return IntList(values, span) if values else ListLit(elements, generators, span)

    def _integer_list(self) -> IntList | None:
        """Read a list of plain integer literals at once (tables of thousands are usual), or return None."""
        start, kinds = self._at, self._kinds
        if kinds[start + 1] != INTEGER or kinds[start + 2] not in (",", "]"):
            return None
        try:
            close = kinds.index("]", start)
        except ValueError:
            return None
        count = (close - start) // 2
        if kinds[start + 1 : close : 2].count(INTEGER) != count or kinds[start + 2 : close : 2].count(",") != count - 1:
            return None
        values = tuple([self._integer_value(at) for at in range(start + 1, close, 2)])
        self._at = close + 1
        return IntList(values, self._span(start))

    def _generators(self) -> tuple[GeneratorClause, ...]:
        """``Generator (',' Generator)*`` with ``Generator: 'for' VariableDeclaration 'in' low '..' high``."""
        generators = []
        while True:
            start = self._at
            self._expect("for", "a generator is written [e : for int i in 0 .. 9]")
            variable = self._variable_declaration()
            self._expect("in")
            low, high = self._range()
            generators.append(GeneratorClause(variable, low, high, self._span(start)))
            if not self._accept(","):
                return tuple(generators)

    def _range(self) -> tuple[Expr, Expr]:
        """``AstExpression '..' AstExpression``."""
        low = self._expression()
        self._expect("..", "a range is written low .. high, both included")
        return low, self._expression()

    # Types and variables ----------------------------------------------------------------------------------------------

    def _type(self) -> TypeExpr:
        """``AstType``: a name, ``int`` or ``uint`` with a size in parentheses, or ``List``."""
        start = self._at
        kind = self._kinds[start]
        if kind not in TYPE_WORDS:
            raise self._fail("a type", "types: bool int uint float half double String List(type: T, size=n)")
        self._at = start + 1
        if kind == "List":
            return self._list_type(start)
        size = None
        if (kind == "int" or kind == "uint") and self._accept("("):
            self._expect("size", f"a size is written {kind}(size=8)")
            self._expect("=")
            size = self._expression()
            self._expect(")")
        return NamedType(kind, size, self._span(start))

    def _list_type(self, start: int) -> ListTypeExpr:
        """``'List' '(' 'type' ':' AstType ',' 'size' '=' AstExpression ')'`` from the parenthesis."""
        hint = "a list type is written List(type: T, size=n)"
        self._enter()
        self._expect("(", hint)
        self._expect("type", hint)
        self._expect(":", hint)
        element = self._type()
        self._expect(",", hint)
        self._expect("size", hint)
        self._expect("=", hint)
        size = self._expression()
        self._expect(")")
        self._depth -= 1
        return ListTypeExpr(element, size, self._span(start))

    def _variable_declaration(self) -> VarDecl:
        """``VariableDeclaration: AstAnnotation* AstType ID ('[' AstExpression ']')*``."""
        start = self._at
        annotations = self._annotations()
        declared_type = self._type()
        name = self._identifier()
        return VarDecl(declared_type, name, self._indices(), None, False, annotations, self._span(start))

    def _valued_declaration(self, start: int, annotations: tuple[Annotation, ...], assign: tuple[str, ...]) -> VarDecl:
        """``VariableDeclaration (assign AstExpression)?`` behind its annotations.

        ``assign`` holds the signs that may introduce the value, of ``=`` (a constant) and ``:=``.
        """
        declared_type = self._type()
        name = self._identifier()
        dimensions = self._indices() if self._kinds[self._at] == "[" else ()
        value: Expr | None = None
        sign = self._kinds[self._at]
        if sign in assign:
            self._at += 1
            value = self._expression()
        elif sign in ("=", ":="):
            if not assign:
                raise self._fail("',' or ')'", "only the parameters of an actor have default values")
            raise self._fail("'='", "':=' is for the variables of actors, actions, functions and procedures")
        return VarDecl(declared_type, name, dimensions, value, sign == "=", annotations, self._span(start))

    # Annotations ------------------------------------------------------------------------------------------------------

    def _annotations(self) -> tuple[Annotation, ...]:
        """``AstAnnotation*`` with ``AstAnnotation: '@' ID ('(' argument (',' argument)* ')')?``."""
        annotations: tuple[Annotation, ...] = ()
        while self._kinds[self._at] == "@":
            start = self._at
            self._at += 1
            name = self._identifier("the name of an annotation")
            arguments: list[tuple[str, str]] = []
            if self._accept("("):
                arguments.append(self._annotation_argument())
                while self._accept(","):
                    arguments.append(self._annotation_argument())
                self._expect(")")
            annotations += (Annotation(name, tuple(arguments), self._span(start)),)
        return annotations

    def _annotation_argument(self) -> tuple[str, str]:
        """``AnnotationArgument: ID ('=' STRING)?``."""
        name = self._identifier("an argument of the annotation")
        if not self._accept("="):
            return name, ""
        if self._kinds[self._at] != STRING:
            raise self._fail("a string")
        self._at += 1
        return name, string_value(self._texts[self._at - 1])


def string_value(text: str) -> str:
    """Return what stands between the quotes, escapes as written; a ``"`` within single quotes gets an escape."""
    inside = text[1:-1] if len(text) > 1 and text[-1] == text[0] else text[1:]
    if text[0] == "'" and '"' in inside:
        return _UNESCAPED_QUOTE.sub(lambda m: m[1] or '\\"', inside)
    return inside


def _literal_values(elements: tuple[Expr, ...]) -> tuple[int, ...]:
    """Return the values of ``elements`` if all are integer literals or negated ones, else nothing."""
    values = []
    for element in elements:
        match element:
            case Lit(value=value) if type(value) is int:
                values.append(value)
            case UnaryExpr(op="-", operand=Lit(value=value)) if type(value) is int:
                values.append(-value)
            case _:
                return ()
    return tuple(values)
