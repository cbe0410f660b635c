"""Writes timelines to a file whose ending says how: ``.json`` or ``.pftrace``."""

import os
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import IO

from dse.base.errors import ExecutionError, OptionError
from dse.base.files import whole_file
from dse.report.timeline.pftrace import write_pftrace
from dse.report.timeline.timeline import Timeline
from dse.report.timeline.trace_events import write_trace_events

_WRITERS: tuple[tuple[str, Callable[[IO[bytes], Iterable[Timeline]], None]], ...] = (
    (".json", write_trace_events),
    (".pftrace", write_pftrace),
)


def require_timeline(path: str | None, results: str | None = None) -> None:
    """Do nothing if a timeline can be written at ``path``, or none is asked for; said before what takes long.

    ``results``: a folder that will be made, and that it may be in.

    Raises:
        OptionError: it ends in no known way, its folder is not there, or it must not be written.
    """
    if path is None:
        return
    _writer(path)
    place = Path(path)
    if place.is_dir():
        raise OptionError(f"the timeline '{path}' is a folder", expected="name a file with --timeline")
    if results is not None and not place.parent.exists() and place.parent.resolve() == Path(results).resolve():
        return
    if not place.parent.is_dir():
        raise OptionError(f"there is no folder '{place.parent}' for the timeline", expected="make it first")
    if not os.access(place if place.exists() else place.parent, os.W_OK):
        raise OptionError(f"the timeline '{path}' cannot be written there", expected="name another with --timeline")


def write_timelines(path: str, timelines: Iterable[Timeline]) -> None:
    """Write timelines into one file; they need to exist one at a time.

    Raises:
        OptionError: it ends in no known way. ExecutionError: it cannot be written; nothing is then.
    """
    write = _writer(path)
    try:
        with whole_file(path) as file:
            write(file, timelines)
    except OSError as error:
        raise ExecutionError(
            f"cannot write the timeline '{path}': {error.strerror or error}", expected="name another with --timeline"
        ) from error


def _writer(path: str) -> Callable[[IO[bytes], Iterable[Timeline]], None]:
    for ending, writer in _WRITERS:
        if path.lower().endswith(ending):
            return writer
    raise OptionError(
        f"the timeline '{path}' ends in no way that says its format", expected="a name that ends in .json or .pftrace"
    )
