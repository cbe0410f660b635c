"""Small CAL programs written to a folder and run."""

import re
from pathlib import Path

from dse.frontend.network.elaborate import load_network
from dse.program.network import Network
from dse.program.verify.actors import verify
from dse.program.verify.findings import assert_none
from dse.run.execution import RunResult, run_network
from dse.run.options import RunOptions

SINK = "actor Sink () int(size=64) I ==> : action I:[x] ==> do println(x); end end"


def network_of(folder: Path, actors: tuple[str, ...], wiring: str) -> Network:
    """Write actors (and units) and a network. Wiring: words ``a=Actor``, ``a.O->b.I``, ``a.O->b.I:bufferSize``."""
    for text in actors:
        name = re.search(r"(?:actor|unit)\s+(\w+)", text)
        assert name is not None
        (folder / f"{name[1]}.cal").write_text(text)
    lines = ['<?xml version="1.0" encoding="UTF-8"?>', '<XDF name="Top">']
    for word in wiring.split():
        if "->" in word:
            ends, _, size = word.partition(":")
            (source, out), (target, into) = (end.split(".") for end in ends.split("->"))
            lines.append(f'<Connection src="{source}" src-port="{out}" dst="{target}" dst-port="{into}">')
            if size:
                value = f'<Expr kind="Literal" literal-kind="Integer" value="{size}"/>'
                lines.append(f'<Attribute kind="Value" name="bufferSize">{value}</Attribute>')
            lines.append("</Connection>")
        else:
            name_, _, class_ = word.partition("=")
            lines.append(f'<Instance id="{name_}"><Class name="{class_}"/></Instance>')
    path = folder / "Top.xdf"
    path.write_text("\n".join([*lines, "</XDF>"]))
    network = load_network(str(path)).network
    for instance in network.instances:
        assert_none(verify(instance.actor), instance.name)
    return network


def run_program(folder: Path, actors: tuple[str, ...], wiring: str, options: RunOptions | None = None) -> RunResult:
    """Run a program and return what it gave."""
    return run_network(network_of(folder, actors, wiring), options or RunOptions())


def run_body(
    folder: Path, body: str, declarations: str = "", *, var: str = "", options: RunOptions | None = None
) -> str:
    """Run ``body`` once as the action of an actor without ports and return what it printed."""
    text = f"""
    actor A () ==> :
        bool ran := false;
        {declarations}
        go: action ==> guard not ran {"var " + var if var else ""} do ran := true; {body} end
    end
    """
    return run_program(folder, (text,), "a=A", options).stdout


def counts(network: Network, result: RunResult) -> dict[str, dict[str, int]]:
    """Return the firings that happened, by actor and action."""
    return {
        i.name: {a.name: n for a, n in zip(i.actor.actions, c, strict=True) if n}
        for i, c in zip(network.instances, result.actions, strict=True)
    }
