"""Generated scheduler of one actor: a generator that fires actions until it blocks or its budget is spent.

Each resumption sends the number of firings allowed. The candidates of the current FSM state are tried in order: token
counts, guards (with peeks), then output room. A selected action that lacks room blocks the actor, unless it is marked
``schedule_outputs`` (cal.md 2.3). A generator keeps state variables as fast locals between resumptions.

``S`` holds the condition of every actor: 1 ready, 0 waits for tokens or a guard, 2 waits for room.
"""

from collections.abc import Callable

from dse.codegen.python.firing import FiringWriter, room_text
from dse.codegen.python.statements import Lines
from dse.program.ir import Action, Transition

COMPACT_TOKENS = 4096
"""Tokens read before a FIFO drops them from the front of its list: rarer moves less, often keeps memory small."""
_DUPLICATE_LINES = 40
"""Lines of an action that may be repeated in several FSM states before it is moved to a shared place."""


class SchedulerWriter:
    """Writes the body of ``run`` for one actor and shape."""

    def __init__(self, firing: FiringWriter) -> None:
        self.firing = firing
        self.actor = firing.scope.actor
        self.shape = firing.shape
        self.lines = Lines()
        self.stateful = len(self.actor.states) > 1
        for action in self.actor.actions:
            firing.declare_tokens(action)
        self.bodies = [firing.fire(a) if firing.possible(a) else Lines() for a in self.actor.actions]
        self.tables = [[c for c in t if firing.possible(self.actor.actions[c.action])] for t in self.actor.transitions]
        self.prefix = self._common_prefix()
        self.shared = self._shared_actions()
        self.inputs = sorted({p.port for a in self.actor.actions if firing.possible(a) for p in a.inputs})
        self.outputs = sorted({p.port for a in self.actor.actions for p in a.outputs if self.shape.fan_outs[p.port]})

    # Layout -----------------------------------------------------------------------------------------------------------

    def _common_prefix(self) -> int:
        """Return how many first candidates all states have in common without changing state: the untagged actions."""
        for k in range(min(map(len, self.tables))):
            first = self.tables[0][k].action
            if any(t[k].action != first or t[k].target != s for s, t in enumerate(self.tables)):
                return k
        return min(map(len, self.tables))

    def _shared_actions(self) -> list[int]:
        """Return the actions that stand in so many states that their bodies are written once, after the selection."""
        counts: dict[int, int] = {}
        for table in self.tables:
            for candidate in table[self.prefix :]:
                counts[candidate.action] = counts.get(candidate.action, 0) + 1
        return [a for a, n in counts.items() if n > 1 and (n - 1) * len(self.bodies[a].texts) > _DUPLICATE_LINES]

    # The generator ----------------------------------------------------------------------------------------------------

    def write(self) -> Lines:
        """Return the lines of the body of ``run``."""
        add = self.lines.add
        add(f"s = {self.actor.initial_state}; st = 0; g = 0; left = 1")
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
            self._selection("break", self._inline_end)
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

    def _prologue(self) -> None:
        for i in self.inputs:
            self.lines.add(f"h{i} = H{i}[k{i}]; n{i} = len(D{i})")
        for j in self.outputs:
            self.lines.add(f"r{j} = q{j} = {room_text(j, self.shape.fan_outs[j])}")

    def _epilogue(self) -> None:
        """Write what other actors must learn: positions, who can go on, that tokens moved."""
        add = self.lines.add
        looped_in, looped_out = {i for i, _ in self.shape.loops}, {j for _, j in self.shape.loops}
        for i in self.inputs:
            add("moved[0] = 1" if i in looped_in else f"if h{i} != H{i}[k{i}]:")
            self.lines.depth += i not in looped_in
            add(f"H{i}[k{i}] = h{i}; moved[0] = 1")
            add(f"if S[w{i}] == 2: S[w{i}] = 1")
            add(f"if h{i} > {COMPACT_TOKENS}: X{i}()")
            self.lines.depth -= i not in looped_in
        for j in self.outputs:
            add("if True:" if j in looped_out else f"if r{j} != q{j}:")
            wake = "; ".join(f"S[y{j}[{k}]] = 1" for k in range(self.shape.fan_outs[j]))
            self.lines.add(f"\tmoved[0] = 1; {wake}")

    # Selection --------------------------------------------------------------------------------------------------------

    def _selection(self, blocked: str, end: Callable[[Transition, int], None]) -> None:
        """Write the trial of the candidates of the current state; control falls through when none can fire."""
        for candidate in self.tables[0][: self.prefix]:
            self._candidate(candidate, -1, blocked, end)
        rest = [s for s, t in enumerate(self.tables) if len(t) > self.prefix]
        if not rest:
            return
        if not self.stateful:
            for candidate in self.tables[0][self.prefix :]:
                self._candidate(candidate, 0, blocked, end)
            return

        def leaf(state: int) -> None:
            for candidate in self.tables[state][self.prefix :]:
                self._candidate(candidate, state, blocked, end)

        self._tree("s", list(range(len(self.tables))), leaf)

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

    def _candidate(
        self, candidate: Transition, state: int, blocked: str, end: Callable[[Transition, int], None]
    ) -> None:
        """Write the conditions of one candidate; ``end`` writes what happens when they hold."""
        action = self.actor.actions[candidate.action]
        depth = self.lines.depth
        span = action.span
        if tokens := self.firing.token_test(action):
            self._enter(f"if {tokens}:", action)
        for line in self.firing.peeks(action):
            self.lines.add(line, span)
        if guard := self.firing.guard_test(action):
            if self.shape.accesses:
                self.lines.add(f"g |= {1 << candidate.action}")
            self._enter(f"if {guard}:", action)
        if action.schedule_outputs and (room := self.firing.room_test(action, lacking=False)):
            self.lines.add(f"if not ({room}): st = 2")
            self._enter("else:", action)
        elif lacking := self.firing.room_test(action, lacking=True):
            self.lines.add(f"if {lacking}:")
            self.lines.add(f"\tst = 2; {blocked}")
        end(candidate, state)
        self.lines.depth = depth

    def _enter(self, text: str, action: Action) -> None:
        self.lines.add(text, action.guards[0].span if action.guards else action.span)
        self.lines.depth += 1

    # Firing -----------------------------------------------------------------------------------------------------------

    def _inline_end(self, candidate: Transition, state: int) -> None:
        self._fire(candidate.action)
        if self.stateful and state not in (-1, candidate.target):
            self.lines.add(f"s = {candidate.target}")
        self.lines.add("left -= 1")
        self.lines.add("continue")

    def _fire(self, action: int) -> None:
        self.lines.extend(self.bodies[action])
        self.lines.add(f"R.append({action})")
        if self.shape.accesses:
            self.lines.add(f"A.append(signature[g, {action}]); g = 0")

    def _selection_then_dispatch(self) -> None:
        """Write the selection in a loop of one pass (``break`` leaves it), then the bodies of the shared actions."""
        add = self.lines.add

        def end(candidate: Transition, state: int) -> None:
            if candidate.action in self.shared:
                add(f"a = {candidate.action}; t = {candidate.target}; break")
                return
            self._fire(candidate.action)
            if state not in (-1, candidate.target):
                add(f"s = {candidate.target}")
            add("left -= 1")
            add("if left: continue")
            add("a = -1; break")

        add("while True:")
        self.lines.depth += 1
        self._selection("a = -1; break", end)
        add("a = -1; break")
        self.lines.depth -= 1
        add("if a < 0: break")
        self._tree("a", sorted(self.shared), self._fire)
        add("s = t; left -= 1")

    def _initializers(self) -> None:
        """Write the first ``initialize`` whose condition holds (cal.md 2.3); it does not change the state."""
        possible = [i for i in self.actor.initializers if self.firing.possible(self.actor.actions[i])]
        if not possible:
            return
        self.lines.add("while True:")
        self.lines.depth += 1

        def end(candidate: Transition, _state: int) -> None:
            self._fire(candidate.action)
            self.lines.add("break")

        for index in possible:
            self._candidate(Transition(index, -1), -1, "break", end)
        self.lines.add("break")
        self.lines.depth -= 1
