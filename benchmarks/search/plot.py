"""From the results of ``benchmarks.search.compare``: the page, the picture, and the best known makespans for the tests.

``python -m benchmarks.search.plot FILE`` writes ``docs/search-quality.md``, ``docs/search-quality.svg`` and
``benchmarks/search/best_known.json``. Runs that are missing in an unfinished comparison are left out and counted.
What that last file holds of earlier comparisons is kept where it is better; when networks change, remove it first.
"""

import argparse
import json
import math
import textwrap
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks.search.compare import APPLICATIONS, EXHAUSTED
from benchmarks.search.networks import RECIPES
from dse.report.svg import colour, picture, rectangle, tag, text

ROOT = Path(__file__).resolve().parents[2]
TEMPLATE = Path(__file__).with_name("page.md")
CLOSE_PERCENT = 101
"""What counts as having found the best: within 1 %. In integers, so that the limit itself counts."""
FAMILIES = ("pipeline", "tree", "split-join", "irregular", "application")
DRAWN = ("auto", "iterated-search", "local-search", "tabu-joint", "idle", "branch-and-bound", "annealing", "random")
"""Methods with a curve."""
STEPS = (1, 2, 5, 10, 20, 50, 100, 200, 300, 500, 1000, 2000, 5000, 10_000, 30_000, 60_000)


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """One run. ``curve``: (evaluations, makespan) of each improvement, never empty."""

    network: str
    method: str
    seed: int
    role: str
    used: str
    stop: str
    actors: int
    size: int
    placements: int
    budget: int | None
    made: int
    pruned: int
    bound: int
    proven: bool
    curve: tuple[tuple[int, int], ...]

    @property
    def best(self) -> int:
        """The best makespan of the run."""
        return self.curve[-1][1]

    @property
    def family(self) -> str:
        """Pipeline, tree, split-join, irregular or application."""
        return next((f for f in FAMILIES if self.network.startswith(f"{f}-")), FAMILIES[-1])

    def after(self, evaluations: int) -> int:
        """Return the best makespan after so many evaluations; the first one where there was none yet."""
        return next((m for n, m in reversed(self.curve) if n <= evaluations), self.curve[0][1])


@dataclass(frozen=True, slots=True, kw_only=True)
class Results:
    """All runs with what is known of each network: ``best``, a makespan that was found, and ``bound``, a proven one."""

    rows: tuple[Row, ...]
    failed: tuple[str, ...]
    yardstick: tuple[str, ...]
    best: dict[str, int]
    bound: dict[str, int]
    earlier: tuple[str, ...] = ()
    """The networks whose best comes from an earlier comparison."""

    def of(self, role: str, method: str | None = None) -> list[Row]:
        """Return the runs of a role on spaces that are too large to exhaust, all roles but ``optimum`` have them."""
        return [
            r
            for r in self.rows
            if r.role == role and (method is None or r.method == method) and (r.size >= EXHAUSTED or role == "optimum")
        ]

    def finders(self, network: str) -> set[str]:
        """Return the roles of the runs that found the best known of a network."""
        return {r.role for r in self.rows if r.network == network and r.best == self.best[network]}

    def gap(self, row: Row, evaluations: int | None = None) -> float:
        """Return by how much a run was above the best known, as a fraction."""
        found = row.best if evaluations is None else row.after(evaluations)
        return found / self.best[row.network] - 1

    def close(self, row: Row) -> bool:
        """Return whether a run ended within 1 % of the best known."""
        return row.best * 100 <= CLOSE_PERCENT * self.best[row.network]


def read_results(path: Path, known: Path | None = None) -> Results:
    """Read the lines of a comparison. ``known``: best known makespans of earlier ones on the same networks."""
    lines = [json.loads(line) for line in path.read_text().splitlines()]
    rows, failed = _runs(lines)
    best, bound = _best_of(rows), _bound_of(rows)
    records = _records(known, {r.network: str(r.size) for r in rows})
    earlier = tuple(name for name, record in records.items() if record["best"] < best[name])
    for name, record in records.items():
        best[name], bound[name] = min(best[name], record["best"]), max(bound[name], record["bound"])
    yardstick = tuple(text for line in lines if line["role"] == "yardstick" for text in line["lines"])
    return Results(rows=rows, failed=failed, yardstick=yardstick, best=best, bound=bound, earlier=earlier)


