"""The journey of ``dse run``: load a network, find its input, run it, judge how it ended."""

from dataclasses import dataclass, replace
from pathlib import Path

from dse.base.collector import collector_paused
from dse.base.errors import Diagnostic, OptionError
from dse.flows.execution import UNHEARD, RunListeners, execute
from dse.flows.inputs import default_input
from dse.frontend.network.elaborate import load_network
from dse.program.network import Network
from dse.run.execution import RunOptions, RunResult


@dataclass(frozen=True, slots=True, kw_only=True)
class RunReport:
    """A network, what running it gave, and the warnings of loading and running it. ``input``: what was read."""

    network: Network
    result: RunResult
    input: str | None
    warnings: tuple[Diagnostic, ...]

    @property
    def exit_code(self) -> int:
        """0 done, 1 the output differs from the reference or the program failed, 3 deadlock."""
        comparison = self.result.comparison
        if self.result.deadlock is not None:
            return 3
        if self.result.exit_code or (comparison is not None and comparison.equal < comparison.compared):
            return 1
        return 0


def run_file(
    path: str,
    options: RunOptions,
    *,
    source_paths: tuple[str, ...] = (),
    strict: bool = False,
    listeners: RunListeners = UNHEARD,
) -> RunReport:
    """Run the network of an XDF file; without an input it gets the one that ``input.default`` beside it names.

    Raises:
        SourceError: the network is wrong. ExecutionError: the input or the run is. OptionError: an option is.
    """
    _check_files(options)
    with collector_paused():
        loaded = load_network(path, source_paths=source_paths, strict=strict)
    given = options.input is not None
    if not given:
        options = replace(options, input=default_input(path))
    result = execute(loaded.network, options, listeners)
    found = result.warnings
    return RunReport(network=loaded.network, result=result, input=options.input, warnings=(*loaded.warnings, *found))


_COMPRESSED = ((b"\x89PNG", "PNG"), (b"\xff\xd8\xff", "JPEG"), (b"P5", "PGM"), (b"P6", "PPM"))


def _check_files(options: RunOptions) -> None:
    """Refuse, before a long run, a reference that cannot be compared with and an output that cannot be written.

    Raises:
        OptionError: the reference is missing, or no planar picture; the folder of an output does not exist.
    """
    if options.reference is not None:
        try:
            with Path(options.reference).open("rb") as file:
                head = file.read(4)
        except OSError as error:
            raise OptionError(
                f"cannot read the reference '{options.reference}': {error.strerror}", expected="-y takes a file"
            ) from error
        kind = next((kind for magic, kind in _COMPRESSED if head.startswith(magic)), None)
        if kind is not None:
            raise OptionError(
                f"the reference '{options.reference}' is a {kind} file",
                expected="-y takes planar pictures, as 'dse run ... -o NAME.yuv' writes them",
            )
    for output in (options.output, options.write):
        if output is not None and not Path(output).parent.is_dir():
            raise OptionError(
                f"the folder '{Path(output).parent}' of the output does not exist",
                expected="make it, or choose another",
            )
