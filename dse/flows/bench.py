"""The bench that measurements are made on: a network with its programs built, and the probe of the machine."""

import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from dse.base.cores import usable_cores
from dse.base.errors import OptionError
from dse.flows.execution import cpp_natives
from dse.flows.program import unheard
from dse.measure.counter import CounterFacts
from dse.measure.native_runner import Apps, NativeRunner
from dse.measure.probe_program import Probe, build_probe
from dse.measure.runs import Program
from dse.model.trace import Topology
from dse.native.build import BuildOptions
from dse.native.cuda import DeviceBuild
from dse.native.program import NativeProgram, ProgramKind
from dse.native.toolchain import Compiler, CompilerVersion, compiler_version, find_compiler
from dse.program.network import Network
from dse.run.options import RunOptions
from dse.run.record import topology_of


@dataclass(frozen=True, slots=True, kw_only=True)
class BenchSettings:
    """How programs are built and run for measurements. ``compiler`` None: ``$CXX``, else the first that is found.

    ``time_limit_s``: of one run; None: as ``NativeRunner`` has it. ``device``: how device code is compiled; None: the
    programs have none.
    """

    compiler: str | None = None
    march_native: bool = False
    jobs: int | None = None
    time_limit_s: float | None = None
    device: DeviceBuild | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Bench:
    """A network ready to be measured. ``scratch``: a folder that goes when the bench does; ``flags``: of the build."""

    network: Network
    topology: Topology
    program: Program
    probe: Probe
    facts: CounterFacts
    cores: tuple[int, ...]
    compiler: Compiler
    version: CompilerVersion
    flags: tuple[str, ...]
    scratch: Path
    has_gpu: bool = False
    """Its programs have device code."""


@contextmanager
def open_bench(
    network: Network, run: RunOptions, settings: BenchSettings, stage: Callable[[str], None] = unheard
) -> Iterator[Bench]:
    """Build what measuring a network needs.

    Raises:
        BuildError: there is no compiler, or it fails. NoNativeForm: an actor has no C++ form. OSError: disk full.
        OptionError: a native is bound to Python.
    """
    _refuse_python(run)
    compiler = find_compiler(settings.compiler)
    version = compiler_version(compiler)
    with tempfile.TemporaryDirectory(prefix="dse-bench-") as folder:
        scratch = Path(folder)
        stage("building the probe of the machine")
        probe = build_probe(compiler, _made(scratch / "probe"))
        apps = Apps(
            plain=_program(network, run, settings, compiler, scratch / "plain", stage, timed=False),
            timed=_program(network, run, settings, compiler, scratch / "timed", stage, timed=True),
        )
        cores = usable_cores()
        yield Bench(
            network=network,
            topology=topology_of(network),
            program=NativeRunner(network, apps, run, cores, settings.time_limit_s),
            probe=probe,
            facts=probe.counter(),
            cores=cores,
            compiler=compiler,
            version=version,
            flags=_build_options(settings, timed=False).flags,
            scratch=_made(scratch / "runs"),
            has_gpu=settings.device is not None,
        )


def _refuse_python(run: RunOptions) -> None:
    """Raise ``OptionError`` for natives that a program cannot call."""
    if len(cpp_natives(run.natives)) < len(dict(run.natives)):
        raise OptionError(
            "what is measured is a native program, which cannot call a native that is bound to Python",
            expected="bind it to FILE.cpp:SYMBOL; `dse run`, `trace`, `estimate` and `explore` run it in Python",
        )


def _made(folder: Path) -> Path:
    folder.mkdir()
    return folder


def _build_options(settings: BenchSettings, *, timed: bool) -> BuildOptions:
    return BuildOptions(march_native=settings.march_native, timed=timed, jobs=settings.jobs, device=settings.device)


def _program(
    network: Network,
    run: RunOptions,
    settings: BenchSettings,
    compiler: Compiler,
    scratch: Path,
    stage: Callable[[str], None],
    *,
    timed: bool,
) -> Path:
    """Return a program of the network, of an earlier build if one is kept."""
    kind = ProgramKind(natives=cpp_natives(run.natives), build=_build_options(settings, timed=timed))
    program = NativeProgram(network, kind, compiler)
    kept = program.kept()
    if kept is not None:
        return kept
    what = "building the timed program" if timed else "building the program"
    stage(what)
    return program.build(_made(scratch), progress=lambda done, count: stage(f"{what}: {done} of {count} files"))
