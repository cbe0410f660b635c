"""``dse measure``: mappings are run on this machine, and their times stand beside the estimates."""

import argparse
import math
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

from rich.table import Table

from dse.base.errors import OptionError
from dse.base.folders import results_folder
from dse.cli.cuda_arguments import cuda_request
from dse.cli.problem_arguments import print_warnings
from dse.cli.profile import bench_settings
from dse.cli.progress import EVERY_STAGE, run_line
from dse.cli.run_arguments import run_options
from dse.cli.signals import INTERRUPTED
from dse.cli.streams import print_json, say, terminal_width
from dse.cli.timeline import tell_timeline
from dse.flows.inputs import is_folder, require_place
from dse.flows.mappings import looks_like_mapping
from dse.flows.measure import Measured, measure_mappings
from dse.flows.measure_files import measured_document, write_measured
from dse.flows.measure_journal import FolderJournal
from dse.flows.measure_options import MeasureOptions
from dse.flows.measure_points import MeasureSettings
from dse.flows.profile import ProfileSettings
from dse.measure.agreement import Agreement, Divergence
from dse.measure.comparison import Comparison, Pair
from dse.report.mapping_cells import lines_of
from dse.report.mapping_table import console_for, fitted_table
from dse.report.ranking import render
from dse.report.tables import NamesTable
from dse.report.timeline.write import require_timeline, write_timelines

_ROWS_SHOWN = 10
_HEADS = ("estimated ms", "measured ms", "quartiles", "runs", "error")


def run(args: argparse.Namespace) -> int:
    """Measure, compare, write the results and print them."""
    if args.out is not None:
        require_place(args.out, "--out")
    require_timeline(args.timeline, args.out)

    def results(network: str) -> Path:
        return Path(args.out) if args.out is not None else results_folder(network) / "measured"

    with closing(FolderJournal(results)) as journal, _telling_what_is_kept(journal):
        with run_line(EVERY_STAGE) as line:
            measured = measure_mappings(_options(args), (lambda _: None) if args.quiet else line.show, journal)
        folder = results(measured.network)
        written = write_measured(measured, folder)
        journal.remove()
    _print_outcome(args, measured, folder, written)
    return INTERRUPTED if measured.session.interrupted else 0


@contextmanager
def _telling_what_is_kept(journal: FolderJournal) -> Iterator[None]:
    """Say where weights and runs are if something ends the block before the results are written, and earlier ones."""
    try:
        yield
    except BaseException:
        if journal.place is not None:
            say(f"weights and runs so far are in '{journal.place}'", error=True)
        raise
    finally:
        if journal.earlier is not None:
            say(f"weights and runs of a measurement that was ended were moved to '{journal.earlier}'", error=True)


def _print_outcome(args: argparse.Namespace, measured: Measured, folder: Path, written: tuple[Path, ...]) -> None:
    """Print what was measured, and write its timeline where that is asked for."""
    if not args.quiet:
        print_warnings(measured.diagnostics)
    if measured.session.interrupted:
        say("interrupted: this is what was measured until then", error=True)
    if args.json:
        print_json(measured_document(measured) | {"written": [str(path) for path in written]})
    else:
        _print(measured, folder)
    if args.timeline is not None and not measured.session.interrupted:
        write_timelines(args.timeline, measured.timelines)
        tell_timeline(args.timeline, quiet=args.quiet)


def _options(args: argparse.Namespace) -> MeasureOptions:
    """Return what the arguments ask for. Raises ``OptionError`` where a number makes no sense."""
    if args.seed < 0:
        raise OptionError(f"--seed {args.seed} is below 0", expected="0 or more")
    if args.seconds is not None and not 0 <= args.seconds < float("inf"):
        raise OptionError(f"--seconds {args.seconds} is no time", expected="0 or more seconds")
    if any(tokens < 1 for tokens in args.buffers):
        raise OptionError(
            f"a capacity of {min(args.buffers)} tokens holds nothing", expected="--buffers takes 1 or more"
        )
    bench = bench_settings(args)
    return MeasureOptions(
        program=args.program,
        inputs=tuple(args.input),
        source_paths=tuple(args.source_path),
        run=run_options(args),
        cuda=cuda_request(args.cuda, args.cuda_arch, here=True),
        dynamic=args.dynamic,
        link=args.link,
        mappings=tuple(mapping_files(args.mappings)),
        top=args.top,
        sample=args.sample,
        buffers=tuple(args.buffers),
        weights=tuple(args.weights),
        engine=args.engine,
        timeline=args.timeline is not None,
        profile=ProfileSettings(calibrate=args.calibrate, seed=args.seed, bench=bench),
        settings=MeasureSettings(rounds=args.runs, seconds=args.seconds, seed=args.seed, bench=bench),
    )


