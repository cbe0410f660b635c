"""The table of C++: binding strengths, operators, literals and names."""

import math
import re
from dataclasses import dataclass, field

from dse.codegen.cpp.types import BIG, BOOL, DOUBLE, I32, I64, I128, STRING, CType
from dse.codegen.emitter import Fragment, Operator, Spelling, infix
from dse.program.ir import BinaryOp

# Binding strength of C++'s operators, loosest first.
COMMA, CONDITIONAL, OR, AND, BIT_OR, BIT_XOR, BIT_AND, EQUAL, COMPARE, SHIFT, ADD, MULTIPLY, UNARY, ATOM = range(14)

_INFIX: dict[BinaryOp, tuple[str, int]] = {
    "+": ("+", ADD),
    "-": ("-", ADD),
    "*": ("*", MULTIPLY),
    "/": ("/", MULTIPLY),
    "mod": ("%", MULTIPLY),
}
# g++ warns where shifts, bit operations and logic are mixed without parentheses: their operands get them.
_CAREFUL: dict[BinaryOp, tuple[str, int, int]] = {
    "|": ("|", BIT_OR, UNARY),
    "^": ("^", BIT_XOR, UNARY),
    "&": ("&", BIT_AND, UNARY),
    "<<": ("<<", SHIFT, UNARY),
    ">>": (">>", SHIFT, UNARY),
    "=": ("==", EQUAL, SHIFT + 1),
    "!=": ("!=", EQUAL, SHIFT + 1),
    "<": ("<", COMPARE, SHIFT + 1),
    "<=": ("<=", COMPARE, SHIFT + 1),
    ">": (">", COMPARE, SHIFT + 1),
    ">=": (">=", COMPARE, SHIFT + 1),
    "and": ("&&", AND, BIT_OR + 1),
    "or": ("||", OR, BIT_OR + 1),
}
CHAINED: tuple[BinaryOp, ...] = ("|", "^", "&", "and", "or")
"""Operators that may stand behind themselves without parentheses."""

CPP = Spelling(
    unary={
        "not": Operator("!{0}", UNARY, (ATOM,)),
        "~": Operator("~{0}", UNARY, (ATOM,)),
        "-": Operator("-{0}", UNARY, (ATOM,)),
        "#": Operator("{0}.size()", ATOM, (ATOM,)),
    },
    binary={
        **{op: infix(*spelled) for op, spelled in _INFIX.items()},
        **{
            op: Operator(f"{{0}} {sign} {{1}}", strength, (operand, operand))
            for op, (sign, strength, operand) in _CAREFUL.items()
        },
    },
    conditional=Operator("{0} ? {1} : {2}", CONDITIONAL, (OR, OR, CONDITIONAL)),
    if_head="if ({})",
    elif_head="else if ({})",
    else_head="else",
    while_head="while ({})",
    block_start=" {",
    block_end="}",
    statement_end=";",
    empty_block="",
    indent="  ",
)

_RESERVED_TEXT = """
    alignas alignof and and_eq asm auto bitand bitor bool break case catch char char8_t char16_t char32_t class compl
    concept const consteval constexpr constinit const_cast continue co_await co_return co_yield decltype default delete
    do double dynamic_cast else enum explicit export extern false float for friend goto if inline int long mutable
    namespace new noexcept not not_eq nullptr operator or or_eq private protected public register reinterpret_cast
    requires return short signed sizeof static static_assert static_cast struct switch template this thread_local throw
    true try typedef typeid typename typeof union unsigned using virtual void volatile wchar_t while xor xor_eq
    linux unix i386 assert errno stdin stdout stderr alloca offsetof strdupa strndupa toascii isascii issubnormal main
    math_errhandling sched_priority timeradd timerclear timercmp timerisset timersub va_arg va_copy va_end va_start
    i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 Big Actor Channel Condition Context Depth Fault Fifo LaneVisit Limb List
    Listed Log Missing Pages Ports Reader Recursion Share Site State Sure Table Timer View Visit Wait WaitKind
    WideId NarrowId Wires Writer dse std actors natives act all_inside as_integer at big_truncated budget checked
    choose chosen clear condition context copied copy_elements copy_into copy_wrapped depth each endless explain fail
    far_truncated finished fire fitting generated grown has_lanes inside joined k lanes left log meet modulo narrow
    needs_steady next order p part_or plain port ports_ pulse put_element quotient real real_modulo real_quotient
    recursion_ resume round rounds rounds_of run share shift_count shift_left shift_right single site_now start
    state_ stored stray strays sure text_of truncated view visit waits wide wires wrap_elements wrapped_list
"""
_RESERVED = frozenset(_RESERVED_TEXT.split())
"""Keywords, lower-case macros of the headers, and the names that generated code uses itself."""
_LIKE_MACROS = re.compile(r"[A-Z][A-Z0-9_]+|[A-Z][A-Z0-9]*_\w*", re.ASCII)
"""Names that a header may have as a macro, as SEEK_CUR and SYS_read: they get an underscore at their end."""


