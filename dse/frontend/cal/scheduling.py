"""Order of the actions of an actor: priorities, finite state machines, regular-expression schedules (cal.md 2.3).

Actions are known here by their index in document order and their tag ("" for none). A tag ``a.b`` in a schedule or a
priority means every action whose tag is ``a.b`` or begins with ``a.b.``.
"""

from collections import Counter, deque
from collections.abc import Sequence
from dataclasses import dataclass
from typing import assert_never

from dse.base.registry import did_you_mean, near_names
from dse.base.source import Span
from dse.frontend.cal import ast
from dse.frontend.cal.names import Reporter, nearest
from dse.program.ir import Transition


@dataclass(frozen=True, slots=True, kw_only=True)
class Schedule:
    """The states of an actor and what to try in each of them, in order."""

    states: tuple[str, ...]
    initial_state: int
    transitions: tuple[tuple[Transition, ...], ...]
    has_fsm: bool


class TagIndex:
    """Finds the actions that a tag means; unknown tags are reported."""

    def __init__(self, tags: Sequence[str], reporter: Reporter) -> None:
        self.tags = tags
        self._reporter = reporter
        self._found: dict[str, tuple[int, ...]] = {}

    def actions(self, tag: ast.Tag) -> tuple[int, ...]:
        """Return the actions that ``tag`` means, in document order; empty after reporting that there are none."""
        name = tag.name
        if name not in self._found:
            prefix = name + "."
            matching = (i for i, t in enumerate(self.tags) if t and (t == name or t.startswith(prefix)))
            self._found[name] = tuple(matching)
        if not self._found[name]:
            known = nearest(name, (t for t in self.tags if t))
            self._reporter.error(f"no action has the tag '{name}'", tag.span, known)
        return self._found[name]


def build_schedule(actor: ast.ActorDecl, tags: Sequence[str], reporter: Reporter) -> Schedule | None:
    """Return the schedule of an actor whose actions (without initializers) have ``tags``; None after reporting."""
    index = TagIndex(tags, reporter)
    order = action_order(actor, index, reporter)
    if order is None:
        return None
    match actor.schedule:
        case None:
            candidates = tuple(Transition(action, 0) for action in order)
            return Schedule(states=("",), initial_state=0, transitions=(candidates,), has_fsm=False)
        case ast.FsmDecl():
            return _fsm(actor.schedule, order, index, reporter)
        case ast.RegExpDecl():
            return _regexp(actor, actor.schedule, order, index, reporter)
        case _:
            assert_never(actor.schedule)


# Priorities -----------------------------------------------------------------------------------------------------------


def action_order(actor: ast.ActorDecl, index: TagIndex, reporter: Reporter) -> tuple[int, ...] | None:
    """Return the actions in the order in which they are tried: untagged ones, then the tagged ones by priority.

    The tagged ones are sorted topologically with a first-in first-out queue that begins in document order. Working
    applications depend on this tie-break (cal.md 2.3). None after a cycle of priorities was reported.
    """
    followers = _priority_edges(actor, index)
    tagged = [i for i, tag in enumerate(index.tags) if tag]
    untagged = [i for i, tag in enumerate(index.tags) if not tag]
    sorted_ones = _sorted_by_priority(tagged, followers)
    if len(sorted_ones) < len(tagged):
        stuck = [i for i in tagged if i not in sorted_ones]
        _report_priority_cycle(actor, index, followers, stuck, reporter)
        return None
    return (*untagged, *sorted_ones)


def _sorted_by_priority(actions: list[int], followers: dict[int, dict[int, Span]]) -> list[int]:
    """Return the actions so that each comes before its followers, without those on a cycle and behind one."""
    before = Counter(target for targets in followers.values() for target in targets)
    queue = deque(action for action in actions if before[action] == 0)
    order: list[int] = []
    while queue:
        action = queue.popleft()
        order.append(action)
        for target in followers.get(action, ()):
            before[target] -= 1
            if before[target] == 0:
                queue.append(target)
    return order


def _priority_edges(actor: ast.ActorDecl, index: TagIndex) -> dict[int, dict[int, Span]]:
    """Return for each action those of lower priority, in the order of the inequalities, with the place of each."""
    followers: dict[int, dict[int, Span]] = {}
    for chain in actor.priorities:
        matched = [index.actions(tag) for tag in chain]
        for place in range(len(chain) - 1):
            span = chain[place].span.to(chain[place + 1].span)
            for source in matched[place]:
                for target in matched[place + 1]:
                    followers.setdefault(source, {}).setdefault(target, span)
    return followers


def _report_priority_cycle(
    actor: ast.ActorDecl, index: TagIndex, followers: dict[int, dict[int, Span]], stuck: list[int], reporter: Reporter
) -> None:
    """Report one cycle among the actions that the sort could not place.

    Each of them has a stuck predecessor, so walking back from any of them must come round.
    """
    stuck_set = set(stuck)
    path = [stuck[0]]
    while True:
        previous = next(i for i in stuck if path[-1] in followers.get(i, ()) and i in stuck_set)
        if previous in path:
            cycle = [previous, *reversed(path[path.index(previous) :])]
            break
        path.append(previous)
    names = " > ".join(f"'{index.tags[i]}'" for i in cycle)
    span = followers[cycle[0]][cycle[1]] if len(cycle) > 1 else actor.span
    reporter.error(f"the priorities contain a cycle: {names}", span, "an action cannot come before itself")


# Finite state machines ------------------------------------------------------------------------------------------------


