"""The problem an engine estimates: trace, weights and platform, without a design point."""

from dataclasses import dataclass
from typing import Literal, TypeAlias

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
