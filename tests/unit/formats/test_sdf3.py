"""Graphs of SDF3: what is read, that nothing is lost by writing, and that damaged files give errors of ours."""

import contextlib
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dse.base.errors import DseError, FormatError
from dse.formats.sdf3 import is_sdf3, read_sdf3
from dse.formats.sdf3_write import write_sdf3
from dse.model.dataflow_graph import DataflowGraph, ProcessorTime
from tests.examples import examples
from tests.unit.formats.strategies import damaged
from tests.unit.sdf.graphs import consistent_graphs

GRAPHS = Path(__file__).parents[2] / "graphs"
GO = 'name="go" type="in" rate="1,2,3"'
CAMERA, RESAMPLER = GRAPHS / "camera.xml", GRAPHS / "resampler.xml"


def test_a_graph() -> None:
    found = read_sdf3(str(CAMERA))
    assert found.name == "camera"
    sensor, filtering, gain = found.actors
    assert (sensor.name, sensor.class_name, sensor.inputs, sensor.outputs) == (
        "sensor",
        "Sensor",
        ("go", "s_in"),
        ("line", "s_out"),
    )
    assert (sensor.reads, sensor.writes, sensor.n_phases, sensor.stateless) == (((1,), (1,)), ((4,), (1,)), 1, False)
    assert gain.stateless
    assert filtering.times == (
        ProcessorTime(processor="arm", times=(Fraction(25),), default=True),
        ProcessorTime(processor="dsp", times=(Fraction(5),)),
    )
    lines, cleaned, control, _ = found.channels
    assert (lines.name, lines.source, lines.source_port, lines.target, lines.target_port) == ("lines", 0, 0, 1, 0)
    assert (lines.token_bits, lines.capacity_tokens) == (12, 8)
    assert (cleaned.token_bits, cleaned.capacity_tokens) == (12, None)
    assert control.initial_tokens == 4


def test_phases() -> None:
    found = read_sdf3(str(RESAMPLER)).actors[1]
    assert found.n_phases == 4
    assert found.reads == ((1, 1, 0, 0),)
    assert found.writes == ((0, 1, 1, 1),)
    assert found.times[0].times == (4, 3, 2, 2)


def test_one_number_stands_for_all_phases_and_a_graph_needs_no_name(tmp_path: Path) -> None:
    text = RESAMPLER.read_text().replace('time="4,3,2,2"', 'time="7"').replace('<csdf name="resampler"', "<sdf")
    text = text.replace("</csdf>", "</sdf>").replace('<applicationGraph name="resampler">', "<applicationGraph>")
    found = read_text(tmp_path, text)
    assert found.name == "graph"
    assert found.actors[1].times[0].times == (7, 7, 7, 7)


def read_text(tmp_path: Path, text: str) -> DataflowGraph:
    path = tmp_path / "g.xml"
    path.write_text(text)
    return read_sdf3(str(path))


def test_a_buffer_holds_at_least_its_initial_tokens(tmp_path: Path) -> None:
    found = read_text(tmp_path, CAMERA.read_text().replace('dstPort="pixel"', 'dstPort="pixel" initialTokens="9"'))
    assert found.channels[0].capacity_tokens == 9


