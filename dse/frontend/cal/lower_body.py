"""Lowering of statements, local declarations and routines to IR."""

from typing import Protocol, assert_never

from dse.frontend.cal import ast
from dse.frontend.cal.lower_expr import ExprLowering, Globals
from dse.frontend.cal.names import FileScope, LocalScope, LocalVariable, RoutineSymbol, VariableSymbol, nearest
from dse.program import ir
from dse.program.types import IntType, ListType, Type
from dse.program.typing import is_convertible

_BUILT_IN = ("print", "println")


class BodyGlobals(Globals, Protocol):
    """What lowering of bodies asks of the actor around them."""

    def register_constant(self, symbol: LocalVariable) -> None:
        """Make the value of a constant local known to the evaluation of sizes."""

    def lower_value(
        self, declaration: ast.VarDecl, value: ast.Expr, of: Type | None, scope: LocalScope
    ) -> ir.Expr | None:
        """Return the value of a declaration, checked against its type; None after reporting."""


class TypedParameters(Protocol):
    """The parameters of a routine whose body is lowered, and the type of its result."""

    @property
    def variables(self) -> tuple[LocalVariable, ...]:
        """The parameters."""

    @property
    def result(self) -> Type | None:
        """The type of the result."""


class BodyLowering:
    """Lowers the statements, declarations and routines of one actor. What has an error is left out, after reporting."""

    def __init__(self, symbols: BodyGlobals, expressions: ExprLowering) -> None:
        self._symbols = symbols
        self._expressions = expressions
        self._error = symbols.reporter.error

    def lower_statements(self, body: tuple[ast.Stmt, ...], scope: LocalScope) -> tuple[ir.Stmt, ...]:
        """Return the statements that have no error."""
        lowered = [self._statement(s, scope) for s in body]
        return tuple(s for s in lowered if s is not None)

    def lower_declarations(self, declarations: tuple[ast.VarDecl, ...], scope: LocalScope) -> tuple[ir.Declare, ...]:
        """Return the local declarations and enter them into ``scope``; each sees those before it."""
        lowered: list[ir.Declare] = []
        for declaration in declarations:
            of = self._symbols.lower_type(declaration.type, declaration.dimensions, scope)
            value = None
            if declaration.value is not None:
                value = self._symbols.lower_value(declaration, declaration.value, of, scope)
            elif declaration.constant:
                self._error(f"the constant '{declaration.name}' has no value", declaration.span)
            symbol = self._declare(declaration, "local", of, scope)
            if declaration.constant and value is not None:
                symbol.initial = value
                self._symbols.register_constant(symbol)
            if of is not None:
                lowered.append(ir.Declare(symbol.variable(of), value, declaration.span))
        return tuple(lowered)

    def declare_parameter(self, declaration: ast.VarDecl, scope: LocalScope) -> LocalVariable:
        """Return a parameter of a routine, entered into ``scope``."""
        of = self._symbols.lower_type(declaration.type, declaration.dimensions, scope)
        return self._declare(declaration, "parameter", of, scope)

    def lower_routine(self, symbol: RoutineSymbol, name: str, parameters: TypedParameters) -> ir.Routine | None:
        """Return a function or procedure with its body; None after reporting."""
        declaration = symbol.declaration
        if declaration.body is None:
            self._error(
                f"'{symbol.source_name}' has no body", declaration.span, "annotate it with @native, or write one"
            )
            return None
        scope = self._routine_scope(symbol.file, parameters)
        declarations = self.lower_declarations(declaration.locals, scope)
        body: tuple[ir.Stmt, ...] = ()
        result: ir.Expr | None = None
        if isinstance(declaration, ast.FunctionDecl):
            result = self._result(declaration, parameters.result, scope)
            if result is None:
                return None
        else:
            assert isinstance(declaration.body, tuple)
            body = self.lower_statements(declaration.body, scope)
        typed = tuple(v.variable(v.type) for v in parameters.variables if v.type is not None)
        return ir.Routine(
            name=name,
            source_name=symbol.source_name,
            parameters=typed,
            declarations=declarations,
            body=body,
            result=result,
            result_type=parameters.result,
            span=declaration.span,
        )

    def _routine_scope(self, file: FileScope, parameters: TypedParameters) -> LocalScope:
        scope = LocalScope(file)
        for variable in parameters.variables:
            scope.symbols[variable.source_name] = variable
        return scope.inner()

    def _result(self, declaration: ast.FunctionDecl, of: Type | None, scope: LocalScope) -> ir.Expr | None:
        assert declaration.body is not None
        result = self._expressions.lower(declaration.body, scope)
        if result is None or of is None:
            return None
        if not is_convertible(result.type, of):
            message = f"the result of '{declaration.name}' is {result.type}, which does not convert to {of}"
            self._error(message, declaration.body.span, f"the function is declared to return {of}")
            return None
        return result

    def _declare(
        self, declaration: ast.VarDecl, kind: ir.VariableKind, of: Type | None, scope: LocalScope
    ) -> LocalVariable:
        """Return a new local variable, entered into ``scope``; a name that is already there is reported."""
        name = declaration.name
        if name in scope.symbols:
            line = scope.symbols[name].span.line
            hint = f"rename one; the first declaration is in line {line}"
            self._error(f"'{name}' is declared twice", declaration.span, hint)
        symbol = LocalVariable(
            name=self._symbols.names.unique(name),
            source_name=name,
            kind=kind,
            assignable=not declaration.constant,
            type=of,
            span=declaration.span,
        )
        scope.symbols[name] = symbol
        return symbol

    def _statement(self, statement: ast.Stmt, scope: LocalScope) -> ir.Stmt | None:
        match statement:
            case ast.AssignStmt():
                return self._assign(statement, scope)
            case ast.CallStmt():
                return self._call(statement, scope)
            case ast.IfStmt():
                condition = self._expressions.lower_condition(statement.condition, scope, "the condition of an if")
                then = self.lower_statements(statement.then, scope)
                otherwise = self.lower_statements(statement.otherwise, scope)
                return None if condition is None else ir.If(condition, then, otherwise, statement.span)
            case ast.WhileStmt():
                condition = self._expressions.lower_condition(statement.condition, scope, "the condition of a while")
                body = self.lower_statements(statement.body, scope)
                return None if condition is None else ir.While(condition, body, statement.span)
            case ast.ForeachStmt():
                return self._foreach(statement, scope)
            case _:
                assert_never(statement)

    def _assign(self, statement: ast.AssignStmt, scope: LocalScope) -> ir.Stmt | None:
        symbol = self._expressions.variable(statement.target, scope)
        indices = [self._expressions.lower_int(i, scope, "an index") for i in statement.indices]
        value = self._expressions.lower(statement.value, scope)
        if symbol is None or not self._check_assignable(statement, symbol):
            return None
        of = self._expressions.element_type(statement.target, symbol, len(indices), statement.target.span)
        good = tuple(i for i in indices if i is not None)
        if of is None or value is None or len(good) != len(indices):
            return None
        if not is_convertible(value.type, of):
            target = statement.target.name + "[...]" * len(indices)
            message = f"cannot assign {value.type} to '{target}' of type {of}"
            self._error(message, statement.value.span, _assignment_hint(value.type, of))
            return None
        return ir.Assign(self._symbols.name_of(symbol), good, value, statement.span)

    def _check_assignable(self, statement: ast.AssignStmt, symbol: VariableSymbol) -> bool:
        if symbol.assignable:
            return True
        name = statement.target.name
        parameter = not isinstance(symbol, LocalVariable) and symbol.is_parameter
        what = "an actor parameter" if parameter else "a constant"
        hint = "copy it to a variable" if parameter else "declare it with ':=' instead of '='"
        if not isinstance(symbol, LocalVariable) and isinstance(symbol.file.file.entity, ast.UnitDecl):
            hint = "units have no variables: move it into the actor"
        self._error(f"cannot assign to '{name}', it is {what}", statement.target.span, hint)
        return False

    def _call(self, statement: ast.CallStmt, scope: LocalScope) -> ir.Stmt | None:
        name = statement.procedure
        routine = self._symbols.find_routine(name, scope, function=False)
        if routine is not None:
            arguments = self._expressions.lower_arguments(routine, statement.arguments, scope, statement.span)
            unique = self._symbols.name_of(routine)
            return None if arguments is None else ir.CallStmt(unique, arguments, statement.span)
        if name.name in _BUILT_IN:
            return self._print(statement, scope)
        for argument in statement.arguments:
            self._expressions.lower(argument, scope)
        if self._symbols.find_routine(name, scope, function=True) is not None:
            hint = "assign its result to a variable"
            self._error(f"'{name.name}' is a function and cannot be called as a statement", name.span, hint)
        else:
            known = [*scope.file.routine_names(function=False), *_BUILT_IN]
            message = f"unknown procedure '{name.name}'"
            self._symbols.reporter.unknown(message, name.span, nearest(name.name, known), scope.file)
        return None

    def _print(self, statement: ast.CallStmt, scope: LocalScope) -> ir.Stmt | None:
        name = statement.procedure.name
        values = [self._expressions.lower(a, scope) for a in statement.arguments]
        if len(values) > 1:
            hint = "join the parts with '+'"
            self._error(f"'{name}' takes at most one argument, {len(values)} given", statement.span, hint)
            return None
        value = values[0] if values else None
        if values and value is None:
            return None
        return ir.Print(value, name == "println", statement.span)

    def _foreach(self, statement: ast.ForeachStmt, scope: LocalScope) -> ir.Stmt | None:
        low = self._expressions.lower_int(statement.low, scope, "the bound of a foreach")
        high = self._expressions.lower_int(statement.high, scope, "the bound of a foreach")
        symbol = self._expressions.declare_loop_variable(statement.variable, scope)
        inner = scope.inner()
        inner.symbols[symbol.source_name] = symbol
        body = self.lower_statements(statement.body, inner)
        if low is None or high is None or symbol.type is None:
            return None
        return ir.ForEach(symbol.variable(symbol.type), low, high, body, statement.span)


def _assignment_hint(source: Type, target: Type) -> str:
    if isinstance(source, ListType) and isinstance(target, ListType):
        return "the target list must be at least as long, and its elements of a type that these convert to"
    if isinstance(target, IntType):
        return "an integer is expected; floats and bools do not convert to integers"
    return f"expected {target}"
