"""List scheduling of a data flow, and the initiation interval of a loop whose rounds overlap.

The least interval is the greater one of what units and ports of memories need, and of what rounds wait for each other
(Rau 1994; Zhong et al., *Lin-analyzer*, DAC 2016). The depth of a pipeline is the length of a list schedule with the
units of that interval, the longest path first.
"""

import functools
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from heapq import heappop, heappush
from math import ceil

from dse.gpu.fpga.dataflow import Dataflow, Operation

Ports = Mapping[str, int]
"""Loads and stores of each kind (``load A``, ``store A``) that may begin in one cycle."""


@dataclass(frozen=True, slots=True)
class Recurrence:
    """Rounds that wait for each other: ``cycles`` from what was read to what is written, ``rounds`` later."""

    cycles: int
    rounds: int


def list_schedule(flow: Dataflow, units: Mapping[str, int]) -> tuple[int, ...]:
    """Return the cycle in which each operation begins. ``units``: how many of each operator may begin in one cycle.

    What takes no time is done in the cycle in which its operands are there; what waits for it may begin in that too.
    """
    found = _Schedule(flow)
    cycle = 0
    while found.waiting:
        cycle = max(cycle, found.waiting[0][0])
        late = found.begin_in(cycle, units)
        cycle += 1
        for k in late:
            heappush(found.waiting, (cycle, k))
    return tuple(found.begins)


class _Schedule:
    """A list schedule that grows. ``waiting``: (cycle from which on it may begin, operation), a heap."""

    def __init__(self, flow: Dataflow) -> None:
        self._operations = flow.operations
        self._urgency = _urgency(flow)
        self._missing = [len(one.before) for one in flow.operations]
        self._followers: list[list[int]] = [[] for _ in flow.operations]
        for k, one in enumerate(flow.operations):
            for before in one.before:
                self._followers[before].append(k)
        self.begins = [0] * len(flow.operations)
        self.waiting = [(0, k) for k, number in enumerate(self._missing) if not number]

    def begin_in(self, cycle: int, units: Mapping[str, int]) -> list[int]:
        """Let operations begin in a cycle; return those that find no unit."""
        begun: dict[str, int] = {}
        late: list[int] = []
        ready = self._ready(cycle)
        while ready:
            k = heappop(ready)[2]
            if _takes(self._operations[k].operator, begun, units):
                self._begin(k, cycle)
            else:
                late.append(k)
            for one in self._ready(cycle):  # what takes no time lets others begin at once
                heappush(ready, one)
        return late

    def _ready(self, cycle: int) -> list[tuple[bool, int, int]]:
        """Return what may begin by a cycle, by urgency; what needs no unit first."""
        found = []
        while self.waiting and self.waiting[0][0] <= cycle:
            k = heappop(self.waiting)[1]
            found.append((self._operations[k].operator is not None, -self._urgency[k], k))
        return sorted(found)

    def _begin(self, k: int, cycle: int) -> None:
        self.begins[k] = cycle
        for after in self._followers[k]:
            self._missing[after] -= 1
            if not self._missing[after]:
                heappush(self.waiting, (self._there(after), after))

    def _there(self, k: int) -> int:
        """Return the cycle in which all that an operation waits for is done."""
        return max(self.begins[b] + self._operations[b].latency_cycles for b in self._operations[k].before)


def _takes(operator: str | None, begun: dict[str, int], units: Mapping[str, int]) -> bool:
    """Return whether a unit is free in a cycle, and take it."""
    if operator is None:
        return True
    if begun.get(operator, 0) >= units[operator]:
        return False
    begun[operator] = begun.get(operator, 0) + 1
    return True


def _urgency(flow: Dataflow) -> list[int]:
    """Return of each operation the cycles from its beginning to the end of all."""
    found = [one.latency_cycles for one in flow.operations]
    for k in reversed(range(len(found))):
        for before in flow.operations[k].before:
            found[before] = max(found[before], flow.operations[before].latency_cycles + found[k])
    return found


@functools.lru_cache(maxsize=1024)  # lanes and tiles are tried with the same data flows
def depth_cycles(flow: Dataflow, interval: int) -> int:
    """Return the cycles from the first operation to the end of the last one, with the units of an interval."""
    begins = list_schedule(flow, units_for(flow, interval))
    return max([1, *(b + one.latency_cycles for b, one in zip(begins, flow.operations, strict=True))])


