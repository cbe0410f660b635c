"""Pictures for Graphviz: exact text, and names that mean nothing in it."""

from dataclasses import replace
from pathlib import Path

from dse.flows.graphs import unfold_graph
from dse.formats.graphviz import write_dot

CAMERA = Path(__file__).parents[2] / "graphs" / "camera.xml"


def test_the_text(tmp_path: Path) -> None:
    write_dot(unfold_graph(str(CAMERA)).trace, str(tmp_path / "c.dot"))
    assert (tmp_path / "c.dot").read_text() == (
        'digraph "camera" {\n'
        "  rankdir=LR;\n"
        "  node [shape=ellipse];\n"
        '  a0 [label="sensor\\nSensor\\n200 firings"];\n'
        '  a1 [label="filter\\nFilter\\n800 firings"];\n'
        '  a2 [label="gain\\nGain\\n100 firings"];\n'
        '  a0 -> a1 [label="4 : 1\\nsize 8", tooltip="sensor.line->filter.pixel"];\n'
        '  a1 -> a2 [label="1 : 8", tooltip="filter.clean->gain.pixels"];\n'
        '  a2 -> a0 [label="2 : 1\\n4 initial", tooltip="gain.next->sensor.go"];\n'
        "}\n"
    )


def test_names_are_text_only(tmp_path: Path) -> None:
    trace = unfold_graph(str(CAMERA)).trace
    name = 'a"];\nb [label="\\\x1b'
    actors = (replace(trace.topology.actors[0], name=name), *trace.topology.actors[1:])
    hostile = replace(trace, topology=replace(trace.topology, actors=actors))
    write_dot(hostile, str(tmp_path / "c.dot"))
    text = (tmp_path / "c.dot").read_text()
    assert '  a0 [label="a\\"];\ufffdb [label=\\"\\\\\ufffd\\nSensor\\n200 firings"];\n' in text
    assert len(text.splitlines()) == 10
