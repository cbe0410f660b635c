"""Whether threads of a kernel race: they are executed at a small size, where every access of every thread is seen."""

from dse.base.errors import ModelNotApplicable
from dse.gpu.kernel.plan import plan_of
from dse.gpu.trace.execute import execute
from dse.gpu.trace.features import races
from dse.model.kernel import Kernel, TraceMachine
from dse.passes.rewrites.host_loops import sum_term
from dse.program.ir import Assign, Expr, Index
from dse.program.walk import expressions_of, sub_expressions, sub_statements

_BLOCKS = {1: (64, 1, 1), 2: (16, 16, 1), 3: (16, 4, 4)}
_BATCHES, _STEPS = 4, 100_000


def where_threads_meet(kernel: Kernel) -> str:
    """Return where threads of a kernel at a small size race, in words; empty if they do not, or cannot be executed.

    Arrays that are only summed into, element by element, are left out: atomic operations do that.
    """
    try:
        plan = plan_of(kernel)
        result = execute(
            plan, _BLOCKS[len(kernel.parallel)], TraceMachine(), batches=_BATCHES, max_steps=_STEPS, compiled=False
        )
    except ModelNotApplicable:
        return ""  # the prediction itself says why
    summed = summed_arrays(kernel)
    return next((race.text for race in races(plan, result) if race.array not in summed), "")


def summed_arrays(kernel: Kernel) -> frozenset[str]:
    """Return the arrays, as the user calls them, that are touched in ``x[i] = x[i] + term`` alone, i from memory."""
    return frozenset(array.source_name for array in kernel.arrays if _is_summed(kernel, array.name))


def _is_summed(kernel: Kernel, name: str) -> bool:
    statements = list(sub_statements(kernel.body))
    writes = [s for s in statements if isinstance(s, Assign) and s.name == name]
    read = [element.name for s in statements for e in expressions_of(s) for element in _elements(e)]
    return bool(writes) and read.count(name) == len(writes) and all(map(_scatters, writes))


def _scatters(write: Assign) -> bool:
    """Whether an assignment adds to an element at a place that data decide."""
    return sum_term(write) is not None and any(map(_elements, write.indices))


def _elements(expression: Expr) -> list[Index]:
    """Return the elements of arrays that an expression reads."""
    return [part for part in sub_expressions(expression) if isinstance(part, Index)]
