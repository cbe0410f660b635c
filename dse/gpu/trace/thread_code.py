"""The thread of a kernel as Python source for numba: one pass over the plan executes a whole batch in lock step.

Every statement runs over all thread slots of the batch before the next one, so all warps issue instruction p and then
p + 1. Rows of ``M`` are masks (which slots take part), rows of ``V`` and ``F`` the integer and floating variables of
the threads. Loops with the same bounds for all threads count in one variable. Values are computed only where
subscripts, bounds or conditions depend on them. Accesses with affine subscripts and loops with affine bounds are rows
of a table ``R``: the time to compile does not grow with them, and Python executes them a whole batch at a time.
"""

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import assert_never

from dse.gpu.kernel.plan import Access, Barrier, Branch, Loop, Node, Operations, Plan, Store, WhileLoop, sub_nodes
from dse.gpu.kernel.steering import integer_constants, names_in, needed_names
from dse.gpu.trace.thread_expressions import ThreadExpressions, contents_name, offset_of
from dse.gpu.trace.warps import FOREVER, GLOBAL, OWN, READ_ONLY, REGISTER, SHARED
from dse.model.kernel import ArrayInfo, Kernel
from dse.passes.analyses.affine import affine
from dse.program.ir import Expr

MAX_UNIFORM = 8
"""Loop variables that affine subscripts may use in the table of accesses; one with more is computed slot by slot."""


@dataclass(slots=True)
class ThreadCode:
    """The generated function and what its caller must provide: rows of masks and variables, arrays with values."""

    source: str
    rows: tuple[tuple[int, ...], ...]
    """Affine forms: site, array, kind and store of an access, constant, coefficients of rows of ``V`` and of ``U``."""
    n_masks: int
    integers: dict[str, int]
    """Row of ``V`` of each integer variable; the parallel loops are rows 0, 1, ..."""
    floats: dict[str, int]
    valued: tuple[ArrayInfo, ...]
    """Arrays whose contents matter, in the order of the arguments."""
    local: tuple[ArrayInfo, ...]
    """Arrays of a thread whose contents matter, after those."""


