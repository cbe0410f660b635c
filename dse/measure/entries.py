"""Splits what visits take more that move tokens over FIFOs to other cores, into entries of ends and prices of tokens.

A visit takes the largest of the *entries* of the ends on which it moves tokens, since the cache lines of several FIFOs
come side by side, and a price for each token. Measured in all splits of three programs over two cores: an actor whose
reading crosses took 400 ns more a visit, one whose writing crosses 130, and with both 350.

Which entry is the largest in a visit depends on the entries themselves. So they are found by turns: who leads in which
visits by the entries of before, then both kinds of prices by non-negative least squares, until nothing changes; from
two starts, of which the better end counts. Visits that move tokens on the same ends are added up first, so that a turn
costs nothing.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dse.measure.regression import solve_moments

FloatArray = NDArray[np.float64]
_MOST_TURNS = 30
_MOST_GROUPS = 1000
"""Visits that move tokens on the same ends are a group. Of more groups than these the largest tell."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class EndPrices:
    """What p ends of FIFOs that cross cost an actor: ``entries`` and ``each`` (a token), shape (p,) both."""

    entries: FloatArray
    each: FloatArray

    def paid(self, tokens: FloatArray) -> FloatArray:
        """Return what visits take more that move so many tokens, shape (n, p); the result has shape (n,)."""
        largest = np.where(tokens > 0, self.entries, 0.0).max(axis=1, initial=0.0)
        return np.asarray(largest + tokens @ self.each)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class _Group:
    """All visits that move tokens on the same ends.

    ``moved``: shape (p,). Of the columns 1 and tokens: ``gram``, shape (p + 1, p + 1), their products; ``moment``,
    shape (p + 1,), their products with what the visits took more.
    """

    moved: NDArray[np.bool_]
    gram: FloatArray
    moment: FloatArray


def end_prices(more: FloatArray, tokens: FloatArray) -> EndPrices:
    """Return the prices of p ends by what n visits took ``more``, shape (n,), and the ``tokens`` of each, shape (n, p).

    An end that leads in no visit has the largest entry that fits: the least that leads where it moves tokens too. Of
    what entries and tokens explain equally well, since all visits move as many, each has half.
    """
    groups = _groups(more, tokens)
    p = tokens.shape[1]
    if not groups:
        return EndPrices(entries=np.zeros(p), each=np.zeros(p))
    means = np.array([_mean(groups, end) for end in range(p)])
    found = [_by_turns(groups, start) for start in (means, -means)]
    return min(found, key=lambda prices: _error(groups, prices))


def _groups(more: FloatArray, tokens: FloatArray) -> list[_Group]:
    """Return the visits that move any tokens, in groups, of which those with the most visits come first."""
    moving = tokens.any(axis=1)
    rows, of_rows = tokens[moving], more[moving]
    _, group = np.unique(np.packbits(rows > 0, axis=1), axis=0, return_inverse=True)
    order = np.argsort(group.reshape(-1), kind="stable")
    bounds = np.append(0, np.cumsum(np.bincount(group.reshape(-1))))
    found = []
    for k in np.argsort(-np.diff(bounds), kind="stable")[:_MOST_GROUPS].tolist():
        members = order[bounds[k] : bounds[k + 1]]
        columns = np.column_stack([np.ones(len(members)), rows[members]])
        found.append(_Group(moved=rows[members[0]] > 0, gram=columns.T @ columns, moment=columns.T @ of_rows[members]))
    return found


def _mean(groups: list[_Group], end: int) -> float:
    """Return what visits took more on average that moved tokens on an end; 0 where none did."""
    members = [group for group in groups if group.moved[end]]
    visits = sum(float(group.gram[0, 0]) for group in members)
    return sum(float(group.moment[0]) for group in members) / visits if visits else 0.0


def _by_turns(groups: list[_Group], entries: FloatArray) -> EndPrices:
    """Return the best prices that are found from some entries on."""
    seen: list[tuple[int, ...]] = []
    best: EndPrices | None = None
    for _ in range(_MOST_TURNS):
        leads = tuple(int(np.where(group.moved, entries, -np.inf).argmax()) for group in groups)
        if leads in seen:
            break
        seen.append(leads)
        prices = _solved(groups, leads)
        if best is None or _error(groups, prices) < _error(groups, best):
            best = prices
        entries = prices.entries
    assert best is not None
    return best


def _solved(groups: list[_Group], leads: tuple[int, ...]) -> EndPrices:
    """Return the best prices where it is known which end leads in each group."""
    p = len(groups[0].moved)
    gram, moment = np.zeros((2 * p, 2 * p)), np.zeros(2 * p)
    for group, lead in zip(groups, leads, strict=True):
        columns = np.append(lead, np.arange(p, 2 * p))
        gram[np.ix_(columns, columns)] += group.gram
        moment[columns] += group.moment
    prices = _halved(gram, moment, p)
    entries = prices[:p].copy()
    for end in sorted(set(range(p)) - set(leads)):
        entries[end] = min(
            (prices[lead] for group, lead in zip(groups, leads, strict=True) if group.moved[end]), default=0.0
        )
    return EndPrices(entries=entries, each=prices[p:])


def _halved(gram: FloatArray, moment: FloatArray, p: int) -> FloatArray:
    """Return the costs of p entries and p tokens, shape (2 p,): the mean of what they are where as much as possible is
    put down to tokens, and where it is put down to entries.
    """
    by_tokens = solve_moments(gram, moment, optional=tuple(range(p)))
    if not by_tokens.contained:
        return np.nan_to_num(by_tokens.costs)
    by_entries = solve_moments(gram, moment, optional=tuple(range(p, 2 * p)))
    return np.asarray((np.nan_to_num(by_tokens.costs) + np.nan_to_num(by_entries.costs)) / 2)


def _error(groups: list[_Group], prices: EndPrices) -> float:
    """Return the squared error over all visits, less a constant."""
    total = 0.0
    for group in groups:
        of = np.append(prices.entries[group.moved].max(), prices.each)
        total += float(of @ group.gram @ of - 2.0 * group.moment @ of)
    return total
