"""The part of a problem that no design point changes, as integer tick tables. Built once, shared by all engines.

Owns the look-up of weights by name. The tables are flat, so that the compiled engine can use them as they are: the
actions of all actors are numbered through (``action_base[actor] + action``), the transfers of an action are a slice
of an entry list, and a missing weight is ``UNKNOWN``; only ``prepare`` knows whether a design point needs it.
"""

import itertools
from dataclasses import dataclass
from fractions import Fraction
from typing import Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from dse.base.errors import FormatError
from dse.estimate.problem.ticks import MOST_TICKS, TickConverter, TransferPrice
from dse.estimate.problem.totals import check_total
from dse.model.estimate import TickUnit
from dse.model.platform import Link, Platform
from dse.model.problem import Problem
from dse.model.trace import Topology, TraceBuffer
from dse.model.weights import FifoKind, UnitKind

IntArray: TypeAlias = NDArray[np.int64]
Side: TypeAlias = Literal["read", "write"]

UNKNOWN = -1
UNIT_KINDS: tuple[UnitKind, ...] = ("cpu", "gpu")
PRICES: tuple[tuple[FifoKind, UnitKind], ...] = (
    ("local", "cpu"),
    ("cpu_cpu", "cpu"),
    ("cuda", "gpu"),
    ("host", "cpu"),
    ("host", "gpu"),
)
"""The prices of a transfer, in the order of the rows of ``TransferTable.ticks``: FIFO kind, unit kind that pays."""
PRICE_FREE = len(PRICES)
"""The row of transfers that cost nothing: no communication weights, or missing ones taken as zero."""
PRICE_DERIVED = PRICE_FREE + 1
"""The row of host transfers priced by latency and bandwidth of link 0; link ``i`` has row ``PRICE_DERIVED + i``."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class TransferTable:
    """The reads (or the writes) of all actions. Entry ``e`` belongs to action ``x`` if ``first[x] <= e < first[x+1]``.

    Entries of one action are in buffer order; ports of rate 0 and unconnected ports have none. The ticks of entry
    ``e`` in a block of k firings at price ``p`` are ``ticks[p, cost[e] + k - 1]``; k > 1 only where ``width[e]`` > 1.
    """

    first: IntArray
    """shape (n_actions + 1,)"""
    buffer: IntArray
    """shape (n_entries,)"""
    tokens: IntArray
    """shape (n_entries,): tokens of one firing"""
    cost: IntArray
    """shape (n_entries,): first column of the entry in ``ticks``"""
    width: IntArray
    """shape (n_entries,): number of columns of the entry, at least 1"""
    ticks: IntArray
    """shape (n_prices, n_columns)"""
    known: tuple[tuple[bool, ...], ...]
    """``known[price][buffer]``: whether there is such a price"""


@dataclass(frozen=True, slots=True)
class CostRow:
    """Whose computing and scheduling a row of the tables holds: units of a kind (an index into ``UNIT_KINDS``) at a
    chosen clock, or at that of their weights (None)."""

    kind: int
    clock_mhz: Fraction | None = None


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class ProblemTables:
    """Integer ticks of a problem. Row ``r`` of an array of shape (n_rows, ...) is for ``rows[r]``."""

    problem: Problem
    rows: tuple[CostRow, ...]
    """First one for each of ``UNIT_KINDS`` at the clock of the weights, then those of the clocks of the problem."""
    tick_unit: TickUnit
    action_base: IntArray
    """shape (n_actors + 1,)"""
    count: IntArray
    """shape (n_actions,): firings of each action in the trace"""
    first_action: IntArray
    """shape (n_actors,): action of the first firing, -1 where an actor never fires"""
    compute: IntArray
    """shape (n_rows, n_actions); 0 for actions that never fire"""
    block_width: IntArray
    """shape (n_rows, n_actions): width of the SIMD block, 0 where the action is not marked"""
    block_base: IntArray
    """shape (n_rows, n_actions): k firings at once take ``block_ticks[block_base + k - 1]``"""
    block_ticks: IntArray
    first_scheduling: IntArray
    """shape (n_rows, n_actions): scheduling where another actor's firing, or none, ended last on the core"""
    pair_base: IntArray
    """shape (n_actors,): ``pair_scheduling[row, pair_base[a] + q * n + x]`` for x after q, n actions of the actor"""
    pair_scheduling: IntArray
    """shape (n_rows, n_pairs)"""
    pair_count: IntArray
    """shape (n_pairs,): how often x follows q in the trace of the actor"""
    actor_known: tuple[tuple[bool, ...], ...]
    """``actor_known[row][actor]``: whether no compute or scheduling weight that it could need is unknown."""
    reads: TransferTable
    writes: TransferTable
    least_capacity: tuple[int, ...]
    """The largest rate of a fired action on each buffer, and not below its initial tokens."""

    @property
    def topology(self) -> Topology:
        """Actors and buffers of the problem."""
        return self.problem.trace.topology

    def action_count(self, actor: int) -> int:
        """Return the number of actions of an actor."""
        return len(self.topology.actors[actor].actions)


