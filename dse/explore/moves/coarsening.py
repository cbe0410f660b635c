"""Coarser views of a search: groups of actors that move as one, and the context in which methods see them so.

Actors are joined along the buffers with the most tokens for their loads (heavy-edge clustering of Karypis and Kumar,
*A fast and high quality multilevel scheme for partitioning irregular graphs*, 1998), those first that follow each other
directly: joining over a way around would close a cycle (Herrmann et al., *Multilevel algorithms for acyclic
partitioning of directed acyclic graphs*, 2019). Groups stand in the order of their first actors, so that canonical
mappings of groups are canonical mappings of actors.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from dse.explore.method import SearchContext, Traffic
from dse.explore.moves.construction import cheapest_load, groups_of, pipeline_order
from dse.explore.space.placement import EdgeCosts
from dse.explore.space.space import Candidate, Space
from dse.model.design_point import DesignPoint
from dse.model.packed_point import pack_point
from dse.model.study import Evaluation, pack_times, unpack_times

FACTOR = 3
"""Each level has about one group for so many of the level below."""
LEAST_GROUPS = 48
GROUPS_OF_SLOT = 4
"""The coarsest level has at least so many groups for each slot in use, and ``LEAST_GROUPS``."""
ROOM = 1.5
"""A group may be so many times as heavy as all of a level would be if they were equal."""
DETOUR = 0.25
"""What an edge counts that skips a place of the pipeline, beside one that does not."""
DRAWN = 0.5
"""By up to this share what an edge counts is drawn, so that every coarsening joins others."""
LEAST_GAIN = 0.75
"""A level with more groups than this share of the level below is no level."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Level:
    """Groups of actors. ``members``: the actors of each, ascending; ``context``: where each group is one actor."""

    members: tuple[tuple[int, ...], ...]
    context: SearchContext

    def expanded(self, point: DesignPoint) -> DesignPoint:
        """Return the point of the actors for one of the groups."""
        return replace(
            point,
            partitions=tuple(
                replace(part, actors=tuple(sorted(a for group in part.actors for a in self.members[group])))
                for part in point.partitions
            ),
        )

    def assignment(self, candidate: Candidate) -> tuple[int, ...]:
        """Return the slot of each actor for a candidate of the groups."""
        return _of_actors(self.members, candidate.assignment)

    def grouped(self, evaluation: Evaluation, point: DesignPoint) -> Evaluation:
        """Return the evaluation of an expanded point as one of ``point``; a group waits as long as all its actors."""
        accounts, waiting = unpack_times(evaluation.times)
        waits = [sum(waiting[a] for a in group) for group in self.members] if waiting else []
        return replace(evaluation, packed=pack_point(point), times=pack_times(accounts, waits))


