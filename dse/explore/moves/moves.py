"""Steps from one point of a space to its neighbours, as most searches need them.

A search walks over *raw* slots, so that a partition keeps its number while actors come and go; ``candidate_of`` gives
the canonical point that is evaluated. Unused slots of one unit are alike: of them only the first is a target.
"""

import bisect
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from dse.explore.method import SearchContext
from dse.explore.space.clocks import Levels
from dse.explore.space.space import Assignment, Candidate, Space


@dataclass(frozen=True, slots=True, kw_only=True)
class Position:
    """A point in raw slots with the indices of its policy and capacities, and the levels of its clocks."""

    slots: tuple[int, ...]
    policy: int = 0
    capacity: int = 0
    clocks: Levels = ()


class Step:
    """A neighbour, and the (actor, slot) pairs that the step left: what a search may forbid to take back.

    Its canonical point is worked out when somebody asks for it: of a list of steps most are never looked at.
    """

    __slots__ = ("_candidate", "_moves", "_position", "_slot", "_slots", "_space", "left")

    def __init__(self, *, position: Position, candidate: Candidate, left: tuple[tuple[int, int], ...] = ()) -> None:
        self.left = left
        self._position = position
        self._candidate: Candidate | None = candidate
        self._space: Space | None = None
        self._slots: tuple[int, ...] | None = None
        self._slot = -1
        self._moves: Moves | None = None

    @classmethod
    def unseen(
        cls, space: Space, origin: Position, slots: tuple[int, ...], left: tuple[tuple[int, int], ...]
    ) -> "Step":
        """Return the step from ``origin`` to other slots, which the space holds."""
        step = cls.__new__(cls)
        step.left, step._space, step._position, step._candidate = left, space, origin, None
        step._slots, step._moves = slots, None
        return step

    @classmethod
    def unseen_move(cls, moves: "Moves", actor: int, slot: int) -> "Step":
        """Return the step that puts one actor elsewhere, to slots which the space holds."""
        step = cls.__new__(cls)
        origin = moves.position
        step.left, step._space, step._position = ((actor, origin.slots[actor]),), moves.space, origin
        step._candidate, step._slots, step._slot, step._moves = None, None, slot, moves
        return step

    @property
    def position(self) -> Position:
        """The neighbour in raw slots."""
        if self._candidate is None:
            self._look()
        return self._position

    @property
    def candidate(self) -> Candidate:
        """The canonical neighbour: what is evaluated."""
        return self._candidate or self._look()

    def _look(self) -> Candidate:
        assert self._space is not None, "a step is made of a point, or of slots that the space holds"
        space, origin, slots = self._space, self._position, self._slots
        if slots is None:
            actor = self.left[0][0]
            slots = (*origin.slots[:actor], self._slot, *origin.slots[actor + 1 :])
        position = Position(slots=slots, policy=origin.policy, capacity=origin.capacity, clocks=origin.clocks)
        known = None if self._moves is None else self._moves.renumbered(self.left[0][0], self._slot)
        candidate = candidate_of(space, position) if known is None else known
        assert candidate is not None, "the space was asked whether it holds the slots"
        self._position, self._candidate = _kept(space, position, candidate), candidate
        return candidate


def position_of(candidate: Candidate) -> Position:
    """Return a canonical candidate as a position."""
    return Position(
        slots=candidate.assignment, policy=candidate.policy, capacity=candidate.capacity, clocks=candidate.clocks
    )


def candidate_of(space: Space, position: Position) -> Candidate | None:
    """Return the canonical candidate of a position, None when the space does not hold it."""
    return space.candidate(position.slots, policy=position.policy, capacity=position.capacity, clocks=position.clocks)


def random_candidate(context: SearchContext) -> Candidate:
    """Return a point drawn uniformly from the whole space."""
    options, rng = context.space.options, context.rng
    assignment = context.space.random_assignment(rng)
    return Candidate(
        assignment=assignment,
        clocks=context.space.random_clocks(assignment, rng),
        policy=int(rng.integers(len(options.policies))),
        capacity=int(rng.integers(len(options.capacities))),
    )


CLOCKINGS = 64
"""Where a mapping has more choices of clocks, only the same level in all domains is taken of each."""


def settings_of(space: Space, candidates: list[Candidate]) -> list[Candidate]:
    """Return each mapping with every policy, every capacity vector and, unless they are too many, every clock."""
    return [setting for candidate in candidates for setting in _settings(space, candidate)]


def _settings(space: Space, candidate: Candidate) -> Iterator[Candidate]:
    used = {space.unit_of_slot[slot] for slot in candidate.assignment}
    if space.clocks.count(used) <= CLOCKINGS:
        yield from space.settings(candidate.assignment)
        return
    domains = [len(space.clocks.domains[d].clocks_mhz) for d in space.clocks.used(used)]
    for level in range(max(domains)):
        at_level = dict(zip(space.clocks.used(used), (min(level, n - 1) for n in domains), strict=True))
        for policy in range(len(space.options.policies)):
            for capacity in range(len(space.options.capacities)):
                yield Candidate(
                    assignment=candidate.assignment,
                    policy=policy,
                    capacity=capacity,
                    clocks=space.clocks.of_levels(at_level),
                )


