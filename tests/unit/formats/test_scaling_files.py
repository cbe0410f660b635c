"""Training sets, counters and trained models of scaling: what is read, what is refused, and the way back."""

import json
from pathlib import Path

import numpy as np
import pytest

from dse.base.errors import FormatError, OptionError
from dse.formats.scaling_model import read_scaling_model, write_scaling_model
from dse.formats.scaling_sets import parse_configuration, read_counters, read_scaling_set
from dse.gpu.scaling.train import TrainOptions, train

HEADER = "kernel,core_mhz,memory_mhz,time_ms,power_watt,note,loads,flops\n"
BASE = parse_configuration("1000/500", "--base")


def rows(names: str = "abcdefgh") -> str:
    """Kernels of two kinds at four configurations."""
    lines = []
    for k, name in enumerate(names):
        for core in (500, 1000):
            for memory in (500, 1000):
                time = (k + 1) * 1000 / (core if k % 2 else memory)
                lines.append(f"{name},{core},{memory},{time},{100 + core / 10},x,{10 ** (k % 2 * 4)},{k + 1}")
    return HEADER + "\n".join(lines) + "\n"


def set_file(folder: Path, text: str) -> str:
    path = folder / "set.csv"
    path.write_text(text)
    return str(path)


def test_a_table(tmp_path: Path) -> None:
    given = read_scaling_set([set_file(tmp_path, rows())], BASE)
    assert given.kernels == tuple("abcdefgh")
    assert given.grid.shape == (1, 2, 2)
    assert given.grid.compute_units == ()
    assert given.counter_names == ("loads", "flops")
    assert given.notes == ("no counter, as not all cells are numbers from 0: note",)
    assert given.time_ms[1].tolist() == [[[4.0, 4.0], [2.0, 2.0]]]
    assert given.power_watt is not None
    assert given.power_watt[0, 0, :, 0].tolist() == [150.0, 200.0]


def test_compute_units(tmp_path: Path) -> None:
    text = "kernel,compute_units,core_mhz,memory_mhz,time_ms\n" + "".join(
        f"k,{units},{core},500,{1000 / units / core}\n" for units in (4, 2) for core in (500, 1000)
    )
    given = read_scaling_set([set_file(tmp_path, text)], parse_configuration("2/500/500", "--base"))
    assert given.grid.compute_units == (2, 4)
    assert given.time_ms[0, :, 0, 0].tolist() == [1.0, 0.5]
    assert given.power_watt is None
    assert given.counters is None


def test_blocks(tmp_path: Path) -> None:
    text = "a\n810,595,2.5,40,100\n810,1000,1.5,60,90\nb\n810,595,1,40,40\n810,1000,1,60,60\na\n"
    text += "810,595,3,1,1\n810,1000,2,1,1\n"
    given = read_scaling_set([set_file(tmp_path, text)], parse_configuration("595/810", "--base"))
    assert given.kernels == ("a", "b", "a (2)")
    assert given.notes == ("the kernel 'a' that comes again is called 'a (2)'",)
    assert given.time_ms[0].tolist() == [[[2.5], [1.5]]]


def test_two_files_with_one_name(tmp_path: Path) -> None:
    path = set_file(tmp_path, rows("ab"))
    assert read_scaling_set([path, path], BASE).kernels == ("a", "b", "a (2)", "b (2)")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "there is no measured kernel"),
        ("kernel,core_mhz,time_ms\n", "there is no column memory_mhz"),
        (HEADER + "a,500,500,0,1,,1,1\n", "time_ms is '0'"),
        (HEADER + "a,500,500,nan,1,,1,1\n", "time_ms is 'nan'"),
        (HEADER + "a,500,500,1,-3,,1,1\n", "power_watt is '-3'"),
        (HEADER + "a,fast,500,1,1,,1,1\n", "core_mhz is 'fast'"),
        (HEADER + ",500,500,1,1,,1,1\n", "a kernel has no name"),
        (rows("ab") + "c,500,500,1,1,,1,1\n", "kernel 'c' lacks 3 of 4 configurations"),
        (rows("ab") + "a,500,500,1,1,,1,1\n", "kernel 'a' is there twice at 500/500"),
        ("a\n810,595,1\n", "'810,595,1' is no measured time"),
    ],
)
def test_what_is_refused(tmp_path: Path, text: str, message: str) -> None:
    with pytest.raises(FormatError) as caught:
        read_scaling_set([set_file(tmp_path, text)], BASE)
    assert message in str(caught.value)


