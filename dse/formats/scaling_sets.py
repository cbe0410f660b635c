"""Measured kernels over configurations of a card, as text: training sets, and the counters of kernels to predict.

Two forms are read. A **table** (CSV with a header) has a row for each kernel and configuration: ``kernel``,
``core_mhz``, ``memory_mhz``, ``time_ms``, and where they are ``compute_units`` and ``power_watt``; every other column
whose cells are numbers is a counter. The names of the set of HKBU-HPML/GPU-DVFS-Job-Schedule are understood too
(``appName``, ``coreF``, ``memF``, ``time/ms``, ``power/W``). **Blocks** are those of hpc-ulisboa/gpuPTXModel: the name
of a kernel in a line of its own, then lines of memory MHz, core MHz, ms, W and mJ; no counters.
"""

import csv
import io
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from dse.base.diagnostics import Gatherer
from dse.base.errors import FormatError, OptionError
from dse.base.numbers import CLOCK_MHZ, integer_from, parse_decimal
from dse.base.source import Span, file_span
from dse.formats.mapping_csv import read_text
from dse.formats.yaml_source import format_error
from dse.model.scaling import Configuration, Reals, ScalingGrid, ScalingSet

_NAMES = {
    "kernel": ("action", "appName", "kernel"),
    "compute_units": ("compute_units",),
    "core_mhz": ("core_mhz", "coreF"),
    "memory_mhz": ("memory_mhz", "memF"),
    "time_ms": ("time_ms", "time/ms"),
    "power_watt": ("power_watt", "power/W"),
}
"""What a column means, and the names that it may have, the one that wins first."""
_NO_COUNTERS = {"", "argNo", *(name for names in _NAMES.values() for name in names)}
_EXAMPLE = (
    "expected a header with kernel,core_mhz,memory_mhz,time_ms, perhaps compute_units,power_watt and counters; "
    "or the name of a kernel, then lines MEMORY_MHZ,CORE_MHZ,MS,WATT,MJ"
)
_MOST = 1e15
_MOST_ERRORS = 20
_MOST_UNITS = 1 << 20
_LISTED = 6


@dataclass(frozen=True, slots=True, kw_only=True)
class KernelCounters:
    """A kernel to predict, at the base configuration. ``time_ms``, ``power_watt``: None where they are not told."""

    name: str
    counters: Reals
    """shape (n_counters,)"""
    time_ms: float | None
    power_watt: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class _Row:
    name: str
    configuration: Configuration | None
    time_ms: float | None
    power_watt: float | None
    cells: dict[str, str]
    span: Span


def parse_configuration(text: str, option: str) -> Configuration:
    """Return the configuration of ``1800/5000`` (MHz) or ``28/1800/5000``. Raises ``OptionError``."""
    parts = text.split("/")
    clocks = [parse_decimal(part) or Fraction(0) for part in parts[-2:]]
    units = integer_from(parts[0], least=1, most=_MOST_UNITS) if len(parts) == 3 else None
    if len(parts) != (2 if units is None else 3) or not all(map(_is_clock, clocks)):
        expected = "CORE/MEMORY in MHz, or UNITS/CORE/MEMORY: 1800/5000, 28/1800/5000"
        raise OptionError(f"{option} '{text[:40]}' is no configuration", expected=expected)
    return Configuration(compute_units=units, core_mhz=clocks[0], memory_mhz=clocks[1])


def _is_clock(value: Fraction) -> bool:
    return value > 0 and CLOCK_MHZ.holds(value)


