"""A wall around the memory of a run: what a program asks for beyond it is a ``MemoryError`` at that place.

The wall is the limit that the system keeps for the data of the process (``RLIMIT_DATA``); where there is none, as
outside of Unix, a run is not limited. It is lifted before an error is told, which needs memory too.
"""

import contextlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

try:
    import resource
except ImportError:  # not on every system
    resource = None  # type: ignore[assignment]

_SHARE_OF_FREE = 0.8
_LEAST_BYTES = 64 << 20
"""Less than this would hit what the program needs besides the run."""
_CGROUPS = (
    ("/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory.current"),
    ("/sys/fs/cgroup/memory/memory.limit_in_bytes", "/sys/fs/cgroup/memory/memory.usage_in_bytes"),
)


@dataclass(slots=True)
class MemoryWall:
    """The limit of one run. ``allowed_bytes``: by how much the process may grow, None where that cannot be limited."""

    allowed_bytes: int | None = None
    _before: tuple[int, int] | None = None

    def lift(self) -> None:
        """Take the wall away; again has no effect."""
        if self._before is not None and resource is not None:
            resource.setrlimit(resource.RLIMIT_DATA, self._before)
            self._before = None

    def raise_to(self, allowed_bytes: int | None) -> None:
        """Put the wall up: ``allowed_bytes`` above what the process has now, by default most of what is free."""
        held = _held_bytes()
        wanted = free_share_bytes() if allowed_bytes is None else max(allowed_bytes, _LEAST_BYTES)
        if resource is None or held is None or wanted is None:
            return
        before = resource.getrlimit(resource.RLIMIT_DATA)
        bounds = [bound for bound in before if bound != resource.RLIM_INFINITY]
        with contextlib.suppress(OSError, ValueError):  # a system that does not let us runs without the wall
            resource.setrlimit(resource.RLIMIT_DATA, (min(held + wanted, *bounds, held + wanted), before[1]))
            self.allowed_bytes, self._before = wanted, before


@contextlib.contextmanager
def memory_wall(allowed_bytes: int | None) -> Iterator[MemoryWall]:
    """Limit by how much the memory of the process may grow within the block."""
    wall = MemoryWall()
    wall.raise_to(allowed_bytes)
    try:
        yield wall
    finally:
        wall.lift()


def free_share_bytes() -> int | None:
    """Return four fifths of the memory that is free, for this machine and this container; None where nobody tells."""
    free = _meminfo_bytes("/proc/meminfo", "MemAvailable:")
    bounds = [] if free is None else [free]
    for limit, used in _CGROUPS:
        most, now = _number(limit), _number(used)
        if most is not None and now is not None:
            bounds.append(max(0, most - now))
    return max(_LEAST_BYTES, int(min(bounds) * _SHARE_OF_FREE)) if bounds else None


def _held_bytes() -> int | None:
    """Return what counts for the limit already."""
    return _meminfo_bytes("/proc/self/status", "VmData:")


def _meminfo_bytes(path: str, key: str) -> int | None:
    """Return a figure of a file of lines ``key: N kB``."""
    try:
        lines = Path(path).read_text().splitlines()
    except OSError:
        return None
    return next((int(line.split()[1]) << 10 for line in lines if line.startswith(key)), None)


def _number(path: str) -> int | None:
    """Return the number in a file, or None where there is no such file or it says that there is no limit."""
    try:
        text = Path(path).read_text().strip()
    except OSError:
        return None
    return int(text) if text.isdigit() else None


def bytes_text(count: int) -> str:
    """Return an amount of memory in words."""
    return f"{count / (1 << 30):.1f} GiB" if count >= 1 << 30 else f"{count / (1 << 20):.0f} MiB"


def out_of_memory(wall: MemoryWall, firings: int) -> tuple[str, str]:
    """Return what happened and what to do when a run asked for more memory than it may take."""
    allowed = "" if wall.allowed_bytes is None else f" than the {bytes_text(wall.allowed_bytes)} that it may take"
    message = f"the run needs more memory{allowed}, after {firings:,} firings"
    return message, "if it would go on for ever, end it with --max-firings N; --max-memory SIZE allows more"
