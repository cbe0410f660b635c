"""The algorithmic critical path of a program: the longest chain of its own dependencies, whatever it runs on."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dse.model.dependencies import DEPENDENCY_KINDS
from dse.model.estimate import TickUnit

IN_ORDER = len(DEPENDENCY_KINDS)
"""In ``AlgorithmicPath.kind``: the firing waited for that of its actor before, only because firings go in order."""

_Ints = NDArray[np.int64]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class AlgorithmicPath:
    """The longest path through the dependencies of a trace. Arrays have shape (n,), int64, from first to last."""

    length: int
    """Ticks."""
    tick_unit: TickUnit
    work: int
    """Ticks of all firings together."""
    accesses: bool
    """Whether state variables and guards are among the dependencies; else the true path may be longer."""
    unit_kind: str
    """The kind of unit whose costs the firings have."""
    actor: _Ints
    firing: _Ints
    """Number among those of its actor."""
    start: _Ints
    end: _Ints
    kind: _Ints
    """The dependency through which the path comes: an index into ``DEPENDENCY_KINDS``, ``IN_ORDER``, or -1 at first."""
    label: _Ints
    """For tokens the buffer; for ports, variables and guards an index into ``names``; else -1."""
    names: tuple[str, ...]
    slack: tuple[_Ints, ...]
    """For each actor, shape (n_firings,): by how many ticks each firing may begin later without a longer path."""
