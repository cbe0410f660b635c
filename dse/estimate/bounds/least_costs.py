"""What firings and transfers cost at least: every bound and every model of loads takes these costs, and no other.

A transfer has a class of prices (``PriceClass``). Where the weights give its price it costs that; a host transfer that
they do not give costs what its link does. A buffer that may be a host FIFO, although its own ends do not ask for it,
costs at least the less of both.
"""

import itertools

import numpy as np
from numpy.typing import NDArray

from dse.estimate.problem.prices import PAYER_KINDS, ROW_LINKS, UNIT_KINDS, PriceClass
from dse.estimate.problem.tables import IntArray, ProblemTables, TransferTable

NO_PRICE = int(np.iinfo(np.int64).max)
"""The cost of a transfer that has no price: no design point that completes has it."""


def least_of_classes(tables: ProblemTables, table: TransferTable, ticks: IntArray, buffers: IntArray) -> IntArray:
    """Return the least cost at each class of prices, shape (n_classes, n).

    ``ticks``: costs at each row of prices, shape (n_price_rows, n), negative ones count as 0; ``buffers``: shape (n,),
    to which buffer each cost belongs. ``NO_PRICE`` where a price is missing and nothing stands in for it.
    """
    priced = _priced(table, ticks, buffers)
    links = priced[ROW_LINKS:].min(axis=0, initial=NO_PRICE)
    near = 0 if _missing_is_free(tables) else NO_PRICE
    host = 0 if _host_may_be_free(tables) else links
    missing = [host if price.fifo_kind == "host" else near for price in PriceClass]
    return np.array(
        [np.where(priced[price] == NO_PRICE, missing[price], priced[price]) for price in PriceClass], dtype=np.int64
    ).reshape(len(PriceClass), len(buffers))


def least_for_payer(
    tables: ProblemTables, table: TransferTable, ticks: IntArray, buffers: IntArray, kind: int
) -> IntArray:
    """Return the least cost that a unit of ``kind`` (an index into ``UNIT_KINDS``) pays wherever the other end is.

    As ``least_of_classes``, shape (n,); of a weight and a link that both give a price it takes the less.
    """
    priced = _priced(table, ticks, buffers)
    crossing = any(unit.kind == "gpu" for unit in tables.problem.platform.units)
    payable = [p for p in PriceClass if p.payer == UNIT_KINDS[kind] and (crossing or p.fifo_kind != "host")]
    rows = [*payable, *range(ROW_LINKS, len(priced))] if crossing else payable
    free = _missing_is_free(tables) & (priced[payable] == NO_PRICE).any(axis=0)
    return np.where(free, 0, priced[rows].min(axis=0))


def _priced(table: TransferTable, ticks: IntArray, buffers: IntArray) -> IntArray:
    """Return the costs at each row of prices, ``NO_PRICE`` where the buffer has none."""
    return np.where(np.array(table.known, dtype=bool)[:, buffers], np.maximum(ticks, 0), NO_PRICE)


def claimed(least: IntArray) -> IntArray:
    """Return costs of which those without a price are 0: a bound claims nothing for them."""
    return np.where(least == NO_PRICE, 0, least)


def or_as_host(least: IntArray, may_be_host: NDArray[np.bool_] | bool) -> IntArray:
    """Return costs by class, those of the other classes not above those of a host FIFO where a buffer may be one."""
    hosts = least[[price.as_host for price in PriceClass]]
    return np.where(may_be_host, np.minimum(least, hosts), least)


def least_share(ticks: IntArray, firings: IntArray | int = 1) -> IntArray:
    """Return the least cost of so many firings that are made in blocks of any widths.

    ``ticks``: of blocks of 1, 2, ... firings along the last axis; unknown ones (negative) count as 0.
    """
    widths = np.arange(1, ticks.shape[-1] + 1)
    return np.asarray((np.maximum(ticks, 0) * firings // widths).min(axis=-1))


def block_ticks(tables: ProblemTables, row: int, action: int) -> IntArray:
    """Return the ticks of computing a block of 1, 2, ... firings of an action; only of one where it has no blocks."""
    width, first = int(tables.block_width[row, action]), int(tables.block_base[row, action])
    return tables.block_ticks[first : first + width] if width else tables.compute[row, action : action + 1]


def least_pairs(tables: ProblemTables, actor: int) -> IntArray:
    """Return the least scheduling of each action of an actor after each, shape (n_rows, n_actions, n_actions).

    Another actor's firing may come in between.
    """
    n, first, base = tables.action_count(actor), int(tables.action_base[actor]), int(tables.pair_base[actor])
    pairs = tables.pair_scheduling[:, base : base + n * n].reshape(-1, n, n)
    return np.maximum(np.minimum(pairs, tables.first_scheduling[:, None, first : first + n]), 0)


def simd_by_class(tables: ProblemTables) -> NDArray[np.bool_]:
    """Return whether whoever pays at a class of prices fires an action in blocks, shape (n_classes, n_actions)."""
    return np.asarray(tables.block_width[list(PAYER_KINDS)] > 0)


def _missing_is_free(tables: ProblemTables) -> bool:
    """Return whether a transfer without a weight costs nothing."""
    problem = tables.problem
    return problem.missing_weights == "zero" or not problem.weights.has_transfers


def _host_may_be_free(tables: ProblemTables) -> bool:
    """Return whether a host transfer without a weight may cost nothing: what is missing does, and not all pairs of
    units that a buffer can cross have a link to derive its price from."""
    if not _missing_is_free(tables):
        return False
    platform = tables.problem.platform
    priced = [all(known) for known in tables.reads.known[ROW_LINKS:]]
    links = [
        platform.link_index(a.name, b.name)
        for a, b in itertools.combinations(platform.units, 2)
        if "gpu" in (a.kind, b.kind)
    ]
    return not all(link is not None and priced[link] for link in links)
