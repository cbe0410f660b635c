"""Lists in expressions: elements with their tests, parts, and lists that are made there.

A list expression has two forms: where it stands (``place``: a variable, a part of one, a table), and as a new list with
elements of a wanted type (``made``).
"""

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import TypeAlias

from dse.base.source import Span
from dse.codegen.cpp.effects import Effects
from dse.codegen.cpp.expressions import CppExpressions, Sites
from dse.codegen.cpp.natives import NativeForms
from dse.codegen.cpp.no_native_form import NoNativeForm
from dse.codegen.cpp.spelling import ATOM, CONDITIONAL, CPP, Names, Typed, atom, typed
from dse.codegen.cpp.storage import (
    converted_table,
    element_types,
    flat,
    list_text,
    table_lines,
    view_text,
    zero_text,
)
from dse.codegen.cpp.target import Target
from dse.codegen.cpp.types import BIG, DOUBLE, I64, CType, storage_type, working_type
from dse.codegen.emitter import Fragment
from dse.passes.analyses.uses import ActorFacts
from dse.passes.analyses.values import Values, bounds_of_table, is_full
from dse.program.ir import (
    Actor,
    Binary,
    Call,
    Check,
    Conditional,
    ConstList,
    Copy,
    Expr,
    Generator,
    GeneratorLoop,
    Index,
    ListExpr,
    Load,
    Unary,
    Variable,
)
from dse.program.types import FloatType, IntType, ListType, Type, dimensions_of, scalar_of

MadeByThreads: TypeAlias = Callable[[Generator, CType, tuple[int, ...]], str]
"""Returns a list of this element type and these sizes that threads make together, "" where one thread does."""


