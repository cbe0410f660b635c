"""From a kernel at two sizes to the features that cost models use.

The trace size gives ``d_M``, hits, misses and classes of access; the work size gives ``n_M``, instructions and the grid
(gpu-models page, section cgpredict, "two sizes").
"""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from functools import partial

import numpy as np

from dse.base.errors import ModelNotApplicable, OptionError
from dse.gpu.kernel.counting import WorkCounts, count_work
from dse.gpu.kernel.instructions import OperationCount, expression_key
from dse.gpu.kernel.local_memory import spilled_arrays, with_local_memory
from dse.gpu.kernel.plan import Access, Operations, Plan, plan_of, sub_nodes
from dse.gpu.kernel.steering import needed_names
from dse.gpu.trace.control import control_counts
from dse.gpu.trace.execute import MAX_STEPS, TraceResult, execute, execute_briefly, execute_quickly
from dse.gpu.trace.warp_work import warp_work
from dse.model.kernel import (
    ACCESS_CLASSES,
    AccessClass,
    ArrayInfo,
    ByClass,
    Dependence,
    InstructionMix,
    Kernel,
    KernelFeatures,
    MemoryInstruction,
    SharedMemory,
    TraceMachine,
)
from dse.program.ir import Binary, Cast, Const, Declare, ForEach, Index, Load, Unary
from dse.program.walk import sub_statements

BLOCKS = {0: (1, 1, 1), 1: (256, 1, 1), 2: (32, 32, 1), 3: (32, 8, 4)}
"""Default block by the dimensions of the grid (Table 4, its text has them swapped; 3 is an extension)."""

DEFAULT_ELEMENT_BYTES = 4


def default_block(kernel: Kernel) -> tuple[int, int, int]:
    """Return the block shape for a kernel's grid."""
    return BLOCKS[len(kernel.parallel)]


def kernel_features(
    work: Kernel,
    trace: Kernel,
    machine: TraceMachine,
    *,
    block: tuple[int, int, int] | None = None,
    promote_accumulators: bool = True,
    batches: int = 2,
    max_steps: int = MAX_STEPS,
    compiled: bool | None = None,
    briefly: bool = False,
    with_warp_work: bool = False,
) -> KernelFeatures:
    """Return the features of a kernel given at its work size and at its trace size (the same one for no extrapolation).

    ``compiled`` as in ``execute``, None: what is quicker; ``briefly``: with ``execute_briefly``.
    ``with_warp_work``: also the lines and sectors of each access at the work size, which only ``hierarchy`` reads.

    Raises ModelNotApplicable where the trace cannot be executed or the two sizes do not belong together.
    """
    shape = _checked_block(work, block)
    spilled = spilled_arrays(work)
    work, trace = with_local_memory(work, spilled), with_local_memory(trace, spilled)
    plan, small = _plans(work, trace, promote_accumulators)
    if briefly:
        result = execute_briefly(small, shape, machine, batches=batches)
    else:
        how = execute_quickly if compiled is None else partial(execute, compiled=compiled)
        result = how(small, shape, machine, batches=batches, max_steps=max_steps)
    control = result.control
    counts = count_work(plan, shape, control, lanes=machine.warp_lanes)
    if counts.from_data:
        control = control_counts(plan, small, shape, machine, control)
        counts = count_work(plan, shape, control, lanes=machine.warp_lanes)
    charged = _Charged.of(plan, result, counts)
    return replace(
        _of_source(work, shape),
        trace_extents=tuple(p.extent for p in trace.parallel),
        trace_sizes=trace.sizes,
        trace_batches=result.batches,
        dram=charged.dram,
        per_warp=charged.per_warp,
        mix=_mix(plan, counts),
        instructions=tuple(_instruction(a, result, counts, source_names(work)) for a in plan.accesses),
        transactions=charged.transactions,
        cache_accesses=charged.cache_accesses,
        cache_misses=charged.cache_misses,
        shared=_shared(plan, result, counts, shape),
        dependences=(*work.dependences, *races(small, result)),
        notes=tuple(_notes(plan, counts)),
        data_decide=bool(counts.from_data),
        machine=machine,
        warp_work=warp_work(plan, shape, control, lanes=machine.warp_lanes) if with_warp_work else None,
    )


def light_features(work: Kernel, block: tuple[int, int, int]) -> KernelFeatures:
    """Return what the model ``hierarchy`` needs of a kernel at its work size, without a trace: in milliseconds.

    Classes of access, misses and instructions are empty; loops whose ends depend on data have no rounds.
    """
    work = with_local_memory(work, spilled_arrays(work))
    shape, plan = _checked_block(work, block), plan_of(work)
    return _light(plan, shape, np.zeros((max(1, plan.n_controls), 3)))


