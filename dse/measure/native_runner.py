"""Runs the native program of a network for measurements: bound to cores, with the state of the machine around it."""

import json
import tempfile
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from pathlib import Path
from typing import Any

from dse.base.digests import text_digest
from dse.base.errors import ExecutionError
from dse.base.files import write_whole
from dse.measure.gpu_times import gpu_times
from dse.measure.machine import RoundTrip
from dse.measure.runs import ProcessorCounts, RunOrder, RunRecord
from dse.native.execution import document_of_run, program_arguments
from dse.program.network import Network
from dse.run.options import RunOptions

_LEAST_LIMIT_S = 60.0
_LIMIT_RUNS = 100
"""Where no time limit is given, a run hangs that takes this time, and so many times as long as any before it."""
_MOST_PAIRS_OF = 4
"""Of so many cores all pairs are measured; of more, each with the first."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Apps:
    """The programs of a network: as users run it, and the one that reads the counter."""

    plain: Path
    timed: Path


class NativeRunner:
    """Runs the programs of a network; a ``Program`` of ``dse.measure.runs``.

    ``cores``: those that threads are bound to, and between which round trips are measured. ``time_limit_s``: of one
    run; None: the first one may take as long as it does, later ones much longer than those before them.
    """

    def __init__(
        self,
        network: Network,
        apps: Apps,
        options: RunOptions,
        cores: Sequence[int],
        time_limit_s: float | None = None,
    ) -> None:
        self._network = network
        self._apps = apps
        self._options = options
        self._pairs = core_pairs(cores)
        self._time_limit_s = time_limit_s
        self._longest_s = 0.0

    def run(self, order: RunOrder) -> RunRecord:
        """Run a program. Raises ``ExecutionError`` where it fails, crashes, or takes too long."""
        with tempfile.TemporaryDirectory(prefix="dse-measure-") as folder:
            document, printed = self._document(order, Path(folder))
        machine = document.get("machine")
        if not isinstance(machine, dict):
            raise ExecutionError("the native program does not tell of the machine", expected="build it again")
        return RunRecord(
            run_ns=_run_ns(document),
            counts=_counts(machine),
            result=_digest(document, printed),
            trips=_trips(machine),
            switches=_switches(machine),
            stalls=_stalls(machine),
            cpu_ns=_cpu_ns(machine),
            gpu=gpu_times(document),
        )

    def _document(self, order: RunOrder, folder: Path) -> tuple[dict[str, Any], str]:
        """Return what the program tells of its run, and what it prints."""
        hashed = self._options.hash_channels or order.hashed
        options = replace(self._options, input=order.input, hash_channels=hashed)
        app = self._apps.timed if order.timed else self._apps.plain
        command = [app, *program_arguments(self._network, options), "--pin", *_own_arguments(order, folder)]
        if self._pairs:
            command += ["--ping-pong", ",".join(str(core) for pair in self._pairs for core in pair)]
        document, ended = document_of_run(command, folder, time_limit_s=self._limit_s())
        self._longest_s = max(self._longest_s, ended.seconds)
        return document, ended.output

    def _limit_s(self) -> float | None:
        if self._time_limit_s is not None or self._longest_s == 0.0:
            return self._time_limit_s
        return max(_LEAST_LIMIT_S, _LIMIT_RUNS * self._longest_s)


def core_pairs(cores: Sequence[int]) -> tuple[tuple[int, int], ...]:
    """Return the pairs of cores whose distance is measured."""
    if len(cores) <= _MOST_PAIRS_OF:
        return tuple(combinations(cores, 2))
    return tuple((cores[0], core) for core in cores[1:])


def _own_arguments(order: RunOrder, folder: Path) -> list[str | Path]:
    """Return the arguments that only measurements need."""
    files = (("--mapping", order.mapping), ("--raw", order.records), ("--trace", order.trace), ("--fifos", order.fifos))
    arguments: list[str | Path] = [part for name, path in files if path is not None for part in (name, path)]
    if order.records is not None and order.every != 1:
        arguments += ["--raw-every", str(order.every)]
    if order.singular:
        arguments += ["--gpu-blocks", "1", "--gpu-threads", "1"]
    if order.singly:
        listed = folder / "singly"
        write_whole(listed, "".join(f"{actor} {action}\n" for actor, action in order.singly))
        arguments += ["--singly", listed]
    return arguments


def _run_ns(document: dict[str, Any]) -> int:
    times = document.get("times")
    length = times.get("run_ns") if isinstance(times, dict) else None
    if not isinstance(length, int) or length <= 0:
        raise ExecutionError("the native program does not tell how long it ran", expected="build it again")
    return length


def _digest(document: dict[str, Any], printed: str) -> str:
    """Return the digest of what a run computed: firings of each action, tokens of each FIFO, pictures, text.

    Of the text the number of each character: where actors on several cores print, time tells whose comes first, even
    within a line.
    """
    told = [document.get(key) for key in ("why", "exit_code", "frames", "comparison")]
    told += [[entry.get("actions") for entry in document.get("actors", ())]]
    told += [[(entry.get("tokens"), entry.get("hash")) for entry in document.get("channels", ())]]
    return text_digest(json.dumps([told, sorted(Counter(printed).items())]))


def _counts(machine: dict[str, Any]) -> ProcessorCounts | None:
    """Return what the processor counted of all threads, None where one of them was not allowed to count."""
    threads = machine.get("threads") or ()
    counted = [[thread.get(key) for thread in threads] for key in ("cycles", "instructions")]
    if not threads or any(value is None for values in counted for value in values):
        return None
    cycles, instructions = (sum(map(int, values)) for values in counted)
    return ProcessorCounts(cycles=cycles, instructions=instructions)


def _trips(machine: dict[str, Any]) -> tuple[RoundTrip, ...]:
    """Return the round trips around a run; those that could not be measured are left out."""
    found = []
    for trip in machine.get("ping_pong", ()):
        first, second = trip["cores"]
        before, after = float(trip["before_ns"]), float(trip["after_ns"])
        if before > 0 and after > 0:
            work_ns = tuple(map(float, trip.get("work_ns", ())))
            found.append(RoundTrip(cores=(int(first), int(second)), before_ns=before, after_ns=after, work_ns=work_ns))
    return tuple(found)


def _switches(machine: dict[str, Any]) -> int | None:
    """Return the involuntary switches of all threads, None where they are not told."""
    threads = machine.get("threads")
    return sum(int(thread.get("involuntary_switches", 0)) for thread in threads) if threads else None


def _stalls(machine: dict[str, Any]) -> int | None:
    """Return how often threads gave up their core beside the sleeps of their own waiting, None where it is not told."""
    threads = machine.get("threads") or ()
    told = [(thread.get("voluntary_switches"), thread.get("sleeps")) for thread in threads]
    if not told or any(None in pair for pair in told):
        return None
    return sum(max(0, int(switches) - int(sleeps)) for switches, sleeps in told)


def _cpu_ns(machine: dict[str, Any]) -> int | None:
    """Return how long all threads together had a core, None where it is not told."""
    times = [thread.get("cpu_ns") for thread in machine.get("threads", ())]
    return sum(times) if times and None not in times else None
