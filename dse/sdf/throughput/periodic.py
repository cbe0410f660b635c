"""The exact least period of an iteration: K-periodic schedules with as few rounds as it takes (K-Iter).

The least period of a K-periodic schedule is never below that of all schedules. It is that of all schedules if for every
actor of a critical cycle K is a multiple of the rounds that the actors of the cycle make among themselves; else K is
raised to such multiples for these actors, and the schedule made again (Bodin, Munier-Kordon and Dupont de Dinechin, DAC
2016). Each strongly connected part has its own least period; the longest one limits the graph, as tokens would pile up
behind it without end.
"""

import math
from dataclasses import dataclass, replace
from fractions import Fraction

from dse.sdf.throughput.constraints import Constraints, constraints
from dse.sdf.throughput.cycle_ratio import RatioSearch
from dse.sdf.throughput.timed_graph import Arc, TimedActor, TimedGraph


@dataclass(frozen=True, slots=True, kw_only=True)
class CycleStep:
    """An actor of a critical cycle, and the arc over which the next one waits for it; None: its own next firing."""

    actor: int
    arc: int | None


@dataclass(frozen=True, slots=True, kw_only=True)
class LeastPeriod:
    """The least ticks of an iteration, and what limits it.

    ``ticks`` None: the graph deadlocks on the cycle. ``cycle`` is empty where nothing limits the graph. ``of_actor``:
    the ticks of an iteration as far as an actor is held up by what comes before it; None in a deadlock.
    ``repeats``: rounds after which the schedule that was proven repeats, by actor. ``schedules``: how many were made.
    """

    ticks: Fraction | None
    cycle: tuple[CycleStep, ...]
    of_actor: tuple[Fraction | None, ...]
    repeats: tuple[int, ...]
    schedules: int


def least_period(graph: TimedGraph) -> LeastPeriod:
    """Return the least period of an iteration over all schedules, exactly.

    Raises:
        OptionError: the schedule that it takes is too large (``constraints``).
    """
    repeats = [1] * len(graph.actors)
    worst: _Part | None = None
    of_part: dict[int, Fraction | None] = {}
    schedules = 0
    for members in _parts(graph):
        part = _solve(graph, members)
        schedules += part.schedules
        for actor, k in zip(members, part.repeats, strict=True):
            repeats[actor] = k
            of_part[actor] = part.ticks
        if worst is None or _longer(part.ticks, worst.ticks):
            worst = part
    assert worst is not None, "a graph has an actor"
    return LeastPeriod(
        ticks=worst.ticks,
        cycle=worst.cycle if worst.ticks is None or worst.ticks > 0 else (),
        of_actor=_held_up(graph, of_part),
        repeats=tuple(repeats),
        schedules=schedules,
    )


@dataclass(frozen=True, slots=True)
class _Part:
    """What is found of a strongly connected part."""

    ticks: Fraction | None
    cycle: tuple[CycleStep, ...]
    repeats: tuple[int, ...]
    schedules: int


def _longer(one: Fraction | None, other: Fraction | None) -> bool:
    """Return whether one period is longer than another; None is for ever."""
    return other is not None and (one is None or one > other)