def _runs(lines: list[dict[str, Any]]) -> tuple[tuple[Row, ...], tuple[str, ...]]:
    """Return the runs of a comparison, and what failed."""
    runs = [line for line in lines if line["role"] != "yardstick"]
    failed = tuple(f"{line['key']}: {line['error']}" for line in runs if "error" in line)
    return tuple(_row(line) for line in runs if "error" not in line and line["curve"]), failed


def _best_of(rows: Sequence[Row]) -> dict[str, int]:
    """Return the best makespan that a run found on each network."""
    return {name: min(r.best for r in rows if r.network == name) for name in dict.fromkeys(r.network for r in rows)}


def _bound_of(rows: Sequence[Row]) -> dict[str, int]:
    """Return the highest bound of each network, its optimum where a run proved it."""
    bound = {name: max(r.bound for r in rows if r.network == name) for name in dict.fromkeys(r.network for r in rows)}
    return bound | {r.network: r.best for r in rows if r.proven}


def _records(known: Path | None, size: dict[str, str]) -> dict[str, Any]:
    """Return what is known from earlier comparisons of networks whose spaces have the same size."""
    records = json.loads(known.read_text()) if known is not None and known.exists() else {}
    return {name: record for name, record in records.items() if record["size"] == size.get(name)}


def _row(line: dict[str, object]) -> Row:
    def number(name: str) -> int:
        return int(str(line[name]))

    curve = line["curve"]
    assert isinstance(curve, list)
    return Row(
        network=str(line["network"]),
        method=str(line["method"]),
        seed=number("seed"),
        role=str(line["role"]),
        used=str(line["used"]),
        stop=str(line["stop"]),
        actors=number("actors"),
        size=number("size"),
        placements=number("placements"),
        budget=None if line["budget"] is None else number("budget"),
        made=number("made"),
        pruned=number("pruned"),
        bound=number("bound"),
        proven=bool(line["proven"]),
        curve=tuple((int(n), int(m)) for n, m in curve),
    )


def mean(values: Iterable[float]) -> float:
    """Return the mean; not a number where there is nothing."""
    found = list(values)
    return sum(found) / len(found) if found else math.nan


def share(rows: Sequence[Row], results: Results) -> float:
    """Return the share of runs that ended within 1 % of the best known."""
    return mean(results.close(row) for row in rows)


def evaluations_to_close(row: Row, results: Results) -> float:
    """Return after how many evaluations a run was within 1 % of the best known; infinity if it never was."""
    return next((n for n, m in row.curve if m * 100 <= CLOSE_PERCENT * results.best[row.network]), math.inf)


