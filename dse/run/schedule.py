"""Fair round robin over the actors of a network, with a burst limit, until nothing can fire or a stop rule holds.

"Run each actor until it blocks" would starve the others: some actors fire for ever without I/O (cal.md 2.3).
"""

import sys
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal, TypeAlias

from dse.base.errors import ExecutionError
from dse.run.instance import RunningActor, fault_place
from dse.run.natives.context import InputRefused, ProgramExit, SourceExhausted

Why: TypeAlias = Literal["quiescent", "livelock", "budget", "exit", "frames"]
"""Why a run ended: nothing can fire; idle firings only; firing budget spent; ended by a native; frames shown."""

_FLUSH_FIRINGS = 1 << 16
_PROGRESS_FIRINGS = 1 << 18
_FAULTS = (ArithmeticError, ValueError, IndexError, KeyError, TypeError, RecursionError, MemoryError)


@dataclass(frozen=True, slots=True, kw_only=True)
class StopRules:
    """When a run ends although actors could fire. ``idle_firings``: firings in a row without one token moving."""

    max_firings: int | None = None
    idle_firings: int = 100_000
    burst_firings: int = 4096


class Scheduler:
    """Runs the actors of one network. ``states`` and ``moved`` are shared with the generated code."""

    def __init__(
        self,
        actors: list[RunningActor],
        states: list[int],
        moved: list[int],
        rules: StopRules,
        progress: Callable[[int], None] | None = None,
    ) -> None:
        self.actors = actors
        self.states = states
        self.moved = moved
        self.rules = rules
        self.progress = progress
        self.finished: set[int] = set()
        self.exit_code = 0
        self._reported = 0
        # A guard that calls a native may change its value without any token having moved.
        self._retried = [a.index for a in actors if any(x.guard_calls_native for x in a.compiled.facts.accesses)]

    @property
    def n_firings(self) -> int:
        """Firings of all actors so far."""
        return sum(a.n_firings for a in self.actors)

    def run(self) -> Why:
        """Run the initializers, then fire until a reason to stop is found; return it."""
        try:
            for actor in self.actors:
                self._resume(actor, None)
            return self._rounds()
        except ProgramExit as stop:
            self.exit_code = stop.exit_code
            return "frames" if stop.frames else "exit"
        finally:
            for actor in self.actors:
                actor.flush()

    def _rounds(self) -> Why:
        fired_total = self.n_firings
        idle = 0
        states, moved = self.states, self.moved
        limit = sys.maxsize if self.rules.max_firings is None else self.rules.max_firings
        while True:
            moved[0] = 0
            fired = 0
            for actor in self.actors:
                if states[actor.index] == 1:
                    burst = min(self.rules.burst_firings, limit - fired_total - fired)
                    if burst <= 0:
                        return "budget"
                    fired += self._resume(actor, burst)
            fired_total += fired
            self._report(fired_total)
            idle = 0 if moved[0] else idle + fired
            if idle >= self.rules.idle_firings:
                return "livelock"
            if not fired and self._is_quiescent():
                return "quiescent"

    def _is_quiescent(self) -> bool:
        """Return whether nothing can fire, not even an actor whose guards depend on natives."""
        return 1 not in self.states and not self._retry()

    def _report(self, fired: int) -> None:
        """Tell how many firings there were, now and then."""
        if self.progress is not None and fired - self._reported >= _PROGRESS_FIRINGS:
            self._reported = fired
            self.progress(fired)

    def _retry(self) -> bool:
        """Let the actors whose guards depend on natives try once more; return whether one of them fired."""
        fired = 0
        for index in self._retried:
            if index not in self.finished:
                fired += self._resume(self.actors[index], 1)
        return fired > 0

    def _resume(self, actor: RunningActor, burst: int | None) -> int:
        """Let an actor fire; return how many firings it made. Faults of its code become errors with their place."""
        try:
            fired = next(actor.generator) if burst is None else actor.generator.send(burst)
        except StopIteration:
            # Woken by a neighbour after it had ended.
            self.states[actor.index] = 0
            return 0
        except SourceExhausted:
            self.finished.add(actor.index)
            self.states[actor.index] = 0
            self._after_end()
            return 1
        except InputRefused:
            raise
        except ExecutionError as error:
            raise self._placed(actor, error, error.diagnostics[0].message) from error
        except _FAULTS as fault:
            raise self._placed(actor, fault, _fault_text(fault)) from fault
        if len(actor.firings) >= _FLUSH_FIRINGS:
            actor.flush()
        return fired

    def _after_end(self) -> None:
        """Wake the neighbours of an actor that ended in the middle of a burst: it may have moved tokens before."""
        self.moved[0] = 1
        for index in range(len(self.states)):
            if index not in self.finished:
                self.states[index] = 1

    def _placed(self, actor: RunningActor, fault: BaseException, message: str) -> ExecutionError:
        """Return the error that says where in the program a fault happened."""
        owner, span = fault_place(actor, fault)
        where = f"in '{actor.name}'" + (f", {owner}" if owner else "")
        expected = fault.diagnostics[0].expected if isinstance(fault, ExecutionError) else ""
        return ExecutionError(f"{where}: {message}", span=span, expected=expected)


def _fault_text(fault: BaseException) -> str:
    match fault:
        case ZeroDivisionError():
            return "division by zero"
        case RecursionError():
            return "the recursion is too deep"
        case MemoryError() | OverflowError():
            return "a value becomes too large"
        case ValueError() if "shift" in str(fault):
            return "a shift by a negative count"
        case _:
            return f"{type(fault).__name__}: {fault}"
