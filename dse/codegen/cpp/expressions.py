"""Expressions of the explicit IR as C++: exact integers in types that are wide enough, conversions, calls.

Whatever changes a value is a node already. Where a value is stored modulo 2^n, what leads to it is computed modulo 2^64
or 2^128 if it would need more than 64 bits otherwise: the bits that are kept depend on no higher ones.
"""

from collections.abc import Mapping

from dse.base.source import Span
from dse.codegen.cpp.effects import Effects
from dse.codegen.cpp.natives import NativeForms
from dse.codegen.cpp.no_native_form import NoNativeForm
from dse.codegen.cpp.spelling import (
    CHAINED,
    CONDITIONAL,
    CPP,
    UNARY,
    Names,
    Typed,
    atom,
    bool_literal,
    cast_to,
    float_literal,
    integer,
    name,
    quoted,
    string_literal,
    typed,
)
from dse.codegen.cpp.types import (
    BIG,
    BOOL,
    DOUBLE,
    EXACT_IN_DOUBLE,
    FLOAT,
    I32,
    I64,
    STRING,
    CType,
    modular_type,
    promoted,
    storage_type,
    working_type,
)
from dse.codegen.emitter import ExpressionEmitter, Fragment
from dse.passes.analyses.ranges import Interval, fits
from dse.passes.analyses.values import Values
from dse.passes.arithmetic import wrap
from dse.program.ir import (
    Actor,
    Binary,
    Call,
    Cast,
    Conditional,
    Const,
    Expr,
    Load,
    Unary,
    Variable,
)
from dse.program.types import (
    BoolType,
    FloatType,
    IntType,
    ListType,
    ScalarType,
    StringType,
    scalar_of,
)

_ORDERS = ("<", "<=", ">", ">=", "=", "!=")
_MODULAR = ("+", "-", "*", "&", "|", "^", "<<")
"""Operators whose low bits depend on the low bits of their operands only."""


class Sites:
    """The places of a program that generated code names by number."""

    def __init__(self) -> None:
        self.places: list[tuple[Span, str]] = []
        self._numbers: dict[tuple[Span, str], int] = {}

    def number(self, span: Span, accessed: str = "") -> int:
        """Return the number of a place, where a list may be ``accessed`` out of bounds or something else may fail."""
        found = self._numbers.setdefault((span, accessed), len(self.places))
        if found == len(self.places):
            self.places.append((span, accessed))
        return found


