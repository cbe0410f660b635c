"""Lists that go by reference under another element type: which names may meet elements outside their own type.

A list argument is the caller's list (cal.md 2.2), and its element type need not be that of the parameter. What is
written through one name and read through another has to be converted by the read: every read and write wraps to the
type it goes through. Here it is found out which names that concerns, so that all others are read as they are.
"""

from collections.abc import Iterable, Mapping

from dse.passes.analyses.declared import owned_lists
from dse.passes.analyses.ranges import container, fits
from dse.passes.analyses.uses import ActorFacts
from dse.program.ir import Actor, Index, Load, Variable
from dse.program.types import FloatType, IntType, ListType, ScalarType, scalar_of


def loose_lists(actor: Actor, facts: ActorFacts) -> frozenset[str]:
    """Return the lists, parameters too, whose elements may lie outside the type of their name."""
    of_routines = {r.name: r.parameters for r in actor.routines}
    of_natives = {n.name: n.parameters for n in actor.natives}
    parameters = _scalars([*of_routines.values(), *of_natives.values()])
    if not parameters:
        return frozenset()
    owners = _scalars([owned_lists(actor)])
    types = owners | parameters
    writers = facts.assigned.union(owners, _scalars(of_natives.values()))
    loose: set[str] = set()
    for group in _groups(facts, of_routines | of_natives):
        held = {types[name] for name in group & writers}
        loose |= {name for name in group if not all(_holds(types[name], of) for of in held)}
    return frozenset(loose)


def _scalars(variables: Iterable[Iterable[Variable]]) -> dict[str, ScalarType]:
    """Return the element types of the lists among variables, by name."""
    return {v.name: scalar_of(v.type) for group in variables for v in group if isinstance(v.type, ListType)}


def _groups(facts: ActorFacts, callees: Mapping[str, tuple[Variable, ...]]) -> list[set[str]]:
    """Return the sets of names, of two or more, that may stand for one list."""
    group_of: dict[str, set[str]] = {}
    for routine, arguments in facts.calls:
        for parameter, argument in zip(callees[routine], arguments, strict=True):
            if isinstance(parameter.type, ListType) and isinstance(argument, Load | Index):
                joined = group_of.get(parameter.name, {parameter.name}) | group_of.get(argument.name, {argument.name})
                group_of |= dict.fromkeys(joined, joined)
    return [group for name, group in group_of.items() if name == min(group)]


def _holds(of: ScalarType, other: ScalarType) -> bool:
    """Return whether every value of the scalar type ``other`` is one of ``of``."""
    match of, other:
        case IntType(), IntType():
            return fits(container(other), container(of))
        case FloatType(bits=bits), FloatType(bits=others):
            return max(bits, 32) >= others
        case _:
            return of == other
