"""The data flow of straight-line code: operators, loads and stores, and what each of them waits for.

Conditions are computed on both sides and selected from, as in a pipeline. Subscripts that are affine in loop variables
are counters and cost nothing. Equal operations of equal operands, and loads of one element, are done once. Elements
that a thread accumulates in stay in the memory on the chip, since threads take turns in a pipeline.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import TypeAlias

from dse.base.errors import ModelNotApplicable
from dse.gpu.kernel.instructions import expression_key
from dse.model.fpga import Fpga
from dse.model.kernel import Kernel
from dse.passes.analyses.affine import Affine, affine
from dse.program.ir import Assign, Binary, Call, CallStmt, Const, Declare, Expr, If, Index, Load, Stmt
from dse.program.types import FloatType, Type
from dse.program.walk import operands_of, sub_expressions, sub_statements

_Key: TypeAlias = tuple[object, ...]
"""What equal operations share."""
_COMPARING = ("abs", "labs", "fabs", "fmin", "fmax", "min", "max")
"""Functions that compare and choose, which costs nothing."""
_OF_OPERATION = {"+": "add", "-": "add", "*": "multiply", "/": "divide", "mod": "divide", "**": "function"}


@dataclass(frozen=True, slots=True)
class Operation:
    """A node. ``operator``: the unit that it occupies, None for a choice or a value that comes in; ``array``: where it
    loads from or stores to; ``before``: nodes that are done before it begins.
    """

    operator: str | None
    latency_cycles: int
    before: tuple[int, ...]
    array: str | None = None
    is_store: bool = False
    place: tuple[Affine | None, ...] = ()
    """Its subscripts; None for one that is not affine."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Dataflow:
    """Operations in an order in which each stands behind those that it waits for.

    ``carried``: (scalar, node that takes its value from the round before, node that has its value for the next one).
    """

    operations: tuple[Operation, ...]
    carried: tuple[tuple[str, int, int], ...] = ()

    def counts(self) -> dict[str, int]:
        """Return how often each operator is used."""
        found: dict[str, int] = {}
        for one in self.operations:
            if one.operator is not None:
                found[one.operator] = found.get(one.operator, 0) + 1
        return found

    def accesses(self, array: str) -> tuple[int, int]:
        """Return loads and stores of an array."""
        of = [one.is_store for one in self.operations if one.array == array]
        return len(of) - sum(of), sum(of)


def dataflow(kernel: Kernel, statements: Iterable[Stmt], fpga: Fpga) -> Dataflow:
    """Return the data flow of statements without loops. Raises ``ModelNotApplicable`` for what has no data path."""
    body = tuple(statements)
    builder = _Builder(fpga, frozenset(a.name for a in kernel.arrays), _assigned(body))
    builder.block(body)
    carried = tuple(
        (name, source, builder.values[name])
        for name, source in builder.sources.items()
        if builder.values.get(name) not in (None, source)
    )
    return Dataflow(
        operations=tuple(builder.operations),
        carried=tuple((name, source, end) for name, source, end in carried if end is not None),
    )


def _assigned(body: tuple[Stmt, ...]) -> frozenset[str]:
    return frozenset(s.name for s in sub_statements(body) if isinstance(s, Assign) and not s.indices)


