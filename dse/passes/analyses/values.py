"""What is known of the value of an expression of the explicit IR: bounds, length of a list, whether it is a new one.

This is what lets a rewrite leave out a wrap, a check or a copy, and what tells a backend how wide an intermediate
result may grow. It looks at each variable as a whole: the bounds of a variable are those of all its values.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import assert_never

from dse.passes.analyses import ranges
from dse.passes.analyses.ranges import Interval, container, fits, hull
from dse.passes.arithmetic import single
from dse.program.ir import (
    Binary,
    Call,
    Cast,
    Check,
    Conditional,
    Const,
    ConstList,
    Copy,
    Expr,
    Generator,
    Index,
    ListExpr,
    Load,
    Unary,
    Variable,
)
from dse.program.types import BOOL, FloatType, IntType, ListType, Type, dimensions_of, scalar_of

EXACT_IN_SINGLE = 1 << 24
"""Integers up to it are 32-bit floats."""


@dataclass(frozen=True, slots=True)
class Known:
    """What is known of a value; the default is nothing."""

    bounds: Interval = None
    """Lowest and highest integer; of the elements for a list."""
    single: bool = False
    """A float, or list of floats, that 32 bits hold."""
    fresh: bool = False
    """A list that nothing else refers to: storing it needs no copy."""
    length: int | None = None
    """Number of elements of a list, where it is known for certain."""
    loose: bool = False
    """Elements of a list may lie outside its type (``aliases``)."""


UNKNOWN = Known()


@dataclass(frozen=True, slots=True)
class Held:
    """What is known of a variable. ``sizes`` of a list, outermost first, are ``certain`` or only the declared ones."""

    variable: Variable
    bounds: Interval
    sizes: tuple[int, ...] = ()
    certain: bool = True
    loose: bool = False


class Values:
    """Knows the variables that were declared to it, and the values of expressions over them.

    ``results``: result types of the routines (natives promise nothing). ``parameter_sizes``: sizes that all arguments
    of a list parameter have. ``loose``: names of lists whose elements may lie outside their type.
    """

    def __init__(
        self,
        results: Mapping[str, Type | None],
        parameter_sizes: Mapping[str, tuple[int, ...]],
        loose: frozenset[str] = frozenset(),
    ) -> None:
        self.held: dict[str, Held] = {}
        self._results = results
        self._parameter_sizes = parameter_sizes
        self._loose = loose
        self._known: dict[int, tuple[Expr, Known]] = {}

    def declare(self, variable: Variable, bounds: Interval = None, *, by_reference: bool = False) -> Held:
        """Add a variable; ``bounds`` are narrower than its container. ``by_reference``: it may be any caller's list."""
        name, known = variable.name, self._parameter_sizes.get(variable.name, ())
        loose = name in self._loose
        held = Held(
            variable,
            None if loose else bounds or container(variable.type),
            known or dimensions_of(variable.type),
            not by_reference or bool(known),
            loose,
        )
        self.held[name] = held
        return held

    def interval(self, expr: Expr) -> Interval:
        """Return the lowest and highest integer of an expression, or of a list's elements; None: no bound is known."""
        return self.of(expr).bounds

    def length(self, variable: Variable, dimension: int) -> int | None:
        """Return the length of the lists of a dimension of a variable, where it is known for certain."""
        held = self.held[variable.name]
        return held.sizes[dimension] if held.certain else None

    def of(self, expr: Expr) -> Known:
        """Return what is known of the value of an expression."""
        found = self._known.get(id(expr))
        if found is None:
            found = self._known[id(expr)] = (expr, self._find(expr))  # the expression is kept: its id stays its own
        return found[1]

    def _find(self, expr: Expr) -> Known:  # ways: one case for each node of the IR
        match expr:
            case Const():
                return _of_constant(expr)
            case ConstList():
                return Known(bounds_of_table(expr.values), is_table_single(expr.values), length=len(expr.values))
            case Load():
                return self._load(expr)
            case Index():
                return self._index(expr)
            case Unary():
                return self._unary(expr)
            case Binary():
                return self._binary(expr)
            case Conditional():
                return _either(self.of(expr.then), self.of(expr.otherwise))
            case Call():
                return self._call(expr)
            case ListExpr():
                return self._collected(expr.elements, len(expr.elements))
            case Generator():
                assert isinstance(expr.type, ListType)
                return self._collected(expr.elements, expr.type.size)
            case Cast():
                return self._cast(expr)
            case Check():
                return self.of(expr.operand)
            case Copy():
                return self._copy(expr)
            case _:
                assert_never(expr)

    def _load(self, expr: Load) -> Known:
        held = self.held[expr.name]
        of = held.variable.type
        length = held.sizes[0] if isinstance(of, ListType) and held.certain else None
        return Known(held.bounds, single=is_single(of) and not held.loose, length=length, loose=held.loose)

    def _index(self, expr: Index) -> Known:
        held = self.held[expr.name]
        checked = any(isinstance(index, Check) for index in expr.indices)
        length = None
        if isinstance(expr.type, ListType) and held.certain:
            size = held.sizes[len(expr.indices)]
            length = size if not checked or size == expr.type.size else None  # a stray read gives the declared size
        bounds = hull(held.bounds, (0, 0)) if checked else held.bounds
        return Known(bounds, single=is_single(expr.type) and not held.loose, length=length, loose=held.loose)

    def _unary(self, expr: Unary) -> Known:
        operand = self.of(expr.operand)
        match expr.op:
            case "~":
                return Known(ranges.complemented(operand.bounds))
            case "-":
                return Known(ranges.negated(operand.bounds), single=operand.single)
            case "#" if operand.length is not None:
                return Known((operand.length, operand.length))
            case _:
                return UNKNOWN

    def _binary(self, expr: Binary) -> Known:
        if isinstance(expr.type, IntType):
            left, right = self.of(expr.left), self.of(expr.right)
            if expr.op in ("<<", ">>"):
                masked = ranges.counts(right.bounds, expr.left.type)
                return Known(ranges.binary(expr.op, left.bounds, masked))
            return Known(ranges.binary(expr.op, left.bounds, right.bounds))
        if isinstance(expr.type, ListType):
            left, right = self.of(expr.left), self.of(expr.right)
            known = left.length is not None and right.length is not None
            length = (left.length or 0) + (right.length or 0) if known else None
            loose = left.loose or right.loose
            return Known(hull(left.bounds, right.bounds), left.single and right.single, True, length, loose)
        return UNKNOWN

    def _call(self, expr: Call) -> Known:
        of = self._results.get(expr.routine)
        if of is None:
            return Known(fresh=True)
        return Known(container(of), single=is_single(of), fresh=True)

    def _collected(self, elements: tuple[Expr, ...], length: int) -> Known:
        values = [self.of(e) for e in elements]
        bounds = values[0].bounds if values else None
        for value in values[1:]:
            bounds = hull(bounds, value.bounds)
        single = bool(values) and all(v.single for v in values)
        return Known(bounds, single, True, length, any(v.loose for v in values))

    def _cast(self, expr: Cast) -> Known:
        match expr.type:
            case IntType() if expr.operand.type == BOOL:
                return Known((0, 1))
            case IntType():
                return Known(container(expr.type))
            case FloatType(bits=64):
                return Known(single=is_exact_in_single(self.interval(expr.operand)))
            case FloatType():
                return Known(single=True)
            case _:
                return UNKNOWN

    def _copy(self, expr: Copy) -> Known:
        source = self.of(expr.operand)
        bounds = container(expr.type) if expr.convert else source.bounds
        whole = source.length is not None and source.length >= expr.type.size and len(dimensions_of(expr.type)) == 1
        single = source.single or (expr.convert and is_single(expr.type))
        return Known(bounds if whole else hull(bounds, (0, 0)), single, True, expr.type.size)

    def shape(self, expr: Expr) -> tuple[int, ...] | None:
        """Return the sizes that a list has in memory, outermost first; () for a scalar, None where they are not known.

        They are those of the type, but for parameters, whose lists are the callers', and tables with short rows.
        """
        match expr:
            case _ if not isinstance(expr.type, ListType):
                return ()
            case Load() | Index():
                return self._shape_in_place(expr)
            case ConstList():
                return dimensions_of(expr.type) if is_full(expr.values, dimensions_of(expr.type)) else None
            case ListExpr() | Generator():
                return self._shape_of_rows(expr.elements, expr.type.size)
            case Conditional():
                chosen = self.shape(expr.then)
                return chosen if chosen == self.shape(expr.otherwise) else None
            case Copy() | Call():
                return dimensions_of(expr.type)
            case _:
                return None

    def _shape_of_rows(self, rows: tuple[Expr, ...], count: int) -> tuple[int, ...] | None:
        shapes = {self.shape(row) for row in rows}
        shape = shapes.pop() if len(shapes) == 1 else None
        return None if shape is None else (count, *shape)

    def _shape_in_place(self, expr: Load | Index) -> tuple[int, ...] | None:
        held, indices = self.held[expr.name], expr.indices if isinstance(expr, Index) else ()
        sizes, stray = held.sizes[len(indices) :], dimensions_of(expr.type)
        checked = any(isinstance(index, Check) for index in indices)
        return sizes if held.certain and (not checked or sizes == stray) else None

    # What fits where --------------------------------------------------------------------------------------------------

    def fits(self, expr: Expr, target: Type) -> bool:
        """Return whether a scalar needs no conversion to be stored in a variable of type ``target``."""
        value = self.of(expr)
        match target:
            case IntType():
                return fits(value.bounds, container(target))
            case FloatType():
                return value.single or (isinstance(expr.type, FloatType) and target.bits == 64)
            case _:
                return True

    def elements_fit(self, expr: Expr, target: Type) -> bool:
        """Return whether the elements of a list need no conversion to be stored in one of type ``target``."""
        have, want, value = scalar_of(expr.type), scalar_of(target), self.of(expr)
        match want:
            case IntType():
                return fits(value.bounds, container(want))
            case FloatType():
                return value.single or (isinstance(have, FloatType) and want.bits == 64 and not value.loose)
            case _:
                return True


