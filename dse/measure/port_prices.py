"""What reading or writing a port takes, from the phases of actions that were timed singly.

The reading phase of a firing reads all its inputs one after the other: ``phase = sum(fixed[p] + tokens[p] * each[p])``
over the ports it moves tokens on. Where the fixed part cannot be told from that of a token, it is contained in it.

A price holds for all actions of the actor. A port has one only if actions that were timed singly move nearly all of its
tokens: what a rare long action takes for a token says nothing of a short one that moves most of them.
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


_LEAST_SHARE = 0.9
"""So much of the tokens of a port must be moved by actions that were timed singly."""


def port_prices(phases: Sequence[TimedPhase], ports: int, tokens: Sequence[int]) -> tuple[PortPrice, ...]:
    """Return the prices of the ports of one side of an actor; ports without a price cost 0.

    ``tokens``: what all actions of the actor move on each port in a run.
    """
    rates = np.array([phase.rates for phase in phases], dtype=np.float64).reshape(len(phases), ports)
    firings = np.array([float(phase.firings) for phase in phases])
    timed = firings @ rates if len(phases) else np.zeros(ports)
    priced = (timed >= _LEAST_SHARE * np.asarray(tokens, dtype=np.float64)) & (timed > 0)
    rates = rates * priced
    moving = rates.any(axis=1) & (firings > 0)
    if not moving.any():
        return (PortPrice(),) * ports
    columns = np.column_stack([rates > 0, rates])[moving]
    means = np.array([phase.mean for phase in phases])[moving]
    weight = np.sqrt(firings[moving])  # a phase of many firings is known better
    split = split_durations(means * weight, columns * weight[:, None], optional=tuple(range(ports)), filtered=False)
    costs = np.nan_to_num(split.costs)
    return tuple(PortPrice(fixed=float(costs[p]), each=float(costs[ports + p])) for p in range(ports))
