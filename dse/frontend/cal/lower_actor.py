"""The entrance to lowering: an actor and its parameter values become one ``ir.Actor``; units are checked alone.

The actor's own declarations are all lowered; of the units that it imports only what it uses, transitively.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, fields, is_dataclass

from dse.base.diagnostics import Gatherer
from dse.base.source import NO_SPAN, Span
from dse.frontend.cal import ast
from dse.frontend.cal.consteval import LONGEST_LIST, Value, constant_of, store, zero_of
from dse.frontend.cal.filled_constants import warn_of_filled_constants
from dse.frontend.cal.imports import UnitLoader, UnitScopes
from dse.frontend.cal.lower_action import ActionLowering, ActorPorts, action_names, lower_ports
from dse.frontend.cal.names import (
    FileScope,
    GlobalVariable,
    LocalScope,
    Reporter,
    RoutineSymbol,
    qualified_name,
)
from dse.frontend.cal.scheduling import Schedule, build_schedule
from dse.frontend.cal.symbols import Symbols
from dse.program import ir
from dse.program.types import BoolType, FloatType, IntType, ListType, StringType, Type, elements_of


def lower_actor(
    file: ast.CalFile,
    arguments: Mapping[str, Value],
    units: UnitLoader,
    gather: Gatherer,
    *,
    instance_span: Span = NO_SPAN,
) -> ir.Actor | None:
    """Return the actor of ``file`` for the values of its parameters, or None after gathering what is wrong.

    A missing argument takes the parameter's default, or 0, and an argument that names no parameter is ignored: the
    elaboration of the network warns about both (cal.md 2.4). ``instance_span`` is the place of the instance, for
    errors about arguments.
    """
    return _lower(file, _Arguments(values=arguments, span=instance_span), units, gather)


def check_actor(file: ast.CalFile, units: UnitLoader, gather: Gatherer) -> ir.Actor | None:
    """Return the actor of ``file`` with parameters at their defaults, or None after gathering what is wrong.

    An integer without a default is 1: an actor whose sizes depend on it is not wrong for the lack of an instance.
    """
    return _lower(file, _Arguments(values={}, span=file.span, missing_int=1), units, gather)


def check_unit(file: ast.CalFile, units: UnitLoader, gather: Gatherer) -> bool:
    """Return whether everything in a unit is right; gather what is not."""
    reporter = Reporter(gather)
    try:
        scopes = UnitScopes(units, reporter)
        root = scopes.root(file)
        symbols = Symbols(reporter, scopes, _no_argument)
        _use_own_declarations(symbols, root)
        _lower_used(symbols)
    except RecursionError:
        _report_depth(reporter, file)
    return not reporter.failed


@dataclass(frozen=True, slots=True, kw_only=True)
class _Arguments:
    """The values for the parameters of an actor, and where they were given."""

    values: Mapping[str, Value]
    span: Span
    missing_int: int = 0
    """The value of an integer parameter that has neither an argument nor a default."""


def _no_argument(symbol: GlobalVariable, of: Type) -> ir.Expr | None:
    raise AssertionError(f"units have no parameters, {symbol.source_name} is one of type {of}")


def _lower(file: ast.CalFile, arguments: _Arguments, units: UnitLoader, gather: Gatherer) -> ir.Actor | None:
    reporter = Reporter(gather)
    if not isinstance(file.entity, ast.ActorDecl):
        reporter.error(
            f"'{qualified_name(file)}' is a unit, not an actor", arguments.span, "only actors have instances"
        )
        return None
    try:
        return _ActorLowering(file, file.entity, arguments, units, reporter).lower()
    except RecursionError:
        _report_depth(reporter, file)
        return None


def _report_depth(reporter: Reporter, file: ast.CalFile) -> None:
    hint = "split long expressions and deep statements"
    reporter.error(f"'{file.entity.name}' nests too deeply to be analysed", file.entity.span, hint)


class _ActorLowering:
    """One run of ``lower_actor``."""

    def __init__(
        self, file: ast.CalFile, entity: ast.ActorDecl, arguments: _Arguments, units: UnitLoader, reporter: Reporter
    ) -> None:
        self._file = file
        self._entity = entity
        self._arguments = arguments
        self._reporter = reporter
        scopes = UnitScopes(units, reporter)
        self._root = scopes.root(file)
        self._symbols = Symbols(reporter, scopes, self._argument)

    def lower(self) -> ir.Actor | None:
        entity = self._entity
        _use_own_declarations(self._symbols, self._root)
        ports = lower_ports(self._symbols, entity, self._root)
        firing = [a for a in entity.actions if not a.initialize]
        starting = [a for a in entity.actions if a.initialize]
        actions = self._actions((*firing, *starting), ports)
        schedule = build_schedule(entity, [a.tag for a in firing], self._reporter)
        parts = _lower_used(self._symbols)
        if self._reporter.failed or schedule is None:
            return None
        actor = self._assemble(ports, actions, len(firing), schedule, parts)
        warn_of_filled_constants(actor, self._reporter)
        return actor

    def _actions(self, declared: tuple[ast.ActionDecl, ...], ports: ActorPorts) -> tuple[ir.Action, ...]:
        lowering = ActionLowering(self._symbols, self._root, ports)
        names = action_names(declared)
        return tuple(lowering.lower(action, name) for action, name in zip(declared, names, strict=True))

    def _assemble(
        self, ports: ActorPorts, actions: tuple[ir.Action, ...], firing: int, schedule: Schedule, parts: "_Parts"
    ) -> ir.Actor:
        return ir.Actor(
            name=self._root.qualified_name,
            path=self._file.path,
            inputs=ports.inputs,
            outputs=ports.outputs,
            variables=parts.variables,
            routines=parts.routines,
            natives=parts.natives,
            actions=actions,
            initializers=tuple(range(firing, len(actions))),
            states=schedule.states,
            initial_state=schedule.initial_state,
            transitions=schedule.transitions,
            span=self._entity.span,
            has_fsm=schedule.has_fsm,
            native=any(a.name == "native" for a in self._entity.annotations),
        )

    def _argument(self, symbol: GlobalVariable, of: Type) -> ir.Expr | None:
        """Return the value of an actor parameter: the argument, the default, or zero."""
        name, declaration = symbol.source_name, symbol.declaration
        if elements_of(of) > LONGEST_LIST:
            message = f"the parameter '{name}' is a list of {elements_of(of)} elements"
            self._reporter.error(message, declaration.span, f"expected at most {LONGEST_LIST}")
            return None
        if name in self._arguments.values:
            given = self._arguments.values[name]
            if not _fits(given, of):
                message = (
                    f"the parameter '{name}' of '{self._root.qualified_name}' is {of}, the value given is {given!r}"
                )
                self._reporter.error(message, self._arguments.span, f"expected a value of type {of}")
                return None
            return constant_of(store(given, of), of, declaration.span)
        if declaration.value is not None:
            return self._symbols.lower_value(declaration, declaration.value, of, LocalScope(symbol.file))
        missing = self._arguments.missing_int if isinstance(of, IntType) else zero_of(of)
        return constant_of(missing, of, declaration.span)


def _fits(value: object, of: Type) -> bool:
    """Return whether a parameter value may be stored in a parameter of type ``of``."""
    match value, of:
        case tuple(), ListType():
            return len(value) <= of.size and all(_fits(v, of.element) for v in value)
        case bool(), _:
            return isinstance(of, BoolType)
        case (int(), IntType()) | (int() | float(), FloatType()) | (str(), StringType()):
            return True
    return False


# What is used ---------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, kw_only=True)
class _Parts:
    """The lowered globals and routines of an actor."""

    variables: tuple[ir.Variable, ...]
    routines: tuple[ir.Routine, ...]
    natives: tuple[ir.Native, ...]


def _use_own_declarations(symbols: Symbols, root: FileScope) -> None:
    """Take all that the file itself declares, in document order, so that it keeps its names."""
    for variable in root.variables.values():
        symbols.name_of(variable)
    for routine in (*root.functions.values(), *root.procedures.values()):
        symbols.name_of(routine)


def _lower_used(symbols: Symbols) -> _Parts:
    """Lower all that was referred to, and what that refers to."""
    variables_done = routines_done = 0
    natives: list[ir.Native] = []
    routines: list[ir.Routine] = []
    while variables_done < len(symbols.used_variables) or routines_done < len(symbols.used_routines):
        while variables_done < len(symbols.used_variables):
            symbols.initial_of(symbols.used_variables[variables_done])
            symbols.type_of(symbols.used_variables[variables_done])
            variables_done += 1
        while routines_done < len(symbols.used_routines):
            symbol = symbols.used_routines[routines_done]
            routines_done += 1
            if symbol.is_native:
                native = symbols.native(symbol)
                natives += [native] if native is not None else []
            else:
                routine = symbols.routine(symbol)
                routines += [routine] if routine is not None else []
    return _Parts(variables=_ordered_variables(symbols), routines=tuple(routines), natives=tuple(natives))


def _ordered_variables(symbols: Symbols) -> tuple[ir.Variable, ...]:
    """Return the globals so that each comes after those that its initial value needs; reports cycles."""
    ordered: list[ir.Variable] = []
    done: set[GlobalVariable] = set()
    path: list[GlobalVariable] = []

    def visit(symbol: GlobalVariable) -> None:
        if symbol in done:
            return
        if symbol in path:
            if not symbols.reporter.failed:
                chain = " -> ".join(f"'{s.source_name}'" for s in [*path[path.index(symbol) :], symbol])
                message = f"'{symbol.source_name}' is defined by itself: {chain}"
                symbols.reporter.error(message, symbol.declaration.span, "break the cycle")
            return
        of = symbols.type_of(symbol)
        initial = symbols.folded_initial(symbol)
        if initial is not None and not isinstance(initial, ir.Const | ir.ConstList):
            path.append(symbol)
            for needed in _needed_variables(symbols, initial):
                visit(needed)
            path.pop()
        done.add(symbol)
        if of is not None:
            name = symbols.name_of(symbol)
            span = symbol.declaration.span
            ordered.append(ir.Variable(name, symbol.source_name, of, symbol.kind, initial, span))

    for symbol in symbols.used_variables:
        visit(symbol)
    return tuple(ordered)


def _needed_variables(symbols: Symbols, expr: ir.Expr) -> list[GlobalVariable]:
    """Return the globals that evaluating ``expr`` may read, also inside the functions that it calls."""
    found: dict[GlobalVariable, None] = {}
    routines: dict[RoutineSymbol, None] = {}
    pending: list[object] = [expr]
    while pending:
        for name in _names_in(pending.pop()):
            symbol = symbols.symbol(name)
            if isinstance(symbol, GlobalVariable):
                found[symbol] = None
            elif isinstance(symbol, RoutineSymbol) and symbol not in routines:
                routines[symbol] = None
                pending.append(symbols.routine(symbol))
    return list(found)


def _names_in(node: object) -> Iterator[str]:
    """Yield the names of variables and functions in an IR tree."""
    if isinstance(node, tuple):
        for part in node:
            yield from _names_in(part)
    elif isinstance(node, ir.Load | ir.Index):
        yield node.name
    elif isinstance(node, ir.Call):
        yield node.routine
    if isinstance(node, ir.Const | ir.ConstList | Span) or not is_dataclass(node):
        return
    for field in fields(node):
        yield from _names_in(getattr(node, field.name))
