"""The thread of a kernel as Python source for numba: one pass over the plan executes a whole batch in lock step.

Every statement runs over all thread slots of the batch before the next one, so all warps issue instruction p and then
p + 1. Rows of ``M`` are masks (which slots take part), rows of ``V`` and ``F`` the integer and floating variables of
the threads. Loops with the same bounds for all threads count in one variable. Values are computed only where
subscripts, bounds or conditions depend on them. Accesses with affine subscripts are rows of a table ``R``, so that the
time to compile does not grow with them.
"""

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import assert_never

from dse.base.errors import ModelNotApplicable
from dse.gpu.kernel.plan import Access, Barrier, Branch, Loop, Node, Operations, Plan, Store, WhileLoop
from dse.gpu.trace.arithmetic import in_word
from dse.model.kernel import ArrayInfo, Kernel
from dse.program.ir import Binary, Call, Cast, Conditional, Const, Expr, Index, Load, Unary
from dse.program.types import INT32, FloatType, IntType, Type
from dse.program.walk import sub_expressions

_CALLS = {
    "sqrt": "root({0})", "rsqrt": "divide_float(1.0, root({0}))", "cbrt": "power({0}, 1.0 / 3.0)",
    "hypot": "root(({0}) ** 2 + ({1}) ** 2)", "fabs": "abs({0})", "abs": "abs({0})", "labs": "abs({0})",
    "exp": "exponential({0})", "exp2": "exponential(({0}) * 0.6931471805599453)", "log": "logarithm({0})",
    "log2": "(logarithm({0}) / 0.6931471805599453)", "log10": "(logarithm({0}) / 2.302585092994046)",
    "pow": "power({0}, {1})", "sin": "math.sin({0})", "cos": "math.cos({0})", "tan": "math.tan({0})",
    "asin": "math.asin(max(-1.0, min(1.0, {0})))", "acos": "math.acos(max(-1.0, min(1.0, {0})))",
    "atan": "math.atan({0})", "atan2": "math.atan2({0}, {1})",
    "sinh": "(0.5 * (exponential({0}) - exponential(-({0}))))",
    "cosh": "(0.5 * (exponential({0}) + exponential(-({0}))))",
    "tanh": "math.tanh({0})", "floor": "float(math.floor({0}))", "ceil": "float(math.ceil({0}))",
    "round": "float(math.floor(({0}) + 0.5))", "trunc": "float(truncate({0}))", "fmin": "min({0}, {1})",
    "fmax": "max({0}, {1})", "min": "min({0}, {1})", "max": "max({0}, {1})",
    "fmod": "(({0}) - float(truncate(divide_float({0}, {1}))) * ({1}))",
}  # fmt: skip
MAX_UNIFORM = 8
"""Loop variables that affine subscripts may use in the table of accesses; one with more is computed slot by slot."""
GLOBAL, SHARED, REGISTER, READ_ONLY = 0, 1, 2, 3
_SIGNS = {"=": "==", "and": "and", "or": "or"}


@dataclass(frozen=True, slots=True)
class Affine:
    """An integer that is ``constant`` plus coefficients of variables."""

    constant: int
    terms: tuple[tuple[str, int], ...]


def affine(expression: Expr) -> Affine | None:
    """Return an expression as an affine form of scalars, None if it is not one."""
    match expression:
        case Const(value=int(value)):
            return Affine(int(value), ())
        case Load(name=name):
            return Affine(0, ((name, 1),))
        case Unary(op="-", operand=operand):
            inner = affine(operand)
            return None if inner is None else _scaled(inner, -1)
        case Binary(op="+" | "-" as op, left=left, right=right):
            a, b = affine(left), affine(right)
            return None if a is None or b is None else _added(a, _scaled(b, 1 if op == "+" else -1))
        case Binary(op="*", left=left, right=right):
            a, b = affine(left), affine(right)
            if a is None or b is None or (a.terms and b.terms):
                return None
            return _scaled(a, b.constant) if not b.terms else _scaled(b, a.constant)
        case _:
            return None


def _scaled(form: Affine, by: int) -> Affine:
    return Affine(form.constant * by, tuple((n, c * by) for n, c in form.terms))


def _added(a: Affine, b: Affine) -> Affine:
    terms: dict[str, int] = {}
    for name, coefficient in (*a.terms, *b.terms):
        terms[name] = terms.get(name, 0) + coefficient
    return Affine(a.constant + b.constant, tuple((n, c) for n, c in terms.items() if c))


