"""Lists in memory: their element types, their C++ types, and tables of constants.

Lists that go by reference under another element type share one storage: all lists that may be the same list have the
smallest element type that holds what any of them may hold.
"""

from collections.abc import Iterable, Iterator

from dse.base.source import Span
from dse.codegen.cpp.no_native_form import NoNativeForm
from dse.codegen.cpp.spelling import float_literal, integer, quoted
from dse.codegen.cpp.types import BOOL, CType, common_storage, storage_type
from dse.passes.analyses.declared import owned_lists
from dse.passes.analyses.uses import ActorFacts
from dse.passes.arithmetic import real, single, wrap
from dse.program.ir import Actor, Index, Load, Variable
from dse.program.types import FloatType, IntType, ListType, ScalarType, StringType, Type, dimensions_of, scalar_of

_LINE_WIDTH = 110


def element_types(actor: Actor, facts: ActorFacts) -> dict[str, CType]:
    """Return the C++ element type of each list of an actor, parameters too, by name.

    Raises NoNativeForm where lists of integers and of floats, or of other numbers of dimensions, are the same list.
    """
    variables, callees = {v.name: v for v in _lists(actor)}, _parameters(actor)
    groups = {name: {name} for name in variables}
    for routine, arguments in facts.calls:
        for parameter, argument in zip(callees[routine], arguments, strict=True):
            if isinstance(parameter.type, ListType) and isinstance(argument, Load | Index):
                _check_dimensions(parameter, argument)
                joined = groups[parameter.name] | groups[argument.name]
                groups |= dict.fromkeys(joined, joined)
    return {name: _common_type([variables[n] for n in sorted(groups[name])]) for name in variables}


def _parameters(actor: Actor) -> dict[str, tuple[Variable, ...]]:
    """Return the parameters of each routine and native."""
    return {r.name: r.parameters for r in actor.routines} | {n.name: n.parameters for n in actor.natives}


def _lists(actor: Actor) -> Iterator[Variable]:
    yield from owned_lists(actor)
    yield from (p for group in _parameters(actor).values() for p in group if isinstance(p.type, ListType))


def _check_dimensions(parameter: Variable, argument: Load | Index) -> None:
    if len(dimensions_of(parameter.type)) != len(dimensions_of(argument.type)):
        raise NoNativeForm(
            f"'{parameter.source_name}' is passed a list with another number of dimensions", span=argument.span
        )


def _common_type(group: list[Variable]) -> CType:
    found = common_storage(storage_type(scalar_of(v.type)) for v in group)
    if found is None:
        names = " and ".join(f"'{v.source_name}'" for v in group[:2])
        raise NoNativeForm(f"{names} are one list with elements of different kinds", span=group[0].span)
    return found


def list_text(element: CType, sizes: Iterable[int]) -> str:
    """Return the type of a list with elements of its own."""
    return f"List<{element.name}, {', '.join(map(str, sizes))}>"


def table_text(element: CType, sizes: Iterable[int]) -> str:
    """Return the type of a constant list."""
    return f"Table<{element.name}, {', '.join(map(str, sizes))}>"


def view_text(element: CType, rank: int, *, constant: bool) -> str:
    """Return the type of a list by reference."""
    return f"View<{'const ' if constant else ''}{element.name}, {rank}>"


def zero_text(of: CType) -> str:
    """Return the zero of a scalar type."""
    match of.family:
        case "bool":
            return "false"
        case "float":
            return "0.0"
        case "string":
            return '""'
        case "integer":
            return "0"


# Tables ---------------------------------------------------------------------------------------------------------------


def converted_table(values: tuple[object, ...], target: ListType) -> list[object]:
    """Return the scalars of a nested table stored as a list of type ``target``: cut, filled with zeros, converted."""
    found: list[object] = []
    size = target.size
    for value in (*values[:size], *((None,) * (size - len(values)))):
        if isinstance(target.element, ListType):
            found += converted_table(value if isinstance(value, tuple) else (), target.element)
        else:
            found.append(_stored(value, target.element))
    return found


def _stored(value: object, of: ScalarType | Type) -> object:
    match of:
        case IntType():
            return wrap(int(value), of.container_bits, of.signed) if isinstance(value, int | float) else 0
        case FloatType():
            number = real(value) if isinstance(value, int | float) else 0.0
            return number if of.bits == 64 else single(number)
        case StringType():
            return value if isinstance(value, str) else ""
        case _:
            return bool(value)


def flat(values: Iterable[object]) -> Iterator[object]:
    """Yield the scalars of a nested table, in order."""
    for value in values:
        if isinstance(value, tuple):
            yield from flat(value)
        else:
            yield value


def scalar_text(value: object, of: CType, span: Span) -> str:  # ways: one case for each kind of scalar
    """Return a constant scalar as a literal for a list with elements of type ``of``."""
    match value:
        case str():
            return quoted(value)
        case bool():
            return ("false", "true")[value] if of == BOOL else str(int(value))
        case int() if of.family == "float":
            return float_literal(real(value)).text
        case int() if of.bits == 64 and not of.signed:
            return f"{value}u"
        case int() if of.bits == 128 and not of.signed:
            return f"u128({integer(wrap(value, 128, signed=True)).text})"
        case int():
            return integer(value).text
        case float():
            return float_literal(value).text.replace("<double>", f"<{of.name}>")
        case _:
            raise NoNativeForm("a table holds what is no scalar", span=span)


def table_lines(element: CType, sizes: tuple[int, ...], name: str, values: list[object], span: Span) -> list[str]:
    """Return the lines of the definition of a constant list."""
    head = f"const {table_text(element, sizes)} {name}"
    if not any(values) and element.family != "string":
        return [f"{head}{{}};"]
    lines, line = [], "  "
    for value in values:
        text = f"{scalar_text(value, element, span)}, "
        if len(line) + len(text) > _LINE_WIDTH:
            lines.append(line.rstrip())
            line = "  "
        line += text
    lines.append(line.rstrip().rstrip(","))
    if len(lines) == 1 and len(head) + len(lines[0]) < _LINE_WIDTH:
        return [f"{head}{{{{{lines[0].strip()}}}}};"]
    return [f"{head}{{{{", *lines, "}};"]