def kind_indices(platform: Platform) -> dict[str, int]:
    """Return the index into ``UNIT_KINDS`` of each unit by its name."""
    return {unit.name: UNIT_KINDS.index(unit.kind) for unit in platform.units}


def cost_rows(problem: Problem) -> tuple[CostRow, ...]:
    """Return the rows of the tables of a problem."""
    kind_of = kind_indices(problem.platform)
    plain = (CostRow(kind) for kind in range(len(UNIT_KINDS)))
    return tuple(dict.fromkeys((*plain, *(CostRow(kind_of[unit], clock) for unit, clock in problem.clocks))))


def derivable(link: Link) -> bool:
    """Return whether host costs can be derived from a link: it says something about its latency or bandwidth."""
    return link.latency_ns > 0 or link.bandwidth_gb_s is not None


def host_may_be_free(tables: ProblemTables) -> bool:
    """Return whether a host transfer without a weight may cost nothing: what is missing does, and not all pairs of
    units that a buffer can cross have a link to derive its price from."""
    problem = tables.problem
    if problem.missing_weights != "zero" and problem.weights.has_transfers:
        return False
    priced = [all(known) for known in tables.reads.known[PRICE_DERIVED:]]
    for a, b in itertools.combinations(problem.platform.units, 2):
        if "gpu" in (a.kind, b.kind):
            link = problem.platform.link_index(a.name, b.name)
            if link is None or not priced[link]:
                return True
    return False


def build_tables(problem: Problem) -> ProblemTables:
    """Return the tick tables of ``problem``.

    Raises:
        FormatError: weights with and without a clock are mixed, a weight is negative or has a clock of 0, or costs
            are so large that their sum would not fit 64 bits.
    """
    converter = TickConverter()
    topology = problem.trace.topology
    sizes = [len(actor.actions) for actor in topology.actors]
    base = np.cumsum([0, *sizes], dtype=np.int64)
    pair_base = np.cumsum([0, *(n * n for n in sizes)], dtype=np.int64)
    count, pair_count, first_action = _counts(problem, sizes)
    compute, blocks = _compute(problem, base, count, converter)
    first_scheduling, pair_scheduling = _scheduling(problem, base, count, pair_base, pair_count, converter)
    width = blocks.width.max(axis=0, initial=0)
    given = {side: _given_prices(problem, side, converter) for side in ("read", "write")}
    converter.check()
    if problem.clocks and converter.unit == "cycles":
        raise FormatError("clocks are chosen, but the weights have none", expected="give weights with a frequency")
    clocked = converter.unit != "cycles" and (converter.unit == "ps" or any(map(derivable, problem.platform.links)))
    links = problem.platform.links if clocked else ()
    reads = _transfers(problem, "read", width, _with_links(problem, given["read"], links))
    writes = _transfers(problem, "write", width, _with_links(problem, given["write"], links))
    tables = ProblemTables(
        problem=problem,
        rows=cost_rows(problem),
        tick_unit="ps" if clocked else "cycles",
        action_base=base,
        count=count,
        first_action=first_action,
        compute=compute,
        block_width=blocks.width,
        block_base=blocks.base,
        block_ticks=blocks.ticks,
        first_scheduling=first_scheduling,
        pair_base=pair_base[:-1],
        pair_scheduling=pair_scheduling,
        pair_count=pair_count,
        actor_known=_actor_known(base, pair_base, compute, first_scheduling, pair_scheduling),
        reads=reads,
        writes=writes,
        least_capacity=_least_capacities(topology, count, reads, writes),
    )
    check_total(tables)
    return tables


