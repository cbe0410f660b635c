"""The table of Python: binding strengths, operators, conversions and the texts of literals and names."""

from functools import lru_cache

from dse.codegen.emitter import Fragment, Operator, Spelling, infix
from dse.program.ir import BinaryOp
from dse.program.types import BoolType, FloatType, StringType, Type, scalar_of

# Binding strength of Python's operators, loosest first.
WALRUS, CONDITIONAL, OR, AND, NOT, COMPARE, BIT_OR, BIT_XOR, BIT_AND, SHIFT, ADD, MULTIPLY, UNARY, ATOM = range(14)

_COMPARISONS: dict[BinaryOp, str] = {"=": "==", "!=": "!=", "<": "<", "<=": "<=", ">": ">", ">=": ">="}
_SHIFTS: tuple[BinaryOp, ...] = ("<<", ">>")
_INFIX: dict[BinaryOp, tuple[str, int]] = {
    "|": ("|", BIT_OR),
    "^": ("^", BIT_XOR),
    "&": ("&", BIT_AND),
    "<<": ("<<", SHIFT),
    ">>": (">>", SHIFT),
    "+": ("+", ADD),
    "-": ("-", ADD),
    "*": ("*", MULTIPLY),
}

PYTHON = Spelling(
    unary={
        "not": Operator("not {0}", NOT, (NOT,)),
        "~": Operator("~{0}", UNARY, (UNARY,)),
        "-": Operator("-{0}", UNARY, (UNARY,)),
        "#": Operator("len({0})", ATOM, (WALRUS,)),
    },
    binary={
        **{op: infix(*spelled) for op, spelled in _INFIX.items()},
        **{op: Operator(f"{{0}} {s} {{1}}", COMPARE, (BIT_OR, BIT_OR)) for op, s in _COMPARISONS.items()},
        "or": Operator("{0} or {1}", OR, (OR, OR)),
        "and": Operator("{0} and {1}", AND, (AND, AND)),
        "/": Operator("quotient({0}, {1})", ATOM, (CONDITIONAL, CONDITIONAL)),
        "mod": Operator("remainder({0}, {1})", ATOM, (CONDITIONAL, CONDITIONAL)),
        "**": Operator("{0} ** {1}", MULTIPLY, (ATOM, ATOM)),
    },
    conditional=Operator("{1} if {0} else {2}", CONDITIONAL, (OR, OR, CONDITIONAL)),
    if_head="if {}",
    elif_head="elif {}",
    else_head="else",
    while_head="while {}",
    block_start=":",
    block_end="",
    statement_end="",
    empty_block="pass",
    indent="\t",
)

# Operations of the language that have a quicker spelling where more is known of the operands.
FLOAT_DIVISION: dict[BinaryOp, Operator] = {
    "/": Operator("float_quotient({0}, {1})", ATOM, (CONDITIONAL, CONDITIONAL)),
    "mod": Operator("fmod({0}, {1})", ATOM, (CONDITIONAL, CONDITIONAL)),
}
FLOOR: dict[BinaryOp, Operator] = {
    "/": Operator("{0} // {1}", MULTIPLY, (MULTIPLY, UNARY)),
    "mod": Operator("{0} % {1}", MULTIPLY, (MULTIPLY, UNARY)),
}
"""Division of operands that are not negative."""
BY_SIGN: dict[BinaryOp, Operator] = {
    "/": Operator("{1} // {2} if {0} >= 0 else -(-{1} // {2})", CONDITIONAL, (BIT_OR, ATOM, ATOM)),
    "mod": Operator("{1} % {2} if {0} >= 0 else -(-{1} % {2})", CONDITIONAL, (BIT_OR, ATOM, ATOM)),
}
"""Division by a positive literal or name: only the sign of the dividend decides. Operands: first and later uses of the
dividend, divisor."""
ANY_SHIFT: dict[BinaryOp, Operator] = {
    "<<": Operator("shift_left({0}, {1}, {2})", ATOM, (CONDITIONAL, CONDITIONAL, CONDITIONAL)),
    ">>": Operator("shift_right({0}, {1}, {2})", ATOM, (CONDITIONAL, CONDITIONAL, CONDITIONAL)),
}
"""Shifts by a count that may be negative. Operands: value, count, bits of the value's type."""
MASKED_SHIFT: dict[BinaryOp, Operator] = {
    op: Operator(
        f"{{0}} {op} {{2}} if {{1}} >= 0 else {{0}} {op} ({{2}} & {{3}})", CONDITIONAL, (ATOM, BIT_OR, ATOM, ATOM)
    )
    for op in _SHIFTS
}
"""The same for a value that may be repeated and a small count. Operands: value, first and later uses of the count,
mask."""
AT_MOST = Operator("min({0}, {1})", ATOM, (CONDITIONAL, CONDITIONAL))
AT_MOST_NAME = Operator("({0} if {0} < {1} else {1})", ATOM, (ATOM, ATOM))
"""The same for what may be repeated; twice as quick."""

TEXT_OF_BOOL = Operator("bool_text({0})", ATOM, (CONDITIONAL,))
TEXT_OF_FLOAT = Operator("float_text({0})", ATOM, (CONDITIONAL,))
TEXT_OF_LIST = Operator("list_text({0})", ATOM, (CONDITIONAL,))
TEXT_OF_INTEGER = Operator("str({0})", ATOM, (CONDITIONAL,))
TO_SINGLE = Operator("single({0})", ATOM, (CONDITIONAL,))
TO_DOUBLE = Operator("float({0})", ATOM, (CONDITIONAL,))
TO_INTEGER = Operator("int({0})", ATOM, (CONDITIONAL,))
TO_BOOL = Operator("bool({0})", ATOM, (CONDITIONAL,))
MASKED = infix("&", BIT_AND)


@lru_cache(maxsize=1 << 16)
def python_name(name: str) -> str:
    """Return a Python identifier for an IR name; distinct names stay distinct, and apart from the generator's own."""
    return "v_" + "".join(c if c.isalnum() and c.isascii() else "_" if c == "_" else f"_{ord(c):x}_" for c in name)


def routine_name(name: str) -> str:
    """Return the Python name of a routine or native."""
    return "f" + python_name(name)[1:]


def integer(value: int) -> Fragment:
    """Return an integer literal."""
    return Fragment(str(value), ATOM, simple=True) if value >= 0 else Fragment(str(value), UNARY)


def name(text: str) -> Fragment:
    """Return a name."""
    return Fragment(text, ATOM, simple=True)


def atom(text: str) -> Fragment:
    """Return what binds tightest but is no name: a call, an element, a display."""
    return Fragment(text, ATOM)


def float_literal(value: float) -> Fragment:
    """Return a float literal."""
    if value != value or value in (float("inf"), float("-inf")):
        return atom(f'float("{value}")')
    return Fragment(repr(value), UNARY if value < 0 else ATOM)


def zero_of(of: Type) -> object:
    """Return the zero of the scalars of a type."""
    match scalar_of(of):
        case BoolType():
            return False
        case FloatType():
            return 0.0
        case StringType():
            return ""
        case _:
            return 0


def zero_text(of: Type) -> str:
    """Return the Python literal of the zero of the scalars of a type."""
    return repr(zero_of(of))
