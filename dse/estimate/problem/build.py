"""Builds the tick tables of a problem: looks weights up by name and turns their cycles into integer ticks."""

import itertools
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TypeAlias

import numpy as np

from dse.base.errors import FormatError
from dse.estimate.problem.contradictions import check_problem
from dse.estimate.problem.prices import UNIT_KINDS, PriceClass
from dse.estimate.problem.tables import UNKNOWN, IntArray, ProblemTables, Side, TransferTable, VisitTicks, cost_rows
from dse.estimate.problem.ticks import MOST_TICKS, ZERO, TickConverter, TransferPrice
from dse.estimate.problem.totals import check_total
from dse.model.platform import Link
from dse.model.problem import GpuScaling, Problem
from dse.model.trace import Topology, TraceActor, TraceBuffer
from dse.model.weights import ComputeKey, Cost, UnitKind


def derivable(link: Link) -> bool:
    """Return whether host costs can be derived from a link: it says something about its latency or bandwidth."""
    return link.latency_ns > 0 or link.bandwidth_gb_s is not None


def build_tables(problem: Problem) -> ProblemTables:
    """Return the tick tables of ``problem``.

    Raises:
        FormatError: the problem contradicts itself, weights with and without a clock are mixed, a weight is negative or
            has a clock of 0, or costs are so large that their sum would not fit 64 bits.
    """
    check_problem(problem)
    converter = TickConverter()
    topology = problem.trace.topology
    sizes = [len(actor.actions) for actor in topology.actors]
    base = np.cumsum([0, *sizes], dtype=np.int64)
    pair_base = np.cumsum([0, *(n * n for n in sizes)], dtype=np.int64)
    count, pair_count, first_action = _counts(problem, sizes)
    compute, blocks = _compute(problem, base, count, converter)
    first_scheduling, pair_scheduling = _scheduling(problem, base, count, pair_base, pair_count, converter)
    width = blocks.width.max(axis=0, initial=0)
    arrival, turn_firings = _arrival(problem, converter)
    visits = _visits(problem, converter)
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
        arrival=arrival,
        turn_firings=turn_firings,
        turn_tokens=_turn_tokens(problem),
        visits=visits,
        deviations=_deviations(problem, base, compute),
        least_capacity=least_capacities(topology, _fired(base, count)),
    )
    check_total(tables)
    return tables


def tables_of(given: Problem | ProblemTables) -> ProblemTables:
    """Return the tables of a problem, those that are given or new ones; errors as ``build_tables``."""
    return given if isinstance(given, ProblemTables) else build_tables(given)


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


@dataclass(frozen=True, slots=True)
class _Cycles:
    """Cycles of computing, of a firing or of a block of them."""

    cycles: Fraction
    frequency_mhz: Fraction | None


@dataclass(frozen=True, slots=True)
class _Row:
    """A row of the tables whose kind of unit the platform has."""

    index: int
    kind: UnitKind
    clocks_mhz: tuple[Fraction | None, ...]
    """One clock, None: that of the weights; several: the costs are the least of those at each."""
    scaling: GpuScaling | None
    """How computing follows the clock; None: its cycles stay what they are."""

    def computing(self, converter: TickConverter, entry: str, key: ComputeKey, cost: _Cycles) -> int:
        """Return the ticks of computing."""
        return min(self._computing(converter, entry, key, cost, clock) for clock in self.clocks_mhz)

    def _computing(
        self, converter: TickConverter, entry: str, key: ComputeKey, cost: _Cycles, clock: Fraction | None
    ) -> int:
        if self.scaling is None or clock is None:
            return converter.ticks(entry, cost.cycles, _clock_of(clock, cost.frequency_mhz))
        times = self.scaling.at[clock].times
        if key[:2] not in times:
            return converter.ticks(entry, cost.cycles, _clock_of(clock, cost.frequency_mhz))
        return converter.ticks(entry, cost.cycles * times[key[0], key[1]], cost.frequency_mhz)

    def scheduling(self, converter: TickConverter, entry: str, cost: Cost) -> int:
        """Return the ticks of scheduling, whose cycles stay what they are."""
        clocks = [_clock_of(clock, cost.frequency_mhz) for clock in self.clocks_mhz]
        return min(converter.ticks(entry, cost.mean_cycles, clock) for clock in clocks)


def _clock_of(chosen_mhz: Fraction | None, weight_mhz: Fraction | None) -> Fraction | None:
    """Return the clock at which the cycles of a weight are spent; a weight without a clock stays without one."""
    return weight_mhz if chosen_mhz is None or weight_mhz is None else chosen_mhz


