"""The expressions of a thread for numba, on the emitter core: the value that slot ``t`` of the batch has.

The spelling is Python's. Other is what C's arithmetic asks for (``arithmetic`` of this package), that conditions are
integers, and what stands for variables and elements.
"""

from dataclasses import replace
from typing import NoReturn

from dse.base.errors import ModelNotApplicable
from dse.codegen.emitter import ExpressionEmitter, Fragment, Operator
from dse.codegen.python.spelling import (
    AND,
    ATOM,
    BIT_OR,
    COMPARE,
    CONDITIONAL,
    OR,
    PYTHON,
    atom,
    float_literal,
    integer,
)
from dse.gpu.trace.arithmetic import in_word
from dse.model.kernel import ArrayInfo, Kernel
from dse.program.ir import (
    Binary,
    Call,
    Cast,
    Const,
    ConstList,
    Copy,
    Expr,
    Generator,
    Index,
    ListExpr,
    Load,
    Unary,
)
from dse.program.types import INT32, FloatType, IntType, Type

_CALL_TEMPLATES = {
    "sqrt": "root({0})",
    "rsqrt": "divide_float(1.0, root({0}))",
    "cbrt": "power({0}, 1.0 / 3.0)",
    "hypot": "root(({0}) ** 2 + ({1}) ** 2)",
    "fabs": "abs({0})",
    "abs": "abs({0})",
    "labs": "abs({0})",
    "exp": "exponential({0})",
    "exp2": "exponential(({0}) * 0.6931471805599453)",
    "log": "logarithm({0})",
    "log2": "(logarithm({0}) / 0.6931471805599453)",
    "log10": "(logarithm({0}) / 2.302585092994046)",
    "pow": "power({0}, {1})",
    "sin": "math.sin({0})",
    "cos": "math.cos({0})",
    "tan": "math.tan({0})",
    "asin": "math.asin(max(-1.0, min(1.0, {0})))",
    "acos": "math.acos(max(-1.0, min(1.0, {0})))",
    "atan": "math.atan({0})",
    "atan2": "math.atan2({0}, {1})",
    "sinh": "(0.5 * (exponential({0}) - exponential(-({0}))))",
    "cosh": "(0.5 * (exponential({0}) + exponential(-({0}))))",
    "tanh": "math.tanh({0})",
    "floor": "float(math.floor({0}))",
    "ceil": "float(math.ceil({0}))",
    "round": "float(math.floor(({0}) + 0.5))",
    "trunc": "float(truncate({0}))",
    "fmin": "min({0}, {1})",
    "fmax": "max({0}, {1})",
    "min": "min({0}, {1})",
    "max": "max({0}, {1})",
    "fmod": "(({0}) - float(truncate(divide_float({0}, {1}))) * ({1}))",
}
"""Mathematical functions of C."""
_CALLS = {
    routine: Operator(template, ATOM, (CONDITIONAL,) * (1 + ("{1}" in template)))
    for routine, template in _CALL_TEMPLATES.items()
}
_OPERANDS = (CONDITIONAL, CONDITIONAL, CONDITIONAL)
_SHIFTS = {
    "<<": Operator("shift_left({0}, {1}, {2})", ATOM, _OPERANDS),
    ">>": Operator("shift_right({0}, {1}, {2})", ATOM, _OPERANDS),
}
"""Operands: value, count, bits of the value's type."""
_FLOAT_QUOTIENT = Operator("divide_float({0}, {1})", ATOM, _OPERANDS[:2])
_TRUTH = Operator("{0} != 0", COMPARE, (BIT_OR,))
_TO_FLOAT = Operator("float({0})", ATOM, _OPERANDS[:1])
_TO_INTEGER = Operator("int({0})", ATOM, _OPERANDS[:1])
_TRUNCATED = Operator("truncate({0})", ATOM, _OPERANDS[:1])

NUMBA = replace(
    PYTHON,
    binary={
        **PYTHON.binary,
        "/": Operator("divide({0}, {1})", ATOM, _OPERANDS[:2]),
        "and": Operator("{0} != 0 and {1} != 0", AND, (BIT_OR, BIT_OR)),
        "or": Operator("{0} != 0 or {1} != 0", OR, (BIT_OR, BIT_OR)),
    },
    conditional=Operator("{1} if {0} != 0 else {2}", CONDITIONAL, (BIT_OR, OR, CONDITIONAL)),
)


