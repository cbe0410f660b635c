"""Expressions of the explicit IR as Python: exact integers, truncating division, lists with checked indices.

Whatever changes a value is a node already. What is decided here is only which of several spellings with the same value
is the quickest: by the bounds of the operands, which ``Values`` knows.
"""

from dataclasses import dataclass, field
from typing import assert_never

from dse.base.source import Span
from dse.codegen.emitter import ExpressionEmitter, Fragment
from dse.codegen.python.spelling import (
    ADD,
    ANY_SHIFT,
    AT_MOST,
    AT_MOST_NAME,
    ATOM,
    BIT_OR,
    BY_SIGN,
    CONDITIONAL,
    FLOAT_DIVISION,
    FLOOR,
    MASKED,
    MASKED_SHIFT,
    OR,
    PYTHON,
    TEXT_OF_BOOL,
    TEXT_OF_FLOAT,
    TEXT_OF_INTEGER,
    TEXT_OF_LIST,
    TO_BOOL,
    TO_DOUBLE,
    TO_INTEGER,
    TO_SINGLE,
    UNARY,
    atom,
    float_literal,
    integer,
    name,
    python_name,
    routine_name,
    zero_text,
)
from dse.codegen.python.support import copy_nested
from dse.passes.analyses.ranges import Interval, container
from dse.passes.analyses.values import Values, is_exact_in_single
from dse.passes.arithmetic import LARGEST_SHIFT, shift_left
from dse.program.ir import (
    Binary,
    Call,
    Cast,
    Check,
    Const,
    ConstList,
    Copy,
    Expr,
    Generator,
    GeneratorLoop,
    Index,
    ListExpr,
    Load,
)
from dse.program.types import (
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

_ONE_DIGIT = (1 << 30) - 1


@dataclass(slots=True)
class Namespace:
    """What the code of one actor refers to: fresh temporaries, objects, and places of accesses that may be stray."""

    objects: dict[str, object] = field(default_factory=dict)
    sites: list[tuple[Span, str]] = field(default_factory=list)
    natives: frozenset[str] = frozenset()
    temporaries: int = 0
    """How many there are so far."""
    _numbers: dict[tuple[Span, str], int] = field(default_factory=dict)

    def temporary(self) -> Fragment:
        """Return an unused name."""
        self.temporaries += 1
        return name(f"t{self.temporaries}")

    def object(self, value: object) -> str:
        """Return a name under which generated code finds ``value``."""
        found = f"K{len(self.objects)}"
        self.objects[found] = value
        return found

    def site(self, span: Span, name: str) -> int:
        """Return the number of a place that may access ``name`` out of bounds; a text that is repeated has the same."""
        if (span, name) not in self._numbers:
            self._numbers[span, name] = len(self.sites)
            self.sites.append((span, name))
        return self._numbers[span, name]


class PythonExpressions(ExpressionEmitter):
    """Writes the expressions of one actor."""

    def __init__(self, values: Values, names: Namespace) -> None:
        super().__init__(PYTHON)
        self.values = values
        self.names = names

    def used_twice(self, fragment: Fragment) -> tuple[Fragment, Fragment]:
        """Return what stands at the first use of a value and at later ones: a name, unless repeating costs nothing."""
        if fragment.simple:
            return fragment, fragment
        held = self.names.temporary()
        return atom(f"({held.text} := {fragment.text})"), held

    # Leaves -----------------------------------------------------------------------------------------------------------

    def constant(self, expr: Const) -> Fragment:
        """Return a literal."""
        match expr.value:
            case bool() | str():
                return atom(repr(expr.value))
            case float(value):
                return float_literal(value)
            case value if isinstance(expr.type, FloatType):
                return float_literal(float(value))
            case value:
                return integer(value)

    def variable(self, expr: Load) -> Fragment:
        """Return the name of a variable."""
        return name(python_name(expr.name))

    # Lists ------------------------------------------------------------------------------------------------------------

    def element(self, expr: Index) -> Fragment:
        """Return an element or sub-list; what a stray read gives follows the tests of its indices."""
        target, test = self.place(expr.name, expr.indices)
        if not test:
            return atom(target)
        site = self.names.site(expr.span, self.values.held[expr.name].variable.source_name)
        stray = f"stray({site})"
        if isinstance(expr.type, ListType):
            stray = f"stray_list({site}, {dimensions_of(expr.type)}, {zero_text(expr.type)})"
        elif not isinstance(expr.type, IntType):
            stray = f"(stray({site}), {zero_text(expr.type)})[1]"
        return Fragment(f"{target} if {test} else {stray}", CONDITIONAL)

    def place(self, name: str, indices: tuple[Expr, ...]) -> tuple[str, str]:
        """Return (text of an element, text of the test that its indices are in bounds, or "" where none is checked).

        The test must be evaluated first: it may name the values that the element text uses.
        """
        target, tests = python_name(name), []
        for index in indices:
            if isinstance(index, Check):
                first, later = self.used_twice_unless_sign(self.write(index.operand))
                tests.append(_bound_test(index, first, later, target))
                target = f"{target}[{later.text}]"
            else:
                target = f"{target}[{self.write(index).text}]"
        return target, " and ".join(tests)

    def used_twice_unless_sign(self, index: Fragment) -> tuple[Fragment, Fragment]:
        """Return what stands at the first and at later uses of an index; a name with a sign is repeated as it is."""
        return (index, index) if index.strength == UNARY else self.used_twice(index)

    def new_list(self, expr: ConstList | ListExpr | Generator | Copy) -> Fragment:
        """Return a table, a list display, a comprehension or a copy."""
        match expr:
            case ConstList():
                return name(self.names.object(copy_nested(expr.values)))
            case ListExpr():
                return atom(f"[{', '.join(self.write(e).at(CONDITIONAL) for e in expr.elements)}]")
            case Generator():
                return self._generator(expr)
            case Copy():
                return self._copy(expr)
            case _:
                assert_never(expr)

    def _generator(self, expr: Generator) -> Fragment:
        loops = " ".join(self._generator_loop(loop) for loop in expr.loops)
        elements = [self.write(e).at(CONDITIONAL) for e in expr.elements]
        if len(elements) == 1:
            return atom(f"[{elements[0]} {loops}]")
        return atom(f"flattened([({', '.join(elements)},) {loops}])")

    def _generator_loop(self, loop: GeneratorLoop) -> str:
        return f"for {python_name(loop.variable.name)} in {self.range_text(loop.low, loop.high)}"

    def range_text(self, low: Expr, high: Expr) -> str:
        """Return Python's range over low to high, both included."""
        end = str(high.value + 1) if isinstance(high, Const) and isinstance(high.value, int) else ""
        end = end or f"{self.write(high).at(ADD)} + 1"
        from_zero = isinstance(low, Const) and low.value == 0
        return f"range({end})" if from_zero else f"range({self.write(low).text}, {end})"

    def _copy(self, expr: Copy) -> Fragment:
        """Return a new list: a slice where that is all, a comprehension where only elements are converted."""
        before = self.names.temporaries
        source, length, size = self.write(expr.operand), self.values.of(expr.operand).length, expr.type.size
        assigns = self.names.temporaries > before
        if not isinstance(expr.type.element, ListType) and length is not None and length >= size:
            part = source.at(ATOM) + ("[:]" if length == size else f"[:{size}]")
            if not expr.convert:
                return atom(part)
            return self._converted_elements(expr, source.at(OR) if length == size else part, assigns=assigns)
        if not expr.convert and self.values.shape(expr.operand) == dimensions_of(expr.type):
            return atom(f"copy_nested({source.text})")
        dims = ", ".join(map(str, dimensions_of(expr.type)))
        convert = self.conversion_function(expr.operand, expr.type, convert=expr.convert)
        return atom(f"filled(({dims},), {zero_text(expr.type)}, {source.text}, {convert})")

    def _converted_elements(self, expr: Copy, elements: str, *, assigns: bool) -> Fragment:
        """Return the elements converted, which are as many as the copy has; ``assigns``: their text assigns."""
        element = self.element_conversion(expr.operand, expr.type.element).text
        if assigns:  # a comprehension may not iterate over what assigns
            return atom(f"list(map(lambda e: {element}, {elements}))")
        return atom(f"[{element} for e in {elements}]")

    def conversion_function(self, source: Expr, target: Type, *, convert: bool) -> str:
        """Return a function text that converts one element on a store, or None's text where none is needed."""
        return f"(lambda e: {self.element_conversion(source, target).text})" if convert else "None"

    def element_conversion(self, source: Expr, target: Type) -> Fragment:
        """Return the conversion of an element ``e`` of the list ``source`` to the scalars of ``target``."""
        return self.converted(name("e"), self.values.interval(source), scalar_of(source.type), scalar_of(target))

    # Operators --------------------------------------------------------------------------------------------------------

    def binary(self, expr: Binary) -> Fragment:
        """Return a binary operation in its quickest spelling for what is known of the operands."""
        if expr.op in ("/", "mod"):
            return self._division(expr)
        if expr.op in ("<<", ">>"):
            return self._shift(expr)
        return super().binary(expr)

    def _division(self, expr: Binary) -> Fragment:
        left, right = self.write(expr.left), self.write(expr.right)
        if FloatType in (type(expr.left.type), type(expr.right.type)):
            return FLOAT_DIVISION[expr.op].of(left, right)
        least_divisor = self.least(expr.right)
        if self.least(expr.left) >= 0 and least_divisor >= 0:
            return FLOOR[expr.op].of(left, right)
        if least_divisor > 0 and right.simple:
            return BY_SIGN[expr.op].of(*self.used_twice(left), right)
        return self.spelling.binary[expr.op].of(left, right)

    def least(self, expr: Expr) -> int:
        """Return the least value that an integer expression may have; -1 where it may be any."""
        bounds = self.values.interval(expr)
        return -1 if bounds is None else bounds[0]

    def _shift(self, expr: Binary) -> Fragment:
        left, right, count = self.write(expr.left), self.write(expr.right), self.values.interval(expr.right)
        if count is None or count[0] < 0:
            bits = expr.left.type.size if isinstance(expr.left.type, IntType) else 0
            if left.simple and count is not None and count[1] <= LARGEST_SHIFT:
                mask = integer(shift_left(1, -1, bits).bit_length() - 1)  # what is left of -1
                return MASKED_SHIFT[expr.op].of(left, *self.used_twice(right), mask)
            return ANY_SHIFT[expr.op].of(left, right, integer(bits))
        if expr.op == "<<" and count[1] > LARGEST_SHIFT:
            # Corrupt data may ask for a shift by billions: nothing is left of it in any container.
            right = (AT_MOST_NAME if right.simple else AT_MOST).of(right, integer(LARGEST_SHIFT))
        return self.spelling.binary[expr.op].of(left, right)

    # Conversions ------------------------------------------------------------------------------------------------------

    def cast(self, expr: Cast) -> Fragment:
        """Return a conversion."""
        source = expr.operand
        if isinstance(source.type, ListType) or isinstance(expr.type, ListType):
            assert isinstance(expr.type, StringType), "lists are copied, not cast"
            return TEXT_OF_LIST.of(self.write(source))
        return self.converted(self.write(source), self.values.interval(source), source.type, expr.type)

    def converted(self, code: Fragment, bounds: Interval, source: ScalarType, target: ScalarType) -> Fragment:
        """Return ``code`` of type ``source``, an integer within ``bounds``, converted to ``target``."""
        match target:
            case IntType():
                if not isinstance(source, IntType):
                    code = TO_INTEGER.of(code)
                return code if isinstance(source, BoolType) else self._wrapped(code, bounds, target)
            case FloatType():
                small = isinstance(source, IntType) and is_exact_in_single(bounds)
                return (TO_DOUBLE if small or target.bits == 64 else TO_SINGLE).of(code)
            case BoolType():
                return TO_BOOL.of(code)
            case StringType():
                return _text(code, source)
            case _:
                assert_never(target)

    def _wrapped(self, code: Fragment, bounds: Interval, target: IntType) -> Fragment:
        limits = container(target)
        assert limits is not None
        if not target.signed:
            return MASKED.of(code, integer(limits[1]))
        test, value = self.range_test(code, bounds, target)
        return Fragment(f"{value} if {test} else {wrap_text(target, value)}", CONDITIONAL)

    def range_test(self, code: Fragment, bounds: Interval, target: IntType) -> tuple[str, str]:
        """Return (a test, a text for the value that is valid after it); the value needs no wrap if the test holds.

        The bounds tested for 32-bit containers are those of CPython's one-digit integers, whose comparison is four
        times quicker; a value between them and the real bounds is wrapped for nothing, to itself.
        """
        limits = container(target)
        assert limits is not None
        low, high = limits
        if target.container_bits == 32:
            low, high = max(low, -_ONE_DIGIT), min(high, _ONE_DIGIT)
        first, value = self.used_twice(code)
        if bounds is not None and bounds[0] >= limits[0]:
            return f"{first.text} <= {high}", value.text
        if bounds is not None and bounds[1] <= limits[1]:
            return f"{first.text} >= {low}", value.text
        return f"{first.text} <= {high} and {value.text} >= {low}", value.text

    # Calls ------------------------------------------------------------------------------------------------------------

    def call(self, expr: Call) -> Fragment:
        """Return a call; what a native returns becomes a value of the kind of its type."""
        code = atom(self.call_text(expr.routine, expr.arguments))
        if expr.routine not in self.names.natives:
            return code
        match expr.type:
            case IntType():
                return TO_INTEGER.of(code)
            case BoolType():
                return TO_BOOL.of(code)
            case FloatType():
                return TO_DOUBLE.of(code)
            case _:
                return code

    def call_text(self, routine: str, arguments: tuple[Expr, ...]) -> str:
        """Return a call of a routine or native."""
        return f"{routine_name(routine)}({', '.join(self.write(a).text for a in arguments)})"


def wrap_text(target: IntType, value: str) -> str:
    """Return the text that wraps ``value``, a name, to a container, whatever it is."""
    modulus = 1 << target.container_bits
    return (
        f"({value} + {modulus // 2} & {modulus - 1}) - {modulus // 2}" if target.signed else f"{value} & {modulus - 1}"
    )


def _bound_test(check: Check, first: Fragment, later: Fragment, target: str) -> str:
    """Return the test of one index; ``target`` is the list that it is an index of."""
    bound = f"len({target})" if check.size is None else str(check.size)
    if check.low and check.high:
        return f"{first.at(BIT_OR)} < {bound} and {later.text} > -1"
    return f"{first.at(BIT_OR)} > -1" if check.low else f"{first.at(BIT_OR)} < {bound}"


def _text(code: Fragment, source: Type) -> Fragment:
    """Return the text of a scalar as C prints it."""
    match source:
        case StringType():
            return code
        case BoolType():
            return TEXT_OF_BOOL.of(code)
        case FloatType():
            return TEXT_OF_FLOAT.of(code)
        case _:
            return TEXT_OF_INTEGER.of(code)