def _present_rows(problem: Problem) -> list[_Row]:
    """Return the rows whose kind of unit the platform has."""
    present = {unit.kind for unit in problem.platform.units}
    rows = []
    for r, row in enumerate(cost_rows(problem)):
        kind = UNIT_KINDS[row.kind]
        scaling = problem.scaling if kind == "gpu" else None
        rows.append(_Row(r, kind, row.least_of or (row.clock_mhz,), scaling))
    return [row for row in rows if row.kind in present]


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
        for row, x in itertools.product(rows, fired):
            k, column = row.index, base[a] + x
            key = (actor.name, actor.actions[x].name, row.kind)
            entry = f"compute weight of action {actor.name}.{actor.actions[x].name} on {row.kind}"
            block, cost = problem.weights.simd.get(key), problem.weights.compute.get(key)
            if block is not None and block.width:
                costs = [_Cycles(cycles, block.frequency_mhz) for cycles in block.block_cycles]
                ticks = [row.computing(converter, entry, key, c) for c in costs]
                width[k, column], start[k, column], compute[k, column] = block.width, len(flat), ticks[0]
                flat += ticks
            elif cost is not None:
                cycles = _Cycles(cost.mean_cycles, cost.frequency_mhz)
                compute[k, column] = row.computing(converter, entry, key, cycles)
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
    weights, n_rows = problem.weights, len(cost_rows(problem))
    absent = _absent(problem) if weights.has_scheduling else 0
    first = np.tile(np.where(count > 0, absent, 0), (n_rows, 1))
    pairs = np.tile(np.where(pair_count > 0, absent, 0), (n_rows, 1))
    if not weights.has_scheduling:
        return first, pairs

    def ticks(actor: TraceActor, previous: str, action: str, row: _Row) -> int | None:
        """Return the ticks of scheduling an action after another, None where there is no such weight."""
        cost = weights.scheduling.get((actor.name, previous, action, row.kind))
        if cost is None:
            return None
        entry = f"scheduling weight of action {actor.name}.{action} on {row.kind}{previous and f' after {previous}'}"
        return row.scheduling(converter, entry, cost)

    for a, actor in enumerate(problem.trace.topology.actors):
        names, n = [action.name for action in actor.actions], len(actor.actions)
        occurring = pair_count[pair_base[a] : pair_base[a] + n * n].reshape(n, n)
        for row, x in itertools.product(_present_rows(problem), np.flatnonzero(count[base[a] : base[a] + n]).tolist()):
            after_none = ticks(actor, "", names[x], row)
            if after_none is not None:
                first[row.index, base[a] + x] = after_none
            for q in np.flatnonzero(occurring[:, x]).tolist():
                after = ticks(actor, names[q], names[x], row)
                pairs[row.index, pair_base[a] + q * n + x] = first[row.index, base[a] + x] if after is None else after
    return first, pairs


def _arrival(problem: Problem, converter: TickConverter) -> tuple[int, int]:
    """Return the ticks that tokens take to another core, at least 1, and the firings of a turn.

    Where weights know of no arrival both mean that tokens do not travel: (0, 1).
    """
    arrival = problem.weights.arrival
    if arrival is None:
        return 0, 1
    ticks = converter.ticks("arrival between CPU cores", arrival.cycles, arrival.frequency_mhz)
    return max(1, ticks), arrival.turn_firings


def _visits(problem: Problem, converter: TickConverter) -> VisitTicks | None:
    """Return the ticks of visits, None where weights know of none."""
    arrival, topology = problem.weights.arrival, problem.trace.topology
    if arrival is None or arrival.visits is None:
        return None
    of, clock = arrival.visits, arrival.frequency_mhz
    entries = np.zeros((2, len(topology.buffers)), dtype=np.int64)
    sides: tuple[Side, Side] = ("read", "write")
    for b in range(len(topology.buffers)):
        for row, side in enumerate(sides):
            cycles = of.entries.get((*topology.ends(b), side))
            if cycles is not None:
                entries[row, b] = converter.ticks("entry of visits", cycles, clock)
    return VisitTicks(
        look=converter.ticks("look at an actor in vain", of.look_cycles, clock),
        glance=converter.ticks("glance at an actor in vain", of.glance, clock),
        wake=converter.ticks("waking of a core", of.wake_cycles, clock),
        entries=entries,
    )


def _turn_tokens(problem: Problem) -> IntArray:
    """Return the parts of a FIFO times the most tokens that a firing of either end moves, shape (n_buffers,)."""
    arrival, topology = problem.weights.arrival, problem.trace.topology
    parts = 0 if arrival is None else arrival.turn_parts
    most = [max(1, topology.largest_rate(index)) for index in range(len(topology.buffers))]
    return np.array(most, dtype=np.int64).reshape(len(most)) * parts


