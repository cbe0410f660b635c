"""Which loops of one firing are shared out to the threads of a block, and why the others are not.

Asked are the loops that the thread which fires would do itself: of an action, of the routines that it calls, and lists
that are written as an expression there. What stands in rounds that are shared out, or in guards, stays with one thread.
A loop in a routine is shared out, or not, for all calls. Where an action calls a list what a routine calls a parameter
is followed from call to call, so that ``transpose(a, b)`` beside ``transpose(b, a)`` has two lists in each.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import chain

from dse.passes.analyses.loop_rounds import of_list, of_loop
from dse.passes.analyses.loop_sharing import Asked, Body, LoopSharing
from dse.passes.analyses.uses import ActorFacts, reached_by
from dse.passes.analyses.values import Values
from dse.program.explicit import ExplicitActor
from dse.program.ir import Call, CallStmt, Check, Expr, ForEach, Generator, If, Index, Load, Routine, Stmt, While
from dse.program.types import ListType
from dse.program.walk import expressions_of, operands_of

_MOST_WAYS = 100
"""In which a routine is called with different lists, and its loops are looked at."""
_Call = tuple[str, tuple[Expr, ...]]


@dataclass(frozen=True, slots=True, kw_only=True)
class SharedWork:
    """What is found of an actor. ``loops``: those that are shared out, and the outermost of those that are not: of
    actions in their order, then of routines that the thread which fires calls.

    ``routines``: those with a loop that is shared out, or that call one, in the order of the actor. ``members``: lists
    of firings and routines that all threads have to see. ``reached``: by action, the routines that its thread calls.
    """

    loops: tuple[LoopSharing, ...]
    routines: tuple[str, ...]
    members: frozenset[str]
    reached: tuple[frozenset[str], ...]

    @property
    def able(self) -> tuple[LoopSharing, ...]:
        """The loops that are shared out."""
        return tuple(found for found in self.loops if found.able)

    def of_action(self, action: int) -> tuple[LoopSharing, ...]:
        """Return the loops that are shared out of an action, those of routines that it calls behind its own."""
        return tuple(s for s in self.able if s.action == action or s.routine in self.reached[action])


NOTHING_SHARED = SharedWork(loops=(), routines=(), members=frozenset(), reached=())


def shared_loops(explicit: ExplicitActor, facts: ActorFacts, values: Values) -> SharedWork:
    """Return the loops of an actor that are shared out, and those that are not."""
    asked = Asked(explicit, facts, values)
    bodies = [_Walk(asked, Body(action=k, routine="", statements=s or ())) for k, s in enumerate(explicit.firings)]
    walks = {walk.body.routine: walk for walk in _routine_walks(asked, facts, bodies)}  # callers first
    sharing = _sharing(walks)
    ordered = [walks[r.name] for r in explicit.routines if r.name in walks]
    return SharedWork(
        loops=tuple(chain.from_iterable(walk.found for walk in (*bodies, *ordered))),
        routines=tuple(walk.body.routine for walk in ordered if walk.body.routine in sharing),
        members=_members(asked, (*reversed(list(walks.values())), *bodies), sharing),
        reached=tuple(_reached(walk, walks) for walk in bodies),
    )


# One body -------------------------------------------------------------------------------------------------------------


@dataclass(slots=True)
class _Walk:
    """What the thread that fires does in one body: loops that it may share out, and calls that it makes itself."""

    asked: Asked
    body: Body
    found: list[LoopSharing] = field(default_factory=list)
    calls: list[_Call] = field(default_factory=list)

    def __post_init__(self) -> None:
        self._statements(self.body.statements, inside=False)
        self._expressions(self.body.result, inside=False)

    def _statements(self, statements: Iterable[Stmt], *, inside: bool) -> None:
        """Look at statements; ``inside`` a loop of one thread only what is shared out is told."""
        for stmt in statements:
            if isinstance(stmt, ForEach) and self._note(of_loop(self.asked, self.body, stmt), inside=inside):
                self._expressions(expressions_of(stmt), inside=inside)
                continue
            self._expressions(expressions_of(stmt), inside=inside)
            match stmt:
                case CallStmt():
                    self.calls.append((stmt.routine, stmt.arguments))
                case If():
                    self._statements((*stmt.then, *stmt.otherwise), inside=inside)
                case ForEach() | While():
                    self._statements(stmt.body, inside=True)
                case _:
                    pass

    def _expressions(self, expressions: Iterable[Expr], *, inside: bool) -> None:
        for expr in expressions:
            if isinstance(expr, Generator):
                if not self._note(of_list(self.asked, self.body, expr), inside=inside):
                    self._expressions(operands_of(expr), inside=True)
                continue
            if isinstance(expr, Call):
                self.calls.append((expr.routine, expr.arguments))
            self._expressions(operands_of(expr), inside=inside)

    def _note(self, found: LoopSharing, *, inside: bool) -> bool:
        """Keep what was found of a loop, and return whether it is shared out."""
        if found.able or not inside:
            self.found.append(found)
        return found.able


# Routines -------------------------------------------------------------------------------------------------------------


def _routine_walks(asked: Asked, facts: ActorFacts, bodies: Iterable[_Walk]) -> Iterator[_Walk]:
    """Yield what is found of the routines that threads call which fire, callers before those whom they call."""
    ways: dict[str, dict[tuple[str | None, ...], None]] = {}
    for walk in bodies:
        _note_ways(asked, walk, ways)
    for routine in _callers_first(asked, facts):
        if routine.name in ways and len(ways[routine.name]) <= _MOST_WAYS:
            lists = [p.name for p in routine.parameters if isinstance(p.type, ListType)]
            walk = _Walk(
                asked,
                Body(
                    action=-1,
                    routine=routine.name,
                    statements=routine.body,
                    result=() if routine.result is None else (routine.result,),
                    roots=tuple(dict(zip(lists, way, strict=True)) for way in ways[routine.name]),
                ),
            )
            _note_ways(asked, walk, ways)
            yield walk


def _callers_first(asked: Asked, facts: ActorFacts) -> list[Routine]:
    """Return the routines that do not call themselves, each before those that it calls."""
    calls = {name: reached_by(facts.of_routines[name].calls, facts.of_routines) for name in asked.routines}
    plain = [routine for name, routine in asked.routines.items() if name not in calls[name]]
    return sorted(plain, key=lambda routine: -len(calls[routine.name]))  # whom it calls reaches fewer


def _note_ways(asked: Asked, walk: _Walk, ways: dict[str, dict[tuple[str | None, ...], None]]) -> None:
    """Note with which lists the calls of a body call routines."""
    for name, arguments in walk.calls:
        if name in asked.routines:
            lists = [a for a in arguments if isinstance(a.type, ListType)]
            for roots in walk.body.roots:
                ways.setdefault(name, {})[tuple(_root(a, roots) for a in lists)] = None


def _root(argument: Expr, roots: Mapping[str, str | None]) -> str | None:
    """Return the list that an argument is, or is a part of; None for one that is made, or may be."""
    match argument:
        case Load(name=name):
            return roots.get(name, name)
        case Index(name=name, indices=indices) if not any(isinstance(i, Check) for i in indices):
            return roots.get(name, name)
        case _:
            return None


def _sharing(walks: Mapping[str, _Walk]) -> frozenset[str]:
    """Return the routines with a loop that is shared out, and those that call such."""
    found: set[str] = set()
    for name, walk in reversed(list(walks.items())):
        if any(s.able for s in walk.found) or any(callee in found for callee, _ in walk.calls):
            found.add(name)
    return frozenset(found)


def _reached(walk: _Walk, walks: Mapping[str, _Walk]) -> frozenset[str]:
    """Return the routines that the thread calls which does a body."""
    reached: set[str] = set()
    pending = [name for name, _ in walk.calls]
    while pending:
        name = pending.pop()
        if name in walks and name not in reached:
            reached.add(name)
            pending += (callee for callee, _ in walks[name].calls)
    return frozenset(reached)


def _members(asked: Asked, callees_first: Iterable[_Walk], sharing: frozenset[str]) -> frozenset[str]:
    """Return the lists of firings and routines that threads access which share a loop, under whatever name."""
    seen: set[str] = set()
    for walk in callees_first:
        seen.update(chain.from_iterable(found.lists for found in walk.found))  # of one that is not shared: none
        for routine, arguments in walk.calls:
            if routine in sharing:
                pairs = zip(asked.routines[routine].parameters, arguments, strict=True)
                seen.update(a.name for p, a in pairs if p.name in seen and isinstance(a, Load | Index))
    parameters = chain.from_iterable(routine.parameters for routine in asked.routines.values())
    return frozenset(seen - asked.lasting - {p.name for p in parameters})
