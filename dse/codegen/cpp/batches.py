"""Firings of one action by several threads at once: what asks for them, and what each thread does.

Only targets with ``lanes`` have it. The thread that makes the choice counts how often in a row it would choose the
action, leaves the positions of its ports where the others find them, and asks them to fire; it goes on when all are
done. A thread of the others ("lane") calls ``lanes`` with its share, of firings or of the rounds of a loop.
"""

from dse.codegen.cpp.choice import ChoiceWriter
from dse.codegen.cpp.scope import MemberWriter
from dse.passes.analyses.simd_firing import SimdFiring
from dse.program.explicit import Fire


class BatchWriter(MemberWriter):
    """Writes what an actor with such actions has besides."""

    def members(self) -> None:
        """Write the functions; that every class has, ``lanes``, has nothing to do where there is no such action."""
        scope = self.scope
        if not scope.target.lanes:
            return
        used = scope.batches or scope.loops
        self.lines.add(f"static constexpr bool has_lanes = {'true' if used else 'false'};")
        self.lines.add("")
        self.open_function("void lanes([[maybe_unused]] const Share& share)")
        if scope.loops:
            self._rounds()
        if scope.batches:
            self.open("switch (share.action)")
            for index, found in scope.batches.items():
                self.open(f"case {index}:")
                self._lane(index, found)
                self.lines.add("break;")
                self.close()
            self.lines.add("default:")
            self.lines.add("  break;")
            self.close()
        self.close_member()

    def batches(self) -> None:
        """Write what fires each such action, and what tells which action would be chosen."""
        for index, found in self.scope.batches.items():
            self._batch(index, found)
        if any(found.asks for found in self.scope.batches.values()):
            self._chosen()

    def _rounds(self) -> None:
        """Write the rounds of a loop that a lane does."""
        self.open("if (share.rounds)")
        self.open("switch (share.action)")
        for loop in self.scope.loops:
            self.open(f"case {loop.number}:")
            self.lines.add(f"{loop.function}(share);")
            self.lines.add("break;")
            self.close()
        self.lines.add("default:")
        self.lines.add("  break;")
        self.close()
        self.lines.add("return;")
        self.close()

    def _lane(self, index: int, found: SimdFiring) -> None:
        """Write the firings of one lane, or before them its part of the question how many there are."""
        scope = self.scope
        if found.asks:
            self.open("if (share.asks)")
            self.open("for (std::int64_t k = share.first; k < share.count; k += share.step)")
            self.lines.add("Ports p = ports_;")
            self._move("p", index, "k")
            self.open(f"if (chosen(p) != {index})")
            self.lines.add("share.ends_at(k);")
            self.lines.add("return;")
            self.close()
            self.close()
            self.lines.add("return;")
            self.close()
        self.open("for (std::int64_t k = share.first; k < share.count; k += share.step)")
        self.lines.add("share.begins(k);")
        self.lines.add("LaneVisit<Ports> visit(ports_);")
        self._move("visit.ports", index, "k")
        self.lines.add(f"this->{scope.lone_names.get(index, scope.names.actions[index])}(visit);")
        self.close()

    def _batch(self, index: int, found: SimdFiring) -> None:
        """Write what fires an action several times at once where that many tokens are there; else it does nothing."""
        scope = self.scope
        span = scope.actor.actions[index].span
        self.comment(span)
        self.open(
            f"{scope.target.procedure}bool {scope.names.batches[index]}(auto& visit, std::int64_t& left)",
            span,
        )
        self.lines.add("Ports& p = visit.ports;")
        self.lines.add("std::int64_t most = left;")
        for port, tokens in self._inputs(index):
            self.lines.add(f"most = fitting(most, p.{port}.count(), {tokens});")
        for port, tokens in self._outputs(index):
            self.lines.add(f"most = fitting(most, p.{port}.room(), {tokens});")
        asks = "true" if found.asks else "false"
        self.lines.add(f"const std::int64_t count = visit.together({index}, most, {asks}, {scope.main_rounds(index)});")
        self.open("if (count == 0)")
        self.lines.add("return false;")
        self.close()
        self._move("p", index, "count")
        self.lines.add(f"visit.fired({index}, count);")
        self.lines.add("left -= count - 1;")
        self.lines.add("return true;")
        self.close_member()

    def _chosen(self) -> None:
        """Write which action would be chosen and leave the state of the machine as it is; -1: none."""
        self.open_function("int chosen(const Ports& p)")
        writer = _Asker(self.scope.names, "")
        writer.write(self.scope.explicit.choice)
        self.lines.extend(writer.lines)
        self.lines.add("return -1;")
        self.close_member()

    def _move(self, ports: str, index: int, count: str) -> None:
        """Write what moves ports beyond so many firings."""
        for port, tokens in self._inputs(index):
            self.lines.add(f"{ports}.{port}.consume({_product(tokens, count)});")
        for port, tokens in self._outputs(index):
            self.lines.add(f"{ports}.{port}.advance({_product(tokens, count)});")

    def _inputs(self, index: int) -> list[tuple[str, int]]:
        action, names = self.scope.actor.actions[index], self.scope.ports.inputs
        return [(names[p.port], p.tokens) for p in action.inputs if p.port in self.scope.inputs]

    def _outputs(self, index: int) -> list[tuple[str, int]]:
        action, names = self.scope.actor.actions[index], self.scope.ports.outputs
        return [(names[p.port], p.tokens) for p in action.outputs if p.port in self.scope.outputs]


class _Asker(ChoiceWriter):
    """Writes a choice that names the action instead of firing it."""

    def await_room(self) -> None:
        """Write nothing: the choice goes on."""

    def blocked(self) -> None:
        """Write that nothing would fire."""
        self.lines.add("return -1;")

    def fire(self, fire: Fire) -> None:
        """Write which action would fire; one that changes the state of the machine counts as none."""
        self.lines.add(f"return {fire.action if fire.target is None else -1};")


def _product(tokens: int, count: str) -> str:
    return count if tokens == 1 else f"{tokens} * {count}"
