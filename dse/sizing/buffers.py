"""Buffer sizes for one mapping: the least that run, the most that are ever used, and sizes between that cost no time.

Methods (``size_buffers``):
- ``minimal``: from the least capacity that each firing needs, Parks' rule (the smallest buffer that is full in a
  deadlock is raised; T. M. Parks, Bounded Scheduling of Process Networks, 1995) until the run completes; then each
  raised buffer is lowered again as far as the run still completes. Minimal means: no single capacity can be lowered.
- ``maximal``: the largest occupancies of a run without limits. Where that alone changes the makespan (a writer wants
  its room free before it starts, its tokens come later), the room of one firing or SIMD block is added.
- ``critical``: from minimal, the buffer is doubled whose lack of space costs most on the critical chain of the run
  (``write_blocking``), until the makespan is within the tolerance of the maximal one; then what is not needed is taken
  back.
- ``heavy``: the same with the buffer whose writer is blocked longest in total.
- ``top-down``: from maximal, buffers are lowered, the largest in bytes first, while the makespan stays within the
  tolerance.
- ``throughput``: the least memory with which the steady state of a static program is as quick as with any sizes
  (``dse.sizing.steady``), whatever the mapping; neither run nor tolerance takes part.

The tolerance counts from the makespan of the maximal sizes, or of the mapping's own sizes where those are quicker: room
lets a firing start earlier and come before another one on its core, so that larger sizes may be slower. ``critical``,
``heavy`` and ``top-down`` then begin with the mapping's own sizes where they find nothing else that is quick enough.

The first five ways follow what TURNUS's manual describes of its buffer heuristics (close-to-minimal, maximal, bottom-up
by critical or heavy blocking, top-down); steps, order and guarantees are our own. The makespan of ``critical``,
``heavy`` and ``top-down`` is within the tolerance always; their sizes are local optima: buffer sizing for throughput is
NP-hard (Stuijk et al. 2008).
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TypeAlias, assert_never

from dse.base.errors import DeadlockError, OptionError
from dse.estimate.deadlock import parks_capacities
from dse.estimate.engine import Engine
from dse.estimate.problem.prepare import prepare
from dse.estimate.problem.tables import ProblemTables, TransferTable
from dse.model.design_point import DesignPoint
from dse.model.estimate import Deadlock, DeadlockRow, Estimate, TickUnit
from dse.sizing.methods import SizingMethod
from dse.sizing.steady import steady_capacities
from dse.sizing.write_blocking import WriteBlocking

Capacities: TypeAlias = tuple[int, ...]
DEFAULT_TOLERANCE = Fraction(1, 100)


@dataclass(frozen=True, slots=True, kw_only=True)
class Sizing:
    """Capacities in tokens of all buffers, the memory of their tokens in bytes, and the makespan in ticks.

    ``deadlock``: the run does not complete with them; the makespan then means nothing.
    """

    capacities: Capacities
    memory_bytes: int
    makespan: int
    deadlock: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class BufferSizing:
    """The outcome of ``size_buffers``.

    ``curve``: of all sizes that were tried those that no other beats in both memory and makespan, by rising memory.
    ``estimations``: how many runs were simulated. ``own``: the sizes that the mapping came with, None where those do
    not count.
    """

    method: SizingMethod
    tolerance: Fraction
    tick_unit: TickUnit
    chosen: Sizing
    minimal: Sizing
    maximal: Sizing
    curve: tuple[Sizing, ...]
    estimations: int
    own: Sizing | None = None

    @property
    def quickest_known(self) -> Sizing:
        """The maximal sizes, or the mapping's own where those are quicker: what the tolerance counts from."""
        return _quicker(self.maximal, self.own)