def median(values: Iterable[float]) -> float:
    """Return the (lower) median."""
    found = sorted(values)
    return found[(len(found) - 1) // 2] if found else math.nan


# Tables ---------------------------------------------------------------------------------------------------------------


def table(head: Sequence[str], body: Iterable[Sequence[str]]) -> str:
    """Return a Markdown table; the first column is text, the others numbers."""
    rule = ["---", *("---:" for _ in head[1:])]
    return "\n".join("| " + " | ".join(cells) + " |" for cells in (head, rule, *body))


def percent(value: float) -> str:
    """Return a fraction in per cent, an en dash where there is none."""
    return "–" if math.isnan(value) else f"{100 * value:.1f}"


def count(value: float) -> str:
    """Return a number of evaluations; an en dash where there is none."""
    return "–" if math.isinf(value) or math.isnan(value) else f"{value:,.0f}"


def size_text(size: int) -> str:
    """Return a size of a space, by its power of ten when it is long."""
    return f"{size:,}" if size < 10**9 else f"10^{len(str(size)) - 1}"


def ranking_of(results: Results) -> list[str]:
    """Return the methods, the smallest mean gap first."""
    methods = dict.fromkeys(r.method for r in results.of("compared"))
    return sorted(methods, key=lambda m: mean(results.gap(r) for r in results.of("compared", m)))


def methods_table(results: Results) -> str:
    """Return the gap of each method by family, how often it was close, and how soon."""
    body = []
    for method in ranking_of(results):
        rows = results.of("compared", method)
        gaps = [percent(mean(results.gap(r) for r in rows if r.family == family)) for family in FAMILIES]
        soon = median(evaluations_to_close(r, results) for r in rows)
        overall = percent(mean(results.gap(r) for r in rows))
        body.append((f"`{method}`", *gaps, overall, percent(share(rows, results)), count(soon)))
    return table(("method", *FAMILIES, "all", "within 1 %", "evaluations to 1 %"), body)


def small_table(results: Results) -> str:
    """Return what ``auto`` needs where every point was estimated too."""
    truth = {r.network: r for r in results.rows if r.role == "truth"}
    body = [
        (
            r.network,
            f"{r.placements:,}",
            f"{r.size:,}",
            f"{r.made:,}",
            f"{r.curve[-1][0]:,}",
            f"{r.pruned:,}",
            "yes" if r.best == truth[r.network].best else "no",
        )
        for r in results.of("optimum")
        if r.network in truth
    ]
    head = ("network", "placements", "mappings", "estimated", "optimum found after", "excluded", "optimum")
    return table(head, body)


def large_table(results: Results) -> str:
    """Return what is known of the large spaces and how near ``auto`` comes."""
    head = (
        "network",
        "actors",
        "mappings",
        "`auto`, equal budget",
        "`auto`, default",
        "best known",
        "above bound",
        "found by",
    )
    return table(head, [_large_row(results, n) for n in dict.fromkeys(r.network for r in results.of("compared"))])


def _large_row(results: Results, network: str) -> tuple[str, ...]:
    """Return the row of one network in the table of large spaces."""
    rows = [r for r in results.rows if r.network == network]
    best, bound = results.best[network], results.bound[network]
    finders = sorted({f"{r.method} ({r.role})" for r in rows if r.best == best})
    more = f" and {len(finders) - 1} more" if len(finders) > 1 else ""
    by = f"{finders[0]}{more}" if finders else "earlier"
    gaps = [worst_gap(results, network, role) for role in ("compared", "default")]
    room = "optimal" if best == bound else percent(best / bound - 1)
    return (network, str(rows[0].actors), size_text(rows[0].size), *map(percent, gaps), f"{best}", room, by)


def worst_gap(results: Results, network: str, role: str) -> float:
    """Return the largest gap of ``auto`` over its seeds."""
    return max((results.gap(r) for r in results.of(role, "auto") if r.network == network), default=math.nan)


def _proof(row: Row) -> str:
    """Return in words what a proof took."""
    return f"{row.network} ({size_text(row.size)} mappings) with {row.made} estimations"


def saved_text(results: Results) -> str:
    """Return how many placements symmetry and bounds save, over the small and the proven spaces."""
    small = [r for r in {r.network: r for r in results.rows}.values() if r.size < EXHAUSTED]
    placements, mappings = sum(r.placements for r in small), sum(r.size for r in small)
    made = sum(r.made for r in results.of("optimum"))
    proofs = (r for r in results.of("proof") if r.proven)
    proved = ", ".join(map(_proof, proofs))
    return wrapped(
        f"The {placements:,} placements of the small spaces are {mappings:,} mappings when identical cores and units"
        f" are not told apart; of these `auto` estimated {made:,}. Branch and bound proved the optimum of"
        f" {proved or 'no larger space'}."
    )


def verdict(results: Results) -> str:
    """Return in words whether the goals are met."""
    truth = {r.network: r.best for r in results.rows if r.role == "truth"}
    small = [r for r in results.of("optimum") if r.network in truth]
    exact = sum(r.best == truth[r.network] for r in small)
    lines = [
        f"- Of the {len(small)} spaces under {EXHAUSTED:,} mappings `auto` finds the optimum of {exact}; every mapping"
        " of them was estimated to know it.",
    ]
    for role, budget in (("default", "its default budget"), ("compared", "the equal budget of the table")):
        rows = results.of(role, "auto")
        if rows:
            lines.append(_verdict_of(results, rows, budget))
    return "\n".join(wrapped(line, "  ") for line in lines)


def _verdict_of(results: Results, rows: Sequence[Row], budget: str) -> str:
    """Return in words how near runs with one budget come to the best known."""
    networks = dict.fromkeys(r.network for r in rows)
    middle = [n for n in networks if median(not results.close(r) for r in rows if r.network == n) == 0]
    gaps = [results.gap(r) for r in rows]
    return (
        f"- On the {len(networks)} larger spaces, with {budget} (at most"
        f" {max(r.budget or 0 for r in rows):,} evaluations), {sum(results.close(r) for r in rows)} of"
        f" {len(rows)} runs of `auto` ({percent(share(rows, results))} %) end within 1 % of the best known;"
        f" the median seed does on {len(middle)} of {len(networks)} spaces. The mean gap is"
        f" {percent(mean(gaps))} %, the largest"
        f" {percent(max(gaps))} %."
    )


def wrapped(paragraph: str, indent: str = "") -> str:
    """Return a paragraph in lines of the usual width."""
    paragraph = paragraph.replace(" %", "\N{NO-BREAK SPACE}%")
    return textwrap.fill(paragraph, 120, subsequent_indent=indent, break_long_words=False, break_on_hyphens=False)


def _long_runs(results: Results, n_networks: int) -> str:
    """Return in words which long runs were made."""
    long_run = max((r.budget or 0 for r in results.of("long")), default=0)
    done = len(results.of("long"))
    if not done:
        return "a long run" + (", which is still to be made" if n_networks else "")
    runs = f"one long run of `iterated-search` (twice the default budget, up to {long_run:,} evaluations)"
    return runs + (f", which was made on {done} of them so far" if done < n_networks else "")


def known_text(results: Results) -> str:
    """Return where the best known of the larger spaces come from."""
    networks = list(dict.fromkeys(r.network for r in results.of("compared")))
    proven = sum(results.best[n] == results.bound[n] for n in networks)
    long_only = [n for n in networks if results.finders(n) == {"long"}]
    runs = _long_runs(results, len(networks))
    return wrapped(
        "Above, it comes from the runs of the table, from `auto` with its default budget, from branch and bound where a"
        f" proof is within reach, and from {runs}."
        " Where nobody proved it, a better one may exist: the gaps are then too small."
        f" Of the {len(networks)} larger spaces {proven} have a best known makespan that is proven to be the optimum."
        f" On {len(long_only)} only the long run found the best known; on {len(results.earlier) or 'none'} it is from"
        " an earlier comparison, made with other versions of the methods."
    )


# Picture --------------------------------------------------------------------------------------------------------------

WIDTH, HEIGHT = 980, 540
LEFT, TOP, PLOT_WIDTH, PLOT_HEIGHT = 60, 40, 460, 420
BAR = 140
LEAST_GAP, MOST_GAP = 0.005, 1.0


def quality_picture(results: Results) -> str:
    """Return the picture: mean gap against evaluations on the left, gap and share of all methods on the right."""
    budget = max(r.budget or 1 for r in results.of("compared"))
    return picture(
        WIDTH,
        HEIGHT,
        _curves(results, budget) + _bars(results, budget),
        "How far search methods are above the best known makespan, by evaluations and by method",
    )


def _curves(results: Results, budget: int) -> str:
    steps = [n for n in STEPS if n <= budget]

    def x(evaluations: float) -> float:
        return LEFT + PLOT_WIDTH * math.log(evaluations) / math.log(budget)

    def y(gap: float) -> float:
        inside = min(max(gap, LEAST_GAP), MOST_GAP)
        return TOP + PLOT_HEIGHT * math.log(MOST_GAP / inside) / math.log(MOST_GAP / LEAST_GAP)

    parts = [text(LEFT, 22, "Mean gap to the best known after so many evaluations", size=14)]
    parts += _axes(x, y, steps)
    for index, method in enumerate(m for m in DRAWN if results.of("compared", m)):
        rows = results.of("compared", method)
        points = [(x(n), y(mean(results.gap(r, n) for r in rows))) for n in range(1, budget + 1)]
        line = " ".join(f"{a:.1f},{b:.1f}" for a, b in points)
        strong = 3 if method == "auto" else 1.6
        style: list[tuple[str, str | float]] = [("fill", "none"), ("stroke", colour(index)), ("stroke-width", strong)]
        parts.append(tag("polyline", [("points", line), *style]))
        at = LEFT + 125 * (index % 4), TOP + PLOT_HEIGHT + 50 + 18 * (index // 4)
        parts += [rectangle(at[0], at[1], 14, 4, colour(index)), text(at[0] + 19, at[1] + 6, method, size=11)]
    return "".join(parts)


def _axes(x: Callable[[float], float], y: Callable[[float], float], steps: Sequence[int]) -> list[str]:
    parts = []
    for gap in (0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0):
        parts += [
            _line(LEFT, y(gap), LEFT + PLOT_WIDTH, y(gap)),
            text(LEFT - 6, y(gap) + 4, f"{100 * gap:g} %", anchor="end", size=11),
        ]
    for n in steps:
        parts += [
            _line(x(n), TOP, x(n), TOP + PLOT_HEIGHT),
            text(x(n), TOP + PLOT_HEIGHT + 16, str(n), anchor="middle", size=11),
        ]
    middle = LEFT + PLOT_WIDTH / 2
    return [*parts, text(middle, TOP + PLOT_HEIGHT + 34, "evaluations", anchor="middle", size=12)]


def _line(x1: float, y1: float, x2: float, y2: float) -> str:
    return tag("line", [("x1", x1), ("y1", y1), ("x2", x2), ("y2", y2), ("stroke", "#ddd")])


def _bars(results: Results, budget: int) -> str:
    names = LEFT + PLOT_WIDTH + 200
    parts = [text(names - 150, 22, f"Runs within 1 % of the best known, {budget} evaluations", size=14)]
    methods = ranking_of(results)
    step = min(18.0, PLOT_HEIGHT / max(1, len(methods)))
    for row, method in enumerate(methods):
        at, rows = TOP + row * step, results.of("compared", method)
        close = share(rows, results)
        gap = mean(results.gap(r) for r in rows)
        fill = "#f28e2b" if method == "auto" else "#4e79a7"
        parts += [
            text(names - 6, at + step * 0.7, method, anchor="end", size=11),
            rectangle(names, at + 2, BAR * close, step - 4, fill, f"{method}: {100 * close:.0f} %"),
            text(names + BAR * close + 5, at + step * 0.7, f"{100 * close:.0f} % (gap {100 * gap:.1f} %)", size=10),
        ]
    return "".join(parts)


# Output ---------------------------------------------------------------------------------------------------------------


def _unfinished(results: Results) -> str:
    """Return what failed and what is still to be run."""
    text = "".join(f"\nThis run failed: {line}\n" for line in results.failed)
    missing = [name for name in (*APPLICATIONS, *(r.name for r in RECIPES)) if name not in results.best]
    if missing:
        text += f"\nThe comparison is not finished: {', '.join(missing)} are still to be run.\n"
    short = sorted({r.network for r in results.rows if r.role == "default"} - {r.network for r in results.of("long")})
    if short:
        text += "\n" + wrapped(f"Still without the long run: {', '.join(short)}.") + "\n"
    return text


def page(results: Results) -> str:
    """Return the page."""
    budget = max(r.budget or 1 for r in results.of("compared"))
    seeds = len({r.seed for r in results.of("compared")})
    clocked = sum(r.stop == "seconds" for r in results.rows)
    values = {
        "verdict": verdict(results),
        "methods": methods_table(results),
        "small": small_table(results),
        "large": large_table(results),
        "saved": saved_text(results),
        "known": known_text(results),
        "yardstick": "\n".join(f"- {line}" for line in results.yardstick),
        "budget": f"{budget:,}",
        "seeds": str(seeds),
        "runs": f"{len(results.rows):,}",
        "clocked": str(clocked),
        "networks": str(len(results.best)),
        "failed": _unfinished(results),
        "exhausted": f"{EXHAUSTED:,}",
    }
    found = TEMPLATE.read_text()
    for name, value in values.items():
        found = found.replace("{" + name + "}", value)
    return found


def best_known(results: Results) -> str:
    """Return the best known makespans as JSON: of each network the size of its space, the best and the bound."""
    first = {r.network: r for r in results.rows}
    known = {n: {"size": str(first[n].size), "best": results.best[n], "bound": results.bound[n]} for n in results.best}
    lines = [f"{json.dumps(name)}: {json.dumps(value)}" for name, value in sorted(known.items())]
    return "{\n" + ",\n".join(lines) + "\n}\n"


def main() -> None:
    """Write the three files."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("results", type=Path)
    parser.add_argument("--root", type=Path, default=ROOT, help="where docs and benchmarks are")
    args = parser.parse_args()
    results = read_results(args.results, args.root / "benchmarks/search/best_known.json")
    (args.root / "docs/search-quality.md").write_text(page(results))
    (args.root / "docs/search-quality.svg").write_text(quality_picture(results) + "\n")
    (args.root / "benchmarks/search/best_known.json").write_text(best_known(results))
    print(verdict(results))


if __name__ == "__main__":
    main()
