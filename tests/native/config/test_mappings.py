"""Mapping files and FIFO sizes are read by the native program as by Python, wrong ones with the same words."""

import random
from pathlib import Path
from typing import get_args

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from dse.base.diagnostics import render
from dse.base.errors import FormatError
from dse.formats.bxdf import write_bxdf
from dse.formats.xcf import read_xcf
from dse.formats.xcf_write import XcfDialect, write_xcf
from dse.model.design_point import DesignPoint
from tests.examples import examples
from tests.fuzz.mutations import mutate_words, mutate_xml
from tests.native.config.comparison import PLATFORM, as_answer, difference
from tests.native.config.readers import Readers, network_fields
from tests.unit.formats.strategies import design_points, topologies
from tests.unit.formats.test_xcf import EXELIXI, NET, STREAMBLOCKS, TURNUS

FILE = settings(max_examples=examples(80), deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])


def on_cpus(point: DesignPoint) -> bool:
    """Whether a mapping can run in the program: everything on CPUs, and static orders on one core."""
    return all(p.unit != "gpu" and (p.policy != "STATIC_ORDER" or p.cores == 1) for p in point.partitions)


@given(data=st.data(), dialect=st.sampled_from(get_args(XcfDialect)))
@FILE
def test_mappings_of_every_dialect(readers: Readers, tmp_path: Path, data: st.DataObject, dialect: XcfDialect) -> None:
    topology = data.draw(topologies())
    point = data.draw(design_points(topology))
    path = tmp_path / "m.xcf"
    write_xcf(point, topology, str(path), dialect=dialect)
    answer = readers.ask("xcf", str(path), path.read_bytes(), *network_fields(topology))
    if on_cpus(point):
        assert answer == as_answer(read_xcf(str(path), topology, PLATFORM), topology)
    else:
        assert all("GPU" in e["message"] or "STATIC_ORDER" in e["message"] for e in answer["errors"])


@given(data=st.data())
@FILE
def test_sizes(readers: Readers, tmp_path: Path, data: st.DataObject) -> None:
    topology = data.draw(topologies())
    capacities = tuple(data.draw(st.integers(1, 10**9)) for _ in topology.buffers)
    path = tmp_path / "b.bxdf"
    write_bxdf(capacities, topology, str(path))
    answer = readers.ask("bxdf", str(path), path.read_bytes(), *network_fields(topology))
    assert tuple(answer["capacities"]) == capacities


SIZE = '<{} source="src" source-port="O0" target="idct/row" target-port="I0" size="7"/>'


@pytest.mark.parametrize(
    "names", [(), ("connection",), ("buffer",), ("note", "connection"), ("x:Connection", "buffer")]
)
def test_sizes_of_other_names(readers: Readers, tmp_path: Path, names: tuple[str, ...]) -> None:
    path = tmp_path / "b.bxdf"
    path.write_text(f"<bxdf xmlns:x='urn:x'><!-- sizes -->\n{''.join(SIZE.format(name) for name in names)}</bxdf>")
    answer = readers.ask("bxdf", str(path), path.read_bytes(), *network_fields(NET))
    assert ("errors" in answer) == (names == ("buffer",))
    assert difference(readers, path, NET) is None


@pytest.mark.parametrize("text", [EXELIXI.replace('"PG"', '"P2"'), TURNUS, STREAMBLOCKS.replace('"gpu"', '"ARM"')])
def test_files_of_other_tools(readers: Readers, tmp_path: Path, text: str) -> None:
    path = tmp_path / "map.xcf"
    path.write_text(text)
    answer = readers.ask("xcf", str(path), text, *network_fields(NET))
    assert answer == as_answer(read_xcf(str(path), NET, PLATFORM), NET)


@pytest.mark.parametrize(
    ("text", "message", "expected"),
    [
        (EXELIXI, "partition 'PG' is on a GPU, which this program cannot use", "place its actors"),
        (STREAMBLOCKS, "partition '1' is on a GPU, which this program cannot use", "place its actors"),
        (EXELIXI.replace('"PG"', '"2" pe="FPGA"'), "partition '2' is on an FPGA", "place it on a CPU"),
        (EXELIXI.replace('"PG"', '"2" pe="x86-64"'), "unknown processing element 'x86-64'", "did you mean 'x86_64'"),
    ],
)
def test_other_units_are_refused(readers: Readers, text: str, message: str, expected: str) -> None:
    (error,) = readers.ask("xcf", "map.xcf", text, *network_fields(NET))["errors"]
    assert error["message"].startswith(message)
    assert error["expected"].startswith(expected)


@pytest.mark.parametrize("text", [EXELIXI.replace('"PG"', '"P2"'), TURNUS, STREAMBLOCKS.replace('"gpu"', '"ARM"')])
def test_wrong_mappings_are_refused_with_the_same_words(readers: Readers, tmp_path: Path, text: str) -> None:
    path, refused = tmp_path / "m.xcf", 0
    for seed in range(250):
        rng = random.Random(seed)
        data = rng.choice((mutate_xml, mutate_xml, mutate_words))(rng, text.encode())
        path.write_bytes(data)
        assert difference(readers, path, NET) is None, data
        refused += "errors" in readers.ask("xcf", str(path), data, *network_fields(NET))
    assert 60 < refused < 240


def test_errors_are_rendered_alike(readers: Readers, tmp_path: Path) -> None:
    path = tmp_path / "é\x1b[31m.xcf"
    text = EXELIXI.replace('id="src"', 'id="\t名名\u202e"').replace("round-robin", "round" + "x" * 300)
    path.write_text(text)
    answer = readers.ask("xcf", str(path), text, *network_fields(NET))
    with pytest.raises(FormatError) as caught:
        read_xcf(str(path), NET, PLATFORM)
    wanted = [render(d) for d in caught.value.diagnostics if "GPU" not in d.message]
    assert [e["text"] for e in answer["errors"] if "GPU" not in e["message"]] == wanted
    assert len(wanted) == 3
