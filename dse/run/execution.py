"""Running a network in Python: from options to what it put out, how it ended, and its trace."""

import contextlib
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, TypeAlias

from dse.base.collector import collector_paused
from dse.base.diagnostics import in_reading_order
from dse.base.errors import Diagnostic, ExecutionError, OptionError
from dse.base.folders import results_folder
from dse.base.source import Span
from dse.model.trace import Trace
from dse.program.network import Network
from dse.run.diagnose import Deadlock, Wait, find_deadlock, find_waits
from dse.run.instance import Fabric, RunningActor, Workshop, build_fabric
from dse.run.memory import memory_wall
from dse.run.natives.access import FileAccess
from dse.run.natives.context import NativeContext
from dse.run.natives.registry import NativeBindings
from dse.run.natives.screen import Comparison, Screen
from dse.run.options import RunOptions
from dse.run.record import record_trace, without_tail
from dse.run.schedule import Scheduler, StopRules, Why

__all__ = ["ChannelResult", "RunOptions", "RunResult", "run_network"]


Execution: TypeAlias = Literal["python", "native"]
"""What has run a network. The results are the same."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ChannelResult:
    """What went through one connection: tokens written, tokens left, hash of all (golden records) if asked for."""

    name: str
    tokens: int
    left: int
    digest: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class RunResult:
    """What a run did. ``actions[i][k]``: firings of action k of instance i, initializers included."""

    why: Why
    exit_code: int
    n_firings: int
    actions: tuple[tuple[int, ...], ...]
    channels: tuple[ChannelResult, ...]
    stdout: str
    frames: int
    outputs: tuple[str, ...]
    """Files written."""
    comparison: Comparison | None
    waits: tuple[Wait, ...]
    deadlock: Deadlock | None
    warnings: tuple[Diagnostic, ...]
    trace: Trace
    idle_tail: tuple[int, ...] = ()
    """Of a run that ended because no token moved any more: firings of each actor after the last one that moved one."""
    execution: Execution = "python"
    batched: tuple[int, ...] = ()
    """Firings of each actor that several threads of a GPU made at once; empty without a GPU."""
    shared_rounds: tuple[int, ...] = ()
    """Rounds of loops of each actor that several threads of a GPU did; empty without a GPU."""
    inputs: tuple[str, ...] = ()
    """Files that natives opened for reading by name: those of a folder given as input, and the program's own."""

    @property
    def settled_trace(self) -> Trace:
        """The trace without the idle tail, for which nobody waits: what is to be estimated."""
        return without_tail(self.trace, self.idle_tail)

    @property
    def tokens_left(self) -> int:
        """Tokens that no actor has read."""
        return sum(c.left for c in self.channels)


def run_network(
    network: Network,
    options: RunOptions,
    *,
    echo: Callable[[str], object] | None = None,
    progress: Callable[[int], None] | None = None,
) -> RunResult:
    """Run a network until it stops; ``echo`` gets what it prints at once, ``progress`` the firings now and then.

    Raises:
        ExecutionError: the input is missing or empty, a native is unknown, an action fails.
        OptionError: an option has an impossible value.
    """
    check_run(network, options)
    printed: list[str] = []

    def output(text: str) -> None:
        printed.append(text)
        if echo is not None:
            echo(text)

    files = Path(options.files) if options.files is not None else results_folder(network.name) / "files"
    access = FileAccess(options, Path(network.path).parent, files)
    context = NativeContext(options, output, access, Screen(options))
    fabric = build_fabric(network, options.fifo_tokens, hashing=options.hash_channels)
    with contextlib.closing(context), memory_wall(options.max_memory_bytes) as wall:
        bindings = NativeBindings(context, options.natives)
        states, moved = [1] * len(network.instances), [0]
        workshop = Workshop(fabric, accesses=options.record_accesses, rounds=options.count_rounds)
        natives = [bindings.bind(i.actor) for i in network.instances]
        bindings.check_overrides()
        with collector_paused():
            actors = [workshop.build(k, states, moved, output, natives[k]) for k in range(len(network.instances))]
        rules = StopRules(max_firings=options.max_firings, idle_firings=options.idle_firings)
        scheduler = Scheduler(actors, states, moved, rules, progress, wall)
        why = scheduler.run()
    if context.input_bytes == b"":
        raise ExecutionError(f"the input '{options.input}' is empty")
    waits = find_waits(network, actors, fabric) if why == "quiescent" else ()
    return RunResult(
        why=why,
        exit_code=scheduler.exit_code,
        n_firings=scheduler.n_firings,
        actions=tuple(_counts(a) for a in actors),
        channels=channel_results(network, fabric, hashed=options.hash_channels),
        stdout="".join(printed),
        frames=context.screen.frames,
        outputs=(*access.written, *context.screen.files),
        comparison=context.screen.comparison,
        waits=waits,
        deadlock=find_deadlock(network, waits, fabric),
        warnings=_warnings(actors, options, context),
        trace=record_trace(network, actors, accesses=options.record_accesses, rounds=options.count_rounds),
        idle_tail=scheduler.idle_tail() if why == "livelock" else (),
        inputs=tuple(access.read),
    )


