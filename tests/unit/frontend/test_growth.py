"""Small files that ask for much: each ends in an error that names the limit, in little time and memory."""

import gzip
from pathlib import Path

import pytest

from dse.base.errors import DseError, FormatError, SourceError
from dse.base.limits import Limits, raised_limits
from dse.formats.turnus_net import read_net
from dse.formats.turnus_trace import read_turnus_trace
from dse.frontend.network.elaborate import load_network
from tests.fuzz.behaviour import bounded

NET = Path(__file__).resolve().parents[2] / "golden/turnus/case_04/top.net"
ACTOR = "package x;\nactor A() ==> int Out :\n    action ==> Out:[1] end\nend\n"


def nested(folder: Path, levels: int, fan: int, leaf: str) -> str:
    """Write networks inside each other, each with ``fan`` instances of the next, and return the outermost."""
    (folder / "x").mkdir()
    (folder / "x" / "A.cal").write_text(ACTOR)
    for level in range(levels):
        inner = leaf if level == levels - 1 else f"n{level + 1}"
        instances = "".join(
            f'<Instance id="i{k}"><Class name="{inner}"/></Instance>' for k in range(fan if inner else 0)
        )
        (folder / f"n{level}.xdf").write_text(f'<XDF name="n{level}">{instances}</XDF>')
    return str(folder / "n0.xdf")


@pytest.mark.parametrize(("levels", "fan", "leaf"), [(3, 1000, "x.A"), (9, 30, "")], ids=["actors", "nothing"])
def test_networks_in_networks(tmp_path: Path, levels: int, fan: int, leaf: str) -> None:
    path = nested(tmp_path, levels, fan, leaf)
    with bounded(60), raised_limits(Limits(actors=5000)), pytest.raises(SourceError) as caught:
        load_network(path)
    errors = [d for d in caught.value.diagnostics if d.severity == "error"]
    assert [d.message for d in errors] == [
        "the network has more than 5000 instances, those of its sub-networks counted"
    ]
    assert "--limit actors=N" in errors[0].expected


def test_at_the_limit_and_one_beyond(tmp_path: Path) -> None:
    path = nested(tmp_path, 2, 10, "x.A")  # 10 networks of 10 actors
    with raised_limits(Limits(actors=20)):
        assert len(load_network(str(tmp_path / "n1.xdf")).network.instances) == 10
    with raised_limits(Limits(actors=10)):
        assert len(load_network(str(tmp_path / "n1.xdf")).network.instances) == 10
        with pytest.raises(SourceError):
            load_network(path)
    with raised_limits(Limits(actors=9)), pytest.raises(SourceError):
        load_network(str(tmp_path / "n1.xdf"))


def test_connections(tmp_path: Path) -> None:
    (tmp_path / "x").mkdir()
    (tmp_path / "x" / "A.cal").write_text(ACTOR)
    (tmp_path / "x" / "B.cal").write_text("package x;\nactor B() int In ==> :\n    action In:[a] ==> end\nend\n")
    readers = "".join(f'<Instance id="b{k}"><Class name="x.B"/></Instance>' for k in range(5))
    wires = "".join(f'<Connection src="a" src-port="Out" dst="b{k}" dst-port="In"/>' for k in range(5))
    (tmp_path / "n.xdf").write_text(
        f'<XDF name="n"><Instance id="a"><Class name="x.A"/></Instance>{readers}{wires}</XDF>'
    )
    with raised_limits(Limits(fifos=5)):
        assert len(load_network(str(tmp_path / "n.xdf")).network.connections) == 5
    with raised_limits(Limits(fifos=4)), pytest.raises(SourceError, match="more than 4 connections"):
        load_network(str(tmp_path / "n.xdf"))


@pytest.mark.parametrize(
    ("piece", "around"),
    [
        (b"<x/>", b""),
        (b"<x><step/></x>", b""),
        (b"<!--x-->", b""),
        (b"<tokens/>", b'<step firing="0" actor="a0" action="t0">'),
        (b'<variable direction="read" name="v"/>', b'<step firing="0" actor="a0" action="t0">'),
        (b"a" * 50_000, b'<step firing="0" action="t0" actor="'),
    ],
    ids=["elements", "inner steps", "comments", "tokens", "variables", "name"],
)
def test_a_packed_trace_is_left_where_nothing_in_it_is_kept(tmp_path: Path, piece: bytes, around: bytes) -> None:
    path = tmp_path / "t.tracez"
    with gzip.open(path, "wb", compresslevel=1) as file:
        file.write(b"<trace>" + around)
        for _ in range(40):
            file.write(piece * ((1 << 20) // len(piece)))
        file.write(b"</trace>")
    with bounded(60), pytest.raises(DseError, match=r"41\d\d kB of it hold no complete step"):
        read_turnus_trace(str(path), read_net(str(NET)))  # 4 MB of 40 were looked at


def test_the_limit_of_an_element_can_be_raised(tmp_path: Path) -> None:
    path = tmp_path / "t.trace"
    path.write_bytes(b"<trace>" + b"<x/>" * 100_000 + b'<step firing="0" actor="a0" action="zz"/></trace>')
    with raised_limits(Limits(step_bytes=100_000)), pytest.raises(FormatError, match="hold no complete step"):
        read_turnus_trace(str(path), read_net(str(NET)))
    with raised_limits(Limits(step_bytes=1_000_000)), pytest.raises(FormatError, match="called 'zz'"):
        read_turnus_trace(str(path), read_net(str(NET)))


BOMB = "a0: &a0 [x, x, x, x, x, x, x, x, x]\n" + "".join(
    f"a{i}: &a{i} [{', '.join([f'*a{i - 1}'] * 9)}]\n" for i in range(1, 12)
)


@pytest.mark.parametrize(
    "text",
    [
        BOMB,
        f"{BOMB}units: *a11\n",
        f"{BOMB}units: {{cpu: {{kind: *a11, cores: *a11}}}}\n",
        f"{BOMB}units: {{cpu: {{kind: cpu}}}}\nlinks: {{l: {{between: *a11}}}}\n",
        "units: &u {cpu: *u}\n",
        "units: &u [*u]\n",
        "&u units: {cpu: {kind: cpu, clock_mhz: {value: *u}}}\n",
        "units: " + "[" * 1200,
    ],
)
def test_yaml_that_names_itself(tmp_path: Path, text: str) -> None:
    from dse.formats.platform_yaml import read_platform

    path = tmp_path / "p.yaml"
    path.write_text(text)
    with bounded(30), pytest.raises(FormatError):
        read_platform(str(path))
