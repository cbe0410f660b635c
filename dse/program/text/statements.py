"""Printing of statements: one a line, blocks indented and closed by ``end``."""

from collections.abc import Iterable, Iterator
from typing import TypeAlias

from dse.program.ir import (
    Assign,
    CallStmt,
    ConsumeTokens,
    CopyInto,
    Count,
    Declare,
    Evaluate,
    ExplicitStmt,
    ForEach,
    If,
    Port,
    Print,
    ReadTokens,
    Stmt,
    While,
    WriteTokens,
)
from dse.program.text.declared import unique_names
from dse.program.text.expressions import ExpressionPrinter
from dse.program.text.tokens import name_text

INDENT = "  "

OneLine: TypeAlias = Declare | Assign | CallStmt | Print | ExplicitStmt


def indented(lines: Iterable[str]) -> Iterator[str]:
    """Yield lines one step further in; a line may hold several, of a table."""
    for line in lines:
        yield INDENT + line.replace("\n", "\n" + INDENT)


class References:
    """Names of the things that numbers in the IR mean: ``#3`` where a name would not say which one."""

    def __init__(self, names: Iterable[str]) -> None:
        self._names = {position: name for name, position in unique_names(names).items()}

    def text(self, position: int) -> str:
        """Return the reference to a thing."""
        return name_text(self._names[position]) if position in self._names else f"#{position}"


class StatementPrinter:
    """Prints statements of an actor with these ports."""

    def __init__(self, expressions: ExpressionPrinter, inputs: tuple[Port, ...], outputs: tuple[Port, ...]) -> None:
        self.expressions = expressions
        self.inputs = References(port.name for port in inputs)
        self.outputs = References(port.name for port in outputs)

    def block(self, statements: Iterable[Stmt]) -> Iterator[str]:
        """Yield the lines of statements, one step in."""
        for statement in statements:
            yield from indented(self.statement(statement))

    def statement(self, statement: Stmt) -> Iterator[str]:
        """Yield the lines of a statement."""
        match statement:
            case If():
                yield from self._if(statement)
            case While():
                yield f"{self._mark(statement)}while {self.expressions.text(statement.condition)} do"
                yield from self.block(statement.body)
                yield "end"
            case ForEach():
                yield self._mark(statement) + self._foreach(statement)
                yield from self.block(statement.body)
                yield "end"
            case _:
                yield self._mark(statement) + self._line(statement)

    def _mark(self, statement: Stmt) -> str:
        mark = self.expressions.mark(statement.span)
        return f"{mark} " if mark else ""

    def _if(self, statement: If) -> Iterator[str]:
        word = "if"
        while True:
            yield f"{self._mark(statement)}{word} {self.expressions.text(statement.condition)} then"
            yield from self.block(statement.then)
            match statement.otherwise:
                case (If() as nested,):
                    statement, word = nested, "elsif"
                case ():
                    break
                case _:
                    yield "else"
                    yield from self.block(statement.otherwise)
                    break
        yield "end"

    def _foreach(self, loop: ForEach) -> str:
        low, high = self.expressions.text(loop.low), self.expressions.text(loop.high)
        step = "" if loop.step == 1 else f" step {loop.step}"
        return f"foreach {self.expressions.variable(loop.variable, 'loop')} in {low} .. {high}{step} do"

    def _line(self, statement: OneLine) -> str:
        show = self.expressions
        match statement:
            case Declare():
                return self.declaration(statement)
            case Assign():
                return f"{show.place(statement.name, statement.indices)} := {show.text(statement.value)}"
            case CallStmt():
                return f"{name_text(statement.routine)}({show.several(statement.arguments)})"
            case Print():
                value = "" if statement.value is None else show.text(statement.value)
                return f"{'println' if statement.newline else 'print'}({value})"
            case _:
                return self._explicit_line(statement)

    def _explicit_line(self, statement: ExplicitStmt) -> str:
        show = self.expressions
        match statement:
            case CopyInto():
                target = show.place(statement.name, statement.indices)
                return f"copy {show.text(statement.value)} into {target}{' converting' * statement.convert}"
            case ReadTokens():
                return self.read(statement)
            case ConsumeTokens():
                return f"consume {statement.tokens} from {self.inputs.text(statement.port)}"
            case WriteTokens():
                repeat = f" repeat {statement.repeat}" if statement.repeat else ""
                return f"write {self.outputs.text(statement.port)}: [{show.several(statement.values)}]{repeat}"
            case Count():
                return f"tally {statement.counter}"
            case Evaluate():
                return f"evaluate {show.text(statement.value)}"

    def declaration(self, statement: Declare) -> str:
        """Return the declaration of a local without its span."""
        value = "" if statement.value is None else f" := {self.expressions.text(statement.value)}"
        return self.expressions.variable(statement.variable, None) + value

    def read(self, read: ReadTokens) -> str:
        """Return what reads tokens, without its span; offset 0, stride 1 and a scalar are what is not said."""
        said = ((" offset", read.offset, 0), (" stride", read.stride, 1), (" count", read.count, 0))
        numbers = "".join(f"{word} {number}" for word, number, usual in said if number != usual)
        variable = self.expressions.variable(read.variable, "token")
        return f"read {variable} from {self.inputs.text(read.port)}{numbers}{' converting' * read.convert}"
