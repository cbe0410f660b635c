"""Execution of a kernel's threads, batch by batch: the memory trace and what it does to the cache.

The trace is never stored: each instruction of a batch is a row of addresses (numpy, one a thread) that goes through
warp formation and cache at once. Arrays have made-up contents (a kernel's source has none): reals between 0 and 1,
integers below the array's size, the same in every run; they matter only where subscripts, bounds or conditions read
them.
"""

import functools
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from numba import njit

from dse.base.errors import ModelNotApplicable, OptionError
from dse.base.source import Span
from dse.gpu.kernel.least_rounds import least_rounds
from dse.gpu.kernel.plan import Branch, Loop, Node, Plan, WhileLoop
from dse.gpu.trace import arithmetic, warps
from dse.gpu.trace.calling import caller_of
from dse.gpu.trace.thread_code import MAX_UNIFORM, ThreadCode, thread_code
from dse.model.kernel import ArrayInfo, Kernel, TraceMachine
from dse.program.types import FloatType, IntType

Slots: TypeAlias = tuple[np.ndarray, np.ndarray]
"""Values of the parallel variables, shape (axes, slots), int64, and which slots have a thread, shape (slots,)."""
ALIGNMENT_BYTES = 64
"""Arrays start at multiples of this, whatever the line."""
MAX_STEPS = 4_000_000
"""Lock-step loop iterations of a trace; above this a loop is taken as endless or the trace size as too large."""
MAX_THREAD_STEPS = 1 << 28
"""The same, times the threads that run in lock step: a few seconds; the kernels of PolyBench need a hundredth of it."""
MAX_TRACE_ELEMENTS = 1 << 28
INTERPRETED_BY_LINE = 5_000
"""By the square of the lines of generated code: statements, each for one thread, that Python executes in about the time
that compiling takes. That grows so: a second for 10 to 20 lines, five for 30."""
MOST_INTERPRETED = 10_000_000
"""At most so many: Python executes a million of them in 0.1 to 0.5 s."""
MOST_STEPS_OF_ROWS = 1 << 18
"""Lock-step loop iterations that Python executes where no statement is for one thread after the other: 5 us each."""
BRIEF_STATEMENTS = 1_000_000
"""So many where a trace must not take long."""
BRIEF_STEPS, LEAST_STEPS = 16_384, 16
"""Lock-step loop iterations of a trace that must not take long, and those that are always tried."""
MOST_COMPILED_LINES = 200
"""Lines of generated code above which compiling takes too long: tens of seconds for a thousand."""
_OF_WARPS = ("issue", "issue_rows", "begin", "begin_as", "advance", "split", "enter", "iterate", "step")
_OF_ARITHMETIC = (
    *("divide", "remainder", "shift_left", "shift_right", "wrap"),
    *("divide_float", "truncate", "element", "root", "logarithm", "power", "exponential"),
)
"""What generated functions call."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TraceResult:
    """What a trace counted; arrays as in ``warps.Trace``."""

    executions: np.ndarray
    misses: np.ndarray
    accesses: np.ndarray
    strides: np.ndarray
    stride_sum: np.ndarray
    touched: np.ndarray
    """Distinct lines of each site, shape (sites,)."""
    races: np.ndarray
    control: np.ndarray
    steps: int
    batches: int


def execute(
    plan: Plan,
    block: tuple[int, int, int],
    machine: TraceMachine,
    *,
    batches: int = 2,
    max_steps: int = MAX_STEPS,
    compiled: bool = True,
    slots: Slots | None = None,
) -> TraceResult:
    """Execute the first batches of a kernel's threads from an empty cache, or the one batch of ``slots``.

    Compiling takes seconds, many for a long kernel; ``compiled`` False executes the same code as Python, the quicker
    way for some hundred threads. The result is the same.

    Raises ModelNotApplicable for an element outside its array, a trace that does not end within ``max_steps`` lock-step
    iterations, or sizes that are too large to trace.
    """
    kernel = plan.kernel
    if machine.line_bytes & (machine.line_bytes - 1) or machine.sets < 1:
        raise OptionError(
            f"no cache has {machine.cache_bytes} bytes with {machine.ways} ways of {machine.line_bytes}-byte lines",
            expected="lines are a power of two bytes, and there is at least one set",
        )
    layout = memory_layout(kernel)
    n_elements = int(layout[:, 3].sum())
    if n_elements > MAX_TRACE_ELEMENTS:
        raise ModelNotApplicable(
            f"the arrays of {kernel.name} have {n_elements} elements at the trace size",
            span=kernel.span,
            expected="give a smaller --trace-size",
        )
    code = thread_code(plan)
    thread = _thread(code.source, kernel, compiled=compiled)
    max_steps = _most_steps(plan, machine, max_steps)
    trace = _empty_trace(plan, layout, machine, max_steps)
    data = [_contents(a) for a in code.valued]
    followed = _batches(kernel, block, machine, batches) if slots is None else [slots]
    for batch, (coordinates, active) in enumerate(followed):
        trace.machine[2] = batch * machine.batch_threads
        try:
            _run_batch(thread, code, kernel, coordinates, active, trace, data)
        except OverflowError as error:
            raise ModelNotApplicable(f"{kernel.name} computes with more than 64 bits", span=kernel.span) from error
        except ValueError as error:  # of the functions of ``math``; compiled ones return a value that is no number
            raise ModelNotApplicable(f"{kernel.name} computes what is no number", span=kernel.span) from error
        _fail_on_stop(plan, trace, max_steps)
    return TraceResult(
        executions=trace.executions,
        misses=trace.misses,
        accesses=trace.accesses,
        strides=trace.strides,
        stride_sum=trace.stride_sum,
        touched=trace.touched.sum(axis=1, dtype=np.int64),
        races=trace.races,
        control=trace.control,
        steps=int(trace.stop[2]),
        batches=len(followed),
    )


def execute_quickly(
    plan: Plan,
    block: tuple[int, int, int],
    machine: TraceMachine,
    *,
    batches: int = 2,
    max_steps: int = MAX_STEPS,
) -> TraceResult:
    """Execute as ``execute`` does: as Python for about the time that compiling would take, then compiled.

    So no kernel takes much more than twice the time of the better way, and most of them, the tiled ones above all, a
    fraction of the time that compiling them takes. Raises ModelNotApplicable as ``execute`` does.
    """
    if _statements_by_thread(thread_code(plan).source):
        tried = _interpreted_steps(plan, machine, _statements_while_compiling(plan))
    else:
        tried = MOST_STEPS_OF_ROWS
    if tried and not (tried < least_rounds(plan) <= _most_steps(plan, machine, max_steps)):
        try:
            return execute(plan, block, machine, batches=batches, max_steps=min(tried, max_steps), compiled=False)
        except ModelNotApplicable as error:
            if not _may_differ(error, all_steps=tried >= _most_steps(plan, machine, max_steps)):
                raise
    return execute(plan, block, machine, batches=batches, max_steps=max_steps)


def execute_briefly(
    plan: Plan, block: tuple[int, int, int], machine: TraceMachine, *, batches: int = 2, slots: Slots | None = None
) -> TraceResult:
    """Execute as ``execute`` does, in some seconds at most: as Python, and compiled where that takes too long.

    Raises ModelNotApplicable, as ``execute`` does, also for a kernel that is too long for that.
    """
    by_thread = _statements_by_thread(source := thread_code(plan).source)
    steps = max(LEAST_STEPS, _interpreted_steps(plan, machine, BRIEF_STATEMENTS))
    compilable = by_thread and steps < BRIEF_STEPS and source.count("\n") <= MOST_COMPILED_LINES
    if not (compilable and steps < least_rounds(plan)):
        try:
            return execute(plan, block, machine, batches=batches, max_steps=steps, compiled=False, slots=slots)
        except ModelNotApplicable as error:
            if not (compilable and "does not end" in error.first_error.message):
                raise
    return execute(plan, block, machine, batches=batches, max_steps=BRIEF_STEPS, slots=slots)


def _statements_by_thread(source: str) -> int:
    """Return the statements of a generated function that Python executes for one thread after the other."""
    return source.count("in range(n)")


def _statements_while_compiling(plan: Plan) -> int:
    """Return the statements that Python executes in about the time that numba compiles a kernel."""
    return min(MOST_INTERPRETED, INTERPRETED_BY_LINE * thread_code(plan).source.count("\n") ** 2)


def _interpreted_steps(plan: Plan, machine: TraceMachine, statements: int) -> int:
    """Return the lock-step loop iterations that have so many statements at most, at most ``BRIEF_STEPS``."""
    by_thread = _statements_by_thread(thread_code(plan).source)
    threads = min(machine.batch_threads, max(1, plan.kernel.threads))
    return min(BRIEF_STEPS, statements // (threads * by_thread)) if by_thread else BRIEF_STEPS


def _most_steps(plan: Plan, machine: TraceMachine, max_steps: int) -> int:
    """Return how many lock-step loop iterations a trace may have."""
    return min(max_steps, MAX_THREAD_STEPS // min(machine.batch_threads, max(1, plan.kernel.threads)))


def _may_differ(error: ModelNotApplicable, *, all_steps: bool) -> bool:
    """Return whether compiled code need not end in an error of Python: it makes do with any number, and has more steps.

    ``all_steps``: Python had as many.
    """
    message = error.first_error.message
    if "does not end within" in message:
        return not all_steps
    return "more than 64 bits" in message or "what is no number" in message


def memory_layout(kernel: Kernel) -> np.ndarray:
    """Return first byte, bytes of an element, first element and elements of each array, shape (arrays, 4), int64.

    Global arrays follow each other from address 0 in the order of the kernel; tiles and thread arrays have no address.
    """
    rows = np.zeros((max(1, len(kernel.arrays)), 4), np.int64)
    byte = first = 0
    for row, array in zip(rows, kernel.arrays, strict=False):
        row[:] = (byte if array.storage == "global" else 0, array.element_bytes, first, array.elements)
        first += array.elements
        if array.storage == "global":
            byte += -(-array.elements * array.element_bytes // ALIGNMENT_BYTES) * ALIGNMENT_BYTES
    return rows


def _batches(kernel: Kernel, block: tuple[int, int, int], machine: TraceMachine, most: int) -> list[Slots]:
    """Return the slots of the first batches of a grid, ``most`` at most."""
    found = (batch_slots(kernel, block, machine, batch) for batch in range(most))
    return [slots for slots in found if slots is not None]


def batch_slots(kernel: Kernel, block: tuple[int, int, int], machine: TraceMachine, batch: int) -> Slots | None:
    """Return the coordinates (axes, slots) and activity (slots,) of a batch's thread slots; None past the grid.

    Blocks are padded to whole warps. Coordinates are values of the parallel loops' variables.
    """
    extents = [p.width for p in kernel.parallel]
    shape = block[: max(1, len(extents))]
    grid = [-(-e // b) for e, b in zip(extents, shape, strict=False)] or [1]
    threads = math.prod(shape)
    padded = -(-threads // machine.warp_lanes) * machine.warp_lanes
    total = math.prod(grid) * padded
    start = batch * machine.batch_threads
    if start >= total:
        return None
    slot = np.arange(start, min(start + machine.batch_threads, total), dtype=np.int64)
    in_block, block_number = slot % padded, slot // padded
    active = in_block < threads
    coordinates = np.zeros((max(1, len(extents)), slot.size), np.int64)
    for axis, loop in enumerate(kernel.parallel):
        place = in_block % shape[axis] + block_number % grid[axis] * shape[axis]
        in_block, block_number = in_block // shape[axis], block_number // grid[axis]
        active &= (place >= loop.idle) & (place < loop.width)
        coordinates[axis] = loop.low + (place - loop.idle) * loop.step
    if not extents:
        active &= slot == 0
    return coordinates, active


def _empty_trace(plan: Plan, layout: np.ndarray, machine: TraceMachine, max_steps: int) -> warps.Trace:
    sites, arrays = max(1, len(plan.accesses)), len(layout)
    n_bytes = int((layout[:, 0] + layout[:, 1] * layout[:, 3]).max())
    elements = int(layout[:, 3].sum())
    return warps.Trace(
        recent=np.full((machine.sets, machine.ways), -1, np.int64),
        executions=np.zeros((sites, 3), np.int64),
        misses=np.zeros((sites, 3), np.int64),
        accesses=np.zeros(sites, np.int64),
        strides=np.zeros(sites, np.int64),
        stride_sum=np.zeros(sites, np.int64),
        lines=np.zeros(machine.warp_lanes, np.int64),
        touched=np.zeros((sites, n_bytes // machine.line_bytes + 1), np.uint8),
        layout=layout,
        writer=np.zeros(max(1, elements), np.int32),
        reader=np.zeros(max(1, elements), np.int32),
        races=np.zeros((arrays, 3), np.int64),
        control=np.zeros((max(1, plan.n_controls), 3), np.int64),
        machine=np.array([machine.line_bytes.bit_length() - 1, machine.warp_lanes, 0], np.int64),
        stop=np.array([0, 0, 0, max_steps], np.int64),
    )


def _thread(source: str, kernel: Kernel, *, compiled: bool) -> Callable[..., None]:
    """Return the function that a source defines. Raises ``ModelNotApplicable`` where Python cannot hold it."""
    try:
        return _compile(source) if compiled else _interpreted(source)
    except SyntaxError as error:  # no more than 20 blocks may be inside each other
        raise ModelNotApplicable(
            f"{kernel.name} has too many loops and conditions inside each other to be followed",
            span=kernel.span,
            expected="at most 20",
        ) from error


@functools.lru_cache(maxsize=64)
def _compile(source: str) -> Callable[..., None]:
    """Compile a generated function; kernels that differ in their subscripts only share it."""
    function: Callable[..., None] = njit(error_model="numpy", pipeline_class=caller_of(_OF_WARPS))(_defined(source))
    return function


def _interpreted(source: str) -> Callable[..., None]:
    """Return a generated function as it is; only the warps' part of it is compiled, once for all kernels."""
    thread = _defined(source)

    def run(*arguments: object) -> None:
        with np.errstate(all="ignore"):  # integers wrap and divisions by zero give infinity, as in compiled code
            thread(*arguments)

    return run


