"""The arguments of instances: evaluated in the scope of the network around, checked against the declared parameters.

An argument that names no parameter, and a parameter that nothing gives (it is 0 then), are doubts: warnings, or errors
with ``--strict`` (cal.md 2.4).
"""

from dse.base.registry import nearest_names
from dse.frontend.cal.ast import ActorDecl, ListTypeExpr, VarDecl
from dse.frontend.cal.consteval import Value
from dse.frontend.network.expressions import convert, kind_of, zero_of
from dse.frontend.network.network_scope import NetworkArguments, NetworkScope
from dse.frontend.network.sources import Arguments
from dse.frontend.network.validate import Report
from dse.model.xdf import XdfInstance, XdfNetwork
from dse.program.types import BOOL, FLOAT64, INT32, STRING, Type

_KINDS: dict[str, Type] = {
    "bool": BOOL,
    "int": INT32,
    "uint": INT32,
    "half": FLOAT64,
    "float": FLOAT64,
    "double": FLOAT64,
    "String": STRING,
}
"""What converts to a parameter of a named type; sizes do not matter here, integers wrap where they are stored."""


def network_arguments(
    network: XdfNetwork, instance: XdfInstance, scope: NetworkScope, doubt: Report
) -> NetworkArguments:
    """Return the arguments of a sub-network; their types are checked where the sub-network declares them."""
    declared = {d.name: d for d in network.declarations if d.kind == "Param"}
    values = _given(instance, scope, tuple(declared), doubt)
    for name, declaration in declared.items():
        if declaration.value is None and not any(p.name == name for p in instance.parameters):
            _report_missing(name, instance, doubt)
    places = {parameter.name: parameter.value.span for parameter in instance.parameters}
    return {name: (value, places[name]) for name, value in values.items() if value is not None}


def actor_arguments(
    declaration: ActorDecl, instance: XdfInstance, scope: NetworkScope, doubt: Report
) -> tuple[Arguments, bool]:
    """Return the arguments of an actor in the order of its parameters, and whether all of them fit.

    Parameters with a default that nothing overrides are left out.
    """
    declared = {parameter.name: parameter for parameter in declaration.parameters}
    values = _given(instance, scope, tuple(declared), doubt)
    arguments: list[tuple[str, Value]] = []
    fits = True
    for name, parameter in declared.items():
        if name not in values:
            if parameter.value is None:
                _report_missing(name, instance, doubt)
                arguments.append((name, _zero(parameter)))
            continue
        value = values[name]
        converted = None if value is None else _converted(value, parameter)
        if converted is not None:
            arguments.append((name, converted))
            continue
        fits = False
        if value is not None:
            place = next(p.value.span for p in instance.parameters if p.name == name)
            message = f"parameter '{name}' of actor '{declaration.name}' is declared {_declared_type(parameter)}"
            scope.gather.error(message, place, f"the value given is of type {kind_of(value)}")
    return tuple(arguments), fits


def _given(
    instance: XdfInstance, scope: NetworkScope, known: tuple[str, ...], doubt: Report
) -> dict[str, Value | None]:
    """Return the values of the known arguments of an instance (None: it has no value, reported) and doubt the rest."""
    values: dict[str, Value | None] = {}
    for parameter in instance.parameters:
        value = scope.evaluate(parameter.value)
        if parameter.name in known:
            values.setdefault(parameter.name, value)
        else:
            message = f"'{instance.class_name}' (instance '{instance.id}') has no parameter '{parameter.name}'"
            doubt(message, parameter.span, nearest_names(parameter.name, known))
    return values


def _report_missing(name: str, instance: XdfInstance, doubt: Report) -> None:
    doubt(f"instance '{instance.id}' has no argument for the parameter '{name}', 0 is taken", instance.span)


def _converted(value: Value, parameter: VarDecl) -> Value | None:
    """Return a value that fits the kind of a parameter; elements of lists are checked by the lowering."""
    if parameter.dimensions or isinstance(parameter.type, ListTypeExpr):
        return value if isinstance(value, tuple) else None
    return convert(value, _KINDS.get(parameter.type.name, INT32))


def _zero(parameter: VarDecl) -> Value:
    """Return the value of a parameter that nothing gives; an empty list stands for one of zeros."""
    if parameter.dimensions or isinstance(parameter.type, ListTypeExpr):
        return ()
    return zero_of(_KINDS.get(parameter.type.name, INT32))


def _declared_type(parameter: VarDecl) -> str:
    """Return the type of a parameter as a user knows it."""
    if parameter.dimensions or isinstance(parameter.type, ListTypeExpr):
        return "List"
    return parameter.type.name
