"""The thread of a kernel as the sequence of its memory instructions, loops and conditions: the plan.

Trace execution and counting walk the same plan, so an access has one number (its site) in both. Memory instructions
stand in the order in which the operands are read, left to right, right-hand side first, then the target's load and
store. An element whose subscripts are constant in an innermost loop that writes it is kept in a register
(``promoted``): it has no memory instruction and no address arithmetic anywhere in the thread.
"""

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import TypeAlias

from dse.base.errors import ModelNotApplicable
from dse.base.source import Span
from dse.gpu.kernel.instructions import OperationCount, count_expression, count_store, expression_key
from dse.model.kernel import ArrayInfo, Kernel
from dse.program.ir import (
    Assign,
    Binary,
    CallStmt,
    Conditional,
    Declare,
    Expr,
    ForEach,
    If,
    Index,
    Print,
    Stmt,
    Unary,
    Variable,
    While,
)
from dse.program.types import BOOL, Type
from dse.program.walk import expressions_of, operands_of, sub_expressions, sub_statements


@dataclass(frozen=True, slots=True)
class Access:
    """A load or store. ``site`` numbers the memory instructions; -1 for promoted ones, which only name an element."""

    site: int
    array: ArrayInfo
    indices: tuple[Expr, ...]
    is_store: bool
    tile_load: bool
    span: Span


@dataclass(frozen=True, slots=True)
class Store:
    """The value that an assignment or declaration gives to a scalar or element (after its accesses)."""

    name: str
    indices: tuple[Expr, ...]
    value: Expr | None
    type: Type
    """Of the scalar or element, in which the value is stored."""
    span: Span
    is_instruction: bool = True
    """Whether the thread computes it here; else only its value is told, which other instructions have made."""


@dataclass(frozen=True, slots=True)
class Operations:
    """Instructions of an iteration that are not memory instructions, at the place where they are executed."""

    site: int
    count: OperationCount


@dataclass(frozen=True, slots=True)
class Barrier:
    """A synchronisation of the block."""

    site: int


@dataclass(frozen=True, slots=True)
class Branch:
    """A condition; ``control`` numbers branches and loops. ``of_statement``: of an ``if``, not of an expression."""

    control: int
    condition: Expr
    then: tuple["Node", ...]
    otherwise: tuple["Node", ...]
    span: Span
    of_statement: bool = False


@dataclass(frozen=True, slots=True)
class Loop:
    """A counting loop inside the thread."""

    control: int
    variable: Variable
    low: Expr
    high: Expr
    step: int
    body: tuple["Node", ...]
    innermost: bool
    span: Span


@dataclass(frozen=True, slots=True)
class WhileLoop:
    """Any other loop; ``test`` are the accesses of the condition, executed before each test."""

    control: int
    condition: Expr
    test: tuple["Node", ...]
    body: tuple["Node", ...]
    innermost: bool
    span: Span


Node: TypeAlias = Access | Store | Operations | Barrier | Branch | Loop | WhileLoop


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """A thread's plan. ``accesses[s]`` is the memory instruction of site s."""

    kernel: Kernel
    nodes: tuple[Node, ...]
    accesses: tuple[Access, ...]
    n_operations: int
    n_barriers: int
    n_controls: int
    promoted: tuple[str, ...]
    """Elements kept in registers, as written, for the explanation."""


def sub_nodes(nodes: Iterable[Node]) -> Iterator[Node]:
    """Yield every node, a compound one before its parts, the test of a loop before its body."""
    for node in nodes:
        yield node
        match node:
            case Branch():
                yield from sub_nodes((*node.then, *node.otherwise))
            case Loop():
                yield from sub_nodes(node.body)
            case WhileLoop():
                yield from sub_nodes((*node.test, *node.body))
            case _:
                pass


def plan_of(kernel: Kernel, *, promote: bool = True) -> Plan:
    """Return the plan of a kernel's thread. Raises ModelNotApplicable for statements that no thread can execute."""
    builder = _Builder(kernel, promote)
    nodes = builder.block(kernel.body, not _has_loop(kernel.body))
    return Plan(
        kernel=kernel,
        nodes=nodes,
        accesses=tuple(builder.accesses),
        n_operations=builder.n_operations,
        n_barriers=builder.n_barriers,
        n_controls=builder.n_controls,
        promoted=tuple(sorted(builder.promoted_arrays)),
    )