def _deviations(problem: Problem, base: IntArray, compute: IntArray) -> IntArray:
    """Return the deviations of all firings, none of which makes a computation shorter than 0.

    Raises:
        FormatError: they do not fit the trace, or clocks are chosen too.
    """
    if not any(len(of_actor) for of_actor in problem.deviations):
        return np.zeros(0, dtype=np.int64)
    if problem.clocks:
        raise FormatError("clocks are chosen, but firings have costs of their own", expected="one of the two")
    actors, firings = problem.trace.topology.actors, problem.trace.firings
    if len(problem.deviations) != len(actors):
        raise FormatError(
            f"there are costs of single firings for {len(problem.deviations)} actors, but the trace has {len(actors)}",
            expected="one array an actor",
        )
    of_cpu = np.maximum(compute[UNIT_KINDS.index("cpu")], 0)
    found = []
    for a, (actor, ids, given) in enumerate(zip(actors, firings, problem.deviations, strict=True)):
        if len(given) not in (0, len(ids)):
            raise FormatError(
                f"actor '{actor.name}' has costs of {len(given)} single firings, but {len(ids)} firings",
                expected="costs of the firings of this very trace",
            )
        least = -of_cpu[base[a] + ids.astype(np.int64)]
        found.append(np.clip(given, least, MOST_TICKS) if len(given) else np.zeros_like(least))
    return np.concatenate(found)


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
    """Return the prices that the weights give, one row for each ``PriceClass``, and the row of free transfers."""
    topology, weights = problem.trace.topology, problem.weights
    present = {unit.kind for unit in problem.platform.units}
    free = TransferPrice(ZERO, ZERO)
    rows: list[_PriceRow] = []
    buffers = [(topology.ends(index), topology.buffer_name(index)) for index in range(len(topology.buffers))]
    for price in PriceClass:
        fifo_kind, unit_kind = price.fifo_kind, price.payer
        row: _PriceRow = []
        for ends, name in buffers:
            cost = weights.transfers.get((*ends, fifo_kind, unit_kind, side))
            if cost is None or unit_kind not in present:
                row.append(None if weights.has_transfers or fifo_kind == "host" else free)
                continue
            entry = f"{side} weight of buffer {name} ({fifo_kind}, {unit_kind})"
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
    return TransferPrice((link.latency_ns * 1000).as_integer_ratio(), per_token_ps.as_integer_ratio())


def _transfers(problem: Problem, side: Side, width: IntArray, prices: list[_PriceRow]) -> TransferTable:
    """Return the transfers of one side of every action; ``width`` is the widest SIMD block of each action."""
    topology = problem.trace.topology
    ports = _ports(topology, side)
    first, buffers, tokens, widths = [0], [], [], []
    actions = [(action, of_actor) for a, of_actor in enumerate(ports) for action in topology.actors[a].actions]
    for column, (action, of_actor) in enumerate(actions):
        rates = action.reads if side == "read" else action.writes
        moved = [(buffer, rates[port]) for buffer, port in of_actor if rates[port]]
        buffers += [buffer for buffer, _ in moved]
        tokens += [n for _, n in moved]
        widths += [max(1, int(width[column]))] * len(moved)
        first.append(len(buffers))
    return _priced(side, problem, prices, _Entries(first=first, buffers=buffers, tokens=tokens, widths=widths))


@dataclass(frozen=True, slots=True, kw_only=True)
class _Entries:
    """The entries of a ``TransferTable`` that have no price yet."""

    first: list[int]
    buffers: list[int]
    tokens: list[int]
    widths: list[int]


def _priced(side: Side, problem: Problem, prices: list[_PriceRow], entries: _Entries) -> TransferTable:
    """Return the table of entries, each at each row of prices."""
    buffers, tokens, widths = entries.buffers, entries.tokens, entries.widths
    starts = np.cumsum([0, *widths], dtype=np.int64)
    ticks = np.empty((len(prices), int(starts[-1])), dtype=np.int64)
    for row, of_buffer in enumerate(prices):
        found: list[int] = []
        for buffer, n, size in zip(buffers, tokens, widths, strict=True):
            price = of_buffer[buffer]
            if price is None:
                found += [UNKNOWN] * size
                continue
            if price.ticks(n * size) > MOST_TICKS:
                raise _too_dear(price.ticks(n * size), n * size, side, problem.trace.topology.buffer_name(buffer))
            found += [price.ticks(n * k) for k in range(1, size + 1)]
        ticks[row] = found
    return TransferTable(
        first=np.array(entries.first, dtype=np.int64),
        buffer=np.array(buffers, dtype=np.int64),
        tokens=np.array(tokens, dtype=np.int64),
        cost=starts[:-1],
        width=np.array(widths, dtype=np.int64),
        ticks=ticks,
        known=tuple(tuple(price is not None for price in row) for row in prices),
    )


def _too_dear(ticks: int, tokens: int, side: Side, buffer: str) -> FormatError:
    """Return the error for a transfer whose widest block takes more ticks than one cost may be."""
    return FormatError(
        f"the {side} of {tokens} tokens of buffer {buffer} takes {ticks:.3g} ticks, which is more than "
        f"{MOST_TICKS:.0e}",
        expected="check the weights of the transfer and the latency and bandwidth of links",
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


def _fired(base: IntArray, count: IntArray) -> list[list[int]]:
    """Return the actions of each actor that fire."""
    return [np.flatnonzero(of_actor).tolist() for of_actor in np.split(count, base[1:-1])]


def least_capacities(topology: Topology, fired: Sequence[Collection[int]]) -> tuple[int, ...]:
    """Return the capacity of each buffer below which some firing can never happen; ``fired``: actions by actor."""
    actors, least = topology.actors, []
    for b in topology.buffers:
        written = [actors[b.source].actions[x].writes[b.source_port] for x in fired[b.source]]
        read = [actors[b.target].actions[x].reads[b.target_port] for x in fired[b.target]]
        least.append(max((b.initial_tokens, *written, *read)))
    return tuple(least)