def _defined(source: str) -> Callable[..., None]:
    """Return the function that a source defines, which sees the functions of warps and arithmetic."""
    names: dict[str, Any] = {"np": np, "math": math}
    names |= {name: getattr(warps, name) for name in _OF_WARPS}
    names |= {name: getattr(arithmetic, name) for name in _OF_ARITHMETIC}
    exec(compile(source, "<thread>", "exec"), names)
    thread: Callable[..., None] = names["thread"]
    return thread


def _run_batch(
    thread: Callable[..., None],
    code: ThreadCode,
    kernel: Kernel,
    coordinates: np.ndarray,
    active: np.ndarray,
    trace: warps.Trace,
    data: Sequence[np.ndarray],
) -> None:
    n = active.size
    integers = np.zeros((max(1, len(code.integers), len(coordinates)), n), np.int64)
    integers[: len(coordinates)] = coordinates
    floats = np.zeros((max(1, len(code.floats)), n))
    for scalar in kernel.scalars:
        if scalar.variable.name in code.integers:
            integers[code.integers[scalar.variable.name]] = scalar.value
        elif scalar.variable.name in code.floats:
            floats[code.floats[scalar.variable.name]] = scalar.value
    masks = np.zeros((code.n_masks, n), np.uint8)
    masks[0] = active
    local = [np.zeros((n, a.elements), _number_type(a)) for a in code.local]
    rows = np.array(code.rows or [(0,) * (5 + warps.OWN + MAX_UNIFORM)], np.int64)
    uniform = np.zeros(MAX_UNIFORM, np.int64)
    thread(n, integers, floats, masks, np.zeros(n, np.int64), trace, rows, uniform, *data, *local)


