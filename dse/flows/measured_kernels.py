"""Measured times and the kernels that they are of: from rows of a CSV file to samples of a calibration.

The kernels of PolyBench/GPU that KLARAPTOR timed are known by their names there; our own C for them lies in
``configs/gpu-kernels``. Of other measurements ``benchmark`` is the name of a C file without its suffix, ``kernel`` that
of a function in it, and its size is the macro ``N``.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from dse.base.errors import OptionError
from dse.flows.kernels import KernelSource
from dse.formats.builtin import builtin_kernels
from dse.formats.measured_csv import MeasuredTime
from dse.gpu.models.calibration import Sample
from dse.gpu.models.hierarchy import MODEL, demand_of
from dse.gpu.trace.features import light_features
from dse.model.device import Device
from dse.model.kernel import Kernel, KernelFeatures

SHORT_S = 20e-6
"""Launches below this are mostly noise."""
MOST_THREADS = 1024


@dataclass(frozen=True, slots=True, kw_only=True)
class KnownKernel:
    """Where a measured kernel stands. ``one_loop``: threads in y repeat its work, ``REPEAT`` says how many there are.

    ``launches``: how many the measured time is the sum of. ``high``: its blocks were (block_y, high), whatever the row.
    """

    file: str
    function: str
    one_loop: bool = False
    launches: int = 1
    high: int = 0


_STEPS = 500
POLYBENCH: dict[tuple[str, str], KnownKernel] = {
    ("2DCONV", "Convolution2D_kernel"): KnownKernel(file="conv2d", function="conv2d"),
    ("GEMM", "gemm_kernel"): KnownKernel(file="gemm", function="gemm"),
    ("SYRK", "syrk_kernel"): KnownKernel(file="syrk", function="syrk"),
    ("ATAX", "atax_kernel1"): KnownKernel(file="atax", function="rows", one_loop=True),
    ("ATAX", "atax_kernel2"): KnownKernel(file="atax", function="columns", one_loop=True),
    ("GESUMMV", "gesummv_kernel"): KnownKernel(file="gesummv", function="gesummv", one_loop=True),
    ("CORR", "mean_kernel"): KnownKernel(file="corr", function="mean", one_loop=True),
    ("CORR", "std_kernel"): KnownKernel(file="corr", function="deviation", one_loop=True),
    ("CORR", "std_kernel2"): KnownKernel(file="corr", function="deviation", one_loop=True),
    ("CORR", "reduce_kernel"): KnownKernel(file="corr", function="normalise", high=8),
    ("CORR", "corr_kernel"): KnownKernel(file="corr", function="correlate", one_loop=True),
    ("FDTD_2D", "fdtd_step1_kernel"): KnownKernel(file="fdtd", function="electric_y", launches=_STEPS),
    ("FDTD_2D", "fdtd_step2_kernel"): KnownKernel(file="fdtd", function="electric_x", launches=_STEPS),
    ("FDTD_2D", "fdtd_step3_kernel"): KnownKernel(file="fdtd", function="magnetic", launches=_STEPS),
}
"""By benchmark and kernel, as the result files name them; FDTD_2D has 500 time steps."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Prepared:
    """A row and what a model needs of its kernel; ``repeats``: threads in y do the work of the first row again."""

    row: MeasuredTime
    known: KnownKernel
    work: Kernel
    source: KernelSource
    block: tuple[int, int, int]
    features: KernelFeatures

    @property
    def repeats(self) -> bool:
        """Whether threads repeat the work of others."""
        return self.known.one_loop and self.row.block[1] > 1

    @property
    def launch_s(self) -> float:
        """The measured time of one launch."""
        return self.row.median_ms * 1e-3 / self.known.launches

    @property
    def name(self) -> str:
        """Program and kernel."""
        return f"{self.row.benchmark} {self.row.kernel}"