def size_buffers(
    tables: ProblemTables,
    engine: Engine,
    point: DesignPoint,
    method: SizingMethod,
    tolerance: Fraction = DEFAULT_TOLERANCE,
    *,
    with_own: bool = False,
) -> BufferSizing:
    """Return buffer sizes for the mapping of ``point``; its own capacities count only ``with_own``.

    Raises:
        DeadlockError: the run cannot complete whatever the sizes.
        OptionError: the tolerance is negative.
    """
    if tolerance < 0:
        raise OptionError(f"a tolerance of {float(tolerance):g} is below 0", expected="0 or more, such as 0.01")
    runs = _Runs(tables, engine, point)
    minimal = runs.sizing(_minimal(tables, runs))
    maximal = runs.sizing(_maximal(tables, runs, minimal.capacities))
    own = runs.sizing(point.capacities) if with_own else None
    quickest = _quicker(maximal, own)
    limit = int(quickest.makespan * (1 + tolerance))
    match method:
        case "minimal":
            chosen = minimal.capacities
        case "maximal":
            chosen = maximal.capacities
        case "critical":
            blocking = WriteBlocking(tables.problem.trace)
            grown = _grown(runs, minimal, maximal, limit, lambda c: runs.critical_blocking(c, blocking))
            chosen = _shrunk(runs, _fitting(runs, grown, quickest, limit), minimal.capacities, limit)
        case "heavy":
            grown = _grown(runs, minimal, maximal, limit, runs.total_blocking)
            chosen = _shrunk(runs, _fitting(runs, grown, quickest, limit), minimal.capacities, limit)
        case "top-down":
            chosen = _shrunk(runs, _fitting(runs, maximal.capacities, quickest, limit), runs.least, limit)
        case "throughput":
            chosen = _running(runs, steady_capacities(tables, point.release, minimal.capacities), minimal.capacities)
        case _:
            assert_never(method)
    return BufferSizing(
        method=method,
        tolerance=tolerance,
        tick_unit=tables.tick_unit,
        chosen=runs.sizing(chosen),
        minimal=minimal,
        maximal=maximal,
        curve=runs.curve(),
        estimations=runs.estimations,
        own=own,
    )


def _quicker(maximal: Sizing, own: Sizing | None) -> Sizing:
    """Return the maximal sizes, or a mapping's own where those are quicker."""
    return maximal if own is None or own.deadlock or own.makespan >= maximal.makespan else own


def _fitting(runs: "_Runs", capacities: Capacities, quickest: Sizing, limit: int) -> Capacities:
    """Return the capacities if they are quick enough, else the quickest that are known."""
    return capacities if runs.within(capacities, limit) else quickest.capacities


def _running(runs: "_Runs", capacities: Capacities, minimal: Capacities) -> Capacities:
    """Return the capacities if the run completes with them, else no less than the minimal ones: blocks need more."""
    return capacities if runs.live(capacities) else tuple(map(max, capacities, minimal))


