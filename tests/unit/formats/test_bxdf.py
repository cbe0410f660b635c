"""Buffer sizes: old and new attribute names, defaults, round trip, errors."""

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dse.base.errors import FormatError
from dse.formats.bxdf import read_bxdf, write_bxdf
from tests.examples import examples
from tests.unit.formats.strategies import topologies
from tests.unit.formats.test_xcf import NET


def read(folder: Path, text: str) -> tuple[int, ...]:
    (folder / "b.bxdf").write_text(text)
    return read_bxdf(str(folder / "b.bxdf"), NET)


def test_both_spellings_and_the_default(tmp_path: Path) -> None:
    text = """<bxdf network="jpeg" default-size="32">
      <connection source="src" source-port="O0" target="idct/row" target-port="I0" size="7"/>
      <CONNECTION source-actor="src" source-port="O1" target-actor="sink" target-port="I0" size="9"/>
    </bxdf>"""
    assert read(tmp_path, text) == (7, 32, 9)
    assert read(tmp_path, "<bxdf network='jpeg'/>") == (512, 512, 512)


@given(data=st.data())
@settings(max_examples=examples(40), deadline=None)
def test_round_trip(tmp_path_factory: pytest.TempPathFactory, data: st.DataObject) -> None:
    topology = data.draw(topologies())
    capacities = tuple(data.draw(st.integers(1, 10**9)) for _ in topology.buffers)
    path = str(tmp_path_factory.mktemp("b") / "b.bxdf")
    write_bxdf(capacities, topology, path)
    assert read_bxdf(path, topology) == capacities


def test_unknown_parts_are_kept(tmp_path: Path) -> None:
    old = tmp_path / "old.bxdf"
    old.write_text(
        '<bxdf network="jpeg"><note>x</note>'
        '<connection source="src" source-port="O1" target="sink" target-port="I0" size="9" width="3"/></bxdf>'
    )
    write_bxdf(read_bxdf(str(old), NET), NET, str(tmp_path / "new.bxdf"), keep=str(old))
    text = (tmp_path / "new.bxdf").read_text()
    assert 'width="3"' in text
    assert "<note>x</note>" in text


def test_errors(tmp_path: Path) -> None:
    text = """<bxdf default-size="none">
      <connection source="src" source-port="O0" target="idct/row" target-port="I0" size="-7"/>
      <connection source="source" source-port="O1" target="sink" target-port="I0" size="9"/>
      <connection source="src" size="9"/>
    </bxdf>"""
    with pytest.raises(FormatError) as caught:
        read(tmp_path, text)
    assert [(d.span.line, d.message) for d in caught.value.diagnostics] == [
        (1, "default-size of 'bxdf' is 'none'"),
        (2, "size of 'connection' is '-7'"),
        (3, "there is no connection source.O1->sink.I0 in network 'jpeg'"),
        (4, "'connection' has no 'source-port'"),
        (4, "'connection' has no 'target'"),
        (4, "'connection' has no 'target-port'"),
    ]
    with pytest.raises(FormatError, match="the root element is 'xdf'"):
        read(tmp_path, "<xdf/>")


def test_elements_of_another_name_are_no_sizes(tmp_path: Path) -> None:
    """All FIFOs would have the default, without a word."""
    line = '<{} source="src" source-port="O0" target="idct/row" target-port="I0" size="7"/>'
    with pytest.raises(FormatError, match="'buffer' gives no FIFO a size") as caught:
        read(tmp_path, f"<bxdf default-size='3'>\n<!-- of 2021 -->\n{line.format('buffer')}</bxdf>")
    assert [(d.span.line, d.expected) for d in caught.value.diagnostics] == [
        (3, "expected 'connection', of which there is none")
    ]
    assert read(tmp_path, f"<bxdf>{line.format('note')}{line.format('connection')}</bxdf>") == (7, 512, 512)
