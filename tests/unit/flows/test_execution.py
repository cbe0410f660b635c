"""Which execution runs a network: kept programs at once, else Python, overtaken by a program that is ready in time."""

import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from dse.base.errors import BuildError, DseError, OptionError
from dse.flows import execution
from dse.flows.execution import BUILDING, RunListeners, execute
from dse.native.program import NativeProgram
from dse.native.toolchain import Compiler, RunningTools
from dse.program.network import Network
from dse.run import schedule
from dse.run.execution import RunResult, run_network
from dse.run.options import ExecutionMode, RunOptions
from tests.unit.native.programs import document_of, program_that_tells, trace_bytes
from tests.unit.run.programs import network_of

FIRINGS = 40_000
COUNTER = f"""actor Counter () ==> :
    int(size=32) n := 0;
    count: action ==> guard n < {FIRINGS} do n := n + 1; if n mod 5000 = 0 then println(n); end end
end"""
PRODUCER = """actor Producer () ==> int O :
    int n := 0;
    send: action ==> O:[n] guard n < 20 do n := n + 1; end
end"""
CONSUMER = "actor Consumer () int I ==> : take: action I:[x] ==> end end"
OPTIONS = RunOptions()
SLOW = RunListeners(progress=lambda _firings: time.sleep(0.02))
"""With it, the run in Python takes at least a fifth of a second."""


@pytest.fixture(scope="module")
def network(tmp_path_factory: pytest.TempPathFactory) -> Network:
    return network_of(tmp_path_factory.mktemp("counter"), (COUNTER,), "c=Counter")


@pytest.fixture(scope="module")
def in_python(network: Network) -> RunResult:
    return run_network(network, OPTIONS)


class Scene:
    """A compiler that makes a ready program, after some seconds or never."""

    def __init__(self, app: Path, patch: pytest.MonkeyPatch) -> None:
        self.app = app
        self.kept = False
        self.failure: DseError | None = None
        self.seconds = 0.0
        """So long a build takes."""
        self.expected = 0.0
        """So long a build is expected to take."""
        self.builds: list[str] = []
        patch.setattr(execution, "find_compiler", self._compiler)
        patch.setattr(execution, "_LEAST_SECONDS", 0.0)
        patch.setattr(NativeProgram, "kept", lambda _self: self.app if self.kept else None)
        patch.setattr(NativeProgram, "build_seconds", lambda _self: self.expected)
        patch.setattr(NativeProgram, "build", self._build)
        self.compiler_failure: DseError | None = None

    def _compiler(self) -> Compiler:
        if self.compiler_failure is not None:
            raise self.compiler_failure
        return Compiler(command=("none",))

    def _build(
        self, _scratch: Path, *, tools: RunningTools | None = None, progress: Callable[[int, int], None]
    ) -> Path:
        self.builds.append("begun")
        end = time.monotonic() + self.seconds
        while time.monotonic() < end:
            if tools is not None and tools.ended:
                self.builds.append("ended")
                raise BuildError("the build was ended")
            time.sleep(0.001)
        if self.failure is not None:
            raise self.failure
        progress(1, 1)
        return self.app


