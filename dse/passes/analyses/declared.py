"""The statements of an actor, and the variables that it declares, wherever they stand."""

from collections.abc import Iterator

from dse.program.ir import Actor, Declare, Stmt, Variable
from dse.program.types import ListType
from dse.program.walk import sub_statements


def statements_of(actor: Actor) -> Iterator[Stmt]:
    """Yield every statement of actions and routines."""
    for action in actor.actions:
        yield from sub_statements((*action.declarations, *action.body))
    for routine in actor.routines:
        yield from sub_statements((*routine.declarations, *routine.body))


def owned_lists(actor: Actor) -> Iterator[Variable]:
    """Yield every list that is no parameter: of the actor, tokens, locals (variables of loops are no lists)."""
    yield from (v for v in actor.variables if isinstance(v.type, ListType))
    for action in actor.actions:
        for pattern in action.inputs:
            yield from (v for v in pattern.variables if isinstance(v.type, ListType))
    for stmt in statements_of(actor):
        if isinstance(stmt, Declare) and isinstance(stmt.variable.type, ListType):
            yield stmt.variable
