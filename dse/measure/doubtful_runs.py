"""Runs that say little of a mapping: threads slept at a lock, or all was over before it was under way.

A thread that waits for tokens looks for them for a while and then sleeps, which it counts itself. Where the system says
that it gave up its core more often than that, something else was in the way: a lock, a file, memory. Runs of mappings
on two cores of both JPEG decoders, ``smith_waterman``, MPEG-4 SP and a filter of orc-apps had at most 4 of these each,
in 0.6 to 100 ms; the same filter had 64 to 165 in 3 ms while its source and its sink shared a lock, and took 2.5 times
as long.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from statistics import median

LEAST_STALLS = 10
"""Fewer in a run are no doubt: threads start and end, and files are read."""
STALLS_A_MS = 2.0
"""Nor are fewer in a millisecond of a run: each takes the thread some 10 microseconds."""
SHORT_NS = 1_000_000
"""Below this the start and the end of threads (0.05 to 0.1 ms) are more than a few per cent of a run."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RunFigures:
    """Medians of the runs of a mapping: nanoseconds, and how often its threads slept beside waiting for tokens."""

    name: str
    run_ns: float
    stalls: float


def run_figures(name: str, lengths_ns: Sequence[float], stalls: Iterable[int | None]) -> RunFigures:
    """Return the figures of the runs of a mapping, of which there is one; where stalls are not told there are none."""
    told = [count for count in stalls if count is not None]
    return RunFigures(name=name, run_ns=median(lengths_ns), stalls=median(told) if told else 0.0)


def doubts(runs: Sequence[RunFigures]) -> Iterator[str]:
    """Yield in sentences why what was measured may say little, with what to do."""
    slept = [of for of in runs if of.stalls > LEAST_STALLS and of.stalls * 1e6 > STALLS_A_MS * of.run_ns]
    if slept:
        worst = max(slept, key=lambda of: of.stalls / of.run_ns)
        yield (
            f"{_mappings(slept)}: threads slept beside waiting for tokens, as at a lock, {worst.stalls:.0f} times in"
            f" {worst.run_ns / 1e6:.1f} ms of {worst.name}: estimates do not know that; put actors that share"
            " a file, a display or another native on one core"
        )
    short = [of for of in runs if of.run_ns < SHORT_NS]
    if short:
        least = min(short, key=lambda of: of.run_ns)
        yield (
            f"{_mappings(short)}: runs of {least.run_ns / 1e6:.2g} ms are too short to say much, starting and ending"
            " takes up to 0.1 ms: give a longer input, or repeat it with -l N where the network can"
        )


def _mappings(found: Sequence[RunFigures]) -> str:
    more = f" and {len(found) - 1} more" if len(found) > 1 else ""
    return f"{found[0].name}{more}"
