"""Writes timelines as JSON of the Trace Event Format, which Perfetto and other viewers open.

Source: "Trace Event Format" (the format of Chrome's tracing) and how Perfetto reads it: times are in microseconds with
three decimals. A timeline is a process there, its cores are threads, and each FIFO is a counter of the process.
"""

import json
from collections.abc import Iterable, Sequence
from typing import IO, Any

import numpy as np

from dse.base.escaping import shown
from dse.report.timeline.slices import Numbers
from dse.report.timeline.timeline import Timeline
from dse.report.timeline.windows import PHASES, Flows, Levels, Slices, Window, slice_names, windows

_SLICE = ',\n{"ph":"X","pid":%d,"tid":%d,"ts":%d.%03d,"dur":%d.%03d,"name":%s,"args":{"firing":%d,"firings":%d%s}}'
_TIMES = "".join(f',"{phase} ns":%d' for phase in PHASES)
_FLOW = ',\n{"ph":%s,"pid":%d,"tid":%d,"ts":%d.%03d,"id":%d,"cat":"tokens","name":%s}'
_LEVEL = ',\n{"ph":"C","pid":%d,"tid":%d,"ts":%d.%03d,"name":%s,"args":{"tokens":%d}}'
_SEGMENT = ',\n{"ph":"X","pid":%d,"tid":%d,"ts":%d.%03d,"dur":%d.%03d,"name":%s,"args":{"firing":%d,"because":%s}}'
_SIDES = ('"s"', '"f","bp":"e"')
"""Of the end of a flow that tokens leave from, and of the one that they come to."""
_FLOW_BITS = 44
"""Of the numbers of flows, so many bits are for those of one timeline."""
_FIRST_THREAD = 1_000_000


def write_trace_events(file: IO[bytes], timelines: Iterable[Timeline]) -> None:
    """Write timelines one after the other; they need to exist one at a time. Raises ``OSError``."""
    file.write(b'{"displayTimeUnit":"ns","traceEvents":[\n')
    next_thread = _FIRST_THREAD
    for process, timeline in enumerate(timelines, start=1):
        writer = _Writer(file, timeline, process, next_thread)
        writer.write()
        next_thread = writer.next_thread
    file.write(b"\n]}\n")


class _Writer:
    """Writes one timeline. Threads of all timelines in a file have different numbers, from ``first_thread`` on."""

    def __init__(self, file: IO[bytes], timeline: Timeline, process: int, first_thread: int) -> None:
        self._file = file
        self._timeline = timeline
        self._process = process
        self._first_thread = first_thread
        self._path_thread = first_thread + len(timeline.cores)
        self.next_thread = self._path_thread + 1
        topology = timeline.topology
        self._names = [json.dumps(shown(name)) for name in slice_names(topology)]
        self._fifos = [json.dumps(shown(topology.buffer_name(b))) for b in range(len(topology.buffers))]
        path = timeline.path
        self._segments = [] if path is None else [json.dumps(shown(name)) for name in path.names]
        self._reasons = [] if path is None else [json.dumps(shown(reason)) for reason in path.reasons]

    def write(self) -> None:
        """Write the whole timeline."""
        self._header()
        for window in windows(self._timeline):
            self._slices(window.slices, window.flows)
            self._levels(window.levels)
            self._path(window)

    def _header(self) -> None:
        """Write what the process and its threads are called, and their order."""
        timeline = self._timeline
        tracks = [*timeline.cores, *([] if timeline.path is None else [timeline.path.track])]
        found = self._named("process", self._process, self._process, timeline.title)
        for rank, name in enumerate(tracks):
            found += self._named("thread", rank, self._first_thread + rank, name)
        self._file.write((",\n" if self._process > 1 else "").encode() + ",\n".join(found).encode())

    def _named(self, kind: str, rank: int, thread: int, name: str) -> list[str]:
        told = ((f"{kind}_name", {"name": shown(name)}), (f"{kind}_sort_index", {"sort_index": rank}))
        place = {"ph": "M", "pid": self._process, "tid": thread}
        return [json.dumps({**place, "name": key, "args": value}) for key, value in told]

    def _slices(self, slices: Slices, flows: Flows) -> None:
        """Write each slice and its ends of flows behind it: readers take them to belong to the slice written last."""
        columns = (*self._place(slices.core), *_us(slices.start), *_us(slices.end - slices.start))
        names = _named_by(self._names, slices.name)
        phases = zip(*(phase.tolist() for phase in slices.phases), strict=True)
        times = [_TIMES % of for of in phases] if slices.phases else [""] * len(names)
        texts = _events(_SLICE, *columns, names, slices.firing.tolist(), slices.firings.tolist(), times)
        sides = np.where(flows.leaves, 0, 1).tolist()
        at = flows.slice
        where = (*self._place(slices.core[at]), *_us(slices.start[at]))
        own = (flows.flow + (self._process << _FLOW_BITS)).tolist()
        names = _named_by(self._fifos, flows.buffer)
        texts += _events(_FLOW, [_SIDES[side] for side in sides], *where, own, names)
        order = np.argsort(np.concatenate([np.arange(len(slices.start)), at]), kind="stable")
        self._write([texts[k] for k in order.tolist()])

    def _levels(self, levels: Levels) -> None:
        place = self._place(np.zeros_like(levels.time))
        names = _named_by(self._fifos, levels.buffer)
        # Clocks of cores that differ by a little could say less than no tokens.
        self._write(_events(_LEVEL, *place, *_us(levels.time), names, np.maximum(levels.tokens, 0).tolist()))

    def _path(self, window: Window) -> None:
        path, (first, last) = self._timeline.path, window.path
        if path is None:
            return
        ns = self._timeline.ticks_per_ns
        start, end = path.start[first:last] // ns, path.end[first:last] // ns
        place = self._place(np.full(last - first, len(self._timeline.cores)))
        names = _named_by(self._segments, path.name[first:last])
        reasons = _named_by(self._reasons, path.because[first:last])
        firing = path.firing[first:last].tolist()
        self._write(_events(_SEGMENT, *place, *_us(start), *_us(end - start), names, firing, reasons))

    def _place(self, cores: Numbers) -> tuple[list[int], list[int]]:
        """Return the columns of processes and threads of some cores."""
        return [self._process] * len(cores), (cores + self._first_thread).tolist()

    def _write(self, events: list[str]) -> None:
        self._file.write("".join(events).encode())


def _events(form: str, *columns: Sequence[Any]) -> list[str]:
    """Return one event for each row of some columns, as a form tells."""
    return [form % row for row in zip(*columns, strict=True)]


def _us(times: Numbers) -> tuple[list[int], list[int]]:
    """Return times in ns as columns: microseconds, and the rest in ns."""
    whole, rest = np.divmod(times, 1000)
    return whole.tolist(), rest.tolist()


def _named_by(names: Sequence[str], indices: Numbers) -> list[str]:
    return [names[index] for index in indices.tolist()]