def mapping_files(given: list[str]) -> list[str]:
    """Return mappings as given, and the files in folders, sorted. Raises ``OptionError`` for a folder without any."""
    found = []
    for name in given:
        files = sorted(str(path) for path in Path(name).glob("*.xcf")) if is_folder(name) else [name]
        if not files:
            raise OptionError(f"the folder '{name}' holds no mapping", expected="files that end in .xcf")
        found += files
    return found


def _print(measured: Measured, folder: Path) -> None:
    """Print a table and the figures of agreement for each state."""
    for comparison in measured.comparisons:
        _print_state(comparison)
    session = measured.session
    say(f"{len(session.runs)} runs in {session.rounds} rounds, {session.mixed} left out as the cores' distance changed")
    for name, why in measured.skipped:
        say(f"skipped {name}: {why}", error=True)
    for name in session.wrong:
        say(f"warning: {name}: the result is not that of one core", error=True)
    for warning in measured.warnings:
        say(f"warning: {warning}", error=True)
    if not measured.comparisons:
        say("warning: no state of the machine lasted for two runs of a mapping: nothing is compared", error=True)
    say(f"written: {folder}")


def _print_state(comparison: Comparison) -> None:
    n = len(comparison.pairs)
    say(f"cores {comparison.state}: {n} mapping{'s' * (n != 1)} measured, {comparison.left_out} too seldom")
    width = terminal_width()
    table = _pairs_table(comparison, width)
    print(render(table, console=console_for(table, width)))
    print(render(_agreement_table(comparison)))
    if comparison.noisy:
        say("the measurements differ by less than three times their noise: the order says little")


def _pairs_table(comparison: Comparison, width: int) -> Table:
    """Return the mappings that are measured fastest, with their estimates."""
    pairs = sorted(comparison.pairs, key=lambda p: p.measured.median)[:_ROWS_SHOWN]
    names = [pair.prediction.name + ("" if pair.prediction.scored else " (not scored)") for pair in pairs]

    def lines(room: int) -> list[list[str]]:
        return [lines_of(name, room) if looks_like_mapping(name) else [name] for name in names]

    longest = max(map(len, names), default=0)
    return fitted_table(_HEADS, [_times(pair) for pair in pairs], lines, longest=longest, width=width, keep=2)


def _times(pair: Pair) -> tuple[str, ...]:
    estimated, measured = pair.prediction.estimated_ns, pair.measured
    return (
        f"{estimated / 1e6:.3f}",
        f"{measured.median / 1e6:.3f}",
        f"{measured.lower / 1e6:.3f}-{measured.upper / 1e6:.3f}",
        str(measured.count),
        f"{100 * (estimated / measured.median - 1):+.1f} %",
    )


def _agreement_table(comparison: Comparison) -> Table:
    """Return the figures of the estimates beside those of the baselines and of the noise."""
    table = NamesTable()
    table.add_column("", no_wrap=True)
    for name in ("spearman", "kendall", "regret", "of ten", "divergence, max", "error, max"):
        table.add_column(name, justify="right", no_wrap=True)
    rows: list[tuple[str, Agreement | None]] = [
        ("estimate", comparison.estimated),
        ("heaviest load", comparison.by_load),
        ("noise: half of the runs", comparison.noise),
        ("estimate, fastest runs", comparison.least),
        ("noise, fastest runs", comparison.least_noise),
    ]
    for name, agreement in rows:
        if agreement is not None:
            table.add_row(name, *_cells(agreement))
    table.add_row("random pick", "", "", _percent(comparison.random_first), _percent(comparison.random_ten))
    return table


def _cells(agreement: Agreement) -> list[str]:
    return [
        _correlation(agreement.spearman),
        _correlation(agreement.kendall),
        _percent(agreement.regret_first),
        _percent(agreement.regret_ten),
        _both(agreement.normalised),
        _both(agreement.relative),
    ]


def _correlation(value: float) -> str:
    """Return a rank correlation; a dash where there is nothing to rank."""
    return "-" if math.isnan(value) else f"{value:.3f}"


def _both(divergence: Divergence) -> str:
    """Return mean and maximum."""
    return f"{100 * divergence.mean:.1f}, {100 * divergence.maximum:.1f} %"


def _percent(share: float) -> str:
    return f"{100 * share:.1f} %"