class _Runs:
    """Estimates of one mapping under many capacities, each made once."""

    def __init__(self, tables: ProblemTables, engine: Engine, point: DesignPoint) -> None:
        self._engine = engine
        self._point = point
        self._token_bytes = [buffer.token_bytes for buffer in tables.topology.buffers]
        self._known: dict[Capacities, Estimate] = {}
        self.least = tuple(max(1, needed) for needed in tables.least_capacity)
        """The capacities below which some firing can never happen."""

    @property
    def estimations(self) -> int:
        """The number of distinct capacities that were run."""
        return len(self._known)

    def point(self, capacities: Capacities) -> DesignPoint:
        """Return the mapping with these capacities."""
        return replace(self._point, capacities=capacities)

    def estimate(self, capacities: Capacities) -> Estimate:
        """Return the estimate under these capacities."""
        if capacities not in self._known:
            (self._known[capacities],) = self._engine.estimates([self.point(capacities)])
        return self._known[capacities]

    def within(self, capacities: Capacities, limit: int) -> bool:
        """Return whether the run completes in at most ``limit`` ticks."""
        estimate = self.estimate(capacities)
        return estimate.deadlock is None and estimate.makespan <= limit

    def live(self, capacities: Capacities) -> bool:
        """Return whether the run completes."""
        return self.estimate(capacities).deadlock is None

    def memory_bytes(self, capacities: Capacities) -> int:
        """Return the memory of the tokens of all buffers."""
        return sum(c * size for c, size in zip(capacities, self._token_bytes, strict=True))

    def token_bytes(self, buffer: int) -> int:
        """Return the size of a token of a buffer."""
        return self._token_bytes[buffer]

    def total_blocking(self, capacities: Capacities) -> tuple[int, ...]:
        """Return for each buffer how long its writer waits for space in all."""
        return tuple(account.write_blocked for account in self.estimate(capacities).buffers)

    def critical_blocking(self, capacities: Capacities, blocking: WriteBlocking) -> tuple[int, ...]:
        """Return for each buffer how long its writer waits for space on the critical chain."""
        point = self.point(capacities)
        return blocking.on_critical_chain(point, self._engine.estimate(point, firing_times=True))

    def sizing(self, capacities: Capacities) -> Sizing:
        """Return capacities with what they cost."""
        estimate = self.estimate(capacities)
        return Sizing(
            capacities=capacities,
            memory_bytes=self.memory_bytes(capacities),
            makespan=estimate.makespan,
            deadlock=estimate.deadlock is not None,
        )

    def curve(self) -> tuple[Sizing, ...]:
        """Return the sizes that no other one beats in both memory and makespan."""
        tried = [self.sizing(c) for c, estimate in self._known.items() if estimate.deadlock is None]
        found: list[Sizing] = []
        for sizing in sorted(tried, key=lambda s: (s.memory_bytes, s.makespan, s.capacities)):
            if not found or sizing.makespan < found[-1].makespan:
                found.append(sizing)
        return tuple(found)


def _short_of_space(deadlock: Deadlock) -> list[DeadlockRow]:
    """Return the rows of a deadlock that lack space. Raises ``DeadlockError`` where no space helps."""
    short = [row for row in deadlock.rows if row.kind == "space"]
    if not short:
        raise _no_space_helps()
    return short


def _no_space_helps() -> DeadlockError:
    return DeadlockError(
        "the run deadlocks whatever the buffer sizes: tokens are missing, not space",
        expected="see who waits for what with `dse estimate`",
    )


def _minimal(tables: ProblemTables, runs: _Runs) -> Capacities:
    """Return capacities that complete and of which no single one can be lowered."""
    by_time = tables.block_width.any() and any(p.policy == "STATIC_ORDER" for p in runs.point(runs.least).partitions)
    start = parks_capacities(prepare(tables, runs.point(runs.least)))
    if start is None and not by_time:
        raise _no_space_helps()
    capacities = start or runs.least
    while (deadlock := runs.estimate(capacities).deadlock) is not None:
        # Only under a static order with SIMD blocks, where time decides.
        short = _short_of_space(deadlock)
        capacities = _raised(capacities, min(short, key=lambda row: _size(runs, capacities, row)))
    lowered: Capacities | None = None
    while lowered != capacities:
        lowered, capacities = capacities, _lowered(runs, capacities)
        if not by_time:
            break  # more room never deadlocks, so that lowering the others later frees nothing: one pass is enough
    return capacities


def _size(runs: _Runs, capacities: Capacities, row: DeadlockRow) -> tuple[int, int]:
    return capacities[row.buffer] * runs.token_bytes(row.buffer), row.buffer


def _raised(capacities: Capacities, row: DeadlockRow) -> Capacities:
    return _with(capacities, row.buffer, capacities[row.buffer] + row.need - row.have)


def _with(capacities: Capacities, buffer: int, tokens: int) -> Capacities:
    return (*capacities[:buffer], tokens, *capacities[buffer + 1 :])


def _lowered(runs: _Runs, capacities: Capacities) -> Capacities:
    """Return capacities with each buffer lowered as far as the run completes, one by one, the largest first."""
    for buffer in _by_memory(runs, capacities):
        if capacities[buffer] > runs.least[buffer] and runs.live(_with(capacities, buffer, capacities[buffer] - 1)):
            capacities = _lowest(capacities, buffer, runs.least[buffer], capacities[buffer] - 1, runs.live)
    return capacities


