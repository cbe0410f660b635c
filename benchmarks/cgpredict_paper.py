"""The tables of the CGPredict paper: printed estimates beside those computed from C source.

usage: python -m benchmarks.cgpredict_paper [--markdown] [--plot DIR]

Prints work size, trace size, the printed and the computed estimate in milliseconds, their difference, and the seconds
that the prediction took on one core (CPU time, compilation included). ``--markdown`` prints the tables of docs/gpu.md,
``--plot`` draws figure 9 instead: the error against the times that the paper measured, with both models of the cache.
"""

import argparse
import time
from dataclasses import dataclass
from pathlib import Path

from dse.flows.gpu import (
    ChooseOptions,
    KernelOptions,
    ModelOptions,
    PredictOptions,
    choose_accelerator,
    predict,
)
from dse.report.bar_picture import BarChart, BarSeries, bar_chart

KERNELS = Path(__file__).parents[1] / "tests" / "papers" / "kernels"


@dataclass(frozen=True, slots=True, kw_only=True)
class Printed:
    """A row of table 4, 5 or 6. ``kernels``: how many kernels of the file the figure counts (0: all)."""

    name: str
    file: str
    work: int
    trace: int
    actual_ms: float
    estimated_ms: float
    kernels: int = 0
    times: int = 1
    defines: tuple[tuple[str, str], ...] = ()


