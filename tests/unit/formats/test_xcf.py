"""Mapping files: four dialects read, each written and read back exactly, all errors of a file at once."""

from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import get_args

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dse.base.diagnostics import Gatherer
from dse.base.errors import FormatError
from dse.formats.xcf import read_xcf
from dse.formats.xcf_write import XcfDialect, write_xcf
from dse.model.design_point import DesignPoint, Partition
from dse.model.platform import Platform, Unit
from dse.model.trace import Topology, TraceAction, TraceActor, TraceBuffer
from tests.examples import examples
from tests.unit.formats.strategies import PLATFORM, damaged, design_points, topologies


def network() -> Topology:
    def actor(name: str, inputs: int, outputs: int, rate: int = 1) -> TraceActor:
        action = TraceAction(name="x", reads=(rate,) * inputs, writes=(rate,) * outputs)
        return TraceActor(
            name=name, class_name="C", inputs=tuple(f"I{i}" for i in range(inputs)),
            outputs=tuple(f"O{i}" for i in range(outputs)), actions=(action,),
        )  # fmt: skip

    actors = (actor("src", 0, 2), actor("idct/row", 1, 1), actor("idct/col", 1, 0), actor("sink", 1, 0, rate=600))
    ends = [(0, 0, 1, 0), (1, 0, 2, 0), (0, 1, 3, 0)]
    buffers = tuple(
        TraceBuffer(
            source=s, source_port=sp, target=t, target_port=tp, token_bytes=4, token_bits=32,
            capacity=64 if t == 1 else None,
        )
        for s, sp, t, tp in ends
    )  # fmt: skip
    return Topology(name="jpeg", actors=actors, buffers=buffers)


NET = network()
EXELIXI = """\
<Configuration network="jpeg">
  <Partitioning>
    <Partition id="P1" scheduling="round-robin"><Instance id="src"/><Instance id="sink"/></Partition>
    <Partition id="PG" scheduling="NON_PREEMPTIVE"><Instance id="idct_col"/><Instance id="idct/row"/></Partition>
  </Partitioning>
</Configuration>
"""
TURNUS = """\
<configuration network="jpeg"><partitioning>
  <partition id="0" scheduling="DATA_DEMAND_DRIVEN" pe="2"><instance id="src"/><instance id="sink"/></partition>
  <partition id="1" scheduling="FULL_PARALLEL" pe="1"><instance id="idct.row"/><instance id="idct.col"/></partition>
</partitioning></configuration>
"""
STREAMBLOCKS = """\
<configuration>
  <network id="jpeg" scheduling="ROUND_ROBIN"/>
  <partitioning>
    <partition id="0" pe="x86_64" code-generator="sw" host="true"><instance id="src"/><instance id="sink"/></partition>
    <partition id="1" pe="gpu" scheduling="NON_PREEMPTIVE">
      <instance id="idct_row"/><instance id="idct_col"/>
    </partition>
    <partition id="2" pe="FPGA"/>
  </partitioning>
  <code-generators><code-generator id="sw" platform="multicore"/></code-generators>
  <connections>
    <connection source="src" source-port="O0" target="idct_row" target-port="I0" size="4096"/>
    <fifo-connection source="src" source-port="O1" target="sink" target-port="I0" size="8"/>
  </connections>
</configuration>
"""


def read(folder: Path, text: str, platform: Platform = PLATFORM) -> DesignPoint:
    path = folder / "map.xcf"
    path.write_text(text)
    return read_xcf(str(path), NET, platform)


def test_exelixi(tmp_path: Path) -> None:
    assert read(tmp_path, EXELIXI) == DesignPoint(
        partitions=(
            Partition(name="P1", actors=(0, 3), unit="cpu", policy="ROUND_ROBIN"),
            Partition(name="PG", actors=(2, 1), unit="gpu", policy="NON_PREEMPTIVE"),
        ),
        capacities=(64, 512, 600),
        name="map",
    )


def test_letter_case_is_free(tmp_path: Path) -> None:
    odd = (
        EXELIXI.replace("Partition", "PARTITION")
        .replace("Instance id", "instance ID")
        .replace("scheduling", "Scheduling")
    )
    assert odd != EXELIXI
    assert read(tmp_path, odd) == read(tmp_path, EXELIXI)


def test_turnus(tmp_path: Path) -> None:
    first, second = read(tmp_path, TURNUS).partitions
    assert (first.policy, first.cores, first.unit) == ("DATA_DEMAND_DRIVEN", 2, "cpu")
    assert (second.policy, second.cores, second.actors) == ("FULL_PARALLEL", 1, (1, 2))


def test_streamblocks(tmp_path: Path) -> None:
    point = read(tmp_path, STREAMBLOCKS)
    assert [(p.name, p.actors, p.unit, p.policy) for p in point.partitions] == [
        ("0", (0, 3), "cpu", "ROUND_ROBIN"),
        ("1", (1, 2), "gpu", "NON_PREEMPTIVE"),
    ]
    assert point.capacities == (4096, 512, 8)