def _number_type(array: ArrayInfo) -> type[np.generic]:
    return np.float64 if isinstance(array.element, FloatType) else np.int64


def _contents(array: ArrayInfo) -> np.ndarray:
    """Return the contents of an array: known ones, else made-up ones (linear congruences: the same everywhere)."""
    if array.contents is not None:
        of = _number_type(array)
        known = array.contents if of is np.float64 else [arithmetic.in_word(int(v)) for v in array.contents]
        return np.array(known, dtype=of)
    at = np.arange(max(1, array.elements), dtype=np.uint64)
    mixed = (at * np.uint64(2654435761) + np.uint64(12345)) & np.uint64(0xFFFFFFFF)
    if isinstance(array.element, FloatType):
        return mixed.astype(np.float64) / 2.0**32
    most = max(1, array.elements)  # so that an element may be an index into an array of the same size
    if isinstance(array.element, IntType):
        most = min(most, 1 << (array.element.size - array.element.signed))
    return (mixed * np.uint64(most) >> np.uint64(32)).astype(np.int64)


def _fail_on_stop(plan: Plan, trace: warps.Trace, max_steps: int) -> None:
    """Turn the reason for which an execution stopped into an error."""
    reason, place = int(trace.stop[0]), int(trace.stop[1])
    if reason == warps.OUTSIDE:
        access = plan.accesses[place] if place >= 0 else None
        name = access.array.source_name if access is not None else ", ".join(plan.promoted)
        raise ModelNotApplicable(
            f"{plan.kernel.name} touches {name} outside its bounds at the trace size",
            span=access.span if access is not None else plan.kernel.span,
            expected="check the subscripts and the sizes given with --define",
        )
    if reason == warps.FOREVER:
        raise ModelNotApplicable(
            f"a loop of {plan.kernel.name} never ends: nothing in it changes what its condition asks for",
            span=_control_span(plan.nodes, place) or plan.kernel.span,
            expected="let the loop change it",
        )
    if reason == warps.ENDLESS:
        raise ModelNotApplicable(
            f"the trace of {plan.kernel.name} does not end within {max_steps} loop iterations",
            span=_control_span(plan.nodes, place) or plan.kernel.span,
            expected="check that the loop ends; if it does, give a smaller --trace-size",
        )


def _control_span(nodes: Sequence[Node], control: int) -> Span | None:
    for node in nodes:
        if not isinstance(node, Branch | Loop | WhileLoop):
            continue
        if node.control == control:
            return node.span
        parts = (*node.then, *node.otherwise) if isinstance(node, Branch) else node.body
        found = _control_span(parts, control)
        if found is not None:
            return found
    return None
