"""Fair round robin over the actors of a network, with a burst limit, until nothing can fire or a stop rule holds.

"Run each actor until it blocks" would starve the others: some actors fire for ever without I/O (cal.md 2.3).
"""

import struct
import sys
from collections.abc import Callable
from dataclasses import dataclass
from time import monotonic
from typing import Literal, TypeAlias

from dse.base.errors import ExecutionError
from dse.base.source import Span
from dse.run.instance import RunningActor, fault_place, fault_text
from dse.run.memory import MemoryWall, out_of_memory
from dse.run.natives.context import InputRefused, ProgramExit, SourceExhausted
from dse.run.recursion import room_for_recursion

Why: TypeAlias = Literal["quiescent", "livelock", "budget", "exit", "frames"]
"""Why a run ended: nothing can fire; idle firings only; firing budget spent; ended by a native; frames shown."""

_FLUSH_FIRINGS = 1 << 16
_PROGRESS_FIRINGS = 1 << 12
_PROGRESS_SECONDS = 0.25
_FAULTS = (ArithmeticError, ValueError, LookupError, TypeError, AttributeError, RecursionError, struct.error)


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
        wall: MemoryWall | None = None,
    ) -> None:
        self.wall = wall or MemoryWall()
        self.actors = actors
        self.states = states
        self.moved = moved
        self.rules = rules
        self.progress = progress
        self.finished: set[int] = set()
        self.exit_code = 0
        self._next_report = _PROGRESS_FIRINGS
        self._reported_s = monotonic()
        self._made = [0] * len(actors)
        """Firings of each actor, as its bursts told them."""
        self._last_move: tuple[list[int], list[int]] = ([], [])
        """``_made`` at the start and the end of the last round in which a token moved; empty where there was none."""
        # An actor with a connection to itself says in each burst that tokens moved.
        self._looped = any(a.compiled.wiring.loops for a in actors)
        # A guard that calls a native may change its value without any token having moved.
        self._retried = [a.index for a in actors if any(x.guard_calls_native for x in a.compiled.facts.accesses)]

    @property
    def n_firings(self) -> int:
        """Firings of all actors so far."""
        return sum(a.n_firings for a in self.actors)

    @room_for_recursion()
    def run(self) -> Why:
        """Run the initializers, then fire until a reason to stop is found; return it.

        What interrupts it, as ``KeyboardInterrupt`` does, gets a note that says where the run was.
        """
        try:
            for actor in self.actors:
                self._resume(actor, None)
            return self._rounds()
        except ProgramExit as stop:
            self.exit_code = stop.exit_code
            return "frames" if stop.frames else "exit"
        except MemoryError as fault:  # not by an actor but by what is kept of all of them
            self.wall.lift()
            message, expected = out_of_memory(self.wall, self.n_firings)
            raise ExecutionError(message, expected=expected) from fault
        except KeyboardInterrupt as interrupt:
            if not hasattr(interrupt, "__notes__"):  # it came between two actors
                interrupt.add_note(f"the run had made {self.n_firings:,} firings")
            raise
        finally:
            self.wall.lift()
            for actor in self.actors:
                actor.flush()

    def _rounds(self) -> Why:  # ways: the innermost loop of a run, flat because calls would cost
        states, moved, limit = self.states, self.moved, self.rules.max_firings or sys.maxsize
        self._made = made = [a.n_firings for a in self.actors]
        total, idle = sum(made), 0
        start = made.copy()
        if moved[0] and self._has_moves([0] * len(made), made):  # by an initializer
            self._last_move = (start, start)
        while True:
            moved[0] = 0
            before = total
            for index, actor in enumerate(self.actors):
                if states[index] == 1:
                    if total >= limit:
                        return "budget"
                    fired = self._resume(actor, min(self.rules.burst_firings, limit - total))
                    made[index] += fired
                    total += fired
                    if total >= self._next_report:
                        self._report(total)
            if total == before and 1 not in states:
                total += self._retry()
                if total == before and 1 not in states:
                    return "quiescent"
            end = made.copy()
            if moved[0]:
                idle = 0
                if not self._looped or self._has_moves(start, end):
                    self._last_move = (start, end)
            else:
                idle += total - before
            start = end
            if idle >= self.rules.idle_firings:
                return "livelock"
            if self.progress is not None and monotonic() - self._reported_s > _PROGRESS_SECONDS:
                self._report(total)  # where firings are long, they are few

    def _has_moves(self, start: list[int], end: list[int]) -> bool:
        """Return whether a token was read or written between two counts of firings."""
        return any(_end_of_moves(a, start[a.index], end[a.index]) > start[a.index] for a in self.actors)

    def idle_tail(self) -> tuple[int, ...]:
        """Return how many firings of each actor come after the last firing of all that read or wrote a token.

        Where none ever did, nothing is a tail.
        """
        before, after = self._last_move
        if not after:
            return (0,) * len(self.actors)
        kept = list(after)
        for actor in reversed(self.actors):
            first = before[actor.index]
            kept[actor.index] = _end_of_moves(actor, first, after[actor.index])
            if kept[actor.index] > first:
                break
        return tuple(a.n_firings - n for a, n in zip(self.actors, kept, strict=True))

    def _report(self, fired: int) -> None:
        """Tell how many firings there were, now and then."""
        self._next_report = fired + _PROGRESS_FIRINGS
        self._reported_s = monotonic()
        if self.progress is not None:
            self.progress(fired)

    def _retry(self) -> int:
        """Let the actors whose guards depend on natives try once more; return how many of them fired."""
        fired = 0
        for index in self._retried:
            if index not in self.finished:
                made = self._resume(self.actors[index], 1)
                self._made[index] += made
                fired += made
        return fired

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
            return actor.n_firings - self._made[actor.index]
        except (InputRefused, ProgramExit):
            raise
        except ExecutionError as error:
            raise self._placed(actor, error, error.first_error.message) from error
        except MemoryError as fault:
            self.wall.lift()
            message, expected = out_of_memory(self.wall, self.n_firings)
            raise self._placed(actor, fault, message, expected) from fault
        except _FAULTS as fault:
            raise self._placed(actor, fault, fault_text(fault)) from fault
        except BaseException as interrupt:
            interrupt.add_note(f"the run was {self._place(actor, interrupt)[0]}, after {self.n_firings:,} firings")
            raise
        if len(actor.firings) >= _FLUSH_FIRINGS:
            actor.flush()
        return fired

    def _after_end(self) -> None:
        """Wake the neighbours of an actor that ended in the middle of a burst: it may have moved tokens before."""
        self.moved[0] = 1
        for index in range(len(self.states)):
            if index not in self.finished:
                self.states[index] = 1

    def _placed(self, actor: RunningActor, fault: BaseException, message: str, expected: str = "") -> ExecutionError:
        """Return the error that says where in the program a fault happened."""
        where, span = self._place(actor, fault)
        if isinstance(fault, ExecutionError):
            expected = fault.first_error.expected
        return ExecutionError(f"{where}: {message}", span=span, expected=expected)

    def _place(self, actor: RunningActor, fault: BaseException) -> tuple[str, Span]:
        """Return actor and action that were at work when something was raised, in words, and the span."""
        owner, span = fault_place(actor, fault)
        return f"in '{actor.name}'" + (f", {owner}" if owner else ""), span


def _end_of_moves(actor: RunningActor, first: int, last: int) -> int:
    """Return the number after the last firing from ``first`` to before ``last`` that moved a token, else ``first``."""
    compiled = actor.compiled
    moving = [
        bool(a.inputs) or any(compiled.wiring.fan_outs[p.port] for p in a.outputs) for a in compiled.actor.actions
    ]
    kept = len(actor.archive)
    ids = ((k, actor.archive[k] if k < kept else actor.firings[k - kept]) for k in range(last - 1, first - 1, -1))
    return next((k + 1 for k, action in ids if moving[action]), first)
