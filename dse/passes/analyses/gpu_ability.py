"""Whether an actor can run on a GPU, and if not, why not, with the place.

What only a processor has: the world outside (natives, printing), texts, tokens that are no words of a machine, a stack
that grows while the program runs (a routine that calls itself) and more memory for one thread than a GPU gives.
Everything else of the language has a form there. The analysis errs on the side of the processor: what is never called
counts too.
"""

from collections.abc import Iterator
from dataclasses import dataclass

from dse.base.source import Span
from dse.passes.analyses.declared import statements_of
from dse.passes.analyses.uses import ActorFacts, reached_by
from dse.program.ir import (
    Actor,
    Binary,
    Call,
    Cast,
    Conditional,
    Const,
    ConstList,
    Declare,
    Expr,
    Generator,
    ListExpr,
    Print,
    Variable,
)
from dse.program.types import IntType, ListType, StringType, Type, dimensions_of, scalar_of
from dse.program.walk import expressions_of, nodes_of, operands_of

MOST_LOCAL_BYTES = 512 << 10
"""Local memory of one thread, at most (CUDA C++ Programming Guide, technical specifications of all cards)."""
_WORD_BYTES = 8
_PAIR_BYTES = 16
"""Of an integer of 65 to 128 bits."""
_WIDE_WORD_BYTES = 600
"""Of an integer that no type of the machine holds: ``Big`` with ``FixedList`` of ``dse/native/runtime/dse``."""
_MOST_TOKEN_BITS = 128
_MAKERS = Binary | Call | Conditional | Generator | ListExpr
"""What makes a list where it stands; a list of constants is a table of the program."""


@dataclass(frozen=True, slots=True, kw_only=True)
class HostReason:
    """Why an actor runs on a processor only: a part of a sentence, "it prints", and the place."""

    text: str
    span: Span


def host_reasons(actor: Actor, facts: ActorFacts) -> tuple[HostReason, ...]:
    """Return what keeps an actor from a GPU, the first of each kind; empty where it can run there."""
    kinds = (
        _natives(actor, facts),
        _prints(actor),
        _recursion(actor, facts),
        _texts(actor),
        _wide_tokens(actor),
        _memory(actor),
    )
    return tuple(first for kind in kinds if (first := next(kind, None)) is not None)


def _natives(actor: Actor, facts: ActorFacts) -> Iterator[HostReason]:
    called = {name for name, _ in facts.calls}
    for native in actor.natives:
        if native.name in called:
            yield HostReason(text=f"it calls the native '{native.source_name}'", span=native.span)


def _prints(actor: Actor) -> Iterator[HostReason]:
    for stmt in statements_of(actor):
        if isinstance(stmt, Print):
            yield HostReason(text="it prints", span=stmt.span)


def _recursion(actor: Actor, facts: ActorFacts) -> Iterator[HostReason]:
    own = facts.of_routines
    for routine in actor.routines:
        if routine.name in reached_by(own[routine.name].calls, own):
            yield HostReason(text=f"'{routine.source_name}' calls itself", span=routine.span)


def _texts(actor: Actor) -> Iterator[HostReason]:
    for port in (*actor.inputs, *actor.outputs):
        if _is_text(port.type):
            yield HostReason(text=f"the tokens of '{port.name}' are texts", span=port.span)
    for variable in _variables(actor):
        if _is_text(variable.type):
            yield HostReason(text=f"'{variable.source_name}' is a text", span=variable.span)
    for node in nodes_of(actor):
        if isinstance(node, Const | ConstList | Cast | Call) and _is_text(node.type):
            yield HostReason(text="it works with texts", span=node.span)


def _wide_tokens(actor: Actor) -> Iterator[HostReason]:
    for port in (*actor.inputs, *actor.outputs):
        scalar = scalar_of(port.type)
        if isinstance(scalar, IntType) and scalar.container_bits > _MOST_TOKEN_BITS:
            bits = f"more than {_MOST_TOKEN_BITS} bits"
            yield HostReason(text=f"the tokens of '{port.name}' have {bits}", span=port.span)


def _variables(actor: Actor) -> Iterator[Variable]:
    yield from actor.variables
    for routine in actor.routines:
        yield from routine.parameters
    for stmt in statements_of(actor):
        if isinstance(stmt, Declare):
            yield stmt.variable


def _is_text(of: Type) -> bool:
    return isinstance(scalar_of(of), StringType)


def _memory(actor: Actor) -> Iterator[HostReason]:
    needed = local_bytes(actor)
    if needed > MOST_LOCAL_BYTES:
        limit = f"{MOST_LOCAL_BYTES >> 10} KiB"
        yield HostReason(text=f"its firings hold lists of {needed:,} bytes, and a thread has {limit}", span=actor.span)


def local_bytes(actor: Actor) -> int:
    """Return the bytes of all lists that the actions and routines of an actor declare or make, 8 for a usual element.

    An upper bound of what is alive at once, but for what a compiler adds.
    """
    tokens = (v for a in actor.actions for p in a.inputs for v in p.variables)
    declared = (stmt.variable for stmt in statements_of(actor) if isinstance(stmt, Declare))
    return sum(_list_bytes(v.type) for v in (*tokens, *declared)) + sum(_made_bytes(*made) for made in _made_of(actor))


def _made_of(actor: Actor) -> Iterator[tuple[Expr, bool]]:
    """Yield every expression of a firing that stands in no other, and whether a variable takes it as it is made."""
    for action in actor.actions:
        yield from ((e, False) for e in (*action.guards, *(v for o in action.outputs for v in o.values)))
    yield from ((r.result, False) for r in actor.routines if r.result is not None)
    for stmt in statements_of(actor):
        yield from ((e, isinstance(stmt, Declare)) for e in expressions_of(stmt))


def _made_bytes(expr: Expr, taken: bool) -> int:
    """Return the bytes of the lists that an expression makes. ``taken``: but for the outermost, which has its place.

    Lists that are joined, and those of which one is chosen, are made within the longer one. What a call returns is not.
    """
    found, pending = 0, [(expr, taken)]
    while pending:
        part, placed = pending.pop()
        if isinstance(part, Call) or (isinstance(part, _MAKERS) and not placed):
            found += _list_bytes(part.type)
        joins = isinstance(part, Binary | Conditional) and isinstance(part.type, ListType)
        pending += [(operand, joins) for operand in operands_of(part)]
    return found


def _list_bytes(of: Type) -> int:
    if not isinstance(of, ListType):
        return 0
    size = _element_bytes(scalar_of(of))
    for dimension in dimensions_of(of):
        size *= dimension
    return size


def _element_bytes(scalar: Type) -> int:
    if not isinstance(scalar, IntType) or scalar.container_bits <= 64:
        return _WORD_BYTES
    return _PAIR_BYTES if scalar.container_bits <= _MOST_TOKEN_BITS else _WIDE_WORD_BYTES
