"""The algorithmic critical path: how long a program takes where nothing but its own dependencies makes firings wait.

There is a core for every firing, room in every FIFO, and no cost but that of the computation on one kind of unit. What
is left is the program's own: tokens, the FSM, ports, state variables and guards (``dse.analyse.dependencies``). With
``in_order`` the firings of an actor follow each other too, as on every core; no mapping is faster than that path.
"""

from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from dse.analyse.dependencies import derive_dependencies
from dse.base.errors import FormatError
from dse.estimate.compiled import dependency_kernel as kernel
from dse.estimate.problem.failures import raise_gathered
from dse.estimate.problem.prices import UNIT_KINDS
from dse.estimate.problem.tables import ProblemTables
from dse.model.dependencies import Dependencies
from dse.model.program_path import IN_ORDER, AlgorithmicPath

_Ints = NDArray[np.int64]


def algorithmic_path(
    tables: ProblemTables, dependencies: Dependencies | None = None, *, in_order: bool = False
) -> AlgorithmicPath:
    """Return the critical path of the trace of a problem; ``dependencies``: those of it, where they are at hand.

    Raises:
        FormatError: a compute weight is missing (all are named), or the trace is that of no run.
    """
    trace = tables.problem.trace
    found = dependencies or derive_dependencies(trace)
    kind, ticks = _firing_ticks(tables)
    base, n = found.first_firing, len(ticks)
    first = np.zeros(n + 1, dtype=np.int64)
    np.cumsum(np.bincount(found.target, minlength=n), out=first[1:])
    start, through = np.full(n, -1, dtype=np.int64), np.full(n, kernel.NOTHING, dtype=np.int64)
    order, slack = np.empty(n, dtype=np.int64), np.empty(n, dtype=np.int64)
    made = kernel.earliest(base, first, found.source, ticks, in_order, start, through, order)
    if made < n:
        raise FormatError(
            f"{n - made} firings of the trace wait for each other", expected="record or import the trace again"
        )
    length = int((start + ticks).max(initial=0))
    has_before = np.ones(n, dtype=np.int64)
    has_before[base[:-1][np.diff(base) > 0]] = 0
    kernel.latest(first, found.source, ticks, in_order, has_before, start, order, length, slack)
    path = _followed(found, start + ticks, through)
    via = through[path]
    known = via >= 0
    return AlgorithmicPath(
        length=length,
        tick_unit=tables.tick_unit,
        work=int(ticks.sum()),
        accesses=bool(trace.accesses),
        unit_kind=kind,
        actor=np.searchsorted(base, path, side="right") - 1,
        firing=path - base[np.searchsorted(base, path, side="right") - 1],
        start=start[path],
        end=(start + ticks)[path],
        kind=np.where(known, _at(found.kind, via), np.where(via == kernel.IN_ORDER, IN_ORDER, -1)),
        label=np.where(known, _at(found.label, via), -1),
        names=found.names,
        slack=tuple(slack[begin:end] for begin, end in pairwise(base.tolist())),
    )


def _at(values: NDArray[np.uint8] | NDArray[np.int32], index: _Ints) -> _Ints:
    """Return values by index as int64, anything where the index is negative."""
    return np.append(values, 0).astype(np.int64)[np.maximum(index, -1)]


def _followed(dependencies: Dependencies, end: _Ints, through: _Ints) -> _Ints:
    """Return the firings of the path that ends last, first to last."""
    path: list[int] = []
    firing = int(np.argmax(end)) if len(end) else -1
    while firing >= 0:
        path.append(firing)
        via = int(through[firing])
        firing = firing - 1 if via == kernel.IN_ORDER else int(dependencies.source[via]) if via >= 0 else -1
    return np.array(path[::-1], dtype=np.int64)


def _firing_ticks(tables: ProblemTables) -> tuple[str, _Ints]:
    """Return the kind of unit that firings are weighed for, CPU where there is one, and the ticks of each firing."""
    problem = tables.problem
    kinds = [unit.kind for unit in problem.platform.units]
    kind = "cpu" if "cpu" in kinds else kinds[0]
    compute = tables.compute[UNIT_KINDS.index(kind)]
    missing = np.flatnonzero((compute < 0) & (tables.count > 0))
    if len(missing) and problem.missing_weights != "zero":
        _raise_missing(tables, kind, missing)
    compute = np.maximum(compute, 0)
    pairs = zip(tables.action_base[:-1].tolist(), problem.trace.firings, strict=True)
    ticks = np.concatenate([*(compute[first + ids.astype(np.int64)] for first, ids in pairs), np.zeros(0, np.int64)])
    if kind == "cpu" and len(tables.deviations):
        ticks = np.maximum(ticks + tables.deviations, 0)
    return kind, ticks


def _raise_missing(tables: ProblemTables, kind: str, missing: _Ints) -> None:
    """Raise ``FormatError`` with every compute weight that is missing."""
    wrong = []
    for x in missing.tolist():
        a = int(np.searchsorted(tables.action_base, x, side="right")) - 1
        actor = tables.topology.actors[a]
        action = actor.actions[x - int(tables.action_base[a])].name
        wrong.append(f"no compute weight of action {actor.name}.{action} on {kind}")
    raise_gathered(FormatError, wrong, expected="add the weights, or choose --missing-weights zero or nominal")
