"""The design space: which mappings, policies and buffer sizes a search may choose, counted and enumerated exactly.

A mapping is an *assignment*: one slot for each actor. A unit with n cores gives n identical slots, so assignments that
differ by a permutation of a unit's slots are the same mapping; the canonical one numbers the slots of a unit in the
order of first use (a restricted growth string for each unit). Everything here yields canonical assignments only.
"""

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cache, cached_property, lru_cache, partial
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from dse.explore.space.clocks import ClockDomain, Clocks, Levels
from dse.explore.space.drawing import random_numbers
from dse.explore.space.surjections import ManyMappings, many_mappings
from dse.explore.space.symmetry import ActorSymmetry
from dse.model.design_point import DesignPoint, Partition, Policy, ReleaseMode, TransferMode

Assignment: TypeAlias = tuple[int, ...]
"""The slot of each actor. Slots of unit u are ``first_slot(u) .. first_slot(u) + slots(u) - 1``."""
_Steps: TypeAlias = Callable[[tuple[int, ...]], list[tuple[int, tuple[int, ...]]]]
"""From used slots to in how many ways an actor leads to which used slots."""
MOST_TABLED = 500
"""Spaces of more actors are counted, and mappings drawn, without a table for each: of 5,000 actors on 64 cores the
tables take a second and half a gigabyte."""
SEARCHED_POLICIES: tuple[Policy, ...] = ("NON_PREEMPTIVE", "ROUND_ROBIN", "DATA_DEMAND_DRIVEN", "FULL_PARALLEL")
"""STATIC_ORDER needs an order of firings, which a mapping does not give."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SpaceOptions:
    """What the user asks of the space, by name.

    ``partitions``: (least, most) partitions, or None for one up to all cores. ``pins``: (actor, unit) pairs.
    ``capacities``: the candidate capacities, one vector of tokens for each candidate; each has one entry a buffer.
    ``clocks``: the units whose clock is chosen, each in one domain.
    """

    partitions: tuple[int, int] | None = None
    pins: tuple[tuple[str, str], ...] = ()
    policies: tuple[Policy, ...] = ("NON_PREEMPTIVE",)
    policy_per_partition: bool = False
    """Each partition may have another of the policies; else all have the same one."""
    capacities: tuple[tuple[int, ...], ...]
    release: ReleaseMode = "reading"
    transfers: TransferMode = "sequential"
    clocks: tuple[ClockDomain, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class UnitSlots:
    """A unit with the number of partitions that it may hold; ``partition`` is their fixed id, if the unit has one."""

    unit: str
    slots: int
    partition: str | None
    policy: Policy | None = None
    """With a policy for each partition: that of these slots. The unit then appears once for each policy, and all its
    entries together hold no more partitions than one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Candidate:
    """A point in search coordinates: canonical assignment, index of policy and of capacity vector, canonical clocks."""

    assignment: Assignment
    policy: int = 0
    capacity: int = 0
    clocks: Levels = ()


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Uses:
    """How many slots of each unit can be used while actors are placed one by one: ``used``, each once, none first.

    ``opens[i, unit]``: the number of the use with one more slot of a unit, -1: there is none. ``feasible[actor, i]``:
    whether the actors from this one on can be placed behind use i. Shapes (n, n_units) and (n_actors + 1, n).
    """

    used: tuple[tuple[int, ...], ...]
    opens: NDArray[np.int64]
    feasible: NDArray[np.bool_]


