"""Outcomes in bursts: the board of a problem, and points handed to the burst kernel.

There are three of these kernels (``dse.estimate.compiled.burst_kernel``, ``travel_kernel`` for points where tokens take
time to another core, and ``link_kernel`` for points with shared links); ``Bursts.kernel_of`` says which of them holds
for a point. What it returns for one is what the general kernel finds, to the integer, so that it does not matter which
was asked.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias, get_args

import numpy as np
from numpy.typing import NDArray

from dse.estimate.accounts import core_time
from dse.estimate.compiled import burst_layout as at
from dse.estimate.compiled import layout
from dse.estimate.compiled.encode import EncodedPoint
from dse.estimate.compiled.pack import Ints, Packed
from dse.estimate.compiled.place_kernel import PART_CORES, PART_POLICY, PART_ROW
from dse.estimate.problem.tables import IntArray, ProblemTables
from dse.estimate.problem.totals import most_ticks_of_actions
from dse.model.estimate import Outcome, TickUnit

MOST_SHIFT = 20
"""Bits of a stamp that count rounds, where times leave so many. A million firings of no length may follow each other
at one instant."""
LEAST_SHIFT = 6
BurstKind: TypeAlias = Literal["still", "travelling", "linked"]
"""Of which kernel a point is: ``burst_kernel`` where nothing travels, ``travel_kernel``, or ``link_kernel``."""
BURST_KINDS: tuple[BurstKind, ...] = get_args(BurstKind)
_NEVER: int = np.iinfo(np.int64).max


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Bursts:
    """What the burst kernel needs of a problem."""

    board: Ints
    firings: NDArray[np.uint16]
    n_actors: int
    blocks: NDArray[np.bool_]
    """shape (n_rows,): whether some action of a row of the cost tables is made in blocks."""
    shared: NDArray[np.bool_]
    travels: bool
    """Whether tokens take time to another core under some points."""
    tick_unit: TickUnit

    def kernel_of(self, encoded: EncodedPoint) -> BurstKind | None:
        """Return which kernel holds for a point, None where none does."""
        if not self._holds(encoded):
            return None
        linked, travels = self._asks_links(encoded), self.travels and bool(encoded.choices[:, 4].any())
        if linked:
            return None if travels else "linked"
        return "travelling" if travels else "still"

    def _asks_links(self, encoded: EncodedPoint) -> bool:
        """Return whether some transfer of a point asks a shared link."""
        servers = encoded.choices[:, 3]
        return len(self.shared) > 0 and bool(self.shared[servers[servers >= 0]].any())

    def _holds(self, encoded: EncodedPoint) -> bool:
        cores, policies, rows = (encoded.parts[:, field] for field in (PART_CORES, PART_POLICY, PART_ROW))
        return not (((cores > 1) & (policies != layout.FULL_PARALLEL)).any() or self.blocks[rows].any())

    def run(self, kind: BurstKind, encoded: Sequence[EncodedPoint], limit: int | None) -> "BurstRun":
        """Return the runs of points that are all of one kind, which are yet to be made."""
        n_buffers = int(self.board[at.N_BUFFERS])
        head = np.empty((len(encoded), 6), dtype=np.int64)
        part = order = 0
        for number, one in enumerate(encoded):
            modes = one.point.release == "reading", one.point.transfers == "parallel"
            head[number] = part, len(one.parts), order, number * n_buffers, *modes
            part, order = part + len(one.parts), order + len(one.orders)
        return BurstRun(
            bursts=self,
            kind=kind,
            encoded=encoded,
            points=(
                head.reshape(-1),
                np.concatenate([one.parts for one in encoded]).reshape(-1),
                np.concatenate([one.members for one in encoded]),
                np.concatenate([one.orders for one in encoded]),
                np.concatenate([one.choices for one in encoded]).reshape(-1),
            ),
            limit=layout.NEVER if limit is None else max(-1, min(limit, layout.NEVER)),
            stop_word=np.zeros(1, dtype=np.int64),
        )


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class BurstRun:
    """Runs of points in one call of the kernel."""

    bursts: Bursts
    kind: BurstKind
    encoded: Sequence[EncodedPoint]
    points: tuple[Ints, Ints, Ints, Ints, Ints]
    limit: int
    stop_word: Ints
    """Its word: another thread sets it to 1 to have the kernel leave the runs."""

    @property
    def stopped(self) -> bool:
        """Whether ``stop`` was called."""
        return bool(self.stop_word[0])

    def stop(self) -> None:
        """Have the kernel leave the run that it makes, and begin no other."""
        self.stop_word[0] = 1

    def make(self) -> list[Outcome | int]:
        """Return what came of each point, or the word of ``burst_layout`` for why nothing did (OVER, REFUSED)."""
        bench, found = np.empty(self.bench_words(), dtype=np.int64), self.results()
        _kernel(self.kind)(
            bench, self.bursts.board, self.bursts.firings, self.points, self.stop_word, self.limit, found.ended,
            found.latest, found.spent.reshape(-1), found.idle.reshape(-1),
        )  # fmt: skip
        return self.read(found)

    def bench_words(self) -> int:
        """Return how much memory one run takes at most, in words."""
        longest = max((len(one.orders) for one in self.encoded), default=0)
        return _bench_words(self.bursts.board, longest, self.kind)

    def results(self) -> "BurstResults":
        """Return room for what the kernel finds."""
        n, n_parts = len(self.encoded), sum(len(one.parts) for one in self.encoded)
        return BurstResults(
            ended=np.empty(n, dtype=np.int64),
            latest=np.empty(n, dtype=np.int64),
            spent=np.zeros((n_parts, at.SPENT_WORDS), dtype=np.int64),
            idle=np.empty((n, self.bursts.n_actors), dtype=np.int64),
        )

    def read(self, results: "BurstResults") -> list[Outcome | int]:
        """Return what the kernel has found, as ``make`` does."""
        found: list[Outcome | int] = []
        part = 0
        for one, why, makespan, waiting in zip(
            self.encoded, results.ended.tolist(), results.latest.tolist(), results.idle.tolist(), strict=True
        ):
            of_parts = results.spent[part : part + len(one.parts)].tolist()
            part += len(one.parts)
            if why not in (at.COMPLETE, at.DEADLOCK):
                found.append(why)
                continue
            cores = one.parts[:, PART_CORES].tolist()
            found.append(
                Outcome(
                    makespan=makespan,
                    tick_unit=self.bursts.tick_unit,
                    partitions=tuple(core_time(five, k, makespan) for five, k in zip(of_parts, cores, strict=True)),
                    waiting=tuple(waiting),
                    deadlock=why == at.DEADLOCK,
                )
            )
        return found


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class BurstResults:
    """What a kernel finds of points: why each ended, its last event, what partitions spent and actors waited.

    Shapes (n_points,), (n_points,), (n_partitions of all points, SPENT_WORDS) and (n_points, n_actors), in ticks.
    """

    ended: Ints
    latest: Ints
    spent: Ints
    idle: Ints


def _kernel(kind: BurstKind) -> Callable[..., None]:
    """Return a kernel. (Imported late: it is compiled if it was not yet.)"""
    if kind == "still":
        from dse.estimate.compiled.burst_kernel import follow_points

        return follow_points
    if kind == "linked":
        from dse.estimate.compiled.link_kernel import follow_linked

        return follow_linked
    from dse.estimate.compiled.travel_kernel import follow_travelling

    return follow_travelling


def bursts_of(packed: Packed) -> Bursts | None:
    """Return what the burst kernel needs of a problem; None where it holds for no point of it."""
    tables = packed.tables
    longest = float(most_ticks_of_actions(tables).sum()) + _most_ticks_of_ways(tables)
    shift = min(MOST_SHIFT, 60 - int(np.ceil(np.log2(max(2.0, longest)))))
    if shift < LEAST_SHIFT or len(tables.deviations):
        return None
    return Bursts(
        board=_board(packed, shift),
        firings=packed.firings,
        n_actors=len(tables.topology.actors),
        blocks=packed.blocks_of_row,
        shared=packed.shared,
        travels=tables.arrival > 0,
        tick_unit=tables.tick_unit,
    )


class _Board:
    """A board while it is filled."""

    def __init__(self) -> None:
        self.head: Ints = np.zeros(at.BOARD_FIELDS, dtype=np.int64)
        self._tables = [self.head]
        self._end = at.BOARD_FIELDS

    def put(self, field: int, table: IntArray) -> None:
        """Put a table behind the others, and its address into a word of the head."""
        self.head[field] = self._end
        flat = np.ascontiguousarray(table, dtype=np.int64).reshape(-1)
        self._tables.append(flat)
        self._end += len(flat)

    def words(self) -> Ints:
        """Return all words."""
        return np.concatenate(self._tables)


def _board(packed: Packed, shift: int) -> Ints:
    tables = packed.tables
    board, buffers = _Board(), tables.topology.buffers
    board.head[at.SHIFT], board.head[at.N_ACTORS] = shift, len(tables.topology.actors)
    board.head[at.N_BUFFERS], board.head[at.N_ACTIONS] = len(buffers), len(packed.action_actor)
    board.head[at.N_TRANSFERS] = len(tables.reads.buffer) + len(tables.writes.buffer)
    board.put(at.ACTION_BASE, tables.action_base)
    board.put(at.FIRING_BASE, packed.firing_base)
    board.put(at.COUNTS, tables.count)
    for side, table in ((at.READS, tables.reads), (at.WRITES, tables.writes)):
        board.put(side + at.FIRST, table.first)
        board.put(side + at.BUFFER, table.buffer)
        board.put(side + at.TOKENS, table.tokens)
        board.put(side + at.COLUMN, table.cost)
        board.put(side + at.TICKS, table.ticks << shift)
        board.head[side + at.WIDTH] = table.ticks.shape[1]
    ends = np.array([(b.source, b.target, b.initial_tokens) for b in buffers], dtype=np.int64).reshape(-1, 3)
    for field, column in ((at.SOURCES, 0), (at.TARGETS, 1), (at.INITIAL, 2)):
        board.put(field, ends[:, column])
    board.put(at.COMPUTE, tables.compute << shift)
    board.put(at.FIRST_SCHEDULING, tables.first_scheduling << shift)
    board.put(at.LEAST_SCHEDULING, _least_scheduling(tables) << shift)
    board.put(at.PAIR_SCHEDULING, tables.pair_scheduling << shift)
    board.head[at.N_PAIRS] = tables.pair_scheduling.shape[1]
    board.put(at.PAIR_BASE, tables.pair_base)
    for first, buffers_of, column in ((at.OUTPUTS_FIRST, at.OUTPUTS, 0), (at.INPUTS_FIRST, at.INPUTS, 1)):
        count = np.bincount(ends[:, column], minlength=len(tables.topology.actors))
        board.put(first, np.cumsum([0, *count.tolist()], dtype=np.int64))
        board.put(buffers_of, np.argsort(ends[:, column], kind="stable"))
    board.put(at.UNIFORM_RATES, _uniform_rates(tables, len(buffers)))
    board.put(at.SHARED, packed.shared.astype(np.int64))
    board.head[at.N_SERVERS] = len(packed.shared)
    _put_ways(board, tables, shift)
    return board.words()


def _put_ways(board: _Board, tables: ProblemTables, shift: int) -> None:
    """Put what arrivals and visits take on a board."""
    head, visits = board.head, tables.visits
    head[at.ARRIVAL], head[at.LONGEST_TURN] = tables.arrival << shift, tables.turn_firings
    board.put(at.TURN_TOKENS, tables.turn_tokens)
    entries = np.zeros((2, len(tables.topology.buffers)), dtype=np.int64) if visits is None else visits.entries
    for field, row in ((at.READ_ENTRIES, entries[0]), (at.WRITE_ENTRIES, entries[1])):
        board.put(field, row << shift)
    if visits is not None:
        head[at.VISITS], head[at.WAKE] = 1, visits.wake << shift
        head[at.LOOK], head[at.GLANCE] = visits.look << shift, visits.glance << shift


def _most_ticks_of_ways(tables: ProblemTables) -> float:
    """Return how much longer than its firings a run can be for arrivals and visits.

    While no core is busy something is on its way; what an actor publishes at one time has arrived after two arrivals.
    """
    if tables.arrival == 0:
        return 0.0
    of_firing = 2.0 * tables.arrival
    if tables.visits is not None:
        looks = float(tables.visits.dearest_call) * len(tables.topology.actors)
        of_firing += float(tables.visits.wake) + looks + float(tables.visits.entries.max(initial=0))
    return of_firing * (float(tables.count.sum()) + 1)


def _least_scheduling(tables: ProblemTables) -> IntArray:
    """Return the least that the scheduling of each action takes, whatever fired before, shape (n_rows, n_actions)."""
    least = np.maximum(tables.first_scheduling, 0)
    for actor, base in enumerate(tables.pair_base.tolist()):
        first, n = int(tables.action_base[actor]), tables.action_count(actor)
        pairs = tables.pair_scheduling[:, base : base + n * n].reshape(-1, n, n)
        follows = tables.pair_count[base : base + n * n].reshape(n, n) > 0
        after = np.where(follows, np.maximum(pairs, 0), _NEVER).min(axis=1, initial=_NEVER)
        least[:, first : first + n] = np.minimum(least[:, first : first + n], after)
    return least


def _uniform_rates(tables: ProblemTables, n_buffers: int) -> IntArray:
    """Return the tokens of all transfers of each buffer, 0 where they differ or there are none, shape (n_buffers,)."""
    least, most = np.full(n_buffers, _NEVER), np.zeros(n_buffers, dtype=np.int64)
    for table in (tables.reads, tables.writes):
        fired = np.repeat(tables.count, np.diff(table.first)) > 0
        np.minimum.at(least, table.buffer[fired], table.tokens[fired])
        np.maximum.at(most, table.buffer[fired], table.tokens[fired])
    return np.where(least == most, most, 0)


def _bench_words(board: Ints, n_orders: int, kind: BurstKind) -> int:
    """Return how much memory a run takes at most, in words."""
    n_actors, n_buffers, n_servers = int(board[at.N_ACTORS]), int(board[at.N_BUFFERS]), int(board[at.N_SERVERS])
    n_transfers = int(board[at.N_TRANSFERS])
    of_links = n_servers * (at.LINK_WORDS + 1)
    if kind == "linked":
        of_links += n_actors * at.ASKING_WORDS + 2 * n_buffers * at.REQUEST_WORDS + n_transfers * at.NEED_WORDS
    of_ways = n_actors * at.TRAVELLER_WORDS + 2 * n_buffers if kind == "travelling" else 0
    of_actors = n_actors * (at.ACTOR_WORDS + at.LANE_WORDS + 4)  # and key, place, hint and queue of places of each
    of_actions = int(board[at.N_ACTIONS]) * at.ACTION_WORDS + n_transfers * at.NEED_WORDS
    of_buffers = n_buffers * (2 * at.QUEUE_WORDS + 1)
    return at.BENCH_FIELDS + 2 * at.SPARE_WORDS + of_actors + of_ways + of_links + of_actions + of_buffers + n_orders