def _solve(graph: TimedGraph, members: list[int]) -> _Part:
    """Return the least period of a part, in ticks of an iteration of the whole graph."""
    part, arcs = _within(graph, members)
    shared = math.gcd(*(actor.rounds for actor in part.actors))
    part = replace(part, actors=tuple(replace(a, rounds=a.rounds // shared) for a in part.actors))
    repeats, schedules = (1,) * len(members), 0
    if any(arc.initial < 0 for arc in part.arcs) or _may_stand_still(part):
        found = _iterate(part, repeats, unit_ticks=True)
        schedules, repeats = found.schedules, found.repeats
        if found.ticks is None:
            return _Part(None, _outside(found.cycle, members, arcs), repeats, schedules)
    found = _iterate(part, repeats, unit_ticks=False)
    ticks = None if found.ticks is None else found.ticks * shared
    return _Part(ticks, _outside(found.cycle, members, arcs), found.repeats, schedules + found.schedules)


def _may_stand_still(part: TimedGraph) -> bool:
    """Return whether a cycle of the part may take no time, so that its period does not tell whether it is alive."""
    return any(not min(actor.ticks) for actor in part.actors) or not all(arc.at_end for arc in part.arcs)


def _iterate(part: TimedGraph, repeats: tuple[int, ...], *, unit_ticks: bool) -> _Part:
    """Make schedules of more and more rounds until one is proven to be the quickest; with unit ticks, until one is."""
    schedules = 0
    while True:
        schedules += 1
        limits = constraints(part, repeats, unit_ticks)
        search = RatioSearch(limits.graph)
        for improve in (search.nearly, search.exactly):  # most schedules only tell whose rounds to raise
            found = improve()
            cycle = _steps(limits, found.edges)
            raised = _raised(part, repeats, {step.actor for step in cycle})
            if raised != repeats:
                break
        if raised == repeats or (unit_ticks and found.ratio is not None):
            return _Part(found.ratio, cycle, repeats, schedules)
        repeats = raised


def _raised(part: TimedGraph, repeats: tuple[int, ...], on_cycle: set[int]) -> tuple[int, ...]:
    """Return the rounds with which a cycle of these actors is exact."""
    shared = math.gcd(*(part.actors[a].rounds for a in on_cycle))
    return tuple(
        math.lcm(k, actor.rounds // shared) if a in on_cycle else k
        for a, (k, actor) in enumerate(zip(repeats, part.actors, strict=True))
    )


def _steps(limits: Constraints, edges: tuple[int, ...]) -> tuple[CycleStep, ...]:
    """Return the actors and arcs of a cycle, each turn of an actor once, without repetition of the whole."""
    turns: list[CycleStep] = []
    for edge in edges:
        arc = int(limits.arc[edge])
        actor = int(limits.actor[limits.graph.tail[edge]])
        turns.append(CycleStep(actor=actor, arc=None if arc < 0 else arc))
    moved = [turn for turn in turns if turn.arc is not None] or turns[:1]
    lengths = (n for n in range(1, len(moved) + 1) if len(moved) % n == 0)
    once = next(n for n in lengths if moved[:n] * (len(moved) // n) == moved)
    return tuple(moved[:once])


def _outside(cycle: tuple[CycleStep, ...], members: list[int], arcs: list[int]) -> tuple[CycleStep, ...]:
    """Return a cycle of a part in the numbers of the whole graph."""
    return tuple(CycleStep(actor=members[s.actor], arc=None if s.arc is None else arcs[s.arc]) for s in cycle)


def _within(graph: TimedGraph, members: list[int]) -> tuple[TimedGraph, list[int]]:
    """Return a part of a graph, and the numbers of its arcs in the whole."""
    place = {actor: number for number, actor in enumerate(members)}
    arcs = [n for n, arc in enumerate(graph.arcs) if arc.source in place and arc.target in place]
    actors: list[TimedActor] = [graph.actors[a] for a in members]
    inner: list[Arc] = [
        replace(graph.arcs[n], source=place[graph.arcs[n].source], target=place[graph.arcs[n].target]) for n in arcs
    ]
    return replace(graph, actors=tuple(actors), arcs=tuple(inner)), arcs


def _held_up(graph: TimedGraph, of_part: dict[int, Fraction | None]) -> tuple[Fraction | None, ...]:
    """Return for each actor the longest period of the parts that it waits for, its own included."""
    found = [of_part[a] for a in range(len(graph.actors))]
    changed = True
    while changed:
        changed = False
        for arc in graph.arcs:
            if _longer(found[arc.source], found[arc.target]):
                found[arc.target], changed = found[arc.source], True
    return tuple(found)


def _parts(graph: TimedGraph) -> list[list[int]]:  # ways: one walk without recursion, as depth has no limit
    """Return the strongly connected parts (Tarjan 1972), each in the order of its actors."""
    after: list[list[int]] = [[] for _ in graph.actors]
    for arc in graph.arcs:
        after[arc.source].append(arc.target)
    number: dict[int, int] = {}
    low: dict[int, int] = {}
    open_actors: list[int] = []
    is_open = [False] * len(graph.actors)
    parts: list[list[int]] = []
    for start in range(len(graph.actors)):
        stack = [(start, 0)] if start not in number else []
        while stack:
            actor, place = stack.pop()
            if place == 0:
                number[actor] = low[actor] = len(number)
                open_actors.append(actor)
                is_open[actor] = True
            for at in range(place, len(after[actor])):
                other = after[actor][at]
                if other not in number:
                    stack += [(actor, at + 1), (other, 0)]
                    break
                if is_open[other]:
                    low[actor] = min(low[actor], low[other])
            else:
                if low[actor] == number[actor]:
                    parts.append(_closed(open_actors, is_open, actor))
                if stack:
                    low[stack[-1][0]] = min(low[stack[-1][0]], low[actor])
    return parts


def _closed(open_actors: list[int], is_open: list[bool], root: int) -> list[int]:
    """Take a part that is complete from the open actors."""
    at = open_actors.index(root)
    part = sorted(open_actors[at:])
    del open_actors[at:]
    for actor in part:
        is_open[actor] = False
    return part
