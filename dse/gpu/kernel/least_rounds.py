"""How many rounds of loops a thread makes at least, by the bounds that are known before anything is executed."""

from collections.abc import Iterable, Mapping

from dse.gpu.kernel.plan import Branch, Loop, Node, Plan
from dse.gpu.kernel.steering import integer_constants
from dse.passes.analyses.affine import affine
from dse.program.ir import Expr


def least_rounds(plan: Plan) -> int:
    """Return a bound on the rounds of all loops that a thread with work makes, unless an access ends it before.

    A loop counts where its bounds are constants or parameters of the kernel; what data decide counts nothing.
    """
    return _rounds(plan.nodes, integer_constants(plan))


def _rounds(nodes: Iterable[Node], known: Mapping[str, int]) -> int:
    found = 0
    for node in nodes:
        match node:
            case Loop():
                low, high = _value(node.low, known), _value(node.high, known)
                if low is not None and high is not None:
                    found += len(range(low, high + (1 if node.step > 0 else -1), node.step)) * (
                        1 + _rounds(node.body, known)
                    )
            case Branch():
                found += min(_rounds(node.then, known), _rounds(node.otherwise, known))
            case _:
                continue
    return found


def _value(expression: Expr, known: Mapping[str, int]) -> int | None:
    """Return the value of a bound, None where it is not known."""
    form = affine(expression)
    if form is None or any(name not in known for name, _ in form.terms):
        return None
    return form.constant + sum(factor * known[name] for name, factor in form.terms)