def _has_loop(body: Iterable[Stmt]) -> bool:
    return any(isinstance(s, ForEach | While) for s in sub_statements(body))


class _Builder:
    """Numbers what it meets in the order of execution."""

    def __init__(self, kernel: Kernel, promote: bool) -> None:
        self.arrays = {a.name: a for a in kernel.arrays}
        self.types = {s.variable.name: s.variable.type for s in sub_statements(kernel.body) if isinstance(s, Declare)}
        self.types |= {s.variable.name: s.variable.type for s in kernel.scalars}
        self.promoted = promoted_elements(kernel) if promote else frozenset()
        self.promoted_arrays: set[str] = set()
        self.accesses: list[Access] = []
        self.n_operations = self.n_barriers = self.n_controls = 0

    def block(self, body: Iterable[Stmt], counted: bool) -> tuple[Node, ...]:
        """Return the nodes of statements; their operations count in an innermost iteration (``counted``)."""
        return tuple(node for statement in body for node in self._statement(statement, counted))

    def _statement(self, statement: Stmt, counted: bool) -> Iterator[Node]:
        match statement:
            case Declare():
                if statement.value is not None:
                    yield from self._reads(statement.value, False)
                    yield from self._operations(count_expression(statement.value, self.is_memory), counted)
                of = statement.variable.type
                yield Store(statement.variable.name, (), statement.value, of, statement.span)
            case Assign():
                yield from self._assign(statement, counted)
            case If():
                yield from self._reads(statement.condition, False)
                count = count_expression(statement.condition, self.is_memory) + OperationCount(other=1)
                yield from self._operations(count, counted)
                control = self._control()
                then, otherwise = self.block(statement.then, counted), self.block(statement.otherwise, counted)
                yield Branch(control, statement.condition, then, otherwise, statement.span, of_statement=True)
            case ForEach() | While():
                yield from self._loop(statement)
            case CallStmt(routine="barrier"):
                self.n_barriers += 1
                yield Barrier(self.n_barriers - 1)
            case CallStmt() | Print():
                raise ModelNotApplicable("calls and printing have no cost on a GPU", span=statement.span)

    def _loop(self, loop: ForEach | While) -> Iterator[Node]:
        innermost = not _has_loop(loop.body)
        control = self._control()
        if isinstance(loop, While):
            test = list(self._reads(loop.condition, False))
            count = count_expression(loop.condition, self.is_memory) + OperationCount(loop=1)
            test += self._operations(count, innermost)
            body = self.block(loop.body, innermost)
            yield WhileLoop(control, loop.condition, tuple(test), body, innermost, loop.span)
            return
        for bound in (loop.low, loop.high):
            yield from self._reads(bound, False)
        header = tuple(self._operations(OperationCount(loop=2), innermost))
        body = header + self.block(loop.body, innermost)
        yield Loop(control, loop.variable, loop.low, loop.high, loop.step, body, innermost, loop.span)

    def _assign(self, statement: Assign, counted: bool) -> Iterator[Node]:
        target = self.arrays.get(statement.name)
        tile = target is not None and target.storage == "shared"
        value = statement.value
        own = _compound_load(statement)
        if own is not None and isinstance(value, Binary):
            yield from self._reads(value.right, tile)
            yield from self._reads(own, False)
        else:
            yield from self._reads(value, tile)
            for index in statement.indices:
                yield from self._reads(index, False)
        count = count_expression(value, self.is_memory)
        if target is not None:
            stored = self.is_memory(statement.name, statement.indices)
            count = count + count_store(statement.indices, self.is_memory, stored, again=own is not None)
        yield from self._operations(count, counted)
        if target is not None and target.storage != "local":
            yield self._access(target, statement.indices, True, False, statement.span)
        of = target.element if target is not None else self.types[statement.name]
        yield Store(statement.name, statement.indices, value, of, statement.span)

    def _reads(self, expression: Expr, tile: bool) -> Iterator[Node]:
        """Yield the loads of an expression in the order of their evaluation."""
        match expression:
            case Index():
                yield from self._element_read(expression, tile)
            case Conditional():
                yield from self._reads(expression.condition, tile)
                then = tuple(self._reads(expression.then, tile))
                otherwise = tuple(self._reads(expression.otherwise, tile))
                if then or otherwise:
                    yield Branch(self._control(), expression.condition, then, otherwise, expression.span)
            case Binary(op="and" | "or"):
                yield from self._reads(expression.left, tile)
                right = tuple(self._reads(expression.right, tile))
                if right:
                    first = expression.left if expression.op == "and" else Unary("not", expression.left, BOOL)
                    yield Branch(self._control(), first, right, (), expression.span)
            case _:
                for operand in operands_of(expression):
                    yield from self._reads(operand, tile)

    def _element_read(self, element: Index, tile: bool) -> Iterator[Node]:
        for index in element.indices:
            yield from self._reads(index, False)
        array = self.arrays.get(element.name)
        if array is not None and array.storage != "local":
            yield self._access(array, element.indices, False, tile, element.span)

    def _access(self, array: ArrayInfo, indices: tuple[Expr, ...], store: bool, tile: bool, span: Span) -> Access:
        if not self.is_memory(array.name, indices):
            if not array.private:
                self.promoted_arrays.add(array.source_name)
            return Access(-1, array, indices, store, False, span)
        tile_load = tile and array.storage == "global" and not store
        access = Access(len(self.accesses), array, indices, store, tile_load, span)
        self.accesses.append(access)
        return access

    def is_memory(self, name: str, indices: tuple[Expr, ...]) -> bool:
        """Whether an access of this element is a memory instruction."""
        array = self.arrays.get(name)
        if array is None or array.storage == "local" or len(indices) < len(array.dims):
            return False
        if array.private and len(array.dims) == 1:
            return False  # a thread has one element of it: a register
        return (name, *map(expression_key, indices)) not in self.promoted

    def _operations(self, count: OperationCount, counted: bool) -> Iterator[Node]:
        if counted and count != OperationCount():
            self.n_operations += 1
            yield Operations(self.n_operations - 1, count)

    def _control(self) -> int:
        self.n_controls += 1
        return self.n_controls - 1