@pytest.fixture
def scene(network: Network, in_python: RunResult, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Scene:
    trace = trace_bytes([ids.tolist() for ids in in_python.trace.firings])
    text = in_python.stdout
    return Scene(program_that_tells(tmp_path, document_of(network, in_python), trace, stdout=text), monkeypatch)


def ran(network: Network, mode: ExecutionMode, options: RunOptions = OPTIONS) -> str:
    return execute(network, replace(options, execution=mode)).execution


def test_a_kept_program_runs_at_once(network: Network, scene: Scene) -> None:
    scene.kept = True
    assert (ran(network, "auto"), ran(network, "native"), ran(network, "python")) == ("native", "native", "python")
    assert scene.builds == []


def test_a_short_run_waits_for_no_compiler(network: Network, scene: Scene) -> None:
    scene.expected = 60.0
    assert ran(network, "auto") == "python"
    assert scene.builds == []


def test_a_program_that_is_ready_overtakes(network: Network, in_python: RunResult, scene: Scene) -> None:
    heard: list[str] = []
    found = execute(network, OPTIONS, replace(SLOW, echo=heard.append))
    assert (found.execution, scene.builds) == ("native", ["begun"])
    assert found.trace.digest == in_python.trace.digest
    assert "".join(heard) == in_python.stdout == found.stdout


def test_few_long_firings_are_overtaken_too(tmp_path: Path, scene: Scene, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(schedule, "_PROGRESS_SECONDS", 0.0)  # as if each round took that long
    few = network_of(tmp_path, (PRODUCER, CONSUMER), "p=Producer c=Consumer p.O->c.I")
    options = RunOptions(fifo_tokens=1)
    told = run_network(few, options)
    assert told.n_firings == 40
    trace = trace_bytes([ids.tolist() for ids in told.trace.firings])
    scene.app = program_that_tells(tmp_path, document_of(few, told), trace, stdout=told.stdout)
    assert (execute(few, options, SLOW).execution, scene.builds) == ("native", ["begun"])


def test_a_build_that_is_too_late_is_ended(network: Network, scene: Scene) -> None:
    scene.seconds = 60.0
    started = time.monotonic()
    assert execute(network, OPTIONS, SLOW).execution == "python"
    assert scene.builds == ["begun", "ended"]
    assert time.monotonic() - started < 30


def test_a_bound_that_is_near_is_worth_no_build(network: Network, scene: Scene) -> None:
    scene.expected = 10.0
    scene.seconds = 60.0
    found = execute(network, replace(OPTIONS, max_firings=20_000), SLOW)
    assert (found.execution, found.why, scene.builds) == ("python", "budget", [])


def test_a_build_that_fails_is_no_error(network: Network, scene: Scene) -> None:
    scene.failure = BuildError("the compiler failed")
    assert execute(network, OPTIONS, SLOW).execution == "python"
    assert scene.builds == ["begun"]
    with pytest.raises(BuildError, match="the compiler failed"):
        ran(network, "native")


def test_without_compiler(network: Network, scene: Scene) -> None:
    scene.compiler_failure = BuildError("there is no C++ compiler")
    assert ran(network, "auto") == "python"
    with pytest.raises(BuildError, match="no C\\+\\+ compiler"):
        ran(network, "native")


def test_native_waits_and_tells(network: Network, scene: Scene) -> None:
    stages: list[str] = []
    options = replace(OPTIONS, execution="native")
    assert execute(network, options, RunListeners(stage=stages.append)).execution == "native"
    assert stages == [BUILDING, f"{BUILDING}: 1 of 1 files"]


def test_what_only_python_can(network: Network, scene: Scene) -> None:
    scene.kept = True
    accesses = replace(OPTIONS, record_accesses=True)
    assert ran(network, "auto", accesses) == "python"
    with pytest.raises(OptionError, match="accesses are recorded by the execution in Python only"):
        ran(network, "native", accesses)
    bound = replace(OPTIONS, natives=(("u.f", "math:sqrt"),))
    with pytest.raises(OptionError, match="bound to Python cannot be called by a native program"):
        ran(network, "native", bound)
    with pytest.raises(OptionError, match=r"the network declares no native 'u\.f'"):  # of the run in Python
        ran(network, "auto", bound)


def test_what_only_cpp_can(network: Network, scene: Scene, tmp_path: Path) -> None:
    (tmp_path / "f.cpp").write_text("int f() { return 1; }\n")
    bound = replace(OPTIONS, natives=(("u.f", f"{tmp_path / 'f.cpp'}:f"),))
    with pytest.raises(OptionError, match=r"'u\.f' is bound to C\+\+, which the execution in Python cannot call"):
        ran(network, "python", bound)
    assert ran(network, "auto", bound) == "native"
    assert scene.builds == ["begun"]
    scene.compiler_failure = BuildError("there is no C++ compiler")
    with pytest.raises(BuildError):
        ran(network, "auto", bound)


def test_folders_that_are_open_to_the_program_are_not_written_twice(network: Network, scene: Scene) -> None:
    assert execute(network, replace(OPTIONS, allow_files=(".",)), SLOW).execution == "python"
    assert scene.builds == []