def _fsm(fsm: ast.FsmDecl, order: tuple[int, ...], index: TagIndex, reporter: Reporter) -> Schedule | None:
    states: dict[str, int] = {}
    for transition in fsm.transitions:
        states.setdefault(transition.source.name, len(states))
    good = _check_state(fsm.initial, states, reporter)
    targets: list[dict[int, int]] = [{} for _ in states]
    for transition in fsm.transitions:
        good = _check_state(transition.target, states, reporter) and good
        actions = index.actions(transition.tag)
        good = bool(actions) and good
        leaving = targets[states[transition.source.name]]
        for action in actions:
            if action in leaving:
                tag = index.tags[action]
                message = f"the state '{transition.source.name}' has two transitions for the action '{tag}'"
                reporter.error(message, transition.span, "remove one of them")
                good = False
            leaving[action] = states.get(transition.target.name, 0)
    _warn_dead_actions(fsm, targets, index, reporter)
    if not good:
        return None
    return Schedule(
        states=tuple(states),
        initial_state=states[fsm.initial.name],
        transitions=tuple(_transitions(state, leaving, order, index) for state, leaving in enumerate(targets)),
        has_fsm=True,
    )


def _check_state(name: ast.Name, states: dict[str, int], reporter: Reporter) -> bool:
    if name.name in states:
        return True
    near = near_names(name.name, tuple(states))
    hint = "each state has a transition that leaves it; in one that ends an actor, of an action whose guard is false"
    hint = did_you_mean(near) if near else hint
    reporter.error(f"no transition leaves a state '{name.name}'", name.span, hint)
    return False


def _transitions(
    state: int, leaving: dict[int, int], order: tuple[int, ...], index: TagIndex
) -> tuple[Transition, ...]:
    """Return what to try in a state: untagged actions, which stay in it, then the transitions by priority."""
    found = (Transition(a, leaving.get(a, state)) for a in order if a in leaving or not index.tags[a])
    return tuple(found)


def _warn_dead_actions(
    schedule: ast.FsmDecl | ast.RegExpDecl, targets: list[dict[int, int]], index: TagIndex, reporter: Reporter
) -> None:
    used = {action for leaving in targets for action in leaving}
    for action, tag in enumerate(index.tags):
        if tag and action not in used:
            reporter.warning(f"the action '{tag}' is not in the schedule and never fires", schedule.span)


# Regular expressions --------------------------------------------------------------------------------------------------


class _Automaton:
    """A nondeterministic automaton over actions, by Thompson's construction."""

    def __init__(self, index: TagIndex) -> None:
        self._index = index
        self.empty_moves: list[list[int]] = []
        self.moves: list[list[tuple[int, int]]] = []

    def state(self) -> int:
        """Return a new state."""
        self.empty_moves.append([])
        self.moves.append([])
        return len(self.moves) - 1

    def add(self, expression: ast.RegExp, start: int) -> int:
        """Add the automaton of ``expression`` from ``start`` on; return its end."""
        match expression:
            case ast.RegExpTag():
                end = self.state()
                self.moves[start] += [(action, end) for action in self._index.actions(expression.tag)]
                return end
            case ast.RegExpSequence():
                for part in expression.parts:
                    start = self.add(part, start)
                return start
            case ast.RegExpChoice():
                end = self.state()
                for part in expression.parts:
                    begin = self.state()
                    self.empty_moves[start].append(begin)
                    self.empty_moves[self.add(part, begin)].append(end)
                return end
            case ast.RegExpRepeat():
                begin, end = self.state(), self.state()
                self.empty_moves[start] += [begin, end]
                self.empty_moves[self.add(expression.child, begin)] += [end, begin] if expression.op == "*" else [end]
                return end
            case _:
                assert_never(expression)

    def closure(self, states: Sequence[int]) -> tuple[int, ...]:
        """Return the states that empty moves reach from ``states``, sorted."""
        reached = dict.fromkeys(states)
        stack = list(states)
        while stack:
            for following in self.empty_moves[stack.pop()]:
                if following not in reached:
                    reached[following] = None
                    stack.append(following)
        return tuple(sorted(reached))


def _regexp(
    actor: ast.ActorDecl, schedule: ast.RegExpDecl, order: tuple[int, ...], index: TagIndex, reporter: Reporter
) -> Schedule | None:
    """Return the deterministic automaton of a regular expression, by construction of subsets."""
    if actor.priorities:
        hint = "write the schedule as an fsm, or remove the priorities"
        reporter.error("a regexp schedule cannot be combined with priorities", schedule.span, hint)
        return None
    automaton = _Automaton(index)
    start = automaton.state()
    automaton.add(schedule.expression, start)
    if reporter.failed:
        return None
    first = automaton.closure([start])
    numbers = {first: 0}
    targets: list[dict[int, int]] = []
    subsets = [first]
    while len(targets) < len(subsets):
        reached: dict[int, list[int]] = {}
        for state in subsets[len(targets)]:
            for action, following in automaton.moves[state]:
                reached.setdefault(action, []).append(following)
        leaving: dict[int, int] = {}
        for action in sorted(reached):
            subset = automaton.closure(reached[action])
            if subset not in numbers:
                numbers[subset] = len(subsets)
                subsets.append(subset)
            leaving[action] = numbers[subset]
        targets.append(leaving)
    _warn_dead_actions(schedule, targets, index, reporter)
    return Schedule(
        states=tuple(f"s{i}" for i in range(len(targets))),
        initial_state=0,
        transitions=tuple(_transitions(state, leaving, order, index) for state, leaving in enumerate(targets)),
        has_fsm=True,
    )
