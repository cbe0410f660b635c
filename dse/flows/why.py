"""``dse why`` as a function: the critical path of a mapping, or of the program itself, and what it is made of."""

import shlex
from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from dse.analyse.algorithmic_path import algorithmic_path
from dse.analyse.critical_path import path_of_record, slack_of_record
from dse.analyse.dependencies import derive_dependencies
from dse.base.errors import Diagnostic, OptionError
from dse.estimate.compiled.engine import CompiledEngine
from dse.estimate.engine import make_engine
from dse.flows.estimate import load_points
from dse.flows.options import EstimateOptions
from dse.flows.program import unheard
from dse.flows.setting import Setting, load_setting
from dse.flows.trace import is_graph_file
from dse.formats.tables import Column, write_table
from dse.model.critical_path import CriticalPath
from dse.model.design_point import DesignPoint
from dse.model.estimate import Estimate
from dse.model.program_path import AlgorithmicPath
from dse.model.trace import Trace
from dse.report.algorithmic import ProgramPath, program_path
from dse.report.bottlenecks import Bottlenecks, bottlenecks_of
from dse.report.path_columns import segment_columns, slack_columns, step_columns
from dse.report.why import deadlock_lines

_Ints = NDArray[np.int64]


@dataclass(frozen=True, slots=True, kw_only=True)
class WhyOptions:
    """What to explain: one mapping of ``estimate.mappings``, or without any the program itself.

    ``slack`` and ``path``: files to write the slack of every firing and all segments of the path to, as tables.
    """

    estimate: EstimateOptions
    slack: str | None = None
    path: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class WhyMapping:
    """Why a mapping takes as long as it does; ``deadlock``: in words who waits for what, empty without one."""

    mapping: str
    point: DesignPoint
    estimate: Estimate
    path: CriticalPath
    slack: tuple[_Ints, ...]
    bottlenecks: Bottlenecks
    deadlock: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class WhyProgram:
    """What keeps a program from being faster wherever it runs.

    ``record``: the command that records the accesses that a trace lacks; empty where it has them.
    """

    path: AlgorithmicPath
    summary: ProgramPath
    record: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Why:
    """The outcome of ``explain``: of a mapping or of the program."""

    setting: Setting
    mapping: WhyMapping | None
    program: WhyProgram | None
    assumed: tuple[str, ...]
    warnings: tuple[Diagnostic, ...]
    written: tuple[str, ...]
    """The files that were written."""


def explain(options: WhyOptions, stage: Callable[[str], None] = unheard) -> Why:
    """Return why a mapping, or without one the program, takes as long as it does.

    Raises:
        FormatError: a file is wrong, a mapping does not fit, or weights are missing. OptionError: options exclude each
        other, or several mappings are given. InfeasibleDesign: the mapping can never run.
    """
    return _of_mapping(options, stage) if options.estimate.mappings else _of_program(options, stage)


def _of_mapping(options: WhyOptions, stage: Callable[[str], None]) -> Why:
    given = load_points(options.estimate, stage)
    if len(given.points) != 1:
        raise OptionError(f"{len(given.points)} mappings are given", expected="one at a time is explained")
    setting, (name, point) = given.setting, given.points[0]
    stage(f"explaining {name}")
    engine = make_engine(options.estimate.problem.engine, setting.tables)
    recorder = engine if isinstance(engine, CompiledEngine) else CompiledEngine(setting.tables)
    estimate, record = recorder.record(point)
    path, slack = path_of_record(record), slack_of_record(record)
    deadlock = estimate.deadlock
    topology = setting.trace.topology
    found = WhyMapping(
        mapping=name,
        point=point,
        estimate=estimate,
        path=path,
        slack=slack,
        bottlenecks=bottlenecks_of(setting.trace, point, estimate, path, slack),
        deadlock=() if deadlock is None else tuple(deadlock_lines(topology, deadlock, point.capacities)),
    )
    assert estimate.firing_times is not None, "a record has them"
    return Why(
        setting=setting,
        mapping=found,
        program=None,
        assumed=given.assumed,
        warnings=given.warnings,
        written=(
            *_write(options.slack, lambda: slack_columns(setting.trace, slack, estimate.firing_times)),
            *_write(options.path, lambda: segment_columns(setting.trace, estimate, path)),
        ),
    )


def _of_program(options: WhyOptions, stage: Callable[[str], None]) -> Why:
    estimate = options.estimate
    _refuse_mapping_options(estimate)
    run = replace(estimate.problem.run, record_accesses=True)
    is_trace = not estimate.problem.program.lower().endswith(".xdf")
    setting = load_setting(estimate.problem if is_trace else replace(estimate.problem, run=run), stage)
    stage("following the dependencies")
    tables, dependencies = setting.tables, derive_dependencies(setting.trace)
    path = algorithmic_path(tables, dependencies)
    ordered = algorithmic_path(tables, dependencies, in_order=True)
    program = WhyProgram(
        path=path,
        summary=program_path(setting.trace, path, ordered.length),
        record="" if path.accesses else _record_command(setting.trace, estimate.problem.program),
    )
    return Why(
        setting=setting,
        mapping=None,
        program=program,
        assumed=setting.assumed,
        warnings=setting.warnings,
        written=(
            *_write(options.slack, lambda: slack_columns(setting.trace, path.slack, None)),
            *_write(options.path, lambda: step_columns(setting.trace, path)),
        ),
    )


def _refuse_mapping_options(options: EstimateOptions) -> None:
    """Raise ``OptionError`` for options that say something about a mapping where there is none."""
    given = {
        "--buffers": options.buffers is not None,
        "--clocks": bool(options.clocks),
        "--transfers": options.transfers is not None,
        "--release": options.release is not None,
        "--samples": options.samples,
    }
    for name in filter(given.get, given):
        raise OptionError(f"{name} says nothing of a program without a mapping", expected="give one with --mapping")


def _record_command(trace: Trace, path: str) -> str:
    """Return the command that records a trace with accesses, as far as the trace tells what it is of.

    Empty for a static graph: it has no program with variables and guards.
    """
    made_by = dict(trace.made_by)
    if is_graph_file(path):
        return ""
    network, given = made_by.get("network"), made_by.get("input")
    of_input = f" -i {shlex.quote(given)}" if given else ""
    return f"dse trace {shlex.quote(network) if network else 'NETWORK.xdf'}{of_input} --accesses -o {shlex.quote(path)}"


def _write(path: str | None, columns: Callable[[], list[Column]]) -> tuple[str, ...]:
    if path is None:
        return ()
    write_table(path, columns())
    return (path,)
