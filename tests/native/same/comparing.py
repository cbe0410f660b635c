"""One network run in Python and natively, and what differs: everything that a run tells, errors with their places."""

import tempfile
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path

import numpy as np

from dse.base.diagnostics import render
from dse.base.errors import DseError
from dse.formats.xcf_write import write_xcf
from dse.model.design_point import DesignPoint, Partition
from dse.native.build import BuildOptions
from dse.native.execution import run_native
from dse.native.program import NativeProgram, ProgramKind
from dse.native.toolchain import Compiler, find_compiler
from dse.program.network import Network
from dse.run.execution import RunResult, run_network
from dse.run.instance import capacities
from dse.run.options import RunOptions
from dse.run.record import topology_of
from dse.run.replay import replay_run
from tests.native.shared import one_worker, shared_folder, warm_once

Outcome = RunResult | str
"""What a run gave, or the text of the error that ended it."""
PLAIN = BuildOptions(jobs=1)
ADDRESS = BuildOptions(jobs=1, sanitize=("address", "undefined"))
THREAD = BuildOptions(jobs=1, sanitize=("thread",))
TIME_LIMIT_S = 300.0


@cache
def compiler() -> Compiler | None:
    """Return the compiler of this machine, or None."""
    try:
        return find_compiler()
    except DseError:
        return None


def sanitizes(build: BuildOptions) -> bool:
    """Return whether the compiler can build so; zig's has no runtime of the sanitizers."""
    found = compiler()
    return found is not None and not (build.sanitize and "zig" in " ".join(map(str, found.command)))


@dataclass(frozen=True, slots=True, kw_only=True)
class Built:
    """A network with its native program."""

    network: Network
    program: NativeProgram
    app: Path

    def run(self, options: RunOptions, mapping: Path | None = None, *arguments: str) -> Outcome:
        """Return what the program gives; ``mapping``: an XCF that says which actor runs where; more ``arguments``."""
        return outcome(
            lambda: run_native(
                self.network,
                self.app,
                options,
                lambda: self.program.emission.tables,
                mapping=mapping,
                arguments=arguments,
                time_limit_s=TIME_LIMIT_S,
            )
        )


def built(network: Network, build: BuildOptions = PLAIN, *, rounds: bool = False) -> Built:
    """Return the program of a network. Raises ``NoNativeForm``, ``BuildError``."""
    found = compiler()
    assert found is not None, "a test that builds asks for a compiler first"
    program = NativeProgram(network, ProgramKind(rounds=rounds, build=build), found)
    warm_once(build)
    with one_worker(shared_folder() / f"{program.key}.lock"):
        app = program.kept()
        if app is None:
            with tempfile.TemporaryDirectory(prefix="dse-same-") as scratch:
                app = program.build(Path(scratch), progress=lambda _done, _all: None)
    return Built(network=network, program=program, app=app)


def on_two_threads(of: Built, options: RunOptions, folder: Path) -> Outcome:
    """Return what a program gives on two threads; neighbours in the list of actors are on different ones."""
    actors = tuple(range(len(of.network.instances)))
    parts = tuple(Partition(name=f"p{k}", actors=actors[k::2], unit=f"p{k}") for k in range(2) if actors[k::2])
    path = folder / "two.xcf"
    point = DesignPoint(partitions=parts, capacities=capacities(of.network, options.fifo_tokens))
    write_xcf(point, topology_of(of.network), str(path))
    return of.run(options, path)


def illegal_on_two_threads(network: Network, options: RunOptions, folder: Path) -> list[str]:
    """Return what a run on two threads does that it must not do, the sanitizer of threads being one of its judges."""
    native = on_two_threads(built(network, THREAD), options, folder)
    if isinstance(native, str):
        return [native]
    replay = replay_run(network, native.trace.firings, options)
    return [str(i) for i in replay.illegal] + _first_difference("channel", replay.channels, native.channels)


