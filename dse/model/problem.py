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


@dataclass(frozen=True, slots=True, kw_only=True)
class GpuAt:
    """What actions on the GPU do at a chosen clock, over what they do at the clock of their weights.

    ``times``: by (actor, action). ``watts``: the power of the GPU during the action, in watts; None where it is not
    known. An action that is not in ``times`` keeps its cycles, as it does not run on the GPU.
    """

    times: dict[tuple[str, str], Fraction]
    watts: dict[tuple[str, str], Fraction] | None


@dataclass(frozen=True, slots=True, kw_only=True)
class GpuScaling:
    """How GPU costs follow clocks, from a trained model. ``at``: by the clock in MHz; None: that of the weights.

    Times need not fall with the clock. ``name``: of the model, for people; ``digest``: what is in it.
    """

    name: str
    digest: str
    at: dict[Fraction | None, GpuAt]


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
    scaling: GpuScaling | None = None
    """How computing on GPUs follows their clocks; None: the cycles stay what they are there too."""
    deviations: tuple[NDArray[np.int64], ...] = ()
    """How far the computation of each firing on a CPU is from that of its action: one array an actor, in ticks, shape
    (n_firings of the actor,), or (0,) where all are as the action says. Empty: of no actor. Not with ``clocks``.
    """