def offset_of(array: ArrayInfo, indices: tuple[Expr, ...]) -> Expr:
    """Return the offset of an element in its array, in elements."""
    offset = indices[0]
    for size, index in zip(array.dims[1:], indices[1:], strict=True):
        offset = Binary("+", Binary("*", offset, Const(size, INT32), INT32), index, INT32)
    return offset


@dataclass(slots=True)
class ThreadCode:
    """The generated function and what its caller must provide: rows of masks and variables, arrays with values."""

    source: str
    rows: tuple[tuple[int, ...], ...]
    """Affine accesses: site, array, kind, store, constant, coefficients of 3 axes and of the variables of ``U``."""
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
    lines: list[str] = field(default_factory=list)
    depth: int = 1
    n_masks: int = 1
    integers: dict[str, int] = field(default_factory=dict)
    floats: dict[str, int] = field(default_factory=dict)
    uniform: dict[str, str] = field(default_factory=dict)
    """Variables with one value for all threads: IR name to Python name."""
    constants: dict[str, str] = field(default_factory=dict)
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

    def integer(self, name: str) -> int:
        return self.integers.setdefault(name, len(self.integers))

    # Nodes ------------------------------------------------------------------------------------------------------------

    def nodes(self, nodes: Iterable[Node], mask: int) -> None:
        first = len(self.rows)
        for node in nodes:
            row = self._row_of(node) if isinstance(node, Access) else None
            if row is not None:
                self.rows.append(row)
                continue
            first = self._flush(first, mask, isinstance(node, Operations | Barrier))
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
                case Operations() | Barrier():
                    pass
                case _:
                    assert_never(node)
            first = first if isinstance(node, Operations | Barrier) else len(self.rows)
        self._flush(first, mask, False)

    def _flush(self, first: int, mask: int, keep: bool) -> int:
        """Issue the rows gathered since ``first``, unless what comes next does nothing; returns where to go on."""
        if keep or first == len(self.rows):
            return first
        self.emit(f"if issue_rows(S, R, {first}, {len(self.rows)}, V, U, AD, M[{mask}]): return")
        return len(self.rows)

    def _row_of(self, access: Access) -> tuple[int, ...] | None:
        """Return the row of the table for an access with an affine subscript, else None.

        The row holds site, array, kind, store, constant, and the coefficients of three axes and of the places in ``U``.
        """
        form = affine(offset_of(access.array, access.indices))
        axes = [p.variable.name for p in self.kernel.parallel]
        if form is None:
            return None
        constant, scale, steps = form.constant, [0, 0, 0], [0] * MAX_UNIFORM
        for name, coefficient in form.terms:
            if name in axes:
                scale[axes.index(name)] = coefficient
            elif name in self.uniform and self.places.get(name, MAX_UNIFORM) < MAX_UNIFORM:
                steps[self.places[name]] = coefficient
            elif isinstance(self.integer_constants.get(name), int):
                constant += coefficient * self.integer_constants[name]
            else:
                return None
        number = [a.name for a in self.kernel.arrays].index(access.array.name)
        return (access.site, number, _kind(access, self.written), int(access.is_store), constant, *scale, *steps)

    def _access(self, access: Access, mask: int) -> None:
        array = access.array
        number = [a.name for a in self.kernel.arrays].index(array.name)
        what = f"{access.site}, {number}, {_kind(access, self.written)}, {access.is_store}"
        self.emit("for t in range(n):")
        self.emit(f"    AD[t] = {self.value(offset_of(array, access.indices))} if M[{mask}, t] else 0")
        self.emit(f"if issue(S, {what}, AD, M[{mask}]): return")

    def _store(self, store: Store, mask: int) -> None:
        if store.name not in self.needed:
            return
        array = next((a for a in self.kernel.arrays if a.name == store.name), None)
        if array is None:
            variable_type = self._type_of(store)
            row = self._row(store.name, variable_type)
            value = self.value(store.value) if store.value is not None else "0"
            self._guarded(mask, f"{row} = {_stored(value, store.value, variable_type)}")
            return
        value = _stored(self.value(store.value), store.value, array.element) if store.value is not None else "0"
        self.emit("for t in range(n):")
        self.emit(f"    if M[{mask}, t]:")
        self.emit(f"        at = {self.value(offset_of(array, store.indices))}")
        if array.storage == "local":
            self.emit(f"        if 0 <= at < {array.elements}: {_argument(array)}[t, at] = {value}")
        else:
            self.emit(f"        if 0 <= at < {array.elements}: {_argument(array)}[at] = {value}")

    def _type_of(self, store: Store) -> Type:
        for scalar in self.kernel.scalars:
            if scalar.variable.name == store.name:
                return scalar.variable.type
        return self.types[store.name]

    types: dict[str, Type] = field(default_factory=dict)

    def _row(self, name: str, of: Type) -> str:
        if isinstance(of, FloatType):
            return f"F[{self.floats.setdefault(name, len(self.floats))}, t]"
        return f"V[{self.integer(name)}, t]"

    def _guarded(self, mask: int, statement: str) -> None:
        self.emit("for t in range(n):")
        self.emit(f"    if M[{mask}, t]: {statement}")

    def _branch(self, branch: Branch, mask: int) -> None:
        then, otherwise = self.mask(), self.mask()
        self.emit("for t in range(n):")
        self.emit(f"    c = M[{mask}, t] != 0 and {self.truth(branch.condition)}")
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
            self.uniform[name] = f"u{place}"
            self.emit(f"for u{place} in range({low}, {end}, {loop.step}):")
            self.depth += 1
            self.emit(f"if not step(S, {loop.control}): return")
            if place < MAX_UNIFORM:
                self.emit(f"U[{place}] = u{place}")
            self.nodes(body, mask)
            self.depth -= 1
            return
        inner = self.mask()
        at, last = self.integer(name), self.integer(f"{name} last")
        going = "<=" if loop.step > 0 else ">="
        self.emit(f"enter(S, {loop.control}, M[{mask}])")
        self.emit("for t in range(n):")
        self.emit(f"    M[{inner}, t] = 0")
        self.emit(f"    if M[{mask}, t]:")
        self.emit(f"        V[{at}, t] = {self.value(loop.low)}")
        self.emit(f"        V[{last}, t] = {self.value(loop.high)}")
        self.emit(f"        M[{inner}, t] = V[{at}, t] {going} V[{last}, t]")
        self.emit(f"while iterate(S, {loop.control}, M[{inner}]):")
        self.depth += 1
        self.nodes(body, inner)
        self.emit("for t in range(n):")
        self.emit(f"    if M[{inner}, t]:")
        self.emit(f"        V[{at}, t] += {loop.step}")
        self.emit(f"        M[{inner}, t] = V[{at}, t] {going} V[{last}, t]")
        self.depth -= 1
        self.emit("if S.stop[0]: return")

    def _while(self, loop: WhileLoop, mask: int) -> None:
        inner = self.mask()
        self.emit(f"enter(S, {loop.control}, M[{mask}])")
        self.emit(f"M[{inner}] = M[{mask}]")
        self.emit("while True:")
        self.depth += 1
        self.nodes(loop.test, inner)
        self.emit("for t in range(n):")
        self.emit(f"    M[{inner}, t] = M[{inner}, t] != 0 and {self.truth(loop.condition)}")
        self.emit(f"if not iterate(S, {loop.control}, M[{inner}]): break")
        self.nodes(loop.body, inner)
        self.depth -= 1
        self.emit("if S.stop[0]: return")

    def _uniform_value(self, expression: Expr) -> str | None:
        """Return the Python text of a value that all threads share, None if it may differ."""
        form = affine(expression)
        if form is None:
            return None
        terms = [str(form.constant)]
        for name, coefficient in form.terms:
            text = self.uniform.get(name) or self.constants.get(name)
            if text is None:
                return None
            terms.append(f"{coefficient} * {text}")
        return "(" + " + ".join(terms) + ")"

    # Values of one thread ---------------------------------------------------------------------------------------------

    def truth(self, expression: Expr) -> str:
        return f"(({self.value(expression)}) != 0)"

    def value(self, expression: Expr) -> str:
        """Return the Python text of a value of slot ``t``."""
        match expression:
            case Const(value=value):
                return repr(in_word(int(value)) if isinstance(value, int) else value)
            case Load(name=name, type=of):
                known = self.uniform.get(name) or self.constants.get(name)
                return known if known is not None else self._row(name, of)
            case Index(name=name, indices=indices):
                array = self.kernel.array(name)
                at = self.value(offset_of(array, indices))
                data = _argument(array)
                return f"element({data}[t], {at})" if array.storage == "local" else f"element({data}, {at})"
            case Unary(op=op, operand=operand):
                sign = {"-": "-", "~": "~", "not": "not "}.get(op)
                if sign is None:
                    raise ModelNotApplicable(f"the operator {op} has no cost on a GPU", span=expression.span)
                return f"({sign}({self.value(operand)}))"
            case Binary():
                return self._binary(expression)
            case Conditional():
                then, otherwise = self.value(expression.then), self.value(expression.otherwise)
                return f"(({then}) if {self.truth(expression.condition)} else ({otherwise}))"
            case Call(routine=routine, arguments=arguments) if routine in _CALLS:
                return _CALLS[routine].format(*(f"({self.value(a)})" for a in arguments))
            case Cast(operand=operand, type=of):
                return _stored(self.value(operand), operand, of)
            case _:
                raise ModelNotApplicable("a subscript, bound or condition is too complex", span=expression.span)

    def _binary(self, expression: Binary) -> str:
        left, right = self.value(expression.left), self.value(expression.right)
        match expression.op:
            case "/":
                of = expression.type
                return f"{'divide_float' if isinstance(of, FloatType) else 'divide'}({left}, {right})"
            case "mod":
                return f"remainder({left}, {right})"
            case "and" | "or":
                return f"({self.truth(expression.left)} {expression.op} {self.truth(expression.right)})"
            case op:
                return f"({left} {_SIGNS.get(op, op)} {right})"


