"""Random expressions of RVC-CAL as text, typed as the front-end types them.

They cover every operator on integers of 1 to 512 bits at their limits, floats with infinities and no numbers, bools,
Strings, lists in lists and generators. Unless ``faults`` is set no expression divides an integer by zero.
"""

import random
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TypeVar

from dse.program.types import (
    BOOL,
    INT32,
    STRING,
    BoolType,
    FloatType,
    IntType,
    ListType,
    ScalarType,
    StringType,
    Type,
    dimensions_of,
    scalar_of,
)
from dse.program.typing import binary_type, is_convertible, least_upper_bound, literal_type, unary_type

T = TypeVar("T")
WIDTHS = (1, 2, 3, 7, 8, 8, 9, 15, 16, 16, 17, 24, 31, 32, 32, 32, 33, 48, 63, 64, 64, 65, 100, 127, 128, 129, 256, 512)
INT_OPERATORS = ("+", "+", "-", "-", "*", "&", "|", "^", "/", "div", "mod", "mod", "<<", ">>")
COMPARISONS = ("=", "!=", "<", "<=", ">", ">=")
WORDS = ("", "a", " ", "x\\ty", "\\\\", 'q\\"q', "%d", "100%", "{}", "//", "é", "\\n")
REALS = ("0.0", "1.5", "0.1", "1e-7", "123456.789", "1e30", "3.0e38", "1e300", "0.333333333333", "16777217.0")


@dataclass(frozen=True, slots=True)
class Text:
    """An expression that may stand wherever an operand may, and its static type."""

    text: str
    type: Type


@dataclass(frozen=True, slots=True)
class Named:
    """A variable in scope. ``size`` is that of the list which it stands for in every call, where it is a list."""

    name: str
    type: Type
    writable: bool = False


@dataclass(frozen=True, slots=True)
class Signature:
    """A function or procedure in scope; ``result`` is None for a procedure."""

    name: str
    parameters: tuple[Type, ...]
    result: Type | None


@dataclass(slots=True)
class Scope:
    """What expressions and statements may name."""

    variables: list[Named] = field(default_factory=list)
    functions: list[Signature] = field(default_factory=list)
    procedures: list[Signature] = field(default_factory=list)

    def inner(self, *more: Named) -> "Scope":
        """Return a scope inside of this one with more variables; a name that is used again hides the outer one."""
        hidden = {m.name for m in more}
        kept = [v for v in self.variables if v.name not in hidden]
        return Scope([*kept, *more], list(self.functions), list(self.procedures))


