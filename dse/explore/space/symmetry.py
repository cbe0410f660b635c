"""Identical actors: exchanges of actors, or of whole groups of actors, that no rule of the estimation can tell.

An *exchange* is a permutation of the actors that swaps groups of equal size and leaves the others where they are. A
point P and its image (every actor takes the place of its image) have the same makespan, and accounts that differ by
the exchange, under the conditions below. What can tell two actors apart are their firings and costs, and the declared
order in which ``dse.estimate.semantics`` breaks ties. Taken one by one:

1. *Firings, costs, choice.* An exchanged actor has equal actions, firings, ticks in every row of the tables (units,
   clocks, blocks, pairs), recorded accesses and allowed units. A buffer goes to a buffer between the images of its
   ends with equal rates and ticks for every fired action, in every row, equal token size, initial tokens, capacities
   in every vector of the space; buffers of one port go to buffers of one port.
2. *Order of reads.* Invisible: input tokens leave together when all reads are done, whose time is the sum, or the
   longest, of the reads.
3. *Order of writes*, ``sequential`` mode. A delivery waits for the costing writes before it, so a buffer has to keep
   the number of costing writes before it in every fired action (part of its label here). Then each buffer is
   delivered at the offset of its image. Two workers fed by one firing are therefore exchangeable only if these writes
   cost nothing (tests/unit/explore/test_identical_actors.py is the counterexample); in ``parallel`` mode always.
4. *Order in a partition.* Policies search places in declared order, from the first. The image of a partition has to
   keep its order: two actors of one partition in the same order as their images. This depends on the point; it is
   checked for each. Under FULL_PARALLEL alone every ready actor starts, and the order is invisible. More than one end
   in one instant on one core, where the order of actors would decide what ended last, is impossible.
5. *Order of partitions.* Visible only to grants of shared links: phases ENDS and STARTS touch one partition at a time
   and TRANSFERS depend on no order. Where a shared link could carry anything, nothing is merged.
6. *Order of buffers*, DATA_DEMAND_DRIVEN: successors and predecessors join the queue in buffer order. If the other
   ends of an actor's outputs (inputs) stand in declared order, the queue order is the order in the partition, see 4.
   Otherwise the rank of a buffer among them is part of its label.
7. *Lowest crossing buffer of a port*: decides the link of the port's other host buffers. Where there are more than
   two units, one of them a GPU, the rank of a buffer in its port is part of its label.

Only three results see more: an actor blocked on several buffers is charged to the first that lacks, so which of them a
blocking is counted for may differ (never its length); the remedy of a deadlock raises the first buffer; and of equal
links that are not shared the one that a ``dynamic_network`` counts a buffer on where it crosses nothing may differ.

Conditions 1-3 and 5-7 hold for products of exchanges, and 4 does along a path of exchanges from point to point and
back, so equivalence is an equivalence. Actors with the same neighbours between which no other can stand in a
partition (*alike*) may be sorted freely; other exchanges are tried one by one (*exchanges*).
"""

import itertools
import math
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from hashlib import blake2b
from typing import TypeAlias

import numpy as np

from dse.estimate.problem.prices import PriceClass
from dse.estimate.problem.tables import ProblemTables, TransferTable
from dse.model.design_point import Policy, TransferMode
from dse.model.platform import Platform
from dse.model.trace import TraceBuffer

