"""A small network with one file of every kind that the command line reads, made by the command line itself."""

import contextlib
import io
import shutil
from pathlib import Path

from dse.cli.main import main

SOURCES = Path(__file__).parent / "scene"
ROOT = Path(__file__).parents[2]
CONFIGS = ROOT / "configs" / "platforms"
_SEARCHED = "--weights nominal --partitions 3 --budget 30 --workers 1 --method tabu --best 1 --quiet --out study"
_MADE_BY = (
    "trace net.xdf -o net.trace --accesses --quiet",
    "trace --export turnus.tracez net.trace",
    "trace --export turnus.trace net.trace",
    "weights nominal net.xdf -o w",
    f"explore net.xdf {_SEARCHED}",
    "buffers net.xdf -o sizes.bxdf",
    "gpu predict kernel.c --trace-size 16",
    "gpu scaling train set.csv --base 1000/500 --card mine --clusters 2 --penalty 1 -o model.json",
)
_HOST = """#include <CL/cl.h>
#define WIDTH 32
static const int N = 2 * WIDTH;
int main(void)
{
    size_t global[2] = {N, N}, local[2] = {16, 16};
    cl_int err = clSetKernelArg(kernel, 3, sizeof(cl_int), &N);
    err = clEnqueueNDRangeKernel(queue, kernel, 2, NULL, global, local, 0, NULL, NULL);
    return err;
}
"""


def make_scene(folder: Path) -> None:
    """Put the files into ``folder``, which does not exist yet."""
    shutil.copytree(SOURCES, folder)
    (folder / ".git").mkdir()  # classes are searched upwards only to here
    shutil.copy(CONFIGS / "desktop-gtx1660s.yaml", folder / "board.yaml")
    shutil.copy(CONFIGS / "devices" / "gtx1660s.yaml", folder / "card.yaml")
    shutil.copy(ROOT / "actors" / "jpeg" / "input.jpg", folder / "picture.jpg")
    shutil.copy(CONFIGS / "fpgas" / "zc702.yaml", folder / "fpga.yaml")
    shutil.copy(ROOT / "configs" / "gpu-kernels" / "sgmm.cl", folder / "kernel.cl")
    (folder / "host.c").write_text(_HOST)
    for name in ("camera.xml", "robot.tgff"):
        shutil.copy(ROOT / "tests" / "graphs" / name, folder / name)
    shutil.copytree(ROOT / "tests" / "graphs" / "bakery", folder / "bakery")
    shutil.copy(ROOT / "actors" / "smith_waterman" / "input.txt", folder / "dna.txt")
    for command in _MADE_BY:
        with contextlib.chdir(folder), contextlib.redirect_stdout(io.StringIO()):
            code = main(command.split())
        assert code == 0, f"dse {command}"
    shutil.move(folder / "study" / "best-01.xcf", folder / "map.xcf")
