"""Guards and actions as member functions."""

from collections.abc import Iterator

from dse.codegen.cpp.scope import MemberWriter
from dse.codegen.cpp.spelling import EQUAL
from dse.codegen.cpp.statements import CppStatements
from dse.program.ir import Action, ConsumeTokens, ReadTokens, Stmt, WriteTokens


class FiringWriter(MemberWriter):
    """Writes the guards and the actions of an actor."""

    def guard(self, index: int) -> None:
        """Write the guard of an action; it may be called where the tokens that it looks at are there."""
        scope, write = self.scope, self.scope.expressions
        peek, guard = scope.guards[index]
        span = guard.conditions[0].span
        head = f"bool {scope.names.guards[index]}([[maybe_unused]] const Ports& p)"
        self.open_choice("guard", index, head, scope.actor.actions[index].span)
        writer = scope.statements()
        for read in () if peek is None else peek.reads:
            writer.statement(read)
        write.statement = span
        tests = [write.scalar(c) for c in guard.conditions]
        writer.comment(span.to(guard.conditions[-1].span))
        text = tests[0].text if len(tests) == 1 else " && ".join(t.at(EQUAL) for t in tests)
        writer.line(f"return {text}", span)
        self.lines.extend(writer.lines)
        self.close_member()

    def action(self, index: int) -> None:
        """Write what a firing of an action does, and what it tells the visit meanwhile.

        One whose loops are shared out has a second function where threads fire it too, each for itself.
        """
        scope = self.scope
        if index in scope.lone_names:
            self._action(index, scope.lone_names[index], scope.statements())
        writer = scope.sharing_statements(index) if scope.shares(index) else scope.statements()
        self._action(index, scope.names.actions[index], writer)

    def _action(self, index: int, name: str, writer: CppStatements) -> None:
        scope = self.scope
        action, firing = scope.actor.actions[index], scope.explicit.firings[index]
        assert firing is not None, "an action that needs an unconnected input is never written"
        self.comment(action.span)
        self.open_choice("action", index, f"void {name}(auto& visit)", action.span)
        if scope.touches_ports(action):
            writer.line("Ports& p = visit.ports", action.span)
        lasts = index in scope.endless
        if lasts:
            writer.line(f"visit.lasts({index})", action.span)
        reads, rest, writes = _phases((*self._peeked(index, firing), *firing))
        for phase, told in ((reads, "chose"), (rest, "have_read"), (writes, "computed")):
            writer.line(f"visit.{told}({index})", action.span)
            for stmt in phase:
                writer.statement(stmt)
        self._meet(action, writer)
        if lasts:
            writer.line("visit.lasts(-1)", action.span)
        writer.line(f"visit.fired({index})", action.span)
        self.lines.extend(writer.lines)
        self.close_member()

    def _peeked(self, index: int, firing: tuple[Stmt, ...]) -> Iterator[ReadTokens]:
        """Yield the reads of tokens that the guard has looked at and that the firing uses too."""
        peek = self.scope.guards[index][0] if index in self.scope.guards else None
        _, uses = self.scope.facts.of_actions[index]
        read = {s.variable.name for s in firing if isinstance(s, ReadTokens)}
        for peeked in () if peek is None else peek.reads:
            if peeked.variable.name in (uses.reads | uses.writes) - read:
                yield peeked

    def _meet(self, action: Action, writer: CppStatements) -> None:
        """Write what shows the tokens of a connection from the actor to itself at once."""
        scope = self.scope
        ins, outs = {p.port for p in action.inputs}, {p.port for p in action.outputs}
        for i, j in scope.explicit.wiring.loops:
            if (i in ins or j in outs) and i in scope.inputs and j in scope.outputs:
                writer.line(f"meet(p.{scope.ports.inputs[i]}, p.{scope.ports.outputs[j]})", action.span)


def _phases(firing: tuple[Stmt, ...]) -> tuple[tuple[Stmt, ...], tuple[Stmt, ...], tuple[Stmt, ...]]:
    """Return the statements that read tokens, those that compute, and those from the first that writes tokens on."""
    first = next((k for k, s in enumerate(firing) if not isinstance(s, ReadTokens | ConsumeTokens)), len(firing))
    written = next((k for k, s in enumerate(firing) if isinstance(s, WriteTokens)), len(firing))
    return firing[:first], firing[first:written], firing[written:]
