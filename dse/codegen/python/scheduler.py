"""Generated scheduler of one actor: a generator that fires actions until it blocks or its budget is spent.

Each resumption sends the number of firings allowed; the choice of an explicit actor says which action fires. A
generator keeps state variables as fast locals between resumptions. Its local names, for input i and output j, are those
of ``PythonStatements`` and ``n<i>``, the end of the token list.

``S`` holds the condition of every actor: 1 ready, 0 waits for tokens or a guard, 2 waits for room.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from dse.codegen.emitter import Lines
from dse.codegen.python.expressions import PythonExpressions
from dse.codegen.python.spelling import AND
from dse.codegen.python.statements import PythonStatements
from dse.program.explicit import (
    AwaitRoom,
    Blocked,
    ByState,
    Choice,
    Condition,
    ExplicitActor,
    Fire,
    Guard,
    HasRoom,
    HasTokens,
    Peek,
    When,
)

COMPACT_TOKENS = 4096
"""Tokens read before a FIFO drops them from the front of its list: rarer moves less, often keeps memory small."""
_DUPLICATE_LINES = 40
"""Lines of an action that may be repeated in several FSM states before it is moved to a shared place."""


@dataclass(frozen=True, slots=True)
class Layout:
    """What stands behind a choice that has ended: lines for a firing, and the word that leaves the choice."""

    fire: Callable[[Fire], None]
    blocked: str


class SchedulerWriter:
    """Writes the body of ``run`` for one actor."""

    def __init__(self, explicit: ExplicitActor, expressions: PythonExpressions) -> None:
        self.explicit = explicit
        self.wiring = explicit.wiring
        self.expressions = expressions
        self.lines = Lines()
        self.stateful = len(explicit.actor.states) > 1
        self.bodies = [self._body(k) for k in range(len(explicit.firings))]
        self.shared = self._shared_actions()
        actions = [a for a, f in zip(explicit.actor.actions, explicit.firings, strict=True) if f is not None]
        looped = {i for i, _ in self.wiring.loops}  # an initializer may write to one that no action ever reads
        self.inputs = sorted({p.port for a in actions for p in a.inputs} | looped)
        self.outputs = sorted(
            {p.port for a in explicit.actor.actions for p in a.outputs if self.wiring.fan_outs[p.port]}
        )

    # Layout -----------------------------------------------------------------------------------------------------------

    def _body(self, action: int) -> Lines:
        """Return the lines of a firing; a connection from the actor to itself shows at once what it moved."""
        statements = self.explicit.firings[action]
        if statements is None:
            return Lines()
        writer = PythonStatements(self.expressions, self.wiring.inputs)
        for stmt in statements:
            writer.statement(stmt)
        patterns = self.explicit.actor.actions[action]
        ins, outs = {p.port for p in patterns.inputs}, {p.port for p in patterns.outputs}
        for i, j in self.wiring.loops:
            if i in ins or j in outs:
                writer.lines.add(f"G{j}[g{i}] = h{i}; n{i} = len(D{i})")
                writer.lines.add(f"r{j} = {room_text(j, self.wiring.fan_outs[j])}")
        return writer.lines

    def _shared_actions(self) -> list[int]:
        """Return the actions that stand in so many states that their bodies are written once, after the selection."""
        counts: dict[int, int] = {}
        for decision in self.explicit.choice:
            for state in decision.states if isinstance(decision, ByState) else ():
                for fire in _fires(state):
                    counts[fire.action] = counts.get(fire.action, 0) + 1
        return [a for a, n in counts.items() if n > 1 and (n - 1) * len(self.bodies[a].texts) > _DUPLICATE_LINES]

    # The generator ----------------------------------------------------------------------------------------------------

    def write(self) -> Lines:
        """Return the lines of the body of ``run``."""
        add = self.lines.add
        add(f"s = {self.explicit.actor.initial_state}; st = 0; g = 0; left = 1")
        add("try:")
        self.lines.depth += 1
        self._prologue()
        self._initializers()
        self._epilogue()
        add("S[me] = 1")
        add("left = budget = yield 0")
        add("while True:")
        self.lines.depth += 1
        add("st = 0")
        self._prologue()
        add("while left:")
        self.lines.depth += 1
        if self.shared:
            self._selection_then_dispatch()
        else:
            self._choice(self.explicit.choice, Layout(self._fire_here, "break"))
            add("break")
        self.lines.depth -= 1
        self._epilogue()
        add("S[me] = st if left else 1")
        add("left = budget = yield budget - left")
        self.lines.depth -= 2
        add("except Exception:")
        self.lines.depth += 1
        for i in self.inputs:
            add(f"H{i}[k{i}] = h{i}")
        add("raise")
        return self.lines

    def port_names(self) -> list[str]:
        """Return the names that stand for the FIFOs of the ports that are used."""
        names = [f"{letter}{i}" for i in self.inputs for letter in "DHkXw"]
        return names + [f"{letter}{j}" for j in self.outputs for letter in "EGCy"]

    def _prologue(self) -> None:
        for i in self.inputs:
            self.lines.add(f"h{i} = H{i}[k{i}]; n{i} = len(D{i})")
        for j in self.outputs:
            self.lines.add(f"r{j} = q{j} = {room_text(j, self.wiring.fan_outs[j])}")

    def _epilogue(self) -> None:
        """Write what other actors must learn: positions, who can go on, that tokens moved."""
        add = self.lines.add
        looped_in, looped_out = {i for i, _ in self.wiring.loops}, {j for _, j in self.wiring.loops}
        for i in self.inputs:
            add("moved[0] = 1" if i in looped_in else f"if h{i} != H{i}[k{i}]:")
            self.lines.depth += i not in looped_in
            add(f"H{i}[k{i}] = h{i}; moved[0] = 1")
            add(f"if S[w{i}] == 2: S[w{i}] = 1")
            add(f"if h{i} > {COMPACT_TOKENS}: X{i}()")
            self.lines.depth -= i not in looped_in
        for j in self.outputs:
            add("if True:" if j in looped_out else f"if r{j} != q{j}:")
            wake = "; ".join(f"S[y{j}[{k}]] = 1" for k in range(self.wiring.fan_outs[j]))
            self.lines.add(f"\tmoved[0] = 1; {wake}")

    # Selection --------------------------------------------------------------------------------------------------------

    def _choice(self, choice: Choice, layout: Layout) -> None:
        """Write a choice; control falls through where its end is reached."""
        for decision in choice:
            match decision:
                case When():
                    self._test(decision, layout)
                case Peek():
                    reader = PythonStatements(self.expressions, self.wiring.inputs)
                    reader.body(decision.reads)
                    self.lines.extend(reader.lines)
                case ByState():
                    self._by_state(decision, layout)
                case Fire():
                    layout.fire(decision)
                case AwaitRoom():
                    self.lines.add("st = 2")
                case Blocked():
                    self.lines.add(f"st = 2; {layout.blocked}")

    def _test(self, test: When, layout: Layout) -> None:
        """Write a test. Where lack of room ends the choice, what happens when there is room needs no ``else``."""
        if isinstance(test.condition, HasRoom):
            lacking = " or ".join(f"r{n.port} < {n.tokens}" for n in test.condition.needs)
            if test.otherwise == (Blocked(),):
                self.lines.add(f"if {lacking}:")
                self._nested(test.otherwise, layout)
                self._choice(test.then, layout)
                return
            self.lines.add(f"if not ({self._condition(test.condition)}): st = 2")
            self.lines.add("else:", test.span)
            self._nested(test.then, layout)
            return
        if isinstance(test.condition, Guard) and self.wiring.accesses:
            self.lines.add(f"g |= {1 << test.condition.action}")
        self.lines.add(f"if {self._condition(test.condition)}:", test.span)
        self._nested(test.then, layout)

    def _nested(self, choice: Choice, layout: Layout) -> None:
        self.lines.depth += 1
        self._choice(choice, layout)
        self.lines.depth -= 1

    def _condition(self, condition: Condition) -> str:
        match condition:
            case HasTokens():
                return " and ".join(
                    f"n{n.port} > h{n.port}" if n.tokens == 1 else f"n{n.port} - h{n.port} >= {n.tokens}"
                    for n in condition.needs
                )
            case HasRoom():
                return " and ".join(f"r{n.port} >= {n.tokens}" for n in condition.needs)
            case Guard():
                return guard_text(condition, self.expressions)

    def _by_state(self, decision: ByState, layout: Layout) -> None:
        def leaf(state: int) -> None:
            self._choice(decision.states[state], layout)

        self._tree("s", list(range(len(decision.states))), leaf)

    def _tree(self, name: str, values: list[int], leaf: Callable[[int], None]) -> None:
        """Write a binary decision on ``name`` over ascending values; ``leaf`` writes what to do for one."""
        if len(values) == 1:
            before = len(self.lines.texts)
            leaf(values[0])
            if len(self.lines.texts) == before:
                self.lines.add("pass")
            return
        half = len(values) // 2
        self.lines.add(f"if {name} < {values[half]}:")
        self.lines.depth += 1
        self._tree(name, values[:half], leaf)
        self.lines.depth -= 1
        self.lines.add("else:")
        self.lines.depth += 1
        self._tree(name, values[half:], leaf)
        self.lines.depth -= 1

    # Firing -----------------------------------------------------------------------------------------------------------

    def _fire_here(self, fire: Fire) -> None:
        """Write a firing where it was chosen."""
        self._fire(fire.action)
        if fire.target is not None:
            self.lines.add(f"s = {fire.target}")
        self.lines.add("left -= 1")
        self.lines.add("continue")

    def _fire(self, action: int) -> None:
        self.lines.extend(self.bodies[action])
        self.lines.add(f"R.append({action})")
        if self.wiring.accesses:
            self.lines.add(f"A.append(signature[g, {action}]); g = 0")

    def _selection_then_dispatch(self) -> None:
        """Write the selection in a loop of one pass (``break`` leaves it), then the bodies of the shared actions."""
        add = self.lines.add

        def fire(chosen: Fire) -> None:
            if chosen.action in self.shared:
                target = "s" if chosen.target is None else chosen.target
                add(f"a = {chosen.action}; t = {target}; break")
                return
            self._fire(chosen.action)
            if chosen.target is not None:
                add(f"s = {chosen.target}")
            add("left -= 1")
            add("if left: continue")
            add("a = -1; break")

        add("while True:")
        self.lines.depth += 1
        self._choice(self.explicit.choice, Layout(fire, "a = -1; break"))
        add("a = -1; break")
        self.lines.depth -= 1
        add("if a < 0: break")
        self._tree("a", sorted(self.shared), self._fire)
        add("s = t; left -= 1")

    def _initializers(self) -> None:
        """Write the firing of the first initializer whose condition holds."""
        if not self.explicit.start:
            return

        def fire(chosen: Fire) -> None:
            self._fire(chosen.action)
            self.lines.add("break")

        self.lines.add("while True:")
        self.lines.depth += 1
        self._choice(self.explicit.start, Layout(fire, "break"))
        self.lines.add("break")
        self.lines.depth -= 1


def guard_text(guard: Guard, expressions: PythonExpressions) -> str:
    """Return the conjunction of the conditions of a guard."""
    codes = [expressions.write(c) for c in guard.conditions]
    return codes[0].text if len(codes) == 1 else " and ".join(c.at(AND) for c in codes)


def room_text(output: int, fan_out: int) -> str:
    """Return the expression for the room of an output: that of its fullest reader."""
    if fan_out == 1:
        return f"C{output}[0] + G{output}[0] - len(E{output})"
    return f"min(map(add, C{output}, G{output})) - len(E{output})"


def _fires(choice: Choice) -> Iterator[Fire]:
    """Yield every firing that a choice may end with."""
    for decision in choice:
        match decision:
            case Fire():
                yield decision
            case When():
                yield from _fires((*decision.then, *decision.otherwise))
            case ByState():
                for state in decision.states:
                    yield from _fires(state)
            case _:
                pass
