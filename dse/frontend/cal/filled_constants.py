"""Warnings of constants that are lists and are passed to a routine that fills them: an argument goes by reference."""

from collections.abc import Iterator

from dse.frontend.cal.names import Reporter
from dse.passes.analyses.uses import ActorFacts, gather_facts
from dse.program.ir import Actor, Index, Load, Variable
from dse.program.types import ListType


def warn_of_filled_constants(actor: Actor, reporter: Reporter) -> None:
    """Warn of each list that is a constant, or a parameter of the actor, where it is passed to what fills it.

    Natives, of which nobody knows what they fill, are left out.
    """
    constants = {v.name: v.source_name for v in actor.variables if _is_constant_list(v)}
    if not constants or not any(routine.parameters for routine in actor.routines):
        return
    facts = gather_facts(actor)
    passed = list(_passed(actor, facts))
    filled = _filled(facts, passed)
    for parameter, argument in passed:
        if argument.name in constants and parameter in filled:
            message = f"the constant '{constants[argument.name]}' is filled here, and is another one afterwards"
            reporter.warning(message, argument.span, "copy it to a variable, and pass that")


def _is_constant_list(variable: Variable) -> bool:
    return variable.kind == "constant" and isinstance(variable.type, ListType)


def _passed(actor: Actor, facts: ActorFacts) -> Iterator[tuple[str, Load | Index]]:
    """Yield the list parameters of routines, each with what is passed for it in a call."""
    of_routines = {routine.name: routine.parameters for routine in actor.routines}
    for routine, arguments in facts.calls:
        for parameter, argument in zip(of_routines.get(routine, ()), arguments, strict=False):
            if isinstance(parameter.type, ListType) and isinstance(argument, Load | Index):
                yield parameter.name, argument


def _filled(facts: ActorFacts, passed: list[tuple[str, Load | Index]]) -> set[str]:
    """Return the parameters that are assigned in their routines, or passed to what assigns them."""
    filled = {parameter for parameter, _ in passed if parameter in facts.assigned}
    before = -1
    while before != len(filled):
        before = len(filled)
        filled |= {argument.name for parameter, argument in passed if parameter in filled}
    return filled
