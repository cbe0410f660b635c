"""``dse profile`` as a function: loads the network, profiles it, writes the weight set and what belongs to it."""

import contextlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path

from dse.base.cores import usable_cores
from dse.base.errors import Diagnostic, ExecutionError, OptionError
from dse.base.files import write_whole
from dse.flows.cuda_request import CudaRequest
from dse.flows.inputs import default_input, require_file, require_input, require_place
from dse.flows.mappings import read_mapping
from dse.flows.profile import ProfiledNetwork, ProfileSettings, profile_program
from dse.flows.profile_gpu import profile_gpu_program
from dse.flows.program import UNNAMED_OUTPUT, unheard
from dse.flows.static_mapping import GPU
from dse.formats.samples_file import SAMPLES, samples_bytes
from dse.formats.weights_folder import MANIFEST, write_weights_folder
from dse.frontend.network.elaborate import load_network
from dse.measure.firing_costs import firing_costs
from dse.measure.session import STATES
from dse.model.design_point import DesignPoint
from dse.model.platform import Platform, Unit
from dse.program.network import Network
from dse.run.options import PLAIN_RUN, RunOptions
from dse.run.record import topology_of

CROSSINGS = "crossings.tsv"
"""File of a measured set with the table of the micro-benchmark."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ProfileOptions:
    """What to profile. ``output``: the folder of the weights; ``mapping``: a file or a text, None: one core.

    ``cuda``: with actors on a GPU; None: on processors alone. ``samples``: keep the cost of every firing.
    ``fifo_tokens``: size of FIFOs for which the network says nothing.
    """

    program: str
    output: str
    input: str | None = None
    mapping: str | None = None
    cuda: CudaRequest | None = None
    samples: bool = False
    source_paths: tuple[str, ...] = ()
    run: RunOptions = PLAIN_RUN
    fifo_tokens: int = PLAIN_RUN.fifo_tokens
    settings: ProfileSettings = field(default_factory=ProfileSettings)


@dataclass(frozen=True, slots=True, kw_only=True)
class ProfiledFiles:
    """A profile and the files that it was written to."""

    profiled: ProfiledNetwork
    written: tuple[str, ...]
    diagnostics: tuple[Diagnostic, ...]


def profile_file(options: ProfileOptions, stage: Callable[[str], None] = unheard) -> ProfiledFiles:
    """Profile the network of an XDF file and write its weights.

    Raises:
        SourceError, FormatError, OptionError: an input is wrong. BuildError, NoNativeForm: it cannot be built.
        ExecutionError: a run fails, or the results cannot be written.
    """
    stage("reading the program")
    require_file(options.program, "a network (.xdf)")
    require_place(options.output, "-o")
    loaded = load_network(options.program, source_paths=options.source_paths)
    path = options.input if options.input is not None else default_input(options.program)
    if path is not None:
        require_input(path)
    run = replace(options.run, input=path, fifo_tokens=options.fifo_tokens, unnamed_output=UNNAMED_OUTPUT)
    settings = options.settings
    if options.mapping is not None:
        settings = replace(settings, mapping=_mapping(options.mapping, loaded.network, gpu=options.cuda is not None))
    if options.cuda is not None:
        _refuse_samples(options)
        profiled = profile_gpu_program(loaded.network, run, settings, options.cuda, stage)
    else:
        profiled = profile_program(loaded.network, run, settings, stage)
    return ProfiledFiles(profiled=profiled, written=_written(profiled, options), diagnostics=loaded.warnings)


def _refuse_samples(options: ProfileOptions) -> None:
    if options.samples:
        raise OptionError(
            "on a GPU the cost of single firings is not kept, only their sums", expected="leave out --samples or --cuda"
        )


def _mapping(given: str, network: Network, *, gpu: bool) -> DesignPoint:
    """Return a mapping, a file or a text, for the CPUs of this machine, and its ``gpu``."""
    cpu = Unit(name="cpu", kind="cpu", cores=len(usable_cores()))
    here = Platform(name="this machine", units=(cpu, GPU) if gpu else (cpu,))
    return read_mapping(given, topology_of(network), here).point


def write_profiled_set(profiled: ProfiledNetwork, folder: Path) -> tuple[str, ...]:
    """Write the weights of a profile into a folder, those of other states of the machine below it.

    Return the names of the files in the folder. What an earlier profile has left there does not stay.
    Raises ``FormatError`` where a file cannot be written.
    """
    names = list(write_weights_folder(profiled.table, str(folder)))
    _remove_earlier(folder, tuple(names), profiled)
    for state in profiled.states[1:]:
        below = write_weights_folder(state.table, str(folder / state.state))
        names += [f"{state.state}/{name}" for name in below]
    return tuple(names)


def _written(profiled: ProfiledNetwork, options: ProfileOptions) -> tuple[str, ...]:
    """Write the set, and what else is known."""
    folder = Path(options.output)
    names = write_profiled_set(profiled, folder)
    more: dict[str, bytes | str] = {CROSSINGS: profiled.crossings} if profiled.crossings else {}
    if options.samples:
        more[SAMPLES] = samples_of(profiled)
    with written_into(folder, "-o"):
        for name, data in more.items():
            write_whole(folder / name, data)
    return tuple(str(folder / name) for name in (*names, *more))


@contextlib.contextmanager
def written_into(folder: Path, option: str) -> Iterator[None]:
    """Write files of a folder that the user names by an option. Raises ``ExecutionError`` where the system refuses."""
    try:
        yield
    except OSError as error:
        raise ExecutionError(
            f"cannot write '{error.filename or folder}': {error.strerror or error}",
            expected=f"choose another with {option}",
        ) from error


def _remove_earlier(folder: Path, names: tuple[str, ...], profiled: ProfiledNetwork) -> None:
    """Delete what an earlier profile has written into the folder and this one does not replace.

    ``names``: of the files of a set.
    """
    kept = {state.state for state in profiled.states[1:]}
    below = [folder / state for state in STATES if state not in kept]
    ours = [place for place in below if _is_of_profile(place / MANIFEST)]
    files = [folder / CROSSINGS, folder / SAMPLES, *(place / name for place in ours for name in names)]
    with contextlib.suppress(OSError):  # what cannot be deleted cannot be written either
        for file in files:
            file.unlink(missing_ok=True)
        for place in ours:
            place.rmdir()


def _is_of_profile(manifest: Path) -> bool:
    try:
        return "core distance" in manifest.read_text(encoding="utf-8", errors="replace")
    except OSError:
        return False


def samples_of(profiled: ProfiledNetwork) -> bytes:
    """Return the file with what each firing cost."""
    runs = profiled.runs
    costs = firing_costs(runs.profile, [run.samples for run in runs.timed], profiled.topology, runs.firings)
    return samples_bytes({of_actor.name: of_actor.counts for of_actor in costs})
