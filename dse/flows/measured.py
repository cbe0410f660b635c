"""The weights that a search measures on this machine.

Where a user gives neither weights nor a platform, this machine is the platform, and the weights are measured on it
once: they are kept in the folder of the results (``dse.flows.kept_weights``), and a later search there, or one that is
continued, rests on the same numbers. Where nothing can be measured, the weights are counted from the program, and one
line says what was missing.
"""

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path

import dse
from dse.base.cores import usable_cores
from dse.base.digests import file_digest, text_digest
from dse.base.errors import BuildError, DseError, ExecutionError, OptionError
from dse.base.folders import results_folder
from dse.codegen.cpp.no_native_form import NoNativeForm
from dse.flows.execution import cpp_natives
from dse.flows.kept_weights import WEIGHTS, KeptWeights, keep_weights, kept_weights, put_weights_aside
from dse.flows.options import ExploreOptions, ProblemOptions
from dse.flows.profile import ProfiledNetwork, ProfileSettings, profile_program
from dse.flows.profile_gpu import able_actors, profile_gpu_program
from dse.flows.program import UNNAMED_OUTPUT, run_tokens
from dse.flows.rounds import Rounds
from dse.flows.setting import MEASURING, REFINING, Basis, Measuring, RecordedProgram, Setting, given_basis
from dse.flows.static_mapping import GPU
from dse.measure.machine import cpu_model, trips_text
from dse.model.design_point import DesignPoint
from dse.model.origins import origins_of
from dse.model.platform import Platform
from dse.model.trace import Trace
from dse.model.weights import merge_weights
from dse.native.build import BuildOptions
from dse.native.toolchain import find_compiler
from dse.program.network import Network
from dse.run.options import RunOptions

IMPOSSIBLE = (BuildError, NoNativeForm, ExecutionError, OptionError)
"""Why nothing can be measured: no compiler, no C++ form, a program that fails, an option that only Python knows."""
_LONGEST_REASON = 400
"""Characters of the line that says why nothing is measured."""


def measuring(options: ExploreOptions) -> Measuring | None:
    """Return what measures the basis of a search, or None where ``options`` name another one."""
    problem = options.problem
    if problem.weights or problem.platform is not None or problem.missing_weights != "error":
        return None
    return partial(_measured_basis, options)


def output_folder(options: ExploreOptions, network: str) -> Path:
    """Return the folder of the results of a search."""
    return options.out or results_folder(network)


def run_of(trace: Trace, path: str | None, problem: ProblemOptions) -> RunOptions:
    """Return how a program is run as it was when its trace was recorded on the input at ``path``."""
    tokens = run_tokens(trace)
    run = replace(problem.run, input=path, unnamed_output=UNNAMED_OUTPUT)
    return run if tokens is None else replace(run, fifo_tokens=int(tokens))


def _measured_basis(options: ExploreOptions, recorded: RecordedProgram, stage: Callable[[str], None]) -> Basis:
    """Return the basis of a search on this machine: as it was kept, else measured now, else what is counted.

    Raises:
        OptionError, FormatError: as ``kept_weights`` and ``keep_weights``.
    """
    network, out = recorded.program.network, output_folder(options, recorded.trace.topology.name)
    if network is None:
        return given_basis(options.problem)
    kept = kept_weights(out)
    if options.measured_in is not None and not (options.resume and kept is not None):
        return _basis(take_weights(options.measured_in, out), options)
    if options.resume:  # with what the study was begun with, whatever machine or compiler is here now
        return given_basis(options.problem) if kept is None else _basis(kept, options)
    identity = _identity(options, network, recorded.trace, recorded.input)
    if kept is not None and _is_for(kept, identity):
        return _basis(kept, options)
    try:
        run = run_of(recorded.trace, recorded.input, options.problem)
        _require_cores()
        stage(MEASURING)
        profiled = _profiled(options, network, run, stage)
    except IMPOSSIBLE as error:
        aside = put_weights_aside(out)  # with what lies there a search that is continued would go on
        return replace(given_basis(options.problem), notes=(why_not(error), *_changes(kept, identity, aside)))
    aside = put_weights_aside(out)
    made = keep_weights(out, _described(profiled, network), profiled.table, identity)
    return _basis(made, options, (*_changes(kept, identity, aside), *_quality(profiled)))


def _is_for(kept: KeptWeights, identity: dict[str, str]) -> bool:
    """Return whether a set was measured for what is searched: a GPU is there in both, or in none."""
    return not kept.differences(identity) and (_CUDA in kept.identity) == (_CUDA in identity)


def take_weights(folder: Path, out: Path) -> KeptWeights:
    """Return the set that is kept in a folder; it is copied to that of a search.

    Raises:
        OptionError: there is none. FormatError, OptionError: as ``kept_weights`` and ``keep_weights``.
    """
    kept = kept_weights(folder)
    if kept is None:
        raise OptionError(
            f"no measured weights are kept in '{folder}'",
            expected=f"'weights: {{measured: DIR}}' names a folder of results with {WEIGHTS}; leave it out to measure",
        )
    if out.exists() and out.samefile(folder):
        return kept
    return keep_weights(out, kept.platform, kept.plain_table, kept.identity)