@given(data=st.data(), dialect=st.sampled_from(get_args(XcfDialect)), with_platform=st.booleans())
@settings(max_examples=examples(120), deadline=None)
def test_round_trip(
    tmp_path_factory: pytest.TempPathFactory, data: st.DataObject, dialect: XcfDialect, with_platform: bool
) -> None:
    topology = data.draw(topologies())
    point = data.draw(design_points(topology))
    path = str(tmp_path_factory.mktemp("x") / "m.xcf")
    write_xcf(point, topology, path, platform=PLATFORM if with_platform else None, dialect=dialect)
    warnings = Gatherer()
    assert read_xcf(path, topology, PLATFORM, warnings) == point
    assert warnings.diagnostics == []


POINT = DesignPoint(
    partitions=(
        Partition(name="A", actors=(0, 3), unit="cpu", policy="STATIC_ORDER", static_order=(0, 3, 0)),
        Partition(name="B", actors=(1, 2), unit="gpu", policy="ROUND_ROBIN"),
    ),
    capacities=(1, 2, 3),
    release="processing",
    transfers="parallel",
    name="best",
)


@pytest.mark.parametrize(
    ("dialect", "parts"),
    [
        (
            "exelixi",
            ["<Configuration ", 'network="jpeg"', '<Partition id="PG" scheduling="ROUND_ROBIN"', "<dse:buffer "],
        ),
        ("turnus", ["<configuration ", '<partition id="PG" scheduling="ROUND_ROBIN" pe="1"', "<instance "]),
        (
            "streamblocks",
            ['<network id="jpeg"/>', '<partition id="1" ', 'pe="GPU"', "<code-generators>", "<connection "],
        ),
        ("art", ['<partition id="0" scheduling="STATIC_ORDER"', "<fifo-connection source="]),
    ],
)
def test_dialects_look_as_their_tools_expect(tmp_path: Path, dialect: XcfDialect, parts: list[str]) -> None:
    path = tmp_path / "m.xcf"
    write_xcf(POINT, NET, str(path), platform=PLATFORM, dialect=dialect)
    text = path.read_text()
    for part in parts:
        assert part in text
    assert read_xcf(str(path), NET, PLATFORM) == POINT


def test_a_changed_file_is_told(tmp_path: Path) -> None:
    path = tmp_path / "m.xcf"
    write_xcf(POINT, NET, str(path), platform=PLATFORM)
    path.write_text(path.read_text().replace('target-port="I0" size="3"', 'target-port="I0" size="30"'))
    warnings = Gatherer()
    assert read_xcf(str(path), NET, PLATFORM, warnings).capacities == (1, 2, 30)
    assert [d.message for d in warnings.warnings] == [
        "the file was changed after it was written: it holds another design point than its digest says"
    ]


@pytest.mark.parametrize(("dialect", "kind"), [("exelixi", "attribute"), ("streamblocks", "element")])
def test_the_file_of_another_network_is_told(tmp_path: Path, dialect: XcfDialect, kind: str) -> None:
    path = tmp_path / "m.xcf"
    write_xcf(POINT, NET, str(path), platform=PLATFORM, dialect=dialect)
    warnings = Gatherer()
    path.write_text(path.read_text().replace('"jpeg"', '"org.codecs.JPEG"'))
    assert read_xcf(str(path), NET, PLATFORM, warnings) == POINT
    assert warnings.diagnostics == []
    path.write_text(path.read_text().replace('"org.codecs.JPEG"', '"org.codecs.AVC"'))
    read_xcf(str(path), NET, PLATFORM, warnings)
    (warning,) = warnings.warnings
    assert warning.message == "the file was written for network 'org.codecs.AVC', and this is 'jpeg'"
    assert warning.span.line == (2 if kind == "attribute" else 3)


@pytest.mark.parametrize("dialect", get_args(XcfDialect))
def test_partitions_called_as_numbers_of_others(tmp_path: Path, dialect: XcfDialect) -> None:
    names = ("PG2", "a", "b", "PG3")
    parts = tuple(
        Partition(name=name, actors=(k,), unit="cpu" if "PG" in name else "gpu") for k, name in enumerate(names)
    )
    point = replace(POINT, partitions=parts)
    path = tmp_path / "m.xcf"
    write_xcf(point, NET, str(path), platform=PLATFORM, dialect=dialect)
    assert read_xcf(str(path), NET, PLATFORM).partitions == parts


def test_unknown_parts_are_kept_on_a_rewrite(tmp_path: Path) -> None:
    old = tmp_path / "old.xcf"
    old.write_text(
        EXELIXI.replace('id="P1"', 'id="P1" colour="red"').replace("</Configuration>", "<Media a='1'/></Configuration>")
    )
    write_xcf(read_xcf(str(old), NET, PLATFORM), NET, str(tmp_path / "new.xcf"), platform=PLATFORM, keep=str(old))
    text = (tmp_path / "new.xcf").read_text()
    assert 'colour="red"' in text
    assert '<Media a="1"/>' in text
    assert read_xcf(str(tmp_path / "new.xcf"), NET, PLATFORM) == replace(read_xcf(str(old), NET, PLATFORM), name="old")