def read_scaling_set(paths: Sequence[str], base: Configuration) -> ScalingSet:
    """Return the kernels of some files, in their order, at all configurations; counters are those at the base.

    Raises:
        FormatError: a file is wrong, a kernel lacks a configuration that another one has, or is there twice.
        OptionError: the base is none of the configurations.
    """
    notes: list[str] = []
    kernels = _kernels(paths, notes)
    grid = _grid(kernels)
    if grid.index(base) is None:
        known = _listed(list(grid.configurations()))
        raise OptionError(f"--base {base} is no configuration of the set", expected=f"one of: {known}")
    times, powers = zip(*(_cubes(name, rows, grid) for name, rows in kernels.items()), strict=True)
    at_base = [next(row for row in rows if row.configuration == base) for rows in kernels.values()]
    names = _counter_names(at_base, notes)
    return ScalingSet(
        grid=grid,
        base=base,
        kernels=tuple(kernels),
        time_ms=np.stack(times),
        power_watt=_all_powers(powers),
        counter_names=names,
        counters=np.array([_cells(row, names) for row in at_base]) if names else None,
        notes=tuple(notes),
    )


def _all_powers(powers: Sequence[Reals | None]) -> Reals | None:
    known = [power for power in powers if power is not None]
    return np.stack(known) if len(known) == len(powers) else None


def _cells(row: _Row, names: Sequence[str]) -> list[float]:
    return [float(row.cells[name]) for name in names]


def _kernels(paths: Sequence[str], notes: list[str]) -> dict[str, list[_Row]]:
    """Return the rows of each kernel of some files."""
    kernels: dict[str, list[_Row]] = {}
    for path in paths:
        of_file: dict[str, str] = {}
        for row in _read(path, notes):
            name = of_file.setdefault(row.name, _free_name(row.name, kernels))
            kernels.setdefault(name, []).append(row)
    return kernels


def read_counters(path: str, names: Sequence[str], base: Configuration) -> tuple[KernelCounters, ...]:
    """Return the kernels of a table with the counters of a model; rows of other configurations than its base are left.

    Raises:
        FormatError: a counter is missing or no number from 0, a kernel is there twice, or there is none.
    """
    gather, found = Gatherer(), dict[str, KernelCounters]()
    for row in _table(path, read_text(path), gather, needs=("kernel",)):
        if row.configuration not in (None, base):
            continue
        if row.name in found:
            gather.error(f"kernel '{row.name}' is there twice", row.span, f"expected one row of it, at {base}")
        values = [_counter(row, name, gather) for name in names]
        found[row.name] = KernelCounters(
            name=row.name, counters=np.array(values), time_ms=row.time_ms, power_watt=row.power_watt
        )
        if len(gather.errors) >= _MOST_ERRORS:
            break
    if gather.errors:
        raise format_error(gather)
    if not found:
        expected = f"expected rows with the counters of kernels at {base}"
        raise FormatError("there is no kernel in the file", span=file_span(path, 0), expected=expected)
    return tuple(found.values())


def _counter(row: _Row, name: str, gather: Gatherer) -> float:
    """Return a counter of a row, 0 with the error gathered where it is missing or wrong."""
    value = _real(row.cells.get(name, ""), least=0.0)
    if value is None:
        shown = f"is '{row.cells[name][:40]}'" if name in row.cells else "is missing"
        gather.error(f"counter {name} of '{row.name}' {shown}", row.span, f"expected a number from 0 to {_MOST:g}")
    return value or 0.0


def _free_name(name: str, taken: dict[str, list[_Row]]) -> str:
    """Return a name, with a number where an earlier file has it."""
    if name not in taken:
        return name
    return next(free for number in range(2, len(taken) + 3) if (free := f"{name} ({number})") not in taken)


def _read(path: str, notes: list[str]) -> list[_Row]:
    """Return the rows of a file of either form."""
    text, gather = read_text(path), Gatherer()
    first = next((line for line in text.splitlines() if line.strip()), "")
    if "," in first:
        found = list(_table(path, text, gather, needs=("kernel", "core_mhz", "memory_mhz", "time_ms")))
    else:
        found = list(_blocks(path, text, gather, notes))
    if gather.errors:
        raise format_error(gather)
    if not found:
        raise FormatError("there is no measured kernel in the file", span=file_span(path, 0), expected=_EXAMPLE)
    return found