class Coarsening:
    """Makes levels above the actors of a search, again and again; what no mapping changes is looked at once."""

    def __init__(self, context: SearchContext) -> None:
        self._context = context
        self._place = _places(context)
        self._loads = [cheapest_load(context, actor) for actor in range(context.space.n_actors)]

    def levels(self, slots: Sequence[int]) -> list[Level]:
        """Return the levels above the actors, the coarsest first; each group lies on one of the ``slots`` of a mapping.

        There is none where there are too few actors, or identical ones: mappings that differ by an exchange of
        identical actors are one point, and their groups would not be theirs.
        """
        space, found = self._context.space, list[Level]()
        least = max(LEAST_GROUPS, GROUPS_OF_SLOT * min(space.most, len(space.unit_of_slot)))
        if space.symmetry is not None:
            return []
        labels = list(range(space.n_actors))
        count = space.n_actors
        while (target := count // FACTOR) >= least:
            labels = self._joined(labels, target, slots)
            groups = groups_of(labels)
            if len(groups) > LEAST_GAIN * count:
                break
            count = len(groups)
            found.insert(0, Level(members=tuple(map(tuple, groups)), context=grouped_context(self._context, groups)))
        return found

    def _joined(self, labels: Sequence[int], target: int, slots: Sequence[int]) -> list[int]:
        """Return the groups joined until they are ``target``, or none fits another: a label for each actor."""
        allowed = self._context.space.allowed
        loads, count = [0] * len(labels), len(set(labels))
        for load, label in zip(self._loads, labels, strict=True):
            loads[label] += load
        most = max(max(loads, default=0), int(ROOM * sum(loads) / target))
        above = list(range(len(labels)))

        def group(label: int) -> int:
            while above[label] != label:
                above[label] = label = above[above[label]]
            return label

        for source, target_of in _heaviest_first(self._context, labels, loads, self._place):
            a, b = sorted((group(source), group(target_of)))
            fits = a != b and slots[a] == slots[b] and allowed[a] == allowed[b]
            if fits and count > target and loads[a] + loads[b] <= most:
                above[b] = a
                loads[a] += loads[b]
                count -= 1
        return [group(label) for label in labels]


def _heaviest_first(
    context: SearchContext, labels: Sequence[int], loads: Sequence[int], place: Sequence[int]
) -> list[tuple[int, int]]:
    """Return the pairs of groups that exchange tokens, those with the most for their loads first."""
    rating: dict[tuple[int, int], float] = {}
    for edge in context.traffic:
        a, b = labels[edge.source], labels[edge.target]
        if a != b:
            near = 1.0 if place[edge.target] - place[edge.source] == 1 else DETOUR
            pair = min(a, b), max(a, b)
            rating[pair] = rating.get(pair, 0.0) + near * edge.tokens / (1 + loads[a]) / (1 + loads[b])
    drawn = dict(zip(rating, context.rng.uniform(1 - DRAWN, 1, len(rating)).tolist(), strict=True))
    return sorted(rating, key=lambda pair: (-rating[pair] * drawn[pair], pair))


def _places(context: SearchContext) -> list[int]:
    """Return for each actor how many others stand before it on the longest way; a cycle is cut as in pipelines."""
    order = pipeline_order(context)
    position = {actor: index for index, actor in enumerate(order)}
    place = [0] * len(order)
    for edge in sorted(context.traffic, key=lambda edge: position[edge.source]):
        if position[edge.source] < position[edge.target]:
            place[edge.target] = max(place[edge.target], place[edge.source] + 1)
    return place


def grouped_context(context: SearchContext, groups: Sequence[Sequence[int]]) -> SearchContext:
    """Return the context in which each group is one actor; what its actors exchange is part of its load."""
    space = context.space
    label = {actor: number for number, group in enumerate(groups) for actor in group}
    loads, edges = _costs(context, groups, label)
    coarse = Space(
        units=space.units,
        allowed=tuple(space.allowed[group[0]] for group in groups),
        least=space.least,
        most=space.most,
        options=space.options,
        alike=space.alike,
    )
    members = tuple(map(tuple, groups))

    def bounds(candidates: Sequence[Candidate]) -> list[int]:
        return context.bounds([replace(c, assignment=_of_actors(members, c.assignment)) for c in candidates])

    return replace(
        context,
        space=coarse,
        loads=loads,
        traffic=_traffic(context, label),
        bounds=bounds,
        placement=replace(context.placement, edges=edges, spans=None),
        start=(),
        begun=False,
    )


def _costs(
    context: SearchContext, groups: Sequence[Sequence[int]], label: dict[int, int]
) -> tuple[tuple[tuple[int, ...], ...], tuple[EdgeCosts, ...]]:
    """Return the loads of the groups, with what their own buffers cost, and the costs of the others."""
    units = range(len(context.space.units))
    loads = [[sum(context.loads[a][u] for a in group) for u in units] for group in groups]
    apart = dict[tuple[int, int], EdgeCosts]()
    for edge in context.placement.edges:
        a, b = label[edge.source], label[edge.target]
        if a == b:
            loads[a] = [load + w + r for load, w, r in zip(loads[a], edge.write_same, edge.read_same, strict=True)]
        else:
            own = replace(edge, source=a, target=b)
            apart[a, b] = _added(apart[a, b], own) if (a, b) in apart else own
    return tuple(map(tuple, loads)), tuple(apart.values())


def _traffic(context: SearchContext, label: dict[int, int]) -> tuple[Traffic, ...]:
    """Return the tokens between the groups."""
    tokens: dict[tuple[int, int], int] = {}
    for edge in context.traffic:
        pair = label[edge.source], label[edge.target]
        if pair[0] != pair[1]:
            tokens[pair] = tokens.get(pair, 0) + edge.tokens
    return tuple(Traffic(source=a, target=b, tokens=n, port=k) for k, ((a, b), n) in enumerate(tokens.items()))


def _added(one: EdgeCosts, other: EdgeCosts) -> EdgeCosts:
    """Return the costs of two buffers between the same groups."""

    def rows(a: tuple[tuple[int, ...], ...], b: tuple[tuple[int, ...], ...]) -> tuple[tuple[int, ...], ...]:
        return tuple(tuple(x + y for x, y in zip(*pair, strict=True)) for pair in zip(a, b, strict=True))

    return replace(
        one,
        write_same=tuple(x + y for x, y in zip(one.write_same, other.write_same, strict=True)),
        read_same=tuple(x + y for x, y in zip(one.read_same, other.read_same, strict=True)),
        write_apart=rows(one.write_apart, other.write_apart),
        read_apart=rows(one.read_apart, other.read_apart),
    )


def _of_actors(members: Sequence[Sequence[int]], slots: Sequence[int]) -> tuple[int, ...]:
    """Return the slot of each actor for the slots of the groups."""
    found = [0] * sum(map(len, members))
    for group, slot in zip(members, slots, strict=True):
        for actor in group:
            found[actor] = slot
    return tuple(found)


def settled(members: Sequence[Sequence[int]], slots: Sequence[int]) -> tuple[int, ...]:
    """Return the slot of each group for the slots of the actors, which are one in each group."""
    return tuple(slots[group[0]] for group in members)
