"""Loops of one firing by several threads of a block: what hands them out, and what each thread does.

Only targets with ``lanes`` have it. What rounds access of a firing are members of the class, since a thread sees no
local of another one: lists live there, scalars are copied there and back. The thread that fires tells how many rounds
there are; each lane calls the function of the loop with its share of them. Where there is nobody to share with, the
same function does all rounds. A list that is written as an expression is a loop over its elements, which fills a
member. A routine with such loops has a second function for the thread that fires, which is handed the visit.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass

from dse.base.source import Span
from dse.codegen.cpp.lists import CppLists
from dse.codegen.cpp.spelling import Names
from dse.codegen.cpp.statements import CppStatements, PortNames, SourceLines
from dse.codegen.cpp.storage import list_text, zero_text
from dse.codegen.cpp.types import I64, CType, storage_type
from dse.codegen.emitter import Lines
from dse.passes.analyses.loop_sharing import LoopSharing, fixed_bounds
from dse.program.ir import Declare, Expr, ForEach, Generator, GeneratorLoop, Stmt
from dse.program.types import ListType, Type, scalar_of


@dataclass(frozen=True, slots=True, kw_only=True)
class SharedLoop:
    """A loop that is shared out, with its number in the class. ``function``: what does rounds of it; ``low``: a member
    for its first value, where that is no number, or for the list that is made.
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
            function=names.fresh(f"{names.of(sharing.routine) if sharing.routine else actions[sharing.action]}_rounds"),
            low=names.fresh("first_round" if sharing.generator is None else "made_list"),
        )
        for number, sharing in enumerate(sharings)
    )


def shared_names(routines: Iterable[str], names: Names) -> dict[str, str]:
    """Return the names of the second functions of routines."""
    return {name: names.fresh(f"{names.of(name)}_shared") for name in routines}


@dataclass(slots=True)
class Written:
    """What writing actions leaves to be written behind them: functions of loops, and members by name."""

    functions: list[Lines]
    members: dict[str, str]


