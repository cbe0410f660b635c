"""Everything that is fixed before mappings are looked at: program, trace, weights, platform and their tick tables."""

import os
from collections.abc import Callable
from contextlib import nullcontext
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TypeAlias

import numpy as np

from dse.base.errors import Diagnostic, OptionError
from dse.base.escaping import shown
from dse.base.registry import nearest_names
from dse.base.time_limit import TimeLimit
from dse.estimate.engine import compile_engine, needs_compiling
from dse.estimate.problem.build import build_tables
from dse.estimate.problem.tables import ProblemTables
from dse.flows.defaults import outside_actors
from dse.flows.inputs import DEFAULT_INPUT
from dse.flows.manifest import program_manifest, units_manifest, weights_manifest
from dse.flows.options import NOMINAL, ProblemOptions
from dse.flows.program import GivenProgram, load_program, record_trace, run_tokens, unheard
from dse.flows.trace import left_out
from dse.flows.weighing import choose_weights, derived_costs
from dse.formats.platform_yaml import load_platform
from dse.formats.weights_folder import read_weights
from dse.model.dataflow_graph import DataflowGraph
from dse.model.origins import origins_of
from dse.model.platform import Platform
from dse.model.problem import Problem
from dse.model.trace import Trace, TraceBuffer
from dse.model.weights import WeightTable
from dse.program.network import Network
from dse.sdf.weights import graph_weights, types_of_units

COMPILING = "compiling the engine, once for each version: up to a minute"
MEASURING = "measuring what the actions cost on this machine, once for this folder"
REFINING = "measuring again, with the best mapping in place"
SLOW_STAGES = (COMPILING, MEASURING, REFINING)
"""The stages that users wait for longest without seeing why."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Basis:
    """The platform and the weights that a setting rests on; ``weights`` None: they are counted from the program.

    ``assumed``: what is assumed in them, ``notes``: what users should hear of how they came to be; both in words.
    """

    platform: Platform
    weights: WeightTable | None
    assumed: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordedProgram:
    """A program and the trace of it on an input; ``input``: its path, None where there is none."""

    program: GivenProgram
    trace: Trace
    input: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class AtHand:
    """What of a problem is at hand as an object, None: it is what the options name."""

    program: GivenProgram | None = None
    platform: Platform | None = None
    weights: WeightTable | None = None


NOTHING = AtHand()
Measuring: TypeAlias = Callable[[RecordedProgram, Callable[[str], None]], Basis]
"""Measures on what a program is estimated; the second argument is told what goes on."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Setting:
    """Everything that is fixed before mappings are looked at, and what was assumed on the way.

    ``input``: the path of what the network was run on, None where there is none. ``notes``: what users should hear of
    how the weights came to be, in words.
    """

    network: Network | None
    trace: Trace
    input: str | None
    platform: Platform
    problem: Problem
    tables: ProblemTables
    assumed: tuple[str, ...]
    manifest: tuple[tuple[str, str], ...]
    warnings: tuple[Diagnostic, ...]
    notes: tuple[str, ...] = ()


def load_setting(
    options: ProblemOptions,
    stage: Callable[[str], None] = unheard,
    limit: TimeLimit | None = None,
    measuring: Measuring | None = None,
    at_hand: AtHand = NOTHING,
) -> Setting:
    """Load, run and gather what ``options`` ask for; ``stage`` is told what goes on.

    ``limit``: of the time, to which the compiling of the engine does not count. ``measuring``: where platform and
    weights come from instead of the options. ``at_hand``: objects that stand for what the options name.

    Raises:
        SourceError, FormatError, OptionError, ExecutionError: an input is wrong; the message says which and where.
    """
    stage("reading the program")
    program = at_hand.program or load_program(options.program, options.source_paths, options.graph)
    named = given_basis(options, at_hand)
    predicts = named.platform.predicted_gpu is not None
    trace, input_path = record_trace(program, options.input, run=options.run, count_rounds=predicts, stage=stage)
    recorded = RecordedProgram(program=program, trace=trace, input=input_path)
    basis = named if measuring is None else measuring(recorded, stage)
    stage("weighing the firings")
    platform = _gpu_capable(basis.platform, options, trace)
    given_weights, of_graph = _given_weights(options, program, basis)
    weights, weights_assumed = choose_weights(program, trace, platform, given_weights, options.missing_weights, stage)
    problem = Problem(
        trace=trace,
        weights=weights,
        platform=platform,
        missing_weights="zero" if options.missing_weights == "zero" else "error",
    )
    outside = outside_actors(program.network)
    of_weights = (*of_graph, *weights_assumed, *derived_costs(trace, weights, platform, outside))
    assumed = [*_of_run(trace), *_starved(trace), *program.assumed, *basis.assumed, *of_weights]
    if at_hand.platform is None:
        assumed += _unnamed_platform(options, platform)
    if options.input is None and input_path is not None:
        name = os.path.relpath(input_path, Path(options.program).parent)  # the same from wherever it is started
        assumed.append(f"input {name} (from {DEFAULT_INPUT})")
    if needs_compiling(options.engine):
        stage(COMPILING)
        with limit.uncounted() if limit is not None and limit.seconds is not None else nullcontext():
            compile_engine()  # all of it, also what this problem may not need: else the next command would say so again
        stage("gathering the costs")
    return Setting(
        network=program.network,
        trace=trace,
        input=input_path,
        platform=platform,
        problem=problem,
        tables=build_tables(problem),
        assumed=tuple(assumed),
        manifest=(
            *program_manifest(program.network, options.program, _input_file(input_path)),
            *weights_manifest(weights),
            *units_manifest(platform),
        ),
        warnings=program.warnings,
        notes=basis.notes,
    )


