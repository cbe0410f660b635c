"""Kernels and what is known about them: the contract between front ends, kernel analysis and GPU cost models.

A ``Kernel`` is a loop nest in the project's IR for *given* sizes; a source lowered with other sizes gives another
``Kernel``. ``KernelFeatures`` is all that a cost model sees. Rules and symbols: the CGPredict paper (Wang, Zhong,
Mitra, 2017); the names in parentheses are its names.
"""

from dataclasses import dataclass
from typing import Literal, TypeAlias

from dse.base.source import NO_SPAN, Span
from dse.program.ir import Routine, Stmt, Variable
from dse.program.types import ScalarType, bytes_of

Storage: TypeAlias = Literal["global", "shared", "local"]
"""``global``: device memory; ``shared``: a tile of the block; ``local``: of a thread, in its registers."""
AccessClass: TypeAlias = Literal["constant", "coalesced", "uncoalesced"]
ACCESS_CLASSES: tuple[AccessClass, ...] = ("constant", "coalesced", "uncoalesced")


@dataclass(frozen=True, slots=True, kw_only=True)
class ArrayInfo:
    """An array of a kernel: ``dims`` in elements, the outermost first; ``name`` is that of the IR."""

    name: str
    source_name: str
    element: ScalarType
    dims: tuple[int, ...]
    storage: Storage = "global"
    span: Span = NO_SPAN
    contents: tuple[int | float, ...] | None = None
    """The elements in row-major order where they are known (tables of constants); None: made up."""
    private: bool = False
    """Local memory: each thread has elements of its own in the device's memory; the last subscript is its number."""

    @property
    def element_bytes(self) -> int:
        """Storage of one element."""
        return bytes_of(self.element)

    @property
    def elements(self) -> int:
        """Number of elements."""
        count = 1
        for size in self.dims:
            count *= size
        return count


@dataclass(frozen=True, slots=True, kw_only=True)
class ParallelLoop:
    """A loop whose iterations are threads: values ``low, low + step, ...``, ``extent`` of them.

    ``idle`` threads stand before the first one with work: a loop that starts at 1 keeps its variable as the number of
    the thread, as a port to CUDA does with a condition, and leaves thread 0 idle.
    """

    variable: Variable
    low: int
    step: int
    extent: int
    idle: int = 0
    span: Span = NO_SPAN

    @property
    def width(self) -> int:
        """Threads of this dimension of the grid, the idle ones before the first included."""
        return self.idle + self.extent


@dataclass(frozen=True, slots=True, kw_only=True)
class ScalarValue:
    """A scalar parameter: ``value`` where it was given or assumed."""

    variable: Variable
    value: int | float
    assumed: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Dependence:
    """Two threads meet at an element: ``kind`` names the pair of accesses, ``text`` explains it to the user."""

    array: str
    kind: Literal["write-write", "write-read"]
    text: str
    span: Span = NO_SPAN


@dataclass(frozen=True, slots=True, kw_only=True)
class Kernel:
    """One kernel at given sizes. ``parallel`` has x first, at most three; empty: one thread executes ``body``.

    ``body`` is what a thread executes, the parallel loops taken away. ``arrays`` stand in the order of the memory
    layout (parameters first). ``scalars`` are set when a thread starts. ``how_parallel`` says in words how the parallel
    loops were found. ``sizes`` are the named integer constants that occur in array dimensions and loop bounds. A
    ``CallStmt`` of the routine ``barrier`` is a synchronisation of the block.
    """

    name: str
    function: str
    path: str
    arrays: tuple[ArrayInfo, ...]
    scalars: tuple[ScalarValue, ...]
    parallel: tuple[ParallelLoop, ...]
    how_parallel: str
    body: tuple[Stmt, ...]
    span: Span = NO_SPAN
    sizes: tuple[tuple[str, int], ...] = ()
    dependences: tuple[Dependence, ...] = ()
    routines: tuple[Routine, ...] = ()
    marked: tuple[str, ...] = ()
    """Source names of the loops that a pragma marks as parallel."""
    launches: int = 1
    """How often the host launches it: the product of the rounds of the loops that it runs around it."""
    one_thread: bool = False
    """It is left to one thread on purpose: statements without a loop between kernels."""
    atomic: tuple[str, ...] = ()
    """IR names of arrays that threads sum into by atomic operations."""

    @property
    def threads(self) -> int:
        """Number of threads."""
        count = 1
        for loop in self.parallel:
            count *= loop.extent
        return count

    def array(self, name: str) -> ArrayInfo:
        """Return the array of that IR name."""
        return next(a for a in self.arrays if a.name == name)


