"""Integer program: the placement problem without time, solved exactly, cut by cut (HiGHS; Huangfu and Hall 2018).

The program chooses one slot for each actor and minimises the heaviest slot: loads, and transfers by whether the two
ends of a buffer share a slot. It leaves out all waiting, so its optimum never exceeds the makespan of the mapping, nor
that of any other. The mapping it finds is estimated, then excluded by a cut, and the program is solved again: its
optima rise until one is not below the best estimate, which is then proven to be the optimum (logic-based Benders
decomposition, Hooker and Ottosson 2003).

Placements that differ by exchanges of cores, identical units or identical actors have one makespan. Constraints leave
of them those that number cores and units in the order of first use and keep the actors of a class ascending: the
lexicographically least of all does, so that none is lost. A cut takes away all that are left of the mapping at once.
"""

import itertools
import math
from collections.abc import Iterator
from dataclasses import dataclass

from dse.explore.method import SearchContext, least_makespan
from dse.explore.methods.constructive.greedy import constructed
from dse.explore.methods.exact.solver import MARGIN, SCALE, Program
from dse.explore.methods.scripted import Script, Scripted
from dse.explore.moves.moves import settings_of
from dse.explore.space.canonical import keeps_order
from dse.explore.space.placement import EdgeCosts
from dse.explore.space.space import Assignment, Space