@pytest.mark.parametrize("text", ["", "1800", "1800/x", "0/5000", "1/2/3/4", "0/1800/5000", "1e9/500", "nan/5"])
def test_no_configuration(text: str) -> None:
    with pytest.raises(OptionError):
        parse_configuration(text, "--base")


def test_a_base_beside_the_grid(tmp_path: Path) -> None:
    with pytest.raises(OptionError, match="no configuration of the set") as caught:
        read_scaling_set([set_file(tmp_path, rows())], parse_configuration("700/500", "--base"))
    assert "500/500" in caught.value.diagnostics[0].expected


def test_a_model_comes_back(tmp_path: Path) -> None:
    given = read_scaling_set([set_file(tmp_path, rows())], BASE)
    model = train(given, TrainOptions(clusters=2), "my card", "test")
    path = tmp_path / "model.json"
    write_scaling_model(str(path), model)
    found = read_scaling_model(str(path))
    assert (found.card, found.grid, found.base, found.counter_names) == (
        "my card",
        model.grid,
        BASE,
        ("loads", "flops"),
    )
    np.testing.assert_array_equal(found.time.by_clocks[0].centroids, model.time.by_clocks[0].centroids)
    before = path.read_bytes()
    write_scaling_model(str(path), found)
    assert path.read_bytes() == before


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("format", "else"),
        ("base", {"compute_units": None, "core_mhz": "7", "memory_mhz": "500"}),
        ("base", None),
        ("grid", {"compute_units": [], "core_mhz": ["1000", "500"], "memory_mhz": ["500"]}),
        ("counters", ["loads"]),
        ("counters", [1, 2]),
        ("time", {"by_clocks": [], "by_units": None}),
        ("time", {"by_clocks": [{"centroids": [[1, 1, 1, 0]], "members": [[]], "classifier": None}], "by_units": None}),
        ("time", {"by_clocks": [{"centroids": [], "members": [], "classifier": None}], "by_units": None}),
        ("power", 3),
        ("seed", "x"),
    ],
)
def test_a_model_that_is_none(tmp_path: Path, key: str, value: object) -> None:
    given = read_scaling_set([set_file(tmp_path, rows())], BASE)
    path = tmp_path / "model.json"
    write_scaling_model(str(path), train(given, TrainOptions(clusters=2), "my card", "test"))
    document = json.loads(path.read_text()) | {key: value}
    path.write_text(json.dumps(document))
    with pytest.raises(FormatError, match="no scaling model"):
        read_scaling_model(str(path))


def test_counters(tmp_path: Path) -> None:
    path = set_file(tmp_path, rows("ab"))
    found = read_counters(path, ("flops", "loads"), BASE)
    assert [(k.name, k.counters.tolist(), k.time_ms) for k in found] == [("a", [1, 1], 2.0), ("b", [2, 1e4], 2.0)]
    assert found[0].power_watt == 200.0
    bare = set_file(tmp_path, "action,loads\nA.x,3\n")
    assert read_counters(bare, ("loads",), BASE)[0].name == "A.x"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("loads\n3\n", "there is no column kernel"),
        ("kernel,loads\n", "there is no kernel in the file"),
        ("kernel,loads\na,-1\n", "counter loads of 'a' is '-1'"),
        ("kernel,flops\na,1\n", "counter loads of 'a' is missing"),
        ("kernel,loads\na,1\na,2\n", "kernel 'a' is there twice"),
    ],
)
def test_counters_refused(tmp_path: Path, text: str, message: str) -> None:
    with pytest.raises(FormatError) as caught:
        read_counters(set_file(tmp_path, text), ("loads",), BASE)
    assert message in str(caught.value)
