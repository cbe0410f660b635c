"""The C++ types of scalars: what holds a value in memory, and what an operation is computed in.

Expressions are evaluated in unbounded integers: an operation is computed in the smallest of ``i32``, ``i64``, ``i128``
and ``Big`` that holds its operands and its result, whatever they are. ``dse/passes/analyses/ranges.py`` tells how wide
they may grow.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal, TypeAlias

from dse.passes.analyses.ranges import Interval
from dse.program.types import BoolType, FloatType, IntType, ScalarType, StringType

Family: TypeAlias = Literal["bool", "integer", "float", "string"]


@dataclass(frozen=True, slots=True)
class CType:
    """A C++ type. ``bits`` of an integer are 0 where it has no bound (``Big``)."""

    name: str
    family: Family
    bits: int = 0
    signed: bool = True

    @property
    def limits(self) -> Interval:
        """The least and the greatest integer that it holds; None for other types, and where there is no bound."""
        if self.family != "integer" or not self.bits:
            return None
        return IntType(self.bits, self.signed).limits

    def holds(self, bounds: Interval) -> bool:
        """Return whether an integer type holds every integer between the bounds (None: any)."""
        limits = self.limits
        return limits is None or (bounds is not None and limits[0] <= bounds[0] and bounds[1] <= limits[1])


BOOL = CType("bool", "bool", 8)
STRING = CType("std::string", "string")
FLOAT = CType("float", "float", 32)
DOUBLE = CType("double", "float", 64)
I32 = CType("i32", "integer", 32)
I64 = CType("i64", "integer", 64)
I128 = CType("i128", "integer", 128)
BIG = CType("Big", "integer")
_SIZED = {
    (bits, signed): CType(f"{'i' if signed else 'u'}{bits}", "integer", bits, signed)
    for bits in (8, 16, 32, 64, 128)
    for signed in (True, False)
}
WORKING = (I32, I64, I128, BIG)
"""What integers are computed in, the quickest first."""
EXACT_IN_DOUBLE = (-(1 << 53), 1 << 53)
"""Integers between these are 64-bit floats."""


def storage_type(of: ScalarType) -> CType:
    """Return the type that holds a scalar of the program: its container."""
    match of:
        case IntType():
            return _SIZED.get((of.container_bits, of.signed), BIG)
        case FloatType():
            return DOUBLE if of.bits == 64 else FLOAT
        case BoolType():
            return BOOL
        case StringType():
            return STRING


def modular_type(bits: int) -> CType:
    """Return the unsigned type in which integers are computed modulo 2^bits."""
    return _SIZED[64 if bits <= 64 else 128, False]


def working_type(bounds: Iterable[Interval]) -> CType:
    """Return the quickest type that holds all integers between the bounds (None: any)."""
    known = list(bounds)
    return next(t for t in WORKING if all(t.holds(b) for b in known))


def common_storage(types: Iterable[CType]) -> CType | None:
    """Return the smallest type that holds every value of all types; None where there is none."""
    wanted = set(types)
    if len(wanted) == 1:
        return wanted.pop()
    families = {t.family for t in wanted}
    if families == {"float"}:
        return DOUBLE
    if families != {"integer"}:
        return None
    candidates = sorted(_SIZED.values(), key=lambda t: (t.bits, not t.signed))
    return next((c for c in candidates if all(t.bits and c.holds(t.limits) for t in wanted)), BIG)


def promoted(of: CType) -> CType:
    """Return what C++ makes of an operand by itself: integers below 32 bits become ``i32``."""
    return I32 if of.family == "integer" and 0 < of.bits < 32 else of