def _argument(array: ArrayInfo) -> str:
    """Return the name of an array's contents in the generated function; ``~`` is in names that inlining made."""
    return f"{'L' if array.storage == 'local' else 'D'}_{array.name.replace('~', '__of_call_')}"


def _stored(value: str, expression: Expr | None, of: Type) -> str:
    """Return a value converted to the type it is stored in."""
    is_float = expression is not None and isinstance(expression.type, FloatType)
    if isinstance(of, FloatType):
        return f"float({value})"
    if isinstance(of, IntType):
        whole = f"truncate({value})" if is_float else value
        return f"wrap({whole}, {of.container_bits}, {of.signed})"
    return f"int({value})"


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


def _steering(nodes: Iterable[Node]) -> Iterable[Expr]:
    """Yield the expressions that decide what is executed and which elements are touched."""
    for node in nodes:
        match node:
            case Access():
                yield from node.indices
            case Branch():
                yield node.condition
                yield from _steering((*node.then, *node.otherwise))
            case Loop():
                yield from (node.low, node.high)
                yield from _steering(node.body)
            case WhileLoop():
                yield node.condition
                yield from _steering((*node.test, *node.body))
            case Store() | Operations() | Barrier():
                pass


def _stores(nodes: Iterable[Node]) -> Iterable[Store]:
    for node in nodes:
        match node:
            case Store():
                yield node
            case Branch():
                yield from _stores((*node.then, *node.otherwise))
            case Loop() | WhileLoop():
                yield from _stores(node.body)
            case _:
                pass


