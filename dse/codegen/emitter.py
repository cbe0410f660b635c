"""The core of every backend: text with its binding strength, tables of spellings, lines with their places.

A target is a table (``Spelling``) and what its ``ExpressionEmitter`` and ``StatementEmitter`` say of the nodes that no
table can spell. Text is put together from the inside out and never looked into again.
"""

from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from dse.base.source import NO_SPAN, Span
from dse.program.ir import (
    Assign,
    Binary,
    BinaryOp,
    Call,
    CallStmt,
    Cast,
    Conditional,
    Const,
    ConstList,
    Copy,
    CopyInto,
    Declare,
    Evaluate,
    Expr,
    ForEach,
    Generator,
    If,
    Index,
    ListExpr,
    Load,
    Print,
    Stmt,
    Unary,
    UnaryOp,
    While,
)


@dataclass(frozen=True, slots=True)
class Fragment:
    """The text of an expression. ``strength`` is that of its loosest operator; larger binds tighter."""

    text: str
    strength: int
    simple: bool = False
    """Whether repeating the text costs nothing and has no effect: a name or a literal without a sign."""

    def at(self, strength: int) -> str:
        """Return the text, in parentheses if it binds looser than ``strength``."""
        return self.text if self.strength >= strength else f"({self.text})"


@dataclass(frozen=True, slots=True)
class Operator:
    """How a target spells an operation: a template with ``{0}``, ``{1}``, ... for its operands.

    ``strength`` is that of the result; ``operands`` are the least strengths that operands may have without parentheses
    (0: any text may stand there).
    """

    template: str
    strength: int
    operands: tuple[int, ...]

    def of(self, *operands: Fragment) -> Fragment:
        """Return the operation on operands."""
        texts = [f.at(s) for f, s in zip(operands, self.operands, strict=True)]
        return Fragment(self.template.format(*texts), self.strength)


def infix(sign: str, strength: int) -> Operator:
    """Return a left-associative infix operator."""
    return Operator(f"{{0}} {sign} {{1}}", strength, (strength, strength + 1))


@dataclass(frozen=True, slots=True, kw_only=True)
class Spelling:
    """The table of a target: its operators, and its statements as templates.

    ``block_start`` stands behind the head of a block, ``block_end`` is a line of its own below it ("": none).
    """

    unary: Mapping[UnaryOp, Operator]
    binary: Mapping[BinaryOp, Operator]
    conditional: Operator
    """Operands: condition, then, otherwise."""
    if_head: str
    elif_head: str
    else_head: str
    while_head: str
    block_start: str
    block_end: str
    statement_end: str
    empty_block: str
    """The line of a block without statements; "" where none is needed."""
    indent: str


class ExpressionEmitter(ABC):
    """Walks expressions. Operators come from the table; a target says what its variables, lists and conversions are."""

    def __init__(self, spelling: Spelling) -> None:
        self.spelling = spelling

    def write(self, expr: Expr) -> Fragment:  # ways: one case for each node of the IR
        """Return the text of an expression."""
        match expr:
            case Const():
                return self.constant(expr)
            case Load():
                return self.variable(expr)
            case Index():
                return self.element(expr)
            case Unary():
                return self.unary(expr)
            case Binary():
                return self.binary(expr)
            case Conditional():
                parts = (expr.condition, expr.then, expr.otherwise)
                return self.spelling.conditional.of(*(self.write(p) for p in parts))
            case Call():
                return self.call(expr)
            case Cast():
                return self.cast(expr)
            case ConstList() | ListExpr() | Generator() | Copy():
                return self.new_list(expr)
            case _:
                raise AssertionError("a check stands where an index stands")

    def unary(self, expr: Unary) -> Fragment:
        """Return a unary operation as the table spells it."""
        return self.spelling.unary[expr.op].of(self.write(expr.operand))

    def binary(self, expr: Binary) -> Fragment:
        """Return a binary operation as the table spells it."""
        return self.spelling.binary[expr.op].of(self.write(expr.left), self.write(expr.right))

    @abstractmethod
    def constant(self, expr: Const) -> Fragment:
        """Return a literal."""

    @abstractmethod
    def variable(self, expr: Load) -> Fragment:
        """Return the value of a variable."""

    @abstractmethod
    def element(self, expr: Index) -> Fragment:
        """Return an element or a sub-list, with the tests of its checked indices."""

    @abstractmethod
    def call(self, expr: Call) -> Fragment:
        """Return a call of a routine or native."""

    @abstractmethod
    def cast(self, expr: Cast) -> Fragment:
        """Return a conversion."""

    @abstractmethod
    def new_list(self, expr: ConstList | ListExpr | Generator | Copy) -> Fragment:
        """Return a list that is made here."""


