"""Sizes that list parameters are known to have, because all calls agree: so accesses need no test at run time.

Lists go by reference and a parameter's declared sizes need not be those of its argument (cal.md 2.2).
"""

from typing import TypeAlias

from dse.passes.analyses.declared import owned_lists
from dse.passes.analyses.uses import ActorFacts
from dse.program.ir import Actor, ConstList, Expr, Index, Load, Variable
from dse.program.types import ListType, dimensions_of

Sizes: TypeAlias = tuple[int, ...] | None
"""Sizes from the outermost dimension in; None where nothing is known for certain."""


def parameter_sizes(actor: Actor, facts: ActorFacts) -> dict[str, tuple[int, ...]]:
    """Return the sizes of the list parameters of routines that all calls agree to provide, by parameter name."""
    declared, arguments = _declared_sizes(actor), _list_arguments(actor, facts)
    known: dict[str, Sizes] = {}
    # A parameter may be passed on to another one: repeat until nothing changes; what is known only becomes less.
    while True:
        before = dict(known)
        for parameter, given in arguments.items():
            sizes = [_sizes(a, declared, known) for a in given]
            rank = len(dimensions_of(parameter.type))
            known[parameter.name] = _common([s for s in sizes if s != ()], rank)
        if known == before:
            return {name: s for name, s in known.items() if s}


def _list_arguments(actor: Actor, facts: ActorFacts) -> dict[Variable, list[Expr]]:
    """Return what the calls of an actor give to each list parameter of its routines."""
    parameters = {r.name: r.parameters for r in actor.routines}
    found: dict[Variable, list[Expr]] = {
        p: [] for of in parameters.values() for p in of if isinstance(p.type, ListType)
    }
    for routine, given in facts.calls:
        for parameter, argument in zip(parameters.get(routine, ()), given, strict=False):
            if parameter in found:
                found[parameter].append(argument)
    return found


def _sizes(argument: Expr, declared: dict[str, tuple[int, ...]], known: dict[str, Sizes]) -> Sizes:
    """Return the sizes of an argument; ``()`` for a parameter about which nothing was found out yet."""
    if isinstance(argument, ConstList):
        sizes = dimensions_of(argument.type)
        return sizes if _is_full(argument.values, sizes) else None
    if not isinstance(argument, Load | Index):
        return None
    used = len(argument.indices) if isinstance(argument, Index) else 0
    if argument.name in declared:
        return declared[argument.name][used:]
    of_parameter = known.get(argument.name, ())
    return of_parameter[used:] if of_parameter else of_parameter


def _common(sizes: list[Sizes], rank: int) -> Sizes:
    if not sizes:
        return ()
    exact = [s for s in sizes if s is not None and len(s) == rank]
    if len(exact) < len(sizes):
        return None
    return exact[0] if all(s == exact[0] for s in exact) else None


def _is_full(values: tuple[object, ...], sizes: tuple[int, ...]) -> bool:
    if len(values) != sizes[0]:
        return False
    return len(sizes) == 1 or all(isinstance(v, tuple) and _is_full(v, sizes[1:]) for v in values)


def _declared_sizes(actor: Actor) -> dict[str, tuple[int, ...]]:
    return {v.name: dimensions_of(v.type) for v in owned_lists(actor)}
