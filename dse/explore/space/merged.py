"""The space of a problem with identical actors: equivalent mappings are one (``dse/explore/space/symmetry.py``)."""

import functools
import itertools
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import TypeAlias

import numpy as np

from dse.estimate.problem.tables import ProblemTables
from dse.explore.space.canonical import CanonicalActors
from dse.explore.space.space import Assignment, Space
from dse.explore.space.symmetry import ActorSymmetry, Freedom, find_symmetry

COUNTED = 20_000
"""So many mappings are enumerated to count what no formula counts; larger spaces are given an upper bound."""
LARGEST_CLASS = 40
"""Classes of more alike actors are not counted by the formula."""

_Used: TypeAlias = tuple[int, ...]
_Kinds: TypeAlias = tuple[tuple[int, ...], ...]
"""For each unit the sizes of the groups of used slots that nothing tells apart so far, ascending."""


class MergedSpace(Space):
    """A space in which assignments that differ by exchanges of identical actors are one mapping.

    ``mappings`` and ``size`` are exact where all identical actors are alike (``ActorSymmetry``), no units are
    identical and no policy is chosen for each partition, and in every space of up to ``COUNTED`` mappings; else they
    count some mappings that are equivalent to others, and never too few.
    """

    def __init__(self, plain: Space, symmetry: ActorSymmetry) -> None:
        super().__init__(
            units=plain.units,
            allowed=plain.allowed,
            least=plain.least,
            most=plain.most,
            options=plain.options,
            alike=plain.alike,
        )
        self.symmetry = self._found = symmetry
        self._forms = CanonicalActors(symmetry, unit_of_slot=self.unit_of_slot, first=self._first, alike=plain.alike)
        self._order = symmetry.order
        self._internal = self.reordered(self._order)
        place = {actor: i for i, actor in enumerate(self._order)}
        self._before: list[int | None] = [None] * self.n_actors
        for members in symmetry.alike:
            for earlier, later in itertools.pairwise(members):
                self._before[place[later]] = place[earlier]

    def of_partitions(self, number: int) -> Space:
        """Return the part of this space whose points have so many partitions; identical actors are merged in it too."""
        return MergedSpace(super().of_partitions(number), self._found)

    @property
    def told_apart(self) -> int:
        """The number of mappings if identical actors were told apart."""
        return super().mappings

    @property
    def mappings(self) -> int:
        """The number of distinct mappings."""
        return sum(self._classes.values())

    @property
    def size(self) -> int:
        """The number of points."""
        settings = len(self.options.policies) * len(self.options.capacities)
        return settings * sum(ways * self._clockings(used) for used, ways in self._classes.items())

    def assignments(self) -> Iterator[Assignment]:
        """Yield every canonical assignment once."""
        for form in self._walk():
            if self._forms.form(form) == form:
                found = super()._renamed(form)
                assert found is not None, "an exchange of identical actors leads out of the space"
                yield found[0]

    def random_assignment(self, rng: np.random.Generator) -> Assignment:
        """Return the canonical form of an assignment drawn with identical actors told apart."""
        found = self.canonical(super().random_assignment(rng))
        assert found is not None
        return found

    def _renamed(self, slots: tuple[int, ...]) -> tuple[Assignment, dict[int, int]] | None:
        found = super()._renamed(slots)
        if found is None:
            return None
        last = super()._renamed(self._forms.form(found[0]))
        assert last is not None, "an exchange of identical actors leads out of the space"
        # Clocks belong to units; merged_space leaves spaces alone in which both clocks and units could be exchanged.
        return last[0], found[1]

    # Enumeration ------------------------------------------------------------------------------------------------------

    def _walk(self) -> Iterator[Assignment]:
        """Yield every assignment with alike actors in ascending slots: all canonical ones, and a few more."""
        inner = self._internal
        open_choices = [inner.choices(0, (0,) * len(self.units))]
        prefix: list[int] = []
        while open_choices:
            actor = len(open_choices) - 1
            del prefix[actor:]
            before = self._before[actor]
            least = 0 if before is None else prefix[before]
            fitting = (c for c in open_choices[-1] if c[0] >= least and inner.completions(actor + 1, c[1]))
            chosen = next(fitting, None)
            if chosen is None:
                open_choices.pop()
                continue
            prefix.append(chosen[0])
            if actor + 1 < self.n_actors:
                open_choices.append(inner.choices(actor + 1, chosen[1]))
                continue
            slots = [0] * self.n_actors
            for a, slot in zip(self._order, prefix, strict=True):
                slots[a] = slot
            yield tuple(slots)

    # Counting ---------------------------------------------------------------------------------------------------------

    @functools.cached_property
    def _classes(self) -> dict[_Used, int]:
        """The number of distinct mappings by the used slots of each unit."""
        countable = self._countable()
        at_most = self._by_formula() if countable else self._by_used(self._internal, (0,) * len(self.units))
        if countable and (not self._found.rounds or sum(at_most.values()) > COUNTED):
            return at_most
        if not self._found.alike and self.told_apart > COUNTED:
            return at_most
        visited = list(itertools.islice(self._walk(), COUNTED + 1))
        if len(visited) > COUNTED:
            return at_most
        return dict(Counter(self._used(form) for form in visited if self._forms.form(form) == form))

    def _countable(self) -> bool:
        """Whether the formula holds: no units are alike or share cores, and no class of actors is large."""
        plain_units = len(set(self.alike)) == len(self.units) == len({unit.unit for unit in self.units})
        return plain_units and all(len(members) <= LARGEST_CLASS for members in self._found.alike)

    def _used(self, slots: Assignment) -> _Used:
        counts = Counter(self.unit_of_slot[slot] for slot in set(slots))
        return tuple(counts[u] for u in range(len(self.units)))

    @staticmethod
    def _by_used(space: Space, zero: _Used, actors: int | None = None) -> dict[_Used, int]:
        """Return the number of assignments of the first actors by the slots that they use."""
        ways = {zero: 1}
        for actor in range(space.n_actors if actors is None else actors):
            after: Counter[_Used] = Counter()
            for used, n in ways.items():
                for _, more in space.choices(actor, used):
                    after[more] += n
            ways = after
        complete = actors is None
        return {u: n for u, n in ways.items() if sum(u) <= space.most and not (complete and sum(u) < space.least)}

    def _by_formula(self) -> dict[_Used, int]:
        """Count class by class: how many actors of it go to each group of slots that nothing tells apart so far."""
        zero = (0,) * len(self.units)
        others = self.n_actors - sum(len(members) for members in self._found.alike)
        states: dict[_Kinds, int] = {
            tuple((1,) * n for n in used): ways for used, ways in self._by_used(self._internal, zero, others).items()
        }
        for members in self._found.alike:
            states = self._with_class(states, members)
        found: Counter[_Used] = Counter()
        for kinds, ways in states.items():
            if sum(map(sum, kinds)) >= self.least:
                found[tuple(sum(groups) for groups in kinds)] += ways
        return dict(found)

    def _with_class(self, states: dict[_Kinds, int], members: Sequence[int]) -> dict[_Kinds, int]:
        """Return the ways to reach each state when the actors of one more class are placed."""
        after: Counter[_Kinds] = Counter()
        for kinds, ways in states.items():
            for result, n in self._spread(kinds, len(members), self.allowed[members[0]]).items():
                after[result] += ways * n
        return {kinds: n for kinds, n in after.items() if sum(map(sum, kinds)) <= self.most}

    def _spread(self, kinds: _Kinds, actors: int, allowed: tuple[int, ...]) -> Counter[_Kinds]:
        """Return in how many ways alike actors go to the slots of some units, by the groups that result."""
        partial: dict[tuple[int, _Kinds], int] = {(actors, ()): 1}
        for u, groups in enumerate(kinds):
            pieces = [(size, False) for size in groups] + [(self.units[u].slots - sum(groups), True)]
            partial = _spread_on(pieces, partial, allowed=u in allowed)
        return Counter({done: n for (left, done), n in partial.items() if left == 0})