def _compound_load(statement: Assign) -> Index | None:
    """Return the target's own load in ``target op= value``, which the front end places where the target stands."""
    match statement.value:
        case Binary(left=Index() as own) if (
            own.name == statement.name and own.span == statement.span and own.span.line > 0
        ):
            return own
        case _:
            return None


def promoted_elements(kernel: Kernel) -> frozenset[tuple[object, ...]]:
    """Return the elements (array, subscripts) that an innermost loop can keep in a register.

    They are written in the loop, their subscripts do not change in it, and the loop has no other element of the array.
    """
    found: set[tuple[object, ...]] = set()
    arrays = {a.name for a in kernel.arrays if a.storage == "global"}
    for loop in sub_statements(kernel.body):
        if isinstance(loop, ForEach | While) and not _has_loop(loop.body):
            found |= _promoted_in(loop, arrays)
    return frozenset(found)


def _promoted_in(loop: ForEach | While, arrays: set[str]) -> set[tuple[object, ...]]:
    inside = list(sub_statements(loop.body))
    written = {_key(s.name, s.indices): s for s in inside if isinstance(s, Assign) and s.name in arrays}
    several = Counter(key[0] for key in {*written, *_read_in(inside)})
    changing = _changing(loop, inside)
    steady = {key for key, store in written.items() if not any(_changes(index, changing) for index in store.indices)}
    return {key for key in steady if several[key[0]] == 1}


def _read_in(statements: Iterable[Stmt]) -> Iterator[tuple[object, ...]]:
    """Yield the elements that statements read."""
    for statement in statements:
        for expression in expressions_of(statement):
            yield from (_key(p.name, p.indices) for p in sub_expressions(expression) if isinstance(p, Index))


def _key(name: str, indices: tuple[Expr, ...]) -> tuple[object, ...]:
    """Return what all accesses of an element share."""
    return (name, *map(expression_key, indices))


def _changing(loop: ForEach | While, inside: list[Stmt]) -> set[str]:
    """Return the scalars that a loop changes."""
    changing = {s.name for s in inside if isinstance(s, Assign) and not s.indices}
    changing |= {s.variable.name for s in inside if isinstance(s, Declare)}
    return changing | {loop.variable.name} if isinstance(loop, ForEach) else changing


def _changes(index: Expr, changing: set[str]) -> bool:
    """Whether a subscript may change in the loop: it reads a changing scalar, or memory."""
    return any(isinstance(p, Index) or getattr(p, "name", None) in changing for p in sub_expressions(index))
