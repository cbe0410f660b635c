"""C statements to the IR. A ``for`` that counts becomes a ``ForEach``, any other loop a ``While``."""

from collections.abc import Iterator
from dataclasses import dataclass, field

from pycparser import c_ast

from dse.base.source import Span
from dse.frontend.c.expressions import ExpressionLowering
from dse.frontend.c.scope import ArraySymbol, KernelScope, ScalarSymbol, variable
from dse.model.kernel import ArrayInfo, Storage
from dse.program.ir import (
    Assign,
    Binary,
    CallStmt,
    Const,
    Declare,
    Expr,
    ForEach,
    If,
    Index,
    Load,
    Stmt,
    Unary,
    While,
)
from dse.program.types import BOOL, INT32, BoolType, FloatType, ScalarType, scalar_of

BARRIER = "barrier"
"""The routine of the ``CallStmt`` that stands for a synchronisation of the block."""
_BARRIERS = ("__syncthreads", "barrier", "syncthreads")

_STRICT = {"<": -1, ">": -1, "!=": -1}
"""Comparisons that the bound itself does not fulfil: the last value is one before it."""


@dataclass(frozen=True, slots=True)
class _Count:
    """The header of a counting loop: ``for (name = low; name ... high; name += step)``, ``high`` included."""

    name: str
    of: ScalarType | None
    """Type of a variable declared in the header, None for one declared before."""
    low: c_ast.Node
    high: c_ast.Node
    high_offset: int
    step: int


