"""The project's own trace file: columnar, versioned, memory-mapped (formats.md, section Trace).

One file, so that a trace can be moved and named like any other. Layout, little-endian:

* 8 bytes ``DSETRACE``, uint32 version, uint32 number of bytes of the header, sha256 of the header (32 bytes);
* the header: one JSON document (UTF-8) with the topology, the number of firings of each actor, the digest, provenance
  and, where accesses were recorded, their signatures;
* zeros up to a multiple of 64, then the columns, each starting at a multiple of 64: for each actor its action ids
  (uint8 up to 256 actions, else uint16), then for each actor its access signature ids (uint16), if recorded.

So a firing takes one byte for networks whose actors have at most 256 actions (two, or four with accesses, otherwise).
Writing is atomic (``dse.base.files``) and waits for the disk.
"""

import hashlib
import json
import mmap
import os
import struct
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from dse.base.errors import FormatError
from dse.base.escaping import not_in_xml
from dse.base.files import whole_file
from dse.base.source import file_span
from dse.formats.xml_reading import topology_names
from dse.model.trace import (
    AccessTable,
    FiringIds,
    Topology,
    Trace,
    TraceAction,
    TraceActor,
    TraceBuffer,
    firing_ids,
    trace_digest,
)

MAGIC = b"DSETRACE"
VERSION = 1
_PREFIX = struct.Struct("<8sII32s")
_ALIGNMENT = 64
_MAKE_AGAIN = "record the trace again with 'dse trace NETWORK.xdf -o FILE', or copy the file again"

Json: TypeAlias = "dict[str, Json] | list[Json] | str | int | float | bool | None"


# Writing --------------------------------------------------------------------------------------------------------------


def write_trace(trace: Trace, path: str) -> int:
    """Write a trace and return the size of the file in bytes. The file is complete or it is not there.

    Raises:
        FormatError: the folder cannot be written to.
    """
    columns = [np.ascontiguousarray(c, dtype=c.dtype.newbyteorder("<")) for c in _columns(trace)]
    header = json.dumps(_header(trace), separators=(",", ":"), ensure_ascii=False).encode()
    prefix = _PREFIX.pack(MAGIC, VERSION, len(header), hashlib.sha256(header).digest())
    try:
        with whole_file(path) as file:
            file.write(prefix + header)
            for column in columns:
                file.write(b"\0" * (-file.tell() % _ALIGNMENT))
                file.write(column.data)
            size = file.tell()
            file.flush()
            os.fsync(file.fileno())
    except OSError as error:
        message = f"cannot write the trace: {error.strerror or error}"
        raise FormatError(message, span=file_span(path, 0)) from error
    return size


def _columns(trace: Trace) -> list[NDArray[np.uint8] | NDArray[np.uint16]]:
    """Return the arrays of a trace in the order of the file."""
    pairs = zip(trace.topology.actors, trace.firings, strict=True)
    ids: list[NDArray[np.uint8] | NDArray[np.uint16]] = [firing_ids(actor, firings) for actor, firings in pairs]
    return ids + [table.ids for table in trace.accesses]


def _header(trace: Trace) -> Json:
    """Return the JSON document of a trace."""
    header: dict[str, Json] = {
        "topology": asdict(trace.topology),
        "firings": [len(f) for f in trace.firings],
        "digest": trace.digest,
        "made_by": [list(pair) for pair in trace.made_by],
    }
    if trace.accesses:
        header["accesses"] = [
            [[list[Json](sorted(names)) for names in signature] for signature in table.signatures]
            for table in trace.accesses
        ]
        header["accesses_digest"] = _accesses_digest(trace.accesses)
    return header


def _accesses_digest(accesses: tuple[AccessTable, ...]) -> str:
    """Return the sha256 of the access columns, which the digest of the trace leaves out."""
    digest = hashlib.sha256()
    for table in accesses:
        digest.update(np.ascontiguousarray(table.ids, dtype=np.dtype("<u2")).data)
    return digest.hexdigest()


# Reading --------------------------------------------------------------------------------------------------------------


def is_trace_store(path: str) -> bool:
    """Return whether a file starts like a trace store."""
    try:
        with Path(path).open("rb") as file:
            return file.read(len(MAGIC)) == MAGIC
    except OSError:
        return False


