"""The functions that the runtime calls: ``start``, ``run`` and ``explain``."""

from collections.abc import Iterable, Iterator

from dse.codegen.cpp.choice import ChoiceWriter
from dse.codegen.cpp.scope import MemberWriter


class SchedulingWriter(MemberWriter):
    """Writes how an actor finds its next action, and why it finds none."""

    def start(self) -> None:
        """Write the choice of the initializer, which is made once."""
        target = self.scope.target
        if not self.scope.explicit.start:
            self.lines.add(f"{target.function}void start(){target.override} {{}}")
            self.lines.add("")
            return
        self.open_function(f"void start(){target.override}")
        self.open("const auto choose = [this](auto& visit)")
        self.lines.add("[[maybe_unused]] Ports& p = visit.ports;")
        writer = ChoiceWriter(self.scope.names, "return;")
        writer.write(self.scope.explicit.start)
        self.lines.extend(writer.lines)
        self.close("};")
        self.lines.add(f"{self.scope.visit()} visit(*this, ports_);")
        self.lines.add("choose(visit);")
        self.lines.add("visit.outcome = Condition::ready;")
        self.close_member()

    def run(self) -> None:
        """Write the loop that fires until nothing can, or the budget is spent."""
        if self.scope.target.called:
            self.lines.add("void run(std::int64_t budget) override { resume(*this, budget); }")
            self.lines.add("")
            self.lines.add("bool news() override { return any_news(ports_, condition); }")
            self.lines.add("")
        self.lines.add("template <class Timer>")
        self.open_function("void fire(std::int64_t budget)")
        self.lines.add(f"{self.scope.visit('Timer')} visit(*this, ports_);")
        self.lines.add("[[maybe_unused]] Ports& p = visit.ports;")
        self.open("for (std::int64_t left = budget; left != 0; --left)")
        writer = ChoiceWriter(self.scope.names, "continue;")
        writer.write(self.scope.explicit.choice)
        self.lines.extend(writer.lines)
        self.lines.add("return;")
        self.close()
        self.lines.add("visit.outcome = Condition::ready;")
        self.close_member()

    def explain(self) -> None:
        """Write the first condition that does not hold, for each candidate action of the present state."""
        actor = self.scope.actor
        target = self.scope.target
        self.open_function(f"void explain([[maybe_unused]] {target.waits} waits){target.override}")
        self.lines.add("[[maybe_unused]] Ports p = ports_;")
        self.lines.add("p.each([](auto& port) { port.refresh(); });")
        if not self.scope.has_states:
            self._candidates(t.action for t in actor.transitions[0])
        else:
            self.open("switch (state_)")
            for name, transitions in zip(self.scope.names.states, actor.transitions, strict=True):
                self.open(f"case State::{name}:")
                self._candidates(t.action for t in transitions)
                self.lines.add("break;")
                self.close()
            self.close()
        self.close_member()

    def _candidates(self, actions: Iterable[int]) -> None:
        for index in actions:
            head = "if"
            for test, wait in self._waits(index):
                self.open(f"{head} ({test})")
                self.lines.add(f"waits.push_back({{{index}, WaitKind::{wait}}});")
                self.lines.depth -= 1
                head = "} else if"
            if head != "if":
                self.lines.add("}")

    def _waits(self, index: int) -> Iterator[tuple[str, str]]:
        """Yield the tests of an action in the order in which they are made, and what it waits for if one holds."""
        scope = self.scope
        for pattern in scope.actor.actions[index].inputs:
            if pattern.port not in scope.inputs:
                yield "true", f"unconnected, {pattern.port}, 0, {pattern.tokens}"
                return
            count = f"p.{scope.ports.inputs[pattern.port]}.count()"
            yield f"{count} < {pattern.tokens}", f"tokens, {pattern.port}, {count}, {pattern.tokens}"
        if index in scope.guards:
            yield f"!{scope.names.guards[index]}(p)", "guard"
        for output in scope.actor.actions[index].outputs:
            if output.port in scope.outputs:
                room = f"p.{scope.ports.outputs[output.port]}.room()"
                yield f"{room} < {output.tokens}", f"room, {output.port}, {room}, {output.tokens}"
