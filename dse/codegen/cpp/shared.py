"""Loops of one firing by several threads of a block: what hands them out, and what each thread does.

Only targets with ``lanes`` have it. What rounds access of a firing are members of the class, since a thread sees no
local of another one: lists live there, scalars are copied there and back. The thread that fires tells how many rounds
there are; each lane calls the function of the loop with its share of them. Where there is nobody to share with, the
same function does all rounds.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from dse.base.source import Span
from dse.codegen.cpp.lists import CppLists
from dse.codegen.cpp.spelling import Names
from dse.codegen.cpp.statements import CppStatements, PortNames, SourceLines
from dse.codegen.cpp.storage import zero_text
from dse.codegen.cpp.types import I64, storage_type
from dse.codegen.emitter import Lines
from dse.passes.analyses.shared_loops import LoopSharing, fixed_bounds
from dse.program.ir import Declare, ForEach
from dse.program.types import ListType, scalar_of


@dataclass(frozen=True, slots=True, kw_only=True)
class SharedLoop:
    """A loop that is shared out, with its number in the class. ``function``: what does rounds of it; ``low``: a member
    for its first value, where that is no number.
    """

    number: int
    sharing: LoopSharing
    function: str
    low: str


def name_loops(sharings: Sequence[LoopSharing], actions: Sequence[str], names: Names) -> tuple[SharedLoop, ...]:
    """Return loops with their names; ``actions``: those of the actions."""
    return tuple(
        SharedLoop(
            number=number,
            sharing=sharing,
            function=names.fresh(f"{actions[sharing.action]}_rounds"),
            low=names.fresh("first_round"),
        )
        for number, sharing in enumerate(sharings)
    )


@dataclass(slots=True)
class Written:
    """What writing actions leaves to be written behind them: functions of loops, and members by name."""

    functions: list[Lines]
    members: dict[str, str]


class SharedStatements(CppStatements):
    """Writes the firing of an action whose loops are shared out. ``loops``: by the variable of the outer one."""

    def __init__(
        self,
        expressions: CppLists,
        ports: PortNames,
        source: SourceLines,
        loops: Mapping[str, SharedLoop],
        written: Written,
    ) -> None:
        super().__init__(expressions, ports, source)
        self.loops = loops
        self.written = written
        self.apart = frozenset(name for loop in loops.values() for name in loop.sharing.lists)

    def begin_list(self, name: str, held: str, value: str, *, constant: bool, span: Span) -> None:
        """Write the begin of a list, which is a member where a loop that is shared out accesses it."""
        if name not in self.apart:
            super().begin_list(name, held, value, constant=constant, span=span)
            return
        target = self.expressions.names.of(name)
        self.written.members[name] = f"{held} {target};"
        self.line(f"{target} = {value}" if value else f"clear({target})", span)

    def foreach(self, stmt: ForEach) -> None:
        """Write a loop, shared out where it may be."""
        loop = self.loops.get(stmt.variable.name)
        if loop is None:
            super().foreach(stmt)
            return
        self.open("", stmt.span)
        for outer in loop.sharing.loops[:-1]:
            self.body(s for s in outer.body if isinstance(s, Declare))
        rounds = self._rounds(loop)
        sharing, name_of = loop.sharing, self.expressions.names.of
        for name in (*sharing.taken, *sharing.left):
            self._member(name)
            self.line(f"this->{name_of(name)} = {name_of(name)}", stmt.span)
        call = f"[this](const auto& share) {{ {loop.function}(share); }}"
        self.line(f"visit.share({loop.number}, {rounds}, {call})", stmt.span)
        for name in sharing.left:
            self.line(f"{name_of(name)} = this->{name_of(name)}", stmt.span)
        self.close()
        self.written.functions.append(self._function(loop))

    def _rounds(self, loop: SharedLoop) -> str:
        """Return how many rounds there are, in all loops; write what keeps where the outer one begins."""
        stmt, write = loop.sharing.loops[0], self.expressions
        inner = 1
        for one in loop.sharing.loops[1:]:
            first, last = self._fixed(one)
            inner *= max(0, last - first + 1)
        fixed = fixed_bounds(stmt, write.values)
        for one in loop.sharing.loops if fixed is not None else loop.sharing.loops[1:]:
            write.scalar(one.low), write.scalar(one.high)  # the places in them have their numbers as on a processor
        if fixed is not None:
            return str(inner * max(0, fixed[1] - fixed[0] + 1))
        self.written.members[loop.low] = f"i64 {loop.low}{{0}};"
        for target, bound in ((loop.low, stmt.low), ("const i64 last", stmt.high)):
            self.line(f"{target} = {write.as_type(write.scalar(bound), I64).text}", stmt.span)
        return f"rounds_of({loop.low}, last)" if inner == 1 else f"rounds_of({loop.low}, last) * {inner}"

    def _fixed(self, loop: ForEach) -> tuple[int, int]:
        found = fixed_bounds(loop, self.expressions.values)
        assert found is not None, "only such loops are taken together with the one around"
        return found

    def _member(self, name: str) -> None:
        write = self.expressions
        of = write.loop_types.get(name)
        if of is None:
            variable = write.values.held[name].variable
            assert not isinstance(variable.type, ListType), "lists are members from their begin on"
            of = storage_type(variable.type)
        self.written.members[name] = f"{of.name} {write.names.of(name)}{{{zero_text(of)}}};"

    # What a lane does -------------------------------------------------------------------------------------------------

    def _function(self, loop: SharedLoop) -> Lines:
        """Return the function that does rounds of a loop."""
        sharing, write = loop.sharing, self.expressions
        span = sharing.loops[0].span
        writer = CppStatements(write, self.ports, self.source)
        writer.comment(span, 1)
        writer.open(f"{write.target.procedure}void {loop.function}(const auto& share)", span)
        for name in sharing.taken:
            text = write.names.of(name)
            writer.line(f"const auto {text} = this->{text}", span)
        writer.open(f"{write.target.loop}for (i64 round = share.first; round < share.count; round += share.step)", span)
        writer.line("share.begins(round)", span)
        self._variables(loop, writer)
        for name in sharing.left:
            of = storage_type(scalar_of(write.values.held[name].variable.type))
            writer.line(f"{of.name} {write.names.of(name)}{{{zero_text(of)}}}", span)
        writer.body(sharing.loops[-1].body)
        if sharing.left:
            writer.open("if (round + 1 == share.count)", span)
            for name in sharing.left:
                text = write.names.of(name)
                writer.line(f"this->{text} = {text}", span)
            writer.close()
        writer.close()
        writer.close()
        writer.lines.add("")
        return writer.lines

    def _variables(self, loop: SharedLoop, writer: CppStatements) -> None:
        """Write the variables of the loops in one round: the inner one changes fastest."""
        place = "round"
        for one in reversed(loop.sharing.loops[1:]):
            first, last = self._fixed(one)
            count = max(1, last - first + 1)
            self._variable(one, f"{first} + {place} % {count}", writer)
            place = f"({place} / {count})"
        fixed = fixed_bounds(loop.sharing.loops[0], self.expressions.values)
        low = loop.low if fixed is None else str(fixed[0])
        self._variable(loop.sharing.loops[0], f"{low} + {place}", writer)

    def _variable(self, loop: ForEach, value: str, writer: CppStatements) -> None:
        write = self.expressions
        of = write.loop_type(loop.low, loop.high)
        write.loop_types[loop.variable.name] = of
        name = write.names.of(loop.variable.name)
        text = f"static_cast<{of.name}>({value})" if of != I64 else value
        writer.line(f"[[maybe_unused]] const {of.name} {name} = {text}", loop.span)
