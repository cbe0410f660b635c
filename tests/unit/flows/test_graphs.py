"""Static graphs of other tools through the flows: estimates that can be checked by hand, import and export."""

from dataclasses import replace
from pathlib import Path

import pytest

from dse.base.errors import OptionError
from dse.cli.main import main
from dse.flows.buffers import BufferOptions, size_fifos
from dse.flows.estimate import estimate_mappings
from dse.flows.options import EstimateOptions, GraphOptions, ProblemOptions
from dse.flows.program import load_program
from dse.flows.throughput import ThroughputOptions, find_throughput
from dse.formats.sdf3 import read_sdf3
from dse.formats.sdf3_write import write_sdf3
from dse.formats.weights_folder import read_weights
from tests.unit.sdf.graphs import graph

GRAPHS = Path(__file__).parents[2] / "graphs"
CAMERA, RESAMPLER = str(GRAPHS / "camera.xml"), str(GRAPHS / "resampler.xml")


def problem(path: str, iterations: int | None = 10, *processors: str) -> ProblemOptions:
    options = GraphOptions(iterations=iterations, processors=tuple(("cpu", name) for name in processors))
    return ProblemOptions(program=path, graph=options, engine="reference")


def test_on_one_core_an_iteration_takes_the_sum_of_its_times() -> None:
    found = estimate_mappings(EstimateOptions(problem=problem(CAMERA)))
    assert found.mappings[0].estimate.makespan == 10 * (2 * 40 + 8 * 25 + 60)
    assert found.assumed[0] == "10 iterations of 11 firings"
    phases = estimate_mappings(EstimateOptions(problem=problem(RESAMPLER)))
    assert phases.mappings[0].estimate.makespan == 10 * (6 + 4 + 3 + 2 + 2) + 30 * 2  # 1.5 is rounded half up


def test_a_pipeline_takes_its_slowest_stage(tmp_path: Path) -> None:
    sized = size_fifos(BufferOptions(problem=problem(RESAMPLER), method="maximal"))
    # four cores: the filter takes 11 an iteration; it begins after the reader, and the last writer ends after it
    assert sized.sizing.maximal.makespan == 6 + 10 * 11 + 2
    assert sized.names == ("reader.out->filter.in", "filter.out->writer.in")


def test_units_that_are_named_after_a_type_of_processor_take_its_times(tmp_path: Path) -> None:
    path = tmp_path / "board.yaml"

    def on(*units: str) -> tuple[int, str]:
        path.write_text("name: board\nunits:\n" + "".join(f"  {unit}}}\n" for unit in units))
        found = estimate_mappings(EstimateOptions(problem=replace(problem(graph), platform=str(path))))
        return found.mappings[0].estimate.makespan, "; ".join(found.assumed)

    graph = CAMERA
    assert on("dsp: {kind: cpu")[0] == 10 * (2 * 40 + 8 * 25 + 60), "only one actor has times on it"
    graph = str(tmp_path / "both.xml")
    text = Path(CAMERA).read_text()
    for time in (40, 60):
        old = f'<processor type="arm" default="true"><executionTime time="{time}"/></processor>'
        assert old in text
        text = text.replace(old, f'{old}<processor type="dsp"><executionTime time="{time // 10}"/></processor>')
    Path(graph).write_text(text)
    makespan, assumed = on("dsp: {kind: cpu")
    assert makespan == 10 * (2 * 4 + 8 * 5 + 6)
    assert "those of 'dsp' on the cpu (times on arm are left out" in assumed
    rates = find_throughput(ThroughputOptions(problem=replace(problem(graph, None), platform=str(path))))
    assert "those of 'dsp'" in "; ".join(rates.assumed)
    assert rates.regions[0].work == 2 * 4 + 8 * 5 + 6
    makespan, assumed = on("arm: {kind: cpu", "dsp: {kind: cpu")
    assert makespan == 10 * (2 * 40 + 8 * 25 + 60)
    assert "the same times on 'dsp': weights are of a kind of unit" in assumed
    assert "those of 'dsp' on the gpu" in on("arm: {kind: cpu", "dsp: {kind: gpu")[1]


def test_the_first_iteration_is_told_from_the_others() -> None:
    one = estimate_mappings(EstimateOptions(problem=problem(CAMERA, 1))).mappings[0].estimate
    two = estimate_mappings(EstimateOptions(problem=problem(CAMERA, 2))).mappings[0].estimate
    assert (one.makespan, two.makespan) == (340, 680)


def test_sizes_that_a_graph_does_not_give_are_large_enough(tmp_path: Path) -> None:
    path = str(tmp_path / "wide.xml")
    write_sdf3(graph(2, (0, (1152,), 1, (480,), 0)), path)
    found = estimate_mappings(EstimateOptions(problem=problem(path, 1)))
    assert found.mappings[0].estimate.makespan == 5 * 1 + 12 * 2
    assert any("because with less every mapping deadlocks" in words for words in found.assumed)


def test_options_of_graphs_are_for_graphs(tmp_path: Path) -> None:
    jpeg = str(Path(__file__).parents[3] / "actors" / "jpeg" / "jpeg.xdf")
    with pytest.raises(OptionError, match="--iterations, --processor and --graph are for static graphs"):
        load_program(jpeg, graph=GraphOptions(iterations=3))
    with pytest.raises(OptionError, match="0 iterations of a graph are none"):
        load_program(CAMERA, graph=GraphOptions(iterations=0))


def test_weights_that_are_given_stand_instead_of_the_times(tmp_path: Path) -> None:
    folder = str(tmp_path / "w")
    assert main(["trace", RESAMPLER, "-o", str(tmp_path / "r.trace"), "--write-weights", folder]) == 0
    table = read_weights((folder,))
    assert table.compute["filter", "phase2", "cpu"].mean_cycles == 3
    given = ProblemOptions(program=CAMERA, weights=(folder,), engine="reference")
    with pytest.raises(Exception, match=r"no compute weight of action sensor\.fire on cpu"):
        estimate_mappings(EstimateOptions(problem=given))
    stored = ProblemOptions(program=str(tmp_path / "r.trace"), weights=(folder,), engine="reference")
    made = estimate_mappings(EstimateOptions(problem=stored)).mappings[0].estimate.makespan
    assert made == 100 * (6 + 11) + 300 * 2


def test_a_graph_is_exported_as_it_was_read(tmp_path: Path) -> None:
    path = str(tmp_path / "c.xml")
    assert main(["trace", CAMERA, "--export", path, "--quiet"]) == 0
    found, before = read_sdf3(path), read_sdf3(CAMERA)
    assert (found.actors, found.channels) == (before.actors, before.channels)


def test_a_network_becomes_a_graph_with_its_weights(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    traced, weights, path = (str(tmp_path / name) for name in ("r.trace", "w", "r.xml"))
    assert main(["trace", RESAMPLER, "-o", traced, "--write-weights", weights]) == 0
    assert main(["trace", traced, "--export", path]) == 0
    assert "left out: execution times (--weights W gives them)" in capsys.readouterr().out
    assert main(["trace", traced, "--export", path, "--weights", weights]) == 0
    assert "left out: fractions of execution times" in capsys.readouterr().out
    found = estimate_mappings(EstimateOptions(problem=problem(path, 10)))
    assert found.mappings[0].estimate.makespan == 10 * (6 + 11 + 3 * 2)
