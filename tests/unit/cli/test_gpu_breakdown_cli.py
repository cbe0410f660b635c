"""``dse gpu breakdown``: what it prints and writes, and what it refuses."""

import json
from pathlib import Path

import pytest

from dse.cli.main import main
from dse.formats.tiles_csv import read_tiles, write_tiles

KERNEL = str(Path(__file__).resolve().parents[3] / "configs" / "gpu-kernels" / "sgmm.cl")
TIMES = "tile,ms\n16,8.1\n1,400\n2,100\n4,25\n8,7.3\n"


def command(folder: Path, *more: str) -> list[str]:
    (folder / "times.csv").write_text(TIMES)
    words = ["gpu", "breakdown", KERNEL, "--device", "a8-3870", "--measured", str(folder / "times.csv")]
    return [*words, *(more if "--host" in more or "N" in more else ("--define", "N=1000", *more))]


def test_what_it_prints(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(command(tmp_path, "--plot", str(tmp_path / "pictures"), "--knots")) == 0
    text = capsys.readouterr().out
    for part in ("sgmm, N = 1,000, on a8-3870", "as_printed", "prose", "rounds", "to (95 %)", "G2ST above"):
        assert part in text
    assert "tile 8 is the quickest that was measured, 54.79x as fast as tile 1" in text
    assert "at tile 1 it is bound by memory" in text
    assert "their split is uncertain" in text
    pictures = sorted((tmp_path / "pictures").iterdir())
    assert [p.name for p in pictures] == [
        f"{what}-{reading}.svg" for what in ("breakdown", "fit") for reading in ("as_printed", "prose", "rounds")
    ]
    assert all(p.read_text().startswith("<svg ") for p in pictures)


def test_json_and_a_host_program(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "host.c").write_text("#define N 1000\nint main() { return 0; }\n")
    assert main(command(tmp_path, "--host", str(tmp_path / "host.c"), "--json")) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["size"] == 1000
    assert [m["tile"] for m in found["measured"]] == [1, 2, 4, 8, 16]
    assert [fit["reading"] for fit in found["fits"]] == ["as_printed", "prose", "rounds"]
    assert found["counts"][4]["global_to_local"] == 2 * (1000 // 16)


@pytest.mark.parametrize(
    ("words", "message", "code"),
    [
        (["--size", "M"], "the size 'M' is not known", 2),
        (["--profile", "1,2,4"], "--measured and --profile", 2),
        (["-o", "x.csv"], "-o writes what --profile measures", 2),
        (["--repeats", "0"], "--repeats is 0", 2),
        (["--operations", "0"], "--operations is 0", 2),
        (["--device", "jetson-tk1"], "lacks limits.", 2),
        (["--kernel", "other"], "there is no kernel 'other'", 2),
        (["--tile", "WIDTH"], "the size of a local array is not known", 1),
    ],
)
def test_what_it_refuses(
    tmp_path: Path, words: list[str], message: str, code: int, capsys: pytest.CaptureFixture[str]
) -> None:
    if words[-1] == "jetson-tk1":
        (tmp_path / "bare.yaml").write_text("sms: 5\nclock_mhz: 600\n")
        words = ["--device", str(tmp_path / "bare.yaml")]
    assert main(command(tmp_path, *words)) == code
    assert message in " ".join(capsys.readouterr().err.split())


def test_a_nest_in_c(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "times.csv").write_text(TIMES)
    (tmp_path / "two.c").write_text(
        "void f(float a[N], float b[N]) { for (int i = 0; i < N; i++) a[i] = b[i] * 2.0f;"
        " for (int i = 0; i < N; i++) b[i] = a[i]; }"
    )
    words = ["gpu", "breakdown", str(tmp_path / "two.c"), "--device", "gtx1080ti", "--define", "N=1024"]
    assert main([*words, "--measured", str(tmp_path / "times.csv")]) == 2
    assert "has several kernels" in capsys.readouterr().err
    assert main([*words, "--profile", "1,2,4"]) == 2
    assert "--profile runs OpenCL kernels" in capsys.readouterr().err


def test_profiles_need_tiles(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = ["gpu", "breakdown", KERNEL, "--device", "pocl", "--define", "N=64"]
    assert main(words) == 2
    assert "no measured times are given" in capsys.readouterr().err
    assert main([*words, "--profile", "1,x"]) == 2
    assert "--profile '1,x' is not understood" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("tile,time\n1,2\n", "there is no column ms"),
        ("tile,ms\n1,2\n2,3\n", "there are fewer than three tile widths"),
        ("tile,ms\n1,nan\n2,3\n4,4\n", "ms is 'nan'"),
        ("tile,ms\n0,1\n2,3\n4,4\n", "tile is '0'"),
        ("tile,ms\n,1\n2,3\n4,4\n", "a row has no tile"),
        ("tile,ms,repeats\n1,1,-3\n2,3,\n4,4,1\n", "repeats is '-3'"),
    ],
)
def test_files_of_times_that_are_wrong(
    tmp_path: Path, text: str, message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    argv = command(tmp_path)
    (tmp_path / "times.csv").write_text(text)
    assert main(argv) == 1
    assert message in capsys.readouterr().err


def test_times_come_back(tmp_path: Path) -> None:
    path = str(tmp_path / "t.csv")
    Path(path).write_text("tile,ms,local_size,repeats\n2,0.1,4,10\n1,0.25,,\n4,0.3,16,7\n")
    tiles = read_tiles(path)
    write_tiles(path, tiles)
    assert read_tiles(path) == tiles
    assert [(t.tile, t.local_size, t.repeats) for t in tiles] == [(1, None, 1), (2, 4, 10), (4, 16, 7)]
