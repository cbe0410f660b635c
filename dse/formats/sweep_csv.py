"""Points of sweeps as CSV: what varies, ``ms`` and, where there are several, ``kernel``, ``device``, ``model``."""

import csv
import io
from collections.abc import Sequence
from dataclasses import dataclass

from dse.base.diagnostics import Gatherer
from dse.base.files import write_whole
from dse.base.source import Span
from dse.formats.csv_tables import Cells, milliseconds, rows_of
from dse.formats.mapping_csv import read_text
from dse.formats.yaml_source import format_error
from dse.model.sweep import Sweep, SweepPoint

_MS = 1e-9, 1e12
"""The least and the most that a time may be."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MeasuredPoint:
    """A measured time. ``kernel``: the name of the C file, ``device``: of a card; empty: any. ``line``: of its row."""

    kernel: str
    device: str
    values: tuple[str, ...]
    seconds: float
    line: int

    def fits(self, point: SweepPoint) -> bool:
        """Return whether this was measured at a point."""
        return (
            self.kernel in ("", point.kernel)
            and self.device in ("", point.device)
            and all(_same(a, b) for a, b in zip(self.values, point.values, strict=True))
        )


def _same(a: str, b: str) -> bool:
    """Return whether two texts say one value: ``1024`` and ``1024.0`` do."""
    if a == b:
        return True
    try:
        return float(a) == float(b)
    except ValueError:
        return a.lower() == b.lower()


def read_measured(path: str, names: Sequence[str]) -> tuple[MeasuredPoint, ...]:
    """Return the rows of a file. Raises ``FormatError`` with all that is wrong in it."""
    gather = Gatherer()
    needed = (*names, "ms")
    expected = f"expected a header with {','.join(needed)}, perhaps kernel,device"
    rows = [_row(cells, names, span, gather) for cells, span in rows_of(path, read_text(path), needed, expected)]
    if gather.errors:
        raise format_error(gather)
    return tuple(rows)


def _row(cells: Cells, names: Sequence[str], span: Span, gather: Gatherer) -> MeasuredPoint:
    if None in cells:  # where ``DictReader`` keeps what is too much
        gather.error("the row has more cells than the header", span, "expected as many; a decimal point, no comma")
    return MeasuredPoint(
        kernel=cells.get("kernel", "").strip(),
        device=cells.get("device", "").strip().lower(),
        values=tuple(cells[name].strip() for name in names),
        seconds=milliseconds(cells["ms"], _MS, span, gather) * 1e-3,
        line=span.line,
    )


def write_sweep(path: str, found: Sweep) -> None:
    """Write the predicted times of a sweep, which ``read_measured`` reads, too. Raises ``OSError``."""
    out = io.StringIO()
    rows = csv.writer(out, lineterminator="\n")
    rows.writerow(["kernel", "device", "model", *(axis.name for axis in found.axes), "ms"])
    rows.writerows([p.kernel, p.device, p.model, *p.values, repr(1e3 * p.time_s)] for p in found.points)
    write_whole(path, out.getvalue())