def _table(path: str, text: str, gather: Gatherer, needs: tuple[str, ...]) -> Iterator[_Row]:
    """Yield the rows of a table without errors, up to the most errors that are told."""
    reader = csv.DictReader(io.StringIO(text, newline=""), strict=True, restval="")
    try:
        reader.fieldnames = [name.strip() for name in reader.fieldnames or ()]
        column = _columns(path, reader.fieldnames, needs)
        for cells in reader:
            row = _table_row(cells, column, Span(path, reader.line_num, 1, reader.line_num, 1), gather)
            if row is not None:
                yield row
            if len(gather.errors) >= _MOST_ERRORS:
                return
    except csv.Error as cause:
        span = file_span(path, reader.line_num)
        raise FormatError(f"this is no CSV: {cause}", span=span, expected=_EXAMPLE) from cause


def _columns(path: str, header: Sequence[str], needs: tuple[str, ...]) -> dict[str, str]:
    """Return the name of the column of each thing that has one. Raises ``FormatError`` where a needed one has none."""
    found = {what: next((name for name in names if name in header), None) for what, names in _NAMES.items()}
    missing = [what for what in needs if found[what] is None]
    if missing:
        raise FormatError(f"there is no column {', '.join(missing)}", span=file_span(path, 1), expected=_EXAMPLE)
    return {what: name for what, name in found.items() if name is not None}


def _table_row(cells: dict[str, str], column: dict[str, str], span: Span, gather: Gatherer) -> _Row | None:
    """Return a row, or None with its errors gathered."""
    said, before = {what: (cells.get(name) or "").strip() for what, name in column.items()}, len(gather.errors)
    time_ms, watt = (
        _above_zero(what, said[what], span, gather) if said.get(what) else None for what in ("time_ms", "power_watt")
    )
    configuration = _configuration(said, span, gather) if {"core_mhz", "memory_mhz"} <= said.keys() else None
    if not said["kernel"]:
        gather.error("a kernel has no name", span, "expected a name")
    if len(gather.errors) > before:
        return None
    return _Row(
        name=said["kernel"],
        configuration=configuration,
        time_ms=time_ms,
        power_watt=watt,
        cells={key: value for key, value in cells.items() if isinstance(value, str)},
        span=span,
    )


def _configuration(said: dict[str, str], span: Span, gather: Gatherer) -> Configuration | None:
    clocks = []
    for what in ("core_mhz", "memory_mhz"):
        value = parse_decimal(said[what])
        if value is None or not _is_clock(value):
            gather.error(f"{what} is '{said[what][:40]}'", span, f"expected a clock, {CLOCK_MHZ}")
        clocks.append(value or Fraction(0))
    units = None
    if "compute_units" in said:
        units = integer_from(said["compute_units"], least=1, most=_MOST_UNITS)
        if units is None:
            gather.error(f"compute_units is '{said['compute_units'][:40]}'", span, f"expected 1 to {_MOST_UNITS}")
    return Configuration(compute_units=units, core_mhz=clocks[0], memory_mhz=clocks[1])


def _blocks(path: str, text: str, gather: Gatherer, notes: list[str]) -> Iterator[_Row]:
    """Yield the rows of kernels that stand in blocks; a name that comes again is another kernel."""
    name, seen = "", dict[str, int]()
    for number, line in enumerate(text.splitlines(), start=1):
        span, cells = Span(path, number, 1, number, 1), [cell.strip() for cell in line.split(",")]
        if len(gather.errors) >= _MOST_ERRORS:
            return
        if cells == [""]:
            continue
        if len(cells) == 1:
            name = _block_name(cells[0], seen, notes)
            continue
        if len(cells) != 5 or not name:
            gather.error(f"'{line[:40]}' is no measured time", span, _EXAMPLE)
            continue
        before = len(gather.errors)
        configuration = _configuration({"memory_mhz": cells[0], "core_mhz": cells[1]}, span, gather)
        time_ms = _above_zero("time_ms", cells[2], span, gather)
        watt = _above_zero("power_watt", cells[3], span, gather)
        if len(gather.errors) == before:
            yield _Row(name=name, configuration=configuration, time_ms=time_ms, power_watt=watt, cells={}, span=span)