WRONG = """\
<Configuration network="jpeg" xmlns:d="urn:dse:design-point:1" d:release="later">
  <Partitioning>
    <Partition scheduling="ROUND_ROBIN"><Instance id="scr"/><Instance id="src"/></Partition>
    <Partition id="P2" scheduling="RANDOM"><Instance id="src"/><Instance/></Partition>
    <Partition id="P3" d:unit="cpux" d:cores="0"><Instance id="sink"/></Partition>
    <Partition id="P4" pe="FPGA" scheduling="STATIC_ORDER"><Instance id="idct/row"/><order>
      <Instance id="src"/></order></Partition>
    <Partition id="P2"/></Partitioning>
  <d:buffers>
    <d:buffer source="src" source-port="O0" target="idct/row" target-port="I0" size="0"/>
    <d:buffer source="src" source-port="O1" target="sink" target-port="I0"/>
    <d:buffer source="src" source-port="O9" target="sink" target-port="I0" size="1"/>
    <d:buffer source="idct/row" source-port="O0" target="idct/col" target-port="I0" size="1"/>
    <d:buffer source="idct/row" source-port="O0" target="idct/col" target-port="I0" size="2"/>
  </d:buffers>
</Configuration>
"""


def test_all_errors_at_once(tmp_path: Path) -> None:
    with pytest.raises(FormatError) as caught:
        read(tmp_path, WRONG)
    assert all(d.expected for d in caught.value.diagnostics)
    assert sorted((d.span.line, d.message) for d in caught.value.diagnostics) == [
        (1, "unknown release 'later' of 'Configuration'"),
        (2, "actors in no partition: 'idct/col'"),
        (3, "'Partition' has no 'id'"),
        (3, "there is no actor 'scr' in network 'jpeg'"),
        (4, "'Instance' has no 'id'"),
        (4, "actor 'src' is placed twice"),
        (4, "unknown policy 'RANDOM'"),
        (5, "cores of 'Partition' is '0'"),
        (5, "there is no unit 'cpux' in platform 'p'"),
        (6, "partition 'P4' is on an FPGA, which no platform here has"),
        (6, "the static order leaves out actors"),
        (7, "actor 'src' of the order is not in the partition"),
        (8, "partition 'P2' is there twice"),
        (10, "size of 'buffer' is '0'"),
        (11, "the connection has no 'size'"),
        (12, "there is no connection src.O9->sink.I0 in network 'jpeg'"),
        (14, "connection idct/row.O0->idct/col.I0 is given twice"),
    ]
    near = {d.message: d.expected for d in caught.value.diagnostics}
    assert near["there is no actor 'scr' in network 'jpeg'"] == "did you mean 'src'?"
    assert near["partition 'P2' is there twice"].startswith("the first is in line 4; give each an id of its own")
    assert near["actor 'src' is placed twice"] == "the first place is in line 3"
    assert "src.O1->sink.I0" in near["there is no connection src.O9->sink.I0 in network 'jpeg'"]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("<XDF/>", "the root element is 'XDF'"),
        ("<Configuration/>", "there is no 'Partitioning'"),
        ("<Configuration>", "not well-formed XML"),
    ],
)
def test_no_mapping_file(tmp_path: Path, text: str, message: str) -> None:
    with pytest.raises(FormatError, match=message):
        read(tmp_path, text)


def test_a_platform_without_gpu(tmp_path: Path) -> None:
    cpu = Platform(name="desktop", units=(Unit(name="cpu", kind="cpu"),))
    with pytest.raises(
        FormatError, match="partition 'PG' is on a GPU, but platform 'desktop' has no gpu unit"
    ) as caught:
        read(tmp_path, EXELIXI, cpu)
    assert "--platform" in caught.value.diagnostics[0].expected


def test_too_many_partitions_for_one_byte(tmp_path: Path) -> None:
    point = replace(POINT, partitions=POINT.partitions * 200)
    with pytest.raises(FormatError, match="one byte"):
        write_xcf(point, NET, str(tmp_path / "m.xcf"), dialect="art")


@given(content=damaged(*(text.encode() for text in (EXELIXI, TURNUS, STREAMBLOCKS, WRONG))))
@settings(max_examples=examples(150), deadline=None)
def test_damaged_files_never_raise_anything_else(tmp_path_factory: pytest.TempPathFactory, content: bytes) -> None:
    path = tmp_path_factory.mktemp("x") / "m.xcf"
    path.write_bytes(content)
    with suppress(FormatError):
        read_xcf(str(path), NET, PLATFORM)
