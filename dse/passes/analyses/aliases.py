"""Lists that go by reference under another element type: which names may meet elements outside their own type.

A list argument is the caller's list (cal.md 2.2), and its element type need not be that of the parameter. What is
written through one name and read through another has to be converted by the read: every read and write wraps to the
type it goes through. Here it is found out which names that concerns, so that all others are read as they are.
"""

from collections.abc import Iterable

from dse.passes.analyses.calls import calls_of
from dse.passes.analyses.ranges import container, fits
from dse.passes.analyses.uses import ActorFacts
from dse.program.ir import Actor, Index, Load, Variable
from dse.program.types import FloatType, IntType, ListType, Type, scalar_of


def loose_lists(actor: Actor, facts: ActorFacts, variables: Iterable[Variable]) -> frozenset[str]:
    """Return the lists, parameters too, whose elements may lie outside the type of their name.

    ``variables``: every variable of the actor that is no parameter.
    """
    types = {v.name: scalar_of(v.type) for v in variables if isinstance(v.type, ListType)}
    owners = frozenset(types)
    callees = {r.name: r.parameters for r in actor.routines} | {n.name: n.parameters for n in actor.natives}
    parameters = [p for given in callees.values() for p in given if isinstance(p.type, ListType)]
    types |= {p.name: scalar_of(p.type) for p in parameters}
    by_native = frozenset(p.name for native in actor.natives for p in native.parameters)
    groups = _groups(actor, callees)
    loose: set[str] = set()
    for group in groups:
        held = {types[n] for n in group if n in owners or n in facts.assigned or n in by_native}
        loose |= {n for n in group if any(not _holds(types[n], of) for of in held)}
    return frozenset(loose)


def _groups(actor: Actor, callees: dict[str, tuple[Variable, ...]]) -> list[set[str]]:
    """Return the sets of names, of two or more, that may stand for one list."""
    group_of: dict[str, set[str]] = {}
    for routine, arguments in calls_of(actor):
        for parameter, argument in zip(callees[routine], arguments, strict=True):
            if isinstance(parameter.type, ListType) and isinstance(argument, Load | Index):
                joined = group_of.get(parameter.name, {parameter.name}) | group_of.get(argument.name, {argument.name})
                group_of |= dict.fromkeys(joined, joined)
    return [group for name, group in group_of.items() if name == min(group)]


def _holds(of: Type, other: Type) -> bool:
    """Return whether every value of the scalar type ``other`` is one of ``of``."""
    match of, other:
        case IntType(), IntType():
            return fits(container(other), container(of))
        case FloatType(bits=bits), FloatType(bits=others):
            return max(bits, 32) >= others
        case _:
            return of == other
