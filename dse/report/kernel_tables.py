"""Predicted kernels as tables: the cost, each memory instruction at its source line, advice, sensitivity."""

from collections.abc import Sequence

from rich.table import Table

from dse.base.source import Span
from dse.gpu.advise.advice import Advice
from dse.gpu.advise.choose import Choice, total_s
from dse.gpu.models.calibration import Calibration, JudgedFamily
from dse.model.device import DEVICE_KEYS, Device, constant_value
from dse.model.fpga import Fpga
from dse.model.kernel import KernelFeatures, MemoryInstruction
from dse.model.kernel_cost import KernelCost
from dse.report.tables import NamesTable

_SCALES = ((1.0, "s"), (1e-3, "ms"), (1e-6, "us"), (1e-9, "ns"))


def seconds_text(seconds: float) -> str:
    """Return a time with about four significant digits and its unit: ``242.5 ms``."""
    scale, name = next(((s, n) for s, n in _SCALES if seconds >= s), _SCALES[-1])
    value = seconds / scale
    decimals = 3 if value < 10 else 2 if value < 100 else 1
    return f"{value:.{decimals}f} {name}"


def line_text(span: Span) -> str:
    """Return the line and column of a place in the kernel's file."""
    return f"{span.line}:{span.column}" if span.line else ""


def kernels_table(costs: Sequence[tuple[KernelFeatures, KernelCost]]) -> Table:
    """Return one row a kernel: time, what the model says of its warps, bottleneck, the simple-cache baseline."""
    table = _table()
    of_warps = any(cost.parallelism for _, cost in costs)
    for name in ("time", *(("MWP", "CWP") if of_warps else ("warps",))):
        table.add_column(name, justify="right", no_wrap=True)
    table.add_column("bottleneck", no_wrap=True)
    for name in (*(("baseline",) if of_warps else ()), "L2 misses", "blocks"):
        table.add_column(name, justify="right", no_wrap=True)
    table.add_column("kernel", overflow="fold")
    for features, cost in costs:
        own, simple = _of_warps(cost) if of_warps else ((str(cost.resident_warps),), ())
        table.add_row(
            seconds_text(features.launches * cost.time_s),
            *own,
            cost.bottleneck,
            *simple,
            f"{100 * cost.l2_miss_rate:.2f} %",
            str(cost.blocks),
            _kernel_text(features, cost),
        )
    return table


def _kernel_text(features: KernelFeatures, cost: KernelCost) -> str:
    line = f" (line {features.span.line})" if features.span.line else ""
    return f"{cost.kernel}{line}" + (f", launched {features.launches:,} times" if features.launches > 1 else "")


def _of_warps(cost: KernelCost) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return MWP and CWP, and the simple-cache baseline, empty where a cost has none."""
    warp, simple = cost.parallelism, cost.baseline
    own = (f"{warp.mwp:.2f}", f"{warp.cwp:.2f}") if warp else ("", "")
    return own, (seconds_text(simple.time_s) if simple else "",)


def instructions_table(instructions: Sequence[MemoryInstruction]) -> Table:
    """Return one row a memory instruction: its class, cache misses, DRAM transactions a warp instruction."""
    table = _table()
    table.add_column("line", justify="right", no_wrap=True)
    table.add_column("access", no_wrap=True)
    table.add_column("class", no_wrap=True)
    for name in ("stride", "L2 misses", "DRAM/warp", "a warp"):
        table.add_column(name, justify="right", no_wrap=True)
    table.add_column("of", overflow="fold")
    for m in instructions:
        executions = m.warp_executions
        table.add_row(
            line_text(m.span),
            "store" if m.is_store else "load",
            m.access,
            str(m.max_stride),
            f"{100 * m.miss_rate:.2f} %" if m.storage == "global" else "",
            f"{m.misses / executions:.4f}" if executions and m.storage == "global" else "",
            f"{m.per_warp:g}",
            m.text if m.storage == "global" else f"{m.text} ({m.storage})",
        )
    return table


def advice_table(advice: Sequence[Advice]) -> Table:
    """Return one row a change that helps: the predicted time after it, and the gain."""
    table = _table()
    table.add_column("time then", justify="right", no_wrap=True)
    table.add_column("gain", justify="right", no_wrap=True)
    table.add_column("line", justify="right", no_wrap=True)
    table.add_column("change", overflow="fold")
    for change in advice:
        table.add_row(seconds_text(change.cost.time_s), f"{change.gain:.2f}x", line_text(change.span), change.text)
    return table


def sensitivity_table(rows: Sequence[tuple[Sequence[tuple[str, int]], float, Sequence[KernelCost]]]) -> Table:
    """Return one row a work size: the time and its ratio to the first row's."""
    table = _table()
    table.add_column("sizes", overflow="fold")
    for name in ("time", "of the first", "MWP", "CWP"):
        table.add_column(name, justify="right", no_wrap=True)
    for sizes, time_s, costs in rows:
        longest = max(costs, key=lambda c: c.time_s).parallelism
        table.add_row(
            ", ".join(f"{name}={value}" for name, value in sizes),
            seconds_text(time_s),
            f"{time_s / rows[0][1]:.4f}",
            f"{longest.mwp:.2f}" if longest else "",
            f"{longest.cwp:.2f}" if longest else "",
        )
    return table