def _counts(problem: Problem, sizes: list[int]) -> tuple[IntArray, IntArray, IntArray]:
    """Return the firings of each action, the occurrences of each pair of actions in a row, and the first actions."""
    counts, pairs = [np.zeros(0, dtype=np.int64)], [np.zeros(0, dtype=np.int64)]
    first = np.full(len(sizes), -1, dtype=np.int64)
    for a, (n, firings) in enumerate(zip(sizes, problem.trace.firings, strict=True)):
        wide = firings.astype(np.int64)
        counts.append(np.bincount(wide, minlength=n))
        pairs.append(np.bincount(wide[:-1] * n + wide[1:], minlength=n * n))
        if len(wide):
            first[a] = wide[0]
    return np.concatenate(counts), np.concatenate(pairs), first


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class _Blocks:
    """The SIMD columns of ``ProblemTables``."""

    width: IntArray
    base: IntArray
    ticks: IntArray


def _present_rows(problem: Problem) -> list[tuple[int, UnitKind, Fraction | None]]:
    """Return index, kind and chosen clock of the rows whose kind of unit the platform has."""
    present = {unit.kind for unit in problem.platform.units}
    rows = [(r, UNIT_KINDS[row.kind], row.clock_mhz) for r, row in enumerate(cost_rows(problem))]
    return [row for row in rows if row[1] in present]


def _clock(chosen_mhz: Fraction | None, weight_mhz: Fraction | None) -> Fraction | None:
    """Return the clock at which the cycles of a weight are spent; a weight without a clock stays without one."""
    return weight_mhz if chosen_mhz is None or weight_mhz is None else chosen_mhz


def _absent(problem: Problem) -> int:
    """Return what stands for a weight that is not in the table."""
    return 0 if problem.missing_weights == "zero" else UNKNOWN


def _compute(problem: Problem, base: IntArray, count: IntArray, converter: TickConverter) -> tuple[IntArray, _Blocks]:
    """Return the compute ticks of every fired action on every unit kind, and the tables of SIMD blocks."""
    rows = _present_rows(problem)
    compute = np.where(count > 0, _absent(problem), 0) * np.ones((len(cost_rows(problem)), 1), dtype=np.int64)
    width, start = np.zeros_like(compute), np.zeros_like(compute)
    flat: list[int] = []
    for a, actor in enumerate(problem.trace.topology.actors):
        fired = [x for x in range(len(actor.actions)) if count[base[a] + x]]
        for k, kind, clock in rows:
            for x in fired:
                column = base[a] + x
                key = (actor.name, actor.actions[x].name, kind)
                entry = f"compute weight of action {actor.name}.{actor.actions[x].name} on {kind}"
                block, cost = problem.weights.simd.get(key), problem.weights.compute.get(key)
                if block is not None and block.width:
                    mhz = _clock(clock, block.frequency_mhz)
                    ticks = [converter.ticks(entry, cycles, mhz) for cycles in block.block_cycles]
                    width[k, column], start[k, column], compute[k, column] = block.width, len(flat), ticks[0]
                    flat += ticks
                elif cost is not None:
                    compute[k, column] = converter.ticks(entry, cost.mean_cycles, _clock(clock, cost.frequency_mhz))
    return compute, _Blocks(width=width, base=start, ticks=np.array(flat, dtype=np.int64))


