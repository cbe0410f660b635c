"""Loads that no compiler makes: of elements that the thread has just read or written, and still has in a register.

``a[i] -= m[i]; a[i] /= s[i];`` reads a[i] once; so does ``(a[i] - m) * (a[i] - m)``. That is the elimination of common
subexpressions and of redundant loads (Muchnick, Advanced Compiler Design and Implementation, 1997, sections 13.1 and
13.3). Arrays of C may overlap: a store ends what is known of all elements but its own.
"""

from collections.abc import Iterable
from dataclasses import replace

from dse.gpu.kernel.instructions import expression_key
from dse.gpu.kernel.plan import Access, Barrier, Branch, Loop, Node, Store, WhileLoop
from dse.gpu.kernel.steering import names_in
from dse.program.ir import Expr

_Held = dict[tuple[object, ...], tuple[Expr, ...]]
"""Elements in registers, by array and subscripts, with their subscripts."""


def without_held_loads(nodes: Iterable[Node]) -> tuple[Node, ...]:
    """Return nodes without loads of elements that the thread holds."""
    return _block(nodes, {})[0]


def _block(  # ways: one case a node
    nodes: Iterable[Node], held: _Held
) -> tuple[tuple[Node, ...], _Held]:
    """Return the nodes that are left, and what is held behind them. A round of a loop begins with nothing."""
    left: list[Node] = []
    for node in nodes:
        match node:
            case Access():
                found, held = _access(node, held)
                left += found
            case Store(indices=()):
                left.append(node)
                held = {key: at for key, at in held.items() if node.name not in names_in(at)}
            case Branch():
                then, first = _block(node.then, held)
                otherwise, second = _block(node.otherwise, held)
                left.append(replace(node, then=then, otherwise=otherwise))
                held = {key: at for key, at in first.items() if key in second}
            case Loop():
                left.append(replace(node, body=_block(node.body, {})[0]))
                held = {}
            case WhileLoop():
                test, known = _block(node.test, {})
                left.append(replace(node, test=test, body=_block(node.body, known)[0]))
                held = {}
            case Barrier():
                left.append(node)
                held = {}
            case _:
                left.append(node)
    return tuple(left), held


def _access(access: Access, held: _Held) -> tuple[list[Node], _Held]:
    """Return what is left of an access, and what is held behind it."""
    if access.array.storage != "global" or access.array.private:
        return [access], held
    key = (access.array.name, *map(expression_key, access.indices))
    if access.is_store:
        return [access], {key: access.indices}
    return ([] if key in held and access.site >= 0 else [access]), {**held, key: access.indices}