class Space:
    """The design space of one search. Immutable after construction; build one with ``build_space``.

    Identical actors are told apart here; ``MergedSpace`` (``dse/explore/space/merged.py``) merges them where that is
    proven.
    """

    symmetry: ActorSymmetry | None = None
    """Which actors are identical, where the space merges some."""

    def __init__(
        self,
        *,
        units: tuple[UnitSlots, ...],
        allowed: tuple[tuple[int, ...], ...],
        least: int,
        most: int,
        options: SpaceOptions,
        alike: tuple[int, ...] | None = None,
    ) -> None:
        self.units = units
        self.alike = tuple(range(len(units))) if alike is None else alike
        """For each unit the first unit that is identical to it: itself unless there are twins."""
        self._twin_before = _twins_before(self.alike)
        self.allowed = allowed
        """For each actor the indices of the units that it may run on, ascending."""
        self.least = least
        self.most = most
        self.options = options
        self.n_actors = len(allowed)
        self.unit_of_slot = tuple(u for u, unit in enumerate(units) for _ in range(unit.slots))
        self._alike = _equal_to_each([unit.unit for unit in units])
        self._first = tuple(sum(unit.slots for unit in units[:u]) for u in range(len(units)))
        self._twins = _equal_to_each(self.alike)
        self.crowdable = _crowdable(units, self._alike, self._twins)
        """Whether distinct slots can be more than a unit has: policies share them. Else they are right by number."""
        self._barred = _barred(allowed, self.unit_of_slot, len(units))
        """The actors that may not run everywhere, with the slots that they may not take."""
        self.clocks = Clocks(options.clocks, [unit.unit for unit in units])

    # Counting ---------------------------------------------------------------------------------------------------------

    @cached_property
    def _ways(self) -> list[dict[tuple[int, ...], int]]:
        return self._count_ways(_once)

    @cached_property
    def _clocked_ways(self) -> list[dict[tuple[int, ...], int]]:
        return self._count_ways(self._clockings) if self.options.clocks else self._ways

    @cached_property
    def _many(self) -> ManyMappings | None:
        """What counts and draws mappings of more actors than tables are made for, where it can."""
        plain = not self.crowdable and len(set(self.alike)) == len(self.units) and not self.options.clocks
        if self.n_actors <= MOST_TABLED or not plain:
            return None
        return many_mappings([unit.slots for unit in self.units], self.allowed, least=self.least, most=self.most)

    @property
    def mappings(self) -> int:
        """The number of distinct mappings (symmetric ones once)."""
        return self._completions(0, (0,) * len(self.units)) if self._many is None else self._many.total

    @property
    def told_apart(self) -> int:
        """The number of mappings if identical actors were told apart."""
        return self.mappings

    @property
    def size(self) -> int:
        """The number of points: mappings times policies times capacity vectors, with every clock of the used units."""
        if self._many is not None:
            return self._many.total * self._settings
        return self.points(0, (0,) * len(self.units))

    @property
    def _settings(self) -> int:
        return len(self.options.policies) * len(self.options.capacities)

    def points(self, actor: int, used: tuple[int, ...]) -> int:
        """Return how many points place actors ``actor``.. when ``used`` slots of each unit are."""
        return self._clocked_ways[actor].get(used, 0) * self._settings

    def _clockings(self, used: tuple[int, ...]) -> int:
        return self.clocks.count([u for u, slots in enumerate(used) if slots])

    def _completions(self, actor: int, used: tuple[int, ...]) -> int:
        """Return the number of canonical assignments of actors ``actor``.. when ``used`` slots of each unit are."""
        return self._ways[actor].get(used, 0)

    @property
    def placements(self) -> int:
        """The number of mappings if every core and every unit were told apart: what symmetry saves is the rest."""
        return self._count_ways(self._numberings)[0].get((0,) * len(self.units), 0)

    def _numberings(self, used: tuple[int, ...]) -> int:
        """Return in how many ways identical units and cores can be numbered in a mapping that uses so many slots."""
        ways = 1
        for name in dict.fromkeys(unit.unit for unit in self.units):
            here = [u for u, unit in enumerate(self.units) if unit.unit == name]
            ways *= math.perm(self.units[here[0]].slots, sum(used[u] for u in here))
        for first in dict.fromkeys(self.alike):
            twins = [u for u, kind in enumerate(self.alike) if kind == first]
            ways *= math.perm(len(twins), sum(used[u] > 0 for u in twins))
        return ways

    def _count_ways(self, weigh: Callable[[tuple[int, ...]], int]) -> list[dict[tuple[int, ...], int]]:
        """Return ``_completions`` as one table for each actor (and one behind the last), from the used slots.

        ``weigh``: what a complete assignment counts, by the slots that it uses.

        The next actor joins one of the used slots of a unit or opens the unit's next one: the recurrence of the
        Stirling numbers of the second kind, one index for each unit. Tables and not recursion: networks are long.
        """
        steps = self._steps()
        reachable = self._reachable(steps)
        ways = [{used: weigh(used) if self.least <= sum(used) else 0 for used in reachable[-1]}]
        for of_actor, here in zip(reversed(steps), reversed(reachable[:-1]), strict=True):
            later = ways[-1]
            ways.append({used: sum(n * later.get(after, 0) for n, after in of_actor(used)) for used in here})
        return ways[::-1]

    def _reachable(self, steps: list[_Steps]) -> list[list[tuple[int, ...]]]:
        """Return the used slots that can be reached before each actor, and behind the last one."""
        reachable = [[(0,) * len(self.units)]]
        for of_actor in steps:
            after = (step[1] for used in reachable[-1] for step in of_actor(used))
            reachable.append(list(dict.fromkeys(used for used in after if sum(used) <= self.most)))
        return reachable

    def _steps(self) -> list[_Steps]:
        """Return for each actor a function of the used slots: in how many ways it can lead to which used slots.

        Actors that may be on the same units share one, which remembers what it found.
        """
        of_units: dict[tuple[int, ...], _Steps] = {}
        for actor, units in enumerate(self.allowed):
            if units not in of_units:
                of_units[units] = cache(partial(self._merged_runs, actor))
        return [of_units[units] for units in self.allowed]

    def _merged_runs(self, actor: int, used: tuple[int, ...]) -> list[tuple[int, tuple[int, ...]]]:
        """Return in how many ways an actor leads to which used slots, each of these once."""
        ways: dict[tuple[int, ...], int] = {}
        for _, n, after in self._runs(actor, used):
            ways[after] = ways.get(after, 0) + n
        return [(n, after) for after, n in ways.items()]

    def completions(self, actor: int, used: tuple[int, ...]) -> int:
        """Return in how many ways actors ``actor``.. can be placed when ``used`` slots of each unit are."""
        return self._completions(actor, used)

    def uses(self) -> Uses:
        """Return the tables of the used slots that ``choices`` and ``completions`` go by."""
        number: dict[tuple[int, ...], int] = {}
        for of_actor in self._ways:
            for used in of_actor:
                number.setdefault(used, len(number))
        units = range(len(self.units))
        opens = [
            [number.get(_with_one_more(used, u), -1) if self._may_open(u, used) else -1 for u in units]
            for used in number
        ]
        feasible = np.zeros((len(self._ways), len(number)), dtype=np.bool_)
        for actor, of_actor in enumerate(self._ways):
            for used, ways in of_actor.items():
                feasible[actor, number[used]] = ways > 0
        return Uses(
            used=tuple(number),
            opens=np.array(opens, dtype=np.int64).reshape(len(number), len(self.units)),
            feasible=feasible,
        )

    def choices(self, actor: int, used: tuple[int, ...]) -> Iterator[tuple[int, tuple[int, ...]]]:
        """Yield the slots that ``actor`` may take, ascending, each with the used slots that follow."""
        return self._choices(actor, used)

    def reordered(self, order: tuple[int, ...]) -> "Space":
        """Return the same space with the actors renumbered: actor ``i`` is ``order[i]`` of this one."""
        return Space(
            units=self.units,
            allowed=tuple(self.allowed[a] for a in order),
            least=self.least,
            most=self.most,
            options=self.options,
            alike=self.alike,
        )

    def of_partitions(self, number: int) -> "Space":
        """Return the part of this space whose points have so many partitions; it may be empty."""
        return Space(
            units=self.units,
            allowed=self.allowed,
            least=number,
            most=number,
            options=self.options,
            alike=self.alike,
        )

    # Enumeration ------------------------------------------------------------------------------------------------------

    def first_assignment(self) -> Assignment:
        """Return the first of ``assignments``; of very many actors it costs less than to begin with them."""
        packed = tuple(self._first[units[0]] for units in self.allowed)
        if self._many is not None and self.holds(packed):
            return packed
        return next(self.assignments())

    def assignments(self) -> Iterator[Assignment]:
        """Yield every canonical assignment once, in lexicographic order."""
        open_choices = [self._choices(0, (0,) * len(self.units))]
        prefix: list[int] = []
        while open_choices:
            actor = len(open_choices) - 1
            del prefix[actor:]
            chosen = next((c for c in open_choices[-1] if self._completions(actor + 1, c[1])), None)
            if chosen is None:
                open_choices.pop()
                continue
            prefix.append(chosen[0])
            if actor + 1 == self.n_actors:
                yield tuple(prefix)
            else:
                open_choices.append(self._choices(actor + 1, chosen[1]))

    def candidates(self) -> Iterator[Candidate]:
        """Yield every point once: all clocks, policies and capacities of a mapping before the next mapping."""
        for assignment in self.assignments():
            yield from self.settings(assignment)

    def settings(self, assignment: Assignment) -> Iterator[Candidate]:
        """Yield the points of one mapping."""
        for clocks in self.clocks.choices(self._units_of(assignment)):
            for policy in range(len(self.options.policies)):
                for capacity in range(len(self.options.capacities)):
                    yield Candidate(assignment=assignment, policy=policy, capacity=capacity, clocks=clocks)

    def _units_of(self, slots: tuple[int, ...]) -> set[int]:
        return {self.unit_of_slot[slot] for slot in slots}

    def _choices(self, actor: int, used: tuple[int, ...]) -> Iterator[tuple[int, tuple[int, ...]]]:
        """Yield the slots that ``actor`` may take, ascending, each with the used slots that follow."""
        for first, n, after in self._runs(actor, used):
            for slot in range(first, first + n):
                yield slot, after

    def _runs(self, actor: int, used: tuple[int, ...]) -> Iterator[tuple[int, int, tuple[int, ...]]]:
        """Yield the slots that ``actor`` may take, ascending, as runs with the same used slots behind them: the first
        slot, how many there are, and the used slots."""
        for unit in self.allowed[actor]:
            if used[unit]:
                yield self._first[unit], used[unit], used
            if self._may_open(unit, used):
                yield self._first[unit] + used[unit], 1, _with_one_more(used, unit)

    def _may_open(self, unit: int, used: tuple[int, ...]) -> bool:
        """Return whether an actor may be the first one on the next slot of a unit."""
        twin = self._twin_before[unit]
        if twin is not None and not used[twin]:
            return False
        return sum(used[u] for u in self._alike[unit]) < self.units[unit].slots

    def random_assignment(self, rng: np.random.Generator) -> Assignment:
        """Return an assignment drawn from all canonical ones, each as likely as it has choices of clocks."""
        if self._many is not None:
            found = Space._renamed(self, self._many.drawn(rng))
            assert found is not None, "what is counted is in the space"
            return found[0]
        prefix: list[int] = []
        used, number = (0,) * len(self.units), random_numbers(rng)
        for actor in range(self.n_actors):
            total = self._clocked_ways[actor].get(used, 0)
            # More random bytes than the number needs keep the bias of the remainder below 2**-64.
            rank = number(total.bit_length() // 8 + 9) % total
            for first, n, after in self._runs(actor, used):
                ways = self._clocked_ways[actor + 1].get(after, 0)
                if rank < n * ways:
                    prefix.append(first + rank // ways)
                    used = after
                    break
                rank -= n * ways
        return tuple(prefix)

    def random_clocks(self, assignment: Assignment, rng: np.random.Generator) -> Levels:
        """Return a choice of clocks for a mapping, all as likely; draws nothing where no clock is chosen."""
        return self.clocks.drawn(self._units_of(assignment), rng)

    # Membership and points --------------------------------------------------------------------------------------------

    def canonical(self, slots: tuple[int, ...]) -> Assignment | None:
        """Return the canonical form of an assignment, or None when the space does not hold it."""
        found = self._renamed(slots)
        return None if found is None else found[0]

    def in_first_use(self, slots: tuple[int, ...]) -> bool:
        """Return whether cores and identical units are numbered in the order in which the actors use them."""
        found = Space._renamed(self, slots)
        return found is not None and found[0] == slots

    def candidate(
        self, slots: tuple[int, ...], *, policy: int = 0, capacity: int = 0, clocks: Levels = ()
    ) -> Candidate | None:
        """Return the canonical form of a point whose clocks belong to the units of ``slots``, None as ``canonical``."""
        found = self._renamed(slots)
        if found is None:
            return None
        if not self.clocks.domains:
            return Candidate(assignment=found[0], policy=policy, capacity=capacity)
        level_of: dict[int, int] = {}
        for unit, renamed in found[1].items():
            old, new = self.clocks.of_unit[unit], self.clocks.of_unit[renamed]
            if old is not None and new is not None:
                level_of[new] = self.clocks.levels(clocks)[old]
        return Candidate(assignment=found[0], policy=policy, capacity=capacity, clocks=self.clocks.of_levels(level_of))

    def _renamed(self, slots: tuple[int, ...]) -> tuple[Assignment, dict[int, int]] | None:
        """Return the canonical form of an assignment and how it calls the used units, None as ``canonical``."""
        if self._misplaces(slots):
            return None
        numbers = dict.fromkeys(slots, 0)  # the used slots in the order of first use
        if not self.least <= len(numbers) <= self.most:
            return None
        used = [0] * len(self.units)
        renamed: dict[int, int] = {}  # identical units in the order of first use
        for slot in numbers:
            unit = self.unit_of_slot[slot]
            if unit not in renamed:
                renamed[unit] = self._next_twin(unit, renamed)
            unit = renamed[unit]
            numbers[slot] = self._first[unit] + used[unit]
            used[unit] += 1
        if self.crowdable and self._crowds(used):
            return None
        return tuple(map(numbers.__getitem__, slots)), renamed

    def holds(self, slots: tuple[int, ...]) -> bool:
        """Return whether ``canonical`` gives an assignment of the space; costs less than to know which."""
        if self.crowdable:
            return Space._renamed(self, slots) is not None
        return self.least <= len(set(slots)) <= self.most and not self._misplaces(slots)

    def _misplaces(self, slots: tuple[int, ...]) -> bool:
        """Return whether an actor is where it may not run."""
        for actor, barred in self._barred:  # noqa: SIM110  (a generator would cost more than the look)
            if slots[actor] in barred:
                return True
        return False

    def _crowds(self, used: list[int]) -> bool:
        return any(sum(used[u] for u in self._alike[v]) > unit.slots for v, unit in enumerate(self.units))

    def _next_twin(self, unit: int, renamed: dict[int, int]) -> int:
        twins = self._twins[unit]
        if len(twins) == 1:
            return unit
        taken = renamed.values()
        return next(u for u in twins if u not in taken)

    def slots_of_unit(self, unit: int) -> range:
        """Return the slots of a unit."""
        return range(self._first[unit], self._first[unit] + self.units[unit].slots)

    def to_point(self, candidate: Candidate) -> DesignPoint:
        """Return the design point of a candidate; partitions stand in slot order, their actors in declared order."""
        members: list[list[int]] = [[] for _ in self.unit_of_slot]
        for actor, slot in enumerate(candidate.assignment):
            members[slot].append(actor)
        partitions: list[Partition] = []
        taken: set[str] = set()
        for u, actors in zip(self.unit_of_slot, members, strict=True):
            if not actors:
                continue
            unit, number = self.units[u], len(partitions)
            name = unit.partition if unit.slots == 1 else None
            if not name or name in taken:
                name = f"P{number}" if f"P{number}" not in taken else f"P{number} on {unit.unit}"
            taken.add(name)
            policy = unit.policy or self.options.policies[candidate.policy]
            clock_mhz = self.clocks.clock_mhz(u, candidate.clocks)
            partitions.append(_partition(name, tuple(actors), unit.unit, policy, clock_mhz))
        return DesignPoint(
            partitions=tuple(partitions),
            capacities=self.options.capacities[candidate.capacity],
            release=self.options.release,
            transfers=self.options.transfers,
        )

    def one_core(self) -> DesignPoint | None:
        """Return all actors in one partition of the first unit that allows it, or None where no unit does.

        It is the reference of the speed-up and need not be in the space (which may ask for more partitions). Where
        clocks are chosen it has the fastest one.
        """
        for u, unit in enumerate(self.units):
            if all(u in allowed for allowed in self.allowed):
                partition = Partition(
                    name="P0",
                    actors=tuple(range(self.n_actors)),
                    unit=unit.unit,
                    policy=unit.policy or self.options.policies[0],
                    clock_mhz=self.clocks.clock_mhz(u, ()),
                )
                return DesignPoint(
                    partitions=(partition,),
                    capacities=self.options.capacities[0],
                    release=self.options.release,
                    transfers=self.options.transfers,
                )
        return None


@lru_cache(maxsize=1024)
def _partition(name: str, actors: tuple[int, ...], unit: str, policy: Policy, clock_mhz: Fraction | None) -> Partition:
    """Return a partition: neighbours of a point share most of them with it."""
    return Partition(name=name, actors=actors, unit=unit, policy=policy, clock_mhz=clock_mhz)


def _once(_used: tuple[int, ...]) -> int:
    return 1


def _with_one_more(used: tuple[int, ...], unit: int) -> tuple[int, ...]:
    return (*used[:unit], used[unit] + 1, *used[unit + 1 :])


def _twins_before(alike: Sequence[int]) -> tuple[int | None, ...]:
    """Return for each unit the last one before it that is identical to it."""
    return tuple(next((v for v in reversed(range(u)) if alike[v] == alike[u]), None) for u in range(len(alike)))


def _equal_to_each(values: Sequence[object]) -> tuple[tuple[int, ...], ...]:
    """Return for each of some values the indices of all that are equal to it."""
    return tuple(tuple(v for v, other in enumerate(values) if other == value) for value in values)


def _crowdable(
    units: tuple[UnitSlots, ...], entries: tuple[tuple[int, ...], ...], twins: tuple[tuple[int, ...], ...]
) -> bool:
    """Return whether entries of one unit share its cores, or identical units have different numbers of slots."""
    shared = any(len(same) > 1 for same in entries)
    return shared or any(units[u].slots != units[first].slots for u, (first, *_) in enumerate(twins))


def _barred(
    allowed: tuple[tuple[int, ...], ...], unit_of_slot: tuple[int, ...], n_units: int
) -> tuple[tuple[int, frozenset[int]], ...]:
    """Return the actors that may not run everywhere, with the slots that they may not take."""
    return tuple(
        (actor, frozenset(slot for slot, unit in enumerate(unit_of_slot) if unit not in units_of_actor))
        for actor, units_of_actor in enumerate(allowed)
        if len(units_of_actor) < n_units
    )