def measured_again(
    options: ExploreOptions,
    setting: Setting,
    in_place: tuple[DesignPoint, ...],
    rounds: Rounds,
    stage: Callable[[str], None],
) -> None:
    """Measure the weights of a search anew; what crosses in the mappings ``in_place`` costs what it costs there.

    The weights take the place of those in the folder of the search, and remember its ``rounds``.
    Raises: what ``IMPOSSIBLE`` holds, and as ``keep_weights``.
    """
    assert setting.network is not None, "a trace cannot be run"
    run = run_of(setting.trace, setting.input, options.problem)
    stage(REFINING)
    profiled = _profiled(options, setting.network, run, stage, in_place)
    out = output_folder(options, setting.trace.topology.name)
    identity = _identity(options, setting.network, setting.trace, setting.input)
    keep_weights(out, _described(profiled, setting.network), profiled.table, identity, rounds)


def _profiled(
    options: ExploreOptions,
    network: Network,
    run: RunOptions,
    stage: Callable[[str], None],
    in_place: tuple[DesignPoint, ...] = (),
) -> ProfiledNetwork:
    """Return a profile; with a GPU that of the four configurations, and over it what mappings with a GPU tell."""
    if options.cuda is None:
        return profile_program(network, run, ProfileSettings(in_place=in_place), stage)
    mixed = [point for point in in_place if any(part.unit == GPU.name for part in point.partitions)]
    others = tuple(point for point in in_place if point not in mixed)
    found = profile_gpu_program(network, run, ProfileSettings(in_place=others), options.cuda, stage)
    for point in mixed:
        own = profile_gpu_program(network, run, ProfileSettings(mapping=point), options.cuda, stage)
        told = (*found.table.manifest, ("measured in place", dict(own.table.manifest)["mapping"]))
        both = merge_weights(found.table, own.table)  # the later one wins
        found = replace(found, table=replace(both, manifest=told))
    return found


def _require_cores() -> None:
    if len(usable_cores()) < 2:
        raise OptionError("one core is all that dse may use here: what crossing costs cannot be measured")


def why_not(error: DseError) -> str:
    """Return in one line why nothing was measured, and what would help."""
    found = error.first_error
    more = f"; {found.expected}" if found.expected else ""
    line = " ".join(f"not measured: {found.message}{more}".split())
    return line if len(line) <= _LONGEST_REASON else f"{line[: _LONGEST_REASON - 3]}..."


_CUDA = "gpu"
"""What an identity has besides where a GPU was measured too."""


def _identity(options: ExploreOptions, network: Network, trace: Trace, path: str | None) -> dict[str, str]:
    """Return for what a set is measured now, as digests. Without a compiler, that is absent. ``path``: of the input."""
    bound = options.problem.run.natives
    read = [value for key, value in trace.made_by if key.startswith("read ")]
    given = [file_digest(path)] if path is not None and Path(path).is_file() else []
    inputs = [trace.digest, *read, *given]
    natives = [(native.key, native.symbol, file_digest(native.file)) for native in cpp_natives(bound)]
    identity = {
        "network": text_digest(repr((network.name, sorted(map(file_digest, network.sources)), *natives))),
        "input": text_digest(repr(inputs)),
        "machine": f"{cpu_model()}, {len(usable_cores())} cores",
    }
    if options.cuda is not None:
        identity[_CUDA] = "emulated" if options.cuda.emulated else "nvcc"
    try:
        compiler = find_compiler()
    except BuildError:
        return identity
    made_by = (compiler.identity, BuildOptions().flags, dse.__version__)
    return {**identity, "compiler": text_digest(repr(made_by))}


def _described(profiled: ProfiledNetwork, network: Network) -> Platform:
    """Return this machine as a platform, with the distance of its cores as it was measured, and its GPU."""
    distance = trips_text(profiled.trips)
    said = f"; a cache line goes from core to core and back in {distance}" if distance else ""
    cpu, *others = profiled.platform.units
    units = (replace(cpu, source=f"{cpu.source}{said}"), *others)
    platform = replace(profiled.platform, units=units)
    if not platform.has_gpu:
        return platform
    able = sorted(able_actors(network))
    return replace(platform, gpu_capable=tuple(network.instances[k].name for k in able))


def _basis(kept: KeptWeights, options: ExploreOptions, notes: tuple[str, ...] = ()) -> Basis:
    """Return a kept set as the basis of a search; more cores than the machine has are allowed, and said."""
    about = dict(kept.table.manifest)
    distance = about.get("core distance")
    state = "" if distance is None else f" while its cores were {distance}"
    kind = "emulated" if "emulated" in origins_of(kept.table) else "measured"
    units = "CPU and GPU" if kept.platform.has_gpu else "CPU"
    assumed = [f"{units} weights {kind} on this machine{state} (kept in {WEIGHTS})"]
    wanted = 0 if options.partitions is None else options.partitions[1]
    cores = kept.platform.units[0].cores
    platform = kept.platform
    if wanted > cores:
        assumed.append(f"{wanted} cores, of which this machine has {cores}")
        platform = replace(platform, units=(replace(platform.units[0], cores=wanted), *platform.units[1:]))
    return Basis(platform=platform, weights=kept.table, assumed=tuple(assumed), notes=notes)


def _changes(kept: KeptWeights | None, identity: dict[str, str], aside: Path | None) -> tuple[str, ...]:
    """Return in words why an earlier set was measured anew, and that it was moved ``aside``."""
    if kept is None or aside is None:
        return ()
    changed = ", ".join(kept.differences(identity) or (_CUDA,))  # a GPU is there in one of both
    return (f"the weights in the folder were measured for another {changed}: they were moved to {aside.name}",)


def _quality(profiled: ProfiledNetwork) -> tuple[str, ...]:
    """Return in words how the profile went, and what was not as it should be."""
    error = 100 * profiled.closure.error
    told = f"measured the weights in {profiled.seconds:.1f} s; their sum is {error:+.1f} % off a run that is not timed"
    return (told, *(f"measuring: {warning}" for warning in profiled.warnings))
