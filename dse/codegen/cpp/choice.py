"""The choice of an actor's next action as C++: one loop that fires until nothing can, or the budget is spent.

What stands behind a ``return`` is done by the ``Visit`` of the runtime: positions are published, the condition is told.
"""

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from dse.codegen.cpp.spelling import CPP
from dse.codegen.emitter import Lines
from dse.program.explicit import (
    AwaitRoom,
    Blocked,
    ByState,
    Choice,
    Decision,
    Fire,
    Guard,
    HasRoom,
    HasTokens,
    Peek,
    When,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class ChoiceNames:
    """The names that the text of a choice refers to."""

    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    actions: tuple[str, ...]
    guards: Mapping[int, str]
    states: tuple[str, ...]
    batches: Mapping[int, str]
    """Functions that fire an action several times at once, where that is possible."""


class ChoiceWriter:
    """Writes a choice; where its end is reached control falls through. ``fired`` ends a branch that fired."""

    def __init__(self, names: ChoiceNames, fired: str) -> None:
        self.names = names
        self.fired = fired
        self.lines = Lines(CPP.indent)

    def write(self, choice: Choice) -> None:
        """Write decisions one behind the other."""
        for decision in choice:
            match decision:
                case When():
                    self._when(decision)
                case Peek():
                    pass  # the function of the guard reads what it looks at
                case ByState():
                    self._by_state(decision)
                case Fire():
                    self.fire(decision)
                case AwaitRoom():
                    self.await_room()
                case Blocked():
                    self.blocked()

    def _block(self, head: str, choice: Choice, when: When) -> None:
        self.lines.add(head, when.span)
        self.lines.depth += 1
        self.write(choice)
        self.lines.depth -= 1
        self.lines.add("}")

    def _when(self, when: When) -> None:
        if isinstance(when.condition, HasRoom):
            lacking = " || ".join(f"p.{self.names.outputs[n.port]}.room() < {n.tokens}" for n in when.condition.needs)
            self._block(f"if ({lacking}) {{", when.otherwise, when)
            if when.otherwise == (Blocked(),):
                self.write(when.then)
                return
            self.lines.texts.pop()
            self.lines.spans.pop()
            self._block("} else {", when.then, when)
            return
        tests = list(self._tests(when))
        inner = when.then
        while (chained := _only_test(inner)) is not None:
            tests += self._tests(chained)
            inner = chained.then
        self._block(f"if ({' && '.join(tests)}) {{", inner, when)

    def _tests(self, when: When) -> Iterator[str]:
        match when.condition:
            case HasTokens(needs=needs):
                for need in needs:
                    yield f"p.{self.names.inputs[need.port]}.count() >= {need.tokens}"
            case Guard(action=action):
                yield f"{self.names.guards[action]}(p)"
            case HasRoom():
                raise AssertionError("room is tested apart")

    def _by_state(self, decision: ByState) -> None:
        self.lines.add("switch (state_) {")
        self.lines.depth += 1
        for state, choice in enumerate(decision.states):
            self.lines.add(f"case State::{self.names.states[state]}: {{")
            self.lines.depth += 1
            self.write(choice)
            self.lines.add("break;")
            self.lines.depth -= 1
            self.lines.add("}")
        self.lines.depth -= 1
        self.lines.add("}")

    def await_room(self) -> None:
        """Write what happens where an action lacks room and the choice goes on."""
        self.lines.add("visit.outcome = Condition::lacks_room;")

    def blocked(self) -> None:
        """Write what happens where an action lacks room and the choice ends."""
        self.await_room()
        self.lines.add("return;")

    def fire(self, fire: Fire) -> None:
        """Write a firing, behind what may do several at once."""
        if fire.target is None and fire.action in self.names.batches:
            self.lines.add(f"if ({self.names.batches[fire.action]}(visit, left)) {{")
            self.lines.add(f"{CPP.indent}{self.fired}")
            self.lines.add("}")
        self.lines.add(f"{self.names.actions[fire.action]}(visit);")
        if fire.target is not None:
            self.lines.add(f"state_ = State::{self.names.states[fire.target]};")
        self.lines.add(self.fired)


def uses_of_choice(choice: Choice) -> "Counter[tuple[str, int]]":
    """Return how often a choice tests the guard, and fires, each action: ("guard" or "action", number) to the count."""
    found: Counter[tuple[str, int]] = Counter()
    for decision in choice:
        match decision:
            case Fire():
                found["action", decision.action] += 1
            case When():
                if isinstance(decision.condition, Guard):
                    found["guard", decision.condition.action] += 1
                found += uses_of_choice(decision.then) + uses_of_choice(decision.otherwise)
            case ByState():
                for state in decision.states:
                    found += uses_of_choice(state)
            case _:
                pass
    return found


def _only_test(choice: Choice) -> When | None:
    """Return the test that a choice consists of, if it is one of tokens or of a guard; peeks aside."""
    rest: list[Decision] = [d for d in choice if not isinstance(d, Peek)]
    match rest:
        case [When(condition=HasTokens() | Guard(), otherwise=()) as test]:
            return test
        case _:
            return None


def trials_of(choice: Choice) -> dict[int, tuple[Peek | None, Guard]]:
    """Return the guard of each action that a choice tests, with the peek before it."""
    found: dict[int, tuple[Peek | None, Guard]] = {}
    peek: Peek | None = None
    for decision in choice:
        match decision:
            case Peek():
                peek = decision
            case When():
                if isinstance(decision.condition, Guard):
                    found[decision.condition.action] = (peek, decision.condition)
                found |= trials_of(decision.then) | trials_of(decision.otherwise)
                peek = None
            case ByState():
                for state in decision.states:
                    found |= trials_of(state)
            case _:
                pass
    return found
