"""FIFOs of a run: one token list per connected output port, read by each of its readers at its own position.

A fan-out so costs one write. Semantically there is one bounded queue per reader: the writer waits for the fullest.
"""

import struct
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from dse.codegen.python.scheduler import COMPACT_TOKENS

_FNV_BASIS = 1469598103934665603
_FNV_PRIME = 1099511628211
_MASK = (1 << 64) - 1


@dataclass(slots=True)
class PortBuffer:
    """Tokens of one output port. ``heads[k]`` is the position of reader k in ``data``, ``capacities[k]`` its bound."""

    heads: list[int]
    capacities: list[int]
    hashing: bool = False
    data: list[Any] = field(default_factory=list)
    dropped: int = 0
    """Tokens that were read by all and taken from the front of ``data``."""
    digest: int = _FNV_BASIS

    def compact(self) -> None:
        """Drop the tokens that every reader has read, once there are enough of them."""
        count = min(self.heads)
        if count > COMPACT_TOKENS:
            self._drop(count)

    def _drop(self, count: int) -> None:
        if self.hashing:
            self.digest = hash_tokens(self.digest, self.data[:count])
        del self.data[:count]
        for k, head in enumerate(self.heads):
            self.heads[k] = head - count
        self.dropped += count

    @property
    def written(self) -> int:
        """Number of tokens written so far."""
        return self.dropped + len(self.data)

    def left(self, reader: int) -> int:
        """Return the number of tokens that reader ``reader`` has not read."""
        return len(self.data) - self.heads[reader]

    def final_hash(self) -> int:
        """Return the hash of all tokens written (cal.md section 4)."""
        return hash_tokens(self.digest, self.data)


def hash_tokens(digest: int, tokens: Sequence[Any]) -> int:
    """Return the hash of golden records carried on over ``tokens``; Strings count as 0 (they are not comparable)."""
    h = digest
    for token in tokens:
        if isinstance(token, float):
            bits = int.from_bytes(_double_bytes(token), "little")
        elif isinstance(token, str):
            bits = 0
        else:
            bits = int(token) & _MASK
        h = ((h ^ bits) * _FNV_PRIME) & _MASK
    return h


def _double_bytes(value: float) -> bytes:
    return struct.pack("<d", value)
