"""Tables and design points as they are under changes (``dse.model.changes``): nothing is built anew from weights.

What a change means is said once, here, in ticks, for all engines: an engine takes the changed tables as it would take
any (``Engine.with_tables``).
"""

from collections.abc import Collection, Sequence
from dataclasses import replace
from fractions import Fraction

import numpy as np

from dse.estimate.problem.prepare import prepare
from dse.estimate.problem.tables import UNKNOWN, IntArray, ProblemTables, TransferTable, VisitTicks
from dse.estimate.problem.totals import MOST_TOTAL_TICKS, most_ticks_of_actions
from dse.model.changes import Change, Faster, FreeLink, FreeTransfers, Room, Uncontended
from dse.model.design_point import DesignPoint
from dse.model.platform import Platform

FINE = 1000
"""Costs in cycles are multiplied by this where a tenth of them has to tell something."""


def refined(tables: ProblemTables) -> tuple[ProblemTables, int]:
    """Return tables of smaller ticks, and how many of them make a tick of ``tables``: ``FINE``, or 1 under clocks.

    Cycles are few: a tenth of four of them would be rounded away. All costs are multiplied, so that a makespan is
    exactly so many times as long. Where sums of ticks would then not fit 64 bits the tables stay as they are.
    """
    at_once = max(1, len(tables.topology.buffers)) if tables.problem.platform.links else 1
    longest = float(most_ticks_of_actions(tables).sum()) * at_once
    if tables.tick_unit != "cycles" or longest * FINE > MOST_TOTAL_TICKS:
        return tables, 1
    fine = replace(
        tables,
        compute=_times(tables.compute),
        block_ticks=_times(tables.block_ticks),
        first_scheduling=_times(tables.first_scheduling),
        pair_scheduling=_times(tables.pair_scheduling),
        reads=replace(tables.reads, ticks=_times(tables.reads.ticks)),
        writes=replace(tables.writes, ticks=_times(tables.writes.ticks)),
        arrival=tables.arrival * FINE,
        visits=_finer(tables.visits),
        deviations=tables.deviations * FINE,
    )
    return fine, FINE


def _finer(visits: VisitTicks | None) -> VisitTicks | None:
    if visits is None:
        return None
    return VisitTicks(
        look=visits.look * FINE,
        glance=visits.glance * FINE,
        wake=visits.wake * FINE,
        entries=visits.entries * FINE,
    )


def _times(ticks: IntArray) -> IntArray:
    """Return ticks in smaller ones; what is not known stays so."""
    return np.where(ticks == UNKNOWN, UNKNOWN, ticks * FINE)


def changed(tables: ProblemTables, point: DesignPoint, changes: Sequence[Change]) -> tuple[ProblemTables, DesignPoint]:
    """Return the tables and the point under changes; the tables themselves where no change concerns them.

    Raises: as ``prepare``, for a link of a point that does not fit.
    """
    for change in changes:
        match change:
            case Faster():
                tables = faster(tables, change.actor, change.action, change.speed)
            case Room():
                capacities = (*point.capacities[: change.buffer], change.tokens, *point.capacities[change.buffer + 1 :])
                point = replace(point, capacities=capacities)
            case FreeTransfers():
                tables = _free(tables, (change.buffer,))
            case FreeLink():
                tables = _free(tables, buffers_of_link(tables, point, change.link))
            case Uncontended():
                tables = _uncontended(tables, change.link)
    return tables, point


def faster(tables: ProblemTables, actor: int, action: int | None, speed: Fraction | None) -> ProblemTables:
    """Return the tables where an action (None: all of an actor) computes so many times as fast (``Faster``)."""
    first, behind = int(tables.action_base[actor]), int(tables.action_base[actor + 1])
    columns = np.arange(first, behind) if action is None else np.array([first + action])
    compute = tables.compute.copy()
    compute[:, columns] = _divided(compute[:, columns], speed)
    blocks = tables.block_ticks
    for row, column in ((r, c) for r in range(len(compute)) for c in columns if tables.block_width[r, c]):
        begin = int(tables.block_base[row, column])
        span = slice(begin, begin + int(tables.block_width[row, column]))
        blocks = blocks.copy() if blocks is tables.block_ticks else blocks
        blocks[span] = _divided(tables.block_ticks[span], speed)
    deviations = _faster_deviations(tables, actor, action, speed)
    return replace(tables, compute=compute, block_ticks=blocks, deviations=deviations)


def _faster_deviations(tables: ProblemTables, actor: int, action: int | None, speed: Fraction | None) -> IntArray:
    """Return the deviations where the firings of an action, or of an actor, are so many times as fast."""
    if not len(tables.deviations):
        return tables.deviations
    firings = tables.problem.trace.firings
    begin = sum(map(len, firings[:actor]))
    span = slice(begin, begin + len(firings[actor]))
    own = tables.deviations[span]
    concerned = np.full(len(own), True) if action is None else firings[actor] == action
    found = tables.deviations.copy()
    found[span] = np.where(concerned, _divided_signed(own, speed), own)
    return found


def _divided(ticks: IntArray, speed: Fraction | None) -> IntArray:
    """Return ticks divided by a speed, rounded half up; 0 without one. What is not known stays so."""
    return np.where(ticks == UNKNOWN, UNKNOWN, _divided_signed(ticks, speed))


def _divided_signed(ticks: IntArray, speed: Fraction | None) -> IntArray:
    """Return ticks, also negative ones, divided by a speed, rounded half up; 0 without one."""
    if speed is None:
        return np.zeros_like(ticks)
    n, d = speed.numerator, speed.denominator
    whole, rest = np.divmod(ticks, n)  # no product with all of the ticks: it need not fit 64 bits
    found: IntArray = whole * d + (2 * rest * d + n) // (2 * n)
    return found


def _free(tables: ProblemTables, buffers: Collection[int]) -> ProblemTables:
    """Return the tables where the transfers of some buffers take no time."""
    return replace(tables, reads=_free_side(tables.reads, buffers), writes=_free_side(tables.writes, buffers))


def _free_side(table: TransferTable, buffers: Collection[int]) -> TransferTable:
    """Return the transfers of one side, those of some buffers at no cost; what is not known stays so."""
    of_column = np.repeat(table.buffer, table.width)
    columns = np.isin(of_column, list(buffers))
    ticks = table.ticks.copy()
    ticks[:, columns] = np.where(ticks[:, columns] == UNKNOWN, UNKNOWN, 0)
    return replace(table, ticks=ticks)


def buffers_of_link(tables: ProblemTables, point: DesignPoint, link: int) -> tuple[int, ...]:
    """Return the buffers that occupy a link under a design point. Raises: as ``prepare``."""
    prepared = prepare(tables, point)
    servers = {s for s, server in enumerate(prepared.servers) if server.link == link}
    return tuple(b for b, server in enumerate(prepared.server_of) if server in servers)


def _uncontended(tables: ProblemTables, link: int) -> ProblemTables:
    """Return the tables of a platform whose link is not shared."""
    platform: Platform = tables.problem.platform
    links = tuple(replace(of, shared=of.shared and index != link) for index, of in enumerate(platform.links))
    return replace(tables, problem=replace(tables.problem, platform=replace(platform, links=links)))