def needed_names(plan: Plan) -> frozenset[str]:
    """Return the scalars and arrays whose values decide what is executed or which elements are touched."""
    needed = {p.name for e in _steering(plan.nodes) for p in sub_expressions(e) if isinstance(p, Load | Index)}
    stores = list(_stores(plan.nodes))
    before = -1
    while before != len(needed):
        before = len(needed)
        for store in stores:
            if store.name in needed:
                parts = [*store.indices, *([store.value] if store.value is not None else [])]
                needed |= {p.name for e in parts for p in sub_expressions(e) if isinstance(p, Load | Index)}
    return frozenset(needed)


def thread_code(plan: Plan, types: dict[str, Type]) -> ThreadCode:
    """Return the function of a kernel's thread; ``types`` are those of its scalars by name."""
    kernel, needed = plan.kernel, needed_names(plan)
    generator = _Generator(plan=plan, needed=needed, written=frozenset(s.name for s in _stores(plan.nodes)))
    generator.types = types
    for loop in kernel.parallel:
        generator.integer(loop.variable.name)
    assigned = {s.name for s in _stores(plan.nodes)}
    for scalar in kernel.scalars:
        if scalar.variable.name not in assigned:
            generator.constants[scalar.variable.name] = repr(scalar.value)
            if isinstance(scalar.value, int) and isinstance(scalar.variable.type, IntType):
                generator.integer_constants[scalar.variable.name] = scalar.value
    generator.nodes(plan.nodes, 0)
    valued = [a for a in kernel.arrays if a.name in needed]
    shared, local = [a for a in valued if a.storage != "local"], [a for a in valued if a.storage == "local"]
    names = [_argument(a) for a in (*shared, *local)]
    head = f"def thread(n, V, F, M, AD, S, R, U{''.join(', ' + n for n in names)}):"
    return ThreadCode(
        source="\n".join([head, *generator.lines, "    return"]) + "\n",
        rows=tuple(generator.rows),
        n_masks=generator.n_masks,
        integers=generator.integers,
        floats=generator.floats,
        valued=tuple(shared),
        local=tuple(local),
    )
