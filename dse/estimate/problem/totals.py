"""The check that no sum of ticks can leave 64 bits, made once for a problem: engines add up without looking.

At every instant before the end of a run some firing computes, is scheduled or transfers, tokens are on their way, or
the run is deadlocked. So no run takes longer than all costs one after the other, each at its dearest price, and an
arrival for each write; and no account of time is longer,
except those of links, where the transfers of all buffers may wait at once.
"""

import numpy as np
from numpy.typing import NDArray

from dse.base.errors import FormatError
from dse.estimate.problem.tables import ProblemTables, TransferTable

MOST_TOTAL_TICKS = 2.0**62
"""Half of what 64 bits hold: sums of doubles are good to far better than a factor of two."""

_Reals = NDArray[np.float64]


def check_total(tables: ProblemTables) -> None:
    """Do nothing if the sums of every run fit 64 bits. Raises ``FormatError`` that names the dearest action if not."""
    worst = most_ticks_of_actions(tables)
    at_once = max(1, len(tables.topology.buffers)) if tables.problem.platform.links else 1
    total = float(worst.sum())
    if total * at_once <= MOST_TOTAL_TICKS:
        return
    column = int(worst.argmax())
    actor = int(np.searchsorted(tables.action_base, column, side="right")) - 1
    action = tables.topology.actors[actor].actions[column - int(tables.action_base[actor])]
    name, n = f"{tables.topology.actors[actor].name}.{action.name}", int(tables.count[column])
    raise FormatError(
        f"the costs of all firings add up to {total:.3g} ticks, more than the {MOST_TOTAL_TICKS / at_once:.3g} that "
        "an engine can count",
        expected=f"most of it are {n:,} firings of {name} of up to {worst[column] / n:.3g} ticks each: check their "
        "weights and clocks, or give a shorter trace",
    )


def most_ticks_of_actions(tables: ProblemTables) -> _Reals:
    """Return what all firings of each action cost at most, transfers and scheduling included."""
    count = tables.count.astype(np.float64)
    each = _dearest(tables.compute) + _dearest(tables.first_scheduling)
    for kind, column in zip(*np.nonzero(tables.block_width), strict=True):
        start, width = int(tables.block_base[kind, column]), int(tables.block_width[kind, column])
        each[column] = max(each[column], float(tables.block_ticks[start : start + width].max()))
    for table in (tables.reads, tables.writes):
        each += _transfers(table, len(count))
    # Room comes back as tokens arrive, behind publications of the reader.
    each += tables.arrival * (np.diff(tables.writes.first) + np.diff(tables.reads.first))
    if tables.visits is not None:
        calls = tables.visits.wake + tables.visits.dearest_call * len(tables.topology.actors)
        each += float(calls + tables.visits.entries.sum())
    worst: _Reals = count * each + _longer(tables)
    pairs = tables.pair_count * _dearest(tables.pair_scheduling)
    for actor, base in enumerate(tables.pair_base.tolist()):
        n = tables.action_count(actor)
        first = int(tables.action_base[actor])
        worst[first : first + n] += pairs[base : base + n * n].reshape(n, n).sum(axis=0)
    return worst


def _longer(tables: ProblemTables) -> _Reals:
    """Return what the firings of each action take more than the action says, those that do."""
    if not len(tables.deviations):
        return np.zeros(len(tables.count))
    ids = zip(tables.action_base[:-1].tolist(), tables.problem.trace.firings, strict=True)
    column = np.concatenate([base + firings.astype(np.int64) for base, firings in ids])
    longer = np.maximum(tables.deviations, 0).astype(np.float64)
    found: _Reals = np.bincount(column, weights=longer, minlength=len(tables.count)).astype(np.float64)
    return found


def _dearest(ticks: NDArray[np.int64]) -> _Reals:
    """Return the largest of each column, unknown ones (-1) as 0."""
    largest: _Reals = ticks.max(axis=0, initial=0).astype(np.float64)
    return largest


def _transfers(table: TransferTable, n_actions: int) -> _Reals:
    """Return what the transfers of one firing of each action cost at the dearest prices, widest blocks included."""
    of_action = np.zeros(n_actions)
    if len(table.cost):
        dearest = np.maximum.reduceat(_dearest(table.ticks), table.cost)
        np.add.at(of_action, np.repeat(np.arange(n_actions), np.diff(table.first)), dearest)
    return of_action
