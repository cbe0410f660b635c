"""The section and the picture of ``benchmarks.search.judge``, from its results.

``python -m benchmarks.search.judge_page FILE`` writes the section *Against other optimizers* of
``docs/search-quality.md`` and of its template, and ``docs/search-judged.svg``.
"""

import argparse
import json
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.search.peers import PEERS
from benchmarks.search.plot import mean, table, wrapped
from benchmarks.search.scoring import (
    CUTOFF,
    MOMENTS,
    RESAMPLES,
    Baseline,
    Curves,
    FloatArray,
    Interval,
    aggregate,
    interval,
    performance,
    resampled_scores,
)
from dse.explore.methods.registry import METHODS
from dse.report.svg import colour, picture, rectangle, tag, text

ROOT = Path(__file__).resolve().parents[2]
SECTION = "## Against other optimizers"
PICTURE = "search-judged.svg"
DRAWN = (
    "auto",
    "peer-cp-sat",
    "peer-pymoo",
    "peer-cma-es",
    "peer-optuna",
    "peer-annealing",
    "peer-scipy",
    "local-search",
    "tabu",
)
WINS_AT = (1, 3, 10, 30, 100, 300)
"""Budgets at which is looked which of our methods is best alone."""
PARTS = (0.1, 0.5, 1.0)
"""Parts of the budget at which the table has the curve."""
SAME = ("auto", "portfolio")
"""Two names of one thing in large spaces: who wins beside the one of them wins alone."""
SEED = 20_240
STAYING = (
    " Of those that are never best alone these stay: `exhaustive`, `branch-and-bound` and `integer-program` prove;"
    " `pareto-search` and `nsga2` are for several objectives; `tabu-joint` has turns in `portfolio`, which is `auto`,"
    " and `tabu` is what the paper of the tabu methods recommends; others begin at mappings of `greedy`; `annealing`,"
    " `metis` and `communication-frequency` are what others compare with."
)


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgedRun:
    """One run: the best makespan after each number of evaluations, shape (budget,)."""

    network: str
    method: str
    best_after: FloatArray


@dataclass(frozen=True, kw_only=True)
class Judged:
    """All runs with the baseline and the best known makespan of each network."""

    runs: tuple[JudgedRun, ...]
    baselines: Mapping[str, Baseline]
    best: Mapping[str, float]
    failed: tuple[str, ...]

    @cached_property
    def networks(self) -> tuple[str, ...]:
        """The networks on which all is known that a score needs."""
        return tuple(name for name in self.baselines if name in self.best)

    @cached_property
    def budgets(self) -> dict[str, int]:
        """The evaluations after which nothing counts, by network."""
        return {name: self.baselines[name].budget(self.best[name]) for name in self.networks}

    @cached_property
    def curves(self) -> dict[str, Curves]:
        """The curves of each method that has runs on all networks."""
        found: dict[str, dict[str, list[FloatArray]]] = {}
        for run in self.runs:
            name = run.network
            curve = performance(run.best_after, self.baselines[name], self.best[name], self.budgets[name])
            found.setdefault(run.method, {}).setdefault(name, []).append(curve)
        return {
            method: {name: np.array(own[name]) for name in self.networks}
            for method, own in found.items()
            if own.keys() == set(self.networks)
        }

    def gap(self, method: str, network: str, evaluations: int) -> float:
        """Return the mean gap of a method to the best known after so many evaluations, as a fraction."""
        own = (run for run in self.runs if (run.method, run.network) == (method, network))
        return mean(float(run.best_after[evaluations - 1]) / self.best[network] - 1 for run in own)


def read_judged(path: Path) -> Judged:
    """Read the results of ``benchmarks.search.judge``."""
    runs, failed = list[JudgedRun](), list[str]()
    baselines, best = dict[str, Baseline](), dict[str, float]()
    for line in map(json.loads, path.read_text().splitlines()):
        name = line["network"]
        if "error" in line:
            failed.append(f"{line['key']}: {line['error']}")
            continue
        found = line["best"] if line["role"] == "baseline" else line["curve"][-1][1]
        best[name] = min(best.get(name, math.inf), float(found))
        if line["role"] == "baseline":
            baselines[name] = Baseline(expected=tuple(line["expected"]), median=float(line["median"]))
        elif line["role"] == "judged":
            runs.append(_run(line))
    return Judged(runs=tuple(runs), baselines=baselines, best=best, failed=tuple(failed))


def _run(line: Mapping[str, Any]) -> JudgedRun:
    """Return a run; before its first makespan it has that one."""
    after = np.full(line["budget"], float(line["curve"][0][1]))
    for evaluations, makespan in line["curve"]:
        after[evaluations - 1 :] = makespan
    return JudgedRun(network=line["network"], method=line["method"], best_after=after)


