"""The expressions of a thread as Python text for numba: the value that slot ``t`` of the batch has."""

from dataclasses import dataclass, field

from dse.base.errors import ModelNotApplicable
from dse.gpu.trace.arithmetic import in_word
from dse.model.kernel import ArrayInfo, Kernel
from dse.program.ir import Binary, Call, Cast, Conditional, Const, Expr, Index, Load, Unary
from dse.program.types import INT32, FloatType, IntType, Type

_CALLS = {
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
_UNARY = {"-": "(-({0}))", "~": "(~({0}))", "not": "(not ({0}))"}
_BINARY = {
    "/": "divide({0}, {1})",
    "mod": "remainder({0}, {1})",
    "<<": "shift_left({0}, {1}, {2})",
    ">>": "shift_right({0}, {1}, {2})",
    "=": "({0} == {1})",
}
"""Operators that are not the same word between their operands; {2}: the bits of the left one's type."""


@dataclass(slots=True)
class ThreadExpressions:
    """What stands for variables and elements, and the text of expressions over them."""

    kernel: Kernel
    integers: dict[str, int] = field(default_factory=dict)
    """Row of ``V`` of each integer variable."""
    floats: dict[str, int] = field(default_factory=dict)
    """Row of ``F`` of each floating variable."""
    shared: dict[str, str] = field(default_factory=dict)
    """Python text of what has one value for all threads."""

    def integer(self, name: str) -> int:
        """Return the row of an integer variable."""
        return self.integers.setdefault(name, len(self.integers))

    def variable(self, name: str, of: Type) -> str:
        """Return the text of a variable that each thread has for itself."""
        if isinstance(of, FloatType):
            return f"F[{self.floats.setdefault(name, len(self.floats))}, t]"
        return f"V[{self.integer(name)}, t]"

    def truth(self, expression: Expr) -> str:
        """Return the text of a condition."""
        return f"(({self.value(expression)}) != 0)"

    def value(self, expression: Expr) -> str:  # ways: one case for each node of the IR
        """Return the text of a value. Raises ModelNotApplicable for what no thread computes."""
        match expression:
            case Const(value=value):
                return repr(in_word(int(value)) if isinstance(value, int) else value)
            case Load(name=name, type=of):
                return self.shared.get(name) or self.variable(name, of)
            case Index(name=name, indices=indices):
                array = self.kernel.array(name)
                contents = f"{contents_name(array)}[t]" if array.storage == "local" else contents_name(array)
                return f"element({contents}, {self.value(offset_of(array, indices))})"
            case Unary(op=op, operand=operand):
                if op not in _UNARY:
                    raise ModelNotApplicable(f"the operator {op} has no cost on a GPU", span=expression.span)
                return _UNARY[op].format(self.value(operand))
            case Binary():
                return self._binary(expression)
            case Conditional():
                then, otherwise = self.value(expression.then), self.value(expression.otherwise)
                return f"(({then}) if {self.truth(expression.condition)} else ({otherwise}))"
            case Call(routine=routine, arguments=arguments) if routine in _CALLS:
                return _CALLS[routine].format(*(f"({self.value(a)})" for a in arguments))
            case Cast(operand=operand, type=of):
                return self.stored(operand, of)
            case _:
                raise ModelNotApplicable("a subscript, bound or condition is too complex", span=expression.span)

    def stored(self, expression: Expr | None, of: Type) -> str:
        """Return the text of a value converted to the type it is stored in; zero where there is none."""
        value = self.value(expression) if expression is not None else "0"
        is_float = expression is not None and isinstance(expression.type, FloatType)
        if isinstance(of, FloatType):
            return f"float({value})"
        if isinstance(of, IntType):
            whole = f"truncate({value})" if is_float else value
            return f"wrap({whole}, {of.container_bits}, {of.signed})"
        return f"int({value})"

    def _binary(self, expression: Binary) -> str:
        op, of = expression.op, expression.left.type
        if op in ("and", "or"):
            return f"({self.truth(expression.left)} {op} {self.truth(expression.right)})"
        left, right = self.value(expression.left), self.value(expression.right)
        if op == "/" and isinstance(expression.type, FloatType):
            return f"divide_float({left}, {right})"
        bits = of.size if isinstance(of, IntType) else 0
        return _BINARY.get(op, f"({{0}} {op} {{1}})").format(left, right, bits)


def offset_of(array: ArrayInfo, indices: tuple[Expr, ...]) -> Expr:
    """Return the offset of an element in its array, in elements."""
    offset = indices[0]
    for size, index in zip(array.dims[1:], indices[1:], strict=True):
        offset = Binary("+", Binary("*", offset, Const(size, INT32), INT32), index, INT32)
    return offset


def contents_name(array: ArrayInfo) -> str:
    """Return the name of an array's contents in the generated function; ``~`` is in names that inlining made."""
    return f"{'L' if array.storage == 'local' else 'D'}_{array.name.replace('~', '__of_call_')}"
