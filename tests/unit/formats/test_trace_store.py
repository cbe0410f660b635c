"""The trace store: round trip, size, and clear errors for everything that can happen to a file."""

import hashlib
import json
import os
import struct
from contextlib import suppress
from dataclasses import fields, replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dse.base.errors import FormatError
from dse.formats.trace_store import MAGIC, is_trace_store, read_trace, write_trace
from dse.model.trace import Topology, Trace, TraceAction, TraceActor, TraceBuffer, make_trace
from tests.examples import examples
from tests.unit.formats.strategies import same_trace, traces


def chain(n: int, n_actions: int = 2) -> Trace:
    actions = tuple(TraceAction(name=f"x{i}", reads=(), writes=(1,)) for i in range(n_actions))
    source = TraceActor(name="s", class_name="C", inputs=(), outputs=("O",), actions=actions)
    sink = TraceActor(
        name="k", class_name="C", inputs=("I",), outputs=(),
        actions=(TraceAction(name="t", reads=(1,), writes=(), initializer=True),), fsm=True, stateless=True,
    )  # fmt: skip
    buffer = TraceBuffer(
        source=0, source_port=0, target=1, target_port=0, token_bytes=4, token_bits=32, capacity=7, initial_tokens=2
    )
    topology = Topology(name="top", actors=(source, sink), buffers=(buffer,))
    return make_trace(topology, [np.arange(n) % n_actions, np.zeros(n)], made_by=(("network", "top.xdf"),))


@given(trace=traces())
@settings(max_examples=examples(60), deadline=None)
def test_round_trip(tmp_path_factory: pytest.TempPathFactory, trace: Trace) -> None:
    path = str(tmp_path_factory.mktemp("t") / "x.trc")
    write_trace(trace, path)
    assert same_trace(read_trace(path), trace)


def test_every_field_of_the_topology_is_kept(tmp_path: Path) -> None:
    # A field that somebody adds to the model with a default would be written and not read without this test.
    trace = chain(3)
    topology = trace.topology
    for item in (topology.actors[1], topology.actors[1].actions[0], topology.buffers[0]):
        defaults = [f.name for f in fields(item) if getattr(item, f.name) == f.default]
        assert defaults == [], "give the new field another value than its default here"
    write_trace(trace, str(tmp_path / "t"))
    assert read_trace(str(tmp_path / "t")).topology == topology


def test_two_bytes_a_firing_at_most(tmp_path: Path) -> None:
    trace = chain(500_000)
    size = write_trace(trace, str(tmp_path / "t"))
    assert size == (tmp_path / "t").stat().st_size
    assert size <= 2 * trace.n_firings
    read = read_trace(str(tmp_path / "t"))
    assert sum(f.nbytes for f in read.firings) <= 4 * read.n_firings
    assert not read.firings[0].flags.writeable


def test_many_actions_take_two_bytes(tmp_path: Path) -> None:
    trace = chain(1000, n_actions=300)
    write_trace(trace, str(tmp_path / "t"))
    read = read_trace(str(tmp_path / "t"))
    assert read.firings[0].dtype == np.uint16
    assert same_trace(read, trace)


def test_the_digest_sees_every_firing_and_the_topology() -> None:
    trace = chain(100)
    other = trace.firings[0].copy()
    other[37] ^= 1
    assert make_trace(trace.topology, [other, trace.firings[1]]).digest != trace.digest
    assert make_trace(replace(trace.topology, name="x"), trace.firings).digest != trace.digest