_NAMED = 4
"""So many actors that never fire are named."""


def _starved(trace: Trace) -> tuple[str, ...]:
    """Return in words which actors never fire though tokens wait for them: a cycle may lack an initial token."""
    actors, fires = trace.topology.actors, [len(firings) > 0 for firings in trace.firings]
    waiting = dict.fromkeys(
        actors[b.target].name
        for b in trace.topology.buffers
        if not fires[b.target] and (b.initial_tokens or _writes(trace, b))
    )
    more = f" and {len(waiting) - _NAMED} more" if len(waiting) > _NAMED else ""
    names = ", ".join(map(shown, list(waiting)[:_NAMED])) + more
    return (f"no firings of {names}, though tokens wait there (`dse run --why` says for what)",) if waiting else ()


def _writes(trace: Trace, buffer: TraceBuffer) -> bool:
    """Return whether a firing puts tokens into a buffer."""
    fired = np.unique(trace.firings[buffer.source]).tolist()
    actions = trace.topology.actors[buffer.source].actions
    return any(actions[action].writes[buffer.source_port] for action in fired)


def _gpu_capable(platform: Platform, options: ProblemOptions, trace: Trace) -> Platform:
    """Return the platform with the actors that ``options`` let run on the GPU. Raises ``OptionError`` for others."""
    if options.gpu_capable is None:
        return platform
    names = tuple(actor.name for actor in trace.topology.actors)
    unknown = next((name for name in options.gpu_capable if name not in names), None)
    if unknown is not None:
        raise OptionError(f"gpu_capable: there is no actor '{unknown}'", expected=nearest_names(unknown, names))
    return replace(platform, gpu_capable=options.gpu_capable)


def _given_weights(
    options: ProblemOptions, program: GivenProgram, basis: Basis
) -> tuple[WeightTable | None, tuple[str, ...]]:
    """Return the weights to begin with and what is assumed in them: a graph brings its own, where none are named."""
    if program.weights is None or basis.weights is not None or options.weights:
        return basis.weights, ()
    if program.graph is None or options.graph.processors:
        return program.weights.table, program.weights.words
    return _times_on(program.graph, basis.platform)


def _times_on(graph: DataflowGraph, platform: Platform) -> tuple[WeightTable, tuple[str, ...]]:
    """Return the times of a graph on the types of processors that units are named after, and what is assumed."""
    named = types_of_units(graph, [(unit.name, unit.kind) for unit in platform.units])
    found = graph_weights(graph, named.processors)
    assert found is not None, "the graph has times"
    if not named.others:
        return found.table, found.words
    units = " and ".join(f"'{name}'" for name in named.others)
    return found.table, (*found.words, f"the same times on {units}: weights are of a kind of unit")


def given_basis(options: ProblemOptions, at_hand: AtHand = NOTHING) -> Basis:
    """Return the platform and the weights that options name, or the default platform and weights to be counted.

    ``at_hand``: objects that stand for what the options name.

    Raises:
        FormatError: a file is missing or wrong.
    """
    platform, weights = at_hand.platform, at_hand.weights
    if platform is None:
        platform = load_platform(options.platform) if options.platform else load_platform()
    if weights is None and options.weights not in ((), (NOMINAL,)):
        weights = read_weights(options.weights)
    return Basis(platform=platform, weights=weights, assumed=(*_of_emulation(weights), *_of_links(platform, weights)))


def _of_emulation(weights: WeightTable | None) -> tuple[str, ...]:
    """Return in words that weights rest on no card, where they do."""
    if weights is None or "emulated" not in origins_of(weights):
        return ()
    return ("weights of an emulated GPU, a rehearsal: they say nothing of a card",)


def _of_links(platform: Platform, weights: WeightTable | None) -> tuple[str, ...]:
    """Return in words that a link is that of an emulated GPU. Raises ``OptionError`` beside measured weights."""
    names = [link.name for link in platform.links if link.emulated]
    if not names:
        return ()
    if weights is not None and "measured" in origins_of(weights):
        raise OptionError(
            f"link '{shown(names[0])}' of the platform is that of an emulated GPU, and the weights were measured",
            expected="measure the link where the weights were measured: dse gpu link",
        )
    return (f"link '{shown(names[0])}' of an emulated GPU, a rehearsal",)


def _of_run(trace: Trace) -> list[str]:
    """Return in words what is unusual about the run that made a trace: larger FIFOs, an end that was not its own."""
    tokens, words = run_tokens(trace), []
    if tokens is not None:
        words.append(f"the firings of a run with FIFOs of {tokens} tokens (with less it deadlocks)")
    if dict(trace.made_by).get("ended") == "budget":
        words.append(f"only the first {trace.n_firings:,} firings of the network (--max-firings)")
    return [*words, *filter(None, (left_out(trace),))]


def _input_file(path: str | None) -> str | None:
    """Return the input if it is one file; of a folder the trace knows what was read."""
    return path if path is not None and Path(path).is_file() else None


def _unnamed_platform(options: ProblemOptions, platform: Platform) -> tuple[str, ...]:
    """Return in words which platform is taken where the options name none."""
    return () if options.platform is not None else (f"platform {_platform_text(platform)}",)


def _platform_text(platform: Platform) -> str:
    units = []
    for unit in platform.units:
        cores = f"{unit.cores} x " if unit.cores > 1 else ""
        clock = f" {float(unit.clock_mhz):g} MHz" if unit.clock_mhz is not None else ""
        units.append(f"{cores}{unit.kind}{clock}")
    return f"{platform.name} ({', '.join(units)})"
