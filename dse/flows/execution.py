"""Which execution runs a network, natively or in Python: the results are the same, the time is not.

With ``auto``, a program that is kept from an earlier build runs at once. Else the run begins in Python. When it has
taken as long as building the program is expected to take, the program is built in the background; as soon as it is
ready, the run begins anew with it. So a run takes at most about twice the time of the better choice, whatever the
network, and short ones never wait for a compiler. Text that was shown already is not shown again, and files are written
again from their beginning.
"""

import tempfile
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from dse.base.errors import BuildError, DseError, OptionError
from dse.codegen.cpp.no_native_form import NoNativeForm
from dse.native.build import BuildOptions
from dse.native.execution import run_native, skipping
from dse.native.natives import UserNative, is_user_native, user_natives
from dse.native.program import NativeProgram, ProgramKind
from dse.native.toolchain import RunningTools, find_compiler
from dse.program.network import Network
from dse.run.execution import Execution, RunResult, run_network
from dse.run.options import RunOptions

BUILDING = "building the native program"
"""How the stage begins in which a program is built that a run waits for."""
EXECUTIONS: dict[Execution, str] = {"native": "run by a native program", "python": "run in Python"}
"""What ran a network, in words."""
_LEAST_SECONDS = 2.0
"""So long a run is certainly not worth a build."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RunListeners:
    """Who hears of a run: ``echo`` what it prints, ``progress`` its firings now and then, ``stage`` what goes on."""

    echo: Callable[[str], object] | None = None
    progress: Callable[[int], None] | None = None
    stage: Callable[[str], None] | None = None


UNHEARD = RunListeners()


def execute(network: Network, options: RunOptions, listeners: RunListeners = UNHEARD) -> RunResult:
    """Run a network until it stops, by the execution that ``options.execution`` asks for.

    Raises:
        ExecutionError, OptionError: as ``run_network``. BuildError, NoNativeForm: it has to run natively, and cannot.
    """
    bindings = cpp_natives(options.natives)
    if options.execution == "python":
        _refuse_cpp(bindings)
        return _run_in_python(network, options, listeners)
    must = options.execution == "native" or bool(bindings)
    try:
        program = _program(network, options, bindings)
    except DseError:
        if must:
            raise
        return _run_in_python(network, options, listeners)
    app = program.kept()
    if app is None and not must:
        return _Race(program, options, listeners).run()
    with tempfile.TemporaryDirectory(prefix="dse-program-") as scratch:
        app = app or program.build(Path(scratch), progress=_told_build(listeners.stage))
        return _run_natively(program, app, options, listeners)


def cpp_natives(natives: tuple[tuple[str, str], ...]) -> tuple[UserNative, ...]:
    """Return the natives that are bound to C++, of ("unit.function", target). Raises ``OptionError``: no such file."""
    texts = (f"{key}={target}" for key, target in natives)
    return tuple(user_natives(text for text in texts if is_user_native(text)).values())


def _refuse_cpp(bindings: tuple[UserNative, ...]) -> None:
    if bindings:
        raise OptionError(
            f"the native '{bindings[0].key}' is bound to C++, which the execution in Python cannot call",
            expected="bind it to MODULE:CALLABLE, or leave out --execution python",
        )


def _program(network: Network, options: RunOptions, bindings: tuple[UserNative, ...]) -> NativeProgram:
    """Return the program that a run needs. Raises ``DseError`` that says why it cannot run natively."""
    if len(bindings) < len(options.natives):
        raise OptionError(
            "a native that is bound to Python cannot be called by a native program",
            expected="bind it to FILE.cpp:SYMBOL, or use --execution python",
        )
    if options.record_accesses:
        raise OptionError(
            "accesses are recorded by the execution in Python only",
            expected="leave out --accesses, or use --execution python",
        )
    kind = ProgramKind(rounds=options.count_rounds, natives=bindings, build=BuildOptions())
    return NativeProgram(network, kind, find_compiler())


def _told_build(stage: Callable[[str], None] | None) -> Callable[[int, int], None]:
    """Return a listener to a build that tells a stage how far it is."""
    if stage is None:
        return lambda _done, _all: None
    tell = stage
    tell(BUILDING)
    return lambda done, count: tell(f"{BUILDING}: {done} of {count} files")


def _run_in_python(network: Network, options: RunOptions, listeners: RunListeners) -> RunResult:
    return run_network(network, options, echo=listeners.echo, progress=listeners.progress)


def _run_natively(
    program: NativeProgram, app: Path, options: RunOptions, listeners: RunListeners, heard: int = 0
) -> RunResult:
    """Run a program; ``heard``: characters that it prints and that were shown already."""
    echo = skipping(listeners.echo, heard)
    return run_native(
        program.network, app, options, lambda: program.emission.tables, echo=echo, progress=listeners.progress
    )


class _Overtaken(Exception):
    """The native program is ready: the run in Python ends."""


class _Race:
    """A run in Python beside which a program may be built that overtakes it."""

    def __init__(self, program: NativeProgram, options: RunOptions, listeners: RunListeners) -> None:
        self._program = program
        self._options = options
        self._listeners = listeners
        self._heard = 0
        self._started = time.monotonic()
        self._look_at = _LEAST_SECONDS
        self._build: _BackgroundBuild | None = None
        # What the program wrote into folders that were opened to it, a second run would find.
        self._hopeless = bool(options.allow_files)

    def run(self) -> RunResult:
        """Run in Python, or to the end of the program that was ready before."""
        options, network = self._options, self._program.network
        with tempfile.TemporaryDirectory(prefix="dse-program-") as scratch:
            self._scratch = Path(scratch)
            try:
                return run_network(network, options, echo=self._echo, progress=self._progress)
            except _Overtaken:
                app = self._ready()
                assert app is not None, "the program that overtakes is ready"
                return _run_natively(self._program, app, options, self._listeners, self._heard)
            finally:
                if self._build is not None:
                    self._build.end()

    def _echo(self, text: str) -> None:
        self._heard += len(text)
        if self._listeners.echo is not None:
            self._listeners.echo(text)

    def _progress(self, firings: int) -> None:
        if self._listeners.progress is not None:
            self._listeners.progress(firings)
        if not self._hopeless and time.monotonic() - self._started >= self._look_at:
            self._consider(firings)

    def _consider(self, firings: int) -> None:
        """Start the build when it may pay, and leave the run in Python when it is ready."""
        if self._build is None:
            self._plan(firings)
        elif self._build.failed:
            self._hopeless = True
        elif self._build.app is not None:
            raise _Overtaken

    def _plan(self, firings: int) -> None:
        """Start the build, or note when to think of it again."""
        try:
            seconds = self._program.build_seconds()
        except DseError:
            self._hopeless = True
            return
        passed = time.monotonic() - self._started
        most = self._options.max_firings
        left = passed * (most - firings) / max(1, firings) if most is not None else seconds
        if left < seconds:
            self._hopeless = True
        elif passed >= seconds:
            self._build = _BackgroundBuild(self._program, self._scratch)
        else:
            self._look_at = seconds

    def _ready(self) -> Path | None:
        return None if self._build is None else self._build.app


class _BackgroundBuild:
    """A build in a thread of its own, by compilers that give way to other work."""

    def __init__(self, program: NativeProgram, scratch: Path) -> None:
        self.app: Path | None = None
        self.failed = False
        self._program = program
        self._scratch = scratch
        self._tools = RunningTools(background=True)
        self._thread = threading.Thread(target=self._work, name="dse-build", daemon=True)
        self._thread.start()

    def _work(self) -> None:
        try:
            self.app = self._program.build(self._scratch, tools=self._tools, progress=lambda _done, _all: None)
        except (BuildError, NoNativeForm, OSError):  # the run goes on in Python
            self.failed = True

    def end(self) -> None:
        """End what is not ready, and wait for that."""
        self._tools.end()
        self._thread.join()
