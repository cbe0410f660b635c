"""IR expressions to Python text (cal.md 2.1, 2.2): exact integers, truncating division, bounds-checked lists."""

from dataclasses import replace
from typing import assert_never

from dse.codegen.python.code import (
    ADD,
    AND,
    ATOM,
    BIT_AND,
    BIT_OR,
    BIT_XOR,
    COMPARE,
    CONDITIONAL,
    MULTIPLY,
    NOT,
    OR,
    SHIFT,
    UNARY,
    Code,
    integer,
    stored,
)
from dse.codegen.python.scope import Scope, Symbol, python_name, zero_of
from dse.passes.analyses import ranges as intervals
from dse.passes.analyses.ranges import container
from dse.passes.arithmetic import single, wrap
from dse.program.ir import (
    Binary,
    Call,
    Cast,
    Conditional,
    Const,
    ConstList,
    Expr,
    Generator,
    Index,
    ListExpr,
    Load,
    Unary,
    Variable,
    not_of_source,
)
from dse.program.types import (
    BOOL,
    BoolType,
    FloatType,
    IntType,
    ListType,
    StringType,
    Type,
    dimensions_of,
    scalar_of,
)

_STRENGTHS = {
    "or": OR,
    "and": AND,
    "|": BIT_OR,
    "^": BIT_XOR,
    "&": BIT_AND,
    "<<": SHIFT,
    ">>": SHIFT,
    "+": ADD,
    "-": ADD,
    "*": MULTIPLY,
    "=": COMPARE,
    "!=": COMPARE,
    "<": COMPARE,
    "<=": COMPARE,
    ">": COMPARE,
    ">=": COMPARE,
}
_LARGE_SHIFT = 4096
_PYTHON_OPS = {"=": "==", "mod": "%", "/": "//"}


def zero_text(of: Type) -> str:
    """Return the Python literal of the zero of a scalar type."""
    return repr(zero_of(of))


