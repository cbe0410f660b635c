"""A C file at several sizes: lowered once for each set of sizes, and the features of its kernels."""

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import TypeAlias

from dse.frontend.c.lower import kernels_of, read_kernels
from dse.gpu.trace.features import in_other_blocks, kernel_features
from dse.gpu.trace.meeting import summed_arrays, where_threads_meet
from dse.model.kernel import Kernel, KernelFeatures, TraceMachine
from dse.passes.analyses.parallel_loops import require_parallel
from dse.passes.rewrites.host_loops import launched
from dse.program.ir import ForEach, If, Stmt, While

Block: TypeAlias = tuple[int, int, int]
TRACE_SIZE_1D, TRACE_SIZE_2D = 1024, 128
DEEP = 2
"""Loops inside each other in one thread from which on a grid of one dimension is traced at the smaller size."""
SMALL_SIZE = 12
"""About the size at which all threads of a kernel are executed, to see whether they meet."""
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
    text: str | None = None
    """What stands in the file; None: it is read."""
    _lowered: dict[tuple[tuple[str, str], ...], tuple[Kernel, ...]] = field(default_factory=dict)
    _met: dict[str, tuple[str, ...]] = field(default_factory=dict)
    """Where threads meet in the pieces of each loop nest, in the order in which they are asked."""

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
        return KernelSource(
            self.path, self._with(smaller), self.function, self.promote, self.tiles, self.parallel, self.text
        )

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

    def moved(self, features: KernelFeatures, work: Kernel, trace: Kernel, block: Block) -> KernelFeatures | None:
        """Return features with what ``hierarchy`` reads of them in other blocks, as ``in_other_blocks`` does."""
        return in_other_blocks(features, work, trace, block, promote=self.promote)

    def _with(self, sizes: dict[str, int]) -> tuple[tuple[str, str], ...]:
        """Return the macros for other sizes: all of them, as some headers set theirs only if none is given."""
        if sizes == {name: value for name, value in self.sizes() if name in sizes}:
            return self.defines
        given = dict(self.sizes()) | sizes
        return tuple((dict(self.defines) | {name: str(value) for name, value in given.items()}).items())

    def _kernels(self, defines: tuple[tuple[str, str], ...]) -> tuple[Kernel, ...]:
        if defines not in self._lowered:
            found = [self._launched(nest, defines) for nest in self._read(defines)]
            self._lowered[defines] = tuple(_numbered(found))
        return self._lowered[defines]

    def _read(self, defines: tuple[tuple[str, str], ...]) -> tuple[Kernel, ...]:
        if self.text is None:
            return read_kernels(self.path, dict(defines), function=self.function, tiles=self.tiles)
        return kernels_of(self.path, self.text, dict(defines), function=self.function, tiles=self.tiles)

    def _launched(self, nest: Kernel, defines: tuple[tuple[str, str], ...]) -> list[Kernel]:
        """Return the kernels of a loop nest, cut in the same way at all sizes: as threads need it at a small one."""
        if nest.name not in self._met:
            said: list[str] = []

            def meets(kernel: Kernel) -> str:
                said.append(where_threads_meet(kernel))
                return said[-1]

            for small in self._small_nests(defines):
                said = []
                list(launched(small, self.parallel, meets))
                self._met[small.name] = tuple(said)
        answers = iter(self._met[nest.name])
        found = launched(nest, self.parallel, lambda _: next(answers, ""))
        return [replace(k, atomic=(*k.atomic, *_summed(k))) for k in found]

    def _small_nests(self, defines: tuple[tuple[str, str], ...]) -> tuple[Kernel, ...]:
        """Return the loop nests at a size at which all of their threads can be executed."""
        sizes = dict(pair for nest in self._read(defines) for pair in nest.sizes)
        small = {name: str(min(value, SMALL_SIZE + k % 3)) for k, (name, value) in enumerate(sizes.items())}
        return self._read(tuple((dict(defines) | small).items()))


def _summed(kernel: Kernel) -> tuple[str, ...]:
    """Return the IR names of the arrays that threads sum into by atomic operations."""
    called = summed_arrays(kernel)
    return tuple(a.name for a in kernel.arrays if a.source_name in called and a.storage == "global")


def _numbered(nests: list[list[Kernel]]) -> Iterator[Kernel]:
    """Yield kernels; those that a nest was cut into have numbers."""
    for nest in nests:
        for number, kernel in enumerate(nest, 1):
            yield replace(kernel, name=f"{kernel.name}/{number}") if len(nest) > 1 else kernel