def units_for(flow: Dataflow, interval: int) -> dict[str, int]:
    """Return how many of each operator a new round in every ``interval`` cycles needs."""
    return {operator: ceil(number / interval) for operator, number in flow.counts().items()}


def ports_interval(flow: Dataflow, ports: Ports) -> int:
    """Return the least interval that the ports of the memories allow."""
    return max((ceil(n / ports[of]) for of, n in flow.counts().items() if of in ports), default=1)


def updating_cycles(flow: Dataflow, arrays: Collection[str]) -> int:
    """Return the cycles from the load to the store of an element of arrays that all threads add to, 0 without them."""
    return max((c for load, _, c in _round_trips(flow) if load.array in arrays), default=0)


def recurrences(flow: Dataflow, variable: str, step: int = 1) -> tuple[Recurrence, ...]:
    """Return how rounds of the loop over ``variable`` wait for each other, through scalars and through arrays.

    ``step``: by how much the variable goes on from round to round.
    """
    found = _through_scalars(flow)
    for load, store, cycles in _round_trips(flow):
        rounds = _rounds_between(store, load, variable, step)
        if rounds is not None:
            found.append(Recurrence(cycles, rounds))
    return tuple(found)


def _round_trips(flow: Dataflow) -> Iterator[tuple[Operation, Operation, int]]:
    """Yield (load, store of the same array that waits for it, cycles from the beginning to the end of both)."""
    stores = [(s, one) for s, one in enumerate(flow.operations) if one.is_store]
    for k, load in enumerate(flow.operations):
        of_it = [(s, one) for s, one in stores if one.array == load.array and not load.is_store]
        reach = _longest(flow, k) if of_it else []
        for s, store in of_it:
            before = reach[s]
            if before is not None:
                yield load, store, before + store.latency_cycles


def recurrence_interval(found: tuple[Recurrence, ...]) -> Fraction:
    """Return the cycles that a round waits for those before it, at least; 0 where it waits for none."""
    return max((Fraction(one.cycles, one.rounds) for one in found), default=Fraction(0))


def _through_scalars(flow: Dataflow) -> list[Recurrence]:
    """Return the recurrences of carried scalars: each scalar's own, and those around several of them (Karp)."""
    names = [name for name, _, _ in flow.carried]
    paths: list[list[int | None]] = []
    for _, source, _ in flow.carried:
        reach = _longest(flow, source)
        paths.append([_end(flow, reach, end) for _, _, end in flow.carried])
    found, power = [], paths
    for rounds in range(1, len(names) + 1):
        found += [Recurrence(c, rounds) for k in range(len(names)) if (c := power[k][k]) is not None]
        power = _product(power, paths)
    return found


def _end(flow: Dataflow, reach: list[int | None], end: int) -> int | None:
    before = reach[end]
    return None if before is None else before + flow.operations[end].latency_cycles


def _product(a: list[list[int | None]], b: list[list[int | None]]) -> list[list[int | None]]:
    """Return the longest paths over one more round."""
    size = range(len(a))
    return [
        [
            max((x + y for k in size if (x := a[i][k]) is not None and (y := b[k][j]) is not None), default=None)
            for j in size
        ]
        for i in size
    ]


def _longest(flow: Dataflow, start: int) -> list[int | None]:
    """Return the longest time from the beginning of an operation to that of each other one, None where no path is."""
    found: list[int | None] = [None] * len(flow.operations)
    found[start] = 0
    for k in range(start + 1, len(flow.operations)):
        times = [
            t + flow.operations[b].latency_cycles for b in flow.operations[k].before if (t := found[b]) is not None
        ]
        found[k] = max(times, default=None)
    return found


def _rounds_between(store: Operation, load: Operation, variable: str, by: int) -> int | None:
    """Return after how many rounds a load reads what was stored; None where it never does; 1 where nobody knows."""
    rounds: set[Fraction] = set()
    for a, b in zip(store.place, load.place, strict=True):
        if a is None or b is None or a.terms != b.terms:
            return 1
        step = by * dict(a.terms).get(variable, 0)
        if step:
            rounds.add(Fraction(a.constant - b.constant, step))
        elif a.constant != b.constant:
            return None
    one = min(rounds, default=Fraction(1))
    return int(one) if len(rounds) < 2 and one >= 1 and one.denominator == 1 else None
