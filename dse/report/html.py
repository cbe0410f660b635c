"""The page of a study: one self-contained HTML file with tables and inline pictures, no script, nothing to load."""

from collections.abc import Sequence
from dataclasses import dataclass

from dse.base.escaping import page_text
from dse.formats.mapping_text import MappingTexts
from dse.model.estimate import Estimate
from dse.model.study import Study
from dse.model.trace import Trace, tokens_of_buffers
from dse.model.uncertainty import Robust
from dse.report.accounts import NamedAccounts
from dse.report.cores import best_by_cores, pays_text
from dse.report.front import front_text
from dse.report.front_picture import front_pictures
from dse.report.gantt import gantt_picture, occupancy_picture, steady_window
from dse.report.mapping_cells import atoms
from dse.report.measured import Measurements, all_states_text, main_state, measured_lines, state_text
from dse.report.network_picture import network_picture
from dse.report.quantities import time_text, value_text
from dse.report.ranking import MAKESPAN, RankedRow, cost_cells, cost_columns, measured_head
from dse.report.robust import robust_lines
from dse.report.svg import Bar, stacked_bars
from dse.report.why import CORE_CATEGORIES, Reasons, reason_lines

_STYLE = """
body { font: 15px/1.5 system-ui, sans-serif; color: #222; max-width: 1080px; margin: 2em auto; padding: 0 1em; }
h1 { font-size: 1.6em; margin-bottom: 0; } h2 { font-size: 1.15em; margin-top: 2.2em; }
.lead { color: #555; margin-top: .2em; } .note { color: #666; font-size: .9em; }
.facts { display: flex; flex-wrap: wrap; gap: 1em; margin: 1.2em 0; }
.fact { background: #f4f6f9; border-radius: 8px; padding: .6em 1em; }
.fact b { display: block; font-size: 1.35em; } .fact span { color: #666; font-size: .85em; }
table { border-collapse: collapse; width: 100%; font-variant-numeric: tabular-nums; }
th { text-align: left; color: #666; font-weight: 600; border-bottom: 2px solid #ddd; padding: .3em .7em .3em 0; }
td { border-bottom: 1px solid #eee; padding: .3em .7em .3em 0; vertical-align: top; }
td.n, th.n { text-align: right; white-space: nowrap; } .wide { overflow-x: auto; }
.wide svg { max-width: none !important; }
dl { display: grid; grid-template-columns: max-content auto; gap: .2em 1.2em; font-size: .9em; }
dt { color: #666; } dd { margin: 0; overflow-wrap: anywhere; }
"""
_POLICY = "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'"
"""A second wall behind the escaping: the browser runs no script in the page, loads nothing and sends nothing."""


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


def report_page(inputs: ReportInputs) -> str:
    """Return the page."""
    study, best = inputs.study, inputs.study.ranking[0]
    sections = [
        _head(inputs),
        _section("Ranking", _ranking(inputs.rows), "Gap: how far above the proven lower bound the makespan is."),
        *_robust(inputs),
        *_cores(inputs),
        *_measured(inputs),
        *_front(inputs),
        _section("Why the best mapping takes this long", _reasons(inputs)),
        _section(
            "The network on the best mapping",
            f'<div class="wide">{network_picture(inputs.trace.topology, best.point, tokens_of_buffers(inputs.trace))}'
            "</div>",
            "Line width: tokens carried. Rest the pointer on a box or a line for its name.",
        ),
        _section("Where the time of the partitions went", _bars(inputs)),
        _timelines(inputs),
        _section("What was assumed", _list(study.assumed) if study.assumed else "<p>Nothing.</p>"),
        _section("How this was made", _manifest(inputs.manifest)),
    ]
    title = f"dse: {page_text(study.network)}"
    return (
        f'<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n<title>{title}</title>\n'
        f'<meta http-equiv="Content-Security-Policy" content="{_POLICY}">\n'
        f'<meta name="viewport" content="width=device-width, initial-scale=1">\n<style>{_STYLE}</style>\n</head>\n'
        "<body>\n" + "\n".join(sections) + "\n</body>\n</html>\n"
    )


def _section(title: str, body: str, note: str = "") -> str:
    below = f'<p class="note">{page_text(note)}</p>' if note else ""
    return f"<h2>{page_text(title)}</h2>\n{body}\n{below}"


