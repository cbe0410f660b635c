"""``dse explore``: search for the best mappings, rank them, write their files and a report."""

import argparse
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from rich.console import Console
from rich.progress import BarColumn, Progress, TaskID, TextColumn, TimeElapsedColumn

from dse.base.escaping import shown
from dse.base.numbers import about_count
from dse.cli.cuda_arguments import cuda_request
from dse.cli.problem_arguments import (
    compiling_notice,
    print_warnings,
    problem_options,
    scaling_files,
    tell_execution,
)
from dse.cli.progress import noted
from dse.cli.search_progress import FOREVER, SearchLines, progress_text
from dse.cli.signals import INTERRUPTED, KEPT, note_kept
from dse.cli.streams import filtered, print_json, say, terminal_width, unfiltered
from dse.cli.timeline import tell_timeline
from dse.explore.evaluator import Progress as SearchProgress
from dse.flows.deliver import ranking_document
from dse.flows.options import (
    ExploreOptions,
    parse_budget,
    parse_clocks,
    parse_objectives,
    parse_partitions,
    parse_pin,
    parse_policies,
)
from dse.flows.refine import Refined, refine, refinement_json, refinement_text
from dse.flows.search.plan import SearchPlan, Watcher
from dse.flows.timelines import write_estimated
from dse.flows.trace import execution_of
from dse.formats.mapping_text import MappingTexts
from dse.model.study import Study
from dse.model.uncertainty import Robust
from dse.report.cores import best_by_cores, cores_table, cores_title, pays_text
from dse.report.front import front_table, front_text
from dse.report.mapping_table import plain_console
from dse.report.measured import measured_lines
from dse.report.other_setting import remarks
from dse.report.quantities import wrapped
from dse.report.ranking import RankedRow, cost_cells, ranking_table, render
from dse.report.robust import robust_lines, robust_table
from dse.report.timeline.write import require_timeline
from dse.report.why import partition_table, reason_lines

SHOWN = 10
"""So many mappings are shown, and those behind them that were measured."""


def _options(args: argparse.Namespace) -> ExploreOptions:
    """Return what the arguments ask for. Raises ``OptionError`` where one is not understood."""
    return ExploreOptions(
        problem=problem_options(args),
        partitions=parse_partitions(args.partitions) if args.partitions is not None else None,
        pins=tuple(parse_pin(text) for text in args.pin),
        policies=parse_policies(args.policy),
        policy_per_partition=args.policy_per_partition,
        buffers=tuple(args.buffers),
        clocks=tuple(parse_clocks(text) for text in args.clocks),
        scaling=scaling_files(args),
        release=args.release,
        transfers=args.transfers,
        method=args.method,
        objectives=parse_objectives(args.objectives),
        budget=parse_budget(args.budget) if args.budget is not None else None,
        seed=args.seed,
        workers=args.workers,
        cluster=args.cluster,
        batch=args.batch,
        screening=not args.no_screening,
        best=args.best,
        dialect=args.dialect,
        out=Path(args.out) if args.out is not None else None,
        resume=args.resume,
        measure=args.measure,
        cuda=cuda_request(args.cuda, args.cuda_arch, here=True),
        refine=args.refine,
        robust=args.robust,
        errors=tuple(args.error),
        draws=args.draws,
    )


def run(args: argparse.Namespace) -> int:
    """Search, print the ranking and what was written."""
    require_timeline(args.timeline, args.out)
    return search(_options(args), quiet=args.quiet, json=args.json, timeline=args.timeline)


