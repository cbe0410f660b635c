"""Running a network by its native program: options to arguments, and what the program tells to the result of a run."""

import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path

from dse.base.errors import ExecutionError
from dse.base.folders import results_folder
from dse.native.process import SILENT, Ended, Listeners, run_program
from dse.native.result import ActorTables, Document, failure_of, read_result, run_result, trace_of
from dse.program.network import Network
from dse.run.execution import RunResult, check_run
from dse.run.options import PLAIN_RUN, RunOptions

_FROM_OUTSIDE = {
    "SIGKILL": "something else ended it, as the system does where memory runs out: --max-memory bounds it",
    "SIGTERM": "something else ended it",
    "SIGHUP": "something else ended it, or the terminal was closed",
    "SIGXCPU": "it may not take more time of the processor: see 'ulimit -t'",
}
"""Signals that are no fault of a program, with what they mean."""


def run_native(
    network: Network,
    app: Path,
    options: RunOptions,
    tables: Callable[[], Sequence[ActorTables]],
    *,
    mapping: Path | None = None,
    arguments: Sequence[str] = (),
    echo: Callable[[str], object] | None = None,
    progress: Callable[[int], None] | None = None,
    time_limit_s: float | None = None,
) -> RunResult:
    """Run the program ``app`` of a network as ``run_network`` runs the network in Python, with the same results.

    ``tables``: of each instance; asked for only if the result needs them. ``mapping``: an XCF that says which actor
    runs where; None: all on one thread, in the order of Python. ``arguments``: more for the program.

    Raises:
        ExecutionError, OptionError: as ``run_network``; or the program crashes, or breaks the time limit.
    """
    check_run(network, options)
    with tempfile.TemporaryDirectory(prefix="dse-run-") as folder:
        trace = Path(folder, "trace")
        mapped = () if mapping is None else ("--mapping", mapping)
        document, ended = document_of_run(
            (app, *program_arguments(network, options), *mapped, *arguments, "--trace", trace),
            Path(folder),
            listeners=Listeners(output=echo, progress=progress),
            time_limit_s=time_limit_s,
            progress_option="--progress",
        )
        return run_result(network, options, document, trace_of(network, trace), ended.output, tables)


def document_of_run(
    command: Sequence[str | Path],
    folder: Path,
    *,
    listeners: Listeners = SILENT,
    time_limit_s: float | None = None,
    progress_option: str | None = None,
) -> tuple[Document, Ended]:
    """Run a program to its end; return what it tells of its run, which lies in ``folder`` meanwhile, and how it ended.

    Raises:
        ExecutionError, OptionError: what the program says is wrong; or it crashes, or breaks the time limit.
    """
    result = folder / "result.json"
    ended = run_program(
        (*command, "--quiet", "--result", result),
        listeners=listeners,
        time_limit_s=time_limit_s,
        progress_option=progress_option,
    )
    _require_no_crash(ended, result)
    document = read_result(result)
    failure = failure_of(document)
    if failure is not None:
        raise failure
    return document, ended


def program_arguments(network: Network, options: RunOptions) -> list[str]:
    """Return the arguments with which a program does what the options say."""
    files = options.files if options.files is not None else str(results_folder(network.name) / "files")
    arguments = ["--home", str(Path(network.path).parent), "--files", files]
    named = (
        ("-i", options.input),
        ("-o", options.output),
        ("-w", options.write),
        ("-y", options.reference),
        ("-f", options.frames),
        ("--max-firings", options.max_firings),
        ("--max-memory", None if options.max_memory_bytes is None else f"{max(1, options.max_memory_bytes >> 10)}K"),
        ("--unnamed-output", options.unnamed_output),
    )
    numbers = (
        ("-l", options.loops, PLAIN_RUN.loops),
        ("-s", options.fifo_tokens, PLAIN_RUN.fifo_tokens),
        ("--tolerance", options.tolerance, PLAIN_RUN.tolerance),
        ("--idle-firings", options.idle_firings, PLAIN_RUN.idle_firings),
    )
    repeated = (("--allow-files", options.allow_files), ("--console-line", options.console_input))
    for name, value in named:
        if value is not None:
            arguments += [name, str(value)]
    for name, number, usual in numbers:
        if number != usual:
            arguments += [name, str(number)]
    for name, values in repeated:
        for text in values:
            arguments += [name, text]
    return [*arguments, "--hashes"] if options.hash_channels else arguments


def _require_no_crash(ended: Ended, result: Path) -> None:
    """Raise ``ExecutionError`` for a program that crashed, or ended without telling how."""
    if ended.crash in _FROM_OUTSIDE:
        raise ExecutionError(f"the native program was ended by {ended.crash}", expected=_FROM_OUTSIDE[ended.crash])
    if ended.crash is not None:
        raise ExecutionError(
            f"the native program crashed: {ended.crash}",
            expected="this is a fault of dse, or of a native function of yours; --execution python runs without it",
        )
    if not result.is_file():
        said, hint = _last_words(ended.errors)
        raise ExecutionError(
            f"the native program ended with code {ended.code} and told no result" + (said and f"; it said: {said}"),
            expected=hint or "a native function of yours may not end the program by exit(): throw a std::exception",
        )


def _last_words(errors: str) -> tuple[str, str]:
    """Return what a program said last, its error where it told one, and what it says would help; empty: nothing."""
    lines = [line.strip() for line in errors.strip().splitlines()]
    told = [line for line in lines if not line.startswith("= ")]
    found = [line for line in told if "error: " in line]
    if not found:
        return "".join(told[-1:]), ""
    return found[0], next((line.removeprefix("= ") for line in lines if line.startswith("= ")), "")


def skipping(echo: Callable[[str], object] | None, characters: int) -> Callable[[str], object] | None:
    """Return a listener that leaves out the first characters, which were heard before."""
    if echo is None or characters == 0:
        return echo
    return _Skipping(echo, characters)


class _Skipping:
    """Passes on what comes after the first characters."""

    def __init__(self, echo: Callable[[str], object], characters: int) -> None:
        self._echo = echo
        self._left = characters

    def __call__(self, text: str) -> None:
        """Take a piece of text."""
        heard = min(self._left, len(text))
        self._left -= heard
        if heard < len(text):
            self._echo(text[heard:])