def _block_name(name: str, seen: dict[str, int], notes: list[str]) -> str:
    """Return what the kernel of a block is called: its name, with a number where that comes again."""
    seen[name] = seen.get(name, 0) + 1
    if seen[name] == 1:
        return name
    notes.append(f"the kernel '{name}' that comes again is called '{name} ({seen[name]})'")
    return f"{name} ({seen[name]})"


def _above_zero(what: str, text: str, span: Span, gather: Gatherer) -> float | None:
    value = _real(text, least=0.0)
    if not value or value < 1 / _MOST:
        gather.error(f"{what} is '{text[:40]}'", span, f"expected a number above 0 and at most {_MOST:g}")
        return None
    return value


def _real(text: str, *, least: float) -> float | None:
    try:
        value = float(text)
    except ValueError:
        return None
    return value if least <= value <= _MOST and math.isfinite(value) else None


def _grid(kernels: Mapping[str, Sequence[_Row]]) -> ScalingGrid:  # ways: three axes, each of what is seen
    """Return the configurations of some kernels. Raises ``FormatError`` where only some tell their compute units."""
    found = {row.configuration: row.span for rows in kernels.values() for row in rows if row.configuration is not None}
    told = {c.compute_units for c in found if c.compute_units is not None}
    if told and any(c.compute_units is None for c in found):
        span = next(span for c, span in found.items() if c.compute_units is None)
        expected = "give the compute units of all, or of none"
        raise FormatError("only some kernels tell their compute units", span=span, expected=expected)
    return ScalingGrid(
        compute_units=tuple(sorted(told)),
        core_mhz=_ascending(c.core_mhz for c in found),
        memory_mhz=_ascending(c.memory_mhz for c in found),
    )


def _ascending(clocks: Iterable[Fraction]) -> tuple[Fraction, ...]:
    return tuple(sorted(set(clocks)))


def _cubes(name: str, rows: Sequence[_Row], grid: ScalingGrid) -> tuple[Reals, Reals | None]:
    """Return time and power of a kernel at all configurations, shape ``grid.shape``; no power where one is missing."""
    times, powers = np.full(grid.shape, np.nan), np.full(grid.shape, np.nan)
    for row in rows:
        where = None if row.configuration is None else grid.index(row.configuration)
        assert where is not None, "the grid is made of these rows"
        if not np.isnan(times[where]):
            what = f"kernel '{name}' is there twice at {row.configuration}"
            raise FormatError(what, span=row.span, expected="give each row once")
        times[where], powers[where] = row.time_ms or np.nan, row.power_watt or np.nan
    _check_whole(name, times, rows[0].span, grid)
    return times, None if np.isnan(powers).any() else powers


def _check_whole(name: str, times: Reals, span: Span, grid: ScalingGrid) -> None:
    """Raise ``FormatError`` where a kernel has no time at some configuration."""
    lacking = [c for c, time in zip(grid.configurations(), times.ravel().tolist(), strict=True) if math.isnan(time)]
    if lacking:
        raise FormatError(
            f"kernel '{name}' lacks {len(lacking)} of {times.size} configurations: {_listed(lacking)}",
            span=span,
            expected="every kernel needs a time at every configuration that any kernel has",
        )


def _listed(configurations: list[Configuration]) -> str:
    """Return some configurations in words, and that there are more."""
    return ", ".join([*map(str, configurations[:_LISTED]), *(["..."] if len(configurations) > _LISTED else [])])


def _counter_names(rows: Sequence[_Row], notes: list[str]) -> tuple[str, ...]:
    """Return the columns that are numbers from 0 in all rows, of the base; note the others."""
    columns = [name for name in rows[0].cells if name not in _NO_COUNTERS]
    names = [n for n in columns if all(_real(row.cells.get(n, ""), least=0.0) is not None for row in rows)]
    left = [name for name in columns if name not in names]
    if left:
        notes.append(f"no counter, as not all cells are numbers from 0: {', '.join(left)}")
    return tuple(names)
