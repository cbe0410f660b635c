"""The blind test reads what NeuSight and the benchmark hub measured, and only what it has a kernel for."""

import gzip
import json
from pathlib import Path

import pytest

from benchmarks.gpu_blind.__main__ import DATA, device_of, page, rows_of
from benchmarks.gpu_blind.convolution import CACHE, judged_blocks

HEAD = "OPName,Latency,Device,Kernel Name,Block x,Block y,B,H\n"


@pytest.fixture
def neusight(tmp_path: Path) -> Path:
    folder = tmp_path / DATA
    (folder / "device_configs").mkdir(parents=True)
    card = "NVIDIA A100-PCIE-40GB"
    add = "".join(f"add,{12 * 64 * n / 1.4e9},{card},elementwise,128,1,{n},64\n" for n in (1 << 14, 1 << 16, 1 << 18))
    (folder / "elem.csv").write_text(HEAD + add + f"gelu,1,{card},x,128,1,9,9\nadd,9,{card},x,128,1,{1 << 26},64\n")
    (folder / "softmax.csv").write_text(
        HEAD + f"softmax,0.5,{card},cunn,256,1,32768,1600\nsoftmax,1,{card},warp_forward,32,4,9,99\n"
    )
    (folder / "ln.csv").write_text(
        HEAD + f"ln,0.5,{card},vectorized,32,4,32768,1600\nln,1,{card},vectorized,32,4,9,99\n"
    )
    sheet = {"Num_Sm": 108, "Freq": 1410, "Core_Per_SM": 64, "L2Cache": 40, "Mem_Bw": 1555}
    (folder / "device_configs" / f"{card.replace(' ', '_')}.json").write_text(json.dumps(sheet))
    return tmp_path


def test_rows_with_a_kernel_of_ours(neusight: Path) -> None:
    rows = list(rows_of(neusight))
    assert [row.function for row in rows] == ["binary_add"] * 3 + ["softmax", "layer_norm"]
    assert rows[0].moved_bytes == 3 * (1 << 14) * 64 * 4
    assert (rows[3].width, rows[4].width) == (256, 128)


def test_a_card_is_its_data_sheet_and_its_family(neusight: Path) -> None:
    card = device_of(neusight, "NVIDIA A100-PCIE-40GB")
    assert (card.sms, card.l2_bytes, card.dram_bandwidth_gb_s) == (108, 40 << 20, 1555)


def test_a_line_for_each_card_and_kind(neusight: Path) -> None:
    lines = [line for line in page(neusight).splitlines() if line.startswith("| NVIDIA")]
    assert [line.split(" | ")[1] for line in lines] == ["elementwise", "softmax of rows", "layer norm of rows"]
    assert lines[0].split(" | ")[2] == "3"
    assert float(lines[0].split(" | ")[3].split(" ")[0]) < 20  # the made-up times are those of 1.4 TB/s
    assert " | 1.000 | " in lines[0]


def test_blocks_without_tiles(tmp_path: Path) -> None:
    def entry(x: int, ms: float, tile: int = 1) -> dict[str, object]:
        chosen = {"block_size_x": x, "block_size_y": 4, "tile_size_x": tile, "tile_size_y": 1}
        chosen |= {"read_only": 0, "use_shmem": 0}
        return {"configuration": chosen, "invalidity": "correct", "times": {"runtimes": [ms, ms, 9 * ms]}}

    (tmp_path / CACHE).parent.mkdir(parents=True)
    results = {"results": [entry(16, 3.5), entry(32, 3.0), entry(64, 2.9), entry(48, 0.1, tile=2)]}
    (tmp_path / CACHE).write_bytes(gzip.compress(json.dumps(results).encode()))
    ours, chance = judged_blocks(tmp_path)
    assert (ours.rows, chance.rows) == (3, 3)
    assert chance.regret == pytest.approx((3.5 + 3.0 + 2.9) / 3 / 2.9 - 1)