def in_other_blocks(
    features: KernelFeatures, work: Kernel, trace: Kernel, block: tuple[int, int, int], *, promote: bool = True
) -> KernelFeatures | None:
    """Return features with what ``hierarchy`` reads of them in other blocks; all else is that of the old ones.

    Nothing is traced: where data decide, what steers is executed as ``kernel_features`` does at the end. None where
    that takes too long, so that another trace must tell.
    """
    spilled = spilled_arrays(work)
    work, trace = with_local_memory(work, spilled), with_local_memory(trace, spilled)
    plan, small = _plans(work, trace, promote)
    shape = _checked_block(work, block)
    control = np.zeros((max(1, plan.n_controls), 3))
    if features.data_decide:
        control = control_counts(plan, small, shape, features.machine, control[:0])
        if not len(control):
            return None
    found = _light(plan, shape, control, lanes=features.machine.warp_lanes)
    return replace(features, block=found.block, blocks=found.blocks, warp_work=found.warp_work)


def _light(plan: Plan, block: tuple[int, int, int], control: np.ndarray, *, lanes: int = 32) -> KernelFeatures:
    return replace(_of_source(plan.kernel, block), warp_work=warp_work(plan, block, control, lanes=lanes))


def _of_source(work: Kernel, block: tuple[int, int, int]) -> KernelFeatures:
    """Return what the source and the sizes say of a kernel in such blocks; what is counted is empty."""
    extents = tuple(p.extent for p in work.parallel)
    return KernelFeatures(
        kernel=work.name,
        function=work.function,
        path=work.path,
        span=work.span,
        how_parallel=work.how_parallel,
        launches=work.launches,
        block=block,
        extents=extents,
        trace_extents=extents,
        sizes=work.sizes,
        trace_sizes=work.sizes,
        blocks=_blocks(work, block),
        trace_batches=0,
        element_bytes=next((a.element_bytes for a in work.arrays if a.storage == "global"), DEFAULT_ELEMENT_BYTES),
        dram=ByClass(),
        per_warp=ByClass(),
        mix=InstructionMix(),
        instructions=(),
        transactions=1.0,
        cache_accesses=0,
        cache_misses=0,
    )


def _plans(work: Kernel, trace: Kernel, promote: bool) -> tuple[Plan, Plan]:
    """Return the plans of a kernel at both sizes. Raises ModelNotApplicable where they are not of one program."""
    plan, small = plan_of(work, promote=promote), plan_of(trace, promote=promote)
    if len(plan.accesses) != len(small.accesses) or plan.n_controls != small.n_controls:
        raise ModelNotApplicable(
            f"{work.name} is another program at the trace size", span=work.span, expected="give a larger --trace-size"
        )
    return plan, small


@dataclass(frozen=True, slots=True, kw_only=True)
class _Charged:
    """What the memory instructions that go to global memory do together; loads of tiles count for themselves."""

    dram: ByClass
    per_warp: ByClass
    transactions: float
    """Mean of a request: the stride in elements, 1 to the lanes of a warp."""
    cache_accesses: int
    cache_misses: int

    @classmethod
    def of(cls, plan: Plan, result: TraceResult, counts: WorkCounts) -> "_Charged":
        """Sum over the instructions of a plan."""
        sites = [a.site for a in plan.accesses if a.array.storage == "global" and not a.tile_load and a.site >= 0]
        executed, missed = result.executions[sites], result.misses[sites]
        weights, of_site = counts.accesses[sites], executed.sum(axis=1)
        strides = np.divide(result.stride_sum[sites], of_site, out=np.ones(len(sites)), where=of_site > 0)
        all_executed, all_missed = executed.sum(axis=0), missed.sum(axis=0)
        return cls(
            dram=_by_class([np.divide(all_missed, all_executed, out=np.zeros(3), where=all_executed > 0)]),
            per_warp=_by_class([_split(counts.accesses[s], result.executions[s]) for s in sites]),
            transactions=float((weights * strides).sum() / weights.sum()) if weights.sum() > 0 else 1.0,
            cache_accesses=int(result.accesses[sites].sum()),
            cache_misses=int(all_missed.sum()),
        )


