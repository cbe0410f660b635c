"""Attacks on the project's own trace files: right checksums, wrong contents; the header and the columns."""

import copy
import hashlib
import json
import random
import struct
from dataclasses import asdict
from pathlib import Path

import numpy as np

from dse.formats.trace_store import MAGIC, VERSION
from dse.model.trace import Topology, TraceAction, TraceActor, TraceBuffer, make_trace
from tests.fuzz.behaviour import fault_of
from tests.fuzz.mutations import Tree, mutate_tree


def _example(rng: random.Random) -> tuple[dict[str, Tree], list[bytes]]:
    """Return header and columns of a small pipeline, with accesses in every second case."""
    n = rng.choice((0, 1, 5, 40))
    source = TraceActor(
        name="s",
        class_name="S",
        inputs=(),
        outputs=("O", "P"),
        stateless=True,
        actions=(TraceAction(name="x", reads=(), writes=(1, 0)), TraceAction(name="y", reads=(), writes=(2, 1))),
    )
    middle = TraceActor(
        name="m",
        class_name="M",
        inputs=("I",),
        outputs=("O",),
        fsm=True,
        actions=(
            TraceAction(name="start", reads=(0,), writes=(0,), initializer=True),
            TraceAction(name="f", reads=(1,), writes=(1,)),
        ),
    )
    sink = TraceActor(
        name="k",
        class_name="K",
        inputs=("A", "B"),
        outputs=(),
        actions=(TraceAction(name="t", reads=(1, 0), writes=()),),
    )
    sizes = {"token_bytes": 4, "token_bits": 32}
    buffers = (
        TraceBuffer(source=0, source_port=0, target=1, target_port=0, capacity=8, **sizes),
        TraceBuffer(source=1, source_port=0, target=2, target_port=0, initial_tokens=1, **sizes),
        TraceBuffer(source=0, source_port=1, target=2, target_port=1, **sizes),
    )
    topology = Topology(name="top", actors=(source, middle, sink), buffers=buffers)
    trace = make_trace(topology, [np.arange(n) % 2, [0] + [1] * n, [0] * n])
    columns = [ids.tobytes() for ids in trace.firings]
    header: dict[str, Tree] = {
        "topology": asdict(topology),
        "firings": [len(ids) for ids in trace.firings],
        "digest": trace.digest,
        "made_by": [["tool", "dse"], ["network", "top.xdf"]],
    }
    if rng.random() < 0.5:
        header["accesses"] = [[[["a"], ["b"], []], [[], [], ["c"]]]] * 3
        ids = [(np.arange(len(c)) % 2).astype("<u2").tobytes() for c in trace.firings]
        header["accesses_digest"] = hashlib.sha256(b"".join(ids)).hexdigest()
        columns += ids
    return header, columns


def _digested(header: Tree, columns: list[bytes]) -> Tree:
    """Return a header with the digests that fit, as far as it still has places for them."""
    try:
        counts = header["firings"]
        digest = hashlib.sha256(json.dumps(header["topology"], separators=(",", ":")).encode())
        for column in columns[: len(counts)]:
            digest.update(len(column).to_bytes(8, "little") + column)
        if isinstance(header["digest"], str):
            header["digest"] = digest.hexdigest()
        if "accesses_digest" in header:
            rest = b"".join(columns[len(counts) :])
            header["accesses_digest"] = hashlib.sha256(rest).hexdigest()
    except (KeyError, TypeError, IndexError, ValueError):
        pass
    return header


def _file(header: Tree, columns: list[bytes]) -> bytes:
    text = json.dumps(header, separators=(",", ":"))
    encoded = text.encode()
    data = struct.pack("<8sII32s", MAGIC, VERSION, len(encoded), hashlib.sha256(encoded).digest()) + encoded
    for column in columns:
        data += b"\0" * (-len(data) % 64) + column
    return data


def _mutated_columns(rng: random.Random, columns: list[bytes]) -> list[bytes]:
    """Return columns with ids of nothing, of another length, or exchanged."""
    changed = list(columns)
    at = rng.randrange(len(changed))
    match rng.choice(("ids", "ids", "longer", "shorter", "exchange", "wide")):
        case "ids":
            changed[at] = bytes(rng.choice((0, 1, 2, 7, 255)) for _ in changed[at])
        case "longer":
            changed[at] += bytes(rng.choice((1, 2, 64)))
        case "shorter":
            changed[at] = changed[at][: len(changed[at]) // 2]
        case "exchange":
            other = rng.randrange(len(changed))
            changed[at], changed[other] = changed[other], changed[at]
        case _:
            changed[at] = np.frombuffer(changed[at], dtype=np.uint8).astype(">u2").tobytes()
    return changed


def _fit_counts(header: Tree, columns: list[bytes]) -> None:
    """Make the numbers of firings those of the columns, so that only their content is wrong."""
    if isinstance(header, dict) and isinstance(header.get("firings"), list):
        header["firings"] = [len(column) for column in columns[:3]]


def make_file(rng: random.Random, path: Path) -> None:
    """Write one random trace file: header, columns or both changed, the checksums nearly always right."""
    header, columns = _example(rng)
    changed: Tree = copy.deepcopy(header)
    if rng.random() < 0.7:
        changed = mutate_tree(rng, header)
    else:
        columns = _mutated_columns(rng, columns)
        if rng.random() < 0.8:
            _fit_counts(changed, columns)
    if rng.random() < 0.95:
        changed = _digested(changed, columns)
    data = _file(changed, columns)
    if rng.random() < 0.05:
        text = rng.choice((b"[" * 100_000, b"{}", b"\xff\xfe", b'{"topology":' + b"9" * 5000 + b"}", b"null", b""))
        data = struct.pack("<8sII32s", MAGIC, VERSION, len(text), hashlib.sha256(text).digest()) + text
    path.write_bytes(data)


def attack(rng: random.Random, folder: Path) -> str | None:
    """Make one wrong trace file and read it in one way; return the fault of dse, None where there is none."""
    make_file(rng, folder / "attacked.trc")
    weights = "--missing-weights zero --quiet"
    command = rng.choice(
        (
            "trace --info attacked.trc",
            "trace --info attacked.trc",
            "trace attacked.trc --export attacked.trace --quiet",
            f"estimate attacked.trc {weights}",
            f"estimate attacked.trc {weights} --engine reference",
            f"explore attacked.trc {weights} --budget 4 --workers 1 --method random --out explored",
            f"buffers attacked.trc {weights}",
        )
    )
    fault = fault_of(command.split(), folder)
    return None if fault is None else f"dse {command}\n{fault}"