def _of_constant(expr: Const) -> Known:
    match expr.value:
        case bool() | str():
            return UNKNOWN
        case float(value):
            return Known(single=single(value) == value)
        case value if isinstance(expr.type, FloatType):
            return Known(single=abs(value) <= EXACT_IN_SINGLE)
        case value:
            return Known((value, value))


def _either(a: Known, b: Known) -> Known:
    return Known(
        hull(a.bounds, b.bounds),
        single=a.single and b.single,
        fresh=a.fresh and b.fresh,
        length=a.length if a.length == b.length else None,
        loose=a.loose or b.loose,
    )


def is_single(of: Type) -> bool:
    """Return whether scalars of a type are floats of at most 32 bits."""
    scalar = scalar_of(of)
    return isinstance(scalar, FloatType) and scalar.bits <= 32


def is_exact_in_single(bounds: Interval) -> bool:
    """Return whether 32-bit floats hold every integer between the bounds."""
    return bounds is not None and max(abs(bounds[0]), abs(bounds[1])) <= EXACT_IN_SINGLE


def is_full(values: tuple[object, ...], dims: tuple[int, ...]) -> bool:
    """Return whether a nested tuple has exactly these sizes."""
    if len(values) != dims[0]:
        return False
    return len(dims) == 1 or all(isinstance(v, tuple) and is_full(v, dims[1:]) for v in values)


def is_table_single(values: tuple[object, ...]) -> bool:
    """Return whether a nested table holds nothing but floats that 32 bits hold."""
    return all(
        is_table_single(value) if isinstance(value, tuple) else isinstance(value, float) and single(value) == value
        for value in values
    )


def bounds_of_table(values: tuple[object, ...]) -> Interval:
    """Return the bounds of the integers of a nested table; None for an empty one, or one of anything else."""
    ends: list[int] = []
    for value in values:
        match value:
            case tuple():
                ends += bounds_of_table(value) or ()
            case int() if not isinstance(value, bool):
                ends.append(value)
    return (min(ends), max(ends)) if ends else None
