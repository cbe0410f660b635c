"""Columns of integers as text in a JSON document: small, and quick to read in a browser.

A column of ``n`` values below 256 ** ``w`` is ``w`` planes of ``n`` bytes: first the lowest byte of each value, then
the second. Planes of a kind are alike, so that they shrink well. ``z``: whether they are shrunk (zlib); ``d``: the
bytes in base64. ``dse/report/web/columns.js`` reads them.
"""

import base64
import zlib

import numpy as np
from numpy.typing import NDArray

LEVEL = 4
"""How hard zlib tries: three times as quick as with 6, for a report that is a tenth larger."""


def column(values: NDArray[np.int64], *, packed: bool) -> dict[str, object]:
    """Return a column of integers from 0 to 2**63 - 1, shape (n,); ``packed``: shrunk."""
    top = int(values.max(initial=0))
    assert int(values.min(initial=0)) >= 0, "a column holds no negative values"
    width = max(1, (top.bit_length() + 7) // 8)
    planes = np.ascontiguousarray(values, dtype="<i8").view(np.uint8).reshape(len(values), 8)[:, :width]
    data = np.ascontiguousarray(planes.T).tobytes()
    small = zlib.compress(data, LEVEL) if packed else data
    return {"n": len(values), "w": width, "z": packed, "d": base64.b64encode(small).decode("ascii")}


def steps_up(values: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the differences of rising values, the first from 0; shape as given."""
    return np.diff(values, prepend=np.int64(0))
