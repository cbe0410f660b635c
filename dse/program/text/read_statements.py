"""Reading of statements: each begins with a word of its own, or is an assignment or a call."""

from collections.abc import Callable
from dataclasses import replace
from typing import ClassVar

from dse.base.source import NO_SPAN
from dse.program.ir import (
    Assign,
    CallStmt,
    ConsumeTokens,
    CopyInto,
    Count,
    Declare,
    Evaluate,
    ForEach,
    If,
    Print,
    ReadTokens,
    Stmt,
    While,
    WriteTokens,
)
from dse.program.text.read_expressions import KINDS, ExpressionReader
from dse.program.text.tokens import RESERVED


class StatementReader(ExpressionReader):
    """Reads statements."""

    def block(self, *ends: str) -> tuple[Stmt, ...]:
        """Take statements up to a line that begins with one of these words."""
        found: list[Stmt] = []
        while not self._ends(ends):
            if self.token.kind == "end":
                self.missing("a statement or " + " or ".join(f"'{end}'" for end in ends))
            found.append(self.statement())
        return tuple(found)

    def _ends(self, ends: tuple[str, ...]) -> bool:
        """Return whether the next line begins with one of the words, a span before it or not."""
        behind_span = self.token.kind == "span"
        return self.ahead(behind_span).text in ends and not self._is_name(behind_span)

    def _is_name(self, at: int) -> bool:
        """Return whether the word that begins a line is a name: something is assigned, indexed or called."""
        return self.ahead(at).text not in RESERVED and self.ahead(at + 1).text in (":=", "[", "(")

    def statement(self) -> Stmt:
        """Take a statement with its line."""
        span = self.span()
        read = self._words.get(self.token.text)
        statement = self._named_statement() if read is None or self._is_name(0) else read(self)
        self.end_line()
        return replace(statement, span=span)

    def _named_statement(self) -> Assign | CallStmt:
        name = self.name("a statement")
        if self.accept("("):
            return CallStmt(name, self.several(")", self.expression))
        indices = self.indices()
        self.expect(":=")
        return Assign(name, indices, self.expression())

    def declaration(self) -> Declare:
        """Take the declaration of a local, without its span."""
        variable = self.variable(None)
        return Declare(variable, self.expression() if self.accept(":=") else None)

    # Blocks -----------------------------------------------------------------------------------------------------------

    def _if(self) -> If:
        """Take ``if ... end``; the line after ``end`` is left."""
        self.take()
        condition = self.expression()
        self.expect("then")
        self.end_line()
        then = self.block("elsif", "else", "end")
        span = self.span()
        if self.sees("elsif"):
            return If(condition, then, (replace(self._if(), span=span),))
        if span != NO_SPAN:
            self.missing("'elsif'")
        otherwise: tuple[Stmt, ...] = ()
        if self.accept("else"):
            self.end_line()
            otherwise = self.block("end")
        self.expect("end")
        return If(condition, then, otherwise)

    def _while(self) -> While:
        self.take()
        condition = self.expression()
        self.expect("do")
        return While(condition, self._body())

    def _foreach(self) -> ForEach:
        self.take()
        variable = self.variable("loop")
        self.expect("in")
        low = self.expression()
        self.expect("..")
        high = self.expression()
        step = self.integer("the step") if self.accept("step") else 1
        self.expect("do")
        return ForEach(variable, low, high, self._body(), step=step)

    def _body(self) -> tuple[Stmt, ...]:
        self.end_line()
        body = self.block("end")
        self.expect("end")
        return body

    # Single lines -----------------------------------------------------------------------------------------------------

    def _print(self) -> Print:
        newline = self.take().text == "println"
        self.expect("(")
        value = None if self.sees(")") else self.expression()
        self.expect(")")
        return Print(value, newline)

    def _copy_into(self) -> CopyInto:
        self.take()
        value = self.expression()
        self.expect("into")
        name = self.name("the name of a variable")
        return CopyInto(name, self.indices(), value, self.accept("converting"))

    def _read(self) -> ReadTokens:
        self.take()
        variable = self.variable("token")
        self.expect("from")
        port = self.reference(self.known.inputs, "an input")
        offset, stride, count = (
            self.integer(f"the {word}") if self.accept(word) else usual
            for word, usual in (("offset", 0), ("stride", 1), ("count", 0))
        )
        return ReadTokens(variable, port, offset, stride, count, self.accept("converting"))

    def read_tokens(self) -> ReadTokens:
        """Take a reading of tokens with its line."""
        span = self.span()
        if not self.sees("read"):
            self.missing("'read' or 'end'")
        read = self._read()
        self.end_line()
        return replace(read, span=span)

    def _consume(self) -> ConsumeTokens:
        self.take()
        tokens = self.natural("a number of tokens")
        self.expect("from")
        return ConsumeTokens(self.reference(self.known.inputs, "an input"), tokens)

    def _write(self) -> WriteTokens:
        self.take()
        port = self.reference(self.known.outputs, "an output")
        self.expect(":", "[")
        values = self.several("]", self.expression)
        return WriteTokens(port, values, self.repeat())

    def repeat(self) -> int:
        """Take ``repeat n`` if it comes next; else it is 0."""
        return self.natural("how often") if self.accept("repeat") else 0

    def _tally(self) -> Count:
        self.take()
        return Count(self.natural("the number of a counter"))

    def _evaluate(self) -> Evaluate:
        self.take()
        return Evaluate(self.expression())

    _words: ClassVar[dict[str, "Callable[[StatementReader], Stmt]"]] = {
        **dict.fromkeys(KINDS, declaration),
        "if": _if,
        "while": _while,
        "foreach": _foreach,
        "print": _print,
        "println": _print,
        "copy": _copy_into,
        "read": _read,
        "consume": _consume,
        "write": _write,
        "tally": _tally,
        "evaluate": _evaluate,
    }