def _blocks(kernel: Kernel, block: tuple[int, int, int]) -> int:
    """Return how many blocks the grid has."""
    return math.prod(-(-loop.width // edge) for loop, edge in zip(kernel.parallel, block, strict=False))


def _checked_block(kernel: Kernel, given: tuple[int, int, int] | None) -> tuple[int, int, int]:
    """Return the block that is given, else the default one; refuse an impossible one."""
    block = given or default_block(kernel)
    if min(block) < 1 or block[0] * block[1] * block[2] > 1024:
        raise OptionError(
            f"a block of {'x'.join(map(str, block[: 2 + (block[2] != 1)]))} threads is not possible",
            expected="at most 1024 threads",
        )
    used = max(1, len(kernel.parallel))
    if any(edge > 1 for edge in block[used:]):
        dims = f"{used} dimension{'s' if used > 1 else ''}"
        raise OptionError(
            f"the grid of {kernel.name} has {dims}, the block {'x'.join(map(str, block))} has more",
            expected=f"give a block of {dims}, such as {'x'.join(map(str, BLOCKS[used][:used]))}",
        )
    return block


def _split(count: float, executions: np.ndarray) -> np.ndarray:
    """Return executions at the work size by class, in the shares of the trace."""
    total = executions.sum()
    return count * executions / total if total else np.zeros(3)


def _by_class(rows: Sequence[np.ndarray]) -> ByClass:
    constant, coalesced, uncoalesced = np.sum(np.stack(rows), axis=0) if rows else (0.0, 0.0, 0.0)
    return ByClass(constant=float(constant), coalesced=float(coalesced), uncoalesced=float(uncoalesced))


def _instruction(
    access: Access, result: TraceResult, counts: WorkCounts, names: Mapping[str, str]
) -> MemoryInstruction:
    site = access.site
    executions, accesses = result.executions[site], int(result.accesses[site])
    misses = int(result.misses[site].sum())
    main: AccessClass = ACCESS_CLASSES[int(executions.argmax())]
    return MemoryInstruction(
        array=access.array.source_name,
        text=access_text(access, names),
        is_store=access.is_store,
        access=main,
        max_stride=int(result.strides[site]),
        warp_executions=int(executions.sum()),
        accesses=accesses,
        hits=accesses - misses,
        misses=misses,
        distinct_lines=int(result.touched[site]),
        per_warp=float(counts.accesses[site]),
        storage=access.array.storage,
        tile_load=access.tile_load,
        span=access.span,
    )


def source_names(kernel: Kernel) -> Mapping[str, str]:
    """Return what the user calls each variable and array of a kernel, by its name in the IR."""
    variables = [loop.variable for loop in kernel.parallel] + [scalar.variable for scalar in kernel.scalars]
    variables += [s.variable for s in sub_statements(kernel.body) if isinstance(s, Declare | ForEach)]
    arrays = {array.name: array.source_name for array in kernel.arrays}
    return arrays | {variable.name: variable.source_name for variable in variables}


def access_text(access: Access, names: Mapping[str, str]) -> str:
    """Return an access as the user reads it: its array with the subscripts in C notation."""
    return access.array.source_name + "".join(f"[{expression_text(i, names)}]" for i in access.indices)


def expression_text(expression: object, names: Mapping[str, str]) -> str:
    """Return an integer expression of a subscript in C notation; ``names``: what the user calls the variables."""
    match expression:
        case Const():
            return str(expression.value)
        case Load():
            return names.get(expression.name, expression.name)
        case Binary():
            return _operation_text(expression, names)
        case Unary():
            return f"{expression.op}{expression_text(expression.operand, names)}"
        case Cast():
            return expression_text(expression.operand, names)
        case Index():
            indices = "".join(f"[{expression_text(i, names)}]" for i in expression.indices)
            return names.get(expression.name, expression.name) + indices
        case _:
            return "..."


def _operation_text(expression: Binary, names: Mapping[str, str]) -> str:
    sign = "%" if expression.op == "mod" else expression.op
    left, right = expression_text(expression.left, names), expression_text(expression.right, names)
    if expression.op in ("*", "mod", "/"):
        left = f"({left})" if isinstance(expression.left, Binary) and expression.left.op in "+-" else left
        right = f"({right})" if isinstance(expression.right, Binary) else right
    return f"{left} {sign} {right}"


def _mix(plan: Plan, counts: WorkCounts) -> InstructionMix:
    """Return the instructions of a thread: each counted piece times its executions."""
    kinds = [f.name for f in fields(OperationCount)]
    total = dict.fromkeys(kinds, 0.0)
    for piece in (node for node in sub_nodes(plan.nodes) if isinstance(node, Operations)):
        for kind in kinds:
            total[kind] += getattr(piece.count, kind) * float(counts.operations[piece.site])
    return InstructionMix(
        loads=total["loads"],
        stores=total["stores"],
        address=total["address"],
        add=total["add"],
        mul=total["mul"],
        fma=total["fma"],
        other=total["other"],
        loop=total["loop"],
    )


def _shared(plan: Plan, result: TraceResult, counts: WorkCounts, block: tuple[int, int, int]) -> SharedMemory | None:
    """Return the use of tiles.

    A tile is an array of the source that the kernel fills (``__shared__``, or named as a tile), or, where a parameter
    is named, the piece of it that each of its loads reads: such a load reads one tile of a block's width at a time.
    """
    reads = _of_shared_memory(plan, stores=False)
    if not reads:
        return None
    tiles = _tiles(plan)
    pieces = _pieces(reads, {tile.name for tile in tiles})
    loads = float(sum(counts.accesses[a.site] for a in plan.accesses if a.tile_load))
    for piece in pieces:
        loads += float(counts.accesses[piece.site]) / block[0]
    called = source_names(plan.kernel)
    names = [*(t.source_name for t in tiles), *(access_text(a, called) for a in pieces)]
    tiles_done = loads / len(names)
    return SharedMemory(
        tile_arrays=tuple(names),
        bytes_per_block=_bytes_of_tiles(tiles, pieces, block),
        tiles=tiles_done,
        loads=loads,
        reads=_by_class([_split(counts.accesses[a.site], result.executions[a.site]) for a in reads]),
        sync_instructions=float(counts.barriers.sum()) or 2 * tiles_done,
    )


def _bytes_of_tiles(tiles: list[ArrayInfo], pieces: tuple[Access, ...], block: tuple[int, int, int]) -> int:
    of_pieces = sum(block[0] * block[1] * a.array.element_bytes for a in pieces)
    return of_pieces + sum(t.elements * t.element_bytes for t in tiles)


def _tiles(plan: Plan) -> list[ArrayInfo]:
    """Return the arrays in shared memory that the kernel fills."""
    filled = {a.array.name for a in _of_shared_memory(plan, stores=True)}
    return [array for array in plan.kernel.arrays if array.name in filled]


def _of_shared_memory(plan: Plan, *, stores: bool) -> list[Access]:
    """Return the loads, or stores, of shared memory."""
    return [a for a in plan.accesses if a.array.storage == "shared" and a.is_store == stores]


def _pieces(reads: list[Access], filled: set[str]) -> tuple[Access, ...]:
    """Return the first of all reads of the same element of an array that is only named as a tile."""
    found: dict[tuple[object, ...], Access] = {}
    for read in reads:
        if read.array.name not in filled:
            found.setdefault((read.array.name, *map(expression_key, read.indices)), read)
    return tuple(found.values())


def races(plan: Plan, result: TraceResult) -> list[Dependence]:
    """Return the dependences between threads that the trace met, but for those that atomic operations settle."""
    found: list[Dependence] = []
    for array, (both, mixed, site) in zip(plan.kernel.arrays, result.races.tolist(), strict=False):
        if array.name in plan.kernel.atomic:
            continue
        span = plan.accesses[site].span if 0 <= site < len(plan.accesses) else plan.kernel.span
        if both:
            text = f"several threads write the same elements of {array.source_name} ({both} times in the trace)"
            found.append(Dependence(array=array.source_name, kind="write-write", text=text, span=span))
        if mixed:
            text = f"threads read elements of {array.source_name} that others write ({mixed} times in the trace)"
            found.append(Dependence(array=array.source_name, kind="write-read", text=text, span=span))
    return found


def _notes(plan: Plan, counts: WorkCounts) -> list[str]:
    notes = [f"taken from warps all over the grid: {text}" for text in counts.from_data]
    made_up = _made_up(plan.kernel, needed_names(plan))
    if made_up:
        notes.append(
            f"made up, as the source has no data: values of {', '.join(dict.fromkeys(made_up))}; they decide which "
            "branches are taken, how long loops run or which elements are touched"
        )
    notes += _notes_of_arrays(plan.kernel)
    if plan.promoted:
        notes.append(f"kept in registers in the innermost loop: elements of {', '.join(plan.promoted)}")
    return notes


def _notes_of_arrays(kernel: Kernel) -> Iterator[str]:
    """Yield what is to be known of arrays that threads sum into, and of those that are a thread's own."""
    summed = ", ".join(a.source_name for a in kernel.arrays if a.name in kernel.atomic)
    if summed:
        yield f"summed by atomic operations: {summed}; each is priced as a load and a store"
    local = [a for a in kernel.arrays if a.private]
    if local:
        size = sum(a.elements // a.dims[-1] * a.element_bytes for a in local)
        names = ", ".join(a.source_name for a in local)
        yield f"in local memory, {size} bytes a thread: {names} (too large for registers, or subscripts unknown)"


def _made_up(kernel: Kernel, needed: frozenset[str]) -> list[str]:
    """Return the arrays and scalars that decide something and whose values are made up."""
    arrays = {a.name: a.source_name for a in kernel.arrays if _has_made_up_contents(a)}
    scalars = {s.variable.name: s.variable.source_name for s in kernel.scalars if s.assumed}
    return [source for name, source in (*arrays.items(), *scalars.items()) if name in needed]


def _has_made_up_contents(array: ArrayInfo) -> bool:
    return array.storage == "global" and not array.private and array.contents is None
