"""How often one warp executes each instruction of a kernel at the work size, without executing the kernel.

Loops are multiplied where nothing in them depends on their variable, and else followed value by value (long ones at
evenly spaced values). Warps are sampled over the grid; where the lanes of a warp differ, the longest lane counts, as
in lock step. What depends on data was counted while threads were executed: the share of warps that took a branch, the
mean number of iterations of a loop.
"""

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

import numpy as np

from dse.gpu.kernel.lanes import Vector, combined, wrapped
from dse.gpu.kernel.plan import Access, Barrier, Branch, Loop, Node, Operations, Plan, Store, WhileLoop, sub_nodes
from dse.gpu.kernel.steering import integer_values, scalars_in, with_sources
from dse.model.kernel import Kernel
from dse.passes import arithmetic
from dse.program.ir import Binary, Cast, Conditional, Const, Expr, Load, Unary
from dse.program.types import IntType
from dse.program.walk import operands_of

SAMPLED_WARPS = 32
MOST_LISTED = 1 << 15
"""Warps of a grid that are looked at one by one to find those that have work."""
GOLDEN = 0.6180339887498949
"""Its multiples, without their integers, are spread evenly over 0 to 1."""
FOLLOWED_VALUES = (4096, 64, 8)
"""Values of a loop that are followed one by one, by depth of loops that are followed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkCounts:
    """Executions by one warp over the whole kernel, the mean of the sampled warps."""

    accesses: np.ndarray
    """Of each memory instruction (site), float64."""
    operations: np.ndarray
    """Of each ``Operations`` node."""
    barriers: np.ndarray
    from_data: tuple[str, ...]
    """What data decide and was counted while threads were executed, in words."""


def count_work(
    plan: Plan, block: tuple[int, int, int], control: np.ndarray, *, lanes: int = 32, warps: int = SAMPLED_WARPS
) -> WorkCounts:
    """Count for the sizes of ``plan.kernel``; ``control`` are the branch and loop counts of an execution."""
    sample = sampled_warps(plan.kernel, block, lanes, warps)
    active = sample.active
    counter = LaneWalk(plan, control, sample.values, active)
    counter.nodes(plan.nodes, active, np.ones(active.shape[0]), 0)
    n_warps = max(1, int(active.any(axis=1).sum()))
    return WorkCounts(
        accesses=counter.accesses / n_warps,
        operations=counter.operations / n_warps,
        barriers=counter.barriers / n_warps,
        from_data=tuple(dict.fromkeys(counter.from_data)),
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class SampledWarps:
    """Warps of a grid, evenly spaced. ``share``: of all warps, those that have a thread with work."""

    values: Mapping[str, Vector]
    """Of the parallel variables, shape (warps, lanes)."""
    active: Vector
    """Which lanes have work, of the same shape."""
    weights: np.ndarray
    """How many sampled warps each stands for, by the kinds of warps; 1 where all are of one kind."""
    share: float


def sampled_warps(
    kernel: Kernel, block: tuple[int, int, int], lanes: int, warps: int, *, apart: tuple[Expr, ...] = ()
) -> SampledWarps:
    """Return evenly spaced warps of a grid, of those that have work where these can be listed.

    ``apart``: conditions of the kernel. Warps that differ in which of them any of their lanes meets are kinds of their
    own, and some of each are sampled: a few warps out of many may be the only ones that do what is behind a condition.
    """
    grid = _Grid.of(kernel, block, lanes)
    working = grid.working() if grid.is_ragged() and warps < grid.warps <= MOST_LISTED else None
    chosen = _both_ends(grid.warps, warps) if working is None else working[_both_ends(len(working), warps)]
    weights = np.ones(len(chosen))
    if apart and grid.warps > warps:
        listed = _both_ends(grid.warps, MOST_LISTED) if working is None else working
        kinds = _kinds(kernel, apart, *grid.lanes_of(listed))
        if 0 < kinds.max() < warps:  # of more kinds than samples nobody could say which are seldom
            chosen, weights = _of_each_kind(listed, kinds, warps)
    values, active = grid.lanes_of(chosen)
    share = float(np.average(active.any(axis=1), weights=weights))
    if working is not None:
        share = len(working) / grid.warps
    return SampledWarps(values=values, active=active, weights=weights, share=share)


def _kinds(kernel: Kernel, conditions: tuple[Expr, ...], values: dict[str, Vector], active: Vector) -> np.ndarray:
    """Return the kind of each warp, a number: which conditions any of its lanes meets, and which any does not."""
    known: dict[str, Vector | int | None] = {**values, **integer_values(kernel)}
    found = np.zeros((len(active), 2 * len(conditions)), dtype=bool)
    for k, condition in enumerate(conditions):
        value = LaneValues(known).value(condition)
        if value is not None:
            met = np.broadcast_to(np.asarray(value) != 0, active.shape)
            found[:, 2 * k], found[:, 2 * k + 1] = (met & active).any(axis=1), (~met & active).any(axis=1)
    return np.unique(found, axis=0, return_inverse=True)[1].reshape(-1)


def _of_each_kind(listed: np.ndarray, kinds: np.ndarray, warps: int) -> tuple[np.ndarray, np.ndarray]:
    """Return some of each kind of the warps that are listed, more of the frequent ones, and what each stands for."""
    chosen, weights = list[np.ndarray](), list[np.ndarray]()
    for kind in range(int(kinds.max()) + 1):
        members = listed[kinds == kind]
        own = members[_both_ends(len(members), max(2, round(warps * len(members) / len(listed))))]
        chosen.append(own)
        weights.append(np.full(len(own), len(members) / len(own)))
    together = np.concatenate(weights)
    return np.concatenate(chosen), together * (len(together) / together.sum())


def _both_ends(total: int, most: int) -> np.ndarray:
    """Return evenly spaced numbers below ``total``, all if they are few.

    They come from both ends alike, so that a count that grows along the grid is met without bias.
    """
    if total <= most:
        return np.arange(total)
    half = spread(most // 2, total, most)
    return np.unique(np.concatenate([half, total - 1 - half]))


@dataclass(frozen=True, slots=True)
class _Grid:
    """The warps of a grid, which have numbers: those of a block follow each other, and blocks do, x first."""

    kernel: Kernel
    shape: tuple[int, ...]
    """Of a block, in as many axes as the kernel has."""
    blocks: tuple[int, ...]
    """Along each axis."""
    lanes: int

    @classmethod
    def of(cls, kernel: Kernel, block: tuple[int, int, int], lanes: int) -> "_Grid":
        """Return the grid of a kernel in blocks of a shape."""
        shape = block[: max(1, len(kernel.parallel))]
        blocks = tuple(-(-p.width // b) for p, b in zip(kernel.parallel, shape, strict=False)) or (1,)
        return cls(kernel, shape, blocks, lanes)

    @property
    def warps(self) -> int:
        """How many warps there are."""
        return math.prod(self.blocks) * -(-math.prod(self.shape) // self.lanes)

    def is_ragged(self) -> bool:
        """Whether some threads have no work."""
        return any(p.idle or p.width % b for p, b in zip(self.kernel.parallel, self.shape, strict=False))

    def working(self) -> np.ndarray:
        """Return the numbers of the warps that have a thread with work."""
        return np.flatnonzero(self.lanes_of(np.arange(self.warps))[1].any(axis=1))

    def lanes_of(self, chosen: np.ndarray) -> tuple[dict[str, Vector], Vector]:
        """Return the values of the parallel variables in some warps, given by number, and which lanes have work."""
        threads = math.prod(self.shape)
        per_block = -(-threads // self.lanes)
        in_block = (chosen % per_block)[:, None] * self.lanes + np.arange(self.lanes)[None, :]
        number = np.broadcast_to((chosen // per_block)[:, None], in_block.shape)
        active = in_block < threads
        values: dict[str, Vector] = {}
        for axis, loop in enumerate(self.kernel.parallel):
            place = in_block % self.shape[axis] + number % self.blocks[axis] * self.shape[axis]
            in_block, number = in_block // self.shape[axis], number // self.blocks[axis]
            active = active & (place >= loop.idle) & (place < loop.width)
            values[loop.variable.name] = loop.low + (place - loop.idle) * loop.step
        if not self.kernel.parallel:
            active = active & (np.arange(self.lanes)[None, :] == 0)
        return values, active


def spread(count: int, total: int, parts: int) -> np.ndarray:
    """Return one number in each of the first ``count`` of ``parts`` equal parts of ``total``, at another place in each.

    At the same place in each they would all be the same warp of a block, since both are powers of two as a rule.
    """
    part = np.arange(count)
    within = (part + 0.5) * GOLDEN % 1.0
    return np.minimum(((part + within) * (total / parts)).astype(np.int64), total - 1)


@dataclass(slots=True)
class LaneValues:
    """Values of scalars in the lanes of sampled warps, and of expressions of them."""

    known: dict[str, Vector | int | None]
    """Values of scalars; None (or absent): not known."""

    def value(self, expression: Expr) -> Vector | int | None:
        """Return the value of an integer or boolean expression in all lanes, None where data decide."""
        match expression:
            case Const(value=int(value)):
                return arithmetic.wrap(int(value), 64, True)
            case Load(name=name):
                return self.known.get(name)
            case Cast():
                return self._converted(expression)
            case Unary():
                return self._unary(expression)
            case Binary():
                return self._binary(expression)
            case Conditional():
                return self._chosen(expression)
            case _:
                return None

    def _converted(self, expression: Cast) -> Vector | None:
        value, of = self.value(expression.operand), expression.type
        if value is None or not isinstance(of, IntType) or not isinstance(expression.operand.type, IntType):
            return None
        return wrapped(np.asarray(value), of)

    def _unary(self, expression: Unary) -> Vector | None:
        inner = self.value(expression.operand)
        if inner is None:
            return None
        match expression.op:
            case "-":
                return np.asarray(-np.asarray(inner))
            case "~":
                return np.asarray(~np.asarray(inner))
            case _:
                return np.asarray(np.asarray(inner) == 0)

    def _binary(self, expression: Binary) -> Vector | None:
        left, right = self.value(expression.left), self.value(expression.right)
        if left is None or right is None:
            return None
        of = expression.left.type
        return combined(expression.op, np.asarray(left), np.asarray(right), of.size if isinstance(of, IntType) else 0)

    def _chosen(self, expression: Conditional) -> Vector | None:
        test, then, otherwise = (self.value(e) for e in operands_of(expression))
        if test is None or then is None or otherwise is None:
            return None
        return np.where(np.asarray(test) != 0, then, otherwise)


@dataclass(slots=True)
class LaneWalk(LaneValues):
    """A walk over a plan with the lanes of sampled warps side by side: who executes what, and how often."""

    plan: Plan
    control: np.ndarray
    active: Vector
    accesses: np.ndarray = field(init=False)
    operations: np.ndarray = field(init=False)
    barriers: np.ndarray = field(init=False)
    from_data: list[str] = field(default_factory=list)
    depends: dict[int, frozenset[str]] = field(default_factory=dict)

    def __init__(self, plan: Plan, control: np.ndarray, coordinates: Mapping[str, Vector], active: Vector) -> None:
        self.plan, self.control, self.active = plan, control, active
        self.known = {**coordinates, **integer_values(plan.kernel)}
        self._forget(plan.nodes)
        self.accesses = np.zeros(len(plan.accesses))
        self.operations = np.zeros(plan.n_operations)
        self.barriers = np.zeros(plan.n_barriers)
        self.from_data = []
        self.depends = {}

    def nodes(self, nodes: Iterable[Node], mask: Vector, weight: np.ndarray, depth: int) -> None:
        """Count nodes executed ``weight`` times by each warp that has lanes in ``mask``."""
        here = float((weight * mask.any(axis=1)).sum())
        for node in nodes:
            match node:
                case Access():
                    self.access(node, mask, weight, here)
                case Operations():
                    self.operations[node.site] += here
                case Barrier():
                    self.barriers[node.site] += here
                case Store():
                    self.store(node, mask, weight)
                case Branch():
                    self._branch(node, mask, weight, depth)
                case Loop():
                    self.loop(node, mask, weight, depth)
                case WhileLoop():
                    self._while(node, mask, weight, depth)

    def access(self, access: Access, _mask: Vector, _weight: np.ndarray, here: float) -> None:
        """Count a memory instruction, executed ``here`` times by all sampled warps together."""
        if access.site >= 0:
            self.accesses[access.site] += here

    def store(self, store: Store, mask: Vector, _weight: np.ndarray) -> None:
        """Note the value that a scalar has from here on."""
        if store.indices:
            return
        value = self.value(store.value) if store.value is not None else None
        if value is not None and isinstance(store.type, IntType):
            value = wrapped(np.asarray(value), store.type)
        self.known[store.name] = value if mask.all() or np.array_equal(mask, self.active) else None

    def _branch(self, branch: Branch, mask: Vector, weight: np.ndarray, depth: int) -> None:
        if branch.of_statement:
            self.tested(branch.condition, mask, weight)
        condition = self.value(branch.condition)
        if condition is None:
            came, yes, no = (float(c) for c in self.control[branch.control])
            self._note(f"the share of warps that take the branch in line {branch.span.line} ({_percent(yes, came)})")
            self._forget((*branch.then, *branch.otherwise))
            self.nodes(branch.then, mask, weight * (yes / came if came else 0.5), depth)
            self.nodes(branch.otherwise, mask, weight * (no / came if came else 0.5), depth)
            self._forget((*branch.then, *branch.otherwise))
            return
        taken = np.broadcast_to(np.asarray(condition) != 0, mask.shape)
        for nodes, lanes in ((branch.then, mask & taken), (branch.otherwise, mask & ~taken)):
            if lanes.any():
                self.nodes(nodes, lanes, weight, depth)

    def loop(self, loop: Loop, mask: Vector, weight: np.ndarray, depth: int) -> None:
        """Walk the body of a loop: once with its trips as a weight, or for some of its values."""
        low, high = self.value(loop.low), self.value(loop.high)
        name = loop.variable.name
        self._forget(loop.body)
        if low is None or high is None:
            came, rounds = float(self.control[loop.control, 0]), float(self.control[loop.control, 1])
            mean = rounds / came if came else 0.0
            self._note(f"the mean number of iterations of the loop in line {loop.span.line} ({mean:.6g})")
            self.known[name] = None
            self.repeated(loop, mask, weight, mean, depth)
            self._forget(loop.body)
            return
        first = np.broadcast_to(np.asarray(low, dtype=np.int64), mask.shape)
        trips = np.maximum(0, (np.broadcast_to(np.asarray(high), mask.shape) - first) // loop.step + 1)
        trips = np.where(mask, trips, 0)
        self.rounds(loop, first, trips, weight, depth)
        self._forget(loop.body)
        self.known.pop(name, None)

    def rounds(self, loop: Loop, first: Vector, trips: Vector, weight: np.ndarray, depth: int) -> None:
        """Walk the rounds of a loop, of which each lane has ``trips`` from its value ``first`` on."""
        if self._matters(loop):
            self._follow(loop, first, trips, weight, depth)
            return
        longest = trips.max(axis=1) if trips.size else np.zeros(0)
        self.known[loop.variable.name] = None
        self.nodes(loop.body, trips > 0, weight * longest, depth)

    def _follow(self, loop: Loop, first: Vector, trips: Vector, weight: np.ndarray, depth: int) -> None:
        """Count a loop's values one by one, or evenly spaced ones that stand for those around them."""
        most = int(trips.max())
        allowed = FOLLOWED_VALUES[min(depth, len(FOLLOWED_VALUES) - 1)]
        n = min(most, allowed)
        places = np.arange(n) if n == most else (2 * np.arange(n) + 1) * most // (2 * n)
        for place in places:
            self.known[loop.variable.name] = first + int(place) * loop.step
            self.nodes(loop.body, trips > place, weight * (most / n), depth + 1)

    def _while(self, loop: WhileLoop, mask: Vector, weight: np.ndarray, depth: int) -> None:
        came, rounds = float(self.control[loop.control, 0]), float(self.control[loop.control, 1])
        mean = rounds / came if came else 0.0
        self._note(f"the mean number of iterations of the loop in line {loop.span.line} ({mean:.6g})")
        self._forget((*loop.test, *loop.body))
        self.tested(loop.condition, mask, weight * (mean + 1))
        self.nodes(loop.test, mask, weight * (mean + 1), depth)
        self.repeated(loop, mask, weight, mean, depth)
        self._forget(loop.body)

    def repeated(self, loop: Loop | WhileLoop, mask: Vector, weight: np.ndarray, rounds: float, depth: int) -> None:
        """Walk once the body of a loop that data end, with its mean number of rounds as a weight."""
        self.nodes(loop.body, mask, weight * rounds, depth)

    def tested(self, condition: Expr, mask: Vector, weight: np.ndarray) -> None:
        """Count the test of a statement's condition, made ``weight`` times by each warp; here it costs nothing."""

    def _note(self, text: str) -> None:
        self.from_data.append(text)

    def _forget(self, nodes: Iterable[Node]) -> None:
        """Forget the values of scalars that nodes assign: they differ from iteration to iteration."""
        for node in sub_nodes(nodes):
            if isinstance(node, Store) and not node.indices:
                self.known[node.name] = None

    def _matters(self, loop: Loop) -> bool:
        """Whether what is executed in the body depends on the loop's variable."""
        if loop.control not in self.depends:
            deciding = scalars_in(e for node in sub_nodes(loop.body) for e in _control_expressions(node))
            self.depends[loop.control] = frozenset(with_sources(deciding, loop.body, scalars_in))
        return loop.variable.name in self.depends[loop.control]


def _percent(part: float, whole: float) -> str:
    return f"{100 * part / whole:.1f} %" if whole else "never reached, half assumed"


def _control_expressions(node: Node) -> tuple[Expr, ...]:
    """Return the bounds and the condition of a node; a loop without bounds is counted as in the trace."""
    match node:
        case Branch():
            return (node.condition,)
        case Loop():
            return (node.low, node.high)
        case _:
            return ()