def search(options: ExploreOptions, *, quiet: bool, json: bool, timeline: str | None = None) -> int:
    """Search, print the ranking and what was written, or one JSON document; return the exit code.

    ``timeline``: where that of the best mapping is written, None: nowhere.
    """
    watched = not quiet and sys.stderr.isatty()
    with _progress(watched, quiet=quiet) as bar:
        watcher = Watcher(
            planned=lambda plan: _planned(plan, bar, quiet=quiet or json),
            progress=bar.evaluated,
            stage=noted(bar.stage if watched else compiling_notice(quiet=quiet)),
        )
        refined = refine(options, watcher)
    explored = refined.explored
    if not quiet:
        tell_execution(explored.setting.trace)
        print_warnings(explored.setting.warnings)
    if json:
        rows, texts = explored.delivery.rows, explored.delivery.texts
        document = ranking_document(explored.study, rows, texts, explored.measured, explored.accounts, explored.robust)
        document["execution"] = execution_of(explored.setting.trace)
        document["seconds"] = round(explored.study.seconds, 3)
        document["notes"] = _notes(refined)
        if options.refine:
            document["refinements"] = [refinement_json(r) for r in refined.rounds]
        document["out"] = str(explored.delivery.folder)
        print_json(document)
    else:
        _print(refined, quiet)
    if timeline is not None:
        best = (explored.delivery.mappings[0].name, explored.study.ranking[0].point)
        write_estimated(timeline, explored.setting.problem, [best])
        tell_timeline(timeline, quiet=quiet)
    if explored.study.stop == "interrupted":
        print("interrupted; everything reported is kept, --resume continues", file=sys.stderr)
        return INTERRUPTED
    return 0


class _Bar:
    """The progress on standard error: a bar, or a line now and then, or nothing."""

    def __init__(self, progress: Progress | None, lines: SearchLines | None = None) -> None:
        self._progress = progress
        self._lines = lines
        self._plan: SearchPlan | None = None
        self._task: TaskID | None = None if progress is None else progress.add_task("starting", total=None, note="")

    def stage(self, what: str) -> None:
        if self._progress is not None and self._task is not None:
            self._progress.update(self._task, description=shown(what))

    def start(self, plan: SearchPlan) -> None:
        self._plan = plan
        limit = plan.budget.evaluations
        total = min(FOREVER, plan.points if limit is None else min(limit, plan.points))
        if self._progress is not None and self._task is not None:
            self._progress.update(self._task, description="searching", total=total)

    def evaluated(self, progress: SearchProgress) -> None:
        assert self._plan is not None, "a search is planned before it begins"
        note = progress_text(progress, self._plan.budget, self._plan.points)
        if self._progress is not None and self._task is not None:
            self._progress.update(self._task, completed=progress.evaluations, note=note)
        elif self._lines is not None:
            self._lines.show(note)


@contextmanager
def _progress(watched: bool, *, quiet: bool) -> Iterator[_Bar]:
    if not watched:
        yield _Bar(None, None if quiet else SearchLines())
        return
    what, note = (TextColumn(text, markup=False) for text in ("{task.description}", "{task.fields[note]}"))
    columns = (what, BarColumn(), note, TimeElapsedColumn())
    # What is printed meanwhile goes above the bar on a terminal, but stays on standard output when that is a pipe.
    redirect = sys.stdout.isatty()
    console = Console(file=unfiltered(sys.stderr))
    with Progress(*columns, console=console, transient=True, redirect_stdout=redirect) as progress, filtered():
        yield _Bar(progress)


def _planned(plan: SearchPlan, bar: _Bar, *, quiet: bool) -> None:
    """Say what is about to happen and what it assumes, one line each."""
    note_kept(f"{KEPT}, --resume continues")
    bar.start(plan)
    if quiet:
        return
    say(f"{plan.network}: {plan.firings:,} firings, {plan.space}")
    say(f"search: {plan.method}, {plan.reason}")
    if plan.assumed:
        say(f"assumed: {'; '.join(plan.assumed)}")
    for note in (*plan.notes, *filter(None, (plan.moved_aside,))):
        say(note)
    print(flush=True)


def _notes(refined: Refined) -> list[str]:
    """Return in words how the weights came to be, and what was not measured, for documents."""
    explored = refined.explored
    return [*explored.setting.notes, *explored.notes, *filter(None, (refined.ended,))]