def targets(space: Space, slots: tuple[int, ...], actor: int) -> Iterator[int]:
    """Yield the slots that an actor may move to: the used ones and the first unused one of each unit."""
    own = slots[actor]
    return (slot for slot in _reachable(space, set(slots), space.allowed[actor]) if slot != own)


def reachable_slots(space: Space, slots: tuple[int, ...]) -> dict[tuple[int, ...], list[int]]:
    """Return for the allowed units of any actor the slots that it may move to: ``targets``, and its own slot."""
    used = set(slots)
    return {units: list(_reachable(space, used, units)) for units in dict.fromkeys(space.allowed)}


def _reachable(space: Space, used: set[int], units: tuple[int, ...]) -> Iterator[int]:
    for unit in units:
        opened = False
        for slot in space.slots_of_unit(unit):
            if slot in used:
                yield slot
            elif not opened:
                opened = True
                yield slot


class Moves:
    """The moves of one actor from a position. To ask for many costs less than to ask ``moved`` for each."""

    def __init__(self, space: Space, position: Position) -> None:
        self.space = space
        self.position = position
        self._canonical: _Canonical | None = None
        """None: not yet looked at."""
        self._sizes = Counter(position.slots)
        self._sound = not space.crowdable and space.holds(position.slots)
        """Whether the space holds the position, so that a move asks for no more than is said of the one actor."""

    def to(self, actor: int, slot: int) -> Step | None:
        """Return what ``moved`` returns."""
        if not self._sound:
            return moved(self.space, self.position, actor, slot)
        return Step.unseen_move(self, actor, slot) if self.has(actor, slot) else None

    def has(self, actor: int, slot: int) -> bool:
        """Return whether there is such a move; costs less than to make it."""
        space, position = self.space, self.position
        if not self._sound:
            return moved(space, position, actor, slot) is not None
        own = position.slots[actor]
        if slot == own or space.unit_of_slot[slot] not in space.allowed[actor]:
            return False
        used = len(self._sizes) + (slot not in self._sizes) - (self._sizes[own] == 1)
        return space.least <= used <= space.most

    def renumbered(self, actor: int, slot: int) -> Candidate | None:
        """Return the canonical point that a move leads to, None where only ``candidate_of`` knows.

        Slots are numbered in the order of their first actors: where no first actor is another one behind the move, all
        keep their numbers, and behind a new slot of a unit that is in use all that follow in it have the next one. So
        it is for most moves among many actors.
        """
        if self._canonical is None:
            self._canonical = _Canonical.of(self.space, self.position)
        here = self._canonical
        own = self.position.slots[actor]
        if here.candidate is None or here.first[own] == actor:
            return None
        found = here.reached(self.space, slot, actor)
        if found is None:
            return None
        number, slots = found
        return Candidate(
            assignment=(*slots[:actor], number, *slots[actor + 1 :]),
            policy=here.candidate.policy,
            capacity=here.candidate.capacity,
            clocks=here.candidate.clocks,
        )


@dataclass(frozen=True, slots=True)
class _Canonical:
    """The canonical point of a position; None where identical actors are exchanged, too."""

    candidate: Candidate | None
    first: dict[int, int]
    """The first actor of each used slot of the position."""
    of_unit: dict[int, list[int]]
    """Of each used unit the first actors, ascending."""
    opened: dict[tuple[int, int], Assignment] = field(default_factory=dict)
    """The numbers of the slots where another one has come before some of a unit: by its number and their number."""

    @classmethod
    def of(cls, space: Space, position: Position) -> "_Canonical":
        candidate = None if space.symmetry is not None else candidate_of(space, position)
        first: dict[int, int] = {}
        of_unit: dict[int, list[int]] = {}
        if candidate is not None:
            for actor, slot in enumerate(position.slots):
                if slot not in first:
                    first[slot] = actor
                    of_unit.setdefault(space.unit_of_slot[slot], []).append(actor)
        return cls(candidate, first, of_unit)

    def reached(self, space: Space, slot: int, actor: int) -> tuple[int, Assignment] | None:
        """Return the canonical number of the slot that an actor moves to, and those of all actors but this one.

        None where others may change theirs in another way.
        """
        assert self.candidate is not None, "the position has a canonical point"
        numbers, first = self.candidate.assignment, self.first.get(slot)
        if first is not None:
            return (numbers[first], numbers) if first < actor else None
        unit = space.unit_of_slot[slot]
        firsts = self.of_unit.get(unit, [])
        before = bisect.bisect_left(firsts, actor)
        alone = not space.clocks.domains and space.alike.count(space.alike[unit]) == 1
        if not firsts:
            return (space.slots_of_unit(unit).start, numbers) if alone else None
        if before == 0 and not alone:  # of identical units the order may be another one, too
            return None
        number, behind = numbers[firsts[0]] + before, len(firsts) - before
        return number, self._shifted(number, behind) if behind else numbers

    def _shifted(self, number: int, behind: int) -> Assignment:
        """Return the numbers of the slots, so many from one on with the next one each."""
        assert self.candidate is not None, "the position has a canonical point"
        if (number, behind) not in self.opened:
            end = number + behind
            slots = [slot + 1 if number <= slot < end else slot for slot in self.candidate.assignment]
            self.opened[number, behind] = tuple(slots)
        return self.opened[number, behind]


