"""What decides the execution of a thread: the values that subscripts, bounds and conditions are computed from."""

from collections.abc import Callable, Iterable
from typing import TypeAlias

from dse.gpu.kernel.plan import Access, Branch, Loop, Node, Plan, Store, WhileLoop, sub_nodes
from dse.model.kernel import Kernel
from dse.program.ir import Expr, Index, Load
from dse.program.types import IntType
from dse.program.walk import sub_expressions

Reads: TypeAlias = Callable[[Iterable[Expr]], set[str]]
"""Which names expressions read: ``names_in`` or ``scalars_in``."""


def needed_names(plan: Plan) -> frozenset[str]:
    """Return the scalars and arrays whose values decide what is executed or which elements are touched."""
    steering = (e for node in sub_nodes(plan.nodes) for e in _steering(node))
    return frozenset(with_sources(names_in(steering), plan.nodes))


def with_sources(names: set[str], nodes: Iterable[Node], reads: Reads | None = None) -> set[str]:
    """Return names and all those that their values are computed from in some nodes."""
    stores = [node for node in sub_nodes(nodes) if isinstance(node, Store)]
    reads, found, before = reads or names_in, set(names), -1
    while before != len(found):
        before = len(found)
        for store in stores:
            if store.name in found:
                found |= reads((*store.indices, *(() if store.value is None else (store.value,))))
    return found


def integer_values(kernel: Kernel) -> dict[str, int]:
    """Return the integer parameters of a kernel with their values."""
    return {
        scalar.variable.name: scalar.value
        for scalar in kernel.scalars
        if isinstance(scalar.value, int) and isinstance(scalar.variable.type, IntType)
    }


def integer_constants(plan: Plan) -> dict[str, int]:
    """Return the integer parameters of a kernel that no thread changes, with their values."""
    assigned = {node.name for node in sub_nodes(plan.nodes) if isinstance(node, Store)}
    return {name: value for name, value in integer_values(plan.kernel).items() if name not in assigned}


def names_in(expressions: Iterable[Expr]) -> set[str]:
    """Return the scalars and arrays that expressions read."""
    return {p.name for e in expressions for p in sub_expressions(e) if isinstance(p, Load | Index)}


def scalars_in(expressions: Iterable[Expr]) -> set[str]:
    """Return the scalars that expressions read."""
    return {p.name for e in expressions for p in sub_expressions(e) if isinstance(p, Load)}


def _steering(node: Node) -> tuple[Expr, ...]:
    """Return the expressions of a node that decide what is executed and which elements are touched."""
    match node:
        case Access():
            return node.indices
        case Branch() | WhileLoop():
            return (node.condition,)
        case Loop():
            return (node.low, node.high)
        case _:
            return ()
