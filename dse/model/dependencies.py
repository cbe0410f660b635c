"""The dependencies of a trace: the edges of the execution trace graph, columnar."""

from dataclasses import dataclass
from typing import Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

DependencyKind: TypeAlias = Literal[
    "tokens",
    "fsm",
    "port read",
    "port write",
    "variable read-read",
    "variable write-read",
    "variable read-write",
    "variable write-write",
    "guard enable",
    "guard disable",
]
DEPENDENCY_KINDS: tuple[DependencyKind, ...] = (
    "tokens",
    "fsm",
    "port read",
    "port write",
    "variable read-read",
    "variable write-read",
    "variable read-write",
    "variable write-write",
    "guard enable",
    "guard disable",
)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Dependencies:
    """Dependencies between firings, sorted by target, then kind, label and source.

    A firing is numbered ``first_firing[actor] + index``; ``first_firing`` has shape (n_actors + 1,), int64.
    ``source``, ``target``: shape (n,), int64. ``kind``: shape (n,), uint8, index into ``DEPENDENCY_KINDS``.
    ``label``: shape (n,), int32: for tokens the buffer; for ports, variables, guards an index into ``names``; else -1.
    ``count``: shape (n,), int64: tokens that go from source to target; 1 for other kinds.
    """

    first_firing: NDArray[np.int64]
    source: NDArray[np.int64]
    target: NDArray[np.int64]
    kind: NDArray[np.uint8]
    label: NDArray[np.int32]
    count: NDArray[np.int64]
    names: tuple[str, ...]
    """Ports and variables by their bare names (they are unique in an actor, and both ends are of one actor)."""

    def __len__(self) -> int:
        return len(self.source)

    def counts(self) -> dict[DependencyKind, int]:
        """Return how many dependencies there are of each kind."""
        numbers = np.bincount(self.kind, minlength=len(DEPENDENCY_KINDS))
        return {kind: int(n) for kind, n in zip(DEPENDENCY_KINDS, numbers, strict=True)}