@dataclass(slots=True)
class Names:
    """The C++ identifiers of one scope: each name of the program gets one that no other has."""

    taken: set[str] = field(default_factory=lambda: set(_RESERVED))
    given: dict[str, str] = field(default_factory=dict)

    def of(self, name: str, like: str = "") -> str:
        """Return the identifier of a name; when it is met first, one that reads like it, or like ``like``."""
        found = self.given.get(name)
        if found is None:
            found = self.given[name] = self.fresh(like or name)
        return found

    def fresh(self, like: str) -> str:
        """Return an identifier that is not in use and reads like a text."""
        stem = re.sub(r"_{2,}", "_", re.sub(r"[^A-Za-z0-9_]", "_", like)).strip("_") or "value"
        stem = f"n{stem}" if stem[0].isdigit() else stem
        stem = f"{stem}_" if _LIKE_MACROS.fullmatch(stem) else stem
        found, number = stem, 1
        while found in self.taken:
            number += 1
            found = f"{stem}_{number}"
        self.taken.add(found)
        return found


@dataclass(frozen=True, slots=True)
class Typed(Fragment):
    """The text of a scalar with its C++ type."""

    type: CType = I32


def typed(fragment: Fragment, of: CType) -> Typed:
    """Return a text with its type."""
    return Typed(fragment.text, fragment.strength, fragment.simple, of)


def atom(text: str, of: CType) -> Typed:
    """Return what binds tightest but is no name: a call, an element."""
    return Typed(text, ATOM, type=of)


def name(text: str, of: CType) -> Typed:
    """Return a name."""
    return Typed(text, ATOM, simple=True, type=of)


def cast_to(of: CType, text: str) -> Typed:
    """Return ``i32(text)``: the conversion of a number to a type of the machine, or to ``Big``."""
    return atom(f"{of.name}({text})", of)


def integer(value: int) -> Typed:  # ways: one case for each type that holds it, its least value apart
    """Return an integer literal, of the first type of ``WORKING`` that holds it."""
    if I32.holds((value, value)):
        if value == -(1 << 31):
            return atom(f"i32({value})", I32)
        return Typed(str(value), ATOM if value >= 0 else UNARY, simple=True, type=I32)
    if I64.holds((value, value)):
        if value == -(1 << 63):
            return atom(f"i64({value + 1} - 1)", I64)
        return Typed(str(value), ATOM if value >= 0 else UNARY, simple=True, type=I64)
    if I128.holds((value, value)):
        return atom(f"wide({integer(value >> 64).text}, {value & (1 << 64) - 1}u)", I128)
    limbs: list[int] = []
    while value not in (0, -1) or not limbs or (limbs[-1] >> 63) != (value < 0):
        limbs.append(value & (1 << 64) - 1)
        value >>= 64
    return atom(f"Big(Big::Limbs{{{', '.join(f'{limb}u' for limb in limbs)}}})", BIG)


def float_literal(value: float) -> Typed:
    """Return a float literal; it has the value to the last bit."""
    if math.isnan(value):
        return atom("std::numeric_limits<double>::quiet_NaN()", DOUBLE)
    if math.isinf(value):
        text = "std::numeric_limits<double>::infinity()"
        return atom(text, DOUBLE) if value > 0 else Typed(f"-{text}", UNARY, type=DOUBLE)
    negative = math.copysign(1.0, value) < 0
    return Typed(repr(value), UNARY if negative else ATOM, simple=True, type=DOUBLE)


def bool_literal(value: bool) -> Typed:
    """Return a bool."""
    return Typed("true" if value else "false", ATOM, simple=True, type=BOOL)


def quoted(text: str) -> str:
    """Return a C string with the bytes of a text in UTF-8."""
    parts = []
    for byte in text.encode("utf-8", "surrogateescape"):
        char = chr(byte)
        if char in '"\\?':
            parts.append(f"\\{char}")
        else:
            parts.append(char if 32 <= byte < 127 else {10: "\\n", 9: "\\t"}.get(byte, f"\\{byte:03o}"))
    return f'"{"".join(parts)}"'


def string_literal(text: str) -> Typed:
    """Return a string; it may hold zeros."""
    return Typed(f"{quoted(text)}s", ATOM, simple=True, type=STRING)


def comment_text(text: str) -> str:
    """Return a text of others for a comment of one line: printable, and nothing that goes on in the next line."""
    shown = "".join(c if c.isprintable() else " " for c in text).strip()
    return shown + "." if shown.endswith("\\") else shown
