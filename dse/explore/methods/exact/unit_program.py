"""What no placement can beat: a program that chooses a unit for each actor, and which buffers lie between two cores.

It minimises the makespan, which is at least
- the load of each unit, transfers included, over its cores, and the load of each shared link;
- the length of each of some paths of the trace, whose firings take as long as they do on the units chosen, with the
  transfers of buffers on one core or between two. The paths wait for tokens and for room. They are found as they are
  needed: the longest one under the placement that the program prefers so far is added until that says nothing new (a
  cutting plane each; Kelley 1960);
- what a set of actors on one core takes, if none of the buffers that hold it together is cut, and a row for each of
  those that the program has on too few cores (``dse.explore.methods.exact.core_sets``; rows for trees as Ferreira,
  Martin, de Souza, Weismantel and Wolsey have them, *Formulations and valid inequalities for the node capacitated graph
  partitioning problem*, 1996). Which core it is the program does not tell: cores are alike.
Units are chosen in whole numbers; that a buffer is cut in part is enough for a bound.
"""

import itertools
import math
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from dse.estimate.bounds.token_paths import UNTOLD, LaidOut, PathCounts, PathTimes
from dse.estimate.problem.tables import IntArray, ProblemTables
from dse.explore.mapping_bound import EndCosts, MappingBound, fastest_rows, most_room
from dse.explore.methods.exact.core_sets import CoreSets, Torn
from dse.explore.methods.exact.path_transfers import BufferTicks, PathTransfers
from dse.explore.methods.exact.solver import MARGIN, SCALE, Program
from dse.explore.space.space import Space

MOST_NODES = 300
MOST_LOOKS = 300
"""Branches of the solver for one program, and its looks: a second or two with two hundred actors."""
MOST_COLUMNS = 10_000
"""Larger programs are not solved: with 1,000 actors and two units there are 7,000."""
PATH_COLUMNS = 80_000
"""All programs that are solved for paths have at most about so many columns together, but LEAST_PATHS are."""
MOST_PATHS = 80
"""Paths that are added to the relaxed program, and MOST_WHOLE more to that in whole numbers."""
MOST_WHOLE = 4
WHOLE_COLUMNS = 2_000
"""Larger programs are not solved in whole numbers: with 1,000 actors that takes three to six seconds, the relaxed one a
tenth of a second a path, and on two networks looked at it said 0.1 % less and, with more paths, 0.1 % more."""
PATH_FIRINGS = 4_000_000
"""The traces of all searches for a path have at most about so many firings together, but LEAST_PATHS are made."""
LEAST_PATHS = 4
NOTHING = 1e-9
"""A unit that has less of an actor has nothing of it."""
GAIN = 1.0005
"""A path that is longer by less than this than the makespan of the program says nothing new."""
CUT_COLUMNS = 2_000
"""In larger programs nothing is known of the cores of a unit."""
MOST_TORN, MOST_GROWN = 10, 6_000
"""So many sets of actors are added at once, the worst of those that are grown; these have at most about so many actors
together."""
LITTLE, IDLE_ACTORS, LEAST_IDLE = 1.001, 2_000, 5
"""No more sets are added when some programs in a row have raised the bound by less than that: so many in which this
many actors are grown together, but not fewer."""


def unit_bound(tables: ProblemTables, space: Space, bound: MappingBound, at_least: int) -> int:
    """Return a makespan, in ticks, that no point of the space can beat; not below ``at_least``, which is one.

    ``bound``: that of the space, or of one that holds it.
    """
    program = UnitProgram(tables, space, bound, at_least)
    if program.trivial:
        return at_least
    return max(at_least, program.bound()) if program.columns <= MOST_COLUMNS else at_least


FloatArray: TypeAlias = NDArray[np.float64]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Group:
    """A unit of the platform: one of its entries in the space (they differ by policy), its cores and its cost row."""

    entry: int
    cores: int
    row: int


@dataclass(frozen=True, slots=True, kw_only=True)
class _Near:
    """A way in which the ends of a buffer lie: on which units, and whether on one slot (None: who knows); what its
    transfers cost then, and the classes of the prices of its writes and reads."""

    units: tuple[int, int]
    together: bool | None
    cost: EndCosts
    classes: tuple[int, int] | None