@dataclass(frozen=True, slots=True, kw_only=True)
class Score:
    """The score of a method, how far it is below that of ``auto``, and where it is best alone of our methods."""

    method: str
    seeds: int
    score: Interval
    below: Interval
    at: tuple[float, ...]
    wins: tuple[tuple[str, int], ...]


def scores_of(judged: Judged) -> list[Score]:
    """Return the scores of all methods, the best first."""
    curves = judged.curves
    resamples = {method: resampled_scores(own, SEED) for method, own in curves.items()}
    wins = wins_of(judged, [method for method in curves if not method.startswith("peer-")])
    found = list[Score]()
    for method, own in curves.items():
        curve, auto = aggregate(own), aggregate(curves["auto"])
        found.append(
            Score(
                method=method,
                seeds=max(len(runs) for runs in own.values()),
                score=interval(float(curve.mean()), resamples[method]),
                below=interval(float(auto.mean() - curve.mean()), resamples["auto"] - resamples[method]),
                at=tuple(float(curve[round(part * MOMENTS) - 1]) for part in PARTS),
                wins=wins.get(method, ()),
            )
        )
    return sorted(found, key=lambda score: -score.score.value)


def wins_of(judged: Judged, methods: Sequence[str]) -> dict[str, tuple[tuple[str, int], ...]]:
    """Return for each method the (network, evaluations) at which it is best alone, in the mean of its runs."""
    found: dict[str, list[tuple[str, int]]] = {}
    for network in judged.networks:
        for evaluations in WINS_AT:
            gaps = {method: judged.gap(method, network, evaluations) for method in methods}
            least = min(gaps.values())
            first = [method for method, gap in gaps.items() if gap <= least + 1e-12]
            if len(first) == 1 or set(first) == set(SAME):
                for method in first:
                    found.setdefault(method, []).append((network, evaluations))
    return {method: tuple(own) for method, own in found.items()}


def judged_table(scores: Sequence[Score]) -> str:
    """Return the table of all methods."""
    body = []
    for score in scores:
        at = [f"{value:.2f}" for value in score.at]
        below = "–" if score.method == "auto" else _in_words(score.below)
        body.append((f"`{score.method}`", str(score.seeds), _in_words(score.score), below, *at, str(len(score.wins))))
    return table(("method", "seeds", "score", "below `auto`", "10 %", "50 %", "100 %", "best alone"), body)


def _ahead(scores: Sequence[Score]) -> str:
    """Return in words which methods have come further than ``auto`` at some part of the budget."""
    (auto,) = (score for score in scores if score.method == "auto")
    ahead = [
        f"`{score.method}` {own:.2f} to {of_auto:.2f} at {part:.0%}"
        for part, of_auto, place in zip(PARTS, auto.at, range(len(PARTS)), strict=True)
        for score in scores
        if (own := score.at[place]) > of_auto + 0.01 and score.method not in SAME
    ]
    return f"Ahead of `auto`: {', '.join(ahead) or 'none'}."


def _in_words(found: Interval) -> str:
    return f"{found.value:.2f} ({found.low:.2f} to {found.high:.2f})"


def section(judged: Judged) -> str:
    """Return the section of the page."""
    scores = scores_of(judged)
    cells = len(judged.networks) * len(WINS_AT)
    never = ", ".join(f"`{s.method}`" for s in scores if not s.wins and not s.method.startswith("peer-"))
    budgets = sorted(judged.budgets.values())
    paragraphs = (
        "`python -m benchmarks.search.judge --out FILE` performs the searches (peers need"
        " the packages of `requirements-peers.lock`), and `python -m benchmarks.search.judge_page FILE` writes this"
        " section.",
        "The score is that of Willemsen et al., *A methodology for comparing optimization algorithms for auto-tuning*"
        " (2024): how much of the way a search has come from what random search is expected to have found after as"
        " many evaluations (0) to the best known makespan (1), taken at 50 equal parts of the budget of each space and"
        f" averaged over {len(judged.networks)} spaces. The budget of a space ends where random search is expected to"
        f" have come {CUTOFF:.0%} of the way from the median to the best known, or at {budgets[-1]} evaluations"
        f" (which {budgets.count(budgets[-1])} spaces reach). What random search is expected to find follows from all"
        " mappings of a space, or from 20,000. A method that stays behind random search is below 0, without a limit.",
        "Intervals hold 95 % of"
        f" {RESAMPLES:,} bootstrap resamples, of spaces and of the seeds in each; the columns 10, 50 and"
        " 100 % are the curve at these parts of the budget. *Best alone* counts the"
        f" {cells} pairs of a space and a budget ({', '.join(map(str, WINS_AT[:-1]))} and {WINS_AT[-1]} evaluations)"
        " in which a method of ours has the least mean makespan and no other has the same; `auto` and `portfolio` are"
        " one.",
        "Peers see one variable for each actor and what they are told, as any search by the registry of methods does:"
        " pymoo's genetic algorithm, CMA-ES in a cube, Optuna's TPE, Metropolis steps and"
        " `scipy.optimize.dual_annealing`. CP-SAT gets loads and traffic too: it solves a model of loads and cut"
        " buffers for five prices of a cut, and goes on with single steps. The networks (seeds from 53,000 on) served"
        " for no tuning.",
    )
    parts = [SECTION, f"![Performance over the budget by method]({PICTURE})", *map(wrapped, paragraphs)]
    gone = [f"`{s.method}`" for s in scores if s.method not in (*METHODS.names(), "auto", *PEERS)]
    verdict = f"Never best alone: {never or 'none'}." + (f" Removed since: {', '.join(gone)}." if gone else "")
    parts += [judged_table(scores), wrapped(verdict + STAYING), wrapped(_ahead(scores))]
    parts += [f"This run failed: {line}" for line in judged.failed]
    return "\n\n".join(parts) + "\n\n"