def _scheduling(
    problem: Problem,
    base: IntArray,
    count: IntArray,
    pair_base: IntArray,
    pair_count: IntArray,
    converter: TickConverter,
) -> tuple[IntArray, IntArray]:
    """Return the scheduling ticks after none and after each previous action; a pair that is not given costs as none."""
    weights = problem.weights
    absent = _absent(problem) if weights.has_scheduling else 0
    rows = _present_rows(problem)
    each_row = np.ones((len(cost_rows(problem)), 1), dtype=np.int64)
    first, pairs = np.where(count > 0, absent, 0) * each_row, np.where(pair_count > 0, absent, 0) * each_row
    for a, actor in enumerate(problem.trace.topology.actors if weights.has_scheduling else ()):
        names, n = [action.name for action in actor.actions], len(actor.actions)
        for k, kind, clock in rows:
            for x in range(n):
                if not count[base[a] + x]:
                    continue
                entry = f"scheduling weight of action {actor.name}.{names[x]} on {kind}"
                cost = weights.scheduling.get((actor.name, "", names[x], kind))
                if cost is not None:
                    mhz = _clock(clock, cost.frequency_mhz)
                    first[k, base[a] + x] = converter.ticks(entry, cost.mean_cycles, mhz)
                for q in range(n):
                    pair = pair_base[a] + q * n + x
                    if not pair_count[pair]:
                        continue
                    cost = weights.scheduling.get((actor.name, names[q], names[x], kind))
                    if cost is None:
                        pairs[k, pair] = first[k, base[a] + x]
                    else:
                        after = f"{entry} after {names[q]}"
                        mhz = _clock(clock, cost.frequency_mhz)
                        pairs[k, pair] = converter.ticks(after, cost.mean_cycles, mhz)
    return first, pairs


def _actor_known(
    base: IntArray, pair_base: IntArray, compute: IntArray, first: IntArray, pairs: IntArray
) -> tuple[tuple[bool, ...], ...]:
    """Return by row and actor whether all its compute and scheduling weights are known."""
    return tuple(
        tuple(
            all(
                bool((row[start:end] >= 0).all())
                for row, start, end in (
                    (compute[k], base[a], base[a + 1]),
                    (first[k], base[a], base[a + 1]),
                    (pairs[k], pair_base[a], pair_base[a + 1]),
                )
            )
            for a in range(len(base) - 1)
        )
        for k in range(len(compute))
    )


_PriceRow: TypeAlias = list[TransferPrice | None]
"""The price of a transfer on each buffer, None where it is not known."""


def _given_prices(problem: Problem, side: Side, converter: TickConverter) -> list[_PriceRow]:
    """Return the prices that the weights give, one row for each of ``PRICES``, and the row of free transfers."""
    topology, weights = problem.trace.topology, problem.weights
    present = {unit.kind for unit in problem.platform.units}
    free = TransferPrice(Fraction(0), Fraction(0))
    rows: list[_PriceRow] = []
    for fifo_kind, unit_kind in PRICES:
        row: _PriceRow = []
        for index, buffer in enumerate(topology.buffers):
            source, target = topology.actors[buffer.source], topology.actors[buffer.target]
            ports = (source.outputs[buffer.source_port], target.inputs[buffer.target_port])
            cost = weights.transfers.get((source.name, ports[0], target.name, ports[1], fifo_kind, unit_kind, side))
            if cost is None or unit_kind not in present:
                row.append(None if weights.has_transfers or fifo_kind == "host" else free)
                continue
            entry = f"{side} weight of buffer {topology.buffer_name(index)} ({fifo_kind}, {unit_kind})"
            row.append(converter.transfer_ticks(entry, cost.mean_cycles, cost.per_token_cycles, cost.frequency_mhz))
        rows.append(row)
    rows.append([free] * len(topology.buffers))
    return rows


def _with_links(problem: Problem, rows: list[_PriceRow], links: tuple[Link, ...]) -> list[_PriceRow]:
    """Append a row for each link of the platform: prices derived from it, in ps, where ``links`` lets them be."""
    buffers = problem.trace.topology.buffers
    derived: list[_PriceRow] = [
        [_link_price(link, buffer) if link in links and derivable(link) else None for buffer in buffers]
        for link in problem.platform.links
    ]
    return rows + derived