class ExpressionWriter:
    """Writes random expressions; one for each actor, so that its few types meet each other."""

    def __init__(
        self, source: random.Random, *, faults: bool = False, exotic: bool = False, silent: bool = False
    ) -> None:
        self.random = source
        self.silent = silent
        """Whether nothing is printed, nothing a text and no routine calls itself: what a GPU can do."""
        self.faults = faults
        """Whether integers may be divided by zero."""
        self.exotic = exotic
        """Whether lists may have rows of other lengths, and values may be one of two lists of other sizes or kinds."""
        widths = [source.choice(WIDTHS) for _ in range(source.randint(2, 4))]
        self.int_types = [IntType(w, source.random() < 0.6) for w in widths]
        self.loop_names = 0

    # Choices ----------------------------------------------------------------------------------------------------------

    def chance(self, probability: float) -> bool:
        """Return True with the probability given."""
        return self.random.random() < probability

    def pick(self, choices: list[T] | tuple[T, ...]) -> T:
        """Return one of some choices."""
        return self.random.choice(choices)

    def int_type(self) -> IntType:
        """Return one of the actor's integer types."""
        return self.pick(self.int_types)

    def scalar_type(self) -> ScalarType:
        """Return a type, an integer most often."""
        others: list[ScalarType] = [
            FloatType(16),
            FloatType(32),
            FloatType(64),
            BOOL,
            *([] if self.silent else [STRING]),
        ]
        return self.int_type() if self.chance(0.65) else self.pick(others)

    def list_type(self, *, deep: bool = True) -> ListType:
        """Return a type of lists of one, two or three dimensions."""
        of: Type = self.scalar_type()
        for _ in range(self.random.choice((1, 1, 1, 2, 2, 3)) if deep else 1):
            of = ListType(of, self.random.randint(1, 5))
        assert isinstance(of, ListType)
        return of

    # Any type ---------------------------------------------------------------------------------------------------------

    def value(self, of: Type, scope: Scope, depth: int) -> Text:
        """Return an expression that may be stored in a variable of type ``of``."""
        match of:
            case IntType():
                return self.integer(scope, depth)
            case FloatType():
                return self.storable_real(of, scope, depth)
            case BoolType():
                return self.condition(scope, depth)
            case StringType():
                return self.string(scope, depth)
            case ListType():
                return self.list(of, scope, depth)

    def variables(self, scope: Scope, accept: Callable[[Type], bool]) -> list[Text]:
        """Return what is accepted of the variables in scope, elements and sub-lists of lists too."""
        found: list[Text] = []
        for v in scope.variables:
            text, of = v.name, v.type
            while True:
                if accept(of):
                    found.append(Text(text, of))
                if not isinstance(of, ListType):
                    break
                text += f"[{self.index(of.size, scope)}]"
                of = of.element
        return found

    def index(self, size: int, scope: Scope) -> str:
        """Return an index into a list of that size; a few are out of bounds, some wildly."""
        kind = self.random.random()
        if kind < 0.45:
            return str(self.random.randrange(size))
        if kind < 0.5:
            return self.pick([str(size), "-1", str(size + 3), "5000000000", "-9223372036854775809", str(1 << 70)])
        scalars = [v for v in scope.variables if isinstance(v.type, IntType)]
        if not scalars:
            return "0"
        text = self.pick(scalars).name
        if kind < 0.6:
            return text
        mask = (1 << (size.bit_length() - (size & (size - 1) == 0))) - 1
        return f"({text} & {mask})" if kind < 0.9 else f"({text} mod {size})"

    def calls(self, scope: Scope, accept: Callable[[Type], bool], depth: int) -> list[Text]:
        """Return a call of each function whose result is accepted."""
        found = [f for f in scope.functions if f.result is not None and accept(f.result)]
        texts: list[Text] = []
        for f in found:
            arguments = self.arguments(f, scope, depth - 1)
            if arguments is not None and f.result is not None:
                texts.append(Text(f"{f.name}({arguments})", f.result))
        return texts

    def arguments(self, routine: Signature, scope: Scope, depth: int) -> str | None:
        """Return the arguments of a call, or None where there is no list for one of them."""
        texts = []
        for of in routine.parameters:
            if isinstance(of, ListType):
                argument = self.list_argument(of, scope)
                if argument is None:
                    return None
                texts.append(argument.text)
            else:
                texts.append(self.value(of, scope, max(0, depth)).text)
        return ", ".join(texts)

    def list_argument(self, of: ListType, scope: Scope) -> Text | None:
        """Return a list that may be passed: a variable of any size, its elements of any type that converts."""

        def fits(other: Type) -> bool:
            return (
                isinstance(other, ListType)
                and _depth(other) == _depth(of)
                and is_convertible(scalar_of(other), scalar_of(of))
                and is_convertible(scalar_of(of), scalar_of(other))
            )

        found = [Text(v.name, v.type) for v in scope.variables if v.writable and fits(v.type)]
        if found and self.chance(0.9):
            return self.pick(found)
        if self.exotic:
            return self.list(of, scope, 0) if self.chance(0.3) else None
        return self.display(of, scope, 0, exact=True) if self.chance(0.3) else None

    def conditional(self, make: Callable[[], Text], scope: Scope, depth: int) -> Text:
        """Return an if-expression of two or three branches."""
        condition, then = self.condition(scope, depth - 1), make()
        text, of = f"if {condition.text} then {then.text}", then.type
        if self.chance(0.2):
            middle = make()
            text += f" elsif {self.condition(scope, 0).text} then {middle.text}"
            of = _common(of, middle.type)
        otherwise = make()
        return Text(f"({text} else {otherwise.text} end)", _common(of, otherwise.type))

    # Integers ---------------------------------------------------------------------------------------------------------

    def literal(self) -> Text:
        """Return a literal, at the limits of containers often."""
        bits = self.pick((1, 7, 8, 15, 16, 31, 32, 63, 64, 127, 128, 511))
        value = self.pick(
            [
                self.random.randint(0, 9),
                self.random.randint(0, 300),
                (1 << bits) - 1,
                1 << bits,
                self.random.getrandbits(bits),
            ]
        )
        text = hex(value) if self.chance(0.3) else str(value)
        if self.chance(0.25):
            return Text(f"(-{text})", IntType(value.bit_length() + 1, True))
        return Text(text, literal_type(value))

    def integer(self, scope: Scope, depth: int) -> Text:
        """Return an integer expression."""
        kind = self.random.random()
        if depth <= 0 or kind < 0.12:
            found = self.variables(scope, lambda of: isinstance(of, IntType))
            return self.pick(found) if found and self.chance(0.75) else self.literal()
        if kind < 0.18:
            return self.conditional(lambda: self.integer(scope, depth - 1), scope, depth)
        if kind < 0.28:
            operator = self.pick(("-", "~"))
            operand = self.integer(scope, depth - 1)
            of = unary_type(operator, operand.type)
            assert of is not None
            return Text(f"({operator}({operand.text}))", of)
        if kind < 0.36:
            found = self.calls(scope, lambda of: isinstance(of, IntType), depth)
            if found:
                return self.pick(found)
        if kind < 0.38:
            lists = [v for v in scope.variables if isinstance(v.type, ListType)]
            if lists:
                chosen = self.pick(lists)
                of = unary_type("#", chosen.type)
                assert of is not None
                return Text(f"(#{chosen.name})", of)
        return self.operation(scope, depth)

    def operation(self, scope: Scope, depth: int) -> Text:
        """Return a binary operation on integers."""
        operator = self.pick(INT_OPERATORS)
        left, right = self.integer(scope, depth - 1), self.integer(scope, depth - 1)
        if operator in ("<<", ">>"):
            right = self.count(right)
        elif operator in ("/", "div", "mod"):
            right = self.divisor(right)
        return self.joined(operator, left, right)

    def joined(self, operator: str, left: Text, right: Text) -> Text:
        """Return ``left operator right``."""
        of = binary_type({"div": "/", "&&": "and", "||": "or"}.get(operator, operator), left.type, right.type)
        assert of is not None, (operator, left, right)
        return Text(f"({left.text} {operator} {right.text})", of)

    def count(self, right: Text) -> Text:
        """Return the count of a shift: small most often, at times negative or beyond the width."""
        kind = self.random.random()
        if kind < 0.45:
            return self.joined("&", right, self.small(self.pick((3, 7, 15, 31))))
        if kind < 0.75:
            return self.small(self.random.randint(0, 40))
        if kind < 0.95:
            return self.joined("mod", right, self.small(self.pick((3, 33, 70))))
        return self.joined("&", right, self.small(1023))

    def divisor(self, right: Text) -> Text:
        """Return what may be divided by; never zero, unless faults are wanted."""
        if self.faults and self.chance(0.7):
            return right
        if self.chance(0.3):
            return self.small(self.random.randint(1, 300))
        return self.joined("|", right, self.small(1))

    def small(self, value: int) -> Text:
        """Return a literal of that value, not below 0."""
        return Text(str(value), literal_type(value))

    # Floats -----------------------------------------------------------------------------------------------------------

    def real(self, scope: Scope, depth: int) -> Text:
        """Return a float expression; it may be infinite or no number."""
        kind = self.random.random()
        if depth <= 0 or kind < 0.2:
            found = self.variables(scope, lambda of: isinstance(of, FloatType))
            if found and self.chance(0.7):
                return self.pick(found)
            return Text(self.pick(REALS), FloatType(32))
        if kind < 0.3:
            return self.conditional(lambda: self.real(scope, depth - 1), scope, depth)
        if kind < 0.4:
            operand = self.real(scope, depth - 1)
            return Text(f"(-({operand.text}))", operand.type)
        if kind < 0.5:
            found = self.calls(scope, lambda of: isinstance(of, FloatType), depth)
            if found:
                return self.pick(found)
        operator = self.pick(("+", "-", "*", "/", "/"))
        operands = [
            self.real(scope, depth - 1),
            self.narrow(scope) if self.chance(0.3) else self.real(scope, depth - 1),
        ]
        self.random.shuffle(operands)
        return self.joined(operator, *operands)

    def narrow(self, scope: Scope) -> Text:
        """Return an integer that a float is large enough for."""
        return self.integer(scope, 0)

    def storable_real(self, of: FloatType, scope: Scope, depth: int) -> Text:
        """Return a float expression, or an integer, that converts to ``of``."""
        if self.chance(0.2):
            return self.narrow(scope)
        for _ in range(4):
            found = self.real(scope, depth)
            if is_convertible(found.type, of):
                return found
        return Text(self.pick(REALS), FloatType(32))

    # Bools and Strings ------------------------------------------------------------------------------------------------

    def condition(self, scope: Scope, depth: int) -> Text:
        """Return a bool expression."""
        kind = self.random.random()
        if depth <= 0 or kind < 0.15:
            found = self.variables(scope, lambda of: of == BOOL)
            if found and self.chance(0.6):
                return self.pick(found)
            if depth <= 0 and self.chance(0.2):
                return Text(self.pick(("true", "false")), BOOL)
        if depth > 0 and kind < 0.25:
            return Text(f"(not ({self.condition(scope, depth - 1).text}))", BOOL)
        if depth > 0 and kind < 0.45:
            operator = self.pick(("and", "or", "&&", "||"))
            return self.joined(operator, self.condition(scope, depth - 1), self.condition(scope, depth - 1))
        return self.comparison(scope, max(0, depth - 1))

    def comparison(self, scope: Scope, depth: int) -> Text:
        """Return a comparison of two numbers, bools or Strings."""
        kind = self.random.random()
        if kind < 0.65:
            return self.joined(self.pick(COMPARISONS), self.integer(scope, depth), self.integer(scope, depth))
        if kind < 0.85:
            right = self.narrow(scope) if self.chance(0.4) else self.real(scope, depth)
            return self.joined(self.pick(COMPARISONS), self.real(scope, depth), right)
        if kind < 0.93 or self.silent:
            return self.joined(self.pick(("=", "!=")), self.condition(scope, 0), self.condition(scope, 0))
        return self.joined(self.pick(("=", "!=")), self.string(scope, 0), self.string(scope, 0))

    def string(self, scope: Scope, depth: int) -> Text:
        """Return a String that is not longer than all variables together and some text."""
        if depth <= 0:
            found = self.variables(scope, lambda of: of == STRING)
            return self.pick(found) if found and self.chance(0.5) else Text(f'"{self.pick(WORDS)}"', STRING)
        parts = [f'"{self.pick(WORDS)}"', self.printable(scope, depth - 1).text]
        self.random.shuffle(parts)
        return Text(f"({parts[0]} + {parts[1]})", STRING)

    def printable(self, scope: Scope, depth: int) -> Text:
        """Return an expression of any type."""
        kind = self.random.random()
        if kind < 0.5:
            return self.integer(scope, depth)
        if kind < 0.65:
            return self.real(scope, depth)
        if kind < 0.75:
            return self.condition(scope, depth)
        if kind < 0.9:
            found = self.variables(scope, lambda of: isinstance(of, ListType))
            if found:
                return self.pick(found)
        return self.string(scope, 0)

    # Lists ------------------------------------------------------------------------------------------------------------

    def list(self, of: ListType, scope: Scope, depth: int, *, exact: bool = False) -> Text:
        """Return a list that may be stored in a variable of type ``of``; ``exact``: it has all its elements.

        Unless ``exotic`` is set, all that is chosen from, or joined in a list of lists, is of one shape and one kind.
        """
        kind = self.random.random()
        found = self.variables(scope, lambda other: self._fits(other, of, exact=exact))
        if found and kind < 0.5:
            return self.pick(found)
        if depth > 0 and kind < 0.55:
            if self.exotic:
                return self.conditional(lambda: self.list(of, scope, depth - 1), scope, depth)
            same = self.variables(scope, lambda other: other == of)
            if len(same) > 1:
                return self.conditional(lambda: self.pick(same), scope, depth)
        if depth > 0 and kind < 0.75:
            return self.generator(of, scope, depth)
        if of.size > 1 and kind < 0.8:
            cut = self.random.randint(1, of.size - 1)
            first = self.list(ListType(of.element, cut), scope, depth - 1, exact=not self.exotic)
            second = self.list(ListType(of.element, of.size - cut), scope, depth - 1, exact=not self.exotic)
            return self.joined("+", first, second)
        return self.display(of, scope, depth, exact=exact)

    def _fits(self, other: Type, of: ListType, *, exact: bool) -> bool:
        if not isinstance(other, ListType) or not is_convertible(other, of):
            return False
        return not exact or (
            dimensions_of(other) == dimensions_of(of) and type(scalar_of(other)) is type(scalar_of(of))
        )

    def display(self, of: ListType, scope: Scope, depth: int, *, exact: bool) -> Text:
        """Return a list written element by element; at times it is shorter than asked for."""
        short = not exact and self.chance(0.1) and (self.exotic or not isinstance(of.element, ListType))
        count = self.random.randint(1, of.size) if short else of.size
        elements = [self.element(of.element, scope, min(depth - 1, 1)) for _ in range(count)]
        common = elements[0].type
        for element in elements[1:]:
            common = _common(common, element.type)
        return Text(f"[{', '.join(e.text for e in elements)}]", ListType(common, count))

    def element(self, of: Type, scope: Scope, depth: int) -> Text:
        """Return a value of one element of a list; those of lists of lists have one shape."""
        if isinstance(of, ListType):
            return self.list(of, scope, depth, exact=not self.exotic)
        return self.value(of, scope, depth)

    def generator(self, of: ListType, scope: Scope, depth: int) -> Text:
        """Return a list made by one or two loops."""
        self.loop_names += 1
        name, low = f"g{self.loop_names}", self.random.randint(-2, 3)
        variable = Named(name, INT32)
        head = f"for int {name} in {low} .. {low + of.size - 1}"
        inner = scope.inner(variable)
        if of.size % 2 == 0 and self.chance(0.3):
            head = f"for int {name} in {low} .. {low + of.size // 2 - 1}"
            elements = [self.element(of.element, inner, depth - 1) for _ in range(2)]
        elif of.size % 2 == 0 and self.chance(0.3):
            second = f"h{self.loop_names}"
            head = f"for int {name} in {low} .. {low + of.size // 2 - 1}, for int {second} in 0 .. 1"
            elements = [self.element(of.element, inner.inner(Named(second, INT32)), depth - 1)]
        else:
            elements = [self.element(of.element, inner, depth - 1)]
        common = elements[0].type
        for element in elements[1:]:
            common = _common(common, element.type)
        return Text(f"[{', '.join(e.text for e in elements)} : {head}]", ListType(common, of.size))


def _depth(of: Type) -> int:
    return 1 + _depth(of.element) if isinstance(of, ListType) else 0


def _common(left: Type, right: Type) -> Type:
    of = least_upper_bound(left, right)
    assert of is not None, (left, right)
    return of


def type_text(of: Type) -> str:
    """Return a scalar type as CAL text."""
    match of:
        case IntType(size=32, signed=True):
            return "int"
        case IntType():
            return f"{'int' if of.signed else 'uint'}(size={of.size})"
        case ListType():
            return f"List(type: {type_text(of.element)}, size={of.size})"
        case FloatType() | BoolType() | StringType():
            return str(of)


__all__ = ["ExpressionWriter", "Named", "Scope", "Signature", "Text", "type_text"]