@dataclass(slots=True)
class KernelShelf:
    """Kernels by file and size, each read once. ``folder``: of the user's C files, "" for the built-in ones only."""

    folder: str = ""
    _sources: dict[tuple[str, tuple[tuple[str, str], ...]], KernelSource] = field(default_factory=dict)
    _features: dict[tuple[str, str, int, tuple[int, int, int], int], KernelFeatures] = field(default_factory=dict)

    def prepared(self, row: MeasuredTime) -> Prepared | None:
        """Return a row with its kernel; None where no block has so many threads.

        Raises OptionError for a kernel that nothing is known of, errors of the C file where that is wrong.
        """
        known = self._known(row)
        x, y = (row.block[1], known.high) if known.high else row.block
        if x * y > MOST_THREADS:
            return None
        repeat = y if known.one_loop else 0
        defines = (("N", str(row.n)), *((("REPEAT", str(repeat)),) if repeat else ()))
        source = self._source(row, known, defines)
        work = source.work()[0]
        block = (x, y, 1) if len(work.parallel) > 1 else (x * y, 1, 1)
        key = (source.path, known.function, row.n, block, repeat)
        if key not in self._features:
            self._features[key] = light_features(work, block)
        return Prepared(row=row, known=known, work=work, source=source, block=block, features=self._features[key])

    def _known(self, row: MeasuredTime) -> KnownKernel:
        if (row.benchmark, row.kernel) in POLYBENCH:
            return POLYBENCH[row.benchmark, row.kernel]
        if self.folder and (Path(self.folder) / f"{row.benchmark}.c").is_file():
            return KnownKernel(file=row.benchmark, function=row.kernel)
        raise OptionError(
            f"there is no C file for kernel '{row.kernel}' of '{row.benchmark}'",
            span=row.span,
            expected=f"--kernels FOLDER with a file {row.benchmark}.c that has a function {row.kernel}",
        )

    def _source(self, row: MeasuredTime, known: KnownKernel, defines: tuple[tuple[str, str], ...]) -> KernelSource:
        own = (row.benchmark, row.kernel) not in POLYBENCH
        path = str((Path(self.folder) if own else builtin_kernels()) / f"{known.file}.c")
        key = (f"{path}:{known.function}", defines)
        if key not in self._sources:
            self._sources[key] = KernelSource(path, defines, known.function)
        return self._sources[key]


def sample_of(prepared: Prepared, device: Device) -> Sample:
    """Return a row as a sample of a calibration of a device. Raises ``FormatError`` for a constant that is missing."""
    return Sample(
        demand=demand_of(prepared.features, device, prepared.known.launches),
        measured_s=prepared.row.median_ms * 1e-3,
        launches=prepared.known.launches,
        start_s=device.require("kernel_start_us", MODEL.name) * 1e-6,
        family=prepared.row.benchmark,
        kernel=prepared.name,
    )


def largest_sizes(rows: Sequence[MeasuredTime], sizes: int = 2) -> tuple[MeasuredTime, ...]:
    """Return the rows of the largest sizes of each kernel of each GPU."""
    measured: dict[tuple[str, str, str], set[int]] = {}
    for row in rows:
        measured.setdefault((row.gpu, row.benchmark, row.kernel), set()).add(row.n)
    kept = {key: set(sorted(found)[-sizes:]) for key, found in measured.items()}
    return tuple(row for row in rows if row.n in kept[row.gpu, row.benchmark, row.kernel])


def rank_correlation(left: Sequence[float], right: Sequence[float]) -> float:
    """Return Spearman's rank correlation, ties at their mean rank; 0 where one side is all the same."""
    ranks = [_ranks(np.asarray(side)) for side in (left, right)]
    if ranks[0].std() == 0 or ranks[1].std() == 0:
        return 0.0
    return float(np.corrcoef(ranks[0], ranks[1])[0, 1])


def _ranks(values: np.ndarray) -> np.ndarray:
    """Return the place of each value in ascending order, equal values at the mean of their places."""
    _, which, counts = np.unique(values, return_inverse=True, return_counts=True)
    last = np.cumsum(counts)
    return np.asarray((last - (counts - 1) / 2)[which])