@dataclass(slots=True)
class _Generator:
    plan: Plan
    needed: frozenset[str]
    written: frozenset[str]
    expressions: ThreadExpressions
    lines: list[str] = field(default_factory=list)
    depth: int = 1
    n_masks: int = 1
    integer_constants: dict[str, int] = field(default_factory=dict)
    places: dict[str, int] = field(default_factory=dict)
    """Place in ``U`` of each variable with one value for all threads."""
    rows: list[tuple[int, ...]] = field(default_factory=list)

    @property
    def kernel(self) -> Kernel:
        return self.plan.kernel

    def emit(self, text: str) -> None:
        self.lines.append("    " * self.depth + text)

    def mask(self) -> int:
        self.n_masks += 1
        return self.n_masks - 1

    def code(self) -> ThreadCode:
        """Return the function of what was emitted."""
        valued = [a for a in self.kernel.arrays if a.name in self.needed]
        shared, local = [a for a in valued if a.storage != "local"], [a for a in valued if a.storage == "local"]
        names = ["n", "V", "F", "M", "AD", "S", "R", "U", *(contents_name(a) for a in (*shared, *local))]
        return ThreadCode(
            source="\n".join([f"def thread({', '.join(names)}):", *self.lines, "    return"]) + "\n",
            rows=tuple(self.rows),
            n_masks=self.n_masks,
            integers=self.expressions.integers,
            floats=self.expressions.floats,
            valued=tuple(shared),
            local=tuple(local),
        )

    # Nodes ------------------------------------------------------------------------------------------------------------

    def nodes(self, nodes: Iterable[Node], mask: int) -> None:
        first = len(self.rows)
        for node in nodes:
            row = self._row_of(node) if isinstance(node, Access) else None
            if row is not None:
                self.rows.append(row)
            elif not isinstance(node, Operations | Barrier):
                self._flush(first, mask)
                self._node(node, mask)
                first = len(self.rows)
        self._flush(first, mask)

    def _node(self, node: Access | Store | Branch | Loop | WhileLoop, mask: int) -> None:
        match node:
            case Access():
                self._access(node, mask)
            case Store():
                self._store(node, mask)
            case Branch():
                self._branch(node, mask)
            case Loop():
                self._loop(node, mask)
            case WhileLoop():
                self._while(node, mask)
            case _:
                assert_never(node)

    def _flush(self, first: int, mask: int) -> None:
        """Issue the rows gathered since ``first``."""
        if first < len(self.rows):
            self.emit(f"if issue_rows(S, R, {first}, {len(self.rows)}, V, U, AD, M[{mask}]): return")

    def _row_of(self, access: Access) -> tuple[int, ...] | None:
        """Return the row of the table for an access with an affine subscript, else None."""
        form = self._form(offset_of(access.array, access.indices))
        number = [a.name for a in self.kernel.arrays].index(access.array.name)
        kind = _kind(access, self.written)
        return None if form is None else (access.site, number, kind, int(access.is_store), *form)

    def _form(self, expression: Expr) -> tuple[int, ...] | None:
        """Return constant, coefficients of the first rows of ``V`` and of the places in ``U``; None: not affine."""
        form = affine(expression)
        if form is None:
            return None
        constant, own, shared = form.constant, [0] * OWN, [0] * MAX_UNIFORM
        for name, coefficient in form.terms:
            if name in self.integer_constants:
                constant += coefficient * self.integer_constants[name]
            elif self.places.get(name, MAX_UNIFORM) < MAX_UNIFORM:
                shared[self.places[name]] = coefficient
            elif name not in self.expressions.shared and self.expressions.integers.get(name, OWN) < OWN:
                own[self.expressions.integers[name]] = coefficient
            else:
                return None
        return (constant, *own, *shared)

    def _access(self, access: Access, mask: int) -> None:
        array = access.array
        number = [a.name for a in self.kernel.arrays].index(array.name)
        what = f"{access.site}, {number}, {_kind(access, self.written)}, {access.is_store}"
        self.emit("for t in range(n):")
        self.emit(f"    AD[t] = {self.expressions.value(offset_of(array, access.indices))} if M[{mask}, t] else 0")
        self.emit(f"if issue(S, {what}, AD, M[{mask}]): return")

    def _store(self, store: Store, mask: int) -> None:
        if store.name not in self.needed:
            return
        value = self.expressions.stored(store.value, store.type)
        array = next((a for a in self.kernel.arrays if a.name == store.name), None)
        if array is None:
            self._guarded(mask, f"{self.expressions.own(store.name, store.type)} = {value}")
            return
        slot = "t, at" if array.storage == "local" else "at"
        self.emit("for t in range(n):")
        self.emit(f"    if M[{mask}, t]:")
        self.emit(f"        at = {self.expressions.value(offset_of(array, store.indices))}")
        self.emit(f"        if 0 <= at < {array.elements}: {contents_name(array)}[{slot}] = {value}")

    def _guarded(self, mask: int, statement: str) -> None:
        self.emit("for t in range(n):")
        self.emit(f"    if M[{mask}, t]: {statement}")

    def _branch(self, branch: Branch, mask: int) -> None:
        then, otherwise = self.mask(), self.mask()
        self.emit("for t in range(n):")
        self.emit(f"    c = M[{mask}, t] != 0 and {self.expressions.truth(branch.condition)}")
        self.emit(f"    M[{then}, t] = c")
        self.emit(f"    M[{otherwise}, t] = M[{mask}, t] != 0 and not c")
        self.emit(f"w{branch.control} = split(S, {branch.control}, M[{mask}], M[{then}], M[{otherwise}])")
        for bit, row, nodes in ((1, then, branch.then), (2, otherwise, branch.otherwise)):
            if _does_something(nodes, self.needed):
                self.emit(f"if w{branch.control} & {bit}:")
                self.depth += 1
                self.nodes(nodes, row)
                self.depth -= 1

    def _loop(self, loop: Loop, mask: int) -> None:
        name = loop.variable.name
        body = loop.body
        if loop.innermost:  # registers do not change in it: their threads are noted once
            self.nodes(_registers(body), mask)
            body = tuple(n for n in body if n not in _registers(body))
        low, high = self._uniform_value(loop.low), self._uniform_value(loop.high)
        if low is not None and high is not None:
            end = f"{high} + 1" if loop.step > 0 else f"{high} - 1"
            place = self.places.setdefault(name, len(self.places))
            self.expressions.shared[name] = f"u{place}"
            self.emit(f"for u{place} in range({low}, {end}, {loop.step}):")
            self.depth += 1
            self.emit(f"if not step(S, {loop.control}): return")
            if place < MAX_UNIFORM:
                self.emit(f"U[{place}] = u{place}")
            self.nodes(body, mask)
            self.depth -= 1
            return
        self._own_rounds(loop, body, mask)

    def _own_rounds(self, loop: Loop, body: Iterable[Node], mask: int) -> None:
        """Emit a loop in which each thread counts for itself."""
        name, inner, bounds = loop.variable.name, self.mask(), (self._form(loop.low), self._form(loop.high))
        at, last = self.expressions.integer(name), self.expressions.integer(f"{name} last")
        counter = f"({at}, {last}, {loop.step})"
        if bounds[0] is not None and bounds[1] is not None:
            self.rows += [(0, 0, 0, 0, *form) for form in bounds if form is not None]
            of_rows = f"S, R, {len(self.rows) - 2}, V, U, {loop.control}"
            self.emit(f"begin({of_rows}, {counter}, M[{mask}], M[{inner}])")
        else:
            self.emit(f"enter(S, {loop.control}, M[{mask}])")
            self.emit("for t in range(n):")
            self.emit(f"    M[{inner}, t] = 0")
            self.emit(f"    if M[{mask}, t]:")
            self.emit(f"        V[{at}, t] = {self.expressions.value(loop.low)}")
            self.emit(f"        V[{last}, t] = {self.expressions.value(loop.high)}")
            self.emit(f"        M[{inner}, t] = V[{at}, t] {'<=' if loop.step > 0 else '>='} V[{last}, t]")
        self.emit(f"while iterate(S, {loop.control}, M[{inner}]):")
        self.depth += 1
        self.nodes(body, inner)
        self.emit(f"advance(V, {counter}, M[{inner}])")
        self.depth -= 1
        self.emit("if S.stop[0]: return")

    def _while(self, loop: WhileLoop, mask: int) -> None:
        inner = self.mask()
        self.emit(f"enter(S, {loop.control}, M[{mask}])")
        self.emit(f"begin_as(M[{inner}], M[{mask}])")
        self.emit("while True:")
        self.depth += 1
        self.nodes(loop.test, inner)
        self.emit("for t in range(n):")
        self.emit(f"    M[{inner}, t] = M[{inner}, t] != 0 and {self.expressions.truth(loop.condition)}")
        self.emit(f"if not iterate(S, {loop.control}, M[{inner}]): break")
        if self._cannot_end(loop):
            self.emit(f"S.stop[0] = {FOREVER}; S.stop[1] = {loop.control}; return")
        else:
            self.nodes(loop.body, inner)
        self.depth -= 1
        self.emit("if S.stop[0]: return")

    def _cannot_end(self, loop: WhileLoop) -> bool:
        """Whether nothing in a loop changes what its condition asks for; arrays count as changed."""
        inside = tuple(sub_nodes((*loop.test, *loop.body)))
        changed = {a.name for a in self.kernel.arrays} | {n.name for n in inside if isinstance(n, Store)}
        changed |= {n.variable.name for n in inside if isinstance(n, Loop)}
        return not changed & names_in([loop.condition])

    def _uniform_value(self, expression: Expr) -> str | None:
        """Return the Python text of a value that all threads share, None if it may differ."""
        form = affine(expression)
        if form is None:
            return None
        terms = [str(form.constant)]
        for name, coefficient in form.terms:
            text = self.expressions.shared.get(name)
            if text is None:
                return None
            terms.append(f"{coefficient} * {text}")
        return "(" + " + ".join(terms) + ")"