Permutation: TypeAlias = tuple[int, ...]
"""The image of each actor."""
Group: TypeAlias = tuple[int, ...]
"""Actors that are exchanged together; the i-th of one group takes the place of the i-th of another."""
CPU_PRICES = (PriceClass.LOCAL, PriceClass.CPU_CPU)
"""The prices of transfers where no actor can be on a GPU."""
MOST_EXCHANGES = 24
"""Exchanges that are tried at once: all products of up to so many; beyond, one family of groups after the other."""
MOST_TRIED = 96
"""Exchanges that are tried at all; families beyond are left alone."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ActorSymmetry:
    """What of a problem may be exchanged. ``rounds``: exchanges other than those of ``alike``, tried round by round.

    ``ordered``: whether the order of a partition counts (condition 4).
    """

    n_actors: int
    alike: tuple[tuple[int, ...], ...]
    """Classes of actors that may be permuted at will, each ascending."""
    families: tuple[tuple[Group, ...], ...]
    """Families of groups; any two groups of one may be exchanged where condition 4 holds."""
    rounds: tuple[tuple[Permutation, ...], ...]
    ordered: bool

    @property
    def order(self) -> tuple[int, ...]:
        """All actors, those that have nothing alike first, then class by class."""
        moved = [a for members in self.alike for a in members]
        return (*(a for a in range(self.n_actors) if a not in set(moved)), *moved)


@dataclass(frozen=True, slots=True, kw_only=True)
class Freedom:
    """What the space leaves to choose, as far as it can tell actors apart."""

    platform: Platform
    allowed: tuple[tuple[int, ...], ...]
    """For each actor the units of the space it may run on."""
    kinds: tuple[str, ...]
    """The kind of each unit of the space."""
    policies: tuple[Policy, ...]
    capacities: tuple[tuple[int, ...], ...]
    transfers: TransferMode

    @property
    def reaches_gpu(self) -> bool:
        """Whether some buffer could be priced otherwise than as one of the CPU."""
        mixed = len({unit.kind for unit in self.platform.units}) > 1
        anywhere = any(self.kinds[u] == "gpu" for units in self.allowed for u in units)
        return anywhere or (mixed and self.platform.dynamic_network)

    @property
    def order_decides_link(self) -> bool:
        """Whether the first crossing buffer of a port may decide between several links (condition 7)."""
        return self.reaches_gpu and len(self.platform.units) > 2


def find_symmetry(tables: ProblemTables, freedom: Freedom) -> ActorSymmetry | None:
    """Return the exchanges that the conditions of this module allow, or None where there are none.

    Time: linear in the trace (one hash of the firings), and a few passes over the network for the rest.
    """
    if freedom.reaches_gpu and any(link.shared for link in freedom.platform.links):
        return None
    labels = _numbered([_actor_label(tables, freedom, a) for a in range(len(tables.topology.actors))])
    if len(set(labels)) == len(labels):
        return None
    graph = _Graph(tables, freedom, labels)
    if len(set(graph.colours)) == len(graph.colours):
        return None
    ordered = any(policy != "FULL_PARALLEL" for policy in freedom.policies)
    alike, families = _sorted_out(graph.twins(), freedom, ordered=ordered)
    families += graph.families()
    if not alike and not families:
        return None
    return ActorSymmetry(
        n_actors=len(graph.colours),
        alike=tuple(alike),
        families=tuple(families),
        rounds=_rounds(len(graph.colours), families),
        ordered=ordered,
    )


def _runs(twins: tuple[int, ...], allowed: tuple[tuple[int, ...], ...]) -> list[tuple[int, ...]]:
    """Return twins cut where another actor, one that can share a partition with them, stands between two."""
    runs = [[twins[0]]]
    for before, actor in itertools.pairwise(twins):
        between = range(before + 1, actor)
        if any(set(allowed[other]) & set(allowed[actor]) for other in between):
            runs.append([])
        runs[-1].append(actor)
    return [tuple(run) for run in runs]


def _sorted_out(
    all_twins: Iterable[tuple[int, ...]], freedom: Freedom, *, ordered: bool
) -> tuple[list[tuple[int, ...]], list[tuple[Group, ...]]]:
    """Return of sets of twins the classes of alike actors, and the families of those that exchanges have to try."""
    alike: list[tuple[int, ...]] = []
    families: list[tuple[Group, ...]] = []
    for twins in all_twins:
        runs = _runs(twins, freedom.allowed) if ordered else [twins]
        if len(runs) > 1 and math.factorial(len(twins)) <= MOST_EXCHANGES:
            families.append(tuple((a,) for a in twins))
        else:
            alike += [run for run in runs if len(run) > 1]
    return alike, families


def _rounds(n_actors: int, families: Sequence[tuple[Group, ...]]) -> tuple[tuple[Permutation, ...], ...]:
    """Return all products of exchanges if they are few, else the exchanges of one family after the other."""
    whole = [_permutations(n_actors, family) for family in families if math.factorial(len(family)) <= MOST_EXCHANGES]
    if len(whole) == len(families) and math.prod(map(len, whole)) <= MOST_EXCHANGES:
        products = (_product(parts) for parts in itertools.product(*whole))
        return (tuple(p for p in products if p != tuple(range(n_actors))),) if families else ()
    return tuple(_family_by_family(n_actors, families))


def _family_by_family(n_actors: int, families: Sequence[tuple[Group, ...]]) -> Iterator[tuple[Permutation, ...]]:
    """Yield the exchanges of up to four groups at a time, until they are too many together."""
    fours = [family[start : start + 4] for family in families for start in range(0, len(family), 4)]
    tried = 0
    for few in fours:
        exchanges = tuple(_permutations(n_actors, few)[1:])
        tried += len(exchanges)
        if tried > MOST_TRIED:
            return
        if exchanges:
            yield exchanges


def _permutations(n_actors: int, family: Sequence[Group]) -> list[Permutation]:
    """Return every permutation of the groups of a family as one of the actors; the identity first."""
    found = []
    for order in itertools.permutations(family):
        image = list(range(n_actors))
        for here, there in zip(family, order, strict=True):
            for a, b in zip(here, there, strict=True):
                image[a] = b
        found.append(tuple(image))
    return found


def _product(parts: Sequence[Permutation]) -> Permutation:
    image = parts[0]
    for part in parts[1:]:
        image = tuple(part[a] for a in image)
    return image


# The labelled network ------------------------------------------------------------------------------------------------


class _Graph:
    """The network with a label for everything that tells actors and buffers apart, but for their order."""

    def __init__(self, tables: ProblemTables, freedom: Freedom, actor_labels: list[int]) -> None:
        self.buffers = tables.topology.buffers
        labels = _numbered(_buffer_labels(tables, freedom))
        self.edges: list[list[tuple[int, int, int]]] = [[] for _ in tables.topology.actors]
        """For each actor (0 out | 1 in, label, other end)."""
        self.between: dict[tuple[int, int, int], list[int]] = defaultdict(list)
        self.of_port: dict[tuple[int, int], list[int]] = defaultdict(list)
        self.label = labels
        self.touching: list[list[int]] = [[] for _ in tables.topology.actors]
        for b, buffer in enumerate(self.buffers):
            self.edges[buffer.source].append((0, labels[b], buffer.target))
            self.edges[buffer.target].append((1, labels[b], buffer.source))
            self.between[buffer.source, buffer.target, labels[b]].append(b)
            self.of_port[buffer.source, buffer.source_port].append(b)
            for end in {buffer.source, buffer.target}:
                self.touching[end].append(b)
        self.colours = self._refined(actor_labels)

    def _refined(self, colours: list[int]) -> list[int]:
        """Return the coarsest colouring in which equal colours have equally coloured neighbours.

        A round looks at the neighbours of those that got another colour in the round before. Of each class that falls
        apart, those who saw no change keep the colour, so that a long pipeline takes time linear in its length.
        """
        now = list(colours)
        members: dict[int, set[int]] = defaultdict(set)
        for a, colour in enumerate(now):
            members[colour].add(a)
        fresh = itertools.count(max(now, default=0) + 1)
        seen = set(range(len(now)))
        while seen:
            changed: set[int] = set()
            for part in self._torn(seen, now, members):
                changed.update(part)
                members[now[part[0]]].difference_update(part)
                new = next(fresh)
                members[new].update(part)
                for a in part:
                    now[a] = new
            seen = {other for a in changed for _, _, other in self.edges[a]}
        return _numbered(now)

    def _torn(self, seen: Iterable[int], colours: list[int], members: dict[int, set[int]]) -> list[list[int]]:
        """Return the parts of classes that get another colour, by the neighbours of the actors ``seen``."""
        parts: dict[tuple[int, tuple[tuple[int, int, int], ...]], list[int]] = defaultdict(list)
        for a in seen:
            around = tuple(sorted((way, label, colours[other]) for way, label, other in self.edges[a]))
            parts[colours[a], around].append(a)
        of_colour: dict[int, list[list[int]]] = defaultdict(list)
        for (colour, _), part in parts.items():
            of_colour[colour].append(part)
        for colour, found in of_colour.items():
            if sum(map(len, found)) == len(members[colour]):  # nobody saw no change: the most keep the colour
                found.remove(max(found, key=len))
        return [part for found in of_colour.values() for part in found]

    def twins(self) -> list[tuple[int, ...]]:
        """Return the classes of actors with equal labels and the very same neighbours."""
        classes: dict[object, list[int]] = defaultdict(list)
        for a, edges in enumerate(self.edges):
            classes[self.colours[a], tuple(sorted(edges))].append(a)
        found = [tuple(members) for members in classes.values() if len(members) > 1]
        return [t for t in found if all(self._holds({a: b, b: a}) for a, b in itertools.pairwise(t))]

    def families(self) -> list[tuple[Group, ...]]:
        """Return chains of groups of which each can be exchanged with the next, one for each set of actors."""
        first_of = {a: twins[0] for twins in self.twins() for a in twins}
        classes: dict[int, list[int]] = defaultdict(list)
        for a, colour in enumerate(self.colours):
            if first_of.get(a, a) == a:
                classes[colour].append(a)
        found: dict[frozenset[int], tuple[Group, ...]] = {}
        for members in classes.values():
            for chain in self._chains(members):
                _keep(found, chain)
        return list(found.values())

    def _chains(self, members: Sequence[int]) -> Iterator[list[Group]]:
        """Yield the chains of groups that exchanges of each actor of a class with the next one give."""
        chain: list[Group] = []
        for a, b in itertools.pairwise(members):
            group = self._exchange(a, b)
            if chain and (group is None or set(chain[-1]) != set(group)):
                yield chain
                chain = []
            if group is not None:
                chain = chain or [tuple(group)]
                chain.append(tuple(group[x] for x in chain[-1]))
        yield chain

    def _exchange(self, a: int, b: int) -> dict[int, int] | None:
        """Return the smallest exchange that swaps two actors, by following what their neighbours need; or None.

        It is given as one of its groups, ascending, each actor with the one it is exchanged with.
        """
        followed = self._followed(a, b)
        if followed is None:
            return None
        as_found = dict(sorted(followed.items()))
        in_order = dict(zip(as_found, sorted(as_found.values()), strict=True))
        return next((g for g in (in_order, as_found) if self._holds(g | {y: x for x, y in g.items()})), None)

    def _followed(self, a: int, b: int) -> dict[int, int] | None:
        """Return the actors that change their places with others when ``a`` does with ``b``; None where they cannot."""
        image = {a: b, b: a}
        group = {a: b}
        waiting = [(a, b)]
        while waiting:
            here, there = waiting.pop()
            pairs = self._forced(here, there, image)
            if pairs is None:
                return None
            for x, y in pairs:
                if image.get(x, y) != y or image.get(y, x) != x:
                    return None
                if x not in image:
                    image[x], image[y] = y, x
                    group[x] = y
                    waiting.append((x, y))
        return group

    def _forced(self, here: int, there: int, image: dict[int, int]) -> list[tuple[int, int]] | None:
        """Return pairs of neighbours that have to be swapped when two actors are; None if they do not match."""
        left, right = list(self.edges[here]), list(self.edges[there])
        for way, label, other in self.edges[here]:
            same = (way, label, image.get(other, other))
            if same in right and (other in image or same[2] == other):
                left.remove((way, label, other))
                right.remove(same)
        by_kind: dict[tuple[int, int, int], tuple[list[int], list[int]]] = defaultdict(lambda: ([], []))
        for side, edges in enumerate((left, right)):
            for way, label, other in edges:
                by_kind[way, label, self.colours[other]][side].append(other)
        pairs: list[tuple[int, int]] = []
        for mine, theirs in by_kind.values():
            if len(mine) != len(theirs):
                return None
            pairs += zip(sorted(mine), sorted(theirs), strict=True)
        return pairs

    def _holds(self, image: dict[int, int]) -> bool:
        """Return whether an exchange maps actors on actors of one colour, buffers on buffers, ports on ports."""
        if any(self.colours[a] != self.colours[b] or image[b] != a for a, b in image.items()):
            return False
        touched = sorted({b for a in image for b in self.touching[a]})
        buffer_image = self._buffer_image(image, touched)
        return buffer_image is not None and self._maps_ports(buffer_image, touched)

    def _buffer_image(self, image: dict[int, int], touched: Sequence[int]) -> dict[int, int] | None:
        """Return the image of each buffer that an exchange touches; None where one has none."""
        found: dict[int, int] = {}
        for key in {self._key(self.buffers[b], self.label[b]) for b in touched}:
            source, target, label = key
            there = self.between.get((image.get(source, source), image.get(target, target), label), [])
            if len(there) != len(self.between[key]):
                return None
            found.update(zip(self.between[key], there, strict=True))
        return found

    def _maps_ports(self, buffer_image: dict[int, int], touched: Sequence[int]) -> bool:
        """Return whether the buffers of each port go to all buffers of one port."""
        for port in {(self.buffers[b].source, self.buffers[b].source_port) for b in touched}:
            mine = {buffer_image.get(b, b) for b in self.of_port[port]}
            ports = {(self.buffers[b].source, self.buffers[b].source_port) for b in mine}
            if len(ports) != 1 or len(self.of_port[ports.pop()]) != len(mine):
                return False
        return True

    @staticmethod
    def _key(buffer: TraceBuffer, label: int) -> tuple[int, int, int]:
        return buffer.source, buffer.target, label


def _keep(found: dict[frozenset[int], tuple[Group, ...]], chain: list[Group]) -> None:
    if len(chain) > 1:
        found.setdefault(frozenset(a for group in chain for a in group), tuple(chain))


def _numbered(things: Sequence[object]) -> list[int]:
    """Return for each thing a number that equal things share, in the order of their first appearance."""
    numbers: dict[object, int] = {}
    return [numbers.setdefault(thing, len(numbers)) for thing in things]


# Labels --------------------------------------------------------------------------------------------------------------


def _actor_label(tables: ProblemTables, freedom: Freedom, a: int) -> object:
    """Return everything that tells an actor from another, its buffers aside (condition 1)."""
    actor, trace = tables.topology.actors[a], tables.problem.trace
    start, end = int(tables.action_base[a]), int(tables.action_base[a + 1])
    n = end - start
    pairs = slice(int(tables.pair_base[a]), int(tables.pair_base[a]) + n * n)
    widths, bases = tables.block_width[:, start:end], tables.block_base[:, start:end]
    blocks = tuple(
        tables.block_ticks[base : base + width].tobytes()
        for base, width in zip(bases.ravel().tolist(), widths.ravel().tolist(), strict=True)
    )
    accesses: object = ()
    if trace.accesses:
        accesses = (trace.accesses[a].signatures, _hashed(trace.accesses[a].ids))
    return (
        n,
        _hashed(trace.firings[a]),
        tables.compute[:, start:end].tobytes(),
        widths.tobytes(),
        blocks,
        tables.first_scheduling[:, start:end].tobytes(),
        tables.pair_scheduling[:, pairs].tobytes(),
        freedom.allowed[a],
        freedom.platform.may_use_gpu(actor.name),
        actor.fsm,
        actor.stateless,
        accesses,
    )


def _hashed(values: np.ndarray) -> tuple[int, bytes]:
    return len(values), blake2b(np.ascontiguousarray(values).data).digest()


def _buffer_labels(tables: ProblemTables, freedom: Freedom) -> list[object]:
    """Return everything that tells a buffer from another, its ends aside (conditions 1, 3, 6 and 7)."""
    buffers = tables.topology.buffers
    reads, writes = _entries(tables, tables.reads), _entries(tables, tables.writes)
    before = _costing_before(tables, freedom) if freedom.transfers == "sequential" else {}
    ranks = _queue_ranks(buffers) if "DATA_DEMAND_DRIVEN" in freedom.policies else [()] * len(buffers)
    in_port: dict[tuple[int, int], int] = defaultdict(int)
    by_order = freedom.order_decides_link
    labels: list[object] = []
    for b, buffer in enumerate(buffers):
        port = (buffer.source, buffer.source_port)
        rank = in_port[port] if by_order else 0
        in_port[port] += 1
        known = tuple((r[b], w[b]) for r, w in zip(tables.reads.known, tables.writes.known, strict=True))
        labels.append(
            (
                tuple(reads[b]),
                tuple(writes[b]),
                tuple(before.get(b, ())),
                ranks[b],
                rank,
                known,
                buffer.token_bytes,
                buffer.token_bits,
                buffer.capacity,
                buffer.initial_tokens,
                buffer.source == buffer.target,
                tuple(vector[b] for vector in freedom.capacities),
            )
        )
    return labels


def _entries(tables: ProblemTables, table: TransferTable) -> list[list[object]]:
    """Return for each buffer (action of its actor, tokens, ticks) of every fired action that uses it."""
    found: list[list[object]] = [[] for _ in tables.topology.buffers]
    for a in range(len(tables.topology.actors)):
        start = int(tables.action_base[a])
        for column in range(start, int(tables.action_base[a + 1])):
            if not tables.count[column]:
                continue
            for e in range(int(table.first[column]), int(table.first[column + 1])):
                ticks = table.ticks[:, int(table.cost[e]) : int(table.cost[e]) + int(table.width[e])]
                found[int(table.buffer[e])].append((column - start, int(table.tokens[e]), ticks.tobytes()))
    return found


def _costing_before(tables: ProblemTables, freedom: Freedom) -> dict[int, list[int]]:
    """Return for each buffer, by fired action, how many writes before its own could cost something (condition 3)."""
    table = tables.writes
    rows = slice(None) if freedom.reaches_gpu else list(CPU_PRICES)
    found: dict[int, list[int]] = defaultdict(list)
    for column in np.flatnonzero(tables.count).tolist():
        costing = 0
        for e in range(int(table.first[column]), int(table.first[column + 1])):
            found[int(table.buffer[e])].append(costing)
            costs = table.ticks[rows, int(table.cost[e]) : int(table.cost[e]) + int(table.width[e])]
            costing += int((costs > 0).any())  # an unknown price (-1) is never paid
    return found


def _queue_ranks(buffers: Sequence[TraceBuffer]) -> list[object]:
    """Return for each buffer its rank among the outputs and inputs of its ends, -1 where these are in order."""
    outputs = _ranks_among([(b.source, b.target) for b in buffers])
    inputs = _ranks_among([(b.target, b.source) for b in buffers])
    return list(zip(outputs, inputs, strict=True))


def _ranks_among(ends: Sequence[tuple[int, int]]) -> list[int]:
    """Return the rank of each buffer among those of its actor, -1 where their other ends are in order.

    ``ends``: of each buffer the actor, and the actor at the other end.
    """
    of_actor: dict[int, list[int]] = defaultdict(list)
    for b, (actor, _) in enumerate(ends):
        of_actor[actor].append(b)
    ranks = [-1] * len(ends)
    for mine in of_actor.values():
        others = [ends[b][1] for b in mine]
        if others != sorted(others):
            for rank, b in enumerate(mine):
                ranks[b] = rank
    return ranks
