"""The problem an engine estimates: trace, weights and platform, without a design point."""

from dataclasses import dataclass
from fractions import Fraction
from typing import Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from dse.model.platform import Platform
from dse.model.trace import Trace
from dse.model.weights import WeightTable

MissingWeights: TypeAlias = Literal["error", "zero"]
"""What an absent weight means to an engine. ``nominal`` of the command line fills the table before it gets here."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Problem:
    """Everything that is fixed while a search runs."""

    trace: Trace
    weights: WeightTable
    platform: Platform
    missing_weights: MissingWeights = "error"
    clocks: tuple[tuple[str, Fraction], ...] = ()
    """(unit, MHz): the clocks that design points may choose for units, beside that of the weights.

    A chosen clock changes what computing and scheduling take, as the cycles stay what they are; transfers stay.
    """
    deviations: tuple[NDArray[np.int64], ...] = ()
    """How far the computation of each firing on a CPU is from that of its action: one array an actor, in ticks, shape
    (n_firings of the actor,), or (0,) where all are as the action says. Empty: of no actor. Not with ``clocks``.
    """