class CppLists(CppExpressions):
    """Writes the expressions of one actor."""

    def __init__(
        self,
        actor: Actor,
        facts: ActorFacts,
        values: Values,
        natives: NativeForms,
        names: Names,
        sites: Sites,
        target: Target,
    ) -> None:
        super().__init__(actor, values, Effects(actor, facts, values), natives, names, sites)
        self.elements = element_types(actor, facts)
        """C++ types of the elements of lists, by name."""
        self.mutated = facts.mutated
        self.target = target
        self.tables: list[str] = []
        """Lines of the constant lists of the actor's file."""
        self._table_names: dict[tuple[str, str], str] = {}
        self._by_threads: MadeByThreads | None = None

    @contextmanager
    def handed(self, maker: MadeByThreads | None, routines: Mapping[str, str]) -> Iterator[None]:
        """Write what stands in between with this maker of lists, and these functions in place of those of routines."""
        before = self._by_threads, self.handed_visit
        self._by_threads, self.handed_visit = maker, routines
        yield
        self._by_threads, self.handed_visit = before

    def write(self, expr: Expr) -> Fragment:
        """Return the text of an expression; a list is a place or a new one."""
        if isinstance(expr.type, ListType) and isinstance(expr, Binary | Conditional):
            return Fragment(self.place(expr), ATOM)
        return super().write(expr)

    # Elements and parts -----------------------------------------------------------------------------------------------

    def element(self, expr: Index) -> Fragment:
        """Return an element or sub-list; what a stray read gives follows the tests of its indices."""
        of = self.elements[expr.name]
        checked = [k for k, index in enumerate(expr.indices) if isinstance(index, Check)]
        if not checked:
            text = self.at_indices(expr.name, [self.index(i) for i in expr.indices])
        elif len(expr.indices) > 1 and any(self.effects.may_end(i) for i in expr.indices[checked[0] + 1 :]):
            text = self._element_in_steps(expr, of)
        else:
            text = self._checked(expr, [self.index(i) for i in expr.indices])
        return Fragment(text, ATOM) if isinstance(expr.type, ListType) else atom(text, of)

    def index(self, index: Expr) -> str:
        """Return the text of an index."""
        code = self.scalar(index.operand if isinstance(index, Check) else index)
        return self.as_type(code, I64).text if code.type == BIG and not isinstance(index, Check) else code.text

    def at_indices(self, of: str, indices: list[str]) -> str:
        """Return an element, or a part, of a variable."""
        rank = len(dimensions_of(self.values.held[of].variable.type))
        return f"{self.names.of(of)}[{indices[0]}]" if rank == 1 else f"{self.names.of(of)}({', '.join(indices)})"

    def _checked(self, expr: Index, indices: list[str]) -> str:
        """Return a read that tests all indices, of which the last ones have no effects."""
        site = self._stray_site(expr)
        texts = [i if isinstance(e, Check) else f"sure({i})" for e, i in zip(expr.indices, indices, strict=True)]
        owner, indices_text = f"*this, {site}, {self.names.of(expr.name)}", ", ".join(texts)
        if isinstance(expr.type, ListType):
            zeros = list_text(self.elements[expr.name], dimensions_of(expr.type))
            return f"part_or({owner}, {zeros}(), {indices_text})"
        return f"checked({owner}, {indices_text})"

    def _element_in_steps(self, expr: Index, of: CType) -> str:
        """Return a read that evaluates each index only when the one before it is in bounds."""
        if isinstance(expr.type, ListType):
            raise NoNativeForm("a part of a list is taken at indices that may fail or act", span=expr.span)
        steps, names = [], []
        for depth, index in enumerate(expr.indices):
            names.append(self.names.fresh("at_index"))
            steps.append(f"const auto {names[-1]} = {self.index(index)};")
            if isinstance(index, Check):
                stray = f"stray({self._stray_site(expr)}); return {of.name}({zero_text(of)});"
                steps.append(f"if (!{self.bound_test(index, names[-1], expr.name, depth)}) {{ {stray} }}")
        element = self.at_indices(expr.name, [f"plain({n})" for n in names])
        return f"[&] {{ {' '.join(steps)} return {of.name}({element}); }}()"

    def bound_test(self, check: Check, index: str, of: str, depth: int) -> str:
        """Return the test of the index of a dimension of a variable."""
        size = str(check.size) if check.size is not None else f"{self.names.of(of)}.view().sizes[{depth}]"
        return f"inside({index}, {size})"

    def _stray_site(self, expr: Index) -> int:
        return self.sites.number(expr.span, self.values.held[expr.name].variable.source_name)

    # Lists where they stand -------------------------------------------------------------------------------------------

    def place(self, expr: Expr) -> str:
        """Return a list where it stands, or a new one: an object with a ``view()``."""
        match expr:
            case Load():
                return self.names.of(expr.name)
            case Index():
                return self.element(expr).text
            case ConstList():
                return self._table(expr.values, self.natural_element(expr), self._shape(expr), expr.span)
            case Conditional() | Binary() if self._is_grown(expr):
                return self._grown(expr, self.natural_element(expr))
            case _:
                return self.made(expr, self.natural_element(expr))

    def held(self, expr: Expr, element: CType | None) -> str:
        """Return a list as something that a name may be bound to: where it stands, or new, no part of what is new.

        ``element``: a type that C++ converts its elements to, and that a new list gets.
        """
        natural = self.natural_element(expr)
        checked = isinstance(expr, Index) and any(isinstance(i, Check) for i in expr.indices)
        if isinstance(expr, Load | Index | ConstList) and not checked and (natural != BIG or element in (BIG, None)):
            return self.place(expr)
        return self._grown(expr, element or natural) if self._is_grown(expr) else self.made(expr, element or natural)

    def _is_grown(self, expr: Expr) -> bool:
        """Return whether a list is new and of a size that shows only when it is made."""
        return not self.is_rectangle(expr) and len(dimensions_of(expr.type)) == 1

    def _grown(self, expr: Expr, element: CType) -> str:
        if not self.target.grows:
            raise NoNativeForm("a list is made whose size shows only when it is made", span=expr.span)
        steps = " ".join(self._appended(expr, element, (0,)))
        return f"grown<{element.name}>([&](auto&& next) {{ {steps} }})"

    def view_of(self, expr: Expr) -> str:
        """Return a list as a ``View``."""
        return f"{self.place(expr)}.view()"

    def parameter_view(self, parameter: Variable) -> str:
        """Return the type of a list parameter of a routine."""
        constant = parameter.name not in self.mutated
        return view_text(self.elements[parameter.name], len(dimensions_of(parameter.type)), constant=constant)

    def list_argument(self, parameter: Variable, argument: Expr, *, named: bool) -> str:
        """Return an argument for a list parameter of a routine."""
        if not isinstance(argument, Load | Index):
            return self.made(argument, self.elements[parameter.name])
        checked = isinstance(argument, Index) and any(isinstance(i, Check) for i in argument.indices)
        if named and checked:
            raise NoNativeForm("a part of a list is passed beside a call whose order can be seen", span=argument.span)
        if parameter.name in self.mutated and argument.name not in self.mutated:
            raise NoNativeForm(f"'{parameter.source_name}' changes a list that is constant", span=argument.span)
        return self.place(argument)

    def unary(self, expr: Unary) -> Typed:
        """Return a unary operation."""
        return self._length(expr.operand) if expr.op == "#" else super().unary(expr)

    def _length(self, expr: Expr) -> Typed:
        if isinstance(expr, Conditional):
            parts = (self._length(e) for e in (expr.then, expr.otherwise))
            return typed(CPP.conditional.of(self.scalar(expr.condition), *parts), I64)
        return atom(f"{self.place(expr)}.size()", I64)

    # New lists --------------------------------------------------------------------------------------------------------

    def new_list(self, expr: ConstList | ListExpr | Generator | Copy) -> Fragment:
        """Return a list that is made here, with elements of its own type."""
        return Fragment(self.place(expr), ATOM)

    # ways: one case for each kind of list
    def made(self, expr: Expr, element: CType, sizes: tuple[int, ...] | None = None) -> str:
        """Return a new list of type ``List<element, sizes>``, by default with the sizes of the expression.

        What is longer is cut, what is shorter filled with zeros, rows too. Elements are converted as by a store.
        """
        sizes = sizes or self._shape(expr)
        of = list_text(element, sizes)
        match expr:
            case Copy() if dimensions_of(expr.type) == sizes:
                return self._copy(expr, element)
            case Call() if list_text(storage_type(scalar_of(expr.type)), dimensions_of(expr.type)) == of:
                return self.call(expr).text
            case ListExpr() if len(sizes) == 1 and len(expr.elements) <= sizes[0]:
                return f"Listed<{of}>{{{', '.join(self.scalar(e).text for e in expr.elements)}}}.list"
            case Generator() if self._by_threads is not None and (text := self._by_threads(expr, element, sizes)):
                return text
            case ListExpr() | Generator() | Binary():
                steps = " ".join(self._appended(expr, element, sizes))
                return f"generated<{of}>([&](auto&& next) {{ {steps} }})"
            case Conditional():
                parts = (Typed(self.made(e, element, sizes), CONDITIONAL + 1) for e in (expr.then, expr.otherwise))
                return f"({CPP.conditional.of(self.scalar(expr.condition), *parts).text})"
            case _:
                return f"copied<{of}>({self.call(expr).text if isinstance(expr, Call) else self.place(expr)})"

    def _copy(self, expr: Copy, element: CType) -> str:
        sizes, source, own = dimensions_of(expr.type), expr.operand, storage_type(scalar_of(expr.type))
        of = list_text(element, sizes)
        if isinstance(source, ConstList):
            return f"copied<{of}>({self._table_of(converted_table(source.values, expr.type), own, sizes, expr.span)})"
        if element != own and expr.convert:  # wraps to its own type, which is narrower than that of the storage
            return f"copied<{of}>({self._copy(expr, own)})"
        if isinstance(source, ListExpr | Generator | Binary | Copy | Conditional):
            text = self.made(source, element, sizes)
        else:
            text = f"copied<{of}>({self.place(source)})"
        wraps = wide_container(expr.type) if expr.convert else ""
        return f"wrapped_list({text}, {wraps})" if wraps else text

    # ways: one case for each kind of list
    def _appended(self, expr: Expr, element: CType, sizes: tuple[int, ...]) -> Iterator[str]:
        """Yield the statements that append the elements of a list, each by a call of ``next``."""
        match expr:
            case ListExpr():
                for value in expr.elements:
                    yield f"next({self._member(value, element, sizes[1:])});"
            case Generator() if text := self._by_threads_inside(expr, element, sizes):
                yield f"each({text}, next);"
            case Generator():
                yield from (f"{self.loop_head(loop)} {{" for loop in expr.loops)
                yield from (f"next({self._member(e, element, sizes[1:])});" for e in expr.elements)
                yield "} " * (len(expr.loops) - 1) + "}"
            case Binary():
                yield from self._appended(expr.left, element, sizes)
                yield from self._appended(expr.right, element, sizes)
            case Conditional():
                yield f"if ({self.scalar(expr.condition).text}) {{"
                yield from self._appended(expr.then, element, sizes)
                yield "} else {"
                yield from self._appended(expr.otherwise, element, sizes)
                yield "}"
            case ConstList() if not self.is_rectangle(expr):
                yield from self._appended(ListExpr(rows_of(expr), expr.type), element, sizes)
            case _:
                yield f"each({self.place(expr)}, next);"

    def _by_threads_inside(self, expr: Generator, element: CType, sizes: tuple[int, ...]) -> str:
        """Return a part of a longer list that threads make."""
        assert isinstance(expr.type, ListType)
        return "" if self._by_threads is None else self._by_threads(expr, element, (expr.type.size, *sizes[1:]))

    def puts(self, expr: Generator, element: CType, sizes: tuple[int, ...], target: str) -> Iterator[str]:
        """Yield the statements that put the elements of a ``round`` of a list where they stand in it."""
        count = len(expr.elements)
        for k, value in enumerate(expr.elements):
            place = "round" if count == 1 else f"{count} * round + {k}"
            yield f"put_element({target}, {place}, {self._member(value, element, sizes[1:])})"

    def _member(self, expr: Expr, element: CType, sizes: tuple[int, ...]) -> str:
        """Return an element of a new list, or a row with the sizes that it has there."""
        if not isinstance(expr.type, ListType):
            return self.scalar(expr).text
        if isinstance(expr, ConstList):
            expr = Copy(expr, row_type(expr.type, sizes), convert=False, span=expr.span)
        return self.place(expr) if self._shape_or_none(expr) is not None else self.made(expr, element, sizes)

    def loop_head(self, loop: GeneratorLoop) -> str:
        """Return the head of a loop over a range, both ends included; its variable counts one beyond the end."""
        of = self.loop_type(loop.low, loop.high)
        first, last = self.as_type(self.scalar(loop.low), of), self.scalar(loop.high)
        self.loop_types[loop.variable.name] = of
        counter = self.names.of(loop.variable.name)
        head = f"{self.target.loop}for ({of.name} {counter} = {first.text}"
        if last.simple and last.text.lstrip("-").isdigit():
            return f"{head}; {counter} <= {last.text}; ++{counter})"
        end, text = self.names.fresh(f"{counter}_end"), self.as_type(last, of).text
        return f"{head}, {end} = {text}; {counter} <= {end}; ++{counter})"

    def loop_type(self, first: Expr, last: Expr) -> CType:
        """Return the type of the variable of a loop, which counts one beyond the end."""
        low, high = self.values.interval(first), self.values.interval(last)
        return working_type((low, None if high is None else (high[0], high[1] + 1)))

    # What is known of a list ------------------------------------------------------------------------------------------

    def natural_element(self, expr: Expr) -> CType:
        """Return the type of the elements of a list: that of a variable, or one that holds all values of a new list."""
        match expr:
            case Load() | Index():
                return self.elements[expr.name]
            case Call() | Copy():
                return storage_type(scalar_of(expr.type))
            case _:
                pass
        scalar = scalar_of(expr.type)
        bounds = bounds_of_table(expr.values) if isinstance(expr, ConstList) else self.values.interval(expr)
        of = storage_type(scalar)
        match scalar:
            case IntType():
                return of if bounds is not None and of.holds(bounds) else working_type((bounds,))
            case FloatType():
                return DOUBLE
            case _:
                return of

    def _shape(self, expr: Expr) -> tuple[int, ...]:
        """Return the sizes of a list, outermost first. Raises NoNativeForm where they are not known."""
        found = self._shape_or_none(expr)
        if found is None:
            raise NoNativeForm("a list is made whose sizes are not known, or whose rows differ", span=expr.span)
        return found

    def is_rectangle(self, expr: Expr) -> bool:
        """Return whether the rows of a list are known to be of one size."""
        return self._shape_or_none(expr) is not None

    def _shape_or_none(self, expr: Expr) -> tuple[int, ...] | None:
        match expr:
            case ConstList():
                return _rectangle(expr.values, len(dimensions_of(expr.type)))
            case Binary():
                left, right = self._shape_or_none(expr.left), self._shape_or_none(expr.right)
                if left is None or right is None or left[1:] != right[1:]:
                    return None
                return (left[0] + right[0], *left[1:])
            case Conditional():
                then, otherwise = self._shape_or_none(expr.then), self._shape_or_none(expr.otherwise)
                return then if then == otherwise else None
            case ListExpr() | Generator() if isinstance(expr.type, ListType):
                return self._shape_of_rows(expr, expr.type)
            case _:
                return self.values.shape(expr)

    def _shape_of_rows(self, expr: ListExpr | Generator, of: ListType) -> tuple[int, ...] | None:
        if not isinstance(of.element, ListType):
            return (of.size,)
        shapes = {self._shape_or_none(row) for row in expr.elements}
        shape = shapes.pop() if len(shapes) == 1 else None
        return None if shape is None else (of.size, *shape)

    # Tables -----------------------------------------------------------------------------------------------------------

    def _table(self, values: tuple[object, ...], element: CType, sizes: tuple[int, ...], span: Span) -> str:
        return self._table_of(list(flat(values)), element, sizes, span)

    def _table_of(self, values: list[object], element: CType, sizes: tuple[int, ...], span: Span) -> str:
        """Return the name of a constant list."""
        lines = table_lines(element, sizes, "{}", values, span)
        key = (lines[0], "\n".join(lines[1:]))
        if key not in self._table_names:
            self._table_names[key] = self.names.fresh("table")
            head = lines[0].replace("{}", self._table_names[key], 1)
            self.tables += [f"{self.target.table}{head}", *lines[1:]]
        return self._table_names[key]

    def variable_table(self, variable: Variable) -> list[str] | None:
        """Return the definition of an actor variable that is a constant list; None if it is not one."""
        initial, of = variable.initial, variable.type
        if variable.name in self.mutated or not isinstance(of, ListType):
            return None
        match initial:
            case ConstList() if is_full(initial.values, dimensions_of(of)):
                values = list(flat(initial.values))
            case Copy(operand=ConstList() as table):
                values = converted_table(table.values, of)
            case _:
                return None
        element, name = self.elements[variable.name], self.names.of(variable.name)
        head, *rest = table_lines(element, dimensions_of(of), name, values, variable.span)
        return [f"{self.target.table}{head}", *rest]