def _print(refined: Refined, quiet: bool) -> None:
    explored = refined.explored
    study, delivery = explored.study, explored.delivery
    shown_rows = [row for row in delivery.rows if row.rank <= max(SHOWN, len(delivery.mappings)) or _ran(row)]
    width = terminal_width()
    note = _print_ranking(shown_rows, delivery.texts, width, explored.robust)
    if quiet:
        return
    print(f"{note}\n" + "\n".join(map(wrapped, [outcome_text(study), *remarks(study)])) + "\n")
    _print_cores(refined, width)
    _print_measured(refined)
    costs = cost_cells(delivery.rows[0])
    named = costs.values() if len(costs) == 1 else (f"{name} {value}" for name, value in costs.items())
    print(wrapped(f"the best mapping, {', '.join(named)}:"))
    print(render(partition_table(explored.reasons)))
    print("\n" + "\n".join(map(wrapped, reason_lines(explored.reasons, explored.estimate))))
    if study.front is not None:
        print(f"\n{render(front_table(study.front, delivery.texts, width), console=plain_console(width))}")
        print(wrapped(front_text(study.front)))
    count = len(delivery.mappings)
    files = delivery.mappings[0].name if count == 1 else f"{delivery.mappings[0].name} to {delivery.mappings[-1].name}"
    if study.front is not None:
        files += ", pareto-*.xcf"
    print()
    say(f"written to {delivery.folder}: {files}, ranking.json, report.html, study.sqlite, study.yaml")


def _print_ranking(rows: Sequence[RankedRow], texts: MappingTexts, width: int, robust: Robust | None) -> str:
    """Print the ranking and return what is to be said below it, as lines."""
    if robust is not None:
        table, note = robust_table(rows, robust, texts, width)
        print(render(table, console=plain_console(width)))
        return "".join(f"{wrapped(line, width)}\n" for line in [*filter(None, (note,)), *robust_lines(robust)])
    table, note = ranking_table(rows, texts, width)
    print(render(table, console=plain_console(width)))
    return f"{wrapped(note, width)}\n" if note else ""


def _print_cores(refined: Refined, width: int) -> None:
    """Print what each number of cores gives, and whether several pay."""
    explored = refined.explored
    rows = best_by_cores(explored.study, explored.setting.platform)
    if rows:
        print(f"{cores_title(explored.study)}:")
        print(render(cores_table(rows, explored.delivery.texts, width), console=plain_console(width)))
        if pays := pays_text(explored.study, rows):
            print(wrapped(pays, width))
        print()


def _ran(row: RankedRow) -> bool:
    """Return whether a mapping has measured times."""
    return row.measured is not None and bool(row.measured.times)


def _print_measured(refined: Refined) -> None:
    """Print what was measured of the best mappings, how the weights were refined, or why not."""
    explored = refined.explored
    lines = [*explored.notes]
    if explored.measured is not None:
        lines += measured_lines(explored.measured, explored.study.ranking, explored.study.baseline)
    lines += [refinement_text(number, of) for number, of in enumerate(refined.rounds, start=1)]
    if refined.ended:
        lines.append(f"refining ended: {refined.ended}")
    for line in lines:
        print(wrapped(shown(line)))
    if lines:
        print()


def outcome_text(study: Study) -> str:
    """Return in one sentence how much of the space is known."""
    parts = [f"{study.evaluations:,} mappings estimated in {study.seconds:.1f} s"]
    if study.cut:
        parts.append(f"{study.cut:,} of them stopped when it was clear that they are not among the best")
    if study.pruned:
        parts.append(f"{about_count(study.pruned)} more excluded because a bound shows that they are worse")
    if study.deadlocks:
        parts.append(f"{study.deadlocks:,} deadlock")
    if study.symmetric:
        parts.append(f"{about_count(study.symmetric)} skipped that only number identical cores in another way")
    if study.symmetric_actors:
        parts.append(f"{about_count(study.symmetric_actors)} skipped that only exchange identical actors")
    if study.complete:
        parts.append("so no mapping of the space is better than the best")
    elif study.stop in ("evaluations", "seconds"):
        parts.append(f"the budget of {study.stop} ended the search (of {about_count(study.space_size)} points)")
    return ", ".join(parts)
