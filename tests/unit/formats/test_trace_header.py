"""Headers of trace files with right checksums: every wrong value is named, and none reaches compiled code."""

import json
import random
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from dse.base.errors import FormatError
from dse.formats.token_counts import check_token_counts
from dse.formats.trace_header import HeaderError, parse_header
from dse.formats.trace_store import read_trace, write_trace
from dse.model.trace import AccessTable, Topology, TraceAction, TraceActor, TraceBuffer, make_trace
from tests.fuzz.trace_files import make_file

SIZES = {"token_bytes": 4, "token_bits": 32}


def topology() -> Topology:
    source = TraceActor(
        name="s", class_name="S", inputs=(), outputs=("O",), actions=(TraceAction(name="x", reads=(), writes=(1,)),)
    )
    sink = TraceActor(
        name="k", class_name="K", inputs=("I",), outputs=(), actions=(TraceAction(name="t", reads=(1,), writes=()),)
    )
    buffer = TraceBuffer(source=0, source_port=0, target=1, target_port=0, **SIZES)
    return Topology(name="top", actors=(source, sink), buffers=(buffer,))


def header() -> dict[str, Any]:
    action = {"name": "x", "reads": [], "writes": [1], "initializer": False}
    ports = {"class_name": "S", "fsm": False, "stateless": True}
    reader = {"name": "t", "reads": [1], "writes": [], "initializer": False}
    return {
        "topology": {
            "name": "top",
            "actors": [
                {"name": "s", "inputs": [], "outputs": ["O"], "actions": [action], **ports},
                {"name": "k", "inputs": ["I"], "outputs": [], "actions": [reader], **ports},
            ],
            "buffers": [
                {"source": 0, "source_port": 0, "target": 1, "target_port": 0, "capacity": None, "initial_tokens": 0}
                | SIZES
            ],
        },
        "firings": [2, 2],
        "digest": "",
        "made_by": [],
    }


def put(place: str, value: object) -> bytes:
    document: Any = header()
    owner, *keys = document, *[int(k) if k.isdecimal() else k for k in place.split("/")]
    for key in keys[:-1]:
        owner = owner[key]
    owner[keys[-1]] = value
    return json.dumps(document).encode()


def test_the_plain_header_is_understood() -> None:
    found = parse_header(json.dumps(header()).encode())
    assert found.topology.actors[1].inputs == ("I",)
    assert found.counts == (2, 2)


BUFFER = "topology/buffers/0"


@pytest.mark.parametrize(
    ("place", "value", "message"),
    [
        (f"{BUFFER}/source", 2, r"buffers\[0\].source is 2, expected an integer from 0 to 1"),
        (f"{BUFFER}/source", -1, "source is -1"),
        (f"{BUFFER}/source", True, "source is true"),
        (f"{BUFFER}/source", 0.0, "source is 0.0"),
        (f"{BUFFER}/target", 0, "target_port is 0, expected nothing"),
        (f"{BUFFER}/source_port", 1, "source_port is 1"),
        (f"{BUFFER}/target_port", 2**64, "target_port is 18446744073709551616"),
        (f"{BUFFER}/capacity", 0, "capacity is 0, expected an integer from 1 to"),
        (f"{BUFFER}/capacity", 10**400, "capacity is an integer of 1329 bits"),
        (f"{BUFFER}/initial_tokens", 2**63, "initial_tokens"),
        (f"{BUFFER}/token_bits", -1, "token_bits"),
        ("topology/actors/0/actions/0/writes", [1, 1], "writes has 2 entries, expected 1"),
        ("topology/actors/0/actions/0/writes", [2**63], "writes"),
        ("topology/actors/0/actions/0/initializer", 1, "initializer is 1, expected true or false"),
        ("topology/actors/0/actions", {}, "actions is an object, expected a list"),
        ("topology/actors/0/name", "", 'name is "", expected a name'),
        ("topology/actors/0/name", "k", r"actors\[1\] has the name 'k' of another one"),
        ("topology/actors/0/name", "\ud800", r"the character U\+D800"),
        ("topology/actors/0/name", "a\0", r"the character U\+0000"),
        ("topology/actors/0/outputs", ["O", "O"], "has the name 'O'"),
        ("topology/name", None, "name is null"),
        ("firings", [2], "firings has 1 entries, expected 2"),
        ("firings", [2, -2], r"firings\[1\] is -2"),
        ("made_by", [["a"]], r"made_by\[0\] has 1 entries"),
        ("accesses", [[]], "accesses has 1 entries, expected 2"),
        ("accesses", [[[[], []]], []], r"accesses\[0\]\[0\] has 2 entries, expected 3"),
        ("digest", 3, "digest is 3, expected a text"),
    ],
)
def test_a_value_that_cannot_be_is_named(place: str, value: object, message: str) -> None:
    with pytest.raises(HeaderError, match=message):
        parse_header(put(place, value))


