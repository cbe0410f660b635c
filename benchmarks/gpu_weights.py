"""The tables of docs/gpu-weights.md: predicted firings of the JPEG decoder, makespans with actors on a GPU, products.

usage: python -m benchmarks.gpu_weights [firings] [makespans] [matrix] [products]

Prints the tables in Markdown, all of them or those that are named. It takes some minutes of one core.
"""

import argparse
import json
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from dse.formats.device_yaml import load_device
from dse.frontend.network.elaborate import load_network
from dse.gpu.actors.firing import FiringModel
from dse.model.device import Device
from dse.program.ir import Actor

ROOT = Path(__file__).parents[1]
JPEG, MATRIX = (str(ROOT / "actors" / name / f"{name}.xdf") for name in ("jpeg", "matrix"))
DEVICES = ("jetson-tk1", "gtx1660s", "h200")
PLATFORMS = ("jetson-tk1", "desktop-gtx1660s", "server-h200")
ACTIONS = (
    *("parser.data.byte", "huffman.bits.byte", "huffman.symbol.ac", "huffman.block.next"),
    *("dequant.scale", "idct2d.transform"),
)
FIFOS = ("512", "32768")
KEPT = ("idct2d", "dequant", "huffman")
EDGES = (16, 64, 256, 512)
TOKEN_BYTES = 4
PRODUCT = """
actor Product () int(size=32) I ==> int(size=32) O :
  action I:[v] repeat {N2} ==> O:[w] repeat {N2}
  var int(size=32) w[{N2}], int s
  do
    foreach int i in 0 .. {N} - 1 do foreach int j in 0 .. {N} - 1 do
      s := 0;
      foreach int k in 0 .. {N} - 1 do s := s + v[{N} * i + k] * v[{N} * k + j]; end
      w[{N} * i + j] := s;
    end end
  end
end
"""
RING = """<XDF name="ring">
  <Instance id="a"><Class name="Product"/></Instance>
  <Instance id="b"><Class name="Product"/></Instance>
  <Connection src="a" src-port="O" dst="b" dst-port="I"/>
  <Connection src="b" src-port="O" dst="a" dst-port="I"/>
</XDF>
"""


def said(*words: str) -> dict[str, Any]:
    """Return the JSON that a verb of dse prints."""
    done = subprocess.run([sys.executable, "-m", "dse", *words], capture_output=True, text=True, check=False)
    if done.returncode:
        sys.exit(f"dse {' '.join(words)}:\n{done.stderr}")
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def text_of(microseconds: float) -> str:
    """Return a time with two or three digits that count."""
    digits = 0 if microseconds >= 100 else 1 if microseconds >= 10 else 2 if microseconds >= 0.1 else 3
    return f"{microseconds:.{digits}f}"


def show(head: str, rows: list[list[str]]) -> None:
    """Print a table."""
    columns = [cell.strip() for cell in head.split("|")]
    print("\n| " + " | ".join(columns) + " |\n|" + "---|" * len(columns))
    for row in rows:
        print("| " + " | ".join(row) + " |")
    sys.stdout.flush()


def firings() -> None:
    """Print the microseconds of a firing of the JPEG decoder's actions."""
    predicted = [said("weights", "predict", JPEG, "--device", device, "--json")["actions"] for device in DEVICES]
    found = [{f"{a['actor']}.{a['action']}": a for a in actions} for actions in predicted]
    rows = [[f"`{name}`", *(text_of(of[name]["us"]) for of in found)] for name in ACTIONS]
    for count in (8, 384):
        shares = [of["idct2d.transform"]["simd_us"][count - 1] / count for of in found]
        rows.append([f"in blocks of {count} firings, each", *map(text_of, shares)])
    show(" | ".join(("action", *DEVICES)), rows)


def best_ms(program: str, platform: str, *more: str) -> tuple[float, float, str]:
    """Return makespan, speed-up and mapping of the best mapping that a search finds."""
    with tempfile.TemporaryDirectory() as folder:
        found = said("explore", program, "--platform", platform, "--json", "--out", folder, *more)["best"]
    return found["makespan"] / 1e9, found["speedup"] or 0.0, found["mapping"]


def makespans() -> None:
    """Print the milliseconds of the JPEG decoder with an actor kept on the GPU, and without a GPU."""
    rows = []
    for platform in PLATFORMS:
        for fifo in FIFOS:
            sized = ("--buffers", fifo)
            none = best_ms(JPEG, platform, *sized, *(w for a in KEPT for w in ("--pin", f"{a}=cpu")))[0]
            kept = [best_ms(JPEG, platform, *sized, "--pin", f"{actor}=gpu")[0] for actor in KEPT]
            rows.append([platform, fifo, *(f"{ms:.3g}" for ms in (none, *kept))])
    show("platform | FIFOs | no GPU | " + " | ".join(f"`{a}`" for a in KEPT), rows)


def matrix() -> None:
    """Print the best mappings of the program of matrices."""
    found = [(platform, *best_ms(MATRIX, platform)) for platform in PLATFORMS]
    show(
        "platform | mapping | makespan | speed-up",
        [[platform, mapping, f"{ms:.3g} ms", f"{by:.1f}"] for platform, ms, by, mapping in found],
    )


def products() -> None:
    """Print the microseconds of a product of N by N, and of the copy of its three matrices."""
    rows = []
    devices = [load_device(name) for name in DEVICES]
    for edge in EDGES:
        actor = product(edge)
        row = [str(edge)]
        for device in devices:
            cycles = float(FiringModel(device).firing(actor, actor.actions[0]).cycles)
            row += [text_of(cycles / device.clock_mhz), text_of(across_us(device, edge))]
        rows.append(row)
    show("N | " + " | ".join(f"{name} | across" for name in DEVICES), rows)


def product(edge: int) -> Actor:
    """Return an actor whose firing is a product of matrices."""
    with tempfile.TemporaryDirectory() as folder:
        text = PRODUCT.replace("{N2}", str(edge * edge)).replace("{N}", str(edge))
        Path(folder, "Product.cal").write_text(text)
        Path(folder, "ring.xdf").write_text(RING)
        return load_network(str(Path(folder, "ring.xdf"))).network.instances[0].actor


def across_us(device: Device, edge: int) -> float:
    """Return the microseconds in which the three matrices of a product cross."""
    each = device.require("transfer_latency_us", "host")
    rate = device.require("transfer_gb_s", "host")
    return 3 * (each + TOKEN_BYTES * edge * edge / rate * 1e-3)


TABLES = {"firings": firings, "makespans": makespans, "matrix": matrix, "products": products}


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("tables", nargs="*", metavar="TABLE", help=", ".join(TABLES))
    wanted = parser.parse_args().tables or list(TABLES)
    for name in wanted:
        if name not in TABLES:
            parser.error(f"there is no table '{name}': {', '.join(TABLES)}")
        TABLES[name]()


if __name__ == "__main__":
    main()
