"""``dse build``: a network as a native program, with its C++ sources."""

import argparse
import sys
from pathlib import Path

from dse.base.diagnostics import render
from dse.base.errors import OptionError
from dse.cli.cuda_arguments import cuda_request
from dse.cli.native_arguments import native_binding
from dse.cli.progress import stage_line
from dse.cli.streams import print_json, say
from dse.flows.build import BuildReport, BuildRequest, build_file
from dse.native.build import SANITIZERS, BuildOptions


def run(args: argparse.Namespace) -> int:
    """Build the program, say what was made; return 0."""
    request = BuildRequest(
        network=args.network,
        folder=Path(args.out),
        source_paths=tuple(args.source_path),
        strict=args.strict,
        compiler=args.compiler,
        natives=tuple(native_binding(text) for text in args.native),
        options=BuildOptions(
            march_native=args.march_native, sanitize=_sanitizers(args.sanitize), jobs=_jobs(args.jobs)
        ),
        cuda=cuda_request(args.cuda, args.cuda_arch),
        static=args.static,
    )
    with stage_line(quiet=args.quiet) as stage:
        report = build_file(request, stage)
    if args.json:
        print_json(as_document(report))
    else:
        _print(report, quiet=args.quiet)
    if not args.quiet:
        for warning in report.warnings:
            print(render(warning), file=sys.stderr)
    return 0


def _sanitizers(text: str) -> tuple[str, ...]:
    """Return the sanitizers of a list with commas. Raises ``OptionError`` for those that do not go together."""
    kinds = tuple(dict.fromkeys(part.strip() for part in text.split(",") if part.strip()))
    for kind in kinds:
        if kind not in SANITIZERS:
            raise OptionError(f"there is no sanitizer '{kind}'", expected=f"some of {', '.join(SANITIZERS)}")
    if "thread" in kinds and "address" in kinds:
        raise OptionError("the sanitizers address and thread exclude each other", expected="build twice")
    return kinds


def _jobs(count: int | None) -> int | None:
    if count is not None and count < 1:
        raise OptionError(f"the number of jobs is {count}, must be at least 1")
    return count


def as_document(report: BuildReport) -> dict[str, object]:
    """Return the JSON document: ``app`` is the program; ``compiled`` and ``reused`` count files."""
    return {
        "network": report.network.name,
        "app": str(report.app),
        "compiler": report.compiler.name,
        "compiler_version": report.version.text,
        "compiled": report.counts.compiled,
        "reused": report.counts.reused,
        "seconds": round(report.seconds, 3),
        "files": list(report.files),
        "cuda": None if report.cuda is None else report.cuda.compiler,
        "kernels": [
            {
                "architecture": kernel.architecture,
                "registers": kernel.registers,
                "stack_bytes": kernel.stack_bytes,
                "shared_bytes": kernel.shared_bytes,
                "spilled_bytes": kernel.spilled_bytes,
            }
            for kernel in report.counts.kernels
        ],
        "warnings": [w.message for w in report.warnings],
    }


def _print(report: BuildReport, *, quiet: bool) -> None:
    counts = report.counts
    say(str(report.app))
    if not quiet:
        kept = f", {counts.reused} kept from before" if counts.reused else ""
        say(f"{counts.compiled} files compiled{kept} in {report.seconds:.1f} s by {report.version.text}", error=True)
        if report.cuda is not None:
            able = f"{len(report.cuda.able)} of {len(report.network.instances)} actors"
            say(f"{able} can run on a GPU, compiled by {report.cuda.compiler}", error=True)
        for kernel in counts.kernels:
            used = (
                f"{kernel.registers} registers, {kernel.shared_bytes} B shared, {kernel.stack_bytes} B stack a thread"
            )
            say(f"kernel for sm_{kernel.architecture}: {used}, {kernel.spilled_bytes} B spilled", error=True)
        say(f"{report.app} --help tells its options", error=True)