def _lowest(capacities: Capacities, buffer: int, low: int, high: int, fits: Callable[[Capacities], bool]) -> Capacities:
    """Return capacities with one of them as low as ``fits`` allows, by bisection; ``high`` fits."""
    while low < high:
        middle = (low + high) // 2
        if fits(_with(capacities, buffer, middle)):
            high = middle
        else:
            low = middle + 1
    return _with(capacities, buffer, high)


def _by_memory(runs: _Runs, capacities: Capacities) -> list[int]:
    return sorted(range(len(capacities)), key=lambda b: (-capacities[b] * runs.token_bytes(b), b))


def _maximal(tables: ProblemTables, runs: _Runs, minimal: Capacities) -> Capacities:
    """Return capacities with which the run is as if there were no limit."""
    unlimited = tuple(
        b.initial_tokens + written + block
        for b, written, block in zip(
            tables.topology.buffers, _all_written(tables), _room_of_writers(tables), strict=True
        )
    )
    unlimited = tuple(map(max, unlimited, runs.least))
    free = runs.estimate(unlimited)
    if free.deadlock is not None:  # a static order with SIMD blocks: larger blocks may come in the wrong turn
        return minimal
    largest = tuple(max(account.max_tokens, least) for account, least in zip(free.buffers, runs.least, strict=True))
    if runs.live(largest) and runs.estimate(largest).makespan == free.makespan:
        return largest
    roomy = tuple(most + room for most, room in zip(largest, _room_of_writers(tables), strict=True))
    return roomy if runs.live(roomy) else unlimited


def _all_written(tables: ProblemTables) -> list[int]:
    """Return the tokens that the whole trace writes to each buffer."""
    written = [0] * len(tables.topology.buffers)
    for column, count in enumerate(tables.count.tolist()):
        for buffer, tokens in _entries(tables.writes, column):
            written[buffer] += count * tokens
    return written


def _room_of_writers(tables: ProblemTables) -> list[int]:
    """Return the largest number of tokens that one start, of a firing or of a SIMD block, wants room for."""
    room = [0] * len(tables.topology.buffers)
    width = tables.block_width.max(axis=0, initial=0).tolist()
    for column, count in enumerate(tables.count.tolist()):
        for buffer, tokens in _entries(tables.writes, column) if count else ():
            room[buffer] = max(room[buffer], tokens * max(1, width[column]))
    return room


def _entries(table: TransferTable, column: int) -> list[tuple[int, int]]:
    entries = slice(int(table.first[column]), int(table.first[column + 1]))
    return list(zip(table.buffer[entries].tolist(), table.tokens[entries].tolist(), strict=True))


def _grown(
    runs: _Runs, minimal: Sizing, maximal: Sizing, limit: int, blocking: Callable[[Capacities], Sequence[int]]
) -> Capacities:
    """Return capacities within the limit, reached from the minimal ones by doubling the buffer that blocks most."""
    capacities = minimal.capacities
    while not runs.within(capacities, limit):
        open_ones = [b for b, tokens in enumerate(capacities) if tokens < maximal.capacities[b]]
        if not open_ones:
            return maximal.capacities
        charged, total = blocking(capacities), runs.total_blocking(capacities)
        worst = min(open_ones, key=lambda b: (-charged[b], -total[b], capacities[b] * runs.token_bytes(b), b))
        capacities = _with(capacities, worst, min(2 * capacities[worst], maximal.capacities[worst]))
    return capacities


def _shrunk(runs: _Runs, capacities: Capacities, floor: Capacities, limit: int) -> Capacities:
    """Return capacities lowered one by one, the largest in bytes first, while the run stays within the limit."""
    for buffer in _by_memory(runs, capacities):
        low = min(floor[buffer], capacities[buffer])
        capacities = _lowest(capacities, buffer, low, capacities[buffer], lambda c: runs.within(c, limit))
    return capacities