class CppExpressions(ExpressionEmitter):
    """Writes the expressions of one actor that are scalars; ``CppLists`` adds the lists."""

    def __init__(
        self,
        actor: Actor,
        values: Values,
        effects: Effects,
        natives: NativeForms,
        names: Names,
        sites: Sites,
    ) -> None:
        super().__init__(CPP)
        self.values = values
        self.effects = effects
        self.names = names
        self.sites = sites
        self.loop_types: dict[str, CType] = {}
        """Types of the variables of loops: wide enough to count one beyond the end."""
        self.statement: Span = actor.span
        """Where the statement stands that is being written: the place of its faults."""
        self.needs_context = False
        """Whether something prints or calls a native."""
        self.natives = {n.name: n for n in actor.natives}
        self.native_forms = natives
        self.handed_visit: Mapping[str, str] = {}
        """By routine: the function that is called in its place, and takes the visit first."""
        self.parameters: dict[str, tuple[Variable, ...]] = {r.name: r.parameters for r in actor.routines}

    # Scalars ----------------------------------------------------------------------------------------------------------

    def scalar(self, expr: Expr) -> Typed:
        """Return the text of a scalar expression."""
        found = self.write(expr)
        assert isinstance(found, Typed), "a list stands where a scalar stands"
        return found

    def write(self, expr: Expr) -> Fragment:
        """Return the text of an expression."""
        if isinstance(expr, Conditional) and not isinstance(expr.type, ListType):
            return self._conditional(expr)
        return super().write(expr)

    def constant(self, expr: Const) -> Typed:
        """Return a literal."""
        match expr.value:
            case bool(value):
                return bool_literal(value)
            case str(value):
                return string_literal(value)
            case float(value):
                return float_literal(value)
            case value if isinstance(expr.type, FloatType):
                return float_literal(float(value))
            case value:
                return integer(value)

    def variable(self, expr: Load) -> Fragment:
        """Return the name of a variable."""
        text = self.names.of(expr.name)
        of = self.values.held[expr.name].variable.type
        if isinstance(of, ListType):
            return Fragment(text, UNARY + 1, simple=True)
        return name(text, self.loop_types.get(expr.name) or storage_type(of))

    def site(self) -> int:
        """Return the number of the statement that is being written, for its faults."""
        return self.sites.number(self.statement)

    # Types ------------------------------------------------------------------------------------------------------------

    def as_type(self, code: Typed, target: CType) -> Typed:
        """Return a number as one of type ``target``, which is known to hold it."""
        if code.type == target:
            return code
        if code.type == BIG:
            if target.family == "float":
                return atom(f"real({code.text}, {self.site()})", DOUBLE)
            # not a member of it, which a template would need `template` for: its own type may depend on a parameter
            return atom(f"stored<{target.name}>({code.text})", target)
        return cast_to(target, code.text)

    def together(self, of: CType, *codes: Typed) -> list[Typed]:
        """Return operands such that C++ computes with them in the type ``of``, which holds them.

        One operand of that type is enough where C++ converts the others to it without a change.
        """
        found = [c if _joins(c.type, of) else self.as_type(c, of) for c in codes]
        if all(promoted(c.type) != of for c in found):
            found[0] = self.as_type(found[0], of)
        return found

    # Operators --------------------------------------------------------------------------------------------------------

    def unary(self, expr: Unary) -> Typed:
        """Return a unary operation."""
        code = self.scalar(expr.operand)
        if expr.op == "not":
            return typed(CPP.unary[expr.op].of(code), BOOL)
        if isinstance(expr.type, FloatType):
            return typed(CPP.unary[expr.op].of(self.as_type(code, DOUBLE)), DOUBLE)
        of = working_type((self.values.interval(expr.operand), self.values.interval(expr)))
        return typed(CPP.unary[expr.op].of(*self.together(of, code)), of)

    def binary(self, expr: Binary) -> Typed:
        """Return a binary operation."""
        left, right = self.scalar(expr.left), self.scalar(expr.right)
        if expr.op in ("and", "or") or not self.effects.ordered((expr.left, expr.right)):
            return self._operation(expr, left, right)
        first, second = (self.names.fresh(f"t{k}") for k in (1, 2))
        code = self._operation(expr, name(first, left.type), name(second, right.type))
        held = f"const auto {first} = {left.text}; const auto {second} = {right.text};"
        return atom(f"[&] {{ {held} return {code.text}; }}()", code.type)

    def _operation(self, expr: Binary, left: Typed, right: Typed) -> Typed:
        """Return an operation on operands."""
        if expr.op in ("and", "or"):
            return typed(_infix(expr, left, right), BOOL)
        if expr.op in _ORDERS:
            return self._comparison(expr, left, right)
        if isinstance(expr.type, StringType):
            return typed(CPP.binary["+"].of(left, right), STRING)
        if isinstance(expr.type, FloatType):
            return self._real_operation(expr, left, right)
        if expr.op in ("<<", ">>"):
            return self._shift(expr, left, right)
        if expr.op in ("/", "mod"):
            return self._division(expr, left, right)
        if expr.op == "&":
            masked = self._masked(expr)
            if masked is not None:
                return masked
        of = working_type((*self._intervals(expr), self.values.interval(expr)))
        return typed(_infix(expr, *self.together(of, left, right)), of)

    def _intervals(self, expr: Binary) -> tuple[Interval, Interval]:
        return self.values.interval(expr.left), self.values.interval(expr.right)

    def _comparison(self, expr: Binary, left: Typed, right: Typed) -> Typed:
        """Return a comparison; an integer that no float holds is compared with one without rounding."""
        families = {left.type.family, right.type.family}
        if families == {"integer", "float"}:
            of_integer = expr.left if left.type.family == "integer" else expr.right
            if fits(self.values.interval(of_integer), EXACT_IN_DOUBLE):
                return typed(CPP.binary[expr.op].of(*self.together(DOUBLE, left, right)), BOOL)
            sides = [c if c.type.family == "float" else self.as_type(c, BIG) for c in (left, right)]
            order = atom(f"order({sides[0].text}, {sides[1].text})", I32)
            return typed(CPP.binary[expr.op].of(order, integer(0)), BOOL)
        if families == {"integer"}:
            of = working_type(self._intervals(expr))
            left, right = self.together(of, left, right)
        elif families == {"float"} and left.type != right.type:
            left, right = self.together(DOUBLE, left, right)
        return typed(CPP.binary[expr.op].of(left, right), BOOL)

    def _real_operation(self, expr: Binary, left: Typed, right: Typed) -> Typed:
        left, right = (self.as_type(c, DOUBLE) if c.type in (BIG, FLOAT) else c for c in (left, right))
        left, right = self.together(DOUBLE, left, right)
        match expr.op:
            case "/" if not (isinstance(expr.right, Const) and expr.right.value != 0):
                return atom(f"real_quotient({left.text}, {right.text})", DOUBLE)
            case "mod":
                return atom(f"real_modulo({left.text}, {right.text}, {self.site()})", DOUBLE)
            case _:
                return typed(CPP.binary[expr.op].of(left, right), DOUBLE)

    def _division(self, expr: Binary, left: Typed, right: Typed) -> Typed:
        """Return a truncating division; a divisor that may be 0 is tested, and for a remainder one that may be -1."""
        dividend, divisor = self._intervals(expr)
        of = working_type((dividend, divisor, self.values.interval(expr)))
        least = of.limits
        fails = expr.op == "mod" and least is not None and may_be(dividend, least[0]) and may_be(divisor, -1)
        if not (fails or may_be(divisor, 0)):
            return typed(CPP.binary[expr.op].of(*self.together(of, left, right)), of)
        left, right = (self.as_type(c, of) if c.type == BIG else c for c in (left, right))
        function = "quotient" if expr.op == "/" else "modulo"
        return atom(f"{function}<{of.name}>({left.text}, {right.text}, {self.site()})", of)

    def _shift(self, expr: Binary, left: Typed, right: Typed) -> Typed:
        value, count = self._intervals(expr)
        of = working_type((value,) if expr.op == ">>" else (value, self.values.interval(expr)))
        if of.bits and fits(count, (0, of.bits - 1)):
            right = self.as_type(right, I64) if right.type == BIG else right
            return typed(CPP.binary[expr.op].of(*self.together(of, left), right), of)
        return self._far_shift(expr, self.as_type(left, of), right)

    def _far_shift(self, expr: Binary, left: Typed, right: Typed) -> Typed:
        """Return a shift whose count may be negative, or beyond the size of the type."""
        bits = expr.left.type.size if isinstance(expr.left.type, IntType) else 0
        count = self.as_type(right, working_type((self.values.interval(expr.right),)))
        function = "shift_left" if expr.op == "<<" else "shift_right"
        return atom(f"{function}({left.text}, {count.text}, {bits})", left.type)

    def _conditional(self, expr: Conditional) -> Typed:
        condition, then, otherwise = (self.scalar(e) for e in (expr.condition, expr.then, expr.otherwise))
        of = then.type
        if then.type != otherwise.type:
            numbers = working_type((self.values.interval(expr),)) if of.family == "integer" else DOUBLE
            of = numbers if of.family in ("integer", "float") else of
            then, otherwise = self.as_type(then, of), self.as_type(otherwise, of)
        return typed(CPP.conditional.of(condition, then, otherwise), of)

    # Modulo 2^n -------------------------------------------------------------------------------------------------------

    def is_wide(self, expr: Expr, bits: int) -> bool:
        """Return whether an operation of which only low bits are kept would be computed in more than ``bits`` bits."""
        match expr:
            case Binary() if expr.op in _MODULAR and isinstance(expr.type, IntType):
                parts: tuple[Expr, ...] = (expr.left,) if expr.op == "<<" else (expr.left, expr.right)
            case Unary(op="-" | "~"):
                parts = (expr.operand,)
            case Conditional():
                return self.is_wide(expr.then, bits) or self.is_wide(expr.otherwise, bits)
            case _:
                return False
        of = working_type([self.values.interval(e) for e in (expr, *parts)])
        return not 0 < of.bits <= bits or any(self.is_wide(p, bits) for p in parts)

    def modular(self, expr: Expr, of: CType) -> Typed:
        """Return an integer modulo 2^64 or 2^128."""
        match expr:
            case Const(value=int(value)):
                low = value & ((1 << of.bits) - 1)
                return self.as_type(integer(low if low < 1 << 63 else wrap(low, of.bits, signed=True)), of)
            case Binary(op="<<"):
                return self._modular_shift(expr, of)
            case Binary() if expr.op in _MODULAR and not self.effects.ordered((expr.left, expr.right)):
                return typed(_infix(expr, self.modular(expr.left, of), self.modular(expr.right, of)), of)
            case Unary(op="-" | "~"):
                return typed(CPP.unary[expr.op].of(self.modular(expr.operand, of)), of)
            case Conditional():
                parts = (self.scalar(expr.condition), self.modular(expr.then, of), self.modular(expr.otherwise, of))
                return typed(CPP.conditional.of(*parts), of)
            case _:
                return self.as_type(self.scalar(expr), of)

    def _modular_shift(self, expr: Binary, of: CType) -> Typed:
        left, right = self.modular(expr.left, of), self.scalar(expr.right)
        if not self.effects.ordered((expr.left, expr.right)):
            if fits(self.values.interval(expr.right), (0, of.bits - 1)) and right.type != BIG:
                return typed(CPP.binary["<<"].of(self.as_type(left, of), right), of)
            return self._far_shift(expr, self.as_type(left, of), right)
        return self.as_type(self.scalar(expr), of)

    def _masked(self, expr: Binary) -> Typed | None:
        """Return a conjunction with what is not negative modulo 2^64, if an operand is wide; else None."""
        bounds = self.values.interval(expr)
        if bounds is None or bounds[0] < 0 or not I64.holds(bounds):
            return None
        if not (self.is_wide(expr.left, 64) or self.is_wide(expr.right, 64)):
            return None
        of = modular_type(64)
        return cast_to(I64, CPP.binary["&"].of(self.modular(expr.left, of), self.modular(expr.right, of)).text)

    # Conversions ------------------------------------------------------------------------------------------------------

    def cast(self, expr: Cast) -> Typed:
        """Return a conversion."""
        source, target = expr.operand, expr.type
        assert not isinstance(target, ListType), "lists are copied, not cast"
        if isinstance(source.type, ListType):
            return atom(f"text_of({self.view_of(source)})", STRING)
        if isinstance(target, IntType) and isinstance(source, Call) and source.routine in self.natives:
            return self._native_integer(source, target)
        if isinstance(target, IntType) and isinstance(source.type, IntType) and target.container_bits <= 128:
            bits = modular_type(target.container_bits)
            if self.is_wide(source, bits.bits):
                return cast_to(storage_type(target), self.modular(source, bits).text)
        return self.converted(self.scalar(source), self.values.interval(source), source.type, target)

    def converted(self, code: Typed, bounds: Interval, source: ScalarType, target: ScalarType) -> Typed:
        """Return ``code`` of type ``source``, an integer within ``bounds``, converted to ``target``."""
        match target:
            case IntType():
                return self._to_integer(code, source, target)
            case FloatType():
                return self._to_float(code, bounds, storage_type(target))
            case BoolType():
                return code if isinstance(source, BoolType) else typed(CPP.binary["!="].of(code, integer(0)), BOOL)
            case StringType():
                return code if isinstance(source, StringType) else atom(f"text_of({code.text})", STRING)

    def _to_integer(self, code: Typed, source: ScalarType, target: IntType) -> Typed:
        of = storage_type(target)
        if isinstance(source, FloatType):
            if of != BIG:
                return atom(f"truncated<{of.name}>({code.text}, {self.site()})", of)
            code = atom(f"big_truncated({code.text}, {self.site()})", BIG)
        if of != BIG:
            return self.as_type(code, of)
        signed = "true" if target.signed else "false"
        wide = self.as_type(code, BIG).at(UNARY + 1)
        return atom(f"{wide}.wrapped({target.container_bits}, {signed})", BIG)

    def _to_float(self, code: Typed, bounds: Interval, of: CType) -> Typed:
        if code.type == BIG:
            code = self.as_type(code, DOUBLE)
        if of == FLOAT and code.type.family == "integer" and not fits(bounds, EXACT_IN_DOUBLE):
            return atom(f"single({code.text})", FLOAT)
        return self.as_type(code, of)

    # Calls ------------------------------------------------------------------------------------------------------------

    def call(self, expr: Call) -> Fragment:
        """Return a call; what a native returns becomes a value of the kind of its type."""
        if expr.routine not in self.natives:
            text = self.call_text(expr.routine, expr.arguments)
            of = expr.type
            return Fragment(text, UNARY + 1) if isinstance(of, ListType) else atom(text, storage_type(of))
        text = f"({self.native_text(expr)})"
        match expr.type:
            case IntType():
                return atom(f"as_integer<i64>({text}, {self.site()})", I64)
            case BoolType():
                return cast_to(BOOL, text)
            case FloatType():
                return cast_to(DOUBLE, text)
            case StringType():
                return cast_to(STRING, text)
            case _:
                native = self.natives[expr.routine]
                raise NoNativeForm(f"the native '{native.source_name}' gives a list", span=expr.span)

    def _native_integer(self, expr: Call, target: IntType) -> Typed:
        of, text = storage_type(target), self.native_text(expr)
        if of == BIG:
            signed = "true" if target.signed else "false"
            whole = f"Big(as_integer<i128>(({text}), {self.site()}))"
            return atom(f"{whole}.wrapped({target.container_bits}, {signed})", BIG)
        return atom(f"as_integer<{of.name}>(({text}), {self.site()})", of)

    def native_text(self, expr: Call) -> str:
        """Return the call of a native in an expression; before it, the actor says where it is."""
        return f"at({self.site()}), {self.call_text(expr.routine, expr.arguments)}"

    def call_text(self, routine: str, arguments: tuple[Expr, ...]) -> str:
        """Return a call of a routine or native; its arguments are evaluated in order."""
        ordered, held = self.effects.ordered(arguments), ""
        texts = [self._argument(routine, k, a, named=ordered) for k, a in enumerate(arguments)]
        if ordered:
            names = [self.names.fresh("argument") for _ in texts]
            held = " ".join(f"auto&& {n} = {t};" for n, t in zip(names, texts, strict=True))
            texts = names
        if routine in self.handed_visit:
            texts.insert(0, "visit")
        text = f"{self._callee(routine)}({', '.join(texts)})"
        return f"[&] {{ {held} return {text}; }}()" if held else text

    def _callee(self, routine: str) -> str:
        if routine not in self.natives:
            return self.handed_visit.get(routine) or self.names.of(routine)
        self.needs_context = True
        native = self.natives[routine]
        form = self.native_forms.get((native.declared_in, native.source_name))
        if form is not None:
            return form.call
        message = f"native '{native.source_name}', declared in {native.declared_in}, has no C++ form"
        advice = f"bind it with --native {native.declared_in}.{native.source_name}=FILE.cpp:SYMBOL"
        of = native.result_type
        result = "void" if of is None else storage_type(scalar_of(of)).name
        return f"natives::Missing<{result}>{{{quoted(message)}, {quoted(advice)}}}"

    def _argument(self, routine: str, position: int, argument: Expr, *, named: bool) -> str:
        """Return an argument as its parameter takes it."""
        if routine in self.natives:
            return self._native_argument(argument)
        parameter = self.parameters[routine][position]
        if isinstance(parameter.type, ListType):
            return self.list_argument(parameter, argument, named=named)
        code, of = self.scalar(argument), storage_type(parameter.type)
        return self.as_type(code, of).text if BIG in (code.type, of) and code.type != of else code.at(CONDITIONAL)

    def _native_argument(self, argument: Expr) -> str:
        if isinstance(argument.type, ListType):
            return self.view_of(argument)
        code = self.scalar(argument)
        if code.type.family == "integer":
            bounds = self.values.interval(argument)
            return self.as_type(code, next(t for t in (I64, modular_type(64), BIG) if t.holds(bounds))).text
        return self.as_type(code, DOUBLE).text if code.type == FLOAT else code.text

    # Lists: of CppLists -----------------------------------------------------------------------------------------------

    def view_of(self, expr: Expr) -> str:
        """Return a list as a ``View``."""
        raise NotImplementedError

    def list_argument(self, parameter: Variable, argument: Expr, *, named: bool) -> str:
        """Return an argument for a list parameter of a routine; ``named``: a name is bound to it."""
        raise NotImplementedError


def _infix(expr: Binary, left: Fragment, right: Fragment) -> Fragment:
    """Return an operation; a chain of one operator needs no parentheses."""
    operator = CPP.binary[expr.op]
    chained = expr.op in CHAINED and isinstance(expr.left, Binary) and expr.left.op == expr.op
    if chained and left.strength == operator.strength:
        left = Fragment(left.text, UNARY + 1)
    return operator.of(left, right)


def may_be(bounds: Interval, value: int) -> bool:
    """Return whether an integer between bounds (None: any) may be ``value``."""
    return bounds is None or bounds[0] <= value <= bounds[1]


def _joins(of: CType, target: CType) -> bool:
    """Return whether C++ converts an operand of one type to another, larger one without a change."""
    if of == target or promoted(of) == target:
        return True
    if target == BIG:
        return of.family == "integer"
    if target.family == "float":
        return (of.family == "integer" and of != BIG) or of == FLOAT
    if of.family != "integer" or not of.bits or not target.bits:
        return False
    return of.bits < target.bits