@dataclass(slots=True)
class StatementLowering:
    """Lowers the statements of one kernel. ``marked`` gathers the source names of loops marked as parallel."""

    scope: KernelScope
    tiles: frozenset[str]
    arrays: list[ArrayInfo]
    """Local arrays and tiles declared inside, in order."""
    marked: list[str] = field(default_factory=list)
    n_marks: int = 0
    """Loops to come that a pragma marks as parallel."""
    expressions: ExpressionLowering = field(init=False)

    def __post_init__(self) -> None:
        self.expressions = ExpressionLowering(self.scope)

    def block(self, nodes: list[c_ast.Node]) -> tuple[Stmt, ...]:
        """Return the IR of statements in a scope of their own."""
        self.scope.levels.append({})
        out = tuple(s for node in nodes for s in self.statement(node))
        self.scope.levels.pop()
        return out

    def body(self, node: c_ast.Node | None) -> tuple[Stmt, ...]:
        """Return the IR of the body of a loop or branch."""
        if node is None:
            return ()
        return self.block(list(node.block_items or []) if isinstance(node, c_ast.Compound) else [node])

    def statement(self, node: c_ast.Node) -> Iterator[Stmt]:  # ways: one case for each statement of C
        """Yield the IR of a statement."""
        match node:
            case c_ast.Compound():
                yield from self.body(node)
            case c_ast.For() | c_ast.While() | c_ast.DoWhile() | c_ast.If():
                yield from self._control(node)
            case c_ast.Decl():
                yield from self.declaration(node)
            case c_ast.Assignment():
                yield from self._assignment(node)
            case c_ast.UnaryOp(op="++" | "--" | "p++" | "p--"):
                yield self._increment(node)
            case c_ast.ExprList() | c_ast.DeclList():
                for part in node.exprs if isinstance(node, c_ast.ExprList) else node.decls:
                    yield from self.statement(part)
            case c_ast.FuncCall():
                yield from self._call(node)
            case c_ast.Pragma():
                yield from self._pragma(node)
            case c_ast.EmptyStatement():
                pass
            case _:
                self._refuse(node)

    def _control(self, node: c_ast.Node) -> Iterator[Stmt]:
        match node:
            case c_ast.For():
                yield from self._for(node)
            case c_ast.While():
                condition, body = self.expressions.condition(node.cond), self.body(node.stmt)
                self._again(node.cond)
                yield While(condition, body, self._span(node))
            case c_ast.DoWhile():
                yield from self._do_while(node)
            case c_ast.If():
                condition = self.expressions.condition(node.cond)
                yield If(condition, self.body(node.iftrue), self.body(node.iffalse), self._span(node))

    def _span(self, node: c_ast.Node) -> Span:
        return self.scope.file.span(node)

    def _refuse(self, node: c_ast.Node) -> None:
        advice = {
            "Goto": ("goto", "use loops and if"),
            "Label": ("a label", "use loops and if"),
            "Switch": ("switch", "use if and else"),
            "Break": ("break", "put the condition into the loop's header"),
            "Continue": ("continue", "put the rest of the body into an if"),
            "Return": ("return before the end", "put the rest into an if"),
            "Typedef": ("a typedef inside a function", "move it out of the function"),
        }
        what, hint = advice.get(
            type(node).__name__, (f"this statement ({type(node).__name__})", "use assignments, loops and if")
        )
        self.scope.error(f"{what} is not supported in a kernel", node, hint)

    # Declarations -----------------------------------------------------------------------------------------------------

    def declaration(self, node: c_ast.Decl) -> Iterator[Stmt]:
        """Yield the declaration of a local; arrays are entered as local to the thread, or as tiles."""
        if isinstance(node.type, c_ast.ArrayDecl):
            self._local_array(node)
            return
        of = self.scope.scalar_type(node.type)
        if of is None:
            self.scope.declare(node.name, ScalarSymbol(variable=variable(node.name, node.name, INT32, "local")))
            return
        value = self.expressions.lower(node.init) if node.init is not None else None
        new = variable(self.scope.unique(node.name), node.name, of, "local", self._span(node))
        self.scope.declare(node.name, ScalarSymbol(variable=new, outside=False))
        yield Declare(new, value, self._span(node))

    def _local_array(self, node: c_ast.Decl) -> None:
        shared = node.name in self.tiles or "register" in (node.storage or [])
        info = self.array_info(node, "shared" if shared else "local")
        if info is None:
            return
        if node.init is not None:
            self.scope.error("an initialised local array is not supported", node, "pass the values as a parameter")
        self.arrays.append(info)
        self.scope.declare(node.name, ArraySymbol(info=info))

    def array_info(self, node: c_ast.Decl, storage: Storage) -> ArrayInfo | None:
        """Return the array of a declaration; a first dimension that is not given is 0. None after an error."""
        dims: list[int] = []
        at: c_ast.Node = node.type
        self.scope.collecting = True
        while isinstance(at, c_ast.ArrayDecl | c_ast.PtrDecl):
            given = at.dim if isinstance(at, c_ast.ArrayDecl) else None
            size = self.expressions.constant_value(given) if given is not None else 0
            if size is None or (given is None and dims) or (given is not None and size <= 0):
                self._bad_dimension(node, given, size)
                self.scope.broken.add(str(node.name))
                return None
            dims.append(size)
            at = at.type
        self.scope.collecting = False
        element = self.scope.scalar_type(at)
        if element is None:
            self.scope.broken.add(str(node.name))
            return None
        name = self.scope.unique(node.name)
        span = self._span(node)
        return ArrayInfo(
            name=name, source_name=node.name, element=element, dims=tuple(dims), storage=storage, span=span
        )

    def _bad_dimension(self, node: c_ast.Decl, given: c_ast.Node | None, size: int | None) -> None:
        self.scope.collecting = False
        if given is None:
            self.scope.error(
                "an array of pointers is not supported", node, f"declare it as an array: {node.name}[N][M]"
            )
            return
        if isinstance(given, c_ast.ID):
            if given.name in self.scope.bad_sizes:
                return
            self.scope.bad_sizes.add(given.name)
        fraction = self.scope.constant(given.name) if isinstance(given, c_ast.ID) else None
        if size is None and fraction is not None:
            self.scope.error(f"the size of {node.name} is {fraction}", given, "sizes are integers of at least 1")
        elif size is None:
            named = given.name if isinstance(given, c_ast.ID) else "NAME"
            self.scope.error(
                f"the size of {node.name} is not known", given, f"give the size with --define {named}=NUMBER"
            )
        else:
            self.scope.error(f"the size of {node.name} is {size}", given, "sizes are at least 1")

    # Assignments ------------------------------------------------------------------------------------------------------

    def _assignment(self, node: c_ast.Assignment) -> Iterator[Stmt]:
        value_node = node.rvalue
        if isinstance(value_node, c_ast.Assignment) and node.op == "=":
            inner = list(self._assignment(value_node))
            yield from inner
            last = inner[-1] if inner else None
            if not isinstance(last, Assign) or _reads_array(last.value):
                self.scope.error("a chain of assignments of an array element", node, "use one statement for each")
                return
            yield from self._store(node.lvalue, None, last.value)
            return
        yield from self._store(node.lvalue, node.op if node.op != "=" else None, self.expressions.lower(value_node))

    def _increment(self, node: c_ast.UnaryOp) -> Stmt:
        op = "+=" if "++" in node.op else "-="
        return next(self._store(node.expr, op, Const(1, INT32, self._span(node))), CallStmt("", ()))

    def _store(self, target: c_ast.Node, op: str | None, value: Expr) -> Iterator[Stmt]:
        """Yield ``target = value`` or ``target op= value``; the target's load has the span of the assignment."""
        span = self._span(target)
        match target:
            case c_ast.ArrayRef():
                found = self.expressions.element(target)
                if isinstance(found, Index):
                    if op is not None:
                        value = self.expressions.arithmetic(op[:-1], found, value, target)
                    yield Assign(found.name, found.indices, value, span)
            case c_ast.ID():
                symbol = self.scope.find(target.name)
                if not isinstance(symbol, ScalarSymbol) or symbol.inlined is not None:
                    self.scope.error(f"{target.name} cannot be assigned", target, "declare it as a scalar variable")
                    return
                if self.scope.constant(target.name) is not None:
                    self.scope.error(f"{target.name} is given a value and assigned too", target, "rename the variable")
                    return
                symbol.stale = False
                name, of = symbol.variable.name, symbol.variable.type
                if op is not None:
                    value = self.expressions.arithmetic(op[:-1], Load(name, of, span), value, target)
                yield Assign(name, (), value, span)
            case c_ast.UnaryOp(op="*"):
                self.scope.error("pointer arithmetic is not supported in a kernel", target, "write a[i] for *(a + i)")
            case _:
                self.scope.error(
                    "this assignment is not supported in a kernel", target, "assign a scalar or an array element"
                )

    # Loops ------------------------------------------------------------------------------------------------------------

    def _for(self, node: c_ast.For) -> Iterator[Stmt]:
        marked = self.n_marks > 0
        self.n_marks = max(0, self.n_marks - 1)
        count = self._counting(node)
        if count is None:
            yield from self._for_as_while(node)
            return
        if marked:
            self.marked.append(count.name)
        self.scope.collecting = True
        low, high = self.expressions.lower(count.low), self.expressions.lower(count.high)
        self.scope.collecting = False
        if count.high_offset:
            one = Const(abs(count.high_offset), INT32, high.span)
            high = self.expressions.arithmetic("+" if count.high_offset > 0 else "-", high, one, count.high)
        outer = self.scope.find(count.name)
        of = count.of or (scalar_of(outer.variable.type) if isinstance(outer, ScalarSymbol) else INT32)
        loop = variable(self.scope.unique(count.name), count.name, of, "loop", self._span(node))
        self.scope.levels.append({count.name: ScalarSymbol(variable=loop, outside=False)})
        body = self.body(node.stmt)
        self.scope.levels.pop()
        if count.of is None and isinstance(outer, ScalarSymbol):
            outer.stale = True
        yield ForEach(loop, low, high, body, self._span(node), count.step)

    def _counting(self, node: c_ast.For) -> _Count | None:
        """Return the header of a loop that counts with a constant step and whose body leaves its bounds alone."""
        start = _start(node.init)
        if start is None or node.cond is None or node.next is None:
            return None
        name, typed, low = start
        bound, step = _bound(node.cond, name), self._step(node.next, name)
        if step == 0:
            self.scope.error(f"this loop never ends: it adds 0 to {name}", node, "check the step")
        if bound is None or not step or _assigns(node.stmt, {name, *_names(bound[1])}):
            return None
        op, high = bound
        self._check_direction(node, op, step)
        of = self._type_of_counter(node, name, typed)
        offset = _STRICT.get(op, 0) * (1 if step > 0 else -1)
        return None if isinstance(of, FloatType) else _Count(name, of, low, high, offset, step)

    def _check_direction(self, node: c_ast.For, op: str, step: int) -> None:
        """Refuse a loop that counts away from its bound or past it."""
        if (step < 0 and op in ("<", "<=")) or (step > 0 and op in (">", ">=")) or (op == "!=" and abs(step) != 1):
            self.scope.error(
                f"this loop counts {'down' if step < 0 else 'up'} from below its bound or does not meet it",
                node,
                "check the comparison and the step",
            )

    def _type_of_counter(self, node: c_ast.For, name: str, typed: c_ast.Node | None) -> ScalarType | None:
        """Return the type of a variable that a loop's header declares, None for one declared before."""
        if typed is not None:
            return self.scope.scalar_type(typed)
        if isinstance(self.scope.find(name), ScalarSymbol):
            return None
        self.scope.error(f"{name} is not declared", node, f"declare it: for (int {name} = ...")
        return INT32

    def _step(self, node: c_ast.Node, name: str) -> int | None:
        """Return what a loop adds to its variable, None if that is not a constant."""
        match node:
            case c_ast.UnaryOp(op="++" | "p++", expr=c_ast.ID(name=n)) if n == name:
                return 1
            case c_ast.UnaryOp(op="--" | "p--", expr=c_ast.ID(name=n)) if n == name:
                return -1
            case c_ast.Assignment(op="+=" | "-=" as op, lvalue=c_ast.ID(name=n)) if n == name:
                return _signed(op[0], self.expressions.constant_value(node.rvalue))
            case c_ast.Assignment(op="=", lvalue=c_ast.ID(name=n), rvalue=c_ast.BinaryOp() as sum_) if n == name:
                return self._step_of_sum(sum_, name)
            case _:
                return None

    def _step_of_sum(self, sum_: c_ast.BinaryOp, name: str) -> int | None:
        """Return the step of ``name = name + step``, ``name = name - step`` or ``name = step + name``."""
        match sum_:
            case c_ast.BinaryOp(op="+" | "-" as op, left=c_ast.ID(name=n)) if n == name:
                return _signed(op, self.expressions.constant_value(sum_.right))
            case c_ast.BinaryOp(op="+", right=c_ast.ID(name=n)) if n == name:
                return self.expressions.constant_value(sum_.left)
            case _:
                return None

    def _for_as_while(self, node: c_ast.For) -> Iterator[Stmt]:
        self.scope.levels.append({})
        if node.init is not None:
            yield from self.statement(node.init)
        condition = self.expressions.condition(node.cond) if node.cond is not None else Const(True, BOOL)
        body = self.body(node.stmt)
        if node.next is not None:
            body += tuple(self.statement(node.next))
        if node.cond is not None:
            self._again(node.cond)
        self.scope.levels.pop()
        yield While(condition, body, self._span(node))

    def _again(self, condition: c_ast.Node) -> None:
        """Refuse a condition that asks, behind the body, for the variable of a loop that has ended in it."""
        found = (self.scope.find(name) for name in _names(condition))
        if any(isinstance(symbol, ScalarSymbol) and symbol.stale for symbol in found):
            self.expressions.condition(condition)

    def _do_while(self, node: c_ast.DoWhile) -> Iterator[Stmt]:
        span = self._span(node)
        first = variable(self.scope.unique("first"), "first", BoolType(), "local", span)
        yield Declare(first, Const(True, BOOL, span), span)
        condition = Binary("or", Load(first.name, BOOL, span), self.expressions.condition(node.cond), BOOL, span)
        body = (Assign(first.name, (), Const(False, BOOL, span), span), *self.body(node.stmt))
        self._again(node.cond)
        yield While(condition, body, span)

    # Calls and pragmas ------------------------------------------------------------------------------------------------

    def _call(self, node: c_ast.FuncCall) -> Iterator[Stmt]:
        name = node.name.name if isinstance(node.name, c_ast.ID) else "?"
        if name in _BARRIERS:
            yield CallStmt(BARRIER, (), self._span(node))
            return
        hint = "put its statements in its place"
        self.scope.error(f"the call of {name} is not supported in a kernel", node, hint)

    def _pragma(self, node: c_ast.Pragma) -> Iterator[Stmt]:
        words = str(node.string).replace("(", " ").replace(")", " ").replace(",", " ").split()
        match words:
            case ["dse", "barrier"]:
                yield CallStmt(BARRIER, (), self._span(node))
            case ["dse", "parallel", *names]:
                self.mark(names)
            case ["omp", "parallel", "for", *rest] | ["acc", "parallel", "loop", *rest]:
                at = rest.index("collapse") if "collapse" in rest else -1
                self.n_marks = int(rest[at + 1]) if 0 <= at < len(rest) - 1 and rest[at + 1].isdigit() else 1
            case ["dse", "tile", *_] | ["scop"] | ["endscop"]:
                pass
            case ["dse", word, *_]:
                self.scope.error(
                    f"there is no pragma dse {word}", node, "pragmas are parallel(loops), tile(arrays), barrier"
                )
            case _:
                pass

    def mark(self, names: list[str]) -> None:
        """Mark the named loops as parallel, or the next loop when there are no names."""
        if names:
            self.marked += names
        else:
            self.n_marks = 1


