"""IR statements to Python lines, each with the span it came from, so that a fault at run time finds its source line."""

from collections.abc import Iterable
from dataclasses import dataclass, field

from dse.base.source import NO_SPAN, Span
from dse.codegen.python.code import CONDITIONAL, Code, range_test, stored, wrap_text
from dse.codegen.python.expressions import ExpressionWriter, loop_interval, range_text, zero_text
from dse.codegen.python.scope import Scope, Symbol
from dse.passes.analyses.ranges import container, fits
from dse.passes.analyses.uses import uses_of
from dse.program.ir import (
    Assign,
    Call,
    CallStmt,
    Const,
    ConstList,
    Declare,
    Expr,
    ForEach,
    If,
    Index,
    Load,
    Print,
    Stmt,
    While,
    not_of_source,
)
from dse.program.types import IntType, ListType, StringType, Type, dimensions_of
from dse.program.walk import sub_expressions, sub_statements


@dataclass(slots=True)
class Lines:
    """Python source under construction: lines with their depth and the span each stems from."""

    texts: list[str] = field(default_factory=list)
    spans: list[Span] = field(default_factory=list)
    depth: int = 0

    def add(self, text: str, span: Span = NO_SPAN) -> None:
        """Append a line at the current depth."""
        self.texts.append("\t" * self.depth + text)
        self.spans.append(span)

    def extend(self, other: "Lines") -> None:
        """Append lines that were written at depth 0, at the current depth."""
        indent = "\t" * self.depth
        self.texts += [indent + t for t in other.texts]
        self.spans += other.spans