def outcome(run: Callable[[], RunResult]) -> Outcome:
    """Return what a run gives, an error as it is shown."""
    try:
        return run()
    except DseError as error:
        return "\n".join(render(d) for d in error.diagnostics)


def compared(of: Built, options: RunOptions, folder: Path) -> list[str]:
    """Return what differs between both executions; files go to folders of their own below ``folder``."""
    outcomes = []
    for name, run in (("python", lambda o: outcome(lambda: run_network(of.network, o))), ("native", of.run)):
        place = folder / name
        place.mkdir(parents=True, exist_ok=True)
        outcomes.append(run(with_files(options, place)))
    found = differences(*outcomes)
    return found + written_alike(folder / "python", folder / "native")


def with_files(options: RunOptions, folder: Path) -> RunOptions:
    """Return options by which what is written lies in a folder."""
    named = {"output": options.output, "write": options.write}
    return replace(
        options,
        files=str(folder / "files"),
        **{key: None if name is None else str(folder / name) for key, name in named.items()},
    )


def written_alike(first: Path, second: Path) -> list[str]:
    """Return which files below two folders differ."""
    names = sorted({p.relative_to(root) for root in (first, second) for p in root.rglob("*") if p.is_file()})
    return [f"the file {n} differs" for n in names if _content(first / n) != _content(second / n)]


def _content(path: Path) -> bytes | None:
    return path.read_bytes() if path.is_file() else None


def differences(python: Outcome, native: Outcome) -> list[str]:
    """Return what differs between what two executions gave."""
    if isinstance(python, str) or isinstance(native, str):
        return [] if python == native else [f"Python: {_ended(python)}\nnative: {_ended(native)}"]
    found = []
    for name in ("why", "exit_code", "frames", "comparison", "idle_tail", "deadlock"):
        ours, theirs = getattr(python, name), getattr(native, name)
        if ours != theirs:
            found.append(f"{name}: {ours} in Python, {theirs} natively")
    found += trace_differences(python, native)
    found += _first_difference("standard output", python.stdout.splitlines(), native.stdout.splitlines())
    found += _first_difference("channel", python.channels, native.channels)
    found += _first_difference("wait", python.waits, native.waits)
    found += _first_difference("warning", [render(d) for d in python.warnings], [render(d) for d in native.warnings])
    found += _first_difference("rounds", python.trace.rounds, native.trace.rounds)
    return found


def trace_differences(python: RunResult, native: RunResult) -> list[str]:
    """Return which actors have other traces, and from which firing on."""
    found = []
    for actor, ours, theirs in zip(
        python.trace.topology.actors, python.trace.firings, native.trace.firings, strict=True
    ):
        if not np.array_equal(ours, theirs):
            shorter = min(len(ours), len(theirs))
            others = np.flatnonzero(ours[:shorter] != theirs[:shorter])
            first = int(others[0]) if len(others) else shorter
            found.append(
                f"the trace of {actor.name} ({len(ours)} and {len(theirs)} firings) differs from firing {first} on:"
                f" {_names(actor.actions, ours, first)} in Python, {_names(actor.actions, theirs, first)} natively"
            )
    return found


def _names(actions: tuple[object, ...], ids: np.ndarray, first: int) -> list[str]:
    return [str(getattr(actions[k], "name", k)) for k in ids[first : first + 3]]


def _first_difference(what: str, python: object, native: object) -> list[str]:
    ours, theirs = list(python), list(native)  # type: ignore[call-overload]
    if ours == theirs:
        return []
    place = next((k for k, (a, b) in enumerate(zip(ours, theirs, strict=False)) if a != b), min(len(ours), len(theirs)))
    return [f"{what} {place}: {ours[place : place + 1]} in Python, {theirs[place : place + 1]} natively"]


def _ended(of: Outcome) -> str:
    return of if isinstance(of, str) else f"{of.n_firings} firings, {of.why}"
