"""Which declaration does each name in a CAL file mean, and which names are seen where?

For editors: it works on the tree that the parser recovers from broken text, reports nothing, and knows no types (the IR
has them, by the span of the declaration). The scopes are those of the lowering: ``lower_action`` and ``lower_body``.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Literal, assert_never

from dse.base.diagnostics import Gatherer
from dse.base.source import Span
from dse.frontend.cal import ast
from dse.frontend.cal.imports import UnitLoader, UnitScopes
from dse.frontend.cal.names import FileScope, GlobalVariable, Reporter, RoutineSymbol

DeclarationKind = Literal[
    "actor",
    "unit",
    "parameter",
    "constant",
    "variable",
    "argument",
    "local",
    "token",
    "loop variable",
    "function",
    "procedure",
    "native function",
    "native procedure",
    "input port",
    "output port",
    "action",
    "initializer",
    "state",
]


@dataclass(frozen=True, slots=True, kw_only=True)
class Declaration:
    """A declared thing. ``span`` is that of its whole declaration, by which the IR of the actor knows it as well.

    The name is the first token of its text at or behind line and column ``name_from`` (both count from 1). ``name`` is
    "" for an action without a tag.
    """

    kind: DeclarationKind
    name: str
    span: Span
    name_from: tuple[int, int]


@dataclass(frozen=True, slots=True, kw_only=True)
class Reference:
    """A name that stands at ``span``, with what it means: several actions may share a tag."""

    span: Span
    targets: tuple[Declaration, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class LocalNames:
    """What an action, routine or loop declares for the inside of ``span``."""

    span: Span
    names: tuple[Declaration, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class FileNames:
    """The names of one file.

    ``entity`` is the actor or unit, ``members`` what it declares in the order of the text, ``imported`` what the units
    that it imports declare, ``locals`` inner scopes behind the outer ones.
    """

    entity: Declaration
    members: tuple[Declaration, ...]
    imported: tuple[Declaration, ...]
    references: tuple[Reference, ...]
    locals: tuple[LocalNames, ...]

    def seen_at(self, line: int, column: int) -> tuple[Declaration, ...]:
        """Return all that has a name at a place, the innermost first."""
        inner = [d for scope in reversed(self.locals) if _holds(scope.span, line, column) for d in scope.names]
        return (*inner, *self.members, *self.imported)


def _holds(span: Span, line: int, column: int) -> bool:
    """Return whether a place is in a span or at its end."""
    return (span.line, span.column) <= (line, column) <= (span.end_line, span.end_column)


def names_of(file: ast.CalFile, units: UnitLoader) -> FileNames:
    """Return the names of a file; ``units`` finds what it imports. A name that is not known has no reference."""
    scopes = UnitScopes(units, Reporter(Gatherer()))
    root = scopes.root(file)
    collector = _Collector(root, scopes)
    collector.file(file)
    return FileNames(
        entity=entity_of(file),
        members=tuple(collector.members),
        imported=tuple(_imported(root)),
        references=tuple(collector.references),
        locals=tuple(collector.locals),
    )


def entity_of(file: ast.CalFile) -> Declaration:
    """Return the actor or unit of a file."""
    entity = file.entity
    kind: DeclarationKind = "actor" if isinstance(entity, ast.ActorDecl) else "unit"
    return Declaration(
        kind=kind, name=entity.name, span=entity.span, name_from=_behind(entity.annotations, entity.span)
    )


def ports_of(file: ast.CalFile) -> tuple[Declaration, ...]:
    """Return the input ports of an actor, then its output ports; nothing for a unit."""
    if not isinstance(file.entity, ast.ActorDecl):
        return ()
    return (
        *(_port(p, "input port") for p in file.entity.inputs),
        *(_port(p, "output port") for p in file.entity.outputs),
    )


def parameters_of(file: ast.CalFile) -> tuple[Declaration, ...]:
    """Return the parameters of an actor; nothing for a unit."""
    if not isinstance(file.entity, ast.ActorDecl):
        return ()
    return tuple(_variable(p, "parameter") for p in file.entity.parameters)


# Declarations ---------------------------------------------------------------------------------------------------------


def _end(span: Span) -> tuple[int, int]:
    return span.end_line, span.end_column


def _behind(annotations: tuple[ast.Annotation, ...], span: Span) -> tuple[int, int]:
    """Return where the declaration of a span begins behind its annotations."""
    return _end(annotations[-1].span) if annotations else (span.line, span.column)


def _variable(declared: ast.VarDecl, kind: DeclarationKind) -> Declaration:
    return Declaration(kind=kind, name=declared.name, span=declared.span, name_from=_end(declared.type.span))


def _port(declared: ast.PortDecl, kind: DeclarationKind) -> Declaration:
    return Declaration(kind=kind, name=declared.name, span=declared.span, name_from=_end(declared.type.span))


def _at_name(name: ast.Name, kind: DeclarationKind) -> Declaration:
    return Declaration(kind=kind, name=name.name, span=name.span, name_from=(name.span.line, name.span.column))


def _routine(declared: ast.FunctionDecl | ast.ProcedureDecl) -> Declaration:
    plain: DeclarationKind = "function" if isinstance(declared, ast.FunctionDecl) else "procedure"
    native: DeclarationKind = "native function" if isinstance(declared, ast.FunctionDecl) else "native procedure"
    return Declaration(
        kind=native if any(a.name == "native" for a in declared.annotations) else plain,
        name=declared.name,
        span=declared.span,
        name_from=_behind(declared.annotations, declared.span),
    )


def _action(declared: ast.ActionDecl) -> Declaration:
    return Declaration(
        kind="initializer" if declared.initialize else "action",
        name=declared.tag,
        span=declared.span,
        name_from=_behind(declared.annotations, declared.span),
    )


def _global(symbol: GlobalVariable) -> Declaration:
    if symbol.is_parameter:
        return _variable(symbol.declaration, "parameter")
    return _variable(symbol.declaration, "variable" if symbol.assignable else "constant")


def _members_of(scope: FileScope) -> Iterator[Declaration]:
    yield from map(_global, scope.variables.values())
    yield from (_routine(r.declaration) for r in (*scope.functions.values(), *scope.procedures.values()))


def _imported(root: FileScope) -> Iterator[Declaration]:
    """Yield what imports bring: one name of a single import, all of a unit for a wildcard."""
    for name, unit in root.singles.items():
        yield from (d for d in _members_of(unit) if d.name == name)
    for unit in root.wildcards:
        yield from _members_of(unit)


# References -----------------------------------------------------------------------------------------------------------


@dataclass(slots=True)
class _Scope:
    """The names of an action, routine or loop, within those of ``outer``."""

    outer: "_Scope | None" = None
    names: dict[str, Declaration] = field(default_factory=dict)

    def find(self, name: str) -> Declaration | None:
        scope: _Scope | None = self
        while scope is not None:
            if name in scope.names:
                return scope.names[name]
            scope = scope.outer
        return None

    def inner(self) -> "_Scope":
        return _Scope(self)

    def enter(self, declared: Declaration) -> None:
        self.names.setdefault(declared.name, declared)


class _Collector:
    """Walks over one file."""

    def __init__(self, root: FileScope, scopes: UnitScopes) -> None:
        self.members: list[Declaration] = []
        self.references: list[Reference] = []
        self.locals: list[LocalNames] = []
        self._root = root
        self._scopes = scopes
        self._ports: dict[str, list[Declaration]] = {"input port": [], "output port": []}

    def file(self, file: ast.CalFile) -> None:
        """Collect everything."""
        entity = file.entity
        for declaration in file.imports:
            self._import(declaration)
        top = _Scope()
        if isinstance(entity, ast.ActorDecl):
            self._head(entity, top)
        for variable in entity.variables:
            self.members.append(_global_of(variable, self._root))
            self._value(variable, top)
        routines: tuple[ast.FunctionDecl | ast.ProcedureDecl, ...] = (*entity.functions, *entity.procedures)
        for routine in routines:
            self.members.append(_routine(routine))
            self._routine(routine)
        if isinstance(entity, ast.ActorDecl):
            self._behaviour(entity)
        self.members.sort(key=lambda d: (d.span.line, d.span.column))

    def _import(self, declaration: ast.ImportDecl) -> None:
        """An import means the unit, or the one thing that it brings."""
        unit_name, _, member = declaration.name.rpartition(".")
        unit = self._scopes.find(declaration.name if declaration.wildcard else unit_name)
        if unit is None:
            return
        found = () if declaration.wildcard else tuple(d for d in _members_of(unit) if d.name == member)
        self._refer(declaration.span, *(found or (entity_of(unit.file),)))

    def _head(self, entity: ast.ActorDecl, top: _Scope) -> None:
        for parameter in entity.parameters:
            self.members.append(_variable(parameter, "parameter"))
            self._value(parameter, top)
        sides: tuple[tuple[DeclarationKind, tuple[ast.PortDecl, ...]], ...] = (
            ("input port", entity.inputs),
            ("output port", entity.outputs),
        )
        for kind, ports in sides:
            for port in ports:
                self._ports[kind].append(_port(port, kind))
                self._type(port.type, top)
            self.members += self._ports[kind]

    def _behaviour(self, entity: ast.ActorDecl) -> None:
        """Actions, the schedule and priorities."""
        actions = [_action(action) for action in entity.actions]
        self.members += actions
        for action in entity.actions:
            self._action(action)
        tags = list(self._tags_of(entity.schedule))
        for tag in (*tags, *(tag for chain in entity.priorities for tag in chain)):
            prefix = tag.name + "."
            self._refer(tag.span, *(a for a in actions if a.name == tag.name or a.name.startswith(prefix)))
        if isinstance(entity.schedule, ast.FsmDecl):
            self._states(entity.schedule)

    def _states(self, fsm: ast.FsmDecl) -> None:
        """A state is declared where its first transition begins; else where it is first named."""
        sources = [transition.source for transition in fsm.transitions]
        everywhere = [fsm.initial, *(name for t in fsm.transitions for name in (t.source, t.target))]
        declared: dict[str, Declaration] = {}
        for name in (*sources, *everywhere):
            if name.name not in declared:
                declared[name.name] = _at_name(name, "state")
        self.members += declared.values()
        for name in everywhere:
            self._refer(name.span, declared[name.name])

    def _tags_of(self, schedule: ast.FsmDecl | ast.RegExpDecl | None) -> Iterator[ast.Tag]:
        match schedule:
            case ast.FsmDecl():
                yield from (transition.tag for transition in schedule.transitions)
            case ast.RegExpDecl():
                yield from _tags_in(schedule.expression)

    # Actions and routines

    def _action(self, action: ast.ActionDecl) -> None:
        tokens = _Scope()
        for read in action.inputs:
            self._pattern_port(read.port, "input port")
            for token in read.tokens:
                tokens.enter(_at_name(token, "token"))
                self._refer(token.span, tokens.names[token.name])
            self._maybe(read.repeat, _Scope())
        self._note(action.span, tokens)
        self._expressions(action.guards, tokens)
        inner = tokens.inner()
        self._locals(action.locals, inner)
        self._note(action.span, inner)
        self._statements(action.body, inner)
        for written in action.outputs:
            self._pattern_port(written.port, "output port")
            self._expressions(written.values, inner)
            self._maybe(written.repeat, _Scope())

    def _routine(self, routine: ast.FunctionDecl | ast.ProcedureDecl) -> None:
        scope = _Scope()
        for parameter in routine.parameters:
            self._value(parameter, _Scope())
            scope.enter(_variable(parameter, "argument"))
        self._note(routine.span, scope)
        inner = scope.inner()
        if isinstance(routine, ast.FunctionDecl):
            self._type(routine.result, _Scope())
        self._locals(routine.locals, inner)
        self._note(routine.span, inner)
        if isinstance(routine, ast.ProcedureDecl):
            self._statements(routine.body or (), inner)
        else:
            self._maybe(routine.body, inner)

    def _locals(self, declared: Iterable[ast.VarDecl], scope: _Scope) -> None:
        for variable in declared:
            self._value(variable, scope)
            scope.enter(_variable(variable, "local"))

    def _note(self, span: Span, scope: _Scope) -> None:
        if scope.names:
            self.locals.append(LocalNames(span=span, names=tuple(scope.names.values())))

    def _pattern_port(self, name: ast.Name, kind: DeclarationKind) -> None:
        self._refer(name.span, *(p for p in self._ports[kind] if p.name == name.name))

    # Statements

    def _statements(self, body: Iterable[ast.Stmt], scope: _Scope) -> None:
        for statement in body:
            self._statement(statement, scope)

    def _statement(self, statement: ast.Stmt, scope: _Scope) -> None:
        match statement:
            case ast.AssignStmt():
                self._name(statement.target, scope)
                self._expressions((*statement.indices, statement.value), scope)
            case ast.CallStmt():
                self._called(statement.procedure, function=False)
                self._expressions(statement.arguments, scope)
            case ast.IfStmt():
                self._expression(statement.condition, scope)
                self._statements(statement.then, scope)
                self._statements(statement.otherwise, scope)
            case ast.WhileStmt():
                self._expression(statement.condition, scope)
                self._statements(statement.body, scope)
            case ast.ForeachStmt():
                self._expressions((statement.low, statement.high), scope)
                self._statements(statement.body, self._loop(statement.variable, statement.span, scope))
            case _:
                assert_never(statement)

    def _loop(self, variable: ast.VarDecl, span: Span, scope: _Scope) -> _Scope:
        """Return the scope inside of a loop."""
        self._value(variable, scope)
        inner = scope.inner()
        inner.enter(_variable(variable, "loop variable"))
        self._note(span, inner)
        return inner

    # Expressions

    def _expressions(self, expressions: Iterable[ast.Expr], scope: _Scope) -> None:
        for expression in expressions:
            self._expression(expression, scope)

    def _maybe(self, expression: ast.Expr | None, scope: _Scope) -> None:
        if expression is not None:
            self._expression(expression, scope)

    def _expression(self, expression: ast.Expr, scope: _Scope) -> None:  # ways: one case for each node
        match expression:
            case ast.Lit() | ast.IntList():
                pass
            case ast.Name():
                self._name(expression, scope)
            case ast.IndexExpr():
                self._name(expression.name, scope)
                self._expressions(expression.indices, scope)
            case ast.CallExpr():
                self._called(expression.function, function=True)
                self._expressions(expression.arguments, scope)
            case ast.UnaryExpr():
                self._expression(expression.operand, scope)
            case ast.BinaryExpr():
                self._expressions((expression.left, expression.right), scope)
            case ast.IfExpr():
                self._expressions((expression.condition, expression.then, expression.otherwise), scope)
            case ast.ListLit():
                inner = scope
                for clause in expression.generators:
                    self._expressions((clause.low, clause.high), inner)
                    inner = self._loop(clause.variable, expression.span, inner)
                self._expressions(expression.elements, inner)
            case _:
                assert_never(expression)

    def _value(self, variable: ast.VarDecl, scope: _Scope) -> None:
        """Type, dimensions and value of a declaration."""
        self._type(variable.type, scope)
        self._expressions(variable.dimensions, scope)
        self._maybe(variable.value, scope)

    def _type(self, of: ast.TypeExpr, scope: _Scope) -> None:
        while isinstance(of, ast.ListTypeExpr):
            self._expression(of.size, scope)
            of = of.element
        self._maybe(of.size, scope)

    # Names

    def _name(self, name: ast.Name, scope: _Scope) -> None:
        local = scope.find(name.name)
        symbol = None if local is not None else self._variable_symbol(name.name)
        if local is not None:
            self._refer(name.span, local)
        elif symbol is not None:
            self._refer(name.span, _global(symbol))

    def _variable_symbol(self, name: str) -> GlobalVariable | None:
        found = self._root.find_variable(name)
        if found is None and "." in name:
            unit = self._scopes.find(name.rpartition(".")[0])
            return None if unit is None else unit.variables.get(name.rpartition(".")[2])
        return found

    def _called(self, name: ast.Name, *, function: bool) -> None:
        symbol = self._routine_symbol(name.name, function) or self._routine_symbol(name.name, not function)
        if symbol is not None:
            self._refer(name.span, _routine(symbol.declaration))

    def _routine_symbol(self, name: str, function: bool) -> RoutineSymbol | None:
        found = self._root.find_routine(name, function=function)
        if found is None and "." in name:
            unit = self._scopes.find(name.rpartition(".")[0])
            if unit is not None:
                return (unit.functions if function else unit.procedures).get(name.rpartition(".")[2])
        return found

    def _refer(self, span: Span, *targets: Declaration) -> None:
        if targets:
            self.references.append(Reference(span=span, targets=targets))


def _global_of(variable: ast.VarDecl, root: FileScope) -> Declaration:
    """Return a state variable or constant of an entity, one that is declared twice too."""
    fixed = variable.constant or isinstance(root.file.entity, ast.UnitDecl)
    return _variable(variable, "constant" if fixed else "variable")


def _tags_in(expression: ast.RegExp) -> Iterator[ast.Tag]:
    match expression:
        case ast.RegExpTag():
            yield expression.tag
        case ast.RegExpRepeat():
            yield from _tags_in(expression.child)
        case _:
            for part in expression.parts:
                yield from _tags_in(part)
