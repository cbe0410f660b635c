"""Writes timelines as Perfetto traces: ``Trace`` messages of packets with track events.

Source: the messages ``Trace``, ``TracePacket``, ``TrackDescriptor``, ``TrackEvent``, ``InternedData`` and
``DebugAnnotation`` of perfetto.dev. A timeline is a process there. Its tracks, its packet sequence and its flows get
numbers from its title, so that two files that are put one behind the other are one file with both.

What happens at one nanosecond keeps its order: readers sort by time, and leave what is at one time as they find it.
"""

from collections.abc import Iterable
from hashlib import blake2b
from typing import IO

import numpy as np

from dse.base.escaping import shown
from dse.report.timeline.protobuf import (
    LENGTH_BYTES,
    Bytes2,
    column,
    fixed,
    joined,
    message,
    number,
    scattered,
    text,
    varint,
    wrapped,
)
from dse.report.timeline.slices import ActorSlices, Numbers
from dse.report.timeline.timeline import Timeline
from dse.report.timeline.windows import PHASES, Flows, Levels, Slices, Window, slice_names, windows

_PACKET = 1
_TIMESTAMP, _SEQUENCE, _TRACK_EVENT, _INTERNED, _FLAGS, _DESCRIPTOR = 8, 10, 11, 12, 13, 60
_STATE_CLEARED, _NEEDS_STATE = 1, 2
_UUID, _NAME, _PROCESS, _PARENT, _COUNTER, _CHILD_ORDER, _RANK, _MERGE = 1, 2, 3, 5, 8, 11, 12, 15
_EXPLICIT, _NEVER_MERGED = 3, 2
_PID, _PROCESS_NAME = 1, 6
_UNIT_NAME = 6
_ANNOTATION, _TYPE, _NAME_IID, _TRACK, _COUNTER_VALUE, _FLOW_IDS, _LAST_FLOW_IDS = 4, 9, 10, 11, 30, 47, 48
_BEGIN, _END, _COUNTER_EVENT = 1, 2, 4
_EVENT_NAMES, _ANNOTATION_NAMES, _ANNOTATION_TEXTS = 2, 3, 29
_ANNOTATION_NAME, _ANNOTATION_NUMBER, _ANNOTATION_TEXT = 1, 3, 17
_ANNOTATIONS = ("firing", "firings", "because", *(f"{phase} ns" for phase in PHASES))
_FIRING, _FIRINGS, _BECAUSE, *_TIMES = (iid for iid, _ in enumerate(_ANNOTATIONS, start=1))
_TYPE_BEGIN, _TYPE_END, _TYPE_COUNTER = (number(_TYPE, kind) for kind in (_BEGIN, _END, _COUNTER_EVENT))
_FIXED64 = 1
_FIRST_PROCESS = 10_000
_OWN_BITS, _TRACK_BITS, _FLOW_BITS = 14, 17, 44
"""So many bits has the number of a timeline; those of its tracks and its flows have so many more."""


def write_pftrace(file: IO[bytes], timelines: Iterable[Timeline]) -> None:
    """Write timelines one after the other; they need to exist one at a time. Raises ``OSError``."""
    used: set[int] = set()
    for timeline in timelines:
        own = _own_number(timeline.title, used)
        used.add(own)
        _Writer(file, timeline, own).write()


def _own_number(title: str, used: set[int]) -> int:
    """Return the number of a timeline, above 0, which follows from its title where no other one has it."""
    digest = blake2b(title.encode("utf-8", "replace"), digest_size=8).digest()
    numbers = 1 << _OWN_BITS
    first = int.from_bytes(digest, "little") % numbers
    return next(own for own in range(first + 1, first + numbers) if own not in used)