def choice_table(choice: Choice, *, with_host: bool) -> Table:
    """Return one row a candidate, the quickest first."""
    table = _table()
    for name in ("time", "of the best"):
        table.add_column(name, justify="right", no_wrap=True)
    table.add_column("candidate", no_wrap=True)
    for name in ("kernels", "starts and copies"):
        table.add_column(name, justify="right", no_wrap=True)
    table.add_column("from", overflow="fold")
    best = total_s(choice.winner, with_host)
    for candidate in choice.ranking:
        table.add_row(
            seconds_text(total_s(candidate, with_host)),
            f"{total_s(candidate, with_host) / best:.2f}x",
            candidate.name,
            seconds_text(candidate.time_s),
            "" if candidate.host_s is None else seconds_text(candidate.host_s),
            candidate.origin,
        )
    return table


def devices_table(devices: Sequence[Device]) -> Table:
    """Return one row a device: what it is, and how many of its constants are assumptions."""
    table = _table()
    table.add_column("device", no_wrap=True)
    for name in ("SMs", "MHz", "GB/s", "L2 KB", "memory GB", "constants", "assumed"):
        table.add_column(name, justify="right", no_wrap=True)
    for device in devices:
        bandwidth, l2, memory = device.dram_bandwidth_gb_s, device.l2_bytes, device.memory_bytes
        table.add_row(
            device.name,
            str(device.sms),
            f"{device.clock_mhz:g}",
            f"{bandwidth:g}" if bandwidth else "",
            f"{l2 / 1024:g}" if l2 else "",
            f"{memory / (1 << 30):.1f}" if memory else "",
            str(len(device.origins)),
            str(sum(origin.assumed for origin in device.origins)),
        )
    return table


def constants_table(device: Device) -> Table:
    """Return one row a constant of a device: its value, whether it is assumed, and where it comes from."""
    table = _constant_columns()
    for origin in device.origins:
        value = constant_value(device, origin.key)
        text = f"{value:.15g}" if isinstance(value, float | int) else ", ".join(f"{k} {v:g}" for k, v in value.items())
        table.add_row(origin.key, text, "assumed" if origin.assumed else "", origin.source)
    return table


def fpga_table(fpga: Fpga) -> Table:
    """Return one row a constant of an FPGA."""
    table = _constant_columns()
    for one in fpga.constants:
        table.add_row(one.key, f"{one.value:.15g}", "assumed" if one.assumed else "", one.source)
    return table


def rates_table(calibration: Calibration) -> Table:
    """Return one row a fitted rate with its interval."""
    table = _table()
    table.add_column("constant", no_wrap=True)
    for name in ("device file", "fitted", "from", "to (95 %)"):
        table.add_column(name, justify="right", no_wrap=True)
    table.add_column("", overflow="fold")
    for rate in calibration.fitted:
        numbers = (f"{value:.4g}" for value in (rate.before, rate.value, rate.least, rate.most))
        table.add_row(DEVICE_KEYS[rate.name], *numbers, "at the bound of the fit" if rate.at_bound else "")
    return table


def judged_table(judged: Sequence[JudgedFamily]) -> Table:
    """Return one row a program that a fit to the others prices."""
    table = _table()
    table.add_column("program", no_wrap=True)
    for name in ("times", "error before", "error", "rank correlation"):
        table.add_column(name, justify="right", no_wrap=True)
    for one in judged:
        before, after = f"{100 * one.error_before:.1f} %", f"{100 * one.error_after:.1f} %"
        table.add_row(one.family, str(one.rows), before, after, f"{one.correlation:.2f}")
    return table


def _constant_columns() -> Table:
    """Return a table of constants without rows."""
    table = _table()
    table.add_column("constant", no_wrap=True)
    table.add_column("value", justify="right", no_wrap=True)
    table.add_column("", no_wrap=True)
    table.add_column("source", overflow="fold")
    return table


def _table() -> Table:
    return NamesTable()