@pytest.mark.parametrize("place", ["topology", "firings", "topology/actors/0/fsm", f"{BUFFER}/capacity"])
def test_a_value_that_is_missing_is_named(place: str) -> None:
    document: Any = header()
    *way, last = [int(k) if k.isdecimal() else k for k in place.split("/")]
    owner = document
    for key in way:
        owner = owner[key]
    del owner[last]
    with pytest.raises(HeaderError, match=f"has no '{last}'"):
        parse_header(json.dumps(document).encode())


@pytest.mark.parametrize("text", [b"", b"null", b"[" * 200_000, b"\xff", b'{"a": ' + b"9" * 5000 + b"}", b"{}"])
def test_what_is_no_header(text: bytes) -> None:
    with pytest.raises(HeaderError):
        parse_header(text)


def test_two_buffers_at_one_input() -> None:
    document = header()
    document["topology"]["buffers"] *= 2
    with pytest.raises(HeaderError, match=r"buffers\[1\] is a second buffer at one input: s.O->k.I"):
        parse_header(json.dumps(document).encode())


def test_a_signature_that_is_not_there(tmp_path: Path) -> None:
    none = frozenset[str]()
    signatures = ((none, none, none),)
    ids = [np.array([0, last], dtype=np.uint16) for last in (0, 1)]
    tables = tuple(AccessTable(signatures=signatures, ids=i) for i in ids)
    path = str(tmp_path / "t")
    write_trace(make_trace(topology(), [[0, 0], [0, 0]], accesses=tables), path)
    with pytest.raises(FormatError, match="actor k has accesses of a signature that it lacks"):
        read_trace(path)


def test_tokens_that_nobody_writes() -> None:
    check_token_counts(make_trace(topology(), [[0, 0], [0, 0]]), "t")
    with pytest.raises(FormatError, match=r"reads 3 tokens from s.O->k.I, but only 2 are ever there"):
        check_token_counts(make_trace(topology(), [[0, 0], [0, 0, 0]]), "t")


def test_tokens_beyond_64_bits() -> None:
    plain = topology()
    action = TraceAction(name="x", reads=(), writes=(1 << 40,))
    writer = TraceActor(name="s", class_name="S", inputs=(), outputs=("O",), actions=(action,))
    many = Topology(name="top", actors=(writer, plain.actors[1]), buffers=plain.buffers)
    check_token_counts(make_trace(many, [[0] * (1 << 22), []]), "t")
    with pytest.raises(FormatError, match="more than the"):
        check_token_counts(make_trace(many, [[0] * ((1 << 22) + 1), []]), "t")


def test_random_changes_are_errors_of_the_format(tmp_path: Path) -> None:
    wrong = 0
    for seed in range(400):
        make_file(random.Random(seed), tmp_path / "t")
        try:
            check_token_counts(read_trace(str(tmp_path / "t")), "t")
        except FormatError:
            wrong += 1
    assert 250 < wrong < 400, "nearly all are wrong, and some are right all the same"
