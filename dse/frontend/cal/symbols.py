"""The symbols of one actor under lowering, resolved on demand: types, initialisers, constant values, routines.

Only what the actor refers to is taken from imported units. A declaration is lowered when something first needs it, so
forward references and references across units need no order; a declaration that needs itself is a reported cycle.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Literal

from dse.base.source import Span
from dse.frontend.cal import ast
from dse.frontend.cal.consteval import (
    ConstantEvaluator,
    NotConstantError,
    Value,
    constant_of,
    store,
)
from dse.frontend.cal.imports import UnitScopes
from dse.frontend.cal.lower_body import BodyLowering
from dse.frontend.cal.lower_expr import ExprLowering
from dse.frontend.cal.names import (
    FileScope,
    GlobalVariable,
    LocalScope,
    LocalVariable,
    NameSupply,
    Reporter,
    RoutineSymbol,
    VariableSymbol,
    number_text,
)
from dse.program import ir
from dse.program.types import (
    BOOL,
    FLOAT32,
    FLOAT64,
    LARGEST_INT_BITS,
    STRING,
    FloatType,
    IntType,
    ListType,
    Type,
    elements_of,
    scalar_of,
)
from dse.program.typing import int_type, is_convertible

LARGEST_FOLDED_LIST = 65536
"""Generated initial values up to this many elements become literals; longer ones stay generators."""
_SCALARS: Mapping[str, Type] = {
    "bool": BOOL,
    "float": FLOAT32,
    "double": FLOAT64,
    "half": FloatType(16),
    "String": STRING,
}
_Status = Literal["open", "busy", "done"]


@dataclass(slots=True)
class _VariableState:
    """What is known of a global variable so far."""

    type_status: _Status = "open"
    type: Type | None = None
    initial_status: _Status = "open"
    initial: ir.Expr | None = None
    value_status: _Status = "open"
    value: Value | None = None
    why_not: NotConstantError | None = None


@dataclass(slots=True)
class RoutineSignature:
    """The parameters of a routine with their types, and the type of its result."""

    variables: tuple[LocalVariable, ...]
    parameters: tuple[Type | None, ...]
    result: Type | None


class Symbols:
    """The symbols of one actor or unit, and the services that lowering its parts needs."""

    def __init__(
        self, reporter: Reporter, units: UnitScopes, argument_of: Callable[[GlobalVariable, Type], ir.Expr | None]
    ) -> None:
        self.reporter = reporter
        self.names = NameSupply()
        self.expressions = ExprLowering(self)
        self.bodies = BodyLowering(self, self.expressions)
        self.evaluator = ConstantEvaluator(self._variable_value, self._constant_function)
        self.used_variables: list[GlobalVariable] = []
        self.used_routines: list[RoutineSymbol] = []
        self._units = units
        self._argument_of = argument_of
        self._by_name: dict[str, VariableSymbol | RoutineSymbol] = {}
        self._states: dict[GlobalVariable, _VariableState] = {}
        self._signatures: dict[RoutineSymbol, RoutineSignature] = {}
        self._routines: dict[RoutineSymbol, ir.Routine | None] = {}
        self._busy: list[VariableSymbol | RoutineSymbol] = []

    # Names ----------------------------------------------------------------------------------------------------------

    def name_of(self, symbol: VariableSymbol | RoutineSymbol) -> str:
        """Return the unique name of a symbol; the first call takes it into the actor."""
        if not symbol.name:
            symbol.name = self.names.unique(symbol.source_name)
            self._by_name[symbol.name] = symbol
            if isinstance(symbol, RoutineSymbol):
                self.used_routines.append(symbol)
            elif isinstance(symbol, GlobalVariable):
                self.used_variables.append(symbol)
        return symbol.name

    def register_constant(self, symbol: LocalVariable) -> None:
        """Make the value of a constant local known to the evaluation of sizes."""
        self._by_name[symbol.name] = symbol

    def symbol(self, name: str) -> VariableSymbol | RoutineSymbol | None:
        """Return the symbol that has a unique name, if it is a global, routine or constant local."""
        return self._by_name.get(name)

    def find_variable(self, name: ast.Name, scope: LocalScope) -> VariableSymbol | None:
        """Return the variable of a possibly dotted name (``package.Unit.name``)."""
        found = scope.find(name.name)
        if found is None and "." in name.name:
            unit, _, member = name.name.rpartition(".")
            file = self._units.find(unit)
            return None if file is None else file.variables.get(member)
        if isinstance(found, GlobalVariable):
            self._warn_of_rivals(name, scope.file)
        return found

    def find_routine(self, name: ast.Name, scope: LocalScope, *, function: bool) -> RoutineSymbol | None:
        """Return the function or procedure of a possibly dotted name."""
        found = scope.file.find_routine(name.name, function=function)
        if found is None and "." in name.name:
            unit, _, member = name.name.rpartition(".")
            file = self._units.find(unit)
            return None if file is None else (file.functions if function else file.procedures).get(member)
        if found is not None:
            self._warn_of_rivals(name, scope.file)
        return found

    def _warn_of_rivals(self, name: ast.Name, file: FileScope) -> None:
        """Warn of a name that several units declare whose members are all imported."""
        rivals = file.rivals(name.name)
        if rivals:
            units = " and in ".join(f"'{unit}'" for unit in rivals)
            message = f"'{name.name}' is in {units}; the first one is meant"
            self.reporter.warning(message, name.span, f"write {rivals[0]}.{name.name}, or import that member alone")

    # Types ----------------------------------------------------------------------------------------------------------

    def lower_type(self, of: ast.TypeExpr, dimensions: tuple[ast.Expr, ...], scope: LocalScope) -> Type | None:
        """Return the type with C-style dimensions around it (first outermost), or None after reporting."""
        lowered: Type | None
        match of:
            case ast.ListTypeExpr():
                lowered = self._list_of(self.lower_type(of.element, (), scope), of.size, scope)
            case ast.NamedType(name="int" | "uint"):
                lowered = self._int_type(of, scope)
            case _:
                lowered = _SCALARS[of.name]
        for dimension in reversed(dimensions):
            lowered = self._list_of(lowered, dimension, scope)
        return lowered

    def _list_of(self, element: Type | None, size: ast.Expr, scope: LocalScope) -> Type | None:
        count = self._size(size, scope, "the size of a list")
        if count is None or element is None:
            return None
        return self.expressions.list_type(element, count, size.span)

    def _int_type(self, of: ast.NamedType, scope: LocalScope) -> Type | None:
        what = f"the size of {of.name}"
        size = 32 if of.size is None else self._size(of.size, scope, what)
        if size is None:
            return None
        if size > LARGEST_INT_BITS:
            assert of.size is not None
            message = f"{what} is {number_text(size)}"
            self.reporter.error(message, of.size.span, f"expected an integer from 1 to {LARGEST_INT_BITS}")
            return None
        return int_type(size, of.name == "int")

    def _size(self, expr: ast.Expr, scope: LocalScope, what: str) -> int | None:
        if isinstance(expr, ast.Lit) and type(expr.value) is int and expr.value > 0:
            return expr.value
        size = self.constant_int(expr, scope, what)
        if size is not None and size <= 0:
            self.reporter.error(f"{what} must be greater than zero, not {number_text(size)}", expr.span)
            return None
        return size

    def constant_int(self, expr: ast.Expr, scope: LocalScope, what: str) -> int | None:
        """Return the value of a constant integer expression, or None after reporting."""
        lowered = self.expressions.lower_int(expr, scope, what)
        if lowered is None:
            return None
        try:
            value = self.evaluator.evaluate(lowered)
        except NotConstantError as e:
            if not e.reported:
                hint = "use literals, constants, initialised state variables, actor parameters and functions of them"
                self.reporter.error(f"{what} must be a constant: {e.reason}", expr.span, hint)
            return None
        assert isinstance(value, int)
        return value

    def type_of(self, symbol: VariableSymbol) -> Type | None:
        """Return the type of a variable, or None when its declaration is wrong (and reported)."""
        if isinstance(symbol, LocalVariable):
            return symbol.type
        state = self._state(symbol)
        if state.type_status == "busy":
            self._report_cycle(symbol)
        elif state.type_status == "open":
            state.type_status = "busy"
            self._busy.append(symbol)
            declaration = symbol.declaration
            state.type = self.lower_type(declaration.type, declaration.dimensions, LocalScope(symbol.file))
            self._busy.pop()
            state.type_status = "done"
        return state.type

    def _state(self, symbol: GlobalVariable) -> _VariableState:
        state = self._states.get(symbol)
        if state is None:
            state = self._states[symbol] = _VariableState()
        return state

    # Values ---------------------------------------------------------------------------------------------------------

    def initial_of(self, symbol: GlobalVariable) -> ir.Expr | None:
        """Return the initial value of a global as an expression; None without one or after reporting."""
        state = self._state(symbol)
        if state.initial_status == "busy":
            self._report_cycle(symbol)
        elif state.initial_status == "open":
            state.initial_status = "busy"
            self._busy.append(symbol)
            state.initial = self._lower_initial(symbol)
            self._busy.pop()
            state.initial_status = "done"
        return state.initial

    def _lower_initial(self, symbol: GlobalVariable) -> ir.Expr | None:
        of = self.type_of(symbol)
        if symbol.is_parameter:
            return None if of is None else self._argument_of(symbol, of)
        declaration = symbol.declaration
        if declaration.value is None:
            if symbol.kind == "constant":
                self.reporter.error(f"the constant '{symbol.source_name}' has no value", declaration.span)
            return None
        return self.lower_value(declaration, declaration.value, of, LocalScope(symbol.file))

    def lower_value(
        self, declaration: ast.VarDecl, value: ast.Expr, of: Type | None, scope: LocalScope
    ) -> ir.Expr | None:
        """Return the value of a declaration, checked against its type; None after reporting."""
        lowered = self.expressions.lower(value, scope)
        if lowered is None or of is None:
            return None
        if not is_convertible(lowered.type, of):
            message = f"the value of '{declaration.name}' is {lowered.type}, which does not convert to {of}"
            self.reporter.error(message, value.span, conversion_hint(lowered.type, of))
            return None
        return lowered

    def folded_initial(self, symbol: GlobalVariable) -> ir.Expr | None:
        """Return the initial value of a global, as a literal of its own type where that is known now and not large.

        Floats stay as they are written: how they round is the business of the execution.
        """
        initial = self.initial_of(symbol)
        of = self.type_of(symbol)
        if initial is None or of is None or isinstance(initial, ir.Const | ir.ConstList):
            return initial
        if isinstance(scalar_of(of), FloatType) or elements_of(of) > LARGEST_FOLDED_LIST:
            return initial
        try:
            return constant_of(self._value(symbol), of, initial.span)
        except NotConstantError:
            return initial

    def _variable_value(self, name: str, span: Span) -> Value:
        symbol = self._by_name.get(name)
        if isinstance(symbol, GlobalVariable):
            return self._value(symbol)
        if isinstance(symbol, LocalVariable) and symbol.initial is not None and symbol.type is not None:
            return store(self.evaluator.evaluate(symbol.initial), symbol.type)
        raise NotConstantError("it depends on a variable that has a value only at run time", span)

    def _value(self, symbol: GlobalVariable) -> Value:
        state = self._state(symbol)
        if state.value_status == "busy":
            self._report_cycle(symbol)
            raise NotConstantError(f"'{symbol.source_name}' depends on itself", reported=True)
        if state.value_status == "open":
            state.value_status = "busy"
            self._busy.append(symbol)
            try:
                state.value = self._evaluate_initial(symbol)
            except NotConstantError as e:
                state.why_not = e
            finally:
                self._busy.pop()
                state.value_status = "done"
        if state.value is None:
            assert state.why_not is not None
            raise state.why_not
        return state.value

    def _evaluate_initial(self, symbol: GlobalVariable) -> Value:
        initial = self.initial_of(symbol)
        of = self.type_of(symbol)
        if initial is None or of is None:
            wrong = of is None or symbol.is_parameter or symbol.declaration.value is not None
            raise NotConstantError(f"'{symbol.source_name}' has no initial value", reported=wrong)
        return store(self.evaluator.evaluate(initial), of)

    def _report_cycle(self, symbol: VariableSymbol | RoutineSymbol) -> None:
        start = self._busy.index(symbol) if symbol in self._busy else 0
        names = list(dict.fromkeys(s.source_name for s in self._busy[start:]))
        chain = " -> ".join(f"'{n}'" for n in [*names, symbol.source_name])
        span = symbol.span if isinstance(symbol, LocalVariable) else symbol.declaration.span
        self.reporter.error(f"'{symbol.source_name}' is defined by itself: {chain}", span, "break the cycle")

    # Routines -------------------------------------------------------------------------------------------------------

    def signature(self, routine: RoutineSymbol) -> RoutineSignature:
        """Return the parameters and the types of a routine."""
        found = self._signatures.get(routine)
        if found is not None:
            return found
        declaration = routine.declaration
        scope = LocalScope(routine.file)
        variables = tuple(self.bodies.declare_parameter(p, scope) for p in declaration.parameters)
        result = None
        if isinstance(declaration, ast.FunctionDecl):
            result = self.lower_type(declaration.result, (), scope)
        signature = RoutineSignature(variables, tuple(v.type for v in variables), result)
        self._signatures[routine] = signature
        return signature

    def routine(self, symbol: RoutineSymbol) -> ir.Routine | None:
        """Return the lowered function or procedure; None for a native one and after reporting."""
        if symbol in self._routines:
            return self._routines[symbol]
        if symbol in self._busy or symbol.is_native:
            return None
        self._busy.append(symbol)
        name = self.name_of(symbol)
        lowered = self.bodies.lower_routine(symbol, name, self.signature(symbol))
        self._busy.pop()
        self._routines[symbol] = lowered
        return lowered

    def native(self, symbol: RoutineSymbol) -> ir.Native | None:
        """Return the description of a native function or procedure; None after reporting."""
        signature = self.signature(symbol)
        if None in signature.parameters or (symbol.is_function and signature.result is None):
            return None
        return ir.Native(
            name=self.name_of(symbol),
            source_name=symbol.source_name,
            declared_in=symbol.file.qualified_name,
            parameters=tuple(v.variable(v.type) for v in signature.variables if v.type is not None),
            result_type=signature.result,
            span=symbol.declaration.span,
        )

    def _constant_function(self, name: str, span: Span) -> ir.Routine:
        symbol = self._by_name.get(name)
        assert isinstance(symbol, RoutineSymbol)
        if symbol.is_native:
            raise NotConstantError(f"the native function '{symbol.source_name}' runs only at run time", span)
        if symbol in self._busy:
            raise NotConstantError(f"a size in '{symbol.source_name}' depends on '{symbol.source_name}' itself", span)
        lowered = self.routine(symbol)
        if lowered is None:
            raise NotConstantError(f"the function '{symbol.source_name}' has an error", span, reported=True)
        return lowered


def conversion_hint(source: Type, target: Type) -> str:
    """Return what may be done about a value that does not convert."""
    if isinstance(source, ListType) and isinstance(target, ListType):
        return "the target list must be at least as long, and its elements of a type that these convert to"
    if isinstance(target, IntType) and isinstance(source, FloatType):
        return "floats do not convert to integers"
    return f"expected {target}"
