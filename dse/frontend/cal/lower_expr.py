"""Lowering of CAL expressions to IR: names resolved, types computed and checked.

An expression with an error lowers to None after the error was reported; whatever contains it becomes None silently.
"""

import re
from typing import Protocol, assert_never, cast

from dse.base.source import Span
from dse.frontend.cal import ast
from dse.frontend.cal.names import (
    LocalScope,
    LocalVariable,
    NameSupply,
    Reporter,
    RoutineSymbol,
    VariableSymbol,
    nearest,
    number_text,
)
from dse.frontend.cal.written import compared
from dse.program import ir
from dse.program.types import (
    BOOL,
    FLOAT32,
    LARGEST_LIST,
    STRING,
    BoolType,
    FloatType,
    IntType,
    ListType,
    Type,
    dimensions_of,
    elements_of,
)
from dse.program.typing import (
    UNARY_RULES,
    binary_type,
    is_bindable,
    least_upper_bound,
    literal_type,
    operand_rule,
    unary_type,
)

_OPERATORS = {"||": "or", "&&": "and", "div": "/"}
_ESCAPES = {"n": "\n", "t": "\t", "r": "\r", "b": "\b", "f": "\f", "0": "\0", '"': '"', "'": "'", "\\": "\\"}


class Signature(Protocol):
    """What a call must know of a routine."""

    @property
    def parameters(self) -> tuple[Type | None, ...]:
        """The types of the parameters; None where the declaration is wrong."""

    @property
    def result(self) -> Type | None:
        """The type of the result of a function; None when its declaration is wrong, and for procedures."""


class Globals(Protocol):
    """What lowering of expressions asks of the actor around them (``symbols.Symbols`` answers)."""

    reporter: Reporter
    names: NameSupply

    def type_of(self, symbol: VariableSymbol) -> Type | None:
        """Return the type of a variable, or None when its declaration is wrong (and reported)."""

    def name_of(self, symbol: VariableSymbol | RoutineSymbol) -> str:
        """Return the unique name of a symbol; the first call takes it into the actor."""

    def signature(self, routine: RoutineSymbol) -> Signature:
        """Return the types of a routine."""

    def lower_type(self, of: ast.TypeExpr, dimensions: tuple[ast.Expr, ...], scope: LocalScope) -> Type | None:
        """Return the type with C-style dimensions around it, or None after reporting."""

    def constant_int(self, expr: ast.Expr, scope: LocalScope, what: str) -> int | None:
        """Return the value of a constant integer expression, or None after reporting."""

    def find_variable(self, name: ast.Name, scope: LocalScope) -> VariableSymbol | None:
        """Return the variable of a possibly dotted name."""

    def find_routine(self, name: ast.Name, scope: LocalScope, *, function: bool) -> RoutineSymbol | None:
        """Return the function or procedure of a possibly dotted name."""


def unescape(text: str) -> str:
    """Return a string literal's text with its C escapes replaced; unknown escapes stay as they are written."""
    if "\\" not in text:
        return text
    return re.sub(r"\\(.)", lambda m: _ESCAPES.get(m.group(1), m.group(0)), text, flags=re.DOTALL)