class ThreadExpressions(ExpressionEmitter):
    """What stands for variables and elements, and the text of expressions over them."""

    def __init__(self, kernel: Kernel) -> None:
        super().__init__(NUMBA)
        self.kernel = kernel
        self.integers: dict[str, int] = {}
        """Row of ``V`` of each integer variable."""
        self.floats: dict[str, int] = {}
        """Row of ``F`` of each floating variable."""
        self.shared: dict[str, str] = {}
        """Python text of what has one value for all threads."""

    def integer(self, name: str) -> int:
        """Return the row of an integer variable."""
        return self.integers.setdefault(name, len(self.integers))

    def own(self, name: str, of: Type) -> str:
        """Return the text of a variable that each thread has for itself."""
        if isinstance(of, FloatType):
            return f"F[{self.floats.setdefault(name, len(self.floats))}, t]"
        return f"V[{self.integer(name)}, t]"

    def truth(self, expression: Expr) -> str:
        """Return the text of a condition, which stands beside ``and``."""
        return _TRUTH.of(self.write(expression)).text

    def value(self, expression: Expr) -> str:
        """Return the text of a value. Raises ModelNotApplicable for what no thread computes."""
        return self.write(expression).text

    def stored(self, expression: Expr | None, of: Type) -> str:
        """Return the text of a value converted to the type it is stored in; zero where there is none."""
        if expression is None:
            return _converted(integer(0), of, of).text
        return _converted(self.write(expression), expression.type, of).text

    # Nodes ------------------------------------------------------------------------------------------------------------

    def constant(self, expr: Const) -> Fragment:
        """Return a literal: integers as the 64 bits that stand for them."""
        if isinstance(expr.value, float):
            return float_literal(expr.value)
        return integer(in_word(int(expr.value)))

    def variable(self, expr: Load) -> Fragment:
        """Return a value that all threads share, or the thread's own."""
        shared = self.shared.get(expr.name)
        return atom(self.own(expr.name, expr.type)) if shared is None else atom(f"({shared})")

    def element(self, expr: Index) -> Fragment:
        """Return an element of an array whose contents matter."""
        array = self.kernel.array(expr.name)
        contents = f"{contents_name(array)}[t]" if array.storage == "local" else contents_name(array)
        return atom(f"element({contents}, {self.value(offset_of(array, expr.indices))})")

    def unary(self, expr: Unary) -> Fragment:
        """Return a unary operation; the length of a list is none of a kernel."""
        if expr.op == "#":
            raise ModelNotApplicable(f"the operator {expr.op} has no cost on a GPU", span=expr.span)
        return super().unary(expr)

    def binary(self, expr: Binary) -> Fragment:
        """Return a binary operation; shifts know the type of what they shift."""
        if expr.op in _SHIFTS:
            of = expr.left.type
            bits = integer(of.size if isinstance(of, IntType) else 0)
            return _SHIFTS[expr.op].of(self.write(expr.left), self.write(expr.right), bits)
        if expr.op == "/" and isinstance(expr.type, FloatType):
            return _FLOAT_QUOTIENT.of(self.write(expr.left), self.write(expr.right))
        return super().binary(expr)

    def call(self, expr: Call) -> Fragment:
        """Return a mathematical function."""
        if expr.routine not in _CALLS:
            _too_complex(expr)
        return _CALLS[expr.routine].of(*(self.write(a) for a in expr.arguments))

    def cast(self, expr: Cast) -> Fragment:
        """Return a conversion."""
        return _converted(self.write(expr.operand), expr.operand.type, expr.type)

    def new_list(self, expr: ConstList | ListExpr | Generator | Copy) -> Fragment:
        """Refuse a list."""
        _too_complex(expr)


def _too_complex(expr: Expr) -> NoReturn:
    raise ModelNotApplicable("a subscript, bound or condition is too complex", span=expr.span)


def _converted(value: Fragment, source: Type, of: Type) -> Fragment:
    """Return a value as a variable of type ``of`` takes it."""
    if isinstance(of, FloatType):
        return _TO_FLOAT.of(value)
    if isinstance(of, IntType):
        whole = _TRUNCATED.of(value) if isinstance(source, FloatType) else value
        return atom(f"wrap({whole.text}, {of.container_bits}, {of.signed})")
    return _TO_INTEGER.of(value)


def offset_of(array: ArrayInfo, indices: tuple[Expr, ...]) -> Expr:
    """Return the offset of an element in its array, in elements."""
    offset = indices[0]
    for size, index in zip(array.dims[1:], indices[1:], strict=True):
        offset = Binary("+", Binary("*", offset, Const(size, INT32), INT32), index, INT32)
    return offset


def contents_name(array: ArrayInfo) -> str:
    """Return the name of an array's contents in the generated function; ``~`` is in names that inlining made."""
    return f"{'L' if array.storage == 'local' else 'D'}_{array.name.replace('~', '__of_call_')}"
