"""``dse profile``: weights of a network that are measured on this machine."""

import argparse
from typing import Any

from dse.base.errors import OptionError
from dse.cli.cuda_arguments import cuda_request
from dse.cli.problem_arguments import print_warnings
from dse.cli.progress import EVERY_STAGE, run_line
from dse.cli.run_arguments import run_options
from dse.cli.streams import print_json, say
from dse.flows.bench import BenchSettings
from dse.flows.profile import ProfileSettings
from dse.flows.profile_files import ProfiledFiles, ProfileOptions, profile_file


def bench_settings(args: argparse.Namespace) -> BenchSettings:
    """Return how the arguments ask programs to be built and run. Raises ``OptionError`` for what is impossible."""
    if args.execution == "python":
        raise OptionError("what is measured is a native program", expected="leave out --execution python")
    if args.time_limit is not None and not 0 < args.time_limit < float("inf"):
        raise OptionError(f"--time-limit {args.time_limit} is no time", expected="more than 0 seconds")
    return BenchSettings(compiler=args.compiler, march_native=args.march_native, time_limit_s=args.time_limit)


def run(args: argparse.Namespace) -> int:
    """Profile, write the weights and say what they are worth."""
    if args.seed < 0:
        raise OptionError(f"--seed {args.seed} is below 0", expected="0 or more")
    options = ProfileOptions(
        cuda=cuda_request(args.cuda, args.cuda_arch, here=True),
        program=args.program,
        input=args.input,
        output=args.output,
        mapping=args.mapping,
        samples=args.samples,
        source_paths=tuple(args.source_path),
        run=run_options(args),
        fifo_tokens=args.fifo_size,
        settings=ProfileSettings(
            runs=args.runs, calibrate=args.calibrate, seed=args.seed, crossing_table=True, bench=bench_settings(args)
        ),
    )
    with run_line(EVERY_STAGE) as line:
        found = profile_file(options, (lambda _: None) if args.quiet else line.show)
    if not args.quiet:
        print_warnings(found.diagnostics)
    if args.json:
        print_json(as_document(found))
    else:
        _print(found)
    return 0


def as_document(found: ProfiledFiles) -> dict[str, Any]:
    """Return the JSON of a profile; costs are counts of the counter, whose rate is in MHz."""
    profiled = found.profiled
    return {
        "network": profiled.table.name,
        "closure_error": profiled.closure.error,
        "plain_run_ms": profiled.closure.plain / profiled.facts.hz * 1e3,
        "counter_mhz": profiled.facts.mhz,
        "outliers": profiled.runs.profile.outliers.left_out,
        "samples": profiled.runs.profile.outliers.samples,
        "states": [
            {"state": s.state, "calibrations": s.calibrations, "unexplained": s.unexplained} for s in profiled.states
        ],
        "manifest": dict(profiled.table.manifest),
        "warnings": list(profiled.warnings),
        "written": list(found.written),
        "seconds": profiled.seconds,
    }


_SHOWN = ("how", "closure", "plain run", "outliers", "timed singly", "one value for", "crossing", "round trips")
_OF_GPU = ("gpu", "gpu configurations", "gpu clock", "gpu visits")


def _print(found: ProfiledFiles) -> None:
    """Print what a user has to know of a profile; the manifest has the rest."""
    manifest = dict(found.profiled.table.manifest)
    for key in (*_SHOWN, *_OF_GPU):
        if key in manifest:
            say(f"{key}: {manifest[key]}")
    for warning in found.profiled.warnings:
        say(f"warning: {warning}", error=True)
    say(f"written: {', '.join(found.written)}")
