"""Warnings of constants that are lists and are passed to a routine that fills them: an argument goes by reference."""

from collections.abc import Iterator

from dse.frontend.cal.names import Reporter
from dse.passes.analyses.uses import ActorFacts, filled_parameters, gather_facts
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
    filled = filled_parameters(actor, facts)
    for argument, parameter in _passed(facts):
        if parameter in filled and argument.name in constants:
            message = f"the constant '{constants[argument.name]}' is filled here, and is another one afterwards"
            reporter.warning(message, argument.span, "copy it to a variable, and pass that")


def _passed(facts: ActorFacts) -> Iterator[tuple[Load | Index, tuple[str, int]]]:
    """Yield what is passed by a name in each call, with (routine, position)."""
    for routine, arguments in facts.calls:
        for position, argument in enumerate(arguments):
            if isinstance(argument, Load | Index):
                yield argument, (routine, position)


def _is_constant_list(variable: Variable) -> bool:
    return variable.kind == "constant" and isinstance(variable.type, ListType)
