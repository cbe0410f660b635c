"""Runs cases in a process of its own, which a case may hang or crash, and keeps what is needed to run a fault again.

A case is a target and a number: the same two make the same case, as long as the corpus is the same. ``Driver`` deals
the cases out; ``work`` is the other process, which answers a line before and a line after each case.
"""

import itertools
import json
import queue
import random
import shutil
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias

from tests.fuzz.behaviour import SECONDS, WAITING, limit_memory

Attack: TypeAlias = Callable[[random.Random, Path], str | None]
"""Makes one case by chance and runs it in this process; the folder holds a scene, for this case alone. Returns the
fault, or None where ``dse`` behaved."""
CRASHED = "the process ended within the case"
_MEMORY_MEGABYTES = 6000
_PATIENCE = (WAITING + 2) * SECONDS
ROOT = Path(__file__).parents[2]


@dataclass(frozen=True, slots=True)
class Case:
    """Case ``number`` of a target."""

    target: str
    number: int

    def __str__(self) -> str:
        return f"{self.target}:{self.number}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Fault:
    """What went wrong in a case. ``kept``: a copy of its folder, with what it did in ``fault.txt``."""

    case: Case
    text: str
    kept: Path | None

    @property
    def kind(self) -> str:
        """What tells it from other faults: the exception and the innermost of our own lines, or the first line."""
        lines = [line for line in self.text.strip().splitlines() if not line.startswith("dse ")] or [""]
        ours = [line.strip() for line in lines if 'File "' in line and "/dse/" in line]
        if not ours:
            return lines[0][:120]
        place = ours[-1].split("/dse/")[-1].replace('"', "")
        return f"{lines[-1].split(':')[0][:60]} at dse/{place}"


def run_case(attack: Attack, case: Case, scene: Path, keep: Path) -> Fault | None:
    """Run one case in this process; the folder of a fault is copied below ``keep``."""
    with tempfile.TemporaryDirectory(prefix="dse-fuzz-") as temporary:
        folder = Path(temporary) / "case"
        shutil.copytree(scene, folder, symlinks=True)
        text = attack(random.Random(str(case)), folder)
        if text is None:
            return None
        kept = keep / f"{case.target}-{case.number}"
        shutil.rmtree(kept, ignore_errors=True)
        shutil.copytree(folder, kept, symlinks=True, dirs_exist_ok=True)
        (kept / "fault.txt").write_text(text, encoding="utf-8", errors="backslashreplace")
        return Fault(case=case, text=text, kept=kept)


def work(attacks: Mapping[str, Attack], scene: Path, keep: Path) -> None:
    """Run the cases that standard input names, ``target number`` a line, until it ends."""
    limit_memory(_MEMORY_MEGABYTES)
    answers = sys.stdout
    sys.stdout = sys.stderr
    for line in sys.stdin:
        target, number = line.split()
        case = Case(target, int(number))
        fault = run_case(attacks[target], case, scene, keep)
        answer = {"fault": None if fault is None else fault.text, "kept": None if fault is None else str(fault.kept)}
        print(json.dumps(answer), file=answers, flush=True)


class Worker:
    """The other process, started again whenever a case has taken it down."""

    def __init__(self, scene: Path, keep: Path) -> None:
        self._arguments = ["--work", str(scene), str(keep)]
        self._process: subprocess.Popen[str] | None = None
        self._answers: queue.Queue[str] = queue.Queue()

    def run(self, case: Case) -> Fault | None:
        """Return the fault of a case, or None."""
        process = self._started()
        assert process.stdin is not None, "it is a pipe"
        try:
            print(case.target, case.number, file=process.stdin, flush=True)
            line = self._answers.get(timeout=_PATIENCE)
        except queue.Empty:
            line = ""
        except BrokenPipeError:
            line = ""
        if not line:
            return self._lost(case, process)
        answer = json.loads(line)
        if answer["fault"] is None:
            return None
        return Fault(case=case, text=answer["fault"], kept=Path(answer["kept"]))

    def close(self) -> None:
        """End the process."""
        if self._process is not None:
            self._process.kill()
            self._process.wait()
            self._process = None

    def _started(self) -> "subprocess.Popen[str]":
        if self._process is None:
            command = [sys.executable, "-m", "tests.fuzz", *self._arguments]
            pipe = subprocess.PIPE
            self._process = subprocess.Popen(
                command, cwd=ROOT, stdin=pipe, stdout=pipe, stderr=subprocess.DEVNULL, text=True
            )
            self._answers = queue.Queue()
            threading.Thread(target=_forward, args=(self._process, self._answers), daemon=True).start()
        return self._process

    def _lost(self, case: Case, process: "subprocess.Popen[str]") -> Fault:
        code = process.poll()
        self.close()
        text = f"hangs where no signal is heard, for {_PATIENCE:g} s" if code is None else f"{CRASHED} (code {code})"
        return Fault(case=case, text=text, kept=None)


def _forward(process: "subprocess.Popen[str]", answers: "queue.Queue[str]") -> None:
    """Put the lines of a process into a queue, and an empty one at their end."""
    assert process.stdout is not None, "it is a pipe"
    for line in process.stdout:
        answers.put(line)
    answers.put("")


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """What a run of the fuzzers did: cases of each target, and the faults."""

    cases: Mapping[str, int]
    faults: tuple[Fault, ...]
    seconds: float


def run_cases(cases: Iterator[Case], jobs: int, scene: Path, keep: Path, seconds: float | None = None) -> Outcome:
    """Run cases on ``jobs`` processes until there are none left, or the time is over."""
    started = time.monotonic()
    counts: dict[str, int] = {}
    faults: list[Fault] = []
    lock = threading.Lock()

    def serve() -> None:
        worker = Worker(scene, keep)
        while seconds is None or time.monotonic() - started < seconds:
            with lock:
                case = next(cases, None)
            if case is None:
                break
            fault = worker.run(case)
            with lock:
                counts[case.target] = counts.get(case.target, 0) + 1
                faults.extend([] if fault is None else [fault])
        worker.close()

    threads = [threading.Thread(target=serve) for _ in range(jobs)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    faults.sort(key=lambda fault: (fault.case.target, fault.case.number))
    return Outcome(cases=counts, faults=tuple(faults), seconds=time.monotonic() - started)


def endless(targets: Sequence[str], first: int) -> Iterator[Case]:
    """Yield cases of all targets in turn, for ever, from number ``first``."""
    for number in itertools.count(first):
        for target in targets:
            yield Case(target, number)


def fixed(counts: Mapping[str, int], first: int) -> Iterator[Case]:
    """Yield so many cases of each target, from number ``first``, the targets in turn."""
    for number in range(max(counts.values(), default=0)):
        for target, count in counts.items():
            if number < count:
                yield Case(target, first + number)
