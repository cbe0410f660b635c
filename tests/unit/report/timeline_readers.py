"""What a reader of a timeline sees: files of both formats, read as Perfetto reads them, in one form.

Perfetto traces are decoded by the messages that Perfetto itself publishes.
"""

import json
from collections import defaultdict
from dataclasses import dataclass, field
from typing import Any

from perfetto.protos.perfetto.trace import perfetto_trace_pb2 as messages

PHASES = ("scheduling", "reading", "processing", "writing")


@dataclass(frozen=True, order=True)
class Slice:
    """A slice on a track; ``because``: why it began, empty where that is not told."""

    track: str
    start: int
    end: int
    name: str
    firing: int
    firings: int = 1
    because: str = ""
    phases: tuple[int, ...] = ()


def _told(args: dict[str, Any]) -> dict[str, Any]:
    """Return what a slice tells, with the lengths of its phases, in ns, in their order."""
    phases = tuple(value for key, value in args.items() if key.endswith(" ns"))
    assert [key for key in args if key.endswith(" ns")] in ([], [f"{phase} ns" for phase in PHASES])
    return {**{key: value for key, value in args.items() if not key.endswith(" ns")}, "phases": phases}


@dataclass
class Process:
    """A process: its slices, its flows from slice to slice, and its counters as times and values.

    ``lost``: ends of flows that came before their begins, which Perfetto drops.
    """

    title: str
    tracks: list[str] = field(default_factory=list)
    slices: list[Slice] = field(default_factory=list)
    flows: list[tuple[Slice, Slice]] = field(default_factory=list)
    lost: list[Slice] = field(default_factory=list)
    counters: dict[str, list[tuple[int, int]]] = field(default_factory=lambda: defaultdict(list))


def read(name: str, data: bytes) -> list[Process]:
    """Return what a file of this name holds."""
    return read_json(data) if name.endswith(".json") else read_pftrace(data)


def read_json(data: bytes) -> list[Process]:
    """Return the processes of a file of trace events, in the order of their ranks."""
    events = json.loads(data)["traceEvents"]
    processes: dict[int, Process] = {}
    threads: dict[int, str] = {}
    ranks: dict[int, int] = {}
    for event in events:
        if event["ph"] == "M":
            told = {"process": processes, "thread": threads}[event["name"].split("_")[0]]
            if event["name"] == "process_name":
                processes[event["pid"]] = Process(event["args"]["name"])
            elif event["name"] == "thread_name":
                threads[event["tid"]] = event["args"]["name"]
                processes[event["pid"]].tracks.append(event["args"]["name"])
            else:
                assert event["tid"] in told or event["name"].startswith("process")
                ranks[event["tid"]] = event["args"]["sort_index"]
    assert len(ranks) == len(processes) + len(threads)
    latest: dict[int, Slice] = {}
    begun: dict[tuple[object, ...], Slice] = {}
    ordered = sorted((e for e in events if e["ph"] != "M"), key=lambda e: round(e["ts"] * 1000))
    for event in ordered:
        process, start = processes[event["pid"]], round(event["ts"] * 1000)
        if event["ph"] == "X":
            found = Slice(
                threads[event["tid"]], start, start + round(event["dur"] * 1000), event["name"], **_told(event["args"])
            )
            assert event["tid"] not in latest or latest[event["tid"]].end <= start, "slices of a track overlap"
            latest[event["tid"]] = found
            process.slices.append(found)
        elif event["ph"] == "C":
            process.counters[event["name"]].append((start, event["args"]["tokens"]))
        else:
            key = (event["id"], event["cat"], event["name"])
            at = latest[event["tid"]]
            assert at.start <= start <= at.end
            if event["ph"] == "s":
                assert begun.setdefault(key, at) is at
            else:
                assert (event["ph"], event["bp"]) == ("f", "e")
                (process.flows.append((begun.pop(key), at)) if key in begun else process.lost.append(at))
    assert len(begun) == sum(len(process.lost) for process in processes.values())
    return list(processes.values())


