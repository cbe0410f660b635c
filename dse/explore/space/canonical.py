"""The one form of all equivalent assignments of a space with identical actors (``dse/explore/space/symmetry.py``).

Cores of a unit, identical units and identical actors are exchanged together: which of two workers is alone on a core
matters no more than which core it is. Slots are therefore put in an order that does not depend on the numbers of
cores or of alike actors: by the first of the other actors on them, then by how many of each class of alike actors they
hold, the most first. The actors of a class then take their places slot by slot. Of the forms that other exchanges
lead to the least is taken, round by round until none is less.
"""

from collections.abc import Sequence
from typing import TypeAlias

from dse.explore.space.symmetry import ActorSymmetry, Permutation

Assignment: TypeAlias = tuple[int, ...]
_SlotKey: TypeAlias = tuple[int, tuple[int, ...], int]


class CanonicalActors:
    """Canonical forms under the symmetry of the actors. ``unit_of_slot``, ``first``: the slots of the space;
    ``alike``: for each unit the first one identical to it."""

    def __init__(
        self, symmetry: ActorSymmetry, *, unit_of_slot: Sequence[int], first: Sequence[int], alike: Sequence[int]
    ) -> None:
        self.symmetry = symmetry
        self._unit_of_slot = unit_of_slot
        self._first = first
        self._alike = alike
        self._class_of = [-1] * symmetry.n_actors
        for c, members in enumerate(symmetry.alike):
            for actor in members:
                self._class_of[actor] = c

    def form(self, assignment: Assignment) -> Assignment:
        """Return the same form for all assignments that are equivalent, with slots numbered in canonical order."""
        best = self._sorted(assignment)
        rounds = self.symmetry.rounds
        last_change, index = 0, 0
        while rounds and index - last_change < len(rounds):
            least = min((self._sorted(image) for image in self._images(best, index % len(rounds))), default=best)
            index += 1
            if least < best:
                best, last_change = least, index
        return best

    def _images(self, assignment: Assignment, index: int) -> list[Assignment]:
        """Return the images of an assignment under the exchanges of a round that keep the order of partitions."""
        images: list[Assignment] = []
        for permutation in self.symmetry.rounds[index]:
            if self.symmetry.ordered and not keeps_order(permutation, assignment):
                continue
            image = [0] * len(assignment)
            for actor, slot in zip(permutation, assignment, strict=True):
                image[actor] = slot
            if tuple(image) != assignment:
                images.append(tuple(image))
        return images

    def _sorted(self, assignment: Assignment) -> Assignment:
        """Return the assignment with slots in canonical order and alike actors ascending."""
        number = self._slot_numbers(assignment)
        form = [number[slot] for slot in assignment]
        for members in self.symmetry.alike:
            for actor, slot in zip(members, sorted(form[a] for a in members), strict=True):
                form[actor] = slot
        return tuple(form)

    def _slot_numbers(self, assignment: Assignment) -> dict[int, int]:
        """Return the new number of each used slot."""
        n, classes = len(assignment), len(self.symmetry.alike)
        others: dict[int, int] = {}
        members: dict[int, list[int]] = {}
        for actor, slot in enumerate(assignment):
            if slot not in members:
                members[slot] = [0] * classes
            if self._class_of[actor] < 0:
                others.setdefault(slot, actor)
            else:
                members[slot][self._class_of[actor]] -= 1
        units: dict[int, list[_SlotKey]] = {}
        for slot, counts in members.items():
            key = (others.get(slot, n), tuple(counts), slot)
            units.setdefault(self._unit_of_slot[slot], []).append(key)
        return self._numbered(units)

    def _numbered(self, units: dict[int, list[_SlotKey]]) -> dict[int, int]:
        kinds: dict[int, list[list[_SlotKey]]] = {}
        for unit, keys in units.items():
            keys.sort()
            kinds.setdefault(self._alike[unit], []).append(keys)
        number: dict[int, int] = {}
        for kind, of_kind in kinds.items():
            of_kind.sort(key=lambda keys: [key[:2] for key in keys])
            targets = (unit for unit, first in enumerate(self._alike) if first == kind)
            for unit, keys in zip(targets, of_kind, strict=False):
                for place, (_, _, slot) in enumerate(keys):
                    number[slot] = self._first[unit] + place
        return number


def keeps_order(permutation: Permutation, assignment: Assignment) -> bool:
    """Return whether the images of the actors of each slot stand in the order of the actors."""
    last: dict[int, int] = {}
    for image, slot in zip(permutation, assignment, strict=True):
        if last.get(slot, -1) > image:
            return False
        last[slot] = image
    return True
