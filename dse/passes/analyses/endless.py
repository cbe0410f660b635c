"""Actions whose firing may go on without an end: by a ``while`` loop, a recursion, or in a native that somebody wrote.

All other loops of the IR have a count. Guards are left out: they stand for no firing.
"""

from collections.abc import Iterable

from dse.passes.analyses.uses import ActorFacts, reached_by
from dse.program.ir import Actor, Stmt, While
from dse.program.walk import sub_statements


def endless_actions(actor: Actor, facts: ActorFacts) -> frozenset[int]:
    """Return the numbers of the actions that may not end."""
    own = facts.of_routines
    routines = {r.name for r in actor.routines if _loops((*r.declarations, *r.body))}
    routines |= {r.name for r in actor.routines if r.name in reached_by(own[r.name].calls, own)}
    found = set()
    for k, (action, (_, body)) in enumerate(zip(actor.actions, facts.of_actions, strict=True)):
        called = reached_by(body.calls, own)
        native = facts.accesses[k].body_calls_native
        if native or called & routines or _loops((*action.declarations, *action.body)):
            found.add(k)
    return frozenset(found)


def _loops(statements: Iterable[Stmt]) -> bool:
    """Return whether statements hold a loop that has no count."""
    return any(isinstance(s, While) for s in sub_statements(statements))
