import json
from pathlib import Path

import pytest

from dse.base.errors import OptionError
from dse.cli.gpu_words import parse_block
from dse.cli.kernel_words import parse_define
from dse.cli.main import main
from dse.formats.builtin import builtin_file

KERNELS = Path(__file__).resolve().parents[2] / "papers" / "kernels"
PAPER = ("--model", "cgpredict")
SYRK, GEMM = str(KERNELS / "syrk.c"), str(KERNELS / "gemm.c")


def test_defines() -> None:
    assert parse_define("N=1024") == ("N", "1024")
    assert parse_define("REAL=long double") == ("REAL", "long double")
    assert parse_define("FAST") == ("FAST", "1")
    for wrong in ("", "=3", "N=", "3N=4", "N:3"):
        with pytest.raises(OptionError):
            parse_define(wrong)


def test_blocks() -> None:
    assert [parse_block(t) for t in ("256", "32x8", "8X8x4")] == [(256, 1, 1), (32, 8, 1), (8, 8, 4)]
    for wrong in ("", "32by32", "0x32", "8x8x8x8", "-1", "32x", "1234567"):
        with pytest.raises(OptionError):
            parse_block(wrong)


def document(capsys: pytest.CaptureFixture[str], *command: str) -> dict[str, object]:
    assert main(list(command)) == 0
    found = json.loads(capsys.readouterr().out)
    assert isinstance(found, dict)
    return found


