"""The cost of a firing on a GPU: loop nests by a kernel cost model, the rest as one thread, SIMD blocks of firings.

How an actor runs there (paper on profiling Exelixi CUDA programs, sections 4.1 and 4.3): its scheduler is a kernel of
``th`` blocks of ``bl`` threads that fires the actor as long as it can. A firing therefore pays no launch: the weights
of that paper are differences of two clock readings inside the running kernel. Loops that are parallel are shared by
the threads; whatever is not parallel is done by one of them. Stateless actions fire many at once: one firing a thread,
or one firing a block of threads that share its loops, whichever is quicker.

What differs from the models of kernels, because a firing is much smaller than what they were made for:

* The time is never below that of one warp's own instructions, each waiting for the one before it
  (``latency_cycles.arithmetic``): the throughput of a multiprocessor takes many warps to reach.
* The blocks are spread over the multiprocessors, one each before any has two.
* Threads of several blocks meet at a barrier behind each loop nest: an atomic and a read of L2.
"""

import math
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Literal, TypeAlias

from dse.base.errors import DseError, ModelNotApplicable, OptionError
from dse.gpu.actors.bodies import Body, Piece, body_of, simd_kernel
from dse.gpu.default_device import ACTOR_MODELS, DEFAULT_MODEL
from dse.gpu.models import KERNEL_COST_MODELS
from dse.gpu.models.seam import KernelCostModel
from dse.gpu.trace.features import kernel_features
from dse.model.device import Device
from dse.model.kernel import Kernel, KernelFeatures
from dse.model.rounds import LoopKey, Rounds
from dse.passes.analyses.nominal import GPU_CYCLES, Prices, cycles_alone
from dse.passes.analyses.operations import ASSUMED_TRIPS, OperationCounter, OperationCounts
from dse.program.ir import Action, Actor

