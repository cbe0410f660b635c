"""Statements of the explicit IR as C++, each below the line of the source that it stems from."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TypeAlias

from dse.base.source import NO_SPAN, Span
from dse.codegen.cpp.lists import CppLists, rows_of, wide_container
from dse.codegen.cpp.spelling import CONDITIONAL, Typed, atom, comment_text
from dse.codegen.cpp.storage import list_text, zero_text
from dse.codegen.cpp.types import BIG, I32, I64, CType, storage_type, working_type
from dse.codegen.emitter import StatementEmitter
from dse.passes.analyses.ranges import container
from dse.program.ir import (
    Assign,
    CallStmt,
    Check,
    Conditional,
    ConstList,
    ConsumeTokens,
    CopyInto,
    Count,
    Declare,
    Evaluate,
    Expr,
    ForEach,
    GeneratorLoop,
    If,
    ListExpr,
    Print,
    ReadTokens,
    Stmt,
    While,
    WriteTokens,
)
from dse.program.types import FloatType, IntType, ListType, ScalarType, Type, scalar_of

SourceLines: TypeAlias = Callable[[str], Sequence[str]]
"""Returns the lines of a source file by its path; none where there is no such file."""
_MOST_COMMENT_LINES = 3


def no_source(path: str) -> Sequence[str]:
    """Return no lines: for texts without the source in comments."""
    del path
    return ()


@dataclass(frozen=True, slots=True, kw_only=True)
class PortNames:
    """The ends of the FIFOs of an actor: the types of the tokens that arrive (None: unconnected), and their names."""

    arriving: tuple[Type | None, ...]
    leaving: tuple[Type, ...]
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]


class CppStatements(StatementEmitter):
    """Writes statements of one actor. ``source`` gives the lines that are put into comments."""

    expressions: CppLists

    def __init__(self, expressions: CppLists, ports: PortNames, source: SourceLines) -> None:
        super().__init__(expressions)
        self.ports = ports
        self.source = source
        self._commented = (NO_SPAN.path, 0)

    # Source in comments -----------------------------------------------------------------------------------------------

    def statement(self, stmt: Stmt) -> None:
        """Write one statement, the line of the source above it."""
        self.expressions.statement = stmt.span
        if not isinstance(stmt, ReadTokens | ConsumeTokens | Count):
            self.comment(stmt.span, 1 if isinstance(stmt, ForEach | While | If) else 0)
        if isinstance(stmt, Evaluate):
            self.line(f"static_cast<void>({self.expressions.write(stmt.value).text})", stmt.span)
        else:
            super().statement(stmt)

    def comment(self, span: Span, most: int = 0) -> None:
        """Write the lines of the source that a span covers, ``most`` of them, unless they stand there already."""
        lines = self.source(span.path)
        last = min(span.end_line, span.line + (most or _MOST_COMMENT_LINES) - 1, len(lines))
        for number in range(span.line, last + 1):
            if (span.path, number) > self._commented or span.path != self._commented[0]:
                text = comment_text(lines[number - 1])
                if text:
                    self.lines.add(f"// {text}")
                self._commented = (span.path, number)

    # Stores -----------------------------------------------------------------------------------------------------------

    def declare(self, stmt: Declare) -> None:
        """Write a local with its first value."""
        variable, write = stmt.variable, self.expressions
        if isinstance(variable.type, ListType):
            self._declare_list(stmt)
            return
        of = storage_type(variable.type)
        value = zero_text(of) if stmt.value is None else self.stored(stmt.value, of)
        constant = "const " if variable.name not in write.mutated else ""
        target = write.names.of(variable.name)
        start = "{}" if value == '""' else f" = {value}"
        self.line(f"{constant}{of.name} {target}{start}", stmt.span)

    def _declare_list(self, stmt: Declare) -> None:
        write, name = self.expressions, stmt.variable.name
        element = write.elements[name]
        held = list_text(element, write.values.held[name].sizes)
        value = "" if stmt.value is None else write.made(stmt.value, element)
        self.begin_list(name, held, value, constant=bool(value) and name not in write.mutated, span=stmt.span)

    def begin_list(self, name: str, held: str, value: str, *, constant: bool, span: Span) -> None:
        """Write the definition of a list of the type ``held``, with zeros where ``value`` is ""."""
        start = f"{'const ' if constant else ''}{held} {self.expressions.names.of(name)}"
        self.line(f"{start} = {value}" if value else start, span)

    def stored(self, value: Expr, of: CType) -> str:
        """Return a scalar as it is stored in a variable that is known to hold it."""
        code = self.expressions.scalar(value)
        if BIG in (code.type, of):
            return self.expressions.as_type(code, of).text
        return code.text

    def result(self, value: Expr, of: Type) -> str:
        """Return what a routine gives, as it is stored in its type."""
        held = storage_type(scalar_of(of))
        return self.expressions.made(value, held) if isinstance(of, ListType) else self.stored(value, held)

    def assign(self, stmt: Assign) -> None:
        """Write the assignment of a scalar."""
        of = self.expressions.values.held[stmt.name].variable.type
        assert not isinstance(of, ListType), "lists are copied"
        self.line(f"{self.expressions.names.of(stmt.name)} = {self.stored(stmt.value, storage_type(of))}", stmt.span)

    def assign_element(self, stmt: Assign) -> None:
        """Write the assignment of an element, which is dropped and counted when an index is out of bounds."""
        with self._bounds_tested(stmt) as target:
            value = self.stored(stmt.value, self.expressions.elements[stmt.name])
            self.line(f"{target} = {value}", stmt.span)

    def copy_into(self, stmt: CopyInto) -> None:
        """Write the assignment of a list or sub-list; a value that is made for it is made first."""
        with self._bounds_tested(stmt) as target:
            held = self.expressions.values.held[stmt.name].variable.type
            narrow = storage_type(scalar_of(held))
            wraps = stmt.convert and narrow != self.expressions.elements[stmt.name]
            container = wide_container(held) if stmt.convert else ""
            into = f"narrow<{narrow.name}>({target})" if wraps else target
            effects = self.expressions.effects
            if not any(effects.acts(index) for index in stmt.indices if not isinstance(index, Check)):
                self._copy_into(into, stmt.value, container, stmt.span)
                return
            place = self.expressions.names.fresh("place")  # an index that acts does so once, before the value is made
            self.open("")
            self.line(f"auto&& {place} = {into}", stmt.span)
            self._copy_into(place, stmt.value, container, stmt.span)
            self.close()

    def _copy_into(self, target: str, value: Expr, container: str, span: Span) -> None:
        """Write the copy of a list; of one that is chosen, or that has rows of different sizes, in steps.

        ``container``: what its elements wrap to, where C++ does not do it.
        """
        match value:
            case Conditional():
                self.open(f"if ({self.expressions.scalar(value.condition).text})", span)
                self._copy_into(target, value.then, container, span)
                self.lines.depth -= 1
                self.open("} else", span)
                self._copy_into(target, value.otherwise, container, span)
                self.close()
            case ListExpr() | ConstList() if not self.expressions.is_rectangle(value):
                self._copy_rows(target, rows_of(value), container, span)
            case _:
                source = self.expressions.place(value)
                copy, wraps = ("copy_wrapped", f", {container}") if container else ("copy_into", "")
                self.line(f"{copy}({target}, {source}{wraps})", span)

    def _copy_rows(self, target: str, values: tuple[Expr, ...], container: str, span: Span) -> None:
        """Write the copy of rows of different sizes; all are made before the first is copied."""
        rows = [self.expressions.names.fresh("row") for _ in values]
        self.open("")
        for row, value in zip(rows, values, strict=True):
            self.line(f"auto&& {row} = {self.expressions.held(value, None)}", span)
        for k, row in enumerate(rows):
            self.line(f"copy_row({target}, {k}, {row})", span)
        if container:
            self.line(f"wrap_elements({target}.view(), {container})", span)
        self.close()

    @contextmanager
    def _bounds_tested(self, stmt: Assign | CopyInto) -> Iterator[str]:
        """Write the tests of the indices around a store; gives the text of its target."""
        write = self.expressions
        if not stmt.indices:
            yield write.names.of(stmt.name)
            return
        if not any(isinstance(i, Check) for i in stmt.indices):
            yield write.at_indices(stmt.name, [write.index(i) for i in stmt.indices])
            return
        tests, texts, held = self._tests(stmt)
        if held:
            self.open("")
            for line in held:
                self.line(line, stmt.span)
        self.open(f"if ({' && '.join(tests)})", stmt.span)
        yield write.at_indices(stmt.name, texts)
        self.lines.depth -= 1
        self.lines.add("} else {")
        self.lines.depth += 1
        accessed = write.values.held[stmt.name].variable.source_name
        self.line(f"stray({write.sites.number(stmt.span, accessed)})", stmt.span)
        self.close()
        if held:
            self.close()

    def _tests(self, stmt: Assign | CopyInto) -> tuple[list[str], list[str], list[str]]:
        """Return the tests of the indices of a store, the indices behind them, and what is declared before."""
        write = self.expressions
        tests: list[str] = []
        texts: list[str] = []
        held: list[str] = []
        for depth, index in enumerate(stmt.indices):
            if not isinstance(index, Check):
                texts.append(write.index(index))
                continue
            code = write.scalar(index.operand)
            if code.simple and code.type.bits in (8, 16, 32, 64):
                texts.append(code.text)
                tests.append(write.bound_test(index, code.text, stmt.name, depth))
                continue
            of = working_type((write.values.interval(index.operand),))
            name = write.names.fresh("index")
            texts.append(name if of in (I32, I64) else f"plain({name})")
            value = write.as_type(code, of).text if BIG in (code.type, of) else code.text
            if tests or held:
                held.append(f"{of.name} {name} = 0")
                value = f"{name} = {value}"
            else:
                held.append(f"const {of.name} {name} = {value}")
                value = name
            tests.append(write.bound_test(index, value, stmt.name, depth))
        return tests, texts, held

    # Control ----------------------------------------------------------------------------------------------------------

    def print(self, stmt: Print) -> None:
        """Write what prints."""
        end = '"\\n"' if stmt.newline else ""
        self.expressions.needs_context = True
        if stmt.value is None:
            if end:
                self.line(f"context.output({end})", stmt.span)
            return
        text = self.expressions.scalar(stmt.value)
        printed = f"{text.at(CONDITIONAL + 1)} + {end}" if end else text.text
        self.line(f"context.output({printed})", stmt.span)

    def _if(self, stmt: If) -> None:
        """Write an ``if`` with all its ``elsif``; faults of their conditions are theirs."""
        head = "if"
        while True:
            self.expressions.statement = stmt.span
            self.open(f"{head} ({self.expressions.scalar(stmt.condition).text})", stmt.span)
            self.body(stmt.then)
            self.lines.depth -= 1
            match stmt.otherwise:
                case ():
                    self.lines.add("}")
                    return
                case (If() as chained,):
                    stmt, head = chained, "} else if"
                case others:
                    self.open("} else", stmt.span)
                    self.body(others)
                    self.close()
                    return

    def foreach(self, stmt: ForEach) -> None:
        """Write a loop over a range."""
        head = self.expressions.loop_head(GeneratorLoop(stmt.variable, stmt.low, stmt.high))
        self.block(head, stmt.body, stmt.span)

    def endless(self, stmt: While) -> None:
        """Write the report of a loop that nothing can end."""
        self.line(f"endless({self.expressions.site()})", stmt.span)

    def call(self, stmt: CallStmt) -> None:
        """Write the call of a procedure; before that of a native, the actor says where it is."""
        if stmt.routine in self.expressions.natives:
            self.line(f"at({self.expressions.site()})", stmt.span)
        self.line(self.expressions.call_text(stmt.routine, stmt.arguments), stmt.span)

    # Tokens -----------------------------------------------------------------------------------------------------------

    def access(self, stmt: Stmt) -> None:
        """Write a token access or a count."""
        match stmt:
            case ReadTokens():
                self._read(stmt)
            case ConsumeTokens():
                self.line(f"p.{self.ports.inputs[stmt.port]}.consume({stmt.tokens})", stmt.span)
            case WriteTokens():
                self._write(stmt)
            case Count():
                self.line(f"++rounds[{stmt.counter}]", stmt.span)
            case _:
                raise AssertionError(f"{type(stmt).__name__} has a method of its own")

    def _read(self, stmt: ReadTokens) -> None:
        """Write the load of a token variable, without moving the position."""
        source, of = self.ports.arriving[stmt.port], stmt.variable.type
        assert source is not None, "an action that reads an unconnected input is never written"
        port, target = f"p.{self.ports.inputs[stmt.port]}", self.expressions.names.of(stmt.variable.name)
        constant = "const " if stmt.variable.name not in self.expressions.mutated else ""
        if not isinstance(of, ListType):
            held = storage_type(of)
            token = self._token(f"{port}[{stmt.offset}]", source, of, held, convert=stmt.convert)
            self.line(f"{constant}{held.name} {target} = {token}", stmt.span)
            return
        element = self.expressions.elements[stmt.variable.name]
        self.begin_list(stmt.variable.name, list_text(element, (stmt.count,)), "", constant=False, span=stmt.span)
        arriving, scalar = storage_type(scalar_of(source)), scalar_of(of)
        if stmt.convert and not (_is_copied(arriving, scalar) and storage_type(scalar) == element):
            position = f"{stmt.offset} + k * {stmt.stride}"
            token = self._token(f"{port}[{position}]", source, scalar, element, convert=True)
            self.line(f"for (i64 k = 0; k != {stmt.count}; ++k) {{ {target}[k] = {token}; }}", stmt.span)
            return
        stride = "" if stmt.stride == 1 else f", {stmt.stride}"
        self.line(f"{port}.copy({target}.data(), {stmt.offset}, {stmt.count}{stride})", stmt.span)

    def _token(self, text: str, source: Type, target: ScalarType, held: CType, *, convert: bool) -> str:
        """Return a token as a variable takes it."""
        scalar = scalar_of(source)
        code: Typed = atom(text, storage_type(scalar))
        if convert:
            code = self.expressions.converted(code, container(scalar), scalar, target)
        return self.expressions.as_type(code, held).text if BIG in (code.type, held) else code.text

    def _write(self, stmt: WriteTokens) -> None:
        """Write tokens; all of them are computed before the first is written, where that can be seen."""
        port = f"p.{self.ports.outputs[stmt.port]}"
        of = storage_type(scalar_of(self.ports.leaving[stmt.port]))
        if not stmt.repeat:
            self._write_scalars(stmt, port, of)
            return
        if len(stmt.values) == 1:
            tokens = self.expressions.held(stmt.values[0], of)
            self.line(f"{port}.put({tokens}.view().data, {stmt.repeat})", stmt.span)
            return
        names = [self.expressions.names.fresh("tokens") for _ in stmt.values]
        self.open("")
        for held, value in zip(names, stmt.values, strict=True):
            self.line(f"auto&& {held} = {self.expressions.held(value, of)}", stmt.span)
        for k, held in enumerate(names):
            self.line(f"{port}.lay({held}.view().data, {k}, {stmt.repeat}, {len(names)})", stmt.span)
        self.line(f"{port}.advance({stmt.repeat * len(names)})", stmt.span)
        self.close()

    def _write_scalars(self, stmt: WriteTokens, port: str, of: CType) -> None:
        texts = [self.stored(v, of) for v in stmt.values]
        if len(texts) > 1 and any(self.expressions.effects.may_end(v) for v in stmt.values):
            names = [self.expressions.names.fresh("token") for _ in texts]
            self.open("")
            for held, text in zip(names, texts, strict=True):
                self.line(f"const {of.name} {held} = {text}", stmt.span)
            for held in names:
                self.line(f"{port}.put({held})", stmt.span)
            self.close()
            return
        for value, text in zip(stmt.values, texts, strict=True):
            self.line(f"{port}.put({text})", value.span)


def _is_copied(arriving: CType, target: ScalarType) -> bool:
    """Return whether a plain conversion of C++ converts tokens: integers of the machine to such, or among floats."""
    held = storage_type(target)
    if isinstance(target, IntType):
        return arriving.family == "integer" and BIG not in (arriving, held)
    return isinstance(target, FloatType) and arriving.family == "float"