def _kind(access: Access, written: frozenset[str]) -> int:
    """Return the kind of memory that an access goes to, as ``warps`` numbers them."""
    if access.site < 0:
        return REGISTER
    if access.array.storage == "shared":
        return SHARED
    return GLOBAL if access.array.name in written else READ_ONLY


def _registers(nodes: Iterable[Node]) -> tuple[Access, ...]:
    """Return the elements kept in registers in a loop's body."""
    return tuple(n for n in nodes if isinstance(n, Access) and n.site < 0)


def _does_something(nodes: Iterable[Node], needed: frozenset[str]) -> bool:
    """Whether the execution of nodes has an effect on the trace."""
    for node in nodes:
        match node:
            case Operations() | Barrier():
                continue
            case Store() if node.name not in needed:
                continue
            case _:
                return True
    return False


def thread_code(plan: Plan) -> ThreadCode:
    """Return the function of a kernel's thread."""
    kernel, needed = plan.kernel, needed_names(plan)
    assigned = frozenset(node.name for node in sub_nodes(plan.nodes) if isinstance(node, Store))
    generator = _Generator(
        plan=plan,
        needed=needed,
        written=assigned,
        expressions=ThreadExpressions(kernel),
        integer_constants=integer_constants(plan),
    )
    for loop in kernel.parallel:
        generator.expressions.integer(loop.variable.name)
    for scalar in kernel.scalars:
        name = scalar.variable.name
        if name not in assigned:
            generator.expressions.shared[name] = repr(scalar.value)
    generator.nodes(plan.nodes, 0)
    return generator.code()
