"""Programs of tests that tell their results as native programs do, written in Python."""

import json
import sys
from pathlib import Path

from dse.program.network import Network
from dse.run.execution import RunResult

SCRIPT = """
import json, os, sys, time
arguments = sys.argv[1:]
def value(name):
    return arguments[arguments.index(name) + 1]
told = json.loads(open(__file__ + ".json").read())
open(__file__ + ".arguments", "w").write(json.dumps(arguments))
os.write(int(value("--progress")), b"17\\n")
sys.stdout.write(told["stdout"])
sys.stdout.flush()
if told["signal"]:
    os.kill(os.getpid(), told["signal"])
if told["document"] is not None:
    open(value("--result"), "w").write(json.dumps(told["document"]))
    open(value("--trace"), "wb").write(bytes.fromhex(told["trace"]))
"""


def document_of(network: Network, result: RunResult) -> dict[str, object]:
    """The document with which a native program tells a result."""
    names = [i.name for i in network.instances]
    return {
        "version": 1,
        "why": result.why,
        "exit_code": result.exit_code,
        "error": None,
        "firings": result.n_firings,
        "actors": [
            {"name": n, "actions": list(counts), "strays": [], "rounds": [], "tail": 0}
            for n, counts in zip(names, result.actions, strict=True)
        ],
        "channels": [
            {"tokens": c.tokens, "left": c.left, "hash": None if c.digest is None else str(c.digest)}
            for c in result.channels
        ],
        "frames": result.frames,
        "outputs": list(result.outputs),
        "read": list(result.inputs),
        "gpu": None,
        "comparison": None,
        "waits": [wait_of(network, names, w) for w in result.waits],
        "deadlock": None,
        "input_asked": False,
        "input_read": False,
        "loops_asked": False,
    }


def wait_of(network: Network, names: list[str], wait: object) -> dict[str, object]:
    """One wait as a native program tells it."""
    from dse.run.diagnose import Wait

    assert isinstance(wait, Wait)
    actor = network.instances[names.index(wait.actor)].actor
    ports = [p.name for p in (actor.outputs if wait.kind == "room" else actor.inputs)]
    return {
        "actor": names.index(wait.actor),
        "action": next(k for k, a in enumerate(actor.actions) if (a.name, a.span) == (wait.action, wait.span)),
        "kind": wait.kind,
        "port": ports.index(wait.port) if wait.port else -1,
        "have": wait.have,
        "need": wait.need,
        "peers": [names.index(p) for p in wait.peers],
    }


def trace_bytes(firings: list[list[int]], width: int = 1) -> bytes:
    """The file of a trace as a native program writes it."""
    head = b"DSENATV1" + len(firings).to_bytes(4, "little")
    head += b"".join(len(ids).to_bytes(8, "little") + bytes([width]) for ids in firings)
    return head + b"".join(number.to_bytes(width, "little") for ids in firings for number in ids)


def program_that_tells(
    folder: Path, document: dict[str, object] | None, trace: bytes = b"", *, stdout: str = "", signal: int = 0
) -> Path:
    """A program that prints a text and tells a result, or is ended by a signal before."""
    path = folder / "program"
    path.write_text(f"#!{sys.executable} -S\n{SCRIPT}")
    path.chmod(0o755)
    told = {"document": document, "trace": trace.hex(), "stdout": stdout, "signal": signal}
    Path(f"{path}.json").write_text(json.dumps(told))
    return path
