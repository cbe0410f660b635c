"""Measured times beside estimates: the cell of a table, sentences, JSON."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from dse.measure.agreement import agreement
from dse.measure.doubtful_runs import RunFigures, doubts
from dse.model.measurement import MeasuredPoint, StateTimes
from dse.model.study import Evaluation
from dse.report.quantities import time_text

PS_PER_NS = 1000


@dataclass(frozen=True, slots=True, kw_only=True)
class Measurements:
    """What was measured of the best mappings of a study.

    ``ranked``: digests of the points, in the order of the ranking, with their times. ``one_core``: the mapping of all
    actors on one core, None where that was not asked for.
    """

    ranked: tuple[tuple[str, MeasuredPoint], ...]
    one_core: MeasuredPoint | None = None

    def of(self, digest: str) -> MeasuredPoint | None:
        """Return what was measured of a point, None where it was not among those that were asked for."""
        return next((times for known, times in self.ranked if known == digest), None)

    @property
    def state(self) -> str:
        """The state of the machine that most runs had."""
        return main_state(times for _, times in self.ranked)


def main_state(found: Iterable[MeasuredPoint | None]) -> str:
    """Return the state of the machine that most runs had; empty where no program crossed cores."""
    runs: dict[str, int] = {}
    for measured in found:
        for times in () if measured is None else measured.times:
            runs[times.state] = runs.get(times.state, 0) + times.runs
    states = [state for state in runs if state]
    return max(states, key=lambda state: runs[state], default="")


def measured_text(measured: MeasuredPoint | None, state: str) -> str:
    """Return the median in a state with half of the distance of the quartiles: ``1.712 ms ±1.3 %``; "-" without."""
    times = None if measured is None else measured.in_state(state)
    return "-" if times is None else state_text(times)


def state_text(times: StateTimes) -> str:
    """Return the median and half of the distance of the quartiles: ``1.712 ms ±1.3 %``."""
    return f"{time_text(round(times.median_ns * PS_PER_NS), 'ps')} ±{50 * times.spread:.1f} %"


def all_states_text(measured: MeasuredPoint | None) -> str:
    """Return the times in every state, or why there are none: for pages, which have room."""
    if measured is None:
        return ""
    if measured.missing:
        return f"not measured: {measured.missing}"
    return ", ".join(f"{state_text(t)} ({t.state})" if t.state else state_text(t) for t in measured.times)


def measured_lines(found: Measurements, ranking: Sequence[Evaluation], baseline: Evaluation | None) -> list[str]:
    """Return in sentences what the measurements say beside the table: one core, agreement, and what was not run."""
    by_digest = {e.digest: e for e in ranking}
    listed = [(rank, by_digest[digest], times) for rank, (digest, times) in enumerate(found.ranked, start=1)]
    return [
        *_one_core_line(found, baseline),
        *_agreement_line(found, [(e, times) for _, e, times in listed], baseline),
        *_skipped_lines([(rank, times) for rank, _, times in listed]),
        *doubts(list(_figures(found))),
    ]


def _figures(found: Measurements) -> Iterator[RunFigures]:
    """Yield the figures of the mappings that ran, in the state that most runs had."""
    named = [(f"#{rank}", measured) for rank, measured in _others(found)]
    named += [] if found.one_core is None else [("one core", found.one_core)]
    for name, measured in named:
        times = measured.in_state(found.state)
        if times is not None:
            yield RunFigures(name=name, run_ns=times.median_ns, stalls=measured.stalls)


def _one_core_line(found: Measurements, baseline: Evaluation | None) -> list[str]:
    if found.one_core is None or baseline is None or baseline.deadlock:
        return []
    estimated = time_text(baseline.makespan, baseline.tick_unit)
    if found.one_core.missing:
        return [f"on one core: {estimated} estimated, not measured: {found.one_core.missing}"]
    line = f"on one core: {estimated} estimated, {measured_text(found.one_core, found.state)} measured"
    one = found.one_core.in_state(found.state)
    others = [(rank, times.in_state(found.state)) for rank, times in _others(found)]
    gains = [(one.median_ns / times.median_ns, rank) for rank, times in others if one and times]
    if not gains:
        return [line]
    gain, rank = max(gains)
    return [f"{line}; the fastest that ran is #{rank}, {gain:.2f}x as fast"]


def _others(found: Measurements) -> list[tuple[int, MeasuredPoint]]:
    """Return rank and times of the mappings that are not the one on one core."""
    return [(rank, times) for rank, (_, times) in enumerate(found.ranked, start=1) if times is not found.one_core]


def _agreement_line(
    found: Measurements, pairs: Sequence[tuple[Evaluation, MeasuredPoint]], baseline: Evaluation | None
) -> list[str]:
    """Return how far estimates and measured times lie apart; nothing where there is none of both."""
    one = [(baseline, found.one_core)] if baseline is not None and found.one_core is not None else []
    both = dict(_both_times([*pairs, *one], found.state))
    if not both:
        return []
    estimated, measured = zip(*both.values(), strict=True)
    error = agreement(estimated, measured).relative
    state = f" ({found.state} cores)" if found.state else ""
    what = "1 mapping" if len(both) == 1 else f"{len(both)} mappings"
    most = f" in the mean, {100 * error.maximum:.1f} % at most" if len(both) > 1 else ""
    return [f"estimated and measured times of {what}{state} differ by {100 * error.mean:.1f} %{most}"]


def _both_times(
    pairs: Iterable[tuple[Evaluation, MeasuredPoint]], state: str
) -> Iterator[tuple[str, tuple[float, float]]]:
    """Yield digest, estimated and measured time in ns of the points that have both."""
    for evaluation, measured in pairs:
        times = measured.in_state(state)
        if times is not None and evaluation.tick_unit == "ps" and evaluation.makespan > 0:
            yield evaluation.digest, (evaluation.makespan / PS_PER_NS, times.median_ns)


def _skipped_lines(listed: Sequence[tuple[int, MeasuredPoint]]) -> list[str]:
    """Return one line for each reason why mappings were not measured."""
    ranks: dict[str, list[int]] = {}
    for rank, times in listed:
        if times.missing:
            ranks.setdefault(times.missing, []).append(rank)
    return [f"not measured: {ranks_text(of)} ({reason})" for reason, of in ranks.items()]


def ranks_text(ranks: Sequence[int]) -> str:
    """Return ascending ranks, three and more in a row as a range: ``#1 to #3, #7``."""
    rows: list[list[int]] = []
    for rank in ranks:
        if rows and rows[-1][-1] == rank - 1:
            rows[-1].append(rank)
        else:
            rows.append([rank])
    parts = [f"#{row[0]} to #{row[-1]}" if len(row) > 2 else ", ".join(f"#{rank}" for rank in row) for row in rows]
    return ", ".join(parts)


def measured_json(measured: MeasuredPoint) -> dict[str, Any]:
    """Return measured times as JSON: medians and quartiles in nanoseconds for each state of the machine."""
    return {
        "times": [
            {
                "state": t.state or None,
                "median_ns": t.median_ns,
                "lower_quartile_ns": t.lower_ns,
                "upper_quartile_ns": t.upper_ns,
                "runs": t.runs,
            }
            for t in measured.times
        ],
        "discarded_runs": measured.discarded,
        "stalls": measured.stalls,
        "not_measured": measured.missing or None,
    }
