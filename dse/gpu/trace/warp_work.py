"""What one warp asks of the memory and of the arithmetic units: addresses of sampled warps at the work size.

No thread is executed. The walk of ``counting`` gives values to the lanes of some warps; here some values of each loop
are followed, at changing places, so that all alignments occur, and the distinct lines and sectors of each access are
counted. Lines of 128 bytes and sectors of 32 bytes are the units of all caches since compute capability 2.0 (CUDA C
Programming Guide, sections on global memory of each capability).
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field

import numpy as np

from dse.gpu.kernel.counting import LaneWalk, sampled_warps, spread
from dse.gpu.kernel.held_values import without_held_loads
from dse.gpu.kernel.lanes import Vector
from dse.gpu.kernel.plan import Access, Barrier, Branch, Loop, Node, Plan, Store, WhileLoop, sub_nodes
from dse.gpu.kernel.running_indices import with_running_indices
from dse.gpu.kernel.steering import names_in
from dse.gpu.trace.execute import memory_layout
from dse.gpu.trace.thread_expressions import offset_of
from dse.model.kernel import LINE_BYTES, SECTOR_BYTES, Axis, Stride, WarpAccess, WarpWork
from dse.passes.analyses.affine import affine
from dse.program.ir import Binary, Call, Cast, Conditional, Const, Expr, Index, Unary
from dse.program.types import FloatType, Type
from dse.program.walk import operands_of, sub_expressions

FOLLOWED = (8, 4, 2)
"""Values of a loop at which addresses are looked at, by depth; one below."""
WARPS = 24
"""Sampled warps."""
BANKS, WORD_BYTES = 32, 4
"""Of shared memory (CUDA C Programming Guide, since compute capability 2.0)."""
_AXES: tuple[Axis, ...] = ("x", "y", "z")
_QUOTIENT = ("/", "mod")
_LOOP_INSTRUCTIONS = 2.0
"""An addition and a branch, for each round of a loop."""
_BRANCH = np.array([0.0, 0.0, 0.0, 1.0])
"""The instruction of a condition besides its comparison, by unit as in ``_units``."""
_DIVISION = 8.0
"""Instructions of a division or square root besides the one of the special unit: Newton steps. An assumption."""
_FUNCTION = 20.0
"""The same of a mathematical function. An assumption."""
_SINGLE = ("abs", "labs", "fabs", "fmin", "fmax", "min", "max", "floor", "ceil", "trunc")
"""Functions that are one instruction (CUDA C Programming Guide, appendix of mathematical functions)."""
_CONVERTING = 1
"""The unit that converts between float and double, which is as slow as arithmetic of doubles (there, throughput)."""


def warp_work(plan: Plan, block: tuple[int, int, int], control: np.ndarray, *, lanes: int = 32) -> WarpWork:
    """Return the work of one warp of ``plan.kernel`` in blocks of a shape.

    ``control`` are the branch and loop counts of the trace, shape (controls, 3); they decide only what data decide.
    """
    nodes = with_running_indices(without_held_loads(plan.nodes), plan)
    conditions = tuple(node.condition for node in nodes if isinstance(node, Branch) and node.of_statement)
    sample = sampled_warps(plan.kernel, block, lanes, WARPS, apart=conditions)
    active = sample.active
    walk = _Walk(plan, control, sample.values, active)
    walk.body(nodes, active, sample.weights, ordered=True)
    walk.nodes(nodes, active, sample.weights, 0)
    warps = float(sample.weights[active.any(axis=1)].sum()) or 1.0
    return WarpWork(
        accesses=tuple(walk.access_of(tally, warps) for tally in walk.tallies.values() if tally.executions > 0),
        waits=walk.waits / warps,
        streams=walk.streams / warps,
        local_waits=walk.local_waits / warps,
        fp32=float(walk.units[0]) / warps,
        fp64=float(walk.units[1]) / warps,
        special=float(walk.units[2]) / warps,
        integer=float(walk.units[3]) / warps,
        active=sample.share,
        shared_cycles=walk.shared_cycles / warps,
    )


@dataclass(slots=True)
class _Tally:
    """Sums over the executions of an access: a weight for each, and how many lines and sectors they touched."""

    access: Access
    strides: tuple[Stride, ...] | None
    executions: float = 0.0
    sums: np.ndarray = field(default_factory=lambda: np.zeros(5))
    """Lines, sectors, whole, partial and lone sectors."""


class _Walk(LaneWalk):
    """Follows some values of each loop and looks at the addresses there."""

    __slots__ = ("layout", "local_waits", "number", "open", "shared_cycles", "streams", "tallies", "units", "waits")

    def __init__(self, plan: Plan, control: np.ndarray, coordinates: Mapping[str, Vector], active: Vector) -> None:
        super().__init__(plan, control, coordinates, active)
        self.tallies: dict[int, _Tally] = {}
        self.layout = memory_layout(plan.kernel)
        self.number = {array.name: k for k, array in enumerate(plan.kernel.arrays)}
        self.open: list[tuple[Loop, float]] = []
        self.units = np.zeros(4)
        self.waits = self.streams = self.local_waits = self.shared_cycles = 0.0

    # Loads and stores -------------------------------------------------------------------------------------------------

    def access(self, access: Access, mask: Vector, weight: np.ndarray, here: float) -> None:
        """Look at the addresses of an access; an element in a register has a store, which others may read."""
        if access.array.storage == "shared":
            self.units[3] += here
            self.shared_cycles += self._conflicts(access, mask, weight)
        elif access.array.storage == "global" and (access.site >= 0 or access.is_store):
            self._global(access, mask, weight, here)

    def _global(self, access: Access, mask: Vector, weight: np.ndarray, here: float) -> None:
        """Look at the addresses of an access of global memory."""
        if id(access) not in self.tallies:
            self.tallies[id(access)] = _Tally(access, self._strides(access))
        tally = self.tallies[id(access)]
        if access.site < 0 and self.open and not _loads(self.open[-1][0].body):
            weight = weight / max(1.0, self.open[-1][1])  # nothing in the loop can read it: it is stored once
            here /= max(1.0, self.open[-1][1])
        tally.executions += here
        self.units[3] += here
        used = mask.any(axis=1) & (weight > 0)
        if not used.any():
            return
        offset = self.value(offset_of(access.array, access.indices))
        if offset is None:
            tally.sums += here * self._unknown(access)
            return
        first, width = self.layout[self.number[access.array.name]][:2]
        address = int(first) + np.broadcast_to(np.asarray(offset, dtype=np.int64), mask.shape)[used] * int(width)
        counted = _pieces(address, mask[used], int(width), stores=access.is_store)
        tally.sums += (counted * weight[used, None]).sum(axis=0)

    def _conflicts(self, access: Access, mask: Vector, weight: np.ndarray) -> float:
        """Return the cycles of an access of shared memory: the most words that its lanes want of one bank."""
        used = mask.any(axis=1) & (weight > 0)
        offset = self.value(offset_of(access.array, access.indices))
        if offset is None or not used.any():
            return float((weight * mask.any(axis=1)).sum())
        at = np.broadcast_to(np.asarray(offset, dtype=np.int64), mask.shape)[used] * access.array.element_bytes
        total = 0.0
        for words, lanes, times in zip(at // WORD_BYTES, mask[used], weight[used], strict=True):
            total += float(times) * float(np.bincount(np.unique(words[lanes]) % BANKS).max())
        return total

    def _unknown(self, access: Access) -> np.ndarray:
        """Return what an access at places that data decide touches: a sector a lane."""
        lanes = float(self.active.shape[1])
        return np.array([lanes, lanes, 0.0, 0.0, lanes if access.is_store else 0.0])

    def _strides(self, access: Access) -> tuple[Stride, ...] | None:
        """Return the strides of an access, those of the loops around it first, the innermost before the others."""
        form = affine(offset_of(access.array, access.indices))
        if form is None:
            return None
        steps, width, found = dict(form.terms), access.array.element_bytes, []
        counted = {loop.variable.name for loop, _ in self.open} | {p.variable.name for p in self.plan.kernel.parallel}
        for loop, trips in reversed(self.open):
            factor = steps.pop(loop.variable.name, 0)
            found.append(Stride("loop", factor * loop.step * width, trips))
            for name, of_begin in _begin(loop, counted) if factor else ():
                steps[name] = steps.get(name, 0) + factor * of_begin
        for axis, parallel in zip(_AXES, self.plan.kernel.parallel, strict=False):
            step = steps.pop(parallel.variable.name, 0) * parallel.step * width
            found.append(Stride(axis, step, float(parallel.width)))
        scalars = {s.variable.name for s in self.plan.kernel.scalars}
        return None if set(steps) - scalars else tuple(found)

    def access_of(self, tally: _Tally, warps: float) -> WarpAccess:
        """Return the means of an access."""
        mean = tally.sums / tally.executions
        array = tally.access.array
        elements = array.elements // array.dims[-1] if array.private else array.elements
        return WarpAccess(
            array=array.source_name,
            is_store=tally.access.is_store,
            element_bytes=array.element_bytes,
            array_bytes=elements * array.element_bytes,
            executions=tally.executions / warps,
            lines=float(mean[0]),
            sectors=float(mean[1]),
            whole=float(mean[2]),
            partial=float(mean[3]),
            lone=float(mean[4]),
            strides=tally.strides,
            kept=tally.access.site < 0,
            private=array.private,
        )

    # Loops ------------------------------------------------------------------------------------------------------------

    def rounds(self, loop: Loop, first: Vector, trips: Vector, weight: np.ndarray, depth: int) -> None:
        """Follow some rounds of a loop, each at another place of its part of them."""
        most = int(trips.max()) if trips.size else 0
        if most == 0:
            return
        busy = trips.max(axis=1)
        self.round_costs(loop.body, trips > 0, weight * busy)
        n = min(most, FOLLOWED[depth] if depth < len(FOLLOWED) else 1)
        places = np.arange(n) if n == most else spread(n, most, n)
        mean = float((weight * busy).sum() / weight[busy > 0].sum()) if (weight[busy > 0] > 0).any() else 0.0
        self.open.append((loop, mean))
        for place in places:
            self.known[loop.variable.name] = first + int(place) * loop.step
            self.nodes(loop.body, trips > place, weight * (most / n), depth + 1)
        self.open.pop()

    def repeated(self, loop: Loop | WhileLoop, mask: Vector, weight: np.ndarray, rounds: float, depth: int) -> None:
        """Look at one round of a loop that data end, for its mean number of rounds."""
        nodes = (*loop.test, *loop.body) if isinstance(loop, WhileLoop) else loop.body
        self.round_costs(nodes, mask, weight * rounds, ordered=isinstance(loop, WhileLoop))
        super().repeated(loop, mask, weight, rounds, depth)

    def round_costs(self, nodes: tuple[Node, ...], mask: Vector, times: np.ndarray, *, ordered: bool = False) -> None:
        """Count what a round of a loop costs besides its statements: going round, and waiting for its loads.

        ``ordered``: whether there is a next round shows only at the end of this one, as in a ``while``.
        """
        self.units[3] += _LOOP_INSTRUCTIONS * float((times * mask.any(axis=1)).sum())
        self.body(nodes, mask, times, ordered=ordered or _orders(nodes) or _chases(nodes))

    def body(self, nodes: tuple[Node, ...], mask: Vector, times: np.ndarray, *, ordered: bool) -> None:
        """Count the rounds of loads of a body that is executed ``times`` by each warp that has lanes in ``mask``."""
        here = float((times * mask.any(axis=1)).sum())

        def shares(branch: Branch) -> tuple[float, float]:
            return self._shares(branch, mask, times)

        self.local_waits += here * _load_rounds(nodes, shares, private=True)[0]
        rounds = here * _load_rounds(nodes, shares)[0]
        if ordered:
            self.waits += rounds
        else:
            self.streams += rounds

    def _shares(self, branch: Branch, mask: Vector, times: np.ndarray) -> tuple[float, float]:
        """Return how many warps of a mask have a lane in each arm of a branch, as shares; 1 where it is not known."""
        condition = self.value(branch.condition)
        here = float((times * mask.any(axis=1)).sum())
        if condition is None or not here:
            return 1.0, 1.0
        met = np.broadcast_to(np.asarray(condition) != 0, mask.shape)
        then, otherwise = (float((times * (mask & lanes).any(axis=1)).sum()) / here for lanes in (met, ~met))
        return then, otherwise

    # Arithmetic -------------------------------------------------------------------------------------------------------

    def store(self, store: Store, mask: Vector, weight: np.ndarray) -> None:
        """Count the instructions of an assigned value."""
        if not store.is_instruction:
            self.known[store.name] = None if store.value is None else self.value(store.value)
            return
        super().store(store, mask, weight)
        if store.value is not None:
            self.units += float((weight * mask.any(axis=1)).sum()) * _units(store.value)

    def tested(self, condition: Expr, mask: Vector, weight: np.ndarray) -> None:
        """Count the instructions of a condition, and the branch."""
        self.units += float((weight * mask.any(axis=1)).sum()) * (_units(condition) + _BRANCH)


def _begin(loop: Loop, counted: set[str]) -> tuple[tuple[str, int], ...]:
    """Return how the begin of a loop moves with each variable that is counted around it."""
    low = affine(loop.low)
    return () if low is None else tuple((name, factor) for name, factor in low.terms if name in counted)


def _pieces(address: np.ndarray, mask: Vector, width: int, *, stores: bool) -> np.ndarray:
    """Return lines, sectors, and of a store whole, partial and lone sectors of each warp, shape (warps, 5)."""
    warps = len(address)
    row = np.broadcast_to(np.arange(warps)[:, None], address.shape)[mask]
    at = address[mask]
    low = int(at.min())
    span = int(at.max()) - low + LINE_BYTES
    low -= low % LINE_BYTES
    span += LINE_BYTES - span % LINE_BYTES + LINE_BYTES
    elements = np.unique(row * span + (at - low))  # what several lanes touch counts once
    sectors, in_sector = np.unique(elements // SECTOR_BYTES, return_counts=True)
    lines, in_line = np.unique(sectors // (LINE_BYTES // SECTOR_BYTES), return_counts=True)
    of_line, of_sector = lines // (span // LINE_BYTES), sectors // (span // SECTOR_BYTES)
    found = np.zeros((warps, 5))
    found[:, 0] = np.bincount(of_line, minlength=warps)
    found[:, 1] = np.bincount(of_sector, minlength=warps)
    if stores:
        whole = in_sector >= SECTOR_BYTES // width
        alone = whole & (in_line[np.searchsorted(lines, sectors // (LINE_BYTES // SECTOR_BYTES))] == 1)
        found[:, 4] = np.bincount(of_sector, alone, minlength=warps)
        found[:, 2] = np.bincount(of_sector, whole, minlength=warps) - found[:, 4]
        found[:, 3] = found[:, 1] - found[:, 2] - found[:, 4]
    return found


def _load_rounds(  # ways: one case a node
    nodes: Iterable[Node],
    shares: Callable[[Branch], tuple[float, float]],
    waiting: bool = False,
    *,
    private: bool = False,
) -> tuple[float, bool]:
    """Return the rounds of loads of a body, its loops apart, and whether a round is open at its end.

    ``shares``: of the warps that have a lane in each arm of a branch.

    Loads that stand together go out together. A store ends the round, since it may change what the next load reads; a
    load whose address is loaded waits for one more. ``private``: of local memory, which only its own stores change.
    """
    rounds = 0.0
    for node in nodes:
        match node:
            case Access() if node.array.private != private:
                pass
            case Access(is_store=True) | Barrier() | Loop() | WhileLoop():
                waiting = False
            case Access() if node.site >= 0 and node.array.storage == "global":
                rounds += (not waiting) + (waiting and _address_is_loaded(node))
                waiting = True
            case Branch():
                arms = [_load_rounds(arm, shares, waiting, private=private) for arm in (node.then, node.otherwise)]
                rounds += max(share * count for share, (count, _) in zip(shares(node), arms, strict=True))
                waiting = waiting and all(open_ for _, open_ in arms)
            case _:
                pass
    return rounds, waiting


def _loads(nodes: Iterable[Node]) -> bool:
    """Whether nodes load from global memory."""
    return any(
        isinstance(n, Access) and not n.is_store and n.site >= 0 and n.array.storage == "global"
        for n in sub_nodes(nodes)
    )


def _address_is_loaded(access: Access) -> bool:
    return any(map(_reads_memory, access.indices))


def _reads_memory(expression: Expr) -> bool:
    return any(isinstance(part, Index) for part in sub_expressions(expression))


def _orders(nodes: Iterable[Node]) -> bool:
    """Whether a body has a store or barrier, so that loads of its next round come after those of this one.

    Nobody else can read the local memory of a thread.
    """
    for node in nodes:
        match node:
            case Access() if node.array.private:
                pass
            case Access(is_store=True) | Barrier() | Loop() | WhileLoop():
                return True
            case Branch() if _orders((*node.then, *node.otherwise)):
                return True
            case _:
                pass
    return False


def _chases(nodes: tuple[Node, ...]) -> bool:
    """Whether a body loads from an address that its previous round has loaded: a pointer chase."""
    later = {
        n.name
        for n in sub_nodes(nodes)
        if isinstance(n, Store) and not n.indices and n.value is not None and _reads_memory(n.value)
    }
    for node in sub_nodes(nodes):
        match node:
            case Access(is_store=False) if later & names_in(node.indices):
                return True
            case Store(indices=()):
                later.discard(node.name)  # from here on the value is of this round
            case _:
                pass
    return False


def _units(expression: Expr) -> np.ndarray:
    """Return the instructions of an expression by unit: fp32, fp64, special, integer; subscripts are not counted."""
    count = np.zeros(4)
    match expression:
        case Index():
            return count
        case Binary():
            count = _operation(expression)
        case Call() if expression.routine.removesuffix("f") in _SINGLE:
            count[_unit_of(expression)] += 1
        case Call():
            count[2] += 1
            count[_unit_of(expression)] += _DIVISION if "sqrt" in expression.routine else _FUNCTION
        case Cast() if {_width(expression.type), _width(expression.operand.type)} == {32, 64}:
            count[_CONVERTING] += 1
        case Unary() | Conditional():
            count[_unit_of(expression)] += 1
        case _:
            pass
    for operand in operands_of(expression):
        count = count + _units(operand)
    return count


def _operation(expression: Binary) -> np.ndarray:
    """Return the instructions of an operation itself; a product that is added is part of the addition (fma).

    It is so in one precision only. A float beside a double is converted first, where it is no literal.
    """
    count, unit, operands = np.zeros(4), _unit_of(expression), operands_of(expression)
    if expression.op in _QUOTIENT:
        count[unit] += _DIVISION
        count[2] += 1
    elif not (expression.op in ("+", "-") and unit < 2 and any(_is_product(o, unit) for o in operands)):
        count[unit] += 1  # in a sum of a product the product's instruction does the addition, too
    if unit == 1:
        count[_CONVERTING] += sum(_width(o.type) == 32 and not isinstance(o, Const) for o in operands)
    return count


def _is_product(expression: Expr, unit: int) -> bool:
    return isinstance(expression, Binary) and expression.op == "*" and _unit_of(expression) == unit


def _unit_of(expression: Expr) -> int:
    """Return the unit of an expression: for an operation the one of the widest number in it."""
    operands = operands_of(expression)
    of = [o.type for o in operands] if operands and isinstance(expression, Binary) else [expression.type]
    bits = max(map(_width, of))
    return {0: 3, 64: 1}.get(bits, 0)


def _width(of: Type) -> int:
    """Return the bits of a floating-point number, 0 for any other type."""
    return of.bits if isinstance(of, FloatType) else 0
