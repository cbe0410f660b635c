"""What reading or writing a port takes, from the phases of actions that were timed singly.

The reading phase of a firing reads all its inputs one after the other: ``phase = sum(fixed[p] + tokens[p] * each[p])``
over the ports it moves tokens on. Where the fixed part cannot be told from that of a token, it is contained in it.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from dse.measure.regression import split_durations


@dataclass(frozen=True, slots=True, kw_only=True)
class PortPrice:
    """What moving tokens on one port takes: once for each firing, and for each token; in counts."""

    fixed: float = 0.0
    each: float = 0.0

    def of(self, tokens: int) -> float:
        """Return what a firing takes that moves so many tokens; nothing where it moves none."""
        return self.fixed + tokens * self.each if tokens else 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class TimedPhase:
    """The mean of a phase of an action, in counts: ``rates`` are its tokens on each port, ``firings`` its weight."""

    rates: tuple[int, ...]
    mean: float
    firings: int


def port_prices(phases: Sequence[TimedPhase], ports: int) -> tuple[PortPrice, ...]:
    """Return the prices of the ports of one side of an actor; ports that no timed action moves tokens on cost 0."""
    moving = [phase for phase in phases if any(phase.rates)]
    if not moving:
        return (PortPrice(),) * ports
    rates = np.array([phase.rates for phase in moving], dtype=np.float64).reshape(len(moving), ports)
    columns = np.column_stack([rates > 0, rates])
    weight = np.sqrt([float(max(phase.firings, 1)) for phase in moving])
    means = np.array([phase.mean for phase in moving])
    # Rows are repeated by their weight: a phase of many firings is known better.
    split = split_durations(means * weight, columns * weight[:, None], optional=tuple(range(ports)), filtered=False)
    costs = np.nan_to_num(split.costs)
    return tuple(PortPrice(fixed=float(costs[p]), each=float(costs[ports + p])) for p in range(ports))