def read_trace(path: str, *, verify: bool = True) -> Trace:
    """Return the trace of a file; its arrays are read-only views of the memory-mapped file.

    ``verify`` computes the digest again, which reads the whole file (about 1 GB/s); the structure is checked always.

    Raises:
        FormatError: no such file, not a trace, another version, truncated, or damaged.
    """
    data = _map(path)
    header, start = _read_header(path, data)
    try:
        layout = _Layout.of(header)
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        # The header has its own checksum, so this is a file of another program, not a damaged one.
        raise _error(path, f"the header of the trace is not understood ({error})") from error
    firings, accesses = _slice(path, data, start, layout)
    tables = tuple(
        AccessTable(signatures=signatures, ids=ids) for signatures, ids in zip(layout.signatures, accesses, strict=True)
    )
    if verify:
        _verify(path, layout, firings, tables)
    topology = layout.topology
    return Trace(topology=topology, firings=firings, digest=layout.digest, accesses=tables, made_by=layout.made_by)


def _verify(path: str, layout: "_Layout", firings: Sequence[FiringIds], tables: tuple[AccessTable, ...]) -> None:
    """Raise ``FormatError`` where the content of a trace is not what was written."""
    for actor, ids in zip(layout.topology.actors, firings, strict=True):
        if len(ids) and int(ids.max()) >= len(actor.actions):
            raise _error(path, f"the trace is damaged: actor {actor.name} has a firing of an action that it lacks")
    if trace_digest(layout.topology, firings) != layout.digest:
        raise _error(path, "the trace is damaged: its content does not have the digest that it was written with")
    if tables and _accesses_digest(tables) != layout.accesses_digest:
        raise _error(path, "the trace is damaged: its recorded accesses do not have the digest they were written with")


def _error(path: str, message: str, expected: str = _MAKE_AGAIN) -> FormatError:
    return FormatError(message, span=file_span(path, 0), expected=expected)


def _map(path: str) -> mmap.mmap:
    """Return the memory map of a file that is at least as long as the prefix."""
    try:
        with Path(path).open("rb") as file:
            if os.fstat(file.fileno()).st_size < _PREFIX.size:
                raise _error(path, "this is not a trace file: it is too short", "expected a file made by 'dse trace'")
            return mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
        raise _error(path, f"cannot read the trace: {reason}", "expected a file made by 'dse trace'") from error


def _read_header(path: str, data: mmap.mmap) -> tuple[dict[str, Json], int]:
    """Return the header and the offset behind it."""
    magic, version, length, checksum = _PREFIX.unpack(data[: _PREFIX.size])
    if magic != MAGIC:
        expected = "expected a file made by 'dse trace'; TURNUS files are read with 'dse trace --import'"
        raise _error(path, "this is not a trace file", expected)
    if version != VERSION:
        expected = f"this program reads version {VERSION}; record the trace again, or use the program that wrote it"
        raise _error(path, f"the trace file has version {version}", expected)
    if _PREFIX.size + length > len(data):
        raise _error(path, f"the trace is truncated: the header takes {length} bytes, the file ends before")
    text = data[_PREFIX.size : _PREFIX.size + length]
    if hashlib.sha256(text).digest() != checksum:
        raise _error(path, "the trace is damaged: its header does not have the checksum it was written with")
    header = json.loads(text)
    if not isinstance(header, dict):
        raise _error(path, "the header of the trace is not understood (no JSON object)")
    return header, _PREFIX.size + length


@dataclass(frozen=True, slots=True, kw_only=True)
class _Layout:
    """The header, typed."""

    topology: Topology
    counts: tuple[int, ...]
    digest: str
    made_by: tuple[tuple[str, str], ...]
    signatures: tuple[tuple[tuple[frozenset[str], frozenset[str], frozenset[str]], ...], ...]
    accesses_digest: str

    @classmethod
    def of(cls, header: dict[str, Json]) -> "_Layout":
        """Return the header of a JSON document. Raises what a document of another shape causes."""
        topology = _topology(header["topology"])
        if any(map(not_in_xml, topology_names(topology))):
            raise ValueError("a name holds control characters")
        counts = tuple(_integer(n) for n in _list(header["firings"]))
        signatures = tuple(
            tuple(_signature(entry) for entry in _list(table)) for table in _list(header.get("accesses", []))
        )
        if len(counts) != len(topology.actors) or len(signatures) not in (0, len(counts)) or min(counts, default=0) < 0:
            raise ValueError("numbers of actors differ")
        made_by = [_list(pair) for pair in _list(header["made_by"])]
        return cls(
            topology=topology,
            counts=counts,
            digest=str(header["digest"]),
            made_by=tuple((str(key), str(value)) for key, value in made_by),
            signatures=signatures,
            accesses_digest=str(header.get("accesses_digest", "")),
        )


