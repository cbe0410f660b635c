"""The statements and calls of an actor, wherever they stand."""

from collections.abc import Iterator

from dse.program.ir import Actor, Call, CallStmt, Declare, Expr, ForEach, Generator, Stmt, Variable
from dse.program.walk import expressions_of, sub_expressions, sub_statements


def statements_of(actor: Actor) -> Iterator[Stmt]:
    """Yield every statement of actions and routines."""
    for action in actor.actions:
        yield from sub_statements((*action.declarations, *action.body))
    for routine in actor.routines:
        yield from sub_statements((*routine.declarations, *routine.body))


def roots_of(actor: Actor) -> Iterator[Expr]:
    """Yield every expression that is no part of another one."""
    yield from (r.result for r in actor.routines if r.result is not None)
    yield from (v.initial for v in actor.variables if v.initial is not None)
    for action in actor.actions:
        yield from action.guards
        for pattern in action.outputs:
            yield from pattern.values
    for stmt in statements_of(actor):
        yield from expressions_of(stmt)


def calls_of(actor: Actor) -> Iterator[tuple[str, tuple[Expr, ...]]]:
    """Yield (routine, arguments) of every call."""
    for stmt in statements_of(actor):
        if isinstance(stmt, CallStmt):
            yield stmt.routine, stmt.arguments
    for root in roots_of(actor):
        for expr in sub_expressions(root):
            if isinstance(expr, Call):
                yield expr.routine, expr.arguments


def owned_variables(actor: Actor) -> Iterator[Variable]:
    """Yield every variable that is no parameter: of the actor, tokens, locals, loops and generators."""
    yield from actor.variables
    for action in actor.actions:
        for pattern in action.inputs:
            yield from pattern.variables
    for stmt in statements_of(actor):
        if isinstance(stmt, Declare | ForEach):
            yield stmt.variable
    for root in roots_of(actor):
        for expr in sub_expressions(root):
            if isinstance(expr, Generator):
                yield from (loop.variable for loop in expr.loops)
