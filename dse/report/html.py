"""The page of a study: one HTML file, which loads nothing and sends nothing.

Tables stand in it as such; a script draws its pictures from the views of mappings that it holds, and any of them can be
chosen, alone or beside another one (``dse/report/web/report.js``).
"""

from collections.abc import Sequence
from dataclasses import dataclass

from dse.base.escaping import page_text
from dse.base.numbers import about_count
from dse.formats.mapping_text import MappingTexts
from dse.model.estimate import Estimate
from dse.model.study import Study
from dse.model.trace import Trace
from dse.model.uncertainty import Robust
from dse.report.accounts import NamedAccounts
from dse.report.cores import best_by_cores, cores_title, pays_text
from dse.report.front import front_text
from dse.report.mapping_cells import atoms
from dse.report.measured import Measurements, all_states_text, main_state, measured_lines, state_text
from dse.report.other_setting import loose_text, other_text
from dse.report.page.document import mapping_view, network_view
from dse.report.page.html import data_text, framed
from dse.report.quantities import time_text, value_text
from dse.report.ranking import MAKESPAN, RankedRow, cost_cells, cost_columns, measured_head
from dse.report.robust import rank_text, robust_cells, robust_heads, robust_lines
from dse.report.why import Reasons, reason_lines

PAGE_BYTES = 20_000_000
"""No page is larger. Timelines of mappings far down the ranking are left out first, then all of such mappings."""
MOST_FRONT_ROWS = 200
"""So many points of a front stand in the table; the chart and ranking.json have all."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ReportInputs:
    """What the page shows. ``estimate`` and ``reasons`` are of the best mapping, with its firing times."""

    study: Study
    trace: Trace
    texts: MappingTexts
    rows: tuple[RankedRow, ...]
    estimate: Estimate
    reasons: Reasons
    manifest: tuple[tuple[str, str], ...]
    measured: Measurements | None = None
    robust: Robust | None = None
    """The ranking under uncertain weights, which the rows are in the order of; None: that of the estimates."""
    accounts: tuple[NamedAccounts, ...] = ()
    """Those of the first rows, as many as were estimated once more."""
    views: tuple[dict[str, object], ...] = ()
    """Of the first rows (``dse.report.page.document.mapping_view``); empty: the best one is made from ``estimate``."""


def report_page(inputs: ReportInputs, most_bytes: int = PAGE_BYTES) -> str:
    """Return the page, of at most ``most_bytes`` where the network and the tables leave room for any timeline."""
    title, body = f"dse: {inputs.study.network}", "\n".join(_sections(inputs))
    return framed(title, body, _document(inputs, most_bytes - len(framed(title, body, "").encode())))


def _sections(inputs: ReportInputs) -> list[str]:
    """Return the markup of the page, which is there without JavaScript too."""
    study = inputs.study
    return [
        _head(inputs),
        _section("Ranking", _ranking(inputs), "Gap: how far above the proven lower bound the makespan is."),
        *_robust(inputs),
        *_cores(inputs),
        *_measured(inputs),
        *_front(inputs),
        f'<div class="static">{_section("Why the best mapping takes this long", _reasons(inputs))}</div>',
        _LIVE,
        _section("What was assumed", _list(study.assumed) if study.assumed else "<p>Nothing.</p>"),
        _section("How this was made", _manifest(inputs.manifest)),
    ]


_SIDES = (
    ("reasons", "Why it takes this long", "", ""),
    ("network", "The network", "Line width: tokens carried.", "A click on an actor goes to its first firing."),
    (
        "timeline",
        "The timeline",
        "A lane an actor, a box a firing; the lane of a partition tells how busy it was.",
        "Drag to move; Ctrl and the wheel, or two fingers, to zoom. By keys: arrows, plus, minus, Enter, Home; Enter in"
        " the search goes on.",
    ),
    ("partitions", "Partitions", "", ""),
    ("actors", "Actors", "", ""),
    ("fifos", "FIFOs", "", ""),
)
"""Of each part of the page its id, its title, what it shows, and what to do with it, which paper leaves out."""
_LIVE = (
    '<div class="live"><h2>How the search went</h2><div id="curve"></div><h2>Mappings</h2><div id="choice"></div>'
    + "".join(
        f'<section aria-label="{title}"><h2>{title}</h2><div class="sides" id="{name}-sides"></div>'
        + (f'<p class="note">{note} <span class="hint">{hint}</span></p>' if note else "")
        + "</section>"
        for name, title, note, hint in _SIDES
    )
    + "</div>"
)


def _document(inputs: ReportInputs, most_bytes: int) -> str:
    """Return the data of the page as text, of at most so many bytes: it is ASCII."""
    best = inputs.study.ranking[0].point
    lines = reason_lines(inputs.reasons, inputs.estimate)
    views = inputs.views or (
        mapping_view(inputs.trace, best, inputs.estimate, label="1", mapping=inputs.rows[0].mapping, lines=lines),
    )
    rest = data_text({"network": network_view(inputs.trace), "search": _search(inputs), "front": _front_data(inputs)})
    texts, left_out = _fitted(views, most_bytes - len(rest) - _KEYS_BYTES)
    missing = f',"rows":{len(inputs.rows)},"leftOut":{left_out}'
    return f'{rest[:-1]},"mappings":[{",".join(texts)}]{missing}}}'


_KEYS_BYTES = 200
"""Kept free for what stands between the parts of the data."""


def _fitted(views: Sequence[dict[str, object]], room: int) -> tuple[list[str], int]:
    """Return the views as text that fit into so many bytes, the first one always, and how many have no timeline."""
    bare = [data_text({**view, "timeline": None, "path": None}) for view in views]
    room -= len(bare[0])
    kept = [bare[0]]
    for text in bare[1:]:  # all mappings that can be, before any timeline
        room -= len(text) + 1
        if room < 0:
            break
        kept.append(text)
    room = max(0, room) if len(kept) == len(bare) else 0
    for k, view in enumerate(views[: len(kept)]):
        text = data_text(view)
        room -= len(text) - len(kept[k])
        if room < 0:
            return kept, len(kept) - k
        kept[k] = text
    return kept, 0


_MOST_FOUND = 3000
"""Of more mappings than this the curve of a search shows some: every n-th, and all that were the best so far."""


def _search(inputs: ReportInputs) -> dict[str, object]:
    """Return how the search went: (ordinal, makespan) in the order of estimation."""
    study = inputs.study
    times = sorted((e.ordinal, e.makespan) for e in study.ranking)
    found, best = list[tuple[int, int]](), None
    thin = -(-len(times) // _MOST_FOUND)
    for number, (ordinal, makespan) in enumerate(times):
        if best is None or makespan < best or number % thin == 0:
            found.append((ordinal, makespan))
        best = makespan if best is None else min(best, makespan)
    return {
        "found": found,
        "evaluations": study.evaluations,
        "bound": study.lower_bounds[0].makespan,
        "unit": study.ranking[0].tick_unit,
    }


def _front_data(inputs: ReportInputs) -> dict[str, object] | None:
    front = inputs.study.front
    if front is None or len(front.axes) < 2:
        return None
    return {
        "axes": [{"name": axis.name, "unit": axis.unit} for axis in front.axes],
        "points": [{"values": list(point.values)} for point in front.points],
    }


def _section(title: str, body: str, note: str = "") -> str:
    below = f'<p class="note">{page_text(note)}</p>' if note else ""
    return f"<h2>{page_text(title)}</h2>\n{body}\n{below}"


def _robust(inputs: ReportInputs) -> list[str]:
    """Return the section about drawn weights, where the ranking rests on them."""
    if inputs.robust is None:
        return []
    body = _list(robust_lines(inputs.robust)) + _robust_table(inputs.robust, inputs.rows)
    note = "The ranking above is in this order. A rank with = is a tie: the weights cannot tell the mappings apart."
    return [_section("How sure the ranking is", body, note)]


def _robust_table(robust: Robust, rows: Sequence[RankedRow]) -> str:
    """Return what draws say of the mappings, as the command line does."""
    head = "".join(f'<th class="n">{page_text(name)}</th>' for name in robust_heads(robust)) + "<th>mapping</th>"
    body = "".join(
        f'<tr>{"".join(f"""<td class="n">{page_text(cell)}</td>""" for cell in cells)}'
        f'<td class="long"><div>{_breakable(row.mapping)}</div></td></tr>'
        for cells, row in zip(robust_cells(robust), rows, strict=False)
    )
    return f'<div class="wide"><table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table></div>'


def _facts_of_best(best: RankedRow, study: Study) -> list[tuple[str, str]]:
    """Return figures of the best mapping, each with what it is."""
    facts = [(value_text(v.value, v.axis.unit), f"best {v.axis.name}") for v in best.values[:1]]
    if not facts or best.values[0].axis.name != MAKESPAN:
        facts.append((time_text(best.makespan, best.tick_unit), "its makespan" if facts else "best makespan"))
    times = None if best.measured is None else best.measured.in_state(main_state([best.measured]))
    if times is not None:
        facts.append((state_text(times), f"measured ({times.state})" if times.state else "measured"))
    if best.speedup is not None:
        facts.append((f"{best.speedup:.2f}x", "faster than one core"))
    if best.gap is not None:
        facts.append((f"{100 * best.gap:.1f} %", _bound_text(best, study)))
    return facts


def _bound_text(best: RankedRow, study: Study) -> str:
    bound = time_text(study.lower_bounds[0].makespan, best.tick_unit)
    return f"above the lower bound of {bound}{', which is loose' if loose_text(study) else ''}"


def _head(inputs: ReportInputs) -> str:
    study, best = inputs.study, inputs.rows[0]
    facts = _facts_of_best(best, study)
    facts.append((f"{study.evaluations:,}", "mappings estimated"))
    if study.cut:
        facts.append((f"{study.cut:,}", "of them stopped early"))
    if study.pruned:
        facts.append((about_count(study.pruned), "excluded by their bound"))
    shown = "".join(
        f'<div class="fact"><b>{page_text(value)}</b><span>{page_text(what)}</span></div>' for value, what in facts
    )
    optimum = "No mapping of the space is better." if study.complete else "Better mappings may exist."
    lead = f"{study.method}: {study.method_reason}. {optimum}"
    if study.other is not None:
        lead += f" Not asked for: {other_text(study.other).replace('`', '')}."
    title = f"<h1>{page_text(study.network)}</h1>"
    return f'{title}\n<p class="lead">{page_text(lead)}</p>\n<div class="facts">{shown}</div>'


def _ranking(inputs: ReportInputs) -> str:
    rows, robust = inputs.rows, inputs.robust
    tied = () if robust is None else tuple(rank_text(place, robust) for place in range(len(robust.rows)))
    measured = measured_head(rows) is not None
    names = ("#", *cost_columns(rows), *(("measured",) if measured else ()), "speed-up", "gap", "busiest")
    head = "".join(f'<th class="n">{page_text(name)}</th>' for name in names) + "<th>mapping</th>"
    ranks = (*tied, *(str(row.rank) for row in rows[len(tied) :]))
    body = "".join(_row(row, rank, measured) for row, rank in zip(rows, ranks, strict=False))
    return f'<div class="wide"><table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table></div>'


def _measured(inputs: ReportInputs) -> list[str]:
    """Return the section of what was measured; none where nothing was to be."""
    if inputs.measured is None:
        return []
    lines = measured_lines(inputs.measured, inputs.study.ranking, inputs.study.baseline)
    note = "Median of the runs and half of the distance of the quartiles, apart for each state of the machine."
    return [_section("Estimated and measured", _list(lines), note)]


def _front(inputs: ReportInputs) -> list[str]:
    """Return the section of the Pareto front; none where the makespan is the only objective."""
    front = inputs.study.front
    if front is None:
        return []
    head = "".join(f'<th class="n">{page_text(axis.name)}</th>' for axis in front.axes)
    rows = []
    for point in front.points[:MOST_FRONT_ROWS]:
        values = (value_text(value, axis.unit) for value, axis in zip(point.values, front.axes, strict=True))
        cells = "".join(f'<td class="n">{page_text(text)}</td>' for text in values)
        mapping = inputs.texts.of(point.evaluation.point)
        rows.append(f"<tr>{cells}<td>{_breakable(mapping)}</td></tr>")
    table = f"<table><thead><tr>{head}<th>mapping</th></tr></thead><tbody>{''.join(rows)}</tbody></table>"
    chart = '<div class="live" id="front"></div>' if len(front.axes) > 1 else ""
    more = len(front.points) - MOST_FRONT_ROWS
    rest = f" The table leaves out the last {more:,}; ranking.json has them." if more > 0 else ""
    return [_section("Trade-offs", f"{chart}{table}", f"{front_text(front)}.{rest}")]


def _row(row: RankedRow, rank: str, measured: bool) -> str:
    busiest = row.busiest
    cells = [
        rank,
        *cost_cells(row).values(),
        *((all_states_text(row.measured),) if measured else ()),
        "" if row.speedup is None else f"{row.speedup:.2f}x",
        "" if row.gap is None else f"{100 * row.gap:.1f} %",
        "" if busiest is None else f"{busiest.partition} {100 * busiest.busy / busiest.core_time:.1f} %",
    ]
    numbers = "".join(f'<td class="n">{page_text(cell)}</td>' for cell in cells)
    return f'<tr>{numbers}<td class="long"><div>{_breakable(row.mapping)}</div></td></tr>'


def _breakable(mapping: str) -> str:
    """Return a mapping for the page, whose lines may end behind a comma; it is still what ``--mapping`` takes."""
    return page_text("".join(f"{atom} " if atom.endswith(",") else atom for atom in atoms(mapping)))


def _cores(inputs: ReportInputs) -> list[str]:
    """Return the section of what each number of cores gives; none where there is only one number."""
    rows = best_by_cores(inputs.study, inputs.texts.platform)
    if not rows:
        return []
    body = "".join(
        f'<tr><td class="n">{row.label}</td><td class="n">{page_text(time_text(row.makespan, row.tick_unit))}'
        f'</td><td class="n">{"" if row.speedup is None else f"{row.speedup:.2f}x"}</td>'
        f"<td>{_breakable(inputs.texts.of(row.point))}</td></tr>"
        for row in rows
    )
    head = "".join(f'<th class="n">{name}</th>' for name in ("cores", "makespan", "speed-up")) + "<th>mapping</th>"
    table = f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"
    return [_section(cores_title(inputs.study).capitalize(), table, pays_text(inputs.study, rows))]


def _reasons(inputs: ReportInputs) -> str:
    return _list(reason_lines(inputs.reasons, inputs.estimate))


def _list(lines: Sequence[str]) -> str:
    return "<ul>" + "".join(f"<li>{page_text(line)}</li>" for line in lines) + "</ul>"


def _manifest(manifest: Sequence[tuple[str, str]]) -> str:
    return "<dl>" + "".join(f"<dt>{page_text(k)}</dt><dd>{page_text(v)}</dd>" for k, v in manifest) + "</dl>"