def check_run(network: Network, options: RunOptions) -> None:
    """Raise what can be known to be wrong before anything runs.

    Raises:
        OptionError: an option has an impossible value. ExecutionError: an actor has no behaviour.
    """
    for value, name in ((options.fifo_tokens, "FIFO size"), (options.loops, "number of loops")):
        if value < 1:
            raise OptionError(f"the {name} is {value}, must be at least 1")
    for bound, name in ((options.frames, "number of frames"), (options.max_firings, "number of firings")):
        if bound is not None and bound < 1:
            raise OptionError(f"the {name} is {bound}, must be at least 1")
    for instance in network.instances:
        if instance.actor.native:
            raise ExecutionError(
                f"'{instance.name}' is a native actor ({instance.actor.name}): it has no behaviour to run",
                span=instance.actor.span,
            )


def _counts(actor: RunningActor) -> tuple[int, ...]:
    counts = Counter(actor.archive)
    return tuple(counts[k] for k in range(len(actor.compiled.actor.actions)))


def channel_results(network: Network, fabric: Fabric, *, hashed: bool) -> tuple[ChannelResult, ...]:
    """Return what went through each connection of a network; ``hashed``: the fabric has kept hashes."""
    digests = {key: b.final_hash() for key, b in fabric.buffers.items()} if hashed else {}
    return tuple(
        ChannelResult(
            name=network.connection_name(c),
            tokens=fabric.buffer(c).written,
            left=fabric.buffer(c).left(fabric.readers[k]),
            digest=digests.get((c.source, c.source_port)),
        )
        for k, c in enumerate(network.connections)
    )


def _warnings(actors: list[RunningActor], options: RunOptions, context: NativeContext) -> tuple[Diagnostic, ...]:
    """Return a warning for each place that accessed a list out of bounds, and for options without effect."""
    strays = (
        (*actor.compiled.sites[site], count) for actor in actors for site, count in sorted(actor.strays.counts.items())
    )
    reads_input = context.input_bytes is not None or context.asked_input
    return (
        *stray_warnings(strays),
        *option_warnings(options, reads_input=reads_input, reads_loops=context.asked_loops),
    )


def stray_warnings(strays: Iterable[tuple[Span, str, int]]) -> tuple[Diagnostic, ...]:
    """Return one warning for each place; ``strays``: place, name of the list, and number of accesses out of bounds."""
    sites: Counter[tuple[Span, str]] = Counter()
    for span, name, count in strays:
        sites[span, name] += count
    return in_reading_order(
        Diagnostic(
            message=f"'{name}' was accessed out of bounds {count} times; reads gave 0, writes were dropped",
            span=span,
            severity="warning",
        )
        for (span, name), count in sites.items()
    )


def option_warnings(options: RunOptions, *, reads_input: bool, reads_loops: bool) -> tuple[Diagnostic, ...]:
    """Return a warning for each option that had no effect on the run."""
    found = []
    if options.input is not None and not reads_input:
        found.append(Diagnostic(message="the network reads no input; -i has no effect", severity="warning"))
    if options.loops > 1 and not reads_loops:
        found.append(Diagnostic(message="the network reads its input once; -l has no effect", severity="warning"))
    return tuple(found)