def _spread_on(
    pieces: list[tuple[int, bool]], partial: dict[tuple[int, _Kinds], int], *, allowed: bool
) -> dict[tuple[int, _Kinds], int]:
    """Return the ways when alike actors go to the slots of one more unit too, by how many are left and the groups.

    ``pieces``: groups of slots that nothing tells apart, with whether they are unused; ``allowed``: whether any may go.
    """
    inner: dict[tuple[int, tuple[int, ...], _Kinds], int] = {(left, (), done): n for (left, done), n in partial.items()}
    for size, fresh in pieces:
        step: Counter[tuple[int, tuple[int, ...], _Kinds]] = Counter()
        for (left, mine, done), n in inner.items():
            for taken in range(left + 1 if allowed else 1):
                for shape, ways in _shapes(taken, size, fresh).items():
                    step[left - taken, tuple(sorted((*mine, *shape))), done] += n * ways
        inner = step
    joined: Counter[tuple[int, _Kinds]] = Counter()
    for (left, mine, done), n in inner.items():
        joined[left, (*done, mine)] += n
    return joined


@functools.cache
def _shapes(total: int, slots: int, fresh: bool) -> Counter[tuple[int, ...]]:
    """Return in how many ways ``total`` alike actors go to alike slots, by the sizes of the groups with equal numbers.

    ``fresh``: the slots were unused; those that stay so are no group.
    """
    partial: dict[tuple[int, int, tuple[int, ...]], int] = {(total, slots, ()): 1}
    for each in range(total, 0, -1):
        step: Counter[tuple[int, int, tuple[int, ...]]] = Counter()
        for (left, free, sizes), n in partial.items():
            for times in range(min(free, left // each) + 1):
                grown = tuple(sorted((*sizes, times))) if times else sizes
                step[left - times * each, free - times, grown] += n
        partial = step
    found: Counter[tuple[int, ...]] = Counter()
    for (left, free, sizes), n in partial.items():
        if left == 0:
            found[sizes if fresh or not free else tuple(sorted((*sizes, free)))] += n
    return found


def merged_space(plain: Space, tables: ProblemTables) -> Space:
    """Return the space with identical actors merged where that is proven, else the space as it is.

    Units of one kind that can be exchanged are left to clocks where clocks are chosen: then no actors are merged.
    """
    options, platform = plain.options, tables.problem.platform
    if options.clocks and len(set(plain.alike)) < len(plain.units):
        return plain
    kind_of = {unit.name: unit.kind for unit in platform.units}
    policies = tuple(unit.policy for unit in plain.units if unit.policy)
    freedom = Freedom(
        platform=platform,
        allowed=plain.allowed,
        kinds=tuple(kind_of[unit.unit] for unit in plain.units),
        policies=policies or options.policies,
        capacities=options.capacities,
        transfers=options.transfers,
    )
    symmetry = find_symmetry(tables, freedom)
    return plain if symmetry is None else MergedSpace(plain, symmetry)