@dataclass(slots=True)
class Lines:
    """Text under construction: lines with their depth and the span each stems from."""

    indent: str = "\t"
    texts: list[str] = field(default_factory=list)
    spans: list[Span] = field(default_factory=list)
    depth: int = 0

    def add(self, text: str, span: Span = NO_SPAN) -> None:
        """Append a line at the current depth."""
        self.texts.append(self.indent * self.depth + text)
        self.spans.append(span)

    def extend(self, other: "Lines") -> None:
        """Append lines that were written at depth 0, at the current depth."""
        indent = self.indent * self.depth
        self.texts += [indent + t for t in other.texts]
        self.spans += other.spans


class StatementEmitter(ABC):
    """Walks statements and adds their lines to ``lines``. Control flow comes from the table."""

    def __init__(self, expressions: ExpressionEmitter) -> None:
        self.expressions = expressions
        self.spelling = expressions.spelling
        self.lines = Lines(self.spelling.indent)

    def block(self, head: str, statements: Iterable[Stmt], span: Span = NO_SPAN) -> None:
        """Write a block: its head, its statements one step deeper, its end."""
        self.open(head, span)
        self.body(statements)
        self.close()

    def open(self, head: str, span: Span = NO_SPAN) -> None:
        """Write the head of a block; what follows stands in it."""
        self.lines.add(head + self.spelling.block_start, span)
        self.lines.depth += 1

    def close(self) -> None:
        """End the block that was opened last."""
        self.lines.depth -= 1
        if self.spelling.block_end:
            self.lines.add(self.spelling.block_end)

    def body(self, statements: Iterable[Stmt]) -> None:
        """Write statements at the current depth, or what stands for none."""
        before = len(self.lines.texts)
        for stmt in statements:
            self.statement(stmt)
        if len(self.lines.texts) == before and self.spelling.empty_block:
            self.lines.add(self.spelling.empty_block)

    def statement(self, stmt: Stmt) -> None:  # ways: one case for each kind of statement
        """Write one statement."""
        match stmt:
            case Declare():
                self.declare(stmt)
            case Assign() if stmt.indices:
                self.assign_element(stmt)
            case Assign():
                self.assign(stmt)
            case CopyInto():
                self.copy_into(stmt)
            case Print():
                self.print(stmt)
            case If():
                self._if(stmt)
            case While():
                self._while(stmt)
            case ForEach():
                self.foreach(stmt)
            case Evaluate():
                self.line(self.expressions.write(stmt.value).text, stmt.span)
            case CallStmt():
                self.call(stmt)
            case _:
                self.access(stmt)

    def line(self, text: str, span: Span) -> None:
        """Write a simple statement."""
        self.lines.add(text + self.spelling.statement_end, span)

    def _if(self, stmt: If) -> None:
        head, table = self.spelling.if_head, self.spelling
        while True:
            self.block(head.format(self.expressions.write(stmt.condition).text), stmt.then, stmt.span)
            match stmt.otherwise:
                case ():
                    return
                case (If() as chained,) if table.elif_head:
                    stmt, head = chained, table.elif_head
                case others:
                    self.block(table.else_head, others, stmt.span)
                    return

    def _while(self, stmt: While) -> None:
        if isinstance(stmt.condition, Const) and stmt.condition.value is True and not stmt.body:
            self.endless(stmt)
            return
        self.block(self.spelling.while_head.format(self.expressions.write(stmt.condition).text), stmt.body, stmt.span)

    @abstractmethod
    def declare(self, stmt: Declare) -> None:
        """Write the declaration of a local."""

    @abstractmethod
    def assign(self, stmt: Assign) -> None:
        """Write the assignment of a scalar."""

    @abstractmethod
    def assign_element(self, stmt: Assign) -> None:
        """Write the assignment of an element of a list."""

    @abstractmethod
    def copy_into(self, stmt: CopyInto) -> None:
        """Write the assignment of a list or sub-list."""

    @abstractmethod
    def print(self, stmt: Print) -> None:
        """Write what prints."""

    @abstractmethod
    def foreach(self, stmt: ForEach) -> None:
        """Write a loop over a range; its variable is never assigned in it."""

    @abstractmethod
    def endless(self, stmt: While) -> None:
        """Write what stands for a loop that nothing can end."""

    @abstractmethod
    def call(self, stmt: CallStmt) -> None:
        """Write the call of a procedure."""

    @abstractmethod
    def access(self, stmt: Stmt) -> None:
        """Write a token access or a count."""