def moved(space: Space, position: Position, actor: int, slot: int) -> Step | None:
    """Return the step that puts one actor elsewhere, None when the space does not hold the result."""
    old = position.slots[actor]
    if slot == old:
        return None
    slots = (*position.slots[:actor], slot, *position.slots[actor + 1 :])
    return Step.unseen(space, position, slots, ((actor, old),)) if space.holds(slots) else None


def swapped(space: Space, position: Position, a: int, b: int) -> Step | None:
    """Return the step that exchanges the slots of two actors, None when the space does not hold the result."""
    if position.slots[a] == position.slots[b]:
        return None
    changed = list(position.slots)
    changed[a], changed[b] = changed[b], changed[a]
    slots = tuple(changed)
    left = ((a, position.slots[a]), (b, position.slots[b]))
    return Step.unseen(space, position, slots, left) if space.holds(slots) else None


def gathered(space: Space, position: Position, actors: Sequence[int], slot: int) -> Step | None:
    """Return the step that puts some actors on one slot, None when they are there or the space does not hold it."""
    changed = list(position.slots)
    for actor in actors:
        changed[actor] = slot
    return replaced(space, position, tuple(changed))


def replaced(space: Space, position: Position, slots: tuple[int, ...]) -> Step | None:
    """Return the step to other slots, None when they are the same or the space does not hold them."""
    left = tuple((a, old) for a, (old, new) in enumerate(zip(position.slots, slots, strict=True)) if old != new)
    return Step.unseen(space, position, slots, left) if left and space.holds(slots) else None


def reset(space: Space, position: Position) -> list[Step]:
    """Return the steps to another policy, to other capacities or to another clock of a domain in use."""
    options = space.options
    others = [replace(position, policy=p) for p in range(len(options.policies)) if p != position.policy]
    others += [replace(position, capacity=c) for c in range(len(options.capacities)) if c != position.capacity]
    others += _reclocked(space, position)
    reached = [(other, candidate_of(space, other)) for other in others]
    return [Step(position=_kept(space, p, c), candidate=c) for p, c in reached if c is not None]


def _reclocked(space: Space, position: Position) -> Iterator[Position]:
    levels = space.clocks.levels(position.clocks)
    for domain in space.clocks.used({space.unit_of_slot[slot] for slot in position.slots}):
        for level in range(len(space.clocks.domains[domain].clocks_mhz)):
            if level != levels[domain]:
                yield replace(position, clocks=(*levels[:domain], level, *levels[domain + 1 :]))


def all_moves(space: Space, position: Position) -> list[Step]:
    """Return the steps that put one actor elsewhere."""
    reachable = reachable_slots(space, position.slots)
    moves = Moves(space, position)
    pairs = [(a, slot) for a in range(space.n_actors) for slot in reachable[space.allowed[a]]]
    return [step for a, slot in pairs if (step := moves.to(a, slot)) is not None]


def all_swaps(space: Space, position: Position) -> list[Step]:
    """Return the steps that exchange two actors."""
    pairs = [(a, b) for a in range(space.n_actors) for b in range(a + 1, space.n_actors)]
    return [step for a, b in pairs if (step := swapped(space, position, a, b)) is not None]


def some_swaps(space: Space, position: Position, rng: np.random.Generator, most: int = 2_000) -> list[Step]:
    """Return the steps that exchange two actors; of more than ``most`` pairs of actors so many drawn ones."""
    n = space.n_actors
    if n * (n - 1) // 2 <= most:
        return all_swaps(space, position)
    pairs = {(min(a, b), max(a, b)): None for a, b in rng.integers(n, size=(most, 2)).tolist() if a != b}
    return [step for a, b in pairs if (step := swapped(space, position, a, b)) is not None]


def random_step(space: Space, position: Position, rng: np.random.Generator) -> Step | None:
    """Return a random move of one actor, now and then a swap or another setting; None when the draw fits nowhere."""
    kind = rng.random()
    settings = len(space.options.policies) * len(space.options.capacities)
    if (settings > 1 or space.clocks.domains) and kind < 0.15:
        steps = reset(space, position)
        return steps[int(rng.integers(len(steps)))] if steps else None
    actor = int(rng.integers(space.n_actors))
    if kind > 0.7:
        return swapped(space, position, actor, int(rng.integers(space.n_actors)))
    slots = list(targets(space, position.slots, actor))
    return moved(space, position, actor, slots[int(rng.integers(len(slots)))]) if slots else None


def _kept(space: Space, position: Position, candidate: Candidate) -> Position:
    """Return the position from which to go on: that of the candidate where identical actors were exchanged."""
    if space.symmetry is None:
        return position  # slots and units were renumbered, at most
    renumbered = len(set(zip(position.slots, candidate.assignment, strict=True))) <= len(set(position.slots))
    return position if renumbered else position_of(candidate)