class ExpressionWriter:
    """Writes expressions of one actor. Stateless but for the scope it adds names and sites to."""

    def __init__(self, scope: Scope) -> None:
        self.scope = scope

    # Entry points -----------------------------------------------------------------------------------------------------

    def write(self, expr: Expr) -> Code:
        """Return the code of an expression, not yet wrapped to anything."""
        match expr:
            case Const():
                return self._const(expr)
            case ConstList():
                return Code(self.scope.table(expr.values), length=len(expr.values), interval=_bounds_of(expr))
            case Load():
                return self._load(expr)
            case Index():
                return self._index(expr)
            case Unary():
                return self._unary(expr)
            case Binary():
                return self._binary(expr)
            case Conditional():
                return self._conditional(expr)
            case Call():
                return self._call(expr)
            case ListExpr():
                return self._list(expr)
            case Generator():
                return self._generator(expr)
            case Cast():
                return self._cast(expr)
            case _:
                raise not_of_source(expr)

    def stored(self, expr: Expr, target: Type) -> Code:
        """Return the code of an expression converted to a variable of type ``target``; lists are copied if needed."""
        if isinstance(target, ListType):
            return self.copied(self.write(expr), expr.type, target)
        return stored(self.write(expr), target, self.scope.names)

    def copied(self, code: Code, source: Type, target: ListType) -> Code:
        """Return a list of exactly the type ``target`` that nothing else refers to."""
        nested = isinstance(target.element, ListType)
        same = self.elements_fit(code, source, target) and code.length == target.size
        if same and code.fresh:
            return code
        if same and not nested:
            return Code(f"{code.at(ATOM)}[:]", fresh=True, length=target.size)
        element = self.element_conversion(code, source, target)
        dims = ", ".join(map(str, dimensions_of(target)))
        text = f"filled(({dims},), {zero_text(target)}, {code.text}, {element})"
        return Code(text, fresh=True, length=target.size)

    def elements_fit(self, code: Code, source: Type, target: Type) -> bool:
        """Return whether the elements of a list need no conversion when they are stored in ``target``."""
        have, want = scalar_of(source), scalar_of(target)
        if isinstance(want, IntType):
            return intervals.fits(code.interval, container(want))
        if isinstance(want, FloatType):
            return isinstance(have, FloatType) and (want.bits >= have.bits or code.single)
        return True

    def element_conversion(self, code: Code, source: Type, target: Type) -> str:
        """Return a function text that converts one element on a store, or None's text where none is needed."""
        if self.elements_fit(code, source, target):
            return "None"
        scalar = scalar_of(target)
        inner = stored(
            Code("e", interval=code.interval, real=isinstance(scalar_of(source), FloatType)), scalar, self.scope.names
        )
        return f"(lambda e: {inner.text})"

    def text_of(self, expr: Expr) -> str:
        """Return the text of a String expression whose value is ``expr`` as C prints it."""
        code = self.write(expr)
        match expr.type:
            case StringType():
                return code.text
            case BoolType():
                return f"bool_text({code.text})"
            case FloatType():
                return f"float_text({code.text})"
            case _:
                return f"str({code.text})"

    # Leaves -----------------------------------------------------------------------------------------------------------

    def _const(self, expr: Const) -> Code:
        value = expr.value
        if isinstance(value, bool | str):
            return Code(repr(value))
        if isinstance(value, float):
            return Code(_float_literal(value), UNARY if value < 0 else ATOM, real=True, single=_is_single(value))
        if isinstance(expr.type, FloatType):
            return Code(f"{value}.0", ATOM if value >= 0 else UNARY, real=True, single=abs(value) <= 1 << 24)
        return integer(value)

    def _symbol(self, name: str) -> Symbol:
        return self.scope.symbols[name]

    def _load(self, expr: Load) -> Code:
        symbol = self._symbol(expr.name)
        of = symbol.variable.type
        if symbol.literal is not None:
            value = symbol.literal.value
            if isinstance(of, IntType) and isinstance(value, int):
                return integer(wrap(value, of.container_bits, of.signed))
            return stored(self._const(symbol.literal), of, self.scope.names)
        real = isinstance(of, FloatType)
        length = None
        if isinstance(of, ListType) and not symbol.by_reference:
            length = of.size
        return Code(symbol.python, ATOM, symbol.interval, real=real, single=_held_single(of), length=length)

    # Lists ------------------------------------------------------------------------------------------------------------

    def _index(self, expr: Index) -> Code:
        symbol = self._symbol(expr.name)
        target, test = self.element(symbol, expr.indices)
        real = isinstance(expr.type, FloatType)
        length = expr.type.size if isinstance(expr.type, ListType) and not symbol.by_reference else None
        plain = Code(target, ATOM, symbol.interval, real=real, single=_held_single(expr.type), length=length)
        if not test:
            return plain
        site = self.scope.site(expr.span, symbol.variable.source_name)
        fallback = f"stray({site})"
        if isinstance(expr.type, ListType):
            fallback = f"stray_list({site}, {dimensions_of(expr.type)}, {zero_text(expr.type)})"
        elif not isinstance(expr.type, IntType):
            fallback = f"(stray({site}), {zero_text(expr.type)})[1]"
        interval = intervals.hull(symbol.interval, (0, 0))
        return replace(plain, text=f"{target} if {test} else {fallback}", strength=CONDITIONAL, interval=interval)

    def element(self, symbol: Symbol, indices: tuple[Expr, ...]) -> tuple[str, str]:
        """Return (text of the element, text of the test that its indices are in bounds, or "" where that is known).

        The test must be evaluated first: it may name the values that the element text uses.
        """
        target, tests = symbol.python, []
        for depth, index in enumerate(indices):
            code = self.write(index)
            size = symbol.sizes[depth]
            bound = str(size) if symbol.bounded else f"len({target})"
            limit = size - 1 if symbol.bounded else None
            low, high = code.interval or (-1, None)
            below = low < 0
            above = limit is None or high is None or high > limit
            if below or above:
                test, text = self._bound_test(code, bound, below=below, above=above)
                tests.append(test)
            else:
                text = code.text
            target = f"{target}[{text}]"
        return target, " and ".join(tests)

    def _bound_test(self, code: Code, bound: str, *, below: bool, above: bool) -> tuple[str, str]:
        first, text = code.at(BIT_OR), code.text
        if not code.simple and code.strength != UNARY:
            text = self.scope.names.temporary()
            first = f"({text} := {code.text})"
        if below and above:
            return f"{first} < {bound} and {text} > -1", text
        return (f"{first} > -1" if below else f"{first} < {bound}"), text

    def _list(self, expr: ListExpr) -> Code:
        return self._collected(expr.elements, expr.type, "[{}]")

    def _collected(self, elements: tuple[Expr, ...], of: Type, pattern: str) -> Code:
        """Return a list display; list-typed elements are copied, the interval bounds all of them."""
        assert isinstance(of, ListType)
        codes = [self._member(e) for e in elements]
        interval = codes[0].interval if codes else None
        for code in codes[1:]:
            interval = intervals.hull(interval, code.interval)
        body = ", ".join(c.at(CONDITIONAL) for c in codes)
        length = len(codes) if pattern == "[{}]" else of.size
        single = bool(codes) and all(c.single for c in codes)
        return Code(pattern.format(body), ATOM, interval, single=single, fresh=True, length=length)

    def _member(self, expr: Expr) -> Code:
        code = self.write(expr)
        if isinstance(expr.type, ListType) and not code.fresh:
            return replace(code, text=f"copy_nested({code.text})", strength=ATOM, fresh=True)
        return code

    def _generator(self, expr: Generator) -> Code:
        loops = []
        for loop in expr.loops:
            low, high = self.write(loop.low), self.write(loop.high)
            loops.append(f"for {self._loop(loop.variable, low, high)} in {range_text(low, high)}")
        if len(expr.elements) == 1:
            return self._collected(expr.elements, expr.type, "[{} " + " ".join(loops) + "]")
        inner = self.scope.names.temporary()
        return self._collected(expr.elements, expr.type, f"[{inner} {' '.join(loops)} for {inner} in ({{}},)]")

    def _loop(self, variable: Variable, low: Code, high: Code) -> str:
        """Declare a loop variable that takes the values low to high and return its name."""
        return self.scope.declare(variable, loop_interval(variable, low, high)).python

    # Operators --------------------------------------------------------------------------------------------------------

    def _unary(self, expr: Unary) -> Code:
        operand = self.write(expr.operand)
        match expr.op:
            case "not":
                return Code(f"not {operand.at(NOT)}", NOT)
            case "~":
                return Code(f"~{operand.at(UNARY)}", UNARY, intervals.complemented(operand.interval))
            case "-":
                return Code(
                    f"-{operand.at(UNARY)}",
                    UNARY,
                    intervals.negated(operand.interval),
                    real=operand.real,
                    single=operand.single,
                )
            case "#":
                return integer(operand.length) if operand.length is not None else Code(f"len({operand.text})")
            case _:
                assert_never(expr.op)

    def _binary(self, expr: Binary) -> Code:
        if isinstance(expr.type, StringType):
            return Code(f"{self._term(expr.left)} + {self._term(expr.right)}", ADD)
        left, right = self.write(expr.left), self.write(expr.right)
        if expr.op in ("/", "mod"):
            return self._division(expr, left, right)
        if expr.op == "**":
            return Code(f"({left.text}) ** ({right.text})", MULTIPLY, real=left.real or right.real)
        if expr.op in ("<<", ">>") and not (right.interval and right.interval[0] >= 0):
            return self._signed_shift(expr, left, right)
        if expr.op == "<<" and right.interval is not None and right.interval[1] > _LARGE_SHIFT:
            # Corrupt data may ask for a shift by billions: nothing is left of it in any container.
            limited = f"min({right.text}, {_LARGE_SHIFT})"
            if right.simple:
                limited = f"({right.text} if {right.text} < {_LARGE_SHIFT} else {_LARGE_SHIFT})"
            right = Code(limited, interval=(right.interval[0], _LARGE_SHIFT))
        strength = _STRENGTHS[expr.op]
        op = _PYTHON_OPS.get(expr.op, expr.op)
        left_text = left.at(strength + (strength == COMPARE))
        text = f"{left_text} {op} {right.at(strength + (expr.op not in ('or', 'and')))}"
        real = left.real or right.real
        arithmetic = expr.type != BOOL
        interval = intervals.binary(expr.op, left.interval, right.interval) if arithmetic and not real else None
        return Code(text, strength, interval, real=real and arithmetic)

    def _signed_shift(self, expr: Binary, left: Code, right: Code) -> Code:
        """Return a shift whose count may be negative: it then shifts the other way (C leaves that open)."""
        interval = None
        if left.interval is not None and right.interval is not None:
            back = intervals.negated(right.interval)
            other = intervals.binary("<<" if expr.op == ">>" else ">>", left.interval, back)
            interval = intervals.hull(intervals.binary(expr.op, left.interval, right.interval), other)
        if not left.simple:
            name = "shift_left" if expr.op == "<<" else "shift_right"
            return Code(f"{name}({left.text}, {right.text})", ATOM, interval)
        count, first = right.text, right.at(BIT_OR)
        if not right.simple:
            count = self.scope.names.temporary()
            first = f"({count} := {right.text})"
        back_op = "<<" if expr.op == ">>" else ">>"
        if _is_huge(right.interval):
            name = "shift_left" if expr.op == "<<" else "shift_right"
            return Code(f"{name}({left.text}, {right.text})", ATOM, interval)
        text = f"{left.text} {expr.op} {count} if {first} >= 0 else {left.text} {back_op} -{count}"
        return Code(text, CONDITIONAL, interval)

    def _term(self, expr: Expr) -> str:
        """Return an operand of a concatenation as text; the left side of a chain needs no parentheses."""
        if isinstance(expr.type, StringType):
            return self.write(expr).at(ADD)
        return self.text_of(expr)

    def _division(self, expr: Binary, left: Code, right: Code) -> Code:
        if left.real or right.real:
            name = "float_quotient" if expr.op == "/" else "fmod"
            return Code(f"{name}({left.text}, {right.text})", real=True)
        interval = intervals.binary(expr.op, left.interval, right.interval)
        op = "//" if expr.op == "/" else "%"
        if left.interval and left.interval[0] >= 0 and right.interval and right.interval[0] >= 0:
            return Code(f"{left.at(MULTIPLY)} {op} {right.at(UNARY)}", MULTIPLY, interval)
        if right.interval and right.interval[0] > 0 and right.simple:
            # A positive literal or name as divisor: only the sign of the dividend decides.
            first, value = left.at(BIT_OR), left.text
            if not left.simple:
                value = self.scope.names.temporary()
                first = f"({value} := {left.text})"
            text = f"{value} {op} {right.text} if {first} >= 0 else -(-{value} {op} {right.text})"
            return Code(text, CONDITIONAL, interval)
        name = "quotient" if expr.op == "/" else "remainder"
        return Code(f"{name}({left.text}, {right.text})", ATOM, interval)

    def _conditional(self, expr: Conditional) -> Code:
        condition, then, otherwise = self.write(expr.condition), self.write(expr.then), self.write(expr.otherwise)
        real = isinstance(scalar_of(expr.type), FloatType)
        if real and not isinstance(expr.type, ListType):
            then, otherwise = (c if c.real else Code(f"float({c.text})", real=True) for c in (then, otherwise))
        text = f"{then.at(OR)} if {condition.at(OR)} else {otherwise.at(CONDITIONAL)}"
        return Code(
            text,
            CONDITIONAL,
            intervals.hull(then.interval, otherwise.interval),
            real=real,
            single=then.single and otherwise.single,
            fresh=then.fresh and otherwise.fresh,
            length=then.length if then.length == otherwise.length else None,
        )

    def _cast(self, expr: Cast) -> Code:
        code = self.write(expr.operand)
        if isinstance(expr.type, IntType) and code.real:
            code = Code(f"int({code.text})")
        elif isinstance(expr.type, IntType) and isinstance(expr.operand.type, BoolType):
            code = Code(f"int({code.text})", interval=(0, 1))
        elif isinstance(expr.type, BoolType) and not isinstance(expr.operand.type, BoolType):
            return Code(f"bool({code.text})")
        return stored(code, expr.type, self.scope.names)

    # Calls ------------------------------------------------------------------------------------------------------------

    def _call(self, expr: Call) -> Code:
        text = self.call_text(expr.routine, expr.arguments)
        result = container(expr.type)
        if expr.routine in self.scope.routines:
            of = self.scope.routines[expr.routine].result_type or expr.type
            return Code(text, ATOM, container(of), real=isinstance(of, FloatType), single=_held_single(of), fresh=True)
        if isinstance(expr.type, IntType):
            code = stored(Code(f"int({text})"), expr.type, self.scope.names)
            return replace(code, interval=result)
        if isinstance(expr.type, BoolType):
            return Code(f"bool({text})")
        if isinstance(expr.type, FloatType):
            return stored(Code(f"float({text})", real=True), expr.type, self.scope.names)
        return Code(text, fresh=True)

    def call_text(self, routine: str, arguments: tuple[Expr, ...]) -> str:
        """Return a call of a routine or native: scalars wrapped to the parameters, lists by reference."""
        callee = self.scope.routines.get(routine) or self.scope.natives[routine]
        parts = []
        for parameter, argument in zip(callee.parameters, arguments, strict=True):
            if isinstance(parameter.type, ListType):
                code = self.write(argument)
                copy = isinstance(argument, ConstList)
                parts.append(f"copy_nested({code.text})" if copy else code.text)
            else:
                parts.append(self.stored(argument, parameter.type).text)
        return f"{routine_name(routine)}({', '.join(parts)})"


