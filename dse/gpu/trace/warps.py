"""Warps: which threads stand together, the class of a warp's access, and what it does to the cache.

Blocks are numbered with blockIdx.x fastest, threads in a block with threadIdx.x fastest; a warp is 32 consecutive
threads of that order. A warp's access is constant, coalesced or uncoalesced by the greatest distance of neighbouring
active lanes: none, one element at most, or more. Its distinct lines go to the cache in ascending lane order.
"""

from collections import namedtuple

from dse.gpu.trace.cache import compiled, use_line

GLOBAL, SHARED, REGISTER, READ_ONLY = 0, 1, 2, 3
"""Kinds of access; ``READ_ONLY``: to global memory that no thread of the kernel writes."""
CONSTANT, COALESCED, UNCOALESCED = 0, 1, 2

Trace = namedtuple(
    "Trace",
    [
        "recent",  # (sets, ways) int64: the cache, the lines of a set by last use
        "executions",  # (sites, 3) int64: warp executions by class
        "misses",  # (sites, 3) int64
        "accesses",  # (sites,) int64: accesses of lines
        "strides",  # (sites,) int64: greatest distance of neighbouring active lanes, in elements
        "stride_sum",  # (sites,) int64: sum of these distances, at most a warp each, over executions; at least 1
        "lines",  # (lanes,) int64: lines of a warp, while it is looked at
        "touched",  # (sites, lines) uint8
        "layout",  # (arrays, 4) int64: first byte, bytes of an element, first element, elements
        "writer",  # (elements,) int32: the last thread that wrote, 0 none
        "reader",  # (elements,) int32: the thread that read, 0 none, -1 several
        "races",  # (arrays, 3) int64: write-write, write-read pairs, last access that met one
        "control",  # (controls, 3) int64: warps that came, warps in the branch or iterations, warps in the other branch
        "machine",  # (3,) int64: logarithm of the bytes of a line, lanes of a warp, first thread of the batch
        "stop",  # (4,) int64: 0 or the reason, place, steps made, steps allowed
    ],
)
"""What an execution reads and counts; numba sees the arrays."""

OWN = 8
"""Variables of a thread's own that affine forms may use; one with others is computed slot by slot."""
OUTSIDE, ENDLESS, FOREVER = 1, 2, 3
"""Reasons to stop: an element outside its array; more steps than allowed; a loop that cannot end."""


@compiled
def issue(trace, site, array, kind, is_store, elements, active):
    """Let all warps of a batch issue one memory instruction.

    ``elements`` (int64, one a thread slot) are offsets in the array; ``active`` (uint8) marks the slots that take part.
    Returns whether an element lies outside the array.
    """
    size = trace.layout[array, 3]
    outside = 0
    for slot in range(elements.size):
        outside |= (active[slot] != 0) & ((elements[slot] < 0) | (elements[slot] >= size))
    if outside:
        trace.stop[0] = OUTSIDE
        trace.stop[1] = site
        return True
    if kind in (GLOBAL, REGISTER):
        mark(trace, array, site, is_store, elements, active)
    if kind != REGISTER:
        lanes = trace.machine[1]
        for first in range(0, elements.size, lanes):
            warp_access(trace, site, array, kind, elements, active, first, min(first + lanes, elements.size))
    return False


@compiled
def issue_rows(trace, rows, first, end, own, uniform, elements, active):
    """Issue the instructions of some rows of the table of affine accesses, one after the other.

    A row holds site, array, kind, store and an affine form. Returns whether an element lies outside its array.
    """
    for at in range(first, end):
        row = rows[at]
        evaluate(row, own, uniform, elements)
        if issue(trace, row[0], row[1], row[2], row[3] != 0, elements, active):
            return True
    return False


@compiled
def evaluate(row, own, uniform, values):
    """Put the values of a row's affine form into ``values``, one a thread slot.

    Behind four other numbers the row has a constant, the coefficients of the first rows of ``own`` (variables that each
    thread has for itself, ``OWN`` at most) and those of ``uniform`` (variables that all threads share).
    """
    total = row[4]
    for place in range(uniform.size):
        total += row[5 + OWN + place] * uniform[place]
    for slot in range(values.size):
        values[slot] = total
    for place in range(min(OWN, own.shape[0])):
        scale = row[5 + place]
        if scale != 0:
            for slot in range(values.size):
                values[slot] += scale * own[place, slot]


@compiled
def begin(trace, rows, first, own, uniform, control, counter, active, inner):
    """Enter a loop whose bounds are rows ``first`` and ``first + 1``; ``inner``: the slots that have a first round.

    ``counter``: row of ``own`` of the loop's variable, row of its last value, step.
    """
    enter(trace, control, active)
    evaluate(rows[first], own, uniform, own[counter[0]])
    evaluate(rows[first + 1], own, uniform, own[counter[1]])
    _mark_rounds(own, counter, active, inner)