def test_predict_json_has_the_documented_keys(capsys: pytest.CaptureFixture[str]) -> None:
    found = document(capsys, "gpu", "predict", SYRK, "--define", "N=256", "--json", "--sensitivity", *PAPER)
    assert found["time_s"] > 0  # type: ignore[operator]
    assert {"mwp", "cwp", "bottleneck", "instructions", "kernels", "assumed", "sensitivity"} <= set(found)
    instructions = found["instructions"]
    assert isinstance(instructions, list)
    by_text = {i["text"]: i for i in instructions}
    assert by_text["A[j][k]"]["class"] == "uncoalesced"
    assert by_text["A[i][k]"]["class"] == "constant"
    line = Path(SYRK).read_text().splitlines()[by_text["A[j][k]"]["line"] - 1]
    assert line[by_text["A[j][k]"]["column"] - 1 :].startswith("A[j][k]")
    (kernel,) = found["kernels"]  # type: ignore[misc]
    assert kernel["time_s"] == found["time_s"]
    assert [a["kind"] for a in kernel["advice"]].count("transpose") >= 1
    sizes = [p["sizes"]["N"] for p in found["sensitivity"]]  # type: ignore[attr-defined]
    assert sizes == [256, 128, 64]
    assert [a["constant"] for a in found["assumed"]] == ["l2.ways"]  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    "arguments",
    [
        (GEMM, "--define", "N=64"),
        ("--define", "N=64", GEMM),
        ("--no-advice", "--define", "N=64", "UNUSED=1", GEMM),
        ("--define", "N=64", "--define", "UNUSED=1", GEMM),
        ("--define", "N=64", "--parallel", "i", "j", GEMM),
        ("--define", "N=64", "--tile", GEMM),
    ],
)
def test_the_file_may_stand_behind_options_of_many_words(
    arguments: tuple[str, ...], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    source = Path(GEMM).read_text() + "/* UNUSED */\n"
    (tmp_path / "gemm.c").write_text(source)
    monkeypatch.chdir(tmp_path)
    found = document(capsys, "gpu", "predict", "--json", *("gemm.c" if a == GEMM else a for a in arguments))
    assert found["file"] == "gemm.c"
    assert found["kernels"][0]["sizes"] == {"N": 64}  # type: ignore[index]


def test_devices_may_stand_before_the_file(capsys: pytest.CaptureFixture[str]) -> None:
    found = document(
        capsys, "gpu", "choose", "--json", "--define", "N=64", "--devices", "h200", "gtx1660s", GEMM
    )  # fmt: skip
    assert len(found["candidates"]) == 2  # type: ignore[arg-type]


def test_predict_prints_where_and_why(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["gpu", "predict", SYRK, "--define", "N=256", *PAPER]) == 0
    out = capsys.readouterr().out
    for text in (
        "memory: MWP",
        "A[j][k]",
        "uncoalesced",
        "keep a transposed copy of A",
        "assumed of jetson-tk1: l2.ways",
    ):
        assert text in out
    assert main(["gpu", "predict", SYRK, "--define", "N=256", "--quiet", "--no-advice"]) == 0
    assert "transposed" not in capsys.readouterr().out


def test_the_model_for_real_cards_is_the_default_and_says_what_each_part_takes(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert main(["gpu", "predict", SYRK, "--define", "N=256", "--device", "gtx1080-ti"]) == 0
    out = capsys.readouterr().out
    for text in (
        "on gtx1080ti",
        "the most time goes to load-store units",
        "assumed of gtx1080ti: latency_cycles.l2, latency_cycles.memory",
    ):
        assert text in out
    found = document(capsys, "gpu", "predict", SYRK, "--define", "N=256", "--no-advice", "--json")
    assert (found["model"], found["mwp"]) == ("hierarchy", None)
    parts = [part["part"] for part in found["kernels"][0]["parts"]]  # type: ignore[index]
    assert parts == ["load-store units", "stores in L2", "DRAM bandwidth", "latency", "arithmetic and issue"]


def test_an_fpga_among_the_candidates(capsys: pytest.CaptureFixture[str]) -> None:
    found = document(capsys, "gpu", "choose", GEMM, "--define", "N=256", "--fpga", "zc702", "--json", *PAPER)
    (design,) = next(c for c in found["candidates"] if c["kind"] == "fpga")["designs"]  # type: ignore[attr-defined]
    assert design["time_s"] == design["compute_s"] + design["transfer_s"]
    constants = {c["constant"]: c for c in document(capsys, "gpu", "devices", "zc702", "--json")["constants"]}  # type: ignore[attr-defined]
    assert constants["resources.dsp"]["value"] == 220
    assert all(constant["source"] for constant in constants.values())


def test_one_device_under_two_names_is_one_candidate(capsys: pytest.CaptureFixture[str]) -> None:
    twice = ("--devices", "gtx1660s", "GTX1660-Super", "--fpga", "zc702", "ZC702")
    found = document(capsys, "gpu", "choose", GEMM, "--define", "N=64", *twice, "--json")
    assert sorted(c["kind"] for c in found["candidates"]) == ["fpga", "gpu"]  # type: ignore[attr-defined]


def test_devices_shows_files_of_both_kinds(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for folder, name in (("platforms/fpgas", "zc702"), ("platforms/devices", "gtx1660s")):
        copy = tmp_path / f"{name}.yaml"
        with builtin_file(folder, name) as file:
            copy.write_text(Path(file).read_text())
        shown = document(capsys, "gpu", "devices", str(copy), "--json")
        assert shown["constants"] == document(capsys, "gpu", "devices", name, "--json")["constants"]


def test_devices_are_listed_and_each_constant_has_its_source(capsys: pytest.CaptureFixture[str]) -> None:
    found = document(capsys, "gpu", "devices", "--json")
    listed = [device["name"] for device in found["devices"]]  # type: ignore[attr-defined]
    assert {"tesla-c2075", "gtx1080ti", "rtx2070s", "a100", "h100"} <= set(listed)
    assert main(["gpu", "devices"]) == 0
    *rows, last = capsys.readouterr().out.splitlines()[2:]
    assert [line.split()[0] for line in rows] == listed
    assert last == "FPGAs for dse gpu choose --fpga: zc702"
    assert main(["gpu", "devices", "RTX2070-SUPER"]) == 0
    out = capsys.readouterr().out
    assert "load_store.load_line" in out
    assert "assumed" in out
    one = document(capsys, "gpu", "devices", "gtx1080-ti", "--json")
    values = {c["constant"]: c["value"] for c in one["constants"]}  # type: ignore[attr-defined]
    assert (one["name"], values["throughput.fp64"], values["load_store.load_line"]) == ("gtx1080ti", 4, 0)
    assert values["bank_conflicts"] == {"constant": 1, "coalesced": 1, "uncoalesced": 32}


def test_several_kernels_are_summed(capsys: pytest.CaptureFixture[str]) -> None:
    found = document(capsys, "gpu", "predict", str(KERNELS / "mvt.c"), "--define", "N=512", "--no-advice", "--json")
    kernels = found["kernels"]
    assert isinstance(kernels, list)
    assert len(kernels) == 2
    assert found["time_s"] == pytest.approx(sum(k["time_s"] for k in kernels))


def test_more_multiprocessors_are_quicker_and_say_that_it_is_an_extension(capsys: pytest.CaptureFixture[str]) -> None:
    found = document(capsys, "gpu", "predict", GEMM, "--device", "gtx1660s", "--no-advice", "--json", *PAPER)
    (kernel,) = found["kernels"]  # type: ignore[misc]
    assert any("extension" in note for note in kernel["notes"])
    assert found["time_s"] < 0.24  # type: ignore[operator]


def test_memory_pipeline_by_hand(capsys: pytest.CaptureFixture[str]) -> None:
    command = (
        "gpu predict --model memory_pipeline --device tesla-m2050 --read-cycle measured "
        "--requests 5 --transactions 1 --warps 6054 --launches 1000 --json"
    )
    found = document(capsys, *command.split())
    assert found["time_s"] == pytest.approx(0.040272, rel=1e-4)
    assert found["read_cycle_ns"] == pytest.approx(1.3304, rel=1e-4)


def test_memory_pipeline_from_c_source(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """c = a + b: three coalesced requests a warp, and all warps of the grid."""
    (tmp_path / "add.c").write_text(
        "#define N 1048576\nvoid add(float a[N], float b[N], float c[N])\n{\n"
        "    for (int i = 0; i < N; i++)\n        c[i] = a[i] + b[i];\n}\n"
    )
    command = ["gpu", "predict", str(tmp_path / "add.c"), "--model", "memory_pipeline", "--device", "tesla-m2050"]
    found = document(capsys, *command, "--no-advice", "--json")
    assert found["time_s"] == pytest.approx(12 / (6 * 1.546e9) * 3 * 1048576 / 32)
    assert found["bottleneck"] == "memory"


def test_choose(capsys: pytest.CaptureFixture[str]) -> None:
    found = document(
        capsys, "gpu", "choose", GEMM, "--devices", "jetson-tk1", "gtx1660s", "--fpga-ms", "1180", "--json"
    )
    assert found["winner"] == "gtx1660s"
    names = [c["name"] for c in found["candidates"]]  # type: ignore[attr-defined]
    assert names == ["gtx1660s", "jetson-tk1", "FPGA"]
    assert main(["gpu", "choose", GEMM, "--devices", "jetson-tk1", "--cpu-ms", "100", "--with-host"]) == 0
    assert "CPU by a factor of" in capsys.readouterr().out


def test_threads_that_race_are_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "prefix.c").write_text(
        "#define N 4096\nvoid prefix(float a[N], float b[N])\n{\n"
        "    for (int i = 1; i < N; i++)\n        a[i] = a[i - 1] + b[i];\n}\n"
    )
    assert main(["gpu", "predict", str(tmp_path / "prefix.c"), "--quiet"]) == 1
    said = capsys.readouterr()
    assert said.out == ""
    assert "prefix has no parallel loop: threads read elements of a that others write" in said.err