def _slice(
    path: str, data: mmap.mmap, start: int, layout: _Layout
) -> tuple[tuple[FiringIds, ...], tuple[NDArray[np.uint16], ...]]:
    """Return the columns of the file as read-only views."""
    offset = start
    firings: list[FiringIds] = []
    accesses: list[NDArray[np.uint16]] = []
    for actor, count in zip(layout.topology.actors, layout.counts, strict=True):
        offset += -offset % _ALIGNMENT
        dtype = firing_ids(actor, ()).dtype
        firings.append(_view(path, data, offset, count, dtype))
        offset += count * dtype.itemsize
    for count in layout.counts if layout.signatures else ():
        offset += -offset % _ALIGNMENT
        accesses.append(_view(path, data, offset, count, np.dtype(np.uint16)))
        offset += 2 * count
    if offset != len(data):
        raise _error(path, f"the trace is damaged: {len(data) - offset} bytes stand behind its end")
    return tuple(firings), tuple(accesses)


def _view(path: str, data: mmap.mmap, offset: int, count: int, dtype: np.dtype[np.generic]) -> NDArray[np.uint16]:
    """Return ``count`` elements from ``offset``; a type of one byte too, whatever the annotation says."""
    if offset + count * dtype.itemsize > len(data):
        missing = offset + count * dtype.itemsize - len(data)
        raise _error(path, f"the trace is truncated: at least {missing} bytes are missing at its end")
    return np.frombuffer(data, dtype=dtype.newbyteorder("<"), count=count, offset=offset)


# The header's topology ------------------------------------------------------------------------------------------------


def _topology(value: Json) -> Topology:
    fields = _object(value)
    return Topology(
        name=str(fields["name"]),
        actors=tuple(_actor(a) for a in _list(fields["actors"])),
        buffers=tuple(_buffer(b) for b in _list(fields["buffers"])),
    )


def _actor(value: Json) -> TraceActor:
    fields = _object(value)
    return TraceActor(
        name=str(fields["name"]),
        class_name=str(fields["class_name"]),
        inputs=tuple(str(p) for p in _list(fields["inputs"])),
        outputs=tuple(str(p) for p in _list(fields["outputs"])),
        actions=tuple(_action(a) for a in _list(fields["actions"])),
        fsm=bool(fields["fsm"]),
        stateless=bool(fields["stateless"]),
    )


def _action(value: Json) -> TraceAction:
    fields = _object(value)
    return TraceAction(
        name=str(fields["name"]),
        reads=tuple(_integer(n) for n in _list(fields["reads"])),
        writes=tuple(_integer(n) for n in _list(fields["writes"])),
        initializer=bool(fields["initializer"]),
    )


def _buffer(value: Json) -> TraceBuffer:
    fields = _object(value)
    capacity = fields["capacity"]
    return TraceBuffer(
        source=_integer(fields["source"]),
        source_port=_integer(fields["source_port"]),
        target=_integer(fields["target"]),
        target_port=_integer(fields["target_port"]),
        token_bytes=_integer(fields["token_bytes"]),
        token_bits=_integer(fields["token_bits"]),
        capacity=None if capacity is None else _integer(capacity),
        initial_tokens=_integer(fields["initial_tokens"]),
    )


def _signature(value: Json) -> tuple[frozenset[str], frozenset[str], frozenset[str]]:
    guards, reads, writes = (frozenset(str(name) for name in _list(names)) for names in _list(value))
    return guards, reads, writes


def _object(value: Json) -> dict[str, Json]:
    if not isinstance(value, dict):
        raise TypeError("expected an object")
    return value


def _list(value: Json) -> list[Json]:
    if not isinstance(value, list):
        raise TypeError("expected a list")
    return value


def _integer(value: Json) -> int:
    if not isinstance(value, int) or isinstance(value, bool):
        raise TypeError("expected an integer")
    return value