# Picture --------------------------------------------------------------------------------------------------------------

WIDTH, HEIGHT = 760, 470
LEFT, TOP, PLOT_WIDTH, PLOT_HEIGHT = 60, 40, 660, 330
LOWEST, HIGHEST = -0.6, 1.0


def judged_picture(judged: Judged) -> str:
    """Return the curves over the budget, and the band of the spaces for ``auto``."""
    parts = [text(LEFT, 22, "Performance: 0 as random search is expected to be, 1 the best known", size=14)]
    parts += _axes()
    drawn = [method for method in DRAWN if method in judged.curves]
    for index, method in enumerate(drawn):
        curve = aggregate(judged.curves[method])
        line = " ".join(f"{_x(i + 1):.1f},{_y(value):.1f}" for i, value in enumerate(curve.tolist()))
        width = 3 if method == "auto" else 1.6
        style: list[tuple[str, str | float]] = [("fill", "none"), ("stroke", colour(index)), ("stroke-width", width)]
        parts.append(tag("polyline", [("points", line), *style]))
        at = LEFT + 130 * (index % 5), TOP + PLOT_HEIGHT + 55 + 18 * (index // 5)
        parts += [rectangle(at[0], at[1], 14, 4, colour(index)), text(at[0] + 19, at[1] + 6, method, size=11)]
    return picture(
        WIDTH, HEIGHT, "".join(parts), "Performance of search methods over the budget, against random search"
    )


def _x(moment: float) -> float:
    return LEFT + PLOT_WIDTH * moment / MOMENTS


def _y(value: float) -> float:
    inside = min(max(value, LOWEST), HIGHEST)
    return TOP + PLOT_HEIGHT * (HIGHEST - inside) / (HIGHEST - LOWEST)


def _axes() -> Iterator[str]:
    for step in range(math.ceil(LOWEST * 5), math.floor(HIGHEST * 5) + 1):
        value = step / 5
        yield _line(LEFT, _y(value), LEFT + PLOT_WIDTH, _y(value), "#888" if step == 0 else "#ddd")
        yield text(LEFT - 6, _y(value) + 4, f"{value:g}", anchor="end", size=11)
    for part in range(0, 101, 20):
        x = LEFT + PLOT_WIDTH * part / 100
        yield text(x, TOP + PLOT_HEIGHT + 16, f"{part} %", anchor="middle", size=11)
    yield text(LEFT + PLOT_WIDTH / 2, TOP + PLOT_HEIGHT + 36, "of the budget", anchor="middle", size=12)


def _line(x1: float, y1: float, x2: float, y2: float, stroke: str) -> str:
    return tag("line", [("x1", x1), ("y1", y1), ("x2", x2), ("y2", y2), ("stroke", stroke)])


# Output ---------------------------------------------------------------------------------------------------------------


def with_section(page: str, own: str, heading: str = SECTION) -> str:
    """Return a page with its section replaced, or before its section of small spaces where it has none."""
    begin = page.find(heading)
    if begin < 0:
        begin = end = page.index("## Small spaces")
    else:
        end = page.index("\n## ", begin) + 1
    return page[:begin] + own + page[end:]


def main() -> None:
    """Write the section into the page and its template, and the picture."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("results", type=Path)
    judged = read_judged(parser.parse_args().results)
    own = section(judged)
    for path in (ROOT / "docs/search-quality.md", ROOT / "benchmarks/search/page.md"):
        path.write_text(with_section(path.read_text(), own))
    (ROOT / "docs" / PICTURE).write_text(judged_picture(judged) + "\n")
    for score in scores_of(judged):
        print(f"{score.method:24} {_in_words(score.score)}  {' '.join(f'{n}@{e}' for n, e in score.wins)}")


if __name__ == "__main__":
    main()