TABLE_4 = (
    Printed(name="2DCONV", file="2dconv.c", work=4096, trace=512, actual_ms=29.52, estimated_ms=28.01),
    Printed(name="2MM", file="2mm.c", work=4096, trace=128, actual_ms=16294.07, estimated_ms=15518.11, kernels=1),
    Printed(name="3DCONV", file="3dconv.c", work=256, trace=64, actual_ms=84.54, estimated_ms=68.30),
    Printed(name="3MM", file="3mm.c", work=2048, trace=128, actual_ms=5990.76, estimated_ms=5819.73),
    Printed(name="ATAX", file="atax.c", work=4096, trace=1024, actual_ms=201.70, estimated_ms=193.04),
    Printed(name="BICG", file="bicg.c", work=4096, trace=1024, actual_ms=237.69, estimated_ms=199.22),
    Printed(name="CORR", file="corr.c", work=1024, trace=128, actual_ms=3071.66, estimated_ms=2678.05),
    Printed(name="COVAR", file="covar.c", work=1024, trace=128, actual_ms=3073.58, estimated_ms=3465.71),
    Printed(name="FDTD-2D", file="fdtd2d.c", work=4096, trace=64, actual_ms=1492.23, estimated_ms=1243.21),
    Printed(name="GEMM", file="gemm.c", work=1024, trace=128, actual_ms=249.16, estimated_ms=242.53),
    Printed(name="GESUMMV", file="gesummv.c", work=4096, trace=1024, actual_ms=680.85, estimated_ms=769.69),
    Printed(name="GRAMSCHM", file="gramschm.c", work=8192, trace=512, actual_ms=43.79, estimated_ms=45.58),
    Printed(name="MVT", file="mvt.c", work=4096, trace=1024, actual_ms=215.96, estimated_ms=193.04),
    Printed(name="SYR2K", file="syr2k.c", work=1024, trace=128, actual_ms=5430.54, estimated_ms=5204.73),
    Printed(name="SYRK", file="syrk.c", work=1024, trace=128, actual_ms=2762.50, estimated_ms=2605.45),
)
TABLE_5 = (
    Printed(name="2MM", file="mm_tiled.c", work=4096, trace=128, actual_ms=7019.37, estimated_ms=6748.05),
    Printed(name="3MM", file="mm_tiled.c", work=2048, trace=128, actual_ms=2538.99, estimated_ms=2530.52, times=3),
    Printed(name="GEMM", file="gemm_tiled.c", work=1024, trace=128, actual_ms=112.44, estimated_ms=105.75),
    Printed(name="SYR2K", file="syr2k_tiled.c", work=1024, trace=128, actual_ms=1468.68, estimated_ms=1445.48),
    Printed(name="SYRK", file="syrk_tiled.c", work=1024, trace=128, actual_ms=721.89, estimated_ms=713.42),
)
TABLE_6 = (
    Printed(
        name="SYRK transposed", file="syrk_transposed.c", work=1024, trace=128, actual_ms=250.37, estimated_ms=237.53
    ),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Chosen:
    """A row of table 7: times in milliseconds that the paper estimates and measured, (GPU, FPGA)."""

    name: str
    file: str
    work: int
    estimated_ms: tuple[float, float]
    actual_ms: tuple[float, float]


TABLE_7 = (
    Chosen(name="MM", file="gemm.c", work=1024, estimated_ms=(242.51, 1180), actual_ms=(250.27, 1450)),
    Chosen(name="MVT", file="mvt.c", work=2048, estimated_ms=(48.31, 9.09), actual_ms=(42.371, 10.41)),
    Chosen(name="GEMVER1", file="gemver1.c", work=2048, estimated_ms=(2.61, 16.55), actual_ms=(4.57, 19.81)),
    Chosen(name="DCT1D", file="dct1d.c", work=1024, estimated_ms=(2697.75, 636.47), actual_ms=(2685.362, 650.8)),
)
"""Without DERICHE1: its source is not public, and no pass of a Deriche filter is both its first and coalesced."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Computed:
    """What a row gives here. ``mwp`` and ``cwp`` of the longest kernel; ``seconds`` of CPU time."""

    milliseconds: float
    baseline_ms: float
    mwp: float
    cwp: float
    seconds: float

    def difference(self, row: Printed) -> float:
        """Return the relative difference to the printed estimate."""
        return self.milliseconds / row.estimated_ms - 1


def compute(row: Printed) -> Computed:
    """Predict a row from its C source."""
    start = time.process_time()
    options = KernelOptions(
        path=str(KERNELS / row.file), defines=(("N", str(row.work)), *row.defines), trace_size=row.trace
    )
    prediction = predict(PredictOptions(kernels=options, model=ModelOptions(name="cgpredict"), advice=False))
    seconds = time.process_time() - start
    kernels = prediction.kernels[: row.kernels or None]
    longest = max((k.cost for k in kernels), key=lambda c: c.time_s).parallelism
    assert longest is not None
    return Computed(
        milliseconds=1e3 * row.times * sum(k.cost.time_s for k in kernels),
        baseline_ms=1e3 * row.times * sum(k.cost.baseline.time_s for k in kernels if k.cost.baseline),
        mwp=longest.mwp,
        cwp=longest.cwp,
        seconds=seconds,
    )


def choices(*, markdown: bool) -> None:
    """Print table 7: both accelerators, printed, measured and computed, and which of them is chosen."""
    head = ("kernel", "work", "GPU printed", "measured", "computed", "FPGA printed", "measured", "computed", "choice")
    print("\nTable 7")
    for row in (head, *map(chosen_cells, TABLE_7)):
        print("| " + " | ".join(row) + " |" if markdown else "  ".join(f"{cell:>12}" for cell in row))
        if markdown and row is head:
            print("|---|" + "---:|" * 7 + "---|")


def chosen_cells(row: Chosen) -> tuple[str, ...]:
    """Return a row of table 7."""
    kernels = KernelOptions(path=str(KERNELS / row.file), defines=(("N", str(row.work)),))
    cgpredict = ModelOptions(name="cgpredict")
    options = ChooseOptions(kernels=kernels, devices=("jetson-tk1",), model=cgpredict, fpgas=("zc702",))
    found = choose_accelerator(options)
    ours = {one.kind: f"{1e3 * one.time_s:.2f}" for one in found.ranking}
    gpu = (f"{row.estimated_ms[0]:g}", f"{row.actual_ms[0]:g}", ours["gpu"])
    fpga = (f"{row.estimated_ms[1]:g}", f"{row.actual_ms[1]:g}", ours["fpga"])
    printed = "gpu" if row.estimated_ms[0] < row.estimated_ms[1] else "fpga"
    verdict = f"{found.winner.kind.upper()}, as printed" if found.winner.kind == printed else "another one"
    return (row.name, str(row.work), *gpu, *fpga, verdict)


def figure_9() -> str:
    """Return the errors of table 4 by both models of the cache as a picture, with those of the printed estimates."""
    found = [compute(row) for row in TABLE_4]
    times = {
        "CGPredict, printed": [row.estimated_ms for row in TABLE_4],
        "CGPredict, computed": [one.milliseconds for one in found],
        "simple cache, computed": [one.baseline_ms for one in found],
    }
    series = tuple(
        BarSeries(name=name, values=tuple(100 * abs(t / r.actual_ms - 1) for t, r in zip(ms, TABLE_4, strict=True)))
        for name, ms in times.items()
    )
    names = tuple(row.name for row in TABLE_4)
    return bar_chart(BarChart(title="Figure 9: error against measured", up="error in %", groups=names, series=series))


def main() -> None:
    """Print the tables, or draw figure 9."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--markdown", action="store_true")
    parser.add_argument("--plot", metavar="DIR", type=Path)
    given = parser.parse_args()
    if given.plot is not None:
        given.plot.mkdir(parents=True, exist_ok=True)
        (given.plot / "figure-9.svg").write_text(figure_9() + "\n")
        print(f"wrote {given.plot / 'figure-9.svg'}")
        return
    markdown = given.markdown
    compute(TABLE_4[9])  # compiles what is compiled once
    head = (
        "kernel",
        "work",
        "trace",
        "paper measured ms",
        "printed ms",
        "computed ms",
        "difference",
        "baseline ms",
        "MWP",
        "CWP",
        "CPU s",
        "measured by us",
    )
    for title, table in (("Table 4", TABLE_4), ("Table 5", TABLE_5), ("Table 6", TABLE_6)):
        print(f"\n{title}")
        print("| " + " | ".join(head) + " |" if markdown else "  ".join(f"{h:>11}" for h in head))
        if markdown:
            print("|---|" + "---:|" * (len(head) - 1))
        for row in table:
            got = compute(row)
            cells = (
                row.name,
                row.work,
                row.trace,
                f"{row.actual_ms:.2f}",
                f"{row.estimated_ms:.2f}",
                f"{got.milliseconds:.2f}",
                f"{100 * got.difference(row):+.2f} %",
                f"{got.baseline_ms:.2f}" if got.baseline_ms else "",
                f"{got.mwp:.2f}",
                f"{got.cwp:.2f}",
                f"{got.seconds:.2f}",
                "not measured",
            )
            print("| " + " | ".join(map(str, cells)) + " |" if markdown else "  ".join(f"{c:>11}" for c in cells))
    choices(markdown=markdown)


if __name__ == "__main__":
    main()