Confidence: TypeAlias = Literal["medium", "low"]
"""``medium``: a kernel cost model on affine loops. ``low``: one thread, or something made up decides."""
_CostKey: TypeAlias = tuple[int, str, tuple[tuple[LoopKey, Fraction], ...]]
"""Identity of the actor (the body beside the cost keeps it alive), action, and the rounds of the loops."""
USER = "the cost of a firing"
_OWN_CONSTANTS: tuple[str, ...] = (
    *("latency_l2_cycles", "latency_arithmetic_cycles", "delay_l2_cycles", "transactions"),
    *("l2_bytes", "l2_line_bytes", "l2_ways", "threads_per_sm", "blocks_per_sm"),
    *("launch_us", "synchronise_us", "transfer_latency_us", "transfer_gb_s"),
)
MOST_FIRINGS = 1024
"""Firings in a SIMD block, at most: the table of its costs has an entry for each size."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LaunchShape:
    """The threads that an actor is launched with: ``blocks`` (th) of ``threads`` each (bl)."""

    blocks: int
    threads: int

    @property
    def text(self) -> str:
        """As the user writes it."""
        return f"{self.blocks}x{self.threads}"


def default_shape(device: Device) -> LaunchShape:
    """Return blocks of 256 threads, as many as the device holds at once."""
    per_sm = int(device.require("threads_per_sm", USER))
    threads = max(1, min(256, device.threads_per_block or 256, per_sm))
    held = min(per_sm // threads, int(device.require("blocks_per_sm", USER)))
    return LaunchShape(blocks=max(1, held) * device.sms, threads=threads)


@dataclass(frozen=True, slots=True, kw_only=True)
class PieceCost:
    """A piece of a body: ``cycles`` of one of its ``times`` executions by ``threads``, ``alone_cycles`` by one thread.

    ``line``: of its loop nest, None for what is no kernel. ``features``: of what threads share, until
    its firings in blocks are priced, too. ``assumed``: what was made up for it.
    """

    line: int | None
    times: Fraction
    threads: int
    cycles: float
    alone_cycles: float
    reason: str
    assumed: tuple[str, ...] = ()
    features: KernelFeatures | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class FiringCost:
    """The cost of a firing in cycles of the device; ``alone_cycles``: by one thread.

    ``threads``: the most that any piece of it is shared by. ``simd_cycles[k - 1]``: k firings at once, empty without.
    ``reason`` says why it is one thread, or why there is no SIMD, or what was made up.
    """

    action: str
    cycles: Fraction
    alone_cycles: Fraction
    threads: int
    pieces: tuple[PieceCost, ...]
    confidence: Confidence
    reason: str
    simd_cycles: tuple[Fraction, ...] = ()
    made_up: tuple[str, ...] = ()
    """What threads were made to depend on that the source does not say."""

    @property
    def parallel(self) -> bool:
        """Whether more than one thread does something."""
        return self.threads > 1 or bool(self.simd_cycles)


def lone_prices(device: Device) -> Prices:
    """Return the cycles of each operation for a thread that runs alone, nothing overlapped.

    A load waits for L2 (mem_ld_L2 of CGPredict, which knows no cache above it); everything else takes the latency of an
    arithmetic instruction as often as on Volta, for which ``GPU_CYCLES`` has the numbers.
    """
    arithmetic = exact(device.require("latency_arithmetic_cycles", USER))
    prices = {op: Fraction(cycles, GPU_CYCLES["integer"]) * arithmetic for op, cycles in GPU_CYCLES.items()}
    return prices | {"load": exact(device.require("latency_l2_cycles", USER))}


def exact(value: float) -> Fraction:
    """Return a number of a file as it is written."""
    return Fraction(str(value))


def actor_model(name: str) -> KernelCostModel:
    """Return the kernel cost model that prices firings. Raises ``OptionError`` for one that cannot."""
    if name not in ACTOR_MODELS:
        raise OptionError(f"the model '{name}' prices no firings", expected=f"one of {', '.join(ACTOR_MODELS)}")
    model: KernelCostModel = KERNEL_COST_MODELS.load(name)
    return model


def constants_of(model: KernelCostModel) -> tuple[str, ...]:
    """Return the fields of ``Device`` that a prediction of weights cannot do without."""
    return tuple(dict.fromkeys((*_OWN_CONSTANTS, *model.constants)))


class FiringModel:
    """Costs of the firings of actors on one device by one kernel cost model; what was analysed once is kept.

    Raises ``OptionError`` for a model that prices no firings, ``FormatError`` for a device that lacks a constant.
    """

    def __init__(self, device: Device, shape: LaunchShape | None = None, model: str = DEFAULT_MODEL) -> None:
        self.model = actor_model(model)
        for constant in constants_of(self.model):
            if constant == "transactions":
                device.require_classes("transactions", USER)
            else:
                device.require(constant, USER)
        self.device = device
        self.shape = shape or default_shape(device)
        self.prices = lone_prices(device)
        self._machine = device.trace_machine(USER)
        self._costs: dict[_CostKey, tuple[Body, FiringCost]] = {}
        self._simd: dict[_CostKey, tuple[KernelFeatures | str | None, tuple[str, ...]]] = {}

    def firing(self, actor: Actor, action: Action, *, longest_run: int = 0, rounds: Rounds | None = None) -> FiringCost:
        """Return the cost of an action's firing.

        ``longest_run``: of its firings in a row, when the actor is stateless: the largest SIMD block that can occur.
        ``rounds``: of the actor's loops in a run, for those whose ends depend on data.
        """
        key = (id(actor), action.name, tuple(sorted((rounds or {}).items())))
        if key not in self._costs:
            body = body_of(actor, action, rounds)
            self._costs[key] = body, self._single(body, rounds)
        body, cost = self._costs[key]
        return cost if longest_run < 2 else self._with_blocks(key, body, cost, longest_run)

    # One firing

    def _single(self, body: Body, rounds: Rounds | None) -> FiringCost:
        counter = OperationCounter(body.actor, rounds)
        counts = counter.body(body.action)
        alone = max(Fraction(1), cycles_alone(counts, self.prices))
        assumed = _assumed_rounds(counts)
        pieces = tuple(self._piece(piece, counter) for piece in body.pieces)
        cycles = sum((rounded(p.cycles) * p.times for p in pieces), start=Fraction(0))
        threads = max((p.threads for p in pieces), default=1)
        if threads == 1 or cycles >= alone:
            return FiringCost(
                action=body.action.name,
                cycles=alone,
                alone_cycles=alone,
                threads=1,
                pieces=pieces,
                confidence="low",
                reason=f"one thread: {_why_alone(body, pieces, assumed)}",
            )
        made_up = (*_assumed_by_threads(pieces), *assumed)
        return FiringCost(
            action=body.action.name,
            cycles=max(Fraction(1), cycles),
            alone_cycles=alone,
            threads=threads,
            pieces=pieces,
            confidence="low" if made_up else "medium",
            reason=f"made up: {', '.join(made_up)}" if made_up else "",
            made_up=made_up,
        )

    def _piece(self, piece: Piece, counter: OperationCounter) -> PieceCost:
        alone = float(cycles_alone(counter.statements(piece.statements), self.prices))
        line = None if piece.kernel is None else piece.kernel.span.line
        by_one = PieceCost(
            line=line,
            times=piece.times,
            threads=1,
            cycles=alone,
            alone_cycles=alone,
            reason=piece.reason,
            assumed=piece.assumed,
        )
        if piece.kernel is None:
            return by_one
        try:
            if self.shape.blocks * self.shape.threads == 1:
                raise ModelNotApplicable("the actor is launched with one thread")
            features = self._features(piece.kernel)
            cycles = self._shared(features)
        except DseError as error:
            return replace(by_one, reason=error.first_error.message)
        threads = min(features.threads, self.shape.blocks * self.shape.threads)
        if cycles >= alone:
            return replace(by_one, reason=f"line {line}: {threads} threads would take longer")
        return replace(by_one, threads=threads, cycles=cycles, features=features)

    def _features(self, kernel: Kernel) -> KernelFeatures:
        """Return the features of a kernel in blocks that fit it. Raises ModelNotApplicable for dependent threads."""
        block = fitted_block(kernel, self.shape.threads)
        features = kernel_features(kernel, kernel, self._machine, block=block, briefly=True, with_warp_work=True)
        if features.dependences:
            raise ModelNotApplicable(features.dependences[0].text, span=features.dependences[0].span)
        return features

    def _shared(self, features: KernelFeatures, *, meet: bool = True) -> float:
        """Return the cycles of a kernel that the actor's threads share; ``meet``: blocks wait for each other."""
        device = self._spread(features.blocks)
        cost = self.model.predict(features, device)
        assert cost.warp_wait_cycles is not None, "the models of firings always say"
        chain = cost.warp_wait_cycles + device.require("latency_arithmetic_cycles", USER) * features.mix.compute
        barrier = 2 * device.require("latency_l2_cycles", USER) if meet and features.blocks > 1 else 0.0
        return max(cost.cycles - cost.start_cycles, chain * max(1.0, cost.batch)) + barrier

    def _spread(self, blocks: int) -> Device:
        """Return the part of the device that a kernel of some blocks has: they are spread over multiprocessors."""
        sms = max(1, min(self.device.sms, self.shape.blocks, blocks))
        held = min(-(-blocks // sms), max(1, self.shape.blocks // sms))
        return replace(self.device, sms=sms, blocks_per_sm=min(held, self.device.blocks_per_sm or held))

    # Blocks of firings

    def _with_blocks(self, key: _CostKey, body: Body, cost: FiringCost, longest_run: int) -> FiringCost:
        """Return the cost with the table of SIMD blocks, where firings in parallel are quicker than one by one."""
        width = min(longest_run, self.shape.blocks * self.shape.threads, MOST_FIRINGS)
        if width < 2:
            return cost
        if key not in self._simd:
            self._simd[key] = self._simd_features(body)
        features, assumed = self._simd[key]
        cycles, by_thread = self._cycles_of_blocks(cost, features, width)
        if cycles[-1] >= width * cost.cycles:
            why = features if isinstance(features, str) else "one by one is quicker"
            return replace(cost, reason=_joined(cost.reason, f"no SIMD: {why}"))
        known = not assumed and (by_thread or cost.confidence == "medium")
        return replace(
            cost,
            simd_cycles=tuple(cycles),
            confidence="medium" if known else "low",
            reason=_joined(cost.reason, f"made up in SIMD: {', '.join(assumed)}" if assumed else ""),
            made_up=(*cost.made_up, *assumed),
        )

    def _cycles_of_blocks(
        self, cost: FiringCost, features: KernelFeatures | str | None, width: int
    ) -> tuple[list[Fraction], bool]:
        """Return the cycles of 1 to ``width`` firings at once, and whether a firing a thread is best for the most."""
        cycles, by_thread = [Fraction(0)], False
        for k in range(1, width + 1):
            best, by_thread = self._quickest(cost, features, k)
            cycles.append(max(best, cycles[-1]))
        return cycles[1:], by_thread

    def _quickest(self, cost: FiringCost, features: KernelFeatures | str | None, k: int) -> tuple[Fraction, bool]:
        """Return the least cycles of k firings at once, and whether it takes a firing a thread to have them."""
        least = min(k * cost.cycles, self._a_block_each(cost, k))
        if isinstance(features, KernelFeatures):
            by_thread = rounded(self._shared(of_firings(features, k, self.shape.threads)))
            return min(least, by_thread), by_thread <= least
        return (min(least, cost.alone_cycles) if features is None else least), False

    def _a_block_each(self, cost: FiringCost, k: int) -> Fraction:
        """Return the cycles of k firings, each by a block of threads of its own; more than fit take turns."""
        turns = -(-k // self.shape.blocks)
        total = Fraction(0)
        for piece in cost.pieces:
            if piece.features is None:
                total += rounded(piece.cycles) * turns * piece.times
                continue
            of_all = replace(piece.features, blocks=piece.features.blocks * k, copies=k)
            total += rounded(self._shared(of_all, meet=piece.features.blocks > 1)) * piece.times
        return total if cost.pieces else turns * cost.alone_cycles

    def _simd_features(self, body: Body) -> tuple[KernelFeatures | str | None, tuple[str, ...]]:
        """Return the features of firings in parallel, and what was made up for them.

        Text says why there are none; None: a thread has nothing to do.
        """
        firings = min(MOST_FIRINGS, self._machine.batch_threads)
        try:
            kernel, assumed = simd_kernel(body, firings)
            features = self._features(kernel)
            if features.mix.total <= 0:
                return None, assumed
            self._shared(features)  # whatever is wrong shows now
            return features, assumed
        except DseError as error:
            return error.first_error.message, ()


def _assumed_rounds(counts: OperationCounts) -> tuple[str, ...]:
    return (f"{ASSUMED_TRIPS} rounds of {counts.assumed_loops} loops",) if counts.assumed_loops else ()


def _assumed_by_threads(pieces: tuple[PieceCost, ...]) -> tuple[str, ...]:
    """Return what was made up for the pieces that threads share, each once."""
    return tuple(dict.fromkeys(text for p in pieces if p.threads > 1 for text in p.assumed))


def _why_alone(body: Body, pieces: tuple[PieceCost, ...], assumed: tuple[str, ...]) -> str:
    """Return why a firing is left to one thread."""
    reasons = [body.why_not, *(p.reason for p in pieces if p.reason and p.threads == 1), *assumed]
    shared = any(p.threads > 1 for p in pieces)
    return next(filter(None, reasons), "threads would take longer" if shared else "it has no loop")


def _joined(*reasons: str) -> str:
    return "; ".join(filter(None, reasons))


def of_firings(features: KernelFeatures, k: int, threads: int) -> KernelFeatures:
    """Return the features of k firings, one a thread, in blocks of ``threads``: as many warps as they need."""
    threads = min(threads, -(-k // features.machine.warp_lanes) * features.machine.warp_lanes)
    return replace(features, extents=(k,), block=(threads, 1, 1), blocks=-(-k // threads))


def fitted_block(kernel: Kernel, threads: int) -> tuple[int, int, int]:
    """Return a block for a kernel's grid, not larger than the grid in any direction but for whole warps.

    Wide before high, so that warps are rows; a grid of one dimension fills whole warps.
    """
    widths = [loop.width for loop in kernel.parallel]
    x = min(_power_above(widths[0]), 32 if len(widths) > 1 else threads)
    if len(widths) == 1:
        x = min(threads, -(-x // 32) * 32)
    y = min(_power_above(widths[1]), max(1, threads // x)) if len(widths) > 1 else 1
    return x, y, 1


def _power_above(width: int) -> int:
    return 1 << max(0, math.ceil(math.log2(max(1, width))))


def rounded(cycles: float) -> Fraction:
    """Return cycles to a tenth: what a file holds, and the same on every machine."""
    return Fraction(round(cycles * 10), 10)