def test_writing_is_atomic(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "t"
    write_trace(chain(5), str(path))
    before = path.read_bytes()

    def full(descriptor: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(FormatError, match="No space left"):
        write_trace(chain(50), str(path))
    assert path.read_bytes() == before
    assert sorted(p.name for p in tmp_path.iterdir()) == ["t"]


def test_unwritable_folder(tmp_path: Path) -> None:
    with pytest.raises(FormatError, match="cannot write the trace"):
        write_trace(chain(1), str(tmp_path / "none" / "t"))


def damaged(data: bytes, kind: str) -> bytes:
    match kind:
        case "short":
            return data[:20]
        case "header cut":
            return data[:100]
        case "truncated":
            return data[:-1]
        case "longer":
            return data + b"x"
        case "version":
            return data[:8] + (99).to_bytes(4, "little") + data[12:]
        case "magic":
            return b"X" + data[1:]
        case "header":
            return data[:200] + bytes([data[200] ^ 1]) + data[201:]
        case _:
            return data[:-1] + bytes([data[-1] ^ 1])


@pytest.mark.parametrize(
    ("kind", "message"),
    [
        ("short", "too short"),
        ("header cut", "truncated"),
        ("truncated", "truncated: at least 1 bytes"),
        ("longer", "1 bytes stand behind"),
        ("version", "has version 99"),
        ("magic", "not a trace file"),
        ("header", "header does not have the checksum"),
        ("content", "lacks"),
    ],
)
def test_damage_is_told(tmp_path: Path, kind: str, message: str) -> None:
    path = tmp_path / "t"
    write_trace(chain(100), str(path))
    path.write_bytes(damaged(path.read_bytes(), kind))
    with pytest.raises(FormatError, match=message) as caught:
        read_trace(str(path))
    assert caught.value.diagnostics[0].span.path == str(path)
    assert caught.value.diagnostics[0].expected


def test_a_flipped_firing_is_found(tmp_path: Path) -> None:
    path = tmp_path / "t"
    trace = chain(100)
    write_trace(trace, str(path))
    data = bytearray(path.read_bytes())
    data[-(100 + 28 + 50)] ^= 1  # the columns are 100 bytes each, the first padded to 128
    path.write_bytes(bytes(data))
    with pytest.raises(FormatError, match="digest"):
        read_trace(str(path))
    assert len(read_trace(str(path), verify=False).firings[0]) == 100


def test_files_of_other_programs(tmp_path: Path) -> None:
    (tmp_path / "t.trace").write_text('<trace><step firing="0" actor="a" action="b" actor-class="c"/></trace>')
    assert not is_trace_store(str(tmp_path / "t.trace"))
    assert not is_trace_store(str(tmp_path / "nothing"))
    with pytest.raises(FormatError, match="not a trace file"):
        read_trace(str(tmp_path / "t.trace"))
    for wrong in ("missing", "."):
        with pytest.raises(FormatError, match="cannot read the trace"):
            read_trace(str(tmp_path / wrong))


@given(data=st.data())
@settings(max_examples=examples(80), deadline=None)
def test_mutated_files_never_raise_anything_else(tmp_path_factory: pytest.TempPathFactory, data: st.DataObject) -> None:
    path = tmp_path_factory.mktemp("t") / "t"
    write_trace(chain(20), str(path))
    content = bytearray(path.read_bytes())
    for _ in range(data.draw(st.integers(1, 3))):
        content[data.draw(st.integers(0, len(content) - 1))] = data.draw(st.integers(0, 255))
    path.write_bytes(bytes(content[: data.draw(st.integers(0, len(content)))]))
    with suppress(FormatError):
        read_trace(str(path))


@given(header=st.recursive(st.none() | st.integers() | st.text(max_size=3), lambda x: st.lists(x, max_size=3)))
@settings(max_examples=examples(40), deadline=None)
def test_strange_headers(tmp_path_factory: pytest.TempPathFactory, header: object) -> None:
    path = tmp_path_factory.mktemp("t") / "t"
    for document in (header, {"topology": header}, {"topology": {"name": "", "actors": [], "buffers": header}}):
        text = json.dumps(document).encode()
        path.write_bytes(struct.pack("<8sII32s", MAGIC, 1, len(text), hashlib.sha256(text).digest()) + text)
        with pytest.raises(FormatError):
            read_trace(str(path))