def rows_of(expr: ListExpr | ConstList) -> tuple[Expr, ...]:
    """Return the rows of a list of lists that is written out."""
    if isinstance(expr, ListExpr):
        return expr.elements
    assert isinstance(expr.type, ListType)
    return tuple(ConstList(row, expr.type.element, expr.span) for row in expr.values if isinstance(row, tuple))


def row_type(of: ListType, sizes: tuple[int, ...]) -> ListType:
    """Return the list type with the scalars of ``of`` and other sizes."""
    made: Type = scalar_of(of)
    for size in reversed(sizes):
        made = ListType(made, size)
    assert isinstance(made, ListType)
    return made


def wide_container(of: Type) -> str:
    """Return the bits of the container of a list's elements, and whether it is signed; "" where a C++ type is one.

    A type of C++ wraps what is converted to it.
    """
    scalar = scalar_of(of)
    if not isinstance(scalar, IntType) or storage_type(scalar) != BIG:
        return ""
    return f"{scalar.container_bits}, {'true' if scalar.signed else 'false'}"


def _rectangle(values: tuple[object, ...], rank: int) -> tuple[int, ...] | None:
    """Return the sizes of a nested table whose rows are of one size, else None."""
    if rank == 1:
        return (len(values),)
    rows = {_rectangle(v, rank - 1) if isinstance(v, tuple) else None for v in values}
    row = rows.pop() if len(rows) == 1 else None
    return None if row is None else (len(values), *row)