@pytest.mark.parametrize("size", ["-1", "0", "inf"])
def test_sizes_without_end_are_none(tmp_path: Path, size: str) -> None:
    found = read_text(tmp_path, CAMERA.read_text().replace('sz="8"', f'sz="{size}"'))
    assert found.channels[0].capacity_tokens is None


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ('rate="8"', 'rate="8;1"', "it begins with phases that never come again"),
        ('rate="8"', 'rate="-8"', "rate of 'port' is '-8'"),
        ('rate="8"', 'rate="99999999*1"', "has more than 100,000 phases"),
        ('rate="8"', 'rate="0*1"', "has no phase"),
        ('dstPort="pixels"', 'dstPort="pixel"', "actor 'gain' has no input port 'pixel'"),
        ('dstActor="gain"', 'dstActor="gian"', "there is no actor 'gian'"),
        ('srcPort="clean"', 'srcPort="pixels"', "actor 'filter' has no output port 'pixels'"),
        ('<actor name="gain"', '<actor name="filter"', "actor 'filter' is there twice"),
        ('name="clean"', 'name="pixel"', "port 'pixel' is there twice"),
        ('channel name="control"', 'channel name="lines"', "channel 'lines' is there twice"),
        ('srcActor="sensor" srcPort="s_out"', 'srcActor="sensor" srcPort="line"', "has more than one channel"),
        ('type="sdf" version', 'type="sadf" version', "a graph of type 'sadf'"),
        ('time="60"', 'time="soon"', "time of 'executionTime' is 'soon'"),
        ('type="in" rate="8"', 'rate="8"', "'port' has no 'type'"),
        ('channelProperties channel="cleaned"', 'channelProperties channel="clean"', "there is no channel 'clean'"),
        ('channelProperties channel="cleaned"', 'channelProperties channel="lines"', "'lines' has properties twice"),
        ('actorProperties actor="gain"', 'actorProperties actor="filter"', "'filter' has times on 'arm' twice"),
        ('<executionTime time="5"/>', '<executionTime time="5"/><executionTime time="6"/>', "on 'dsp' twice"),
        ('bufferSize sz="8" src="8" dst="8" mem="8"', 'bufferSize size="8"', "'bufferSize' has no 'sz'"),
        ("sdf3", "graph", "the root element is 'graph'"),
        ('type="out" rate="4"', 'type="out" rate="46342*1"', "phases: its lists have many different lengths"),
    ],
)
def test_what_is_wrong_is_said(tmp_path: Path, old: str, new: str, message: str) -> None:
    text = CAMERA.read_text()
    with pytest.raises(FormatError) as error:
        read_text(tmp_path, text.replace(old, new).replace('name="go" type="in" rate="1"', GO))
    assert any(message in d.message and d.span.line >= 1 for d in error.value.diagnostics)


@given(made=consistent_graphs(), times=st.lists(st.integers(0, 99), min_size=20, max_size=20))
@settings(max_examples=examples(80), deadline=None)
def test_what_is_written_is_read(
    tmp_path_factory: pytest.TempPathFactory, made: tuple[DataflowGraph, tuple[int, ...]], times: list[int]
) -> None:
    path = str(tmp_path_factory.mktemp("g") / "g.xml")
    found = replace(
        made[0],
        path=path,
        actors=tuple(
            replace(actor, times=(ProcessorTime(processor="p", times=whole(times, actor.n_phases), default=True),))
            for actor in made[0].actors
        ),
        channels=tuple(
            replace(channel, token_bits=bits, capacity_tokens=max(bits, channel.initial_tokens) or None)
            for channel, bits in zip(made[0].channels, times, strict=False)
        ),
    )
    write_sdf3(found, path)
    assert read_sdf3(path) == found


def test_an_input_and_an_output_of_one_name_get_two(tmp_path: Path) -> None:
    graph = read_sdf3(str(RESAMPLER))
    first, second = graph.actors[:2]
    named = (replace(first, outputs=("p",)), replace(second, inputs=("p",), outputs=("p",)), *graph.actors[2:])
    write_sdf3(replace(graph, actors=named), str(tmp_path / "g.xml"))
    again = read_sdf3(str(tmp_path / "g.xml"))
    assert [(actor.inputs, actor.outputs) for actor in again.actors[:2]] == [((), ("p",)), (("p_in",), ("p",))]
    assert [(c.source, c.target, c.target_port) for c in again.channels] == [
        (c.source, c.target, c.target_port) for c in graph.channels
    ]


def whole(values: list[int], n: int) -> tuple[Fraction, ...]:
    return tuple(map(Fraction, values[:n]))


def test_times_are_written_as_whole_numbers(tmp_path: Path) -> None:
    write_sdf3(read_sdf3(str(RESAMPLER)), str(tmp_path / "g.xml"))
    again = read_sdf3(str(tmp_path / "g.xml"))
    assert again.actors[2].times[0].times == (2,)


@given(text=damaged(CAMERA.read_bytes(), RESAMPLER.read_bytes()))
@settings(max_examples=examples(150), deadline=None)
def test_damaged_files_give_errors_of_ours(tmp_path_factory: pytest.TempPathFactory, text: bytes) -> None:
    path = tmp_path_factory.mktemp("d") / "g.xml"
    path.write_bytes(text)
    with contextlib.suppress(DseError):
        read_sdf3(str(path))


def test_how_a_file_is_told() -> None:
    assert is_sdf3(b'\xef\xbb\xbf<?xml version="1.0"?><!-- a --><sdf3 type="sdf">')
    assert not is_sdf3(b"<XDF><sdf3/></XDF>")
    assert not is_sdf3(b"sdf3")