@compiled
def advance(own, counter, inner):
    """Go on to the next round of a loop: ``counter`` as in ``begin``; ``inner``: the slots that have one."""
    for slot in range(inner.size):
        if inner[slot]:
            own[counter[0], slot] += counter[2]
    _mark_rounds(own, counter, inner, inner)


@compiled
def _mark_rounds(own, counter, active, inner):
    at, last = own[counter[0]], own[counter[1]]
    for slot in range(inner.size):
        more = at[slot] <= last[slot] if counter[2] > 0 else at[slot] >= last[slot]
        inner[slot] = (active[slot] != 0) & more


@compiled
def mark(trace, array, site, is_store, elements, active):  # ways: compiled by numba, one pass over the lanes
    """Note who touches an element, and pairs of threads of which one writes what another touches."""
    first_thread, base = trace.machine[2], trace.layout[array, 2]
    for slot in range(elements.size):
        if not active[slot]:
            continue
        thread, at = first_thread + slot + 1, base + elements[slot]
        writer, reader = trace.writer[at], trace.reader[at]
        if writer != 0 and writer != thread:
            trace.races[array, 0 if is_store else 1] += 1
            trace.races[array, 2] = site
        if is_store:
            if reader != 0 and reader != thread:
                trace.races[array, 1] += 1
                trace.races[array, 2] = site
            trace.writer[at] = thread
        elif reader == 0:
            trace.reader[at] = thread
        elif reader != thread:
            trace.reader[at] = -1


@compiled
def warp_access(trace, site, array, kind, elements, active, first, end):  # ways: compiled, one pass over the lanes
    """Classify the access of one warp and, unless it is to shared memory, run its lines through the cache."""
    n_active = 0
    for slot in range(first, end):
        n_active += active[slot]
    if n_active == 0:
        return
    stride = 0
    if n_active == end - first:
        for slot in range(first + 1, end):
            stride = max(stride, abs(elements[slot] - elements[slot - 1]))
    else:
        last = -1
        for slot in range(first, end):
            if active[slot]:
                if last >= 0:
                    stride = max(stride, abs(elements[slot] - elements[last]))
                last = slot
    group = CONSTANT if stride == 0 else COALESCED if stride <= 1 else UNCOALESCED
    trace.executions[site, group] += 1
    trace.strides[site] = max(trace.strides[site], stride)
    trace.stride_sum[site] += min(max(stride, 1), end - first)
    if kind != SHARED:
        warp_lines(trace, site, array, group, elements, active, first, end)


@compiled
def warp_lines(trace, site, array, group, elements, active, first, end):
    """Run the distinct lines of a warp through the cache, in ascending lane order."""
    shift = trace.machine[0]
    base, width = trace.layout[array, 0], trace.layout[array, 1]
    lines = trace.lines
    n_lines, previous = 0, -1
    for slot in range(first, end):
        if not active[slot]:
            continue
        line = (base + elements[slot] * width) >> shift
        known = line == previous
        previous = line
        if not known:
            for at in range(n_lines):
                if lines[at] == line:
                    known = True
                    break
        if known:
            if group == CONSTANT:
                break
            continue
        lines[n_lines] = line
        n_lines += 1
        trace.touched[site, line] = 1
        if use_line(trace.recent, line) == trace.recent.shape[1]:
            trace.misses[site, group] += 1
    trace.accesses[site] += n_lines


@compiled
def split(trace, control, active, then, otherwise):
    """Count the warps of a branch; returns 1 if any thread takes it, plus 2 if any does not."""
    lanes = trace.machine[1]
    result = 0
    for first in range(0, active.size, lanes):
        here = yes = no = False
        for slot in range(first, min(first + lanes, active.size)):
            here |= active[slot] != 0
            yes |= then[slot] != 0
            no |= otherwise[slot] != 0
        trace.control[control, 0] += here
        trace.control[control, 1] += yes
        trace.control[control, 2] += no
        result |= yes | (no << 1)
    return result


@compiled
def enter(trace, control, active):
    """Count the warps that come to a loop."""
    lanes = trace.machine[1]
    for first in range(0, active.size, lanes):
        here = False
        for slot in range(first, min(first + lanes, active.size)):
            here |= active[slot] != 0
        trace.control[control, 0] += here


@compiled
def begin_as(active, before):
    """Let the same threads take part in a loop as before it.

    For a slice in the generated code numba would compile its checks in each process, which takes seconds.
    """
    for slot in range(active.size):
        active[slot] = before[slot]


@compiled
def iterate(trace, control, active):
    """Count the warps with another iteration; returns whether there are any and steps are left."""
    lanes = trace.machine[1]
    going = False
    for first in range(0, active.size, lanes):
        here = False
        for slot in range(first, min(first + lanes, active.size)):
            here |= active[slot] != 0
        trace.control[control, 1] += here
        going |= here
    return going and step(trace, control)


@compiled
def step(trace, control):
    """Count one lock-step iteration; returns False when the bound is reached."""
    trace.stop[2] += 1
    if trace.stop[2] > trace.stop[3]:
        trace.stop[0] = ENDLESS
        trace.stop[1] = control
        return False
    return True
