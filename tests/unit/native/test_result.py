"""What a native program tells becomes the result of the Python execution, or an error that says what is wrong."""

import json
from dataclasses import replace
from pathlib import Path

import pytest

from dse.base.errors import ExecutionError, OptionError
from dse.frontend.network.elaborate import load_network
from dse.native.result import (
    ActorTables,
    failure_of,
    read_result,
    read_trace,
    run_result,
    trace_of,
)
from dse.program.network import Network
from dse.run.execution import RunResult, run_network
from dse.run.options import RunOptions
from tests.unit.native.programs import document_of, trace_bytes

ROOT = Path(__file__).resolve().parents[3]
OPTIONS = RunOptions(max_firings=1000, hash_channels=True)


@pytest.fixture(scope="module")
def network() -> Network:
    return load_network(str(ROOT / "actors" / "pingpong" / "pingpong.xdf")).network


@pytest.fixture(scope="module")
def in_python(network: Network) -> RunResult:
    return run_network(network, OPTIONS)


def no_tables() -> list[ActorTables]:
    raise AssertionError("no result of this run names anything by number")


@pytest.mark.parametrize("width", [1, 2])
def test_the_same_result(network: Network, in_python: RunResult, tmp_path: Path, width: int) -> None:
    (tmp_path / "t").write_bytes(trace_bytes([ids.tolist() for ids in in_python.trace.firings], width))
    trace = trace_of(network, tmp_path / "t")
    assert trace.digest == in_python.trace.digest
    found = run_result(network, OPTIONS, document_of(network, in_python), trace, in_python.stdout, no_tables)
    assert found.execution == "native"
    assert replace(found, execution="python", trace=in_python.trace) == in_python


def test_strays_and_rounds_get_their_places(network: Network, in_python: RunResult) -> None:
    document = document_of(network, in_python)
    span = network.instances[0].actor.span
    document["actors"][0] |= {"strays": [[1, 7]], "rounds": [2, 5, 0, 0]}
    document["actors"][1] |= {"rounds": []}
    tables = [ActorTables(sites=((span, ""), (span, "list")), loops=((span, "i"), (span, "j")))]
    tables += [ActorTables(sites=(), loops=()) for _ in network.instances[1:]]
    options = replace(OPTIONS, count_rounds=True)
    found = run_result(network, options, document, in_python.trace, "", lambda: tables)
    assert [w.message.split(";")[0] for w in found.warnings] == ["'list' was accessed out of bounds 7 times"]
    assert found.trace.rounds[0] == {(span, "i"): pytest.approx(2.5)}
    assert found.trace.rounds[1] == {}


def test_options_without_effect(network: Network, in_python: RunResult) -> None:
    options = replace(OPTIONS, input="x", loops=2)
    found = run_result(network, options, document_of(network, in_python), in_python.trace, "", no_tables)
    assert [w.message for w in found.warnings] == [
        "the network reads no input; -i has no effect",
        "the network reads its input once; -l has no effect",
    ]


def test_errors_have_their_place() -> None:
    error = {"message": "in 'a', go: division by zero", "path": "A.cal", "line": 3, "column": 4, "end_line": 3}
    failure = failure_of({"error": error | {"end_column": 9, "expected": "", "kind": "fault"}})
    assert isinstance(failure, ExecutionError)
    assert str(failure.diagnostics[0].span) == "A.cal:3:4"
    placeless = failure_of({"error": {"message": "the suffix", "kind": "option", "expected": "another"}})
    assert isinstance(placeless, OptionError)
    assert placeless.diagnostics[0].expected == "another"
    assert failure_of({"error": None}) is None


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"version": 2}', "\xff", "[" * 100_000])
def test_a_damaged_result(tmp_path: Path, text: str) -> None:
    (tmp_path / "r").write_text(text, encoding="latin-1")
    with pytest.raises(ExecutionError, match="cannot be read"):
        read_result(tmp_path / "r")


@pytest.mark.parametrize("key", ["why", "firings", "actors", "channels", "waits", "comparison", "read", "gpu"])
def test_a_result_that_lacks_something(network: Network, in_python: RunResult, key: str) -> None:
    document = json.loads(json.dumps(document_of(network, in_python)))
    del document[key]
    with pytest.raises(ExecutionError, match="is not as expected"):
        run_result(network, OPTIONS, document, in_python.trace, "", no_tables)


def test_damaged_traces(tmp_path: Path) -> None:
    path = tmp_path / "t"
    path.write_bytes(trace_bytes([[0, 1, 2], [0]]))
    whole = path.read_bytes()
    assert [ids.tolist() for ids in read_trace(path)] == [[0, 1, 2], [0]]
    for cut in (0, 4, 11, 20, 29, len(whole) - 1):
        path.write_bytes(whole[:cut])
        with pytest.raises(ExecutionError, match="cannot be read"):
            read_trace(path)
    path.write_bytes(whole[:12] + b"\xff" * 8 + whole[20:])
    with pytest.raises(ExecutionError, match="cut off"):
        read_trace(path)
    with pytest.raises(ExecutionError, match="cannot be read"):
        read_trace(tmp_path / "none")