@dataclass(slots=True)
class _Builder:
    """Adds operations while it walks statements. A value is a node, or None where it costs nothing."""

    fpga: Fpga
    arrays: frozenset[str]
    assigned: frozenset[str]
    operations: list[Operation] = field(default_factory=list)
    values: dict[str, int | None] = field(default_factory=dict)
    sources: dict[str, int] = field(default_factory=dict)
    done: dict[_Key, int] = field(default_factory=dict)
    """Operations by what they compute."""
    conditions: list[int] = field(default_factory=list)
    sides: int = 0
    """Conditions around the statement, those that cost nothing too."""

    def block(self, statements: Iterable[Stmt]) -> None:
        for statement in statements:
            self._statement(statement)

    def _statement(self, statement: Stmt) -> None:
        match statement:
            case Declare(variable=variable, value=value):
                self.values[variable.name] = None if value is None else self.value(value)
            case Assign(name=name, indices=()):
                self.values[name] = self.value(statement.value)
            case Assign():
                self._store(statement)
            case If():
                self._either(statement)
            case CallStmt(routine="barrier"):
                raise ModelNotApplicable(
                    "tiles and barriers are those of a GPU", span=statement.span, expected="the plain loops of it"
                )
            case _:
                raise ModelNotApplicable("this has no data path on an FPGA", span=statement.span)

    def _either(self, statement: If) -> None:
        """Compute both sides; scalars are selected, stores wait for the condition."""
        condition = self.value(statement.condition)
        before = dict(self.values)
        self.conditions += [] if condition is None else [condition]
        self.sides += 1
        self.block(statement.then)
        then, self.values = self.values, dict(before)
        self.block(statement.otherwise)
        for name in dict.fromkeys((*then, *self.values)):
            one, other = then.get(name), self.values.get(name)
            self.values[name] = one if one == other else self._add(None, 0, (condition, one, other))
        self.sides -= 1
        if condition is not None:
            self.conditions.pop()

    def value(self, expression: Expr) -> int | None:
        """Return the node that has the value of an expression."""
        match expression:
            case Const():
                return None
            case Load(name=name):
                return self._scalar(name)
            case Index():
                return self._load(expression)
            case Binary():
                return self._binary(expression)
            case Call(routine=routine, arguments=arguments) if routine.removesuffix("f") in _COMPARING:
                return self._wired(tuple(self.value(a) for a in arguments))
            case Call(arguments=arguments):
                return self._unit(
                    f"{_kind(expression.type)}_function", tuple(self.value(a) for a in arguments), expression
                )
            case _:
                return self._wired(tuple(self.value(part) for part in operands_of(expression)))

    def _binary(self, expression: Binary) -> int | None:
        parts = self.value(expression.left), self.value(expression.right)
        what, kind = _OF_OPERATION.get(expression.op), _kind(expression.type)
        whole = kind == "integer"
        if what is None or (whole and (_by_a_power_of_two(expression) or parts == (None, None))):
            return self._wired(parts)
        if whole and what == "function":
            what = "multiply"
        return self._unit(f"{kind}_{what}", parts, expression)

    def _wired(self, parts: tuple[int | None, ...]) -> int | None:
        """Return the node of what needs no unit: logic, shifts, comparisons, conversions."""
        return None if all(part is None for part in parts) else self._add(None, 0, parts)

    def _scalar(self, name: str) -> int | None:
        if name not in self.values and name in self.assigned:
            self.sources[name] = self._add(None, 0, (), key=("carried", name))
            self.values[name] = self.sources[name]
        return self.values.get(name)

    def _unit(self, operator: str, parts: tuple[int | None, ...], text: Expr) -> int:
        key = self._key(operator, parts, text)
        return self._add(operator, self.fpga.operator(operator).latency_cycles, parts, key=key)

    def _key(self, operator: str, parts: tuple[int | None, ...], text: Expr) -> _Key | None:
        """Return what equal operations share: operands by their nodes, those without one by what they say.

        None where such an operand changes here.
        """
        plain = [operand for operand, node in zip(operands_of(text), parts, strict=True) if node is None]
        names = {e.name for operand in plain for e in sub_expressions(operand) if isinstance(e, Load)}
        if names & self.assigned:
            return None
        what = text.op if isinstance(text, Binary) else text.routine if isinstance(text, Call) else ""
        return (operator, what, parts, *map(expression_key, plain))

    def _load(self, element: Index) -> int | None:
        place = self._place(element.indices)
        computed = self._computed(element.indices, place)
        if element.name not in self.arrays:
            return self._add(None, 0, tuple(computed))  # a table of constants: wired
        exact = None if None in place else ("element", element.name, place)
        if exact in self.done:
            return self.done[exact]
        stored = (k for k, one in self._stores(element.name) if _may_be_one(one.place, place))
        node = Operation(
            "load " + element.name,
            self.fpga.load_cycles,
            _some((*computed, *stored)),
            array=element.name,
            place=place,
        )
        return self._append(node, exact)

    def _store(self, statement: Assign) -> None:
        value, name = self.value(statement.value), statement.name
        place = self._place(statement.indices)
        computed = self._computed(statement.indices, place)
        earlier = (k for k, one in enumerate(self.operations) if one.array == name and _may_be_one(one.place, place))
        before = _some((value, *computed, *self.conditions, *earlier))
        self.done = {key: node for key, node in self.done.items() if key[:2] != ("element", name)}
        self._append(Operation("store " + name, self.fpga.store_cycles, before, name, True, place), None)
        if value is not None and None not in place and not self.sides:
            self.done["element", name, place] = value  # a load of it takes what was stored

    def _computed(self, indices: tuple[Expr, ...], place: tuple[Affine | None, ...]) -> list[int | None]:
        """Return the nodes of subscripts that are not affine."""
        return [self.value(index) for index, of in zip(indices, place, strict=True) if of is None]

    def _place(self, indices: tuple[Expr, ...]) -> tuple[Affine | None, ...]:
        """Return subscripts as affine forms of what does not change here."""
        found = [affine(index) for index in indices]
        moving = self.assigned | set(self.values)
        return tuple(None if of is None or any(name in moving for name, _ in of.terms) else of for of in found)

    def _stores(self, array: str) -> Iterator[tuple[int, Operation]]:
        return ((k, one) for k, one in enumerate(self.operations) if one.array == array and one.is_store)

    def _add(
        self, operator: str | None, latency: int, before: tuple[int | None, ...], key: tuple[object, ...] | None = None
    ) -> int:
        if key is not None and key in self.done:
            return self.done[key]
        return self._append(Operation(operator, latency, _some(before)), key)

    def _append(self, operation: Operation, key: _Key | None) -> int:
        self.operations.append(operation)
        if key is not None:
            self.done[key] = len(self.operations) - 1
        return len(self.operations) - 1


def _some(nodes: Iterable[int | None]) -> tuple[int, ...]:
    return tuple(dict.fromkeys(node for node in nodes if node is not None))


def _may_be_one(a: tuple[Affine | None, ...], b: tuple[Affine | None, ...]) -> bool:
    """Whether two subscripts may be one element in one round: not where they are a constant apart."""
    return not any(
        x is not None and y is not None and x.terms == y.terms and x.constant != y.constant
        for x, y in zip(a, b, strict=False)
    )


def _by_a_power_of_two(expression: Binary) -> bool:
    """Whether it is a shift or a mask: a product with, or a division by, a power of two."""
    sides = (expression.left, expression.right) if expression.op == "*" else (expression.right,)
    values = [side.value for side in sides if isinstance(side, Const) and isinstance(side.value, int)]
    return expression.op in ("*", "/", "mod") and any(v > 0 and v & (v - 1) == 0 for v in values)


def _kind(of: Type) -> str:
    if isinstance(of, FloatType):
        return "double" if of.bits == 64 else "float"
    return "integer"