def routine_name(name: str) -> str:
    """Return the Python name of a routine or native."""
    return "f" + python_name(name)[1:]


def loop_interval(variable: Variable, low: Code, high: Code) -> intervals.Interval:
    """Return the bounds of a loop variable: those of its range where that fits its container, else the container."""
    bounds = container(variable.type)
    if low.interval is None or high.interval is None:
        return bounds
    values = (low.interval[0], max(low.interval[0], high.interval[1]))
    return values if intervals.fits(values, bounds) else bounds


def range_text(low: Code, high: Code) -> str:
    """Return Python's range over low to high, both included."""
    if high.simple and high.text.isdecimal():
        end = str(int(high.text) + 1)
    else:
        end = f"{high.at(ADD)} + 1"
    return f"range({end})" if low.text == "0" else f"range({low.text}, {end})"


def _is_huge(count: intervals.Interval) -> bool:
    """Return whether a shift count may be so large that the result would not fit the memory."""
    return count is None or max(-count[0], count[1]) > _LARGE_SHIFT


def _held_single(of: Type) -> bool:
    scalar = scalar_of(of)
    return isinstance(scalar, FloatType) and scalar.bits <= 32


def _float_literal(value: float) -> str:
    if value != value or value in (float("inf"), float("-inf")):
        return f'float("{value}")'
    return repr(value)


def _is_single(value: float) -> bool:
    return single(value) == value


def _bounds_of(expr: ConstList) -> intervals.Interval:
    """Return the bounds of the integers of a folded list."""
    bounds: intervals.Interval = None
    pending: list[object] = list(expr.values)
    while pending:
        value = pending.pop()
        if isinstance(value, tuple):
            pending += value
        elif isinstance(value, int):
            bounds = (value, value) if bounds is None else intervals.hull(bounds, (value, value))
    return bounds
