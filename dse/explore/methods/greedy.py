"""Greedy construction: a few mappings built from loads and traffic alone, one set for each number of partitions.

Three rules, all classic: longest processing time first on the least loaded slot (Graham 1969); contiguous chunks of the
pipeline with balanced loads; clusters along the heaviest FIFOs, packed as in the first rule.
"""

from collections.abc import Iterator, Sequence

from dse.explore.method import SearchContext
from dse.explore.space import Candidate, Space
from dse.model.design_point import DesignPoint
from dse.model.study import Evaluation

PARTITION_COUNTS = 12
"""At most this many numbers of partitions are tried, spread over the range."""


class Greedy:
    """Asks for the constructed mappings, with every policy and capacity vector, and is done."""

    def __init__(self, context: SearchContext) -> None:
        self._space = context.space
        self._waiting = [
            Candidate(assignment=candidate.assignment, policy=policy, capacity=capacity)
            for candidate in constructed(context)
            for policy in range(len(context.space.options.policies))
            for capacity in range(len(context.space.options.capacities))
        ]

    @property
    def done(self) -> bool:
        """Whether all constructed mappings were asked for."""
        return not self._waiting

    @property
    def pruned(self) -> int:
        """Greedy construction excludes nothing."""
        return 0

    def ask(self, n: int) -> Sequence[DesignPoint]:
        """Return the next constructed mappings."""
        asked, self._waiting = self._waiting[:n], self._waiting[n:]
        return [self._space.to_point(candidate) for candidate in asked]

    def tell(self, results: Sequence[Evaluation]) -> None:
        """Nothing to learn."""


def constructed(context: SearchContext) -> list[Candidate]:
    """Return the constructed mappings, distinct, in a fixed order; never empty."""
    found: dict[Candidate, None] = {}
    for slots in _slot_choices(context.space):
        for groups in (
            [[a] for a in range(context.space.n_actors)],
            _chunks(context, len(slots)),
            _clusters(context, len(slots)),
        ):
            assignment = context.space.canonical(_packed(context, groups, slots))
            if assignment is not None:
                found[Candidate(assignment=assignment)] = None
    if not found:  # pins and bounds on the number of partitions can refuse all of them
        found[Candidate(assignment=next(context.space.assignments()))] = None
    return list(found)


def _slot_choices(space: Space) -> Iterator[list[int]]:
    """Yield the slots to use: for each number of partitions the first cores, without and with the other units.

    A unit that some actor is pinned to must be there, so combinations that fit nobody fall out later.
    """
    counts = range(space.least, min(space.most, space.n_actors) + 1)
    step = max(1, -(-len(counts) // PARTITION_COUNTS))
    by_unit = [list(space.slots_of_unit(u)) for u in range(len(space.units))]
    widest = max(range(len(by_unit)), key=lambda u: len(by_unit[u]))
    others = [slots[0] for u, slots in enumerate(by_unit) if u != widest]
    for count in sorted({*counts[::step], *counts[-1:]}):
        for extra in range(len(others) + 1):
            if 0 <= count - extra <= len(by_unit[widest]):
                yield [*by_unit[widest][: count - extra], *others[:extra]]


def _packed(context: SearchContext, groups: list[list[int]], slots: list[int]) -> tuple[int, ...]:
    """Return slots for all actors: the heaviest group first, each on the slot that it then loads the least.

    An actor that may not run on its group's slot takes the best of the slots that it may run on.
    """
    space = context.space
    filled = dict.fromkeys(slots, 0)
    placed = [-1] * space.n_actors

    def load(group: list[int], slot: int) -> int:
        return sum(context.loads[a][space.unit_of_slot[slot]] for a in group)

    def place(group: list[int]) -> None:
        usable = [s for s in slots if all(space.unit_of_slot[s] in space.allowed[a] for a in group)]
        if not usable and len(group) > 1:
            for actor in group:
                place([actor])
            return
        fallback = [next(iter(space.slots_of_unit(space.allowed[group[0]][0])))]
        best = min(usable or fallback, key=lambda s: (filled.get(s, 0) + load(group, s), s))
        filled[best] = filled.get(best, 0) + load(group, best)
        for actor in group:
            placed[actor] = best

    for group in sorted(groups, key=lambda g: -min(load(g, s) for s in slots)):
        place(group)
    return tuple(placed)


def _cheapest(context: SearchContext, actor: int) -> int:
    return min(context.loads[actor][u] for u in context.space.allowed[actor])


def _chunks(context: SearchContext, count: int) -> list[list[int]]:
    """Return the actors in pipeline order, cut into at most ``count`` runs whose heaviest is as light as it can be."""
    order = _pipeline_order(context)
    loads = [_cheapest(context, a) for a in order]
    low, high = max(loads, default=0), sum(loads)
    while low < high:
        limit = (low + high) // 2
        if len(_runs(order, loads, limit)) <= count:
            high = limit
        else:
            low = limit + 1
    return _runs(order, loads, low)


def _runs(order: list[int], loads: list[int], limit: int) -> list[list[int]]:
    runs: list[list[int]] = [[]]
    filled = 0
    for actor, load in zip(order, loads, strict=True):
        if runs[-1] and filled + load > limit:
            runs.append([])
            filled = 0
        runs[-1].append(actor)
        filled += load
    return runs


def _pipeline_order(context: SearchContext) -> list[int]:
    """Return the actors in topological order; a cycle is cut at its lowest index."""
    waiting = list(range(context.space.n_actors))
    before: list[set[int]] = [set() for _ in waiting]
    for edge in context.traffic:
        if edge.source != edge.target:
            before[edge.target].add(edge.source)
    order: list[int] = []
    placed: set[int] = set()
    while waiting:
        actor = next((a for a in waiting if before[a] <= placed), waiting[0])
        waiting.remove(actor)
        placed.add(actor)
        order.append(actor)
    return order


def _clusters(context: SearchContext, count: int) -> list[list[int]]:
    """Return clusters of actors joined along the heaviest FIFOs while none outweighs a fair share of the load."""
    n = context.space.n_actors
    cluster_of = list(range(n))
    loads = [_cheapest(context, a) for a in range(n)]
    share = max(max(loads, default=0), -(-sum(loads) * 11 // (10 * count)))  # a fair share and a tenth
    clusters = n
    for edge in sorted(context.traffic, key=lambda t: -t.tokens):
        a, b = cluster_of[edge.source], cluster_of[edge.target]
        if a == b or clusters <= count or loads[a] + loads[b] > share:
            continue
        loads[a] += loads[b]
        cluster_of = [a if c == b else c for c in cluster_of]
        clusters -= 1
    return [[i for i, c in enumerate(cluster_of) if c == k] for k in dict.fromkeys(cluster_of)]
