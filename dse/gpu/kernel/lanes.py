"""Integer operations on all lanes of some warps at once: those of ``passes.arithmetic``, on numpy arrays of 64 bits."""

from collections.abc import Callable
from typing import TypeAlias

import numpy as np

from dse.program.ir import BinaryOp
from dse.program.types import IntType

Vector: TypeAlias = np.ndarray
"""int64 or bool, a value for each sampled lane: shape (warps, lanes)."""

_WORD_BITS = 64
_WIDE_BITS = 32
"""Above this the count of a shift is masked by 63, below by 31."""
_SIMPLE: dict[BinaryOp, Callable[[Vector, Vector], Vector]] = {
    "+": np.add,
    "-": np.subtract,
    "*": np.multiply,
    "<": np.less,
    "<=": np.less_equal,
    ">": np.greater,
    ">=": np.greater_equal,
    "=": np.equal,
    "!=": np.not_equal,
    "and": np.logical_and,
    "or": np.logical_or,
    "&": np.bitwise_and,
    "|": np.bitwise_or,
    "^": np.bitwise_xor,
}


def combined(op: BinaryOp, a: Vector, b: Vector, left_bits: int) -> Vector | None:
    """Return an operation on the lanes of both sides, None for one that is not known or divides by zero.

    ``left_bits``: the size of the type of the left side.
    """
    if op in _SIMPLE:
        return _SIMPLE[op](a, b)
    if op in ("<<", ">>"):
        return _shifted(op, a, b, left_bits)
    if op in ("/", "mod") and np.all(b != 0):
        whole = np.abs(a) // np.abs(b)
        quotient = np.where((a < 0) == (b < 0), whole, -whole)
        return np.asarray(quotient if op == "/" else a - quotient * b)
    return None


def wrapped(values: Vector, of: IntType) -> Vector:
    """Return values as they are after they were stored in a type."""
    bits = of.container_bits
    if bits >= _WORD_BITS:
        return values
    low = values & ((1 << bits) - 1)
    return np.where(low >> (bits - 1) != 0, low - (1 << bits), low) if of.signed else low


def _shifted(op: BinaryOp, a: Vector, b: Vector, left_bits: int) -> Vector:
    count = np.where(b < 0, b & (_WIDE_BITS - 1 if left_bits <= _WIDE_BITS else _WORD_BITS - 1), b)
    within = np.minimum(count, _WORD_BITS - 1)
    if op == ">>":
        return np.asarray(np.right_shift(a, within))
    return np.where(count < _WORD_BITS, np.left_shift(a, within), 0)
