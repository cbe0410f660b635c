"""Building blocks of the methods that construct a mapping from loads and traffic: orders, groups, packing on slots.

All work in ticks of the whole trace (``SearchContext.loads``) and in tokens (``SearchContext.traffic``).
"""

import bisect
import heapq
import itertools
from collections import Counter
from collections.abc import Callable, Iterator

from dse.explore.method import SearchContext
from dse.explore.space.space import Candidate, Space

PARTITION_COUNTS = 12
"""At most this many numbers of partitions are tried, spread over the range."""


def mappings_of(context: SearchContext, grouped: Callable[[int], list[list[int]]]) -> list[Candidate]:
    """Return distinct mappings, one for each choice of slots, whose groups come from ``grouped(number of slots)``.

    Where pins and limits on the number of partitions refuse all of them, the first mapping of the space.
    """
    found: dict[Candidate, None] = {}
    for slots in slot_choices(context.space):
        assignment = context.space.canonical(packed(context, grouped(len(slots)), slots))
        if assignment is not None:
            found[Candidate(assignment=assignment)] = None
    if not found:
        found[Candidate(assignment=next(context.space.assignments()))] = None
    return list(found)


def slot_choices(space: Space) -> Iterator[list[int]]:
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


def packed(context: SearchContext, groups: list[list[int]], slots: list[int]) -> tuple[int, ...]:
    """Return slots for all actors: the heaviest group first, each on the slot that it then loads the least.

    An actor that may not run on its group's slot takes the best of the slots that it may run on.
    """
    space, unit_of = context.space, context.space.unit_of_slot
    units = list(dict.fromkeys(unit_of[s] for s in slots))
    # of each unit a heap of its slots by what they are loaded with
    filled = {u: sorted((0, s) for s in slots if unit_of[s] == u) for u in units}
    placed = dict.fromkeys(range(space.n_actors), -1)

    def load(group: list[int], unit: int) -> int:
        return sum([context.loads[a][unit] for a in group])

    def place(group: list[int]) -> None:
        fitting = {u: load(group, u) for u in units if all(u in space.allowed[a] for a in group)}
        if fitting:
            _, best, unit = min((filled[u][0][0] + ticks, filled[u][0][1], u) for u, ticks in fitting.items())
            heapq.heapreplace(filled[unit], (filled[unit][0][0] + fitting[unit], best))
            placed.update(dict.fromkeys(group, best))
        elif len(group) > 1:
            for actor in group:
                place([actor])
        else:
            placed[group[0]] = space.slots_of_unit(space.allowed[group[0]][0]).start

    for group in sorted(groups, key=lambda g: -min([load(g, u) for u in units])):
        place(group)
    return tuple(placed.values())


def cheapest_load(context: SearchContext, actor: int) -> int:
    """Return the least load of an actor on the units that it may run on."""
    return min(context.loads[actor][u] for u in context.space.allowed[actor])


def singles(context: SearchContext) -> list[list[int]]:
    """Return each actor as a group of its own."""
    return [[a] for a in range(context.space.n_actors)]


def chunks(context: SearchContext, count: int) -> list[list[int]]:
    """Return the actors in pipeline order, cut into at most ``count`` runs whose heaviest is as light as it can be."""
    order = pipeline_order(context)
    loads = [cheapest_load(context, a) for a in order]
    sums = list(itertools.accumulate(loads))
    low, high = max(loads, default=0), sum(loads)
    while low < high:
        limit = (low + high) // 2
        if len(_ends_of_runs(sums, limit)) <= count:
            high = limit
        else:
            low = limit + 1
    return [order[begin:end] for begin, end in itertools.pairwise([0, *_ends_of_runs(sums, low)])] or [[]]


def _ends_of_runs(sums: list[int], limit: int) -> list[int]:
    """Return where runs end that are as long as their loads allow; ``sums``: of the loads up to each actor, none of
    which is above the limit."""
    ends, before = list[int](), 0
    while not ends or ends[-1] < len(sums):
        ends.append(bisect.bisect_right(sums, before + limit))
        before = sums[ends[-1] - 1] if ends[-1] else 0
    return ends


def pipeline_order(context: SearchContext) -> list[int]:
    """Return the actors in topological order; a cycle is cut at its lowest index."""
    behind = _readers(context)
    missing = Counter(itertools.chain.from_iterable(behind))
    ready = [actor for actor in range(len(behind)) if not missing[actor]]
    rest = iter(range(len(behind)))
    order: dict[int, None] = {}
    while len(order) < len(behind):
        actor = heapq.heappop(ready) if ready else next(a for a in rest if a not in order)
        order[actor] = None
        for target in behind[actor]:
            missing[target] -= 1
            if missing[target] == 0 and target not in order:
                heapq.heappush(ready, target)
    return list(order)


def _readers(context: SearchContext) -> list[list[int]]:
    """Return for each actor the others that read what it writes, each once."""
    found: list[list[int]] = [[] for _ in range(context.space.n_actors)]
    for source, target in dict.fromkeys((edge.source, edge.target) for edge in context.traffic):
        if source != target:
            found[source].append(target)
    return found


def clusters(context: SearchContext, count: int) -> list[list[int]]:
    """Return clusters of actors joined along the heaviest FIFOs while none outweighs a fair share of the load."""
    n = context.space.n_actors
    cluster_of = list(range(n))
    members = [[a] for a in range(n)]
    loads = [cheapest_load(context, a) for a in range(n)]
    share = max(max(loads, default=0), -(-sum(loads) * 11 // (10 * count)))  # a fair share and a tenth
    left = n
    for edge in sorted(context.traffic, key=lambda t: -t.tokens):
        a, b = cluster_of[edge.source], cluster_of[edge.target]
        if a == b or left <= count or loads[a] + loads[b] > share:
            continue
        loads[a] += loads[b]
        for actor in members[b]:
            cluster_of[actor] = a
        members[a] += members[b]
        left -= 1
    return groups_of(cluster_of)


def groups_of(labels: list[int]) -> list[list[int]]:
    """Return the actors of each label, in the order of first appearance."""
    groups: dict[int, list[int]] = {}
    for i, label in enumerate(labels):
        groups.setdefault(label, []).append(i)
    return list(groups.values())


def traffic_between(context: SearchContext) -> dict[tuple[int, int], int]:
    """Return the tokens between each pair of different actors, lower index first, both directions added."""
    found: dict[tuple[int, int], int] = {}
    for edge in context.traffic:
        if edge.source != edge.target:
            pair = (min(edge.source, edge.target), max(edge.source, edge.target))
            found[pair] = found.get(pair, 0) + edge.tokens
    return found


def scaled(weights: list[int], largest: int = 1_000_000) -> list[int]:
    """Return weights as positive integers of at most ``largest``, in about the same proportions.

    Partitioners count in 32 bits and balance badly with weights of nothing.
    """
    most = max(weights, default=0)
    return [max(1, weight * largest // most) if most > largest else max(1, weight) for weight in weights]