class SharedStatements(CppStatements):
    """Writes what the thread does that fires, and shares loops out. ``loops``: by the variable of the outer one.

    ``members``: lists of firings and routines that all threads see; ``routines``: the functions of those that share.
    """

    def __init__(
        self,
        expressions: CppLists,
        ports: PortNames,
        source: SourceLines,
        loops: Mapping[str, SharedLoop],
        members: frozenset[str],
        routines: Mapping[str, str],
        written: Written,
    ) -> None:
        super().__init__(expressions, ports, source)
        self.loops = loops
        self.members = members
        self.routines = routines
        self.written = written

    def statement(self, stmt: Stmt) -> None:
        """Write one statement, its calls and lists as those of the thread that fires."""
        with self._sharing():
            super().statement(stmt)

    def _sharing(self) -> AbstractContextManager[None]:
        """Let expressions share out what they can."""
        return self.expressions.handed(self.made_by_threads, self.routines)

    def begin_list(self, name: str, held: str, value: str, *, constant: bool, span: Span) -> None:
        """Write the begin of a list, which is a member where a loop that is shared out accesses it."""
        if name not in self.members:
            super().begin_list(name, held, value, constant=constant, span=span)
            return
        target = self.expressions.names.of(name)
        self.written.members[name] = f"{held} {target};"
        self.line(f"{target} = {value}" if value else f"clear({target})", span)

    def result(self, value: Expr, of: Type) -> str:
        """Return the result of a routine, shared out where it may be."""
        with self._sharing():
            return super().result(value, of)

    def foreach(self, stmt: ForEach) -> None:
        """Write a loop, shared out where it may be."""
        loop = self.loops.get(stmt.variable.name)
        if loop is None:
            super().foreach(stmt)
            return
        self.open("", stmt.span)
        for outer in loop.sharing.loops[:-1]:
            if isinstance(outer, ForEach):
                self.body(s for s in outer.body if isinstance(s, Declare))
        rounds = self._rounds(loop)
        for step in self._handed_out(loop):
            self.line(step, stmt.span)
        self.line(f"visit.share({loop.number}, {rounds}, {_alone(loop)})", stmt.span)
        for name in loop.sharing.left:
            text = self.expressions.names.of(name)
            self.line(f"{text} = this->{text}", stmt.span)
        self.close()
        self.written.functions.append(self._function(loop))

    def _handed_out(self, loop: SharedLoop) -> Iterator[str]:
        """Yield the statements that put what rounds need where all threads see it."""
        name_of = self.expressions.names.of
        for name in (*loop.sharing.views, *loop.sharing.taken, *loop.sharing.left):
            self._member(name)
            yield f"this->{name_of(name)} = {name_of(name)}"

    def made_by_threads(self, expr: Generator, element: CType, sizes: tuple[int, ...]) -> str:
        """Return a list whose elements threads make, "" where one thread does: a member that they fill."""
        loop = self.loops.get(expr.loops[0].variable.name)
        if loop is None or loop.low in self.written.members:
            return ""
        write = self.expressions
        self.written.members[loop.low] = f"{list_text(element, sizes)} {loop.low};"
        self._number_places(expr.loops)
        steps = [*self._handed_out(loop)]
        if len(sizes) > 1 or loop.sharing.rounds * len(expr.elements) < sizes[0]:
            steps.append(f"clear({loop.low})")
        steps.append(f"visit.share({loop.number}, {loop.sharing.rounds}, {_alone(loop)})")
        self.written.functions.append(self._function(loop, lambda: write.puts(expr, element, sizes, loop.low)))
        return f"[&]() -> auto& {{ {' '.join(f'{step};' for step in steps)} return {loop.low}; }}()"

    def _rounds(self, loop: SharedLoop) -> str:
        """Return how many rounds there are, in all loops; write what keeps where the outer one begins."""
        stmt, write = loop.sharing.loops[0], self.expressions
        assert isinstance(stmt, ForEach), "a list has its own way"
        if fixed_bounds(stmt, write.values) is not None:
            self._number_places(loop.sharing.loops)
            return str(loop.sharing.rounds)
        self._number_places(loop.sharing.loops[1:])
        inner = 1
        for one in loop.sharing.loops[1:]:
            low, high = self._fixed(one)
            inner *= max(0, high - low + 1)
        self.written.members[loop.low] = f"i64 {loop.low}{{0}};"
        last = write.names.fresh("last_round")
        for target, bound in ((loop.low, stmt.low), (f"const i64 {last}", stmt.high)):
            self.line(f"{target} = {write.as_type(write.scalar(bound), I64).text}", stmt.span)
        return f"rounds_of({loop.low}, {last})" if inner == 1 else f"rounds_of({loop.low}, {last}) * {inner}"

    def _number_places(self, loops: Iterable[ForEach | GeneratorLoop]) -> None:
        """Give the places in bounds that are written as numbers those that they have on a processor."""
        for one in loops:
            self.expressions.scalar(one.low), self.expressions.scalar(one.high)

    def _fixed(self, loop: ForEach | GeneratorLoop) -> tuple[int, int]:
        found = fixed_bounds(loop, self.expressions.values)
        assert found is not None, "only such loops are taken together with the one around"
        return found

    def _member(self, name: str) -> None:
        write = self.expressions
        variable = write.values.held[name].variable
        if isinstance(variable.type, ListType):
            self.written.members[name] = f"{write.parameter_view(variable)} {write.names.of(name)}{{}};"
            return
        of = write.loop_types.get(name) or storage_type(variable.type)
        self.written.members[name] = f"{of.name} {write.names.of(name)}{{{zero_text(of)}}};"

    # What a lane does -------------------------------------------------------------------------------------------------

    def _function(self, loop: SharedLoop, puts: Callable[[], Iterable[str]] = tuple) -> Lines:
        """Return the function that does rounds of a loop: its body, or ``puts``."""
        with self.expressions.handed(None, {}):
            return self._function_of_one(loop, puts)

    def _function_of_one(self, loop: SharedLoop, puts: Callable[[], Iterable[str]]) -> Lines:
        sharing, write = loop.sharing, self.expressions
        span = sharing.place
        writer = CppStatements(write, self.ports, self.source)
        writer.comment(span, 1)
        writer.open(f"{write.target.procedure}void {loop.function}(const auto& share)", span)
        for name in (*sharing.views, *sharing.taken):
            text = write.names.of(name)
            writer.line(f"[[maybe_unused]] const auto {text} = this->{text}", span)
        writer.open(f"{write.target.loop}for (i64 round = share.first; round < share.count; round += share.step)", span)
        writer.line("share.begins(round)", span)
        self._variables(loop, writer)
        for name in sharing.left:
            of = storage_type(scalar_of(write.values.held[name].variable.type))
            writer.line(f"{of.name} {write.names.of(name)}{{{zero_text(of)}}}", span)
        innermost = sharing.loops[-1]
        writer.body(innermost.body if isinstance(innermost, ForEach) else ())
        for put in puts():
            writer.line(put, span)
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

    def _variable(self, loop: ForEach | GeneratorLoop, value: str, writer: CppStatements) -> None:
        write = self.expressions
        of = write.loop_type(loop.low, loop.high)
        write.loop_types[loop.variable.name] = of
        name = write.names.of(loop.variable.name)
        text = f"static_cast<{of.name}>({value})" if of != I64 else value
        writer.line(f"[[maybe_unused]] const {of.name} {name} = {text}", loop.variable.span)


def _alone(loop: SharedLoop) -> str:
    """Return what does all rounds where there is nobody to share them with."""
    return f"[this](const auto& share) {{ {loop.function}(share); }}"