class UnitProgram:
    """The program of one space; ``columns``: how large it is. Nothing is built before it is solved."""

    def __init__(self, tables: ProblemTables, space: Space, bound: MappingBound, at_least: int) -> None:
        self._space, self._costs, self._at_least = space, bound, at_least
        self._groups = _groups(space, fastest_rows(tables, space))
        names = [space.units[group.entry].unit for group in self._groups]
        self._allowed = [sorted({names.index(space.units[u].unit) for u in units}) for units in space.allowed]
        room = most_room(space)
        rows = [sorted({self._groups[g].row for g in groups}) for groups in self._allowed]
        self._paths, self._rows, self._room = bound.of_trace.paths(room), rows, room
        self._buffers, self._tables = tables.topology.buffers, tables
        self._most_paths = max(LEAST_PATHS, PATH_FIRINGS // max(1, tables.problem.trace.n_firings))
        self.columns = sum(len(self._allowed[b.source]) * len(self._allowed[b.target]) for b in self._buffers) + sum(
            map(len, self._allowed)
        )
        self._cuts = _loads_add_up(space) and self.columns <= CUT_COLUMNS
        """Whether it matters which buffers of one unit lie between two cores."""
        self.trivial = len(self._groups) == 1 and not (self._cuts and self._groups[0].cores > 1)

    def bound(self) -> int:
        """Return the bound, in ticks."""
        self._transfers = [self._ends_of(b) for b in range(len(self._buffers))]
        self._path_transfers = PathTransfers(self._tables, self._paths, self._costs.dearer_transfers())
        self._lay_out()
        self._unit = max(1.0, float(self._most_work()), float(self._at_least)) / SCALE
        self._program = Program(nodes=MOST_NODES, looks=MOST_LOOKS)
        self._makespan = self._program.column(self._at_least / self._unit, math.inf, cost=1.0)
        self._y = [{g: self._program.binary(True) for g in groups} for groups in self._allowed]
        for chosen in self._y:
            self._program.row(1.0, 1.0, dict.fromkeys(chosen.values(), 1.0))
        self._add_places()
        self._add_loads()
        self._sets = self._core_sets()
        found = self._at_least
        self._program.relax(True)
        by_columns = max(LEAST_PATHS, PATH_COLUMNS // max(1, self.columns))
        found = max(found, self._with_paths(min(MOST_PATHS, self._most_paths, by_columns), tear=True))
        if self.columns > WHOLE_COLUMNS:
            return found
        self._program.relax(False)
        return max(found, self._with_paths(MOST_WHOLE))

    def _lay_out(self) -> None:
        """Lay out the times of the actors on each unit; of an actor that may not be there those of another unit."""
        self._times = self._costs.of_trace.times_by_row(self._rows, self._space.options.transfers, self._room.release)
        self._laid_out = [
            self._paths.laid_out([of_row.get(group.row, next(iter(of_row.values()))).path for of_row in self._times])
            for group in self._groups
        ]
        self._actors = self._paths.actors

    def _most_work(self) -> int:
        """Return the ticks of all work where it takes longest, transfers included: no load in the program is larger.

        A solver that is given larger numbers finds optima that are none, and programs without any solution.
        """
        loads = self._costs.unit_loads
        computing = (max(loads[a][self._groups[g].entry] for g in groups) for a, groups in enumerate(self._allowed))
        carrying = (max((near.cost.carried for near in of_buffer), default=0) for of_buffer in self._transfers)
        return sum(computing) + sum(carrying)

    def _ends_of(self, b: int) -> list[_Near]:
        """Return what the transfers of a buffer cost by the units of its two ends."""
        source, target = self._buffers[b].source, self._buffers[b].target
        pairs = itertools.product(self._allowed[source], self._allowed[target])
        return [
            self._near(b, g, h, together)
            for g, h in pairs
            if g == h or source != target
            for together in self._nears(g, h, source == target)
        ]

    def _nears(self, g: int, h: int, loop: bool) -> tuple[bool | None, ...]:
        """Return how near the ends of a buffer may be on two units: on one slot, on two, or who knows."""
        if g != h:
            return (False,)
        if loop or self._groups[g].cores == 1:
            return (True,)
        return (True, False) if self._cuts else (None,)

    def _near(self, b: int, g: int, h: int, together: bool | None) -> _Near:
        entries = self._groups[g].entry, self._groups[h].entry
        classes = None if together is None else self._costs.classes_between(*entries, together=together)
        cost = self._costs.transfers_between(b, *entries, together=together)
        return _Near(units=(g, h), together=together, cost=cost, classes=classes)

    # Loads ------------------------------------------------------------------------------------------------------------

    def _add_loads(self) -> None:
        """The makespan is at least the load of each unit over its cores, of all over all, and of each shared link."""
        links: dict[int, dict[int, float]] = {}
        loads = self._costs.unit_loads
        work = [
            {chosen[g]: float(loads[a][group.entry]) for a, chosen in enumerate(self._y) if g in chosen}
            for g, group in enumerate(self._groups)
        ]
        for b in range(len(self._buffers)):
            self._add_buffer(b, work, links)
        if "FULL_PARALLEL" not in self._space.options.policies:
            for group, terms in zip(self._groups, work, strict=True):
                self._add_busy(float(group.cores), terms)
            self._add_busy(float(self._space.most), _joined(work))
        for terms in links.values():
            self._add_busy(1.0, terms)

    def _add_busy(self, share: float, terms: dict[int, float]) -> None:
        busy = {column: -ticks / self._unit for column, ticks in terms.items() if ticks}
        self._program.row(0.0, math.inf, {self._makespan: share, **busy})

    def _add_buffer(self, b: int, work: list[dict[int, float]], links: dict[int, dict[int, float]]) -> None:
        """Add what the transfers of a buffer cost by where its two ends are."""
        for column, sign, near in self._terms[b]:
            (g, h), cost = near.units, near.cost
            work[g][column] = work[g].get(column, 0.0) + sign * cost.write
            work[h][column] = work[h].get(column, 0.0) + sign * cost.read
            if cost.server >= 0 and cost.carried:
                links.setdefault(cost.server, {})[column] = float(cost.carried)

    def _add_places(self) -> None:
        """Add columns for where the ends of each buffer are, and the terms that its costs have in them."""
        self._terms: list[list[tuple[int, int, _Near]]] = []
        self._together: list[dict[int, int]] = []
        for b, buffer in enumerate(self._buffers):
            columns = self._columns_of(buffer.source, buffer.target)
            terms, together = list[tuple[int, int, _Near]](), dict[int, int]()
            of_units = {units: list(nears) for units, nears in itertools.groupby(self._transfers[b], lambda n: n.units)}
            for units, nears in of_units.items():
                terms.append((columns[units], 1, nears[-1]))
                if len(nears) > 1:  # on two slots, but for those on one
                    same = self._program.column(0.0, 1.0)
                    self._program.row(0.0, math.inf, {columns[units]: 1.0, same: -1.0})
                    terms += [(same, 1, nears[0]), (same, -1, nears[1])]
                    together[units[0]] = same
            self._terms.append(terms)
            self._together.append(together)

    def _columns_of(self, source: int, target: int) -> dict[tuple[int, int], int]:
        """Return a column for each two units that two actors may be on: all are 0 but that of the units chosen."""
        if source == target:
            return {(g, g): column for g, column in self._y[source].items()}
        own, other = self._y[source], self._y[target]
        columns = {ends: self._program.column(0.0, 1.0) for ends in itertools.product(own, other)}
        for g, column in own.items():
            self._program.row(0.0, 0.0, {column: -1.0, **{columns[g, h]: 1.0 for h in other}})
        for h, column in other.items():
            self._program.row(0.0, 0.0, {column: -1.0, **{columns[g, h]: 1.0 for g in own}})
        return columns

    # Paths ------------------------------------------------------------------------------------------------------------

    def _with_paths(self, most: int, *, tear: bool = False) -> int:
        """Solve the program, add the path that is missing, and so on; return the highest bound in ticks.

        ``tear``: sets of actors that no core can have are added too, until that says little.
        """
        found, idle = [0], max(LEAST_IDLE, IDLE_ACTORS // max(1, len(self._y)))
        for _ in range(most):
            solved = self._program.solve()
            if solved.infeasible:  # every placement is a solution: the numbers were too much for the solver
                break
            found.append(max(found[-1], math.floor((solved.bound - MARGIN) * self._unit)))
            if solved.values is None:
                break
            torn = tear and found[-1] > LITTLE * found[-idle:][0] and self._add_torn(solved.values, found)
            if not self._add_path(solved.values) and not torn:
                break
        return found[-1]

    def _core_sets(self) -> list[CoreSets | None]:
        """Return the sets of actors on one core of each unit; None where it has one core, or none are known."""
        none: list[CoreSets | None] = [None] * len(self._groups)
        if not self._cuts:
            return none
        windows = self._paths.windows([PathTimes.least([o.path for o in of_row.values()]) for of_row in self._times])
        if not windows.made.all():
            return none
        return [
            CoreSets(windows, self._paths.ticks(laid_out), self._ties(g), cores=group.cores)
            if group.cores > 1
            else None
            for g, (laid_out, group) in enumerate(zip(self._laid_out, self._groups, strict=True))
        ]

    def _ties(self, g: int) -> list[list[tuple[int, int]]]:
        """Return for each actor the buffers to others that may be with it on one core of a unit, and these.

        No buffers of actors whose firings come in blocks, which take less than one firing at a time.
        """
        width, base = self._tables.block_width[self._groups[g].row], self._tables.action_base
        alone = [not width[base[a] : base[a + 1]].any() for a in range(len(self._y))]
        near: list[list[tuple[int, int]]] = [[] for _ in self._y]
        for b, buffer in enumerate(self._buffers):
            if g in self._together[b] and alone[buffer.source] and alone[buffer.target]:
                near[buffer.source].append((b, buffer.target))
                near[buffer.target].append((b, buffer.source))
        return near

    def _add_torn(self, values: tuple[float, ...], found: list[int]) -> bool:
        """Add sets that the program has on one core of a unit, or on too few; return whether there were any.

        Sets grow from some actors, others in each turn. ``found``: the bounds so far.
        """
        turn, least = len(found), max(self._at_least, found[-1])
        makespan, step = values[self._makespan] * self._unit, -(-(len(self._y) ** 2) // MOST_GROWN)
        added = 0
        for g, sets in enumerate(self._sets):
            if sets is None:
                continue
            cut = [max(0.0, 1.0 - values[of[g]]) if g in of else 0.0 for of in self._together]
            grown = [sets.torn(a, cut, makespan=makespan, least=least) for a in range(turn % step, len(self._y), step)]
            rows = {row.buffers: row for row in grown if row is not None}
            worst = sorted(rows.values(), key=lambda row: -row.excess)[:MOST_TORN]
            for row in worst:
                self._add_row(row, g)
            added += len(worst)
        return added > 0

    def _add_row(self, row: Torn, g: int) -> None:
        """The makespan is at least what a set of actors of a unit takes, less for what is torn or elsewhere."""
        loose = {self._together[b][g]: row.slope for b in row.buffers}
        loose |= {self._y[a][g]: ticks for a, ticks in row.elsewhere.items()}
        terms = {column: -ticks / self._unit for column, ticks in loose.items()}
        self._program.row(row.height / self._unit + sum(terms.values()), math.inf, {self._makespan: 1.0, **terms})

    def _add_path(self, values: tuple[float, ...]) -> bool:
        """Add the longest path under a placement, whole or in parts; return whether it is longer than the makespan."""
        path = self._paths.path(self._with_transfers(self._mixed(values), values))
        ticks_of = self._length(path)
        for column, ticks in self._carried(path).items():
            ticks_of[column] = ticks_of.get(column, 0.0) + ticks
        # a path may claim less than it could, which the solver wants if it is far more
        terms = {column: -min(ticks / self._unit, SCALE) for column, ticks in ticks_of.items() if ticks}
        length = sum(-values[column] * ticks for column, ticks in terms.items())
        self._program.row(0.0, math.inf, {self._makespan: 1.0, **terms})
        return length > values[self._makespan] * GAIN

    def _carried(self, path: PathCounts) -> dict[int, float]:
        """Return what transfers contribute to a path beyond the least, by the column of where they are."""
        ticks, found = self._path_transfers.on(path), dict[int, float]()
        for b, terms in enumerate(self._terms):
            for column, sign, near in terms:
                if near.classes is not None:
                    write, read = near.classes
                    found[column] = found.get(column, 0.0) + sign * (ticks.writes[write, b] + ticks.reads[read, b])
        return found

    def _with_transfers(self, times: LaidOut, values: tuple[float, ...]) -> LaidOut:
        """Return times with what transfers add, in the parts chosen."""
        shares = BufferTicks.none(len(self._buffers))
        for b, terms in enumerate(self._terms):
            for column, sign, near in terms:
                if near.classes is not None:
                    write, read = near.classes
                    shares.writes[write, b] += sign * values[column]
                    shares.reads[read, b] += sign * values[column]
        added = self._path_transfers.added(shares)
        return LaidOut(
            firing=times.firing + added.firing,
            delay=np.where(times.delay == UNTOLD, UNTOLD, times.delay + added.delay),
        )

    def _mixed(self, values: tuple[float, ...]) -> LaidOut:
        """Return times between those of several units, in the parts chosen; parts of nearly nothing are left out."""
        shares = np.zeros((len(self._groups), len(self._y)))
        for a, chosen in enumerate(self._y):
            for g, column in chosen.items():
                shares[g, a] = values[column] if values[column] > NOTHING else 0.0
            if not shares[:, a].any():
                shares[next(iter(chosen)), a] = 1.0

        def mix(times: list[IntArray], actors: IntArray) -> IntArray:
            of_entries = shares[:, actors]
            untold = np.logical_or.reduce(
                [(ticks == UNTOLD) & (share > 0) for share, ticks in zip(of_entries, times, strict=True)]
            )
            known = [np.where(ticks == UNTOLD, 0, ticks) for ticks in times]
            whole = sum(share * ticks for share, ticks in zip(of_entries, known, strict=True))
            return np.where(untold, UNTOLD, np.asarray(whole).astype(np.int64))

        return LaidOut(
            firing=mix([times.firing for times in self._laid_out], self._actors.firing),
            delay=mix([times.delay for times in self._laid_out], self._actors.delay),
        )

    def _length(self, path: PathCounts) -> dict[int, float]:
        """Return what each actor contributes to a path, by the column of its unit."""
        found: dict[int, float] = {}
        for g, times in enumerate(self._laid_out):
            ticks = np.zeros(len(self._y))
            np.add.at(ticks, self._actors.firing, path.whole * times.firing)
            np.add.at(ticks, self._actors.delay, self._waited(path.ways, times.delay))
            found |= {chosen[g]: float(ticks[a]) for a, chosen in enumerate(self._y) if g in chosen}
        return found

    def _waited(self, counts: IntArray, until: IntArray) -> FloatArray:
        """Return the ticks of so many waits. Nobody waits for the room of blocks: a path that does claims nothing."""
        untold = until == UNTOLD
        nothing = -SCALE * self._unit * len(self._y)
        return np.where(untold, np.where(counts > 0, nothing, 0.0), counts * np.where(untold, 0, until))


def _loads_add_up(space: Space) -> bool:
    """Return whether the firings of a core, and the transfers of a firing, are made one at a time."""
    return space.options.transfers == "sequential" and "FULL_PARALLEL" not in space.options.policies


def _groups(space: Space, rows: tuple[int, ...]) -> list[_Group]:
    """Return the units of a space, each once, in their order."""
    found: dict[str, _Group] = {}
    for u, unit in enumerate(space.units):
        found.setdefault(unit.unit, _Group(entry=u, cores=min(unit.slots, space.most), row=rows[u]))
    return list(found.values())


def _joined(sums: list[dict[int, float]]) -> dict[int, float]:
    """Return the sum of several sums."""
    found: dict[int, float] = {}
    for column, ticks in itertools.chain.from_iterable(terms.items() for terms in sums):
        found[column] = found.get(column, 0.0) + ticks
    return found