def _link_price(link: Link, buffer: TraceBuffer) -> TransferPrice:
    """Return the price of moving tokens of a buffer over a link: latency, and bytes by bandwidth (1 GB/s = 1 B/ns)."""
    if link.latency_ns < 0 or (link.bandwidth_gb_s is not None and link.bandwidth_gb_s <= 0):
        raise FormatError(
            f"link '{link.name}' has a latency of {link.latency_ns} ns and a bandwidth of {link.bandwidth_gb_s} GB/s",
            expected="a latency is at least 0 and a bandwidth above 0",
        )
    per_token_ps = Fraction(0) if link.bandwidth_gb_s is None else buffer.token_bytes * 1000 / link.bandwidth_gb_s
    return TransferPrice(link.latency_ns * 1000, per_token_ps)


def _transfers(problem: Problem, side: Side, width: IntArray, prices: list[_PriceRow]) -> TransferTable:
    """Return the transfers of one side of every action; ``width`` is the widest SIMD block of each action."""
    topology = problem.trace.topology
    ports = _ports(topology, side)
    first, buffers, tokens, widths = [0], [], [], []
    for actor, of_actor in zip(topology.actors, ports, strict=True):
        for action in actor.actions:
            rates = action.reads if side == "read" else action.writes
            for buffer, port in of_actor:
                if rates[port]:
                    buffers.append(buffer)
                    tokens.append(rates[port])
                    widths.append(max(1, int(width[len(first) - 1])))
            first.append(len(buffers))
    starts = np.cumsum([0, *widths], dtype=np.int64)
    ticks = np.full((len(prices), int(starts[-1])), UNKNOWN, dtype=np.int64)
    for p, row in enumerate(prices):
        for buffer, n, start, size in zip(buffers, tokens, starts, widths, strict=False):
            price = row[buffer]
            if price is not None:
                dearest = price.ticks(n * size)
                if dearest > MOST_TICKS:
                    raise FormatError(
                        f"the {side} of {n * size} tokens of buffer {topology.buffer_name(buffer)} takes {dearest:.3g} "
                        f"ticks, which is more than {MOST_TICKS:.0e}",
                        expected="check the weights of the transfer and the latency and bandwidth of links",
                    )
                ticks[p, start : start + size] = [price.ticks(n * k) for k in range(1, size + 1)]
    return TransferTable(
        first=np.array(first, dtype=np.int64),
        buffer=np.array(buffers, dtype=np.int64),
        tokens=np.array(tokens, dtype=np.int64),
        cost=starts[:-1],
        width=np.array(widths, dtype=np.int64),
        ticks=ticks,
        known=tuple(tuple(price is not None for price in row) for row in prices),
    )


def _ports(topology: Topology, side: Side) -> list[list[tuple[int, int]]]:
    """Return (buffer, port) of each actor's inputs or outputs, in buffer order."""
    ports: list[list[tuple[int, int]]] = [[] for _ in topology.actors]
    for index, buffer in enumerate(topology.buffers):
        if side == "read":
            ports[buffer.target].append((index, buffer.target_port))
        else:
            ports[buffer.source].append((index, buffer.source_port))
    return ports


def _least_capacities(
    topology: Topology, count: IntArray, reads: TransferTable, writes: TransferTable
) -> tuple[int, ...]:
    """Return the capacity of each buffer below which some firing of the trace can never happen."""
    least = [buffer.initial_tokens for buffer in topology.buffers]
    for table in (reads, writes):
        fired = np.repeat(count > 0, np.diff(table.first))
        for buffer, tokens in zip(table.buffer[fired].tolist(), table.tokens[fired].tolist(), strict=True):
            least[buffer] = max(least[buffer], tokens)
    return tuple(least)


def run_ends(firings: NDArray[np.uint8] | NDArray[np.uint16]) -> IntArray:
    """Return for each position of a trace the position behind the run of equal actions that it stands in."""
    if not len(firings):
        return np.zeros(0, dtype=np.int64)
    last = np.append(np.flatnonzero(firings[1:] != firings[:-1]), len(firings) - 1) + 1
    return np.repeat(last, np.diff(last, prepend=0)).astype(np.int64)