def _assigns(body: c_ast.Node | None, names: set[str]) -> bool:
    """Whether a loop's body assigns any of some variables."""
    return body is not None and not names.isdisjoint(assigned_names(body))


def _signed(sign: str, value: int | None) -> int | None:
    return value if value is None or sign == "+" else -value


def _start(node: c_ast.Node | None) -> tuple[str, c_ast.Node | None, c_ast.Node] | None:
    """Return (variable, type if it is declared here, first value) of a loop's first clause."""
    match node:
        case c_ast.Assignment(op="=", lvalue=c_ast.ID(name=name)):
            return str(name), None, node.rvalue
        case c_ast.DeclList(decls=[c_ast.Decl() as decl]) if decl.init is not None:
            return str(decl.name), decl.type, decl.init
        case _:
            return None


def _bound(node: c_ast.Node, name: str) -> tuple[str, c_ast.Node] | None:
    """Return (comparison with the variable on the left, bound) of a loop's condition."""
    if not isinstance(node, c_ast.BinaryOp) or node.op not in ("<", "<=", ">", ">=", "!="):
        return None
    if isinstance(node.left, c_ast.ID) and node.left.name == name and name not in _names(node.right):
        return node.op, node.right
    if isinstance(node.right, c_ast.ID) and node.right.name == name and name not in _names(node.left):
        return {"<": ">", "<=": ">=", ">": "<", ">=": "<=", "!=": "!="}[node.op], node.left
    return None


def _names(node: c_ast.Node) -> list[str]:
    """Return the names that occur in an expression."""
    found = [node.name] if isinstance(node, c_ast.ID) else []
    for _, child in node.children():
        found += _names(child)
    return found


def assigned_names(node: c_ast.Node) -> Iterator[str]:
    """Yield the names of scalars that a statement assigns (and the variables of loops declared before them)."""
    match node:
        case c_ast.Assignment(lvalue=c_ast.ID(name=name)):
            yield str(name)
        case c_ast.UnaryOp(op="++" | "--" | "p++" | "p--", expr=c_ast.ID(name=name)):
            yield str(name)
    for _, child in node.children():
        yield from assigned_names(child)


def _reads_array(expr: Expr) -> bool:
    match expr:
        case Index():
            return True
        case Binary():
            return _reads_array(expr.left) or _reads_array(expr.right)
        case Unary():
            return _reads_array(expr.operand)
        case Const() | Load():
            return False
        case _:
            return True