class _Writer:
    """Writes one timeline."""

    def __init__(self, file: IO[bytes], timeline: Timeline, own: int) -> None:
        self._file = file
        self._timeline = timeline
        self._own = own
        path = timeline.path
        self._names = [*slice_names(timeline.topology), *(() if path is None else path.names)]
        self._reasons = () if path is None else path.reasons
        cores = len(timeline.cores)
        self._process, self._cores_group, self._fifos_group, self._path_track = range(4)
        self._first_core, self._first_fifo = 4, 4 + cores
        self._has_blocks = any(ActorSlices(times).has_blocks for times in timeline.times)

    def write(self) -> None:
        """Write the whole timeline."""
        self._file.write(self._tracks() + self._interned())
        for window in windows(self._timeline):
            self._file.write(self._slices(window.slices, window.flows))
            self._file.write(self._levels(window.levels))
            self._file.write(self._path(window))

    def _tracks(self) -> bytes:
        """Return the packets that tell of all tracks."""
        timeline = self._timeline
        title = shown(timeline.title)
        process = message(_PROCESS, number(_PID, _FIRST_PROCESS + self._own) + text(_PROCESS_NAME, title))
        found = [self._track(self._process, process)]
        found.append(self._track(self._cores_group, self._child("cores", self._process, rank=0)))
        for core, name in enumerate(timeline.cores):
            found.append(self._track(self._first_core + core, self._child(name, self._cores_group, rank=core)))
        if timeline.path is not None:
            found.append(self._track(self._path_track, self._child(timeline.path.track, self._process, rank=1)))
        found.append(self._track(self._fifos_group, self._child("FIFOs", self._process, rank=2)))
        for fifo in range(len(timeline.topology.buffers)):
            child = self._child(timeline.topology.buffer_name(fifo), self._fifos_group, rank=fifo)
            counter = message(_COUNTER, text(_UNIT_NAME, "tokens"))
            found.append(self._track(self._first_fifo + fifo, child + counter))
        return b"".join(found)

    def _track(self, track: int, content: bytes) -> bytes:
        descriptor = number(_UUID, (self._own << _TRACK_BITS) + track) + content
        return message(_PACKET, number(_SEQUENCE, self._own) + message(_DESCRIPTOR, descriptor))

    def _child(self, name: str, parent: int, *, rank: int) -> bytes:
        """Return what tells of a track below another one, whose own children are in the order of their ranks."""
        order = number(_CHILD_ORDER, _EXPLICIT) + number(_RANK, rank) + number(_MERGE, _NEVER_MERGED)
        return text(_NAME, shown(name)) + number(_PARENT, (self._own << _TRACK_BITS) + parent) + order

    def _interned(self) -> bytes:
        """Return the packet that gives names their numbers, from 1 on; all others of the sequence build on it."""
        interned = ((_EVENT_NAMES, self._names), (_ANNOTATION_NAMES, _ANNOTATIONS), (_ANNOTATION_TEXTS, self._reasons))
        entries = [
            message(field, number(1, iid) + text(2, shown(name)))
            for field, names in interned
            for iid, name in enumerate(names, start=1)
        ]
        head = number(_SEQUENCE, self._own) + number(_FLAGS, _STATE_CLEARED)
        return message(_PACKET, head + message(_INTERNED, b"".join(entries)))

    def _slices(self, slices: Slices, flows: Flows) -> bytes:
        """Return begin and end of each slice, one after the other, with its flows at the begin."""
        count = len(slices.start)
        track = self._track_column(slices.core + self._first_core)
        ends = self._packets(slices.end, _TYPE_END, track)
        flow_bytes = self._flows(flows)
        flows_of = np.bincount(flows.slice, minlength=count)
        event = joined(count, _TYPE_BEGIN, track, *self._begun(slices))
        head = joined(count, self._head, column(slices.start), varint(_TRACK_EVENT << 3 | 2))
        inner = event.shape[1] + flow_bytes.shape[1] * flows_of
        outer = head.shape[1] + LENGTH_BYTES + inner
        begins = joined(
            count, varint(_PACKET << 3 | 2), column(outer, LENGTH_BYTES), head, column(inner, LENGTH_BYTES), event
        )
        # Each slice is its begin, then its flows, then its end.
        sizes = begins.shape[1] + flow_bytes.shape[1] * flows_of + ends.shape[1]
        behind = np.cumsum(sizes)
        at = behind - sizes
        of_slice = np.arange(len(flows.slice)) - (np.cumsum(flows_of) - flows_of)[flows.slice]
        flows_at = at[flows.slice] + begins.shape[1] + of_slice * flow_bytes.shape[1]
        size = int(behind[-1]) if count else 0
        return scattered(size, (at, begins), (flows_at, flow_bytes), (behind - ends.shape[1], ends))

    def _begun(self, slices: Slices) -> list[bytes | Bytes2]:
        """Return what the begin of a slice tells: its name, which firing it is, and how many where that differs."""
        count = [_annotation(_FIRINGS, _ANNOTATION_NUMBER, slices.firings)] if self._has_blocks else []
        firing = _annotation(_FIRING, _ANNOTATION_NUMBER, slices.firing)
        pairs = zip(_TIMES, slices.phases, strict=False)  # none where they are not known
        times = [_annotation(phase, _ANNOTATION_NUMBER, ns) for phase, ns in pairs]
        return [varint(_NAME_IID << 3), column(slices.name + 1), firing, *count, *times]

    def _flows(self, flows: Flows) -> Bytes2:
        """Return one field for each end of a flow. A flow ends where it is told for the second time."""
        tags = (varint(_FLOW_IDS << 3 | _FIXED64), varint(_LAST_FLOW_IDS << 3 | _FIXED64))
        first, last = (np.frombuffer(tag, dtype=np.uint8) for tag in tags)
        tag = np.where(flows.leaves[:, None], first, last)
        return joined(len(flows.flow), tag, fixed(flows.flow + (self._own << _FLOW_BITS)))

    def _levels(self, levels: Levels) -> bytes:
        """Return how full the FIFOs are from which time on."""
        track = self._track_column(levels.buffer + self._first_fifo)
        value = varint(_COUNTER_VALUE << 3)
        tokens = column(np.maximum(levels.tokens, 0))  # clocks of cores that differ by a little could say less
        return self._packets(levels.time, _TYPE_COUNTER, track, value, tokens).tobytes()

    def _path(self, window: Window) -> bytes:
        """Return begin and end of each segment of the track of segments."""
        path, (first, last) = self._timeline.path, window.path
        if path is None or first == last:
            return b""
        ns, count = self._timeline.ticks_per_ns, last - first
        track = self._track_column(np.full(count, self._path_track))
        name = column(path.name[first:last] + 1 + len(slice_names(self._timeline.topology)))
        firing = _annotation(_FIRING, _ANNOTATION_NUMBER, path.firing[first:last])
        because = _annotation(_BECAUSE, _ANNOTATION_TEXT, path.because[first:last] + 1)
        told = (varint(_NAME_IID << 3), name, firing, because)
        begins = self._packets(path.start[first:last] // ns, _TYPE_BEGIN, track, *told)
        ends = self._packets(path.end[first:last] // ns, _TYPE_END, track)
        return np.concatenate([begins, ends], axis=1).tobytes()

    @property
    def _head(self) -> bytes:
        """What every packet with an event begins with, up to its time."""
        return number(_SEQUENCE, self._own) + number(_FLAGS, _NEEDS_STATE) + varint(_TIMESTAMP << 3)

    def _track_column(self, tracks: Numbers) -> Bytes2:
        values = column(tracks + (self._own << _TRACK_BITS))
        return joined(len(tracks), varint(_TRACK << 3), values)

    def _packets(self, time: Numbers, *event: bytes | Bytes2) -> Bytes2:
        """Return packets of one length with track events that are made of pieces."""
        count = len(time)
        events = wrapped(_TRACK_EVENT, joined(count, *event))
        return wrapped(_PACKET, joined(count, self._head, column(time), events))


def _annotation(name: int, kind: int, values: Numbers) -> Bytes2:
    """Return annotations of slices: the number of their name, and values that are numbers, or numbers of texts."""
    head = number(_ANNOTATION_NAME, name) + varint(kind << 3)
    return wrapped(_ANNOTATION, joined(len(values), head, column(values)))
