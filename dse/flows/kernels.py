"""A C file at several sizes: lowered once for each set of sizes, and the features of its kernels."""

from dataclasses import dataclass, field
from typing import TypeAlias

from dse.frontend.c.lower import read_kernels
from dse.gpu.trace.features import kernel_features
from dse.model.kernel import Kernel, KernelFeatures, TraceMachine
from dse.passes.analyses.parallel_loops import parallelise, require_parallel
from dse.program.ir import ForEach, If, Stmt, While

Block: TypeAlias = tuple[int, int, int]
TRACE_SIZE_1D, TRACE_SIZE_2D = 1024, 128
DEEP = 2
"""Loops inside each other in one thread from which on a grid of one dimension is traced at the smaller size."""
LEAST_SCALED = 64
"""Sizes below this stay as they are when a work size is halved: they are widths and counts, not amounts of data."""


def default_trace_size(kernel: Kernel) -> int:
    """Return the size at which a kernel is traced: 1024 for one parallel loop, 128 for two (table 4 of CGPredict).

    One parallel loop around a nest of loops is traced at 128, too, as CORR and COVAR are in table 4: a thread of theirs
    does the square of the work.
    """
    return TRACE_SIZE_1D if len(kernel.parallel) == 1 and _depth(kernel.body) < DEEP else TRACE_SIZE_2D


def _depth(body: tuple[Stmt, ...]) -> int:
    """Return how deep loops stand inside each other."""
    depth = 0
    for statement in body:
        match statement:
            case ForEach() | While():
                depth = max(depth, 1 + _depth(statement.body))
            case If():
                depth = max(depth, _depth(statement.then), _depth(statement.otherwise))
            case _:
                pass
    return depth


@dataclass(slots=True)
class KernelSource:
    """A C file with macros given by the user; kernels at other sizes come from the same text."""

    path: str
    defines: tuple[tuple[str, str], ...] = ()
    function: str | None = None
    promote: bool = True
    tiles: tuple[str, ...] = ()
    parallel: tuple[str, ...] = ()
    _lowered: dict[tuple[tuple[str, str], ...], tuple[Kernel, ...]] = field(default_factory=dict)

    def work(self) -> tuple[Kernel, ...]:
        """Return the kernels at the work size. Raises ``ModelNotApplicable`` for one without a parallel loop."""
        kernels = self._kernels(self.defines)
        for kernel in kernels:
            require_parallel(kernel)
        return kernels

    def traced(self, size: int) -> tuple[Kernel, ...]:
        """Return the kernels with every size that is greater than ``size`` set to it."""
        return self._kernels(self._with({name: min(value, size) for name, value in self.sizes()}))

    def scaled(self, divisor: int) -> "KernelSource":
        """Return the source with every size divided; sizes below 64 stay."""
        smaller = {name: value // divisor for name, value in self.sizes() if value // divisor >= LEAST_SCALED}
        return KernelSource(self.path, self._with(smaller), self.function, self.promote, self.tiles, self.parallel)

    def sizes(self) -> tuple[tuple[str, int], ...]:
        """Return the named sizes of all kernels and their values."""
        return tuple(dict(pair for kernel in self.work() for pair in kernel.sizes).items())

    def array_bytes(self) -> int:
        """Return the bytes of all global arrays."""
        arrays = {
            (k.function, a.source_name): a.elements * a.element_bytes
            for k in self.work()
            for a in k.arrays
            if a.storage == "global"
        }
        return sum(arrays.values())

    def features(self, work: Kernel, trace: Kernel, block: Block | None, machine: TraceMachine) -> KernelFeatures:
        """Return the features of a kernel: counts from ``work``, memory behaviour from ``trace``."""
        return kernel_features(
            work, trace, block=block, machine=machine, promote_accumulators=self.promote, with_warp_work=True
        )

    def _with(self, sizes: dict[str, int]) -> tuple[tuple[str, str], ...]:
        changed = {name: str(value) for name, value in sizes.items() if value != dict(self.sizes())[name]}
        return tuple((dict(self.defines) | changed).items())

    def _kernels(self, defines: tuple[tuple[str, str], ...]) -> tuple[Kernel, ...]:
        if defines not in self._lowered:
            lowered = read_kernels(self.path, dict(defines), function=self.function, tiles=self.tiles)
            self._lowered[defines] = tuple(parallelise(kernel, self.parallel) for kernel in lowered)
        return self._lowered[defines]
