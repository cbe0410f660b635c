"""Lists in memory: small ones are Python lists, of large ones the rows are made when they are first met.

Picture stores are mostly far larger than the pictures: an AVC decoder declares 1.9 GB of them, lists of an HEVC decoder
have 71 million elements.
"""

from math import prod

from dse.codegen.python.spelling import zero_text
from dse.program.types import ListType, dimensions_of

_LAZY_ELEMENTS = 1 << 16
"""Elements from which a list of several dimensions makes its rows on demand."""


def new_list_text(of: ListType) -> str:
    """Return the text of a new list of zeros."""
    dims, zero = dimensions_of(of), zero_text(of)
    if len(dims) == 1:
        return f"[{zero}] * {dims[0]}"
    return f"{'large_list' if is_large(of) else 'zeros'}({dims}, {zero})"


def is_large(of: ListType) -> bool:
    """Return whether a list of zeros makes its rows on demand."""
    dims = dimensions_of(of)
    return len(dims) > 1 and prod(dims) >= _LAZY_ELEMENTS
