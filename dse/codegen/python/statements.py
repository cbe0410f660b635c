"""Statements of the explicit IR as Python lines, each with the span it came from, so that a fault finds its source."""

from dse.base.source import Span
from dse.codegen.emitter import Fragment, StatementEmitter
from dse.codegen.python.expressions import PythonExpressions, wrap_text
from dse.codegen.python.spelling import CONDITIONAL, atom, name, python_name, zero_text
from dse.codegen.python.storage import new_list_text
from dse.passes.analyses.ranges import container
from dse.program.ir import (
    Assign,
    CallStmt,
    Cast,
    ConsumeTokens,
    CopyInto,
    Count,
    Declare,
    Expr,
    ForEach,
    Print,
    ReadTokens,
    Stmt,
    While,
    WriteTokens,
)
from dse.program.types import IntType, ListType, Type, scalar_of


class PythonStatements(StatementEmitter):
    """Writes statements of one actor.

    Token accesses use the local names of the generated scheduler, for input i and output j: ``D<i>`` the token list,
    ``h<i>`` the position of the next token; ``E<j>`` the token list, ``r<j>`` the room left, least over its readers.
    """

    expressions: PythonExpressions

    def __init__(self, expressions: PythonExpressions, inputs: tuple[Type | None, ...] = ()) -> None:
        super().__init__(expressions)
        self.inputs = inputs
        """Types of the tokens that arrive."""

    # Stores -----------------------------------------------------------------------------------------------------------

    def declare(self, stmt: Declare) -> None:
        """Write the first value of a local."""
        target = python_name(stmt.variable.name)
        if stmt.value is not None:
            self._store(target, stmt.value, stmt.span)
        elif isinstance(stmt.variable.type, ListType):
            self.lines.add(f"{target} = {new_list_text(stmt.variable.type)}", stmt.span)
        else:
            self.lines.add(f"{target} = {zero_text(stmt.variable.type)}", stmt.span)

    def assign(self, stmt: Assign) -> None:
        """Write the assignment of a scalar."""
        self._store(python_name(stmt.name), stmt.value, stmt.span)

    def _store(self, target: str, value: Expr, span: Span) -> None:
        """Write ``target = value``; wide wraps as a test after the store, which is quicker."""
        if not (isinstance(value, Cast) and _wraps_wide(value)):
            self.lines.add(f"{target} = {self.expressions.write(value).text}", span)
            return
        of, bounds = value.type, self.expressions.values.interval(value.operand)
        assert isinstance(of, IntType)
        self.lines.add(f"{target} = {self.expressions.write(value.operand).text}", span)
        test, _ = self.expressions.range_test(name(target), bounds, of)
        self.lines.add(f"if not ({test}): {target} = {wrap_text(of, target)}", span)

    def assign_element(self, stmt: Assign) -> None:
        """Write the assignment of an element, which is dropped and counted when an index is out of bounds."""
        target, test = self.expressions.place(stmt.name, stmt.indices)
        self._guarded(test, f"{target} = {self.expressions.write(stmt.value).text}", stmt)

    def copy_into(self, stmt: CopyInto) -> None:
        """Write the assignment of a list: as a slice where that is all."""
        target, test = self.expressions.place(stmt.name, stmt.indices)
        of: Type = self.expressions.values.held[stmt.name].variable.type
        for _ in stmt.indices:
            assert isinstance(of, ListType)
            of = of.element
        assert isinstance(of, ListType)
        code, length = self.expressions.write(stmt.value), self.expressions.values.of(stmt.value).length
        held = self.expressions.values.held[stmt.name]
        size = held.sizes[len(stmt.indices)] if held.certain else -1  # a parameter's list has the size of the caller's
        flat = not isinstance(of.element, ListType)
        if flat and not stmt.convert and length is not None and length <= size:
            part = "[:]" if length == size else f"[:{length}]"
            self._guarded(test, f"{target}{part} = {code.text}", stmt)
            return
        convert = self.expressions.conversion_function(stmt.value, of, convert=stmt.convert)
        self._guarded(test, f"copy_into({target}, {code.text}, {convert})", stmt)

    def _guarded(self, test: str, text: str, stmt: Assign | CopyInto) -> None:
        """Write a store that is dropped and counted when ``test`` fails."""
        if not test:
            self.lines.add(text, stmt.span)
            return
        self.lines.add(f"if {test}: {text}", stmt.span)
        source_name = self.expressions.values.held[stmt.name].variable.source_name
        self.lines.add(f"else: stray({self.expressions.names.site(stmt.span, source_name)})", stmt.span)

    # Control ----------------------------------------------------------------------------------------------------------

    def print(self, stmt: Print) -> None:
        """Write what prints."""
        end = "\\n" if stmt.newline else ""
        if stmt.value is None:
            if end:
                self.lines.add(f'output("{end}")', stmt.span)
            return
        text = self.expressions.write(stmt.value)
        printed = f'{text.at(CONDITIONAL + 1)} + "{end}"' if end else text.text
        self.lines.add(f"output({printed})", stmt.span)

    def foreach(self, stmt: ForEach) -> None:
        """Write a loop over a range."""
        loop = f"for {python_name(stmt.variable.name)} in {self.expressions.range_text(stmt.low, stmt.high)}"
        self.block(loop, stmt.body, stmt.span)

    def endless(self, stmt: While) -> None:
        """Write the report of a loop that nothing can end."""
        self.lines.add("endless()", stmt.span)

    def call(self, stmt: CallStmt) -> None:
        """Write the call of a procedure."""
        self.lines.add(self.expressions.call_text(stmt.routine, stmt.arguments), stmt.span)

    # Tokens -----------------------------------------------------------------------------------------------------------

    def access(self, stmt: Stmt) -> None:
        """Write a token access or a count."""
        match stmt:
            case ReadTokens():
                self._read(stmt)
            case ConsumeTokens():
                self.lines.add(f"h{stmt.port} += {stmt.tokens}", stmt.span)
            case WriteTokens():
                self._write(stmt)
            case Count():
                self.lines.add(f"rounds[{stmt.counter}] += 1", stmt.span)
            case _:
                raise AssertionError(f"{type(stmt).__name__} has a method of its own")

    def _read(self, stmt: ReadTokens) -> None:
        """Write the load of a token variable, without moving the position."""
        source, of = self.inputs[stmt.port], stmt.variable.type
        assert source is not None, "an action that reads an unconnected input is never written"
        target, front = python_name(stmt.variable.name), f"D{stmt.port}"
        first = f"h{stmt.port} + {stmt.offset}" if stmt.offset else f"h{stmt.port}"

        scalar = scalar_of(of)

        def token(code: Fragment) -> str:
            if not stmt.convert:
                return code.text
            return self.expressions.converted(code, container(source), scalar_of(source), scalar).text

        if not stmt.count:
            self.lines.add(f"{target} = {token(atom(f'{front}[{first}]'))}", stmt.span)
            return
        tokens = f"{front}[{first}:h{stmt.port} + {stmt.count * stmt.stride}"
        tokens += "]" if stmt.stride == 1 else f":{stmt.stride}]"
        self.lines.add(
            f"{target} = " + (f"[{token(name('e'))} for e in {tokens}]" if stmt.convert else tokens), stmt.span
        )

    def _write(self, stmt: WriteTokens) -> None:
        """Write the appending of tokens and the count of the room that they take."""
        target, values = f"E{stmt.port}", [self.expressions.write(v) for v in stmt.values]
        if stmt.repeat:
            parts = ", ".join(v.text for v in values)
            tokens = parts if len(values) == 1 else f"flattened(zip({parts}))"
            self.lines.add(f"{target} += {tokens}", stmt.span)
        elif len(values) == 1:
            self.lines.add(f"{target}.append({values[0].text})", stmt.span)
        else:
            self.lines.add(f"{target} += ({', '.join(v.at(CONDITIONAL) for v in values)})", stmt.span)
        self.lines.add(f"r{stmt.port} -= {len(values) * max(1, stmt.repeat)}", stmt.span)


def _wraps_wide(value: Cast) -> bool:
    """Return whether a conversion is a wrap that a test after the store makes quicker."""
    of = value.type
    return (
        isinstance(of, IntType) and isinstance(value.operand.type, IntType) and (of.signed or of.container_bits >= 32)
    )