class ExprLowering:
    """Lowers expressions of one actor."""

    def __init__(self, symbols: Globals) -> None:
        self._symbols = symbols
        self._error = symbols.reporter.error

    def lower(self, expr: ast.Expr, scope: LocalScope) -> ir.Expr | None:
        """Return the typed expression, or None after reporting what is wrong with it."""
        match expr:
            case ast.Lit():
                return _literal(expr)
            case ast.Name():
                return self._name(expr, scope)
            case ast.BinaryExpr():
                return self._binary(expr, scope)
            case ast.IndexExpr():
                return self._index(expr, scope)
            case ast.UnaryExpr():
                return self._unary(expr, scope)
            case ast.CallExpr():
                return self._call(expr, scope)
            case ast.IfExpr():
                return self._conditional(expr, scope)
            case ast.IntList():
                return _int_list(expr)
            case ast.ListLit():
                return self._list(expr, scope)
            case _:
                assert_never(expr)

    def lower_condition(self, expr: ast.Expr, scope: LocalScope, what: str) -> ir.Expr | None:
        """Return an expression that must be a bool; ``what`` names it in the error ("a guard")."""
        lowered = self.lower(expr, scope)
        if lowered is None or isinstance(lowered.type, BoolType):
            return lowered
        number = isinstance(lowered.type, IntType | FloatType)
        self._error(f"{what} must be a bool, not {lowered.type}", expr.span, compared(expr) if number else "")
        return None

    def lower_int(self, expr: ast.Expr, scope: LocalScope, what: str) -> ir.Expr | None:
        """Return an expression that must be an integer; ``what`` names it in the error ("an index")."""
        lowered = self.lower(expr, scope)
        if lowered is None or isinstance(lowered.type, IntType):
            return lowered
        self._error(f"{what} must be an integer, not {lowered.type}", expr.span)
        return None

    def lower_arguments(
        self, routine: RoutineSymbol, arguments: tuple[ast.Expr, ...], scope: LocalScope, span: Span
    ) -> tuple[ir.Expr, ...] | None:
        """Return the arguments of a call, checked against the parameters; None after reporting."""
        lowered = [self.lower(a, scope) for a in arguments]
        parameters = self._symbols.signature(routine).parameters
        if len(parameters) != len(arguments):
            self._report_count(routine, len(arguments), span)
            return None
        pairs = enumerate(zip(lowered, parameters, strict=True))
        good = [a for i, (a, p) in pairs if a is not None and p is not None and self._is_bindable(routine, i, a, p)]
        return tuple(good) if len(good) == len(parameters) else None

    def _report_count(self, routine: RoutineSymbol, given: int, span: Span) -> None:
        parameters = self._symbols.signature(routine).parameters
        wanted = ", ".join(str(p) if p is not None else "?" for p in parameters) or "none"
        count = f"{len(parameters)} argument{'' if len(parameters) == 1 else 's'}"
        self._error(f"{_routine_text(routine)} takes {count}, {given} given", span, f"its parameters: {wanted}")

    def _is_bindable(self, routine: RoutineSymbol, place: int, argument: ir.Expr, parameter: Type) -> bool:
        """Return whether an argument fits its parameter; report it when it does not."""
        if is_bindable(argument.type, parameter):
            return True
        message = f"argument {place + 1} of '{routine.source_name}' is {argument.type}"
        hint = f"{_routine_text(routine)} expects {parameter} there"
        self._error(f"{message}, which does not convert to {parameter}", argument.span, hint)
        return False

    def variable(self, name: ast.Name, scope: LocalScope) -> VariableSymbol | None:
        """Return the variable that a name means here, or None after reporting that there is none."""
        found = self._symbols.find_variable(name, scope)
        if found is None:
            routines = (self._symbols.find_routine(name, scope, function=f) for f in (True, False))
            hint = "it is a routine, not a variable" if any(routines) else nearest(name.name, scope.known_names())
            self._symbols.reporter.unknown(f"unknown variable '{name.name}'", name.span, hint, scope.file)
        return found

    def element_type(self, name: ast.Name, symbol: VariableSymbol, indices: int, span: Span) -> Type | None:
        """Return the type of a variable after so many indices, or None (reported when they are too many)."""
        of = self._symbols.type_of(symbol)
        for taken in range(indices):
            if of is None:
                return None
            if not isinstance(of, ListType):
                declared = self._symbols.type_of(symbol)
                assert declared is not None
                if taken == 0:
                    self._error(f"'{name.name}' is no list and takes no index", span, f"it is {declared}")
                else:
                    deep = len(dimensions_of(declared))
                    self._error(
                        f"'{name.name}' takes at most {deep} indices, {indices} given", span, f"it is {declared}"
                    )
                return None
            of = of.element
        return of

    def declare_loop_variable(self, declaration: ast.VarDecl, scope: LocalScope) -> LocalVariable:
        """Return the variable of a foreach or generator, which must be an integer; its name is not yet in scope."""
        of = self._symbols.lower_type(declaration.type, declaration.dimensions, scope)
        if of is not None and not isinstance(of, IntType):
            self._error(f"the loop variable '{declaration.name}' must be an integer, not {of}", declaration.span)
            of = None
        return LocalVariable(
            name=self._symbols.names.unique(declaration.name),
            source_name=declaration.name,
            kind="loop",
            assignable=True,
            type=of,
            span=declaration.span,
        )

    def list_type(self, element: Type, size: int, span: Span) -> ListType | None:
        """Return the type of a list, or None after reporting that it has more elements than any list may have."""
        count = elements_of(element) * size
        if count <= LARGEST_LIST:
            return ListType(element, size)
        hint = f"expected at most {LARGEST_LIST}, those of the lists in it counted"
        self._error(f"a list of {number_text(count)} elements is too large", span, hint)
        return None

    def _name(self, expr: ast.Name, scope: LocalScope) -> ir.Expr | None:
        symbol = self.variable(expr, scope)
        of = None if symbol is None else self._symbols.type_of(symbol)
        return None if symbol is None or of is None else ir.Load(self._symbols.name_of(symbol), of, expr.span)

    def _index(self, expr: ast.IndexExpr, scope: LocalScope) -> ir.Expr | None:
        symbol = self.variable(expr.name, scope)
        indices = [self.lower_int(i, scope, "an index") for i in expr.indices]
        if symbol is None:
            return None
        of = self.element_type(expr.name, symbol, len(indices), expr.span)
        good = tuple(i for i in indices if i is not None)
        if of is None or len(good) != len(indices):
            return None
        return ir.Index(self._symbols.name_of(symbol), good, of, expr.span)

    def _unary(self, expr: ast.UnaryExpr, scope: LocalScope) -> ir.Expr | None:
        operand = self.lower(expr.operand, scope)
        if operand is None:
            return None
        result = unary_type(expr.op, operand.type)
        if result is not None and expr.op == "-" and isinstance(operand, ir.Const):
            return ir.Const(-cast("float", operand.value), result, expr.span)
        if result is None:
            self._error(f"'{expr.op}' does not apply to {operand.type}", expr.span, UNARY_RULES[expr.op])
            return None
        return ir.Unary(cast("ir.UnaryOp", expr.op), operand, result, expr.span)

    def _binary(self, expr: ast.BinaryExpr, scope: LocalScope) -> ir.Expr | None:
        # Long chains lean to the left (a or b or c ...): walked in a loop, so that their length does not nest calls.
        chain: list[ast.BinaryExpr] = []
        leftmost: ast.Expr = expr
        while isinstance(leftmost, ast.BinaryExpr):
            chain.append(leftmost)
            leftmost = leftmost.left
        left = self.lower(leftmost, scope)
        for node in reversed(chain):
            right = self.lower(node.right, scope)
            left = None if left is None or right is None else self._operation(node, left, right)
        return left

    def _operation(self, node: ast.BinaryExpr, left: ir.Expr, right: ir.Expr) -> ir.Expr | None:
        op = _OPERATORS.get(node.op, node.op)
        if op == "**":
            self._error("the operator '**' is not supported", node.span, "multiply, or shift 1 to the left")
            return None
        of = binary_type(op, left.type, right.type)
        if of is None:
            self._error(f"'{node.op}' does not apply to {left.type} and {right.type}", node.span, operand_rule(op))
            return None
        if isinstance(of, ListType) and self.list_type(of.element, of.size, node.span) is None:
            return None
        return ir.Binary(cast("ir.BinaryOp", op), left, right, of, node.span)

    def _call(self, expr: ast.CallExpr, scope: LocalScope) -> ir.Expr | None:
        routine = self._symbols.find_routine(expr.function, scope, function=True)
        if routine is None:
            for argument in expr.arguments:
                self.lower(argument, scope)
            self._unknown_function(expr.function, scope)
            return None
        arguments = self.lower_arguments(routine, expr.arguments, scope, expr.span)
        result = self._symbols.signature(routine).result
        name = self._symbols.name_of(routine)
        return None if arguments is None or result is None else ir.Call(name, arguments, result, expr.span)

    def _unknown_function(self, name: ast.Name, scope: LocalScope) -> None:
        if self._symbols.find_routine(name, scope, function=False) is not None:
            self._error(f"'{name.name}' is a procedure and has no value", name.span, "call it as a statement")
        else:
            hint = nearest(name.name, scope.file.routine_names(function=True))
            self._symbols.reporter.unknown(f"unknown function '{name.name}'", name.span, hint, scope.file)

    def _conditional(self, expr: ast.IfExpr, scope: LocalScope) -> ir.Expr | None:
        branches: list[tuple[ast.IfExpr, ir.Expr | None, ir.Expr | None]] = []
        last: ast.Expr = expr
        while isinstance(last, ast.IfExpr):
            condition = self.lower_condition(last.condition, scope, "the condition of an if")
            branches.append((last, condition, self.lower(last.then, scope)))
            last = last.otherwise
        result = self.lower(last, scope)
        for node, condition, then in reversed(branches):
            if condition is None or then is None or result is None:
                return None
            of = least_upper_bound(then.type, result.type)
            if of is None:
                message = f"the branches of an if have no common type: {then.type} and {result.type}"
                self._error(message, node.span, "both must be numbers, or of one type")
                return None
            result = ir.Conditional(condition, then, result, of, node.span)
        return result

    def _list(self, expr: ast.ListLit, scope: LocalScope) -> ir.Expr | None:
        if expr.generators:
            return self._generator(expr, scope)
        elements = self._elements(expr, scope)
        if elements is None:
            return None
        of = self.list_type(elements[1], len(elements[0]), expr.span)
        if of is None:
            return None
        values: list[object] = []
        for element in elements[0]:
            if isinstance(element, ir.Const):
                values.append(element.value)
            elif isinstance(element, ir.ConstList):
                values.append(element.values)
            else:
                return ir.ListExpr(elements[0], of, expr.span)
        return ir.ConstList(tuple(values), of, expr.span)

    def _elements(self, expr: ast.ListLit, scope: LocalScope) -> tuple[tuple[ir.Expr, ...], Type] | None:
        lowered = [self.lower(e, scope) for e in expr.elements]
        good = tuple(e for e in lowered if e is not None)
        if len(good) != len(lowered):
            return None
        of: Type = good[0].type
        for node, element in zip(expr.elements, good, strict=True):
            common = least_upper_bound(of, element.type)
            if common is None:
                message = f"the elements of a list have no common type: {of} and {element.type}"
                self._error(message, node.span, "all must be numbers, or of one type")
                return None
            of = common
        return good, of

    def _generator(self, expr: ast.ListLit, scope: LocalScope) -> ir.Expr | None:
        scope = scope.inner()
        loops: list[ir.GeneratorLoop] = []
        count = len(expr.elements)
        for clause in expr.generators:
            loop = self._generator_loop(clause, scope)
            if loop is None:
                continue
            loops.append(loop[0])
            count *= loop[1]
        elements = self._elements(expr, scope)
        if elements is None or len(loops) != len(expr.generators):
            return None
        of = self.list_type(elements[1], count, expr.span)
        return None if of is None else ir.Generator(elements[0], tuple(loops), of, expr.span)

    def _generator_loop(self, clause: ast.GeneratorClause, scope: LocalScope) -> tuple[ir.GeneratorLoop, int] | None:
        low = self._symbols.constant_int(clause.low, scope, "the bound of a generator")
        high = self._symbols.constant_int(clause.high, scope, "the bound of a generator")
        symbol = self.declare_loop_variable(clause.variable, scope)
        scope.symbols[clause.variable.name] = symbol
        if low is None or high is None or symbol.type is None:
            return None
        if high < low:
            message = f"the generator runs from {number_text(low)} down to {number_text(high)}"
            self._error(message, clause.span, "the upper bound must not be below the lower one")
            return None
        bounds = [ir.Const(v, literal_type(v), e.span) for v, e in ((low, clause.low), (high, clause.high))]
        return ir.GeneratorLoop(symbol.variable(symbol.type), bounds[0], bounds[1]), high - low + 1


def _routine_text(routine: RoutineSymbol) -> str:
    return f"{'function' if routine.is_function else 'procedure'} '{routine.source_name}'"


def _literal(expr: ast.Lit) -> ir.Expr:
    value = expr.value
    match value:
        case bool():
            return ir.Const(value, BOOL, expr.span)
        case int():
            return ir.Const(value, literal_type(value), expr.span)
        case float():
            return ir.Const(value, FLOAT32, expr.span)
        case str():
            return ir.Const(unescape(value), STRING, expr.span)


def _int_list(expr: ast.IntList) -> ir.Expr:
    # The least upper bound of all elements is that of the smallest and the largest one.
    element = least_upper_bound(literal_type(min(expr.values)), literal_type(max(expr.values)))
    assert element is not None
    return ir.ConstList(expr.values, ListType(element, len(expr.values)), expr.span)