class StatementWriter:
    """Writes statements of one actor into ``lines``."""

    def __init__(self, scope: Scope, expressions: ExpressionWriter) -> None:
        self.scope = scope
        self.expressions = expressions
        self.lines = Lines()

    def body(self, statements: Iterable[Stmt]) -> None:
        """Write statements at the current depth; ``pass`` if there are none."""
        before = len(self.lines.texts)
        for stmt in statements:
            self.statement(stmt)
        if len(self.lines.texts) == before:
            self.lines.add("pass")

    def statement(self, stmt: Stmt) -> None:
        """Write one statement."""
        match stmt:
            case Declare():
                self._declare(stmt)
            case Assign():
                self._assign(stmt)
            case CallStmt():
                self.lines.add(self.expressions.call_text(stmt.routine, stmt.arguments), stmt.span)
            case Print():
                self._print(stmt)
            case If():
                self._if(stmt)
            case While():
                self._while(stmt)
            case ForEach():
                self._foreach(stmt)
            case _:
                raise not_of_source(stmt)

    # Stores -----------------------------------------------------------------------------------------------------------

    def store_scalar(self, name: str, code: Code, target: Type, span: Span) -> None:
        """Write ``name = code`` with the wrap of ``target``; wide wraps as a test after the store, which is quicker."""
        bounds = container(target)
        wide = isinstance(target, IntType) and (target.signed or target.container_bits >= 32)
        if wide and bounds is not None and not fits(code.interval, bounds):
            assert isinstance(target, IntType)
            self.lines.add(f"{name} = {code.text}", span)
            test, _ = range_test(Code(name, interval=code.interval), target, self.scope.names)
            wrap = f"{name} & {bounds[1]}" if not target.signed else wrap_text(target.container_bits, name)
            self.lines.add(f"if not ({test}): {name} = {wrap}", span)
            return
        self.lines.add(f"{name} = {stored(code, target, self.scope.names).text}", span)

    def _declare(self, stmt: Declare) -> None:
        variable = stmt.variable
        of = variable.type
        # The value is written first: it cannot name the variable that it initialises.
        if isinstance(of, ListType):
            text, interval = self._list_value(stmt, of)
            symbol = self.scope.declare(variable, interval)
            self.lines.add(f"{symbol.python} = {text}", stmt.span)
            return
        if stmt.value is None:
            symbol = self.scope.declare(variable)
            self.lines.add(f"{symbol.python} = {zero_text(of)}", stmt.span)
            return
        code = self.expressions.write(stmt.value)
        narrow = None
        if variable.name not in self.scope.facts.mutated and fits(code.interval, container(of)):
            narrow = code.interval
        symbol = self.scope.declare(variable, narrow)
        self.store_scalar(symbol.python, code, of, stmt.span)

    def _list_value(self, stmt: Declare, of: ListType) -> tuple[str, tuple[int, int] | None]:
        """Return the initial list of a local, and bounds of its elements when it is never written."""
        dims = dimensions_of(of)
        if stmt.value is None:
            if len(dims) == 1:
                return f"[{zero_text(of)}] * {dims[0]}", None
            return f"zeros({dims}, {zero_text(of)})", None
        constant = stmt.variable.name not in self.scope.facts.mutated
        code = self.expressions.write(stmt.value)
        fitting = self.expressions.elements_fit(code, stmt.value.type, of)
        if constant and isinstance(stmt.value, ConstList) and fitting and _full(stmt.value.values, dims):
            return code.text, code.interval
        copied = self.expressions.copied(code, stmt.value.type, of)
        whole = fitting and code.length == of.size and len(dims) == 1
        return copied.text, code.interval if constant and whole else None

    def _assign(self, stmt: Assign) -> None:
        symbol = self.scope.symbols[stmt.name]
        of = symbol.variable.type
        for _ in stmt.indices:
            assert isinstance(of, ListType), "an index needs a list"
            of = of.element
        if isinstance(of, ListType):
            self._assign_list(stmt, of)
        elif not stmt.indices:
            self.store_scalar(symbol.python, self.expressions.write(stmt.value), of, stmt.span)
        else:
            target, test = self.expressions.element(symbol, stmt.indices)
            value = self.expressions.stored(stmt.value, of)
            text = value.text
            if test and any(isinstance(e, Call) for e in sub_expressions(stmt.value)):
                # A call may have effects that must happen even when the store is dropped.
                text = self.scope.names.temporary()
                self.lines.add(f"{text} = {value.text}", stmt.span)
            if symbol.zero_part:
                self._store_in_part(symbol, target, test, text, stmt)
            else:
                self._guarded(test, f"{target} = {text}", stmt)

    def _store_in_part(self, symbol: Symbol, target: str, test: str, value: str, stmt: Assign) -> None:
        """Write a store to an element of a part that is made when it is first written."""
        parts, place_text, rest = split_element(target, len(stmt.indices) - symbol.lazy_depth)
        outer, part, place = (self.scope.names.temporary() for _ in range(3))
        zero = symbol.zero_part
        copy = f"{zero}[:]" if len(symbol.sizes) - symbol.lazy_depth == 1 else f"copy_nested({zero})"
        add = self.lines.add
        add(f"if {test}:" if test else "if True:", stmt.span)
        self.lines.depth += 1
        add(f"{outer} = {parts}; {place} = {place_text}; {part} = {outer}[{place}]", stmt.span)
        add(f"if {part} is {zero}: {part} = {outer}[{place}] = {copy}", stmt.span)
        add(f"{part}{rest} = {value}", stmt.span)
        self.lines.depth -= 1
        if test:
            site = self.scope.site(stmt.span, symbol.variable.source_name)
            add(f"else: stray({site})", stmt.span)

    def _guarded(self, test: str, text: str, stmt: Assign) -> None:
        """Write a store that is dropped and counted when ``test`` fails."""
        if not test:
            self.lines.add(text, stmt.span)
            return
        self.lines.add(f"if {test}: {text}", stmt.span)
        site = self.scope.site(stmt.span, self.scope.symbols[stmt.name].variable.source_name)
        self.lines.add(f"else: stray({site})", stmt.span)

    def _assign_list(self, stmt: Assign, of: ListType) -> None:
        symbol = self.scope.symbols[stmt.name]
        target, test = self.expressions.element(symbol, stmt.indices)
        code = self.expressions.write(stmt.value)
        source = stmt.value.type
        fitting = self.expressions.elements_fit(code, source, of)
        flat = not isinstance(of.element, ListType)
        if flat and fitting and code.length is not None and code.length <= of.size and not symbol.by_reference:
            part = "[:]" if code.length == of.size else f"[:{code.length}]"
            self._guarded(test, f"{target}{part} = {code.text}", stmt)
            return
        convert = self.expressions.element_conversion(code, source, of)
        self._guarded(test, f"copy_into({target}, {code.text}, {convert})", stmt)

    # Control ----------------------------------------------------------------------------------------------------------

    def _print(self, stmt: Print) -> None:
        end = "\\n" if stmt.newline else ""
        if stmt.value is None:
            if end:
                self.lines.add(f'output("{end}")', stmt.span)
            return
        text = self.expressions.text_of(stmt.value)
        suffix = f' + "{end}"' if end else ""
        if not isinstance(stmt.value.type, StringType) or not suffix:
            self.lines.add(f"output({text}{suffix})", stmt.span)
        else:
            self.lines.add(f"output({self.expressions.write(stmt.value).at(CONDITIONAL + 1)}{suffix})", stmt.span)

    def _if(self, stmt: If) -> None:
        keyword = "if"
        while True:
            condition = self.expressions.write(stmt.condition)
            self.lines.add(f"{keyword} {condition.text}:", stmt.span)
            self._nested(stmt.then)
            match stmt.otherwise:
                case ():
                    return
                case (If() as chained,):
                    stmt, keyword = chained, "elif"
                case others:
                    self.lines.add("else:", stmt.span)
                    self._nested(others)
                    return

    def _nested(self, statements: tuple[Stmt, ...]) -> None:
        self.lines.depth += 1
        self.body(statements)
        self.lines.depth -= 1

    def _while(self, stmt: While) -> None:
        if isinstance(stmt.condition, Const) and stmt.condition.value is True and not uses_of((), stmt.body).calls:
            # How some programs stop when their input is wrong; CAL has no way to leave such a loop.
            self.lines.add("endless()", stmt.span)
            return
        condition = self.expressions.write(stmt.condition).text
        turn = self._entered(stmt)
        self.lines.add(f"while {condition}:", stmt.span)
        self.lines.depth += 1
        self._turned(turn)
        self.body(stmt.body)
        self.lines.depth -= 1

    def _entered(self, loop: ForEach | While) -> str:
        """Write the count of a loop's entry and return the line that counts a round, "" where none is counted."""
        entry, turn = self.scope.counted(loop) or ("", "")
        if entry:
            self.lines.add(entry, loop.span)
        return turn

    def _certain(self, bound: Expr) -> bool:
        """Return whether the bound of a loop is made of constants only."""
        read = [part for part in sub_expressions(bound) if isinstance(part, Load | Index | Call)]
        return all(isinstance(p, Load) and self.scope.symbols[p.name].variable.kind == "constant" for p in read)

    def _turned(self, turn: str) -> None:
        if turn:
            self.lines.add(turn)

    def _foreach(self, stmt: ForEach) -> None:
        low, high = self.expressions.write(stmt.low), self.expressions.write(stmt.high)
        turn = "" if self._certain(stmt.low) and self._certain(stmt.high) else self._entered(stmt)
        bounds = container(stmt.variable.type)
        assigned = any(isinstance(s, Assign) and s.name == stmt.variable.name for s in sub_statements(stmt.body))
        if assigned or stmt.step != 1:
            self._counted_loop(stmt, low, high, turn)
            return
        in_range = fits(low.interval, bounds) and high.interval is not None and fits(high.interval, bounds)
        if not fits(low.interval, bounds):
            low = Code(stored(low, stmt.variable.type, self.scope.names).text, CONDITIONAL, bounds)
        symbol = self.scope.declare(stmt.variable, loop_interval(stmt.variable, low, high))
        self.lines.add(f"for {symbol.python} in {range_text(low, high)}:", stmt.span)
        self.lines.depth += 1
        self._turned(turn)
        if not in_range and not (high.interval is not None and bounds is not None and high.interval[1] <= bounds[1]):
            self._wrap_loop_variable(stmt, symbol.python)
        self.body(stmt.body)
        self.lines.depth -= 1

    def _wrap_loop_variable(self, stmt: ForEach, name: str) -> None:
        """Write the wrap of a loop variable whose upper bound may exceed its container."""
        code = stored(Code(name), stmt.variable.type, self.scope.names)
        self.lines.add(f"{name} = {code.text}", stmt.span)

    def _counted_loop(self, stmt: ForEach, low: Code, high: Code, turn: str) -> None:
        """Write a loop whose body may assign the variable, or whose step is not 1 (C kernels)."""
        limit = self.scope.names.temporary()
        self.lines.add(f"{limit} = {high.text}", stmt.span)
        symbol = self.scope.declare(stmt.variable)
        self.store_scalar(symbol.python, low, stmt.variable.type, stmt.span)
        self.lines.add(f"while {symbol.python} {'<=' if stmt.step > 0 else '>='} {limit}:", stmt.span)
        self.lines.depth += 1
        self._turned(turn)
        self.body(stmt.body)
        self.store_scalar(symbol.python, Code(f"{symbol.python} + {stmt.step}"), stmt.variable.type, stmt.span)
        self.lines.depth -= 1


def split_element(text: str, trailing: int) -> tuple[str, str, str]:
    """Return (list, index in it, the last ``trailing`` indices with brackets) of the text of an element."""
    end = len(text)
    for _ in range(trailing):
        end = _bracket(text, end)
    start = _bracket(text, end)
    return text[:start], text[start + 1 : end - 1], text[end:]


def _bracket(text: str, end: int) -> int:
    """Return where the bracket opens that closes just before ``end``."""
    depth, start = 0, end
    while True:
        start -= 1
        depth += (text[start] == "]") - (text[start] == "[")
        if depth == 0:
            return start


def _full(values: tuple[object, ...], dims: tuple[int, ...]) -> bool:
    """Return whether a nested tuple has exactly these sizes."""
    if len(values) != dims[0]:
        return False
    if len(dims) == 1:
        return True
    return all(isinstance(v, tuple) and _full(v, dims[1:]) for v in values)
