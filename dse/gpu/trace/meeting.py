"""Whether threads of a kernel race: they are executed at a small size, where every access of every thread is seen."""

from dse.base.errors import ModelNotApplicable
from dse.gpu.kernel.plan import plan_of
from dse.gpu.trace.execute import execute
from dse.gpu.trace.features import races
from dse.model.kernel import Kernel, TraceMachine
from dse.program.ir import Assign, Index
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
    found = set()
    for array in kernel.arrays:
        writes = [s for s in sub_statements(kernel.body) if isinstance(s, Assign) and s.name == array.name]
        reads = sum(
            isinstance(p, Index) and p.name == array.name
            for s in sub_statements(kernel.body)
            for e in expressions_of(s)
            for p in sub_expressions(e)
        )
        scattered = all(any(isinstance(p, Index) for i in w.indices for p in sub_expressions(i)) for w in writes)
        if writes and reads == len(writes) and scattered:
            found.add(array.source_name)
    return frozenset(found)
