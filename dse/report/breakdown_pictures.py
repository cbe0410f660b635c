"""Pictures of a breakdown, as figures 5-1 to 5-5 of Chapa Martell 2014: the fit over the tiles, the parts as bars."""

from collections.abc import Iterator, Sequence

from dse.model.breakdown import PARTS, Breakdown, MeasuredTile
from dse.report.line_picture import LineChart, Series, line_chart
from dse.report.svg import colour, picture, rectangle, text

_WIDTH, _LEFT, _TOP, _ROW, _BAR = 720.0, 50.0, 48.0, 24.0, 16.0
_TIME_WIDTH, _SHARES, _SHARE_WIDTH = 320.0, 460.0, 240.0


def breakdown_pictures(
    kernel: str, measured: Sequence[MeasuredTile], fits: Sequence[Breakdown]
) -> Iterator[tuple[str, str]]:
    """Yield (name of the file, SVG): the fit and the bars of each reading."""
    for fit in fits:
        yield f"fit-{fit.reading}.svg", line_chart(_fit_chart(kernel, measured, fit))
        yield f"breakdown-{fit.reading}.svg", _bars(kernel, measured, fit)


def _fit_chart(kernel: str, measured: Sequence[MeasuredTile], fit: Breakdown) -> LineChart:
    return LineChart(
        title=f"{kernel}: measured and fitted ({fit.reading})",
        across="tile width",
        up="ms",
        series=(
            Series(name="fitted", points=_points(measured, [1e3 * sum(part) for part in fit.parts])),
            Series(name="measured", points=_points(measured, [tile.ms for tile in measured]), dots=True),
        ),
    )


def _points(measured: Sequence[MeasuredTile], values: Sequence[float]) -> tuple[tuple[float, float], ...]:
    return tuple((float(tile.tile), value) for tile, value in zip(measured, values, strict=True))


def _bars(kernel: str, measured: Sequence[MeasuredTile], fit: Breakdown) -> str:
    """Return a bar for each tile, all on one scale, in it the parts; beside it their shares, which short bars hide."""
    most = max((sum(part) for part in fit.parts), default=0.0) or 1.0
    title = f"{kernel}: breakdown by tile width ({fit.reading})"
    content = [
        text(_WIDTH / 2, 18, title, anchor="middle", size=14),
        text(_LEFT, _TOP - 8, "time", size=11),
        text(_SHARES, _TOP - 8, "share", size=11),
    ]
    for row, (tile, parts) in enumerate(zip(measured, fit.parts, strict=True)):
        y, total = _TOP + row * _ROW, sum(parts)
        content.append(text(_LEFT - 8, y + 12, str(tile.tile), anchor="end"))
        content += _stacked(_LEFT, y, _TIME_WIDTH / most, parts)
        content.append(text(_LEFT + _TIME_WIDTH * total / most + 6, y + 12, f"{1e3 * total:.4g} ms", size=11))
        content += _stacked(_SHARES, y, _SHARE_WIDTH / total if total else 0.0, parts)
    y, x = _TOP + len(measured) * _ROW + 8, _LEFT
    for k, name in enumerate(PARTS):
        content += [rectangle(x, y, 12, 12, colour(k)), text(x + 16, y + 10.5, name, size=11)]
        x += 36 + 6.6 * len(name)
    return picture(_WIDTH, y + 24, "".join(content), title)


def _stacked(x: float, y: float, scale: float, parts: Sequence[float]) -> Iterator[str]:
    """Yield the parts of a bar."""
    for k, seconds in enumerate(parts):
        width = scale * seconds
        if width > 0:
            yield rectangle(x, y, width, _BAR, colour(k), f"{PARTS[k]}: {1e3 * seconds:.4g} ms")
        x += width
