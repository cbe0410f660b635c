"""Types of the IR: sized integers, floats, bool, String and lists. Integer model R (cal.md 2.0) lives here."""

import math
from dataclasses import dataclass
from typing import TypeAlias

LARGEST_INT_BITS = 512
"""The largest size that an integer may be declared with. Types of intermediate results may be larger."""
LARGEST_LIST = 1 << 32
"""The most elements that a list may have, those of the lists in it counted."""


@dataclass(frozen=True, slots=True)
class IntType:
    """``int(size=n)`` or ``uint(size=n)``. Values are stored in ``container_bits`` and wrap there (model R)."""

    size: int
    signed: bool

    @property
    def container_bits(self) -> int:
        """The smallest of 8, 16, 32, 64, 128 (then multiples of 64) bits that holds ``size``."""
        for bits in (8, 16, 32, 64, 128):
            if self.size <= bits:
                return bits
        return -(-self.size // 64) * 64

    @property
    def limits(self) -> tuple[int, int]:
        """The least and the greatest integer that the container holds."""
        half = 1 << (self.container_bits - 1)
        return (-half, half - 1) if self.signed else (0, 2 * half - 1)

    def __str__(self) -> str:
        return f"{'int' if self.signed else 'uint'}(size={self.size})"


@dataclass(frozen=True, slots=True)
class FloatType:
    """A binary float of 16 (CAL ``half``), 32 or 64 bits. ``half`` is computed as 32 bits, as the C back-ends do."""

    bits: int

    def __str__(self) -> str:
        return {16: "half", 32: "float", 64: "double"}[self.bits]


@dataclass(frozen=True, slots=True)
class BoolType:
    """``bool``: its own type, never an integer."""

    def __str__(self) -> str:
        return "bool"


@dataclass(frozen=True, slots=True)
class StringType:
    """``String``."""

    def __str__(self) -> str:
        return "String"


@dataclass(frozen=True, slots=True)
class ListType:
    """A list of ``size`` elements; nests for more dimensions."""

    element: "Type"
    size: int

    def __str__(self) -> str:
        return f"List(type: {self.element}, size={self.size})"


Type: TypeAlias = IntType | FloatType | BoolType | StringType | ListType
ScalarType: TypeAlias = IntType | FloatType | BoolType | StringType

BOOL = BoolType()
STRING = StringType()
INT32 = IntType(32, True)
UINT32 = IntType(32, False)
FLOAT32 = FloatType(32)
FLOAT64 = FloatType(64)


def scalar_of(of: Type) -> ScalarType:
    """Return the innermost element type of a list type, or the type itself."""
    while isinstance(of, ListType):
        of = of.element
    return of


def dimensions_of(of: Type) -> tuple[int, ...]:
    """Return the sizes of a list type from the outermost dimension in; empty for a scalar."""
    sizes: list[int] = []
    while isinstance(of, ListType):
        sizes.append(of.size)
        of = of.element
    return tuple(sizes)


def elements_of(of: Type) -> int:
    """Return the number of scalars in a list, those of the lists in it counted; 1 for a scalar."""
    return math.prod(dimensions_of(of))


def bytes_of(of: Type) -> int:
    """Return the storage of one value in bytes (bool 1, String 8: a reference)."""
    match of:
        case IntType():
            return of.container_bits // 8
        case FloatType():
            return 8 if of.bits == 64 else 4
        case BoolType():
            return 1
        case StringType():
            return 8
        case ListType():
            return of.size * bytes_of(of.element)
