"""How often data let branches be taken and loops run: a few warps from all over the grid execute what decides it.

The memory trace follows the first blocks of a small grid, which need not be like the others: the first rows of a
Mandelbrot set leave their loop at once. So these counts come from warps that are spread over the grid, at the work size
where that ends soon, else at the trace size. Nothing but what steers is executed: no access is issued.
"""

from collections.abc import Iterable, Iterator
from dataclasses import replace

import numpy as np

from dse.base.errors import ModelNotApplicable
from dse.gpu.kernel.counting import sampled_warps
from dse.gpu.kernel.plan import Access, Barrier, Branch, Loop, Node, Operations, Plan, WhileLoop
from dse.gpu.kernel.steering import needed_names
from dse.gpu.trace.execute import Slots, execute_briefly
from dse.model.kernel import TraceMachine

SPREAD_WARPS = 64


def control_counts(
    work: Plan, trace: Plan, block: tuple[int, int, int], machine: TraceMachine, fallback: np.ndarray
) -> np.ndarray:
    """Return the branch and loop counts of spread warps, shape (controls, 3) as in ``warps.Trace``.

    ``fallback``: the counts of the memory trace, for a kernel that cannot be followed so.
    """
    for plan in (steering_plan(work), steering_plan(trace)):
        try:
            slots = _spread_slots(plan, block, machine)
            return execute_briefly(plan, block, machine, slots=slots).control
        except ModelNotApplicable:
            continue  # too long, or too large
    return fallback


def steering_plan(plan: Plan) -> Plan:
    """Return a plan of which only what decides branches and loops is left, and the arrays that this reads."""
    bare = replace(plan, nodes=tuple(_steering(plan.nodes)), accesses=())
    needed = needed_names(bare)
    arrays = tuple(a for a in plan.kernel.arrays if a.name in needed)
    return replace(bare, kernel=replace(plan.kernel, arrays=arrays))


def _steering(nodes: Iterable[Node]) -> Iterator[Node]:
    for node in nodes:
        match node:
            case Access() | Operations() | Barrier():
                continue
            case Branch():
                then, otherwise = tuple(_steering(node.then)), tuple(_steering(node.otherwise))
                yield replace(node, then=then, otherwise=otherwise)
            case Loop():
                yield replace(node, body=tuple(_steering(node.body)))
            case WhileLoop():
                yield replace(node, test=tuple(_steering(node.test)), body=tuple(_steering(node.body)))
            case _:
                yield node


def _spread_slots(plan: Plan, block: tuple[int, int, int], machine: TraceMachine) -> Slots:
    """Return the coordinates and the activity of the threads of warps from all over the grid."""
    most = min(SPREAD_WARPS, max(1, machine.batch_threads // machine.warp_lanes))
    sample = sampled_warps(plan.kernel, block, machine.warp_lanes, most)
    rows = [np.broadcast_to(sample.values[p.variable.name], sample.active.shape).ravel() for p in plan.kernel.parallel]
    coordinates = np.array(rows or [np.zeros(sample.active.size)], dtype=np.int64)
    return coordinates, sample.active.ravel()