def read_pftrace(data: bytes) -> list[Process]:
    """Return the processes of a Perfetto trace, in the order of the file."""
    trace = messages.Trace()
    trace.ParseFromString(data)
    tracks = {p.track_descriptor.uuid: p.track_descriptor for p in trace.packet if p.HasField("track_descriptor")}
    processes = {uuid: Process(t.process.process_name) for uuid, t in tracks.items() if t.HasField("process")}
    assert len({t.process.pid for t in tracks.values() if t.HasField("process")}) == len(processes)
    reader = _PacketReader(tracks, processes)
    for uuid, track in tracks.items():
        if uuid not in processes and track.name not in ("cores", "FIFOs") and not track.HasField("counter"):
            reader.process(uuid).tracks.append(track.name)
    for packet in trace.packet:
        reader.learn(packet)
    events = [packet for packet in trace.packet if packet.HasField("track_event")]
    for packet in sorted(events, key=lambda p: p.timestamp):  # stable, as Perfetto does it
        reader.event(packet)
    assert not any(reader.open.values())
    for process in processes.values():
        process.lost = [at.slice for at in reader.lost[process.title]]
        process.flows = [(source.slice, target.slice) for source, target in reader.flows[process.title]]
    assert len(reader.begun) == sum(map(len, reader.lost.values()))
    return list(processes.values())


@dataclass
class _Open:
    """A slice that has begun, and then what it was."""

    start: int
    told: dict[str, Any]
    found: Slice | None = None

    @property
    def slice(self) -> Slice:
        assert self.found is not None
        return self.found


class _PacketReader:
    def __init__(self, tracks: dict[int, Any], processes: dict[int, Process]) -> None:
        self._tracks = tracks
        self._processes = processes
        self._names: dict[tuple[int, int], str] = {}
        self._keys: dict[tuple[int, int], str] = {}
        self._texts: dict[tuple[int, int], str] = {}
        self.open: dict[int, list[_Open]] = defaultdict(list)
        self.begun: dict[int, _Open] = {}
        self.flows: dict[str, list[tuple[_Open, _Open]]] = defaultdict(list)
        self.lost: dict[str, list[_Open]] = defaultdict(list)

    def process(self, track: int) -> Process:
        while track not in self._processes:
            track = self._tracks[track].parent_uuid
        return self._processes[track]

    def learn(self, packet: Any) -> None:
        sequence = packet.trusted_packet_sequence_id
        assert sequence
        for entry in packet.interned_data.event_names:
            self._names[sequence, entry.iid] = entry.name
        for entry in packet.interned_data.debug_annotation_names:
            self._keys[sequence, entry.iid] = entry.name
        for entry in packet.interned_data.debug_annotation_string_values:
            self._texts[sequence, entry.iid] = entry.str.decode()
        cleared = bool(packet.sequence_flags & messages.TracePacket.SEQ_INCREMENTAL_STATE_CLEARED)
        assert cleared == packet.HasField("interned_data")

    def event(self, packet: Any) -> None:
        event = packet.track_event
        assert packet.sequence_flags == messages.TracePacket.SEQ_NEEDS_INCREMENTAL_STATE
        open_, process = self.open[event.track_uuid], self.process(event.track_uuid)
        if event.type == messages.TrackEvent.TYPE_COUNTER:
            process.counters[self._tracks[event.track_uuid].name].append((packet.timestamp, event.counter_value))
        elif event.type == messages.TrackEvent.TYPE_SLICE_BEGIN:
            assert not open_, "slices of a track overlap"
            at = _Open(packet.timestamp, self._slice(packet))
            open_.append(at)
            for flow in event.flow_ids:
                assert self.begun.setdefault(flow, at) is at
            for flow in event.terminating_flow_ids:
                if flow in self.begun:
                    self.flows[process.title].append((self.begun.pop(flow), at))
                else:
                    self.lost[process.title].append(at)
        else:
            assert event.type == messages.TrackEvent.TYPE_SLICE_END
            at = open_.pop()
            at.found = Slice(self._tracks[event.track_uuid].name, at.start, packet.timestamp, **at.told)
            process.slices.append(at.found)

    def _slice(self, packet: Any) -> dict[str, Any]:
        sequence = packet.trusted_packet_sequence_id
        told = {"name": self._names[sequence, packet.track_event.name_iid]}
        for note in packet.track_event.debug_annotations:
            key = self._keys[sequence, note.name_iid]
            is_text = note.HasField("string_value_iid")
            told[key] = self._texts[sequence, note.string_value_iid] if is_text else note.uint_value
        return _told(told)