def _robust(inputs: ReportInputs) -> list[str]:
    """Return the section about drawn weights, where the ranking rests on them."""
    if inputs.robust is None:
        return []
    note = "The ranking above is in this order; ranking.json has what the draws say of each mapping."
    return [_section("How sure the ranking is", _list(robust_lines(inputs.robust)), note)]


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
        bound = time_text(study.lower_bounds[0].makespan, best.tick_unit)
        facts.append((f"{100 * best.gap:.1f} %", f"above the lower bound of {bound}"))
    return facts


def _head(inputs: ReportInputs) -> str:
    study, best = inputs.study, inputs.rows[0]
    facts = _facts_of_best(best, study)
    facts.append((f"{study.evaluations:,}", "mappings estimated"))
    if study.cut:
        facts.append((f"{study.cut:,}", "of them stopped early"))
    if study.pruned:
        facts.append((f"{study.pruned:,}", "excluded by their bound"))
    shown = "".join(
        f'<div class="fact"><b>{page_text(value)}</b><span>{page_text(what)}</span></div>' for value, what in facts
    )
    optimum = "No mapping of the space is better." if study.complete else "Better mappings may exist."
    lead = f"{study.method}: {study.method_reason}. {optimum}"
    title = f"<h1>{page_text(study.network)}</h1>"
    return f'{title}\n<p class="lead">{page_text(lead)}</p>\n<div class="facts">{shown}</div>'


def _ranking(rows: Sequence[RankedRow]) -> str:
    measured = measured_head(rows) is not None
    names = ("#", *cost_columns(rows), *(("measured",) if measured else ()), "speed-up", "gap", "busiest")
    head = "".join(f'<th class="n">{page_text(name)}</th>' for name in names) + "<th>mapping</th>"
    body = "".join(_row(row, measured) for row in rows)
    return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"


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
    for point in front.points:
        values = (value_text(value, axis.unit) for value, axis in zip(point.values, front.axes, strict=True))
        cells = "".join(f'<td class="n">{page_text(text)}</td>' for text in values)
        mapping = inputs.texts.of(point.evaluation.point)
        rows.append(f"<tr>{cells}<td>{_breakable(mapping)}</td></tr>")
    table = f"<table><thead><tr>{head}<th>mapping</th></tr></thead><tbody>{''.join(rows)}</tbody></table>"
    return [_section("Trade-offs", front_pictures(front) + table, f"{front_text(front)}.")]


def _row(row: RankedRow, measured: bool) -> str:
    busiest = row.busiest
    cells = [
        str(row.rank),
        *cost_cells(row).values(),
        *((all_states_text(row.measured),) if measured else ()),
        "" if row.speedup is None else f"{row.speedup:.2f}x",
        "" if row.gap is None else f"{100 * row.gap:.1f} %",
        "" if busiest is None else f"{busiest.partition} {100 * busiest.busy / busiest.core_time:.1f} %",
    ]
    numbers = "".join(f'<td class="n">{page_text(cell)}</td>' for cell in cells)
    return f"<tr>{numbers}<td>{_breakable(row.mapping)}</td></tr>"


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
    return [_section("The best that was found for each number of cores", table, pays_text(inputs.study, rows))]


def _reasons(inputs: ReportInputs) -> str:
    return _list(reason_lines(inputs.reasons, inputs.estimate))


def _list(lines: Sequence[str]) -> str:
    return "<ul>" + "".join(f"<li>{page_text(line)}</li>" for line in lines) + "</ul>"


def _bars(inputs: ReportInputs) -> str:
    bars = [
        Bar(label=p.name, parts=tuple(zip(CORE_CATEGORIES, p.ticks, strict=True))) for p in inputs.reasons.partitions
    ]
    return stacked_bars(bars, "core time of the partitions by category")


def _timelines(inputs: ReportInputs) -> str:
    estimate, point = inputs.estimate, inputs.study.ranking[0].point
    if estimate.firing_times is None:
        return ""
    window = steady_window(estimate.firing_times, estimate.makespan)
    whole = _section("Occupancy over the whole run", f'<div class="wide">{occupancy_picture(point, estimate)}</div>')
    lanes = gantt_picture(inputs.trace, point, estimate, window)
    return whole + _section(
        "Firings in a window from the middle of the run",
        f'<div class="wide">{lanes}</div>',
        "One lane an actor, one box a firing from its start to its end; colours as in the picture of the network.",
    )


def _manifest(manifest: Sequence[tuple[str, str]]) -> str:
    return "<dl>" + "".join(f"<dt>{page_text(k)}</dt><dd>{page_text(v)}</dd>" for k, v in manifest) + "</dl>"