IDLE_PROGRAMS = 15
"""So many programs in a row that do not raise the bound end the search. A cut takes one mapping away, so the bound
rises only when all mappings at it are cut; where makespans are mostly waiting there are too many of them."""
MOST_NODES = 3_000
"""Branches of the solver for one program: a limit that does not depend on the speed of the machine."""
MOST_LOOKS = 1_000
"""So often the solver asks whether to go on with one program: as independent of the machine, and counted at the root
too. Sixty actors on nine slots take about five seconds by then; without this limit it was minutes."""
MOST_BINARIES = 1_000
"""Actors times slots. Above, the first relaxation takes from ten seconds to minutes before the solver asks at all."""
BOUND_BINARIES, BOUND_NODES, BOUND_LOOKS = 300, 1_000, 300
"""The same limits for the one program that ``auto`` solves for its bound: a second or two."""
MOST_EQUIVALENT = 500
"""Placements of one mapping that a cut looks for; where there are more, the program may come back to the mapping."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Solution:
    """``bound``: ticks that no mapping that is not cut off can beat; ``mapping`` is None when none is left or found."""

    bound: int
    mapping: Assignment | None
    exhausted: bool
    slots: tuple[int, ...] = ()
    """The slots that the solver chose, which identical units may number unlike ``mapping``."""

    def proves(self, best: int | None) -> bool:
        """Return whether no mapping can beat the best makespan so far."""
        return self.exhausted or (best is not None and self.bound >= best)


class IntegerProgram(Scripted):
    """Solves, estimates, cuts off, until the bound meets the best estimate; ``exact`` only then."""

    patience = None
    ceiling = 0

    def _script(self) -> Script:
        best: int | None = None
        results = yield settings_of(self._space, constructed(self._context))
        best = least_makespan(results, best)
        if self._space.n_actors * len(self._space.unit_of_slot) > MOST_BINARIES:
            return  # the first relaxation alone would take minutes
        program = SlotProgram(self._context)
        idle = 0
        proposed: set[Assignment] = set()
        while idle < IDLE_PROGRAMS:
            yield []
            solution = program.solve(below=best)
            bound = solution.bound if best is None else min(solution.bound, best)
            idle = 0 if bound > self._proven else idle + 1
            self._proven = max(self._proven, bound)
            if solution.proves(best):
                self.exact = True
                self._proven = best or 0
                self._pruned = self._space.size - len(self._known)
                return
            if solution.mapping is None:
                return  # the solver gave up: what is proven so far stands
            program.cut_off(solution.slots)
            if solution.mapping in proposed:
                continue
            proposed.add(solution.mapping)
            results = yield list(self._space.settings(solution.mapping))
            best = least_makespan(results, best)


def placement_bound(context: SearchContext) -> int:
    """Return what no mapping of a space can beat by the first program, in ticks; 0 where it is too large to be solved.

    It tells more than loads where there are few actors for a core. The limits are smaller than those of the method.
    """
    space = context.space
    if space.n_actors * len(space.unit_of_slot) > BOUND_BINARIES or space.options.policy_per_partition:
        return 0
    return SlotProgram(context, nodes=BOUND_NODES, looks=BOUND_LOOKS).solve(below=None).bound


class SlotProgram:
    """The integer program of one space in the solver, with the cuts so far."""

    def __init__(self, context: SearchContext, *, nodes: int | None = None, looks: int | None = None) -> None:
        """``nodes``, ``looks``: limits of the solver for one program, those of the method where there are none."""
        self._context = context
        self._space = context.space
        self._program = Program(nodes=nodes or MOST_NODES, looks=MOST_LOOKS if looks is None else looks)
        slots = range(len(self._space.unit_of_slot))
        self._x = [[self._program.binary(self._may_use(a, s)) for s in slots] for a in range(self._space.n_actors)]
        self._used = [self._program.binary(True) for _ in slots]
        total = sum(max(row) for row in context.loads) + sum(_most(edge) for edge in context.placement.edges)
        self._unit = max(1.0, total) / SCALE
        """Ticks of one unit of the program."""
        self._makespan = self._program.column(self._context.placement.least / self._unit, math.inf, cost=1.0)
        self._add_rules()
        self._add_symmetries()
        self._add_loads()

    # Columns and rows -------------------------------------------------------------------------------------------------

    def _may_use(self, actor: int, slot: int) -> bool:
        """Return whether a canonical assignment can put an actor on a slot: it opens slots in order."""
        unit = self._space.unit_of_slot[slot]
        return unit in self._space.allowed[actor] and slot - self._space.slots_of_unit(unit).start <= actor

    def _add_rules(self) -> None:
        """Each actor in one slot, slots opened in canonical order, as many used as the space allows."""
        actors, slots = range(self._space.n_actors), range(len(self._used))
        for a in actors:
            self._program.row(1.0, 1.0, {self._x[a][s]: 1.0 for s in slots})
        for s in slots:
            self._add_slot(s)
        self._program.row(float(self._space.least), float(self._space.most), {self._used[s]: 1.0 for s in slots})
        for unit in self._space.units:  # entries of one unit, one for each policy, share its cores
            here = [s for s in slots if self._space.units[self._space.unit_of_slot[s]].unit == unit.unit]
            self._program.row(0.0, float(unit.slots), {self._used[s]: 1.0 for s in here})

    def _add_slot(self, s: int) -> None:
        """A slot is used if an actor is in it, and opened by an actor behind the one that opens the slot before."""
        actors = range(self._space.n_actors)
        self._program.row(0.0, math.inf, {self._used[s]: -1.0, **{self._x[a][s]: 1.0 for a in actors}})
        for a in actors:
            self._program.row(-math.inf, 0.0, {self._x[a][s]: 1.0, self._used[s]: -1.0})
            if s - 1 in self._space.slots_of_unit(self._space.unit_of_slot[s]):
                earlier = {self._x[b][s - 1]: -1.0 for b in range(a)}
                self._program.row(-math.inf, 0.0, {self._x[a][s]: 1.0, **earlier})

    def _add_symmetries(self) -> None:
        """Identical units are used in their order, and alike actors stand in ascending slots (see the module)."""
        for u, v in self._twins():
            for s in self._space.slots_of_unit(v):
                for a in range(self._space.n_actors):
                    earlier = {self._x[b][t]: -1.0 for b in range(a) for t in self._space.slots_of_unit(u)}
                    self._program.row(-math.inf, 0.0, {self._x[a][s]: 1.0, **earlier})
        for members in () if self._space.symmetry is None else self._space.symmetry.alike:
            for first, second in itertools.pairwise(members):
                self._add_ascending(first, second)

    def _add_ascending(self, first: int, second: int) -> None:
        """The second actor is in no slot before that of the first one."""
        for s in range(1, len(self._used)):
            terms = {self._x[first][t]: 1.0 for t in range(s, len(self._used))}
            terms |= {self._x[second][t]: -1.0 for t in range(s, len(self._used))}
            self._program.row(-math.inf, 0.0, terms)

    def _twins(self) -> Iterator[tuple[int, int]]:
        """Yield each unit that is identical to an earlier one, behind the last of those."""
        last: dict[int, int] = {}
        for v, first in enumerate(self._space.alike):
            if first in last:
                yield last[first], v
            last[first] = v

    def _add_loads(self) -> None:
        """The makespan is at least the load of each slot, or of each actor where they may run side by side."""
        slots = range(len(self._used))
        if not self._context.placement.additive:
            for a in range(self._space.n_actors):
                loads = {self._x[a][s]: -self._load(a, s) for s in slots}
                self._program.row(0.0, math.inf, {self._makespan: 1.0, **loads})
            return
        for s in slots:
            terms: dict[int, float] = {self._makespan: 1.0}
            for a in range(self._space.n_actors):
                terms[self._x[a][s]] = -self._load(a, s)
            for edge in self._context.placement.edges:
                self._add_edge(edge, s, terms)
            self._program.row(0.0, math.inf, terms)

    def _load(self, actor: int, slot: int) -> float:
        return self._context.loads[actor][self._space.unit_of_slot[slot]] / self._unit

    def _add_edge(self, edge: EdgeCosts, slot: int, terms: dict[int, float]) -> None:
        """Add to the row of a slot what a buffer costs there: each end at its least apart, corrected where together."""
        unit = self._space.unit_of_slot[slot]
        source, target = self._x[edge.source][slot], self._x[edge.target][slot]
        if edge.source == edge.target:
            terms[source] -= (edge.write_same[unit] + edge.read_same[unit]) / self._unit
            return
        write = self._apart(edge.write_apart[unit], unit, edge.target, edge.write_same[unit])
        read = self._apart(edge.read_apart[unit], unit, edge.source, edge.read_same[unit])
        terms[source] -= write / self._unit
        terms[target] -= read / self._unit
        more = edge.write_same[unit] - write + edge.read_same[unit] - read
        if more == 0:
            return
        together = self._program.column(0.0, 1.0)
        terms[together] = -more / self._unit
        if more < 0:  # a saving: granted at most where both ends are
            self._program.row(-math.inf, 0.0, {together: 1.0, source: -1.0})
            self._program.row(-math.inf, 0.0, {together: 1.0, target: -1.0})
        else:
            self._program.row(-1.0, math.inf, {together: 1.0, source: -1.0, target: -1.0})

    def _apart(self, apart: tuple[int, ...], unit: int, other: int, same: int) -> int:
        """Return the least that an end costs when the other end is in another slot; ``same`` where it cannot be."""
        found = [apart[v] for v in self._space.allowed[other] if v != unit or self._space.units[v].slots > 1]
        return min(found, default=same)

    # Solving ----------------------------------------------------------------------------------------------------------

    def solve(self, *, below: int | None) -> Solution:
        """Return the optimum of the program, or what the solver knows of it after its branches are used up.

        ``below``: only mappings that can beat this makespan are looked for; none left is ``exhausted``.
        """
        least = self._context.placement.least / self._unit
        upper = math.inf if below is None else max(least, below / self._unit) + MARGIN
        self._program.limit(self._makespan, least, upper)
        solved = self._program.solve()
        if solved.infeasible:
            return Solution(bound=below or 0, mapping=None, exhausted=True)
        bound = max(math.floor((solved.bound - MARGIN) * self._unit), self._context.placement.least)
        values = solved.values
        if values is None:
            return Solution(bound=bound, mapping=None, exhausted=False)
        slots = tuple(max(range(len(row)), key=lambda s, r=row: values[r[s]]) for row in self._x)  # type: ignore[misc]
        return Solution(bound=bound, mapping=self._space.canonical(slots), exhausted=False, slots=slots)

    def cut_off(self, slots: tuple[int, ...]) -> None:
        """Exclude a placement from now on, and all that are equivalent to it."""
        for equivalent in equivalents(self._space, slots):
            terms = {self._x[a][slot]: 1.0 for a, slot in enumerate(equivalent)}
            self._program.row(-math.inf, float(len(slots) - 1), terms)


def equivalents(space: Space, slots: Assignment) -> list[Assignment]:
    """Return the placements equivalent to ``slots``, it among them, that the constraints of the program allow.

    Without identical actors there is no other. The search ends at ``MOST_EQUIVALENT`` placements of any kind.
    """
    if space.symmetry is None:
        return [slots]
    found = {slots: None}  # in the order in which they were found
    queue = [slots]
    while queue and len(found) < MOST_EQUIVALENT:
        for image in _exchanged(space, queue.pop()):
            if image not in found:
                found[image] = None
                queue.append(image)
    return [image for image in found if space.in_first_use(image)]


def _exchanged(space: Space, slots: Assignment) -> Iterator[Assignment]:
    """Yield what one exchange makes of a placement, with the actors of each class ascending."""
    for image in itertools.chain(_slots_exchanged(space, slots), _actors_exchanged(space, slots)):
        yield _ascending(space, image)


def _slots_exchanged(space: Space, slots: Assignment) -> Iterator[Assignment]:
    """Yield what exchanges of cores and of identical units make of a placement."""
    unit_of, used = space.unit_of_slot, sorted(set(slots))
    units = sorted({unit_of[s] for s in used})
    swaps = [{s: t, t: s} for s, t in itertools.pairwise(used) if unit_of[s] == unit_of[t]]
    for u, v in itertools.combinations(units, 2):
        if space.alike[u] == space.alike[v]:
            pairs = list(zip(space.slots_of_unit(u), space.slots_of_unit(v), strict=True))
            swaps.append(dict(pairs) | {t: s for s, t in pairs})
    for swap in swaps:
        yield tuple(swap.get(slot, slot) for slot in slots)


def _actors_exchanged(space: Space, slots: Assignment) -> Iterator[Assignment]:
    """Yield what exchanges of identical actors make of a placement."""
    assert space.symmetry is not None
    for permutation in itertools.chain(*space.symmetry.rounds):
        if not space.symmetry.ordered or keeps_order(permutation, slots):
            image = [0] * len(slots)
            for actor, slot in zip(permutation, slots, strict=True):
                image[actor] = slot
            yield tuple(image)


def _ascending(space: Space, slots: Assignment) -> Assignment:
    assert space.symmetry is not None
    form = list(slots)
    for members in space.symmetry.alike:
        for actor, slot in zip(members, sorted(slots[a] for a in members), strict=True):
            form[actor] = slot
    return tuple(form)


def _most(edge: EdgeCosts) -> int:
    ends = (edge.write_same, edge.read_same, *edge.write_apart, *edge.read_apart)
    return max(cost for row in ends for cost in row)