LANES = 32
"""Threads of a warp."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TraceMachine:
    """What the trace analysis must know of a device: the cache that the trace meets and the size of a batch."""

    warp_lanes: int = LANES
    batch_threads: int = 2048
    line_bytes: int = 64
    cache_bytes: int = 131072
    ways: int = 16

    @property
    def sets(self) -> int:
        """Number of cache sets (K)."""
        return self.cache_bytes // (self.line_bytes * self.ways)


@dataclass(frozen=True, slots=True, kw_only=True)
class MemoryInstruction:
    """A load or store of the source and what it did in the trace.

    ``access`` is the class of most of its warp executions, ``max_stride`` the greatest distance of neighbouring active
    lanes in elements. ``warp_executions``, ``accesses`` (of lines), ``hits``, ``misses`` and ``distinct_lines``
    (touched in the whole trace) count the trace; ``per_warp`` the executions of one warp over the whole kernel at the
    work size. ``tile_load``: it loads a shared tile and counts in (19) only, never in ``n_M`` and ``d_M``.
    """

    array: str
    text: str
    is_store: bool
    access: AccessClass
    max_stride: int
    warp_executions: int
    accesses: int
    hits: int
    misses: int
    distinct_lines: int
    per_warp: float
    storage: Storage = "global"
    tile_load: bool = False
    span: Span = NO_SPAN

    @property
    def miss_rate(self) -> float:
        """Misses per access of a line; 0 without accesses."""
        return self.misses / self.accesses if self.accesses else 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class ByClass:
    """A quantity for each class of access."""

    constant: float = 0.0
    coalesced: float = 0.0
    uncoalesced: float = 0.0

    def of(self, access: AccessClass) -> float:
        """Return the quantity of a class."""
        match access:
            case "constant":
                return self.constant
            case "coalesced":
                return self.coalesced
            case "uncoalesced":
                return self.uncoalesced

    @property
    def total(self) -> float:
        """Sum over the classes."""
        return self.constant + self.coalesced + self.uncoalesced


@dataclass(frozen=True, slots=True, kw_only=True)
class InstructionMix:
    """Instructions of one thread over the whole kernel at the work size, by kind (Table 2 of the paper)."""

    loads: float = 0.0
    stores: float = 0.0
    address: float = 0.0
    """Address arithmetic: 2 * (dims - 1) an access, and arithmetic written in subscripts."""
    add: float = 0.0
    mul: float = 0.0
    fma: float = 0.0
    other: float = 0.0
    """Divisions, shifts, logic, mathematical functions: one each."""
    loop: float = 0.0
    """One add and one branch an iteration."""

    @property
    def total(self) -> float:
        """``no_total_insts`` (12)."""
        return self.compute + self.loads + self.stores

    @property
    def compute(self) -> float:
        """All but loads and stores (``no_comp_insts``)."""
        return self.address + self.add + self.mul + self.fma + self.other + self.loop


@dataclass(frozen=True, slots=True, kw_only=True)
class SharedMemory:
    """Use of shared memory tiles, for equations (19) to (23); counts at the work size."""

    tile_arrays: tuple[str, ...]
    bytes_per_block: int
    tiles: float
    """Tiles that a thread works through (a tile loop's trip count)."""
    loads: float
    """``no_smem_load_inst``: tile arrays * tiles."""
    reads: ByClass
    """Shared reads of one warp by class (``n_*`` in (20))."""
    sync_instructions: float
    """``no_sync_insts``."""


LINE_BYTES, SECTOR_BYTES = 128, 32
"""Of the caches of all GPUs since compute capability 2.0: what is looked up, and what is moved."""
Axis: TypeAlias = Literal["x", "y", "z", "loop"]
"""What moves an access: an index of the thread in the grid, or a loop of the thread."""


@dataclass(frozen=True, slots=True)
class Stride:
    """How far one step along an axis moves an access in bytes, and how many steps there are (mean, of a loop)."""

    axis: Axis
    bytes: int
    count: float


@dataclass(frozen=True, slots=True, kw_only=True)
class WarpAccess:
    """A global memory instruction as the load-store unit sees it: means of one execution by one sampled warp.

    ``executions`` are those of a warp over the whole kernel at the work size. ``lines`` are the distinct lines of 128
    bytes, ``sectors`` those of 32 bytes. Of a store's sectors, ``partial`` are written in part, ``lone`` entirely and
    are the only one of their line, ``whole`` are the others. ``strides`` has the innermost loop first; None where the
    address is no affine form. ``kept``: the element is in a register and only its store, an accumulator's, is left in
    the loop. ``private``: it is local memory, of which ``array_bytes`` are those of one thread.
    """

    array: str
    is_store: bool
    element_bytes: int
    array_bytes: int
    executions: float
    lines: float
    sectors: float
    whole: float = 0.0
    partial: float = 0.0
    lone: float = 0.0
    strides: tuple[Stride, ...] | None = None
    kept: bool = False
    private: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class WarpWork:
    """What one warp does over the whole kernel at the work size, the mean of sampled warps.

    ``waits``: rounds of loads that the next one waits for, because a store between them may change what it reads or its
    address is loaded; ``streams``: rounds of loads in loops without stores, many of which are on their way at once.
    ``fp32``, ``fp64``, ``special``, ``integer``: instructions by the unit that executes them. ``active``: the share of
    the launched warps that have a thread with work.
    """

    accesses: tuple[WarpAccess, ...]
    waits: float
    streams: float
    fp32: float
    fp64: float
    special: float
    integer: float
    active: float
    local_waits: float = 0.0
    """Rounds of loads of local memory that what follows waits for."""
    shared_cycles: float = 0.0
    """Cycles of shared memory for the tiles of a block: one an access, times its bank conflicts."""

    @property
    def instructions(self) -> float:
        """All instructions of a warp."""
        memory = sum(access.executions for access in self.accesses)
        return memory + self.fp32 + self.fp64 + self.special + self.integer


@dataclass(frozen=True, slots=True, kw_only=True)
class KernelFeatures:
    """Everything that the cost models need of one kernel: trace results at the trace size, counts at the work size.

    ``dram`` (``d_M``): DRAM transactions (cache misses) a warp instruction, from the trace. ``per_warp`` (``n_M``):
    global memory instructions of one warp over the whole kernel at the work size. ``transactions`` is the mean number
    of transactions a request (1 constant or coalesced, else the stride in elements up to the warp's lanes), weighted by
    executions, for ``memory_pipeline``.
    """

    kernel: str
    function: str
    path: str
    span: Span
    how_parallel: str
    block: tuple[int, int, int]
    """Threads in a block: x, y, z."""
    extents: tuple[int, ...]
    """Extents of the parallel loops at the work size, x first."""
    trace_extents: tuple[int, ...]
    sizes: tuple[tuple[str, int], ...]
    trace_sizes: tuple[tuple[str, int], ...]
    blocks: int
    """``no_blocks``: of all ``copies`` together."""
    trace_batches: int
    """Batches that were simulated."""
    element_bytes: int
    dram: ByClass
    per_warp: ByClass
    mix: InstructionMix
    instructions: tuple[MemoryInstruction, ...]
    transactions: float
    cache_accesses: int
    cache_misses: int
    shared: SharedMemory | None = None
    dependences: tuple[Dependence, ...] = ()
    notes: tuple[str, ...] = ()
    """Assumptions and findings in words."""
    machine: TraceMachine = TraceMachine()
    launches: int = 1
    """How often the host launches the kernel."""
    copies: int = 1
    """Grids beside each other, each with data of its own: firings of an action."""
    data_decide: bool = False
    """Whether made-up data decide how often something is executed, which only a trace can tell."""
    warp_work: WarpWork | None = None
    """What the model ``hierarchy`` reads; None where nobody asked for it."""

    @property
    def block_threads(self) -> int:
        """Threads in a block."""
        return self.block[0] * self.block[1] * self.block[2]

    @property
    def threads(self) -> int:
        """Threads with work, at the work size."""
        count = 1
        for extent in self.extents:
            count *= extent
        return count

    @property
    def memory_instructions(self) -> float:
        """``no_mem_insts``: global memory instructions of a thread (or warp) at the work size; requests a warp."""
        return self.per_warp.total

    @property
    def total_instructions(self) -> float:
        """``no_total_insts`` of a thread at the work size."""
        return self.mix.total

    @property
    def miss_rate(self) -> float:
        """Miss rate of the cache over the trace (``m`` of (24) and (25))."""
        return self.cache_misses / self.cache_accesses if self.cache_accesses else 0.0
