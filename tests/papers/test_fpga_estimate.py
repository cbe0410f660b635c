"""The FPGA estimate against table 7 of CGPredict (Wang, Zhong, Mitra 2017), and against schedules by hand.

The constants of ``zc702``: an addition takes 5 cycles, 2 DSP slices; a product 4 and 3; a load 2, a store 1 cycle.
"""

from fractions import Fraction
from pathlib import Path

import pytest

from dse.base.errors import DseError
from dse.flows.gpu import ChooseOptions, KernelOptions, ModelOptions, choose_accelerator, fpga_estimates
from dse.flows.kernels import KernelSource
from dse.formats.fpga_yaml import builtin_fpgas, load_fpga, read_fpga
from dse.gpu.fpga.dataflow import Dataflow, Operation
from dse.gpu.fpga.nest import Nested, pieces_of
from dse.gpu.fpga.schedule import (
    depth_cycles,
    list_schedule,
    ports_interval,
    recurrence_interval,
    recurrences,
    units_for,
)
from dse.model.fpga import FpgaEstimate

KERNELS = Path(__file__).parent / "kernels"
ZC702 = load_fpga("zc702")
SIZES = {"MM": ("gemm.c", 1024), "MVT": ("mvt.c", 2048), "GEMVER1": ("gemver1.c", 2048), "DCT1D": ("dct1d.c", 1024)}


def estimates(path: Path, **defines: int) -> tuple[FpgaEstimate, ...]:
    options = KernelOptions(path=str(path), defines=tuple((k, str(v)) for k, v in defines.items()))
    return fpga_estimates(options, ZC702)


def text_estimates(folder: Path, text: str) -> tuple[FpgaEstimate, ...]:
    path = folder / "k.c"
    path.write_text(text)
    return estimates(path)


@pytest.mark.parametrize(
    ("name", "printed_ms", "winner"),
    [("MM", 1180, "jetson-tk1"), ("MVT", 9.09, "zc702"), ("GEMVER1", 16.55, "jetson-tk1"), ("DCT1D", 636.47, "zc702")],
)
def test_table_7(name: str, printed_ms: float, winner: str) -> None:
    """The choice is the printed one, times within a factor of 2: unrolling and partitions are not printed."""
    file, size = SIZES[name]
    kernels = KernelOptions(path=str(KERNELS / file), defines=(("N", str(size)),))
    choice = choose_accelerator(
        ChooseOptions(kernels=kernels, devices=("jetson-tk1",), model=ModelOptions(name="cgpredict"), fpgas=("zc702",))
    )
    assert choice.winner.name == winner
    ours = next(c for c in choice.ranking if c.kind == "fpga")
    assert 0.5 < 1e3 * ours.time_s / printed_ms < 2


def test_a_product_by_hand() -> None:
    """MM 1024: 16 products and sums in a cycle, as 8 slices each allow 27 lanes: 2^30 / 16 cycles, and the fills.

    A and B are read once for each 8 tiles of the other, C is read and written: (8 + 8 + 2) * 4 MiB.
    """
    (found,) = estimates(KERNELS / "gemm.c", N=1024)
    assert found.compute_s == pytest.approx(2**30 / 16 / 100e6, rel=2e-3)
    assert found.moved_bytes == 18 * 4 * 2**20
    assert found.transfer_s == found.moved_bytes / 4e9
    assert found.time_s == found.compute_s + found.transfer_s
    assert found.limit == "computing bounds it: twice the lanes need more DSP slices than there are"
    assert found.used.beyond(ZC702.resources) is None


def test_moving_bounds_a_product_with_a_vector() -> None:
    first, second = estimates(KERNELS / "mvt.c", N=2048)
    assert first.moved_bytes == pytest.approx(4 * 2048 * (2048 + 8 + 2), rel=1e-9)
    assert second.moved_bytes == first.moved_bytes
    assert first.limit == "moving 16.9 MB bounds it"


def innermost(text: str, folder: Path) -> tuple[Dataflow, Nested]:
    """The data flow of the innermost loop of the only kernel, and the loop."""
    path = folder / "k.c"
    path.write_text(text)
    (kernel,) = KernelSource(str(path)).work()
    piece = pieces_of(kernel, ZC702)[-1]
    while isinstance(piece, Nested) and piece.pipelined is None:
        piece = piece.body[-1]
    assert isinstance(piece, Nested)
    assert piece.pipelined is not None
    return piece.pipelined, piece


def flow_of(text: str, folder: Path) -> Dataflow:
    return innermost(text, folder)[0]


def in_rows(body: str) -> str:
    return (
        "void f(float x[64][64], float y[64][64], float a, float b) {\n"
        "#pragma dse parallel(i)\n"
        f"for (int i = 0; i < 64; i++) {body} }}\n"
    )


@pytest.mark.parametrize(
    ("body", "interval"),
    [
        # The sum is loaded (2), added to (5) and stored (1) before the next round.
        ("{ y[i][0] = 0; for (int j = 0; j < 64; j++) y[i][0] += x[i][j]; }", 8),
        # A scalar stays in a register: the product and the sum.
        ("{ float s = 0; for (int j = 0; j < 64; j++) { s = a * s + x[i][j]; y[i][j] = s; } }", 9),
        # What is needed two rounds later leaves twice the time.
        ("{ for (int j = 2; j < 64; j++) y[i][j] = a * y[i][j - 2] + x[i][j]; }", Fraction(2 + 4 + 5 + 1, 2)),
        # Around two scalars: one round for the first, two for both.
        (
            "{ float p = 0, q = 0; for (int j = 0; j < 64; j++)"
            " { float n = a * q + x[i][j]; q = p; p = n; y[i][j] = n; } }",
            Fraction(9, 2),
        ),
        ("{ for (int j = 0; j < 64; j++) y[i][j] = a * x[i][j]; }", 0),
        ("{ for (int j = 0; j < 63; j++) y[i][j] = y[i][j + 1] + a; }", 0),
        # Two elements away is one round, in steps of two; one element away is never reached.
        ("{ for (int j = 2; j < 64; j += 2) y[i][j] = a * y[i][j - 2] + x[i][j]; }", 12),
        ("{ for (int j = 2; j < 64; j += 2) y[i][j] = a * y[i][j - 1] + x[i][j]; }", 0),
        ("{ for (int j = 61; j >= 0; j--) y[i][j] = a * y[i][j + 2] + x[i][j]; }", Fraction(12, 2)),
    ],
)
def test_rounds_that_wait_for_each_other(body: str, interval: Fraction, tmp_path: Path) -> None:
    flow, loop = innermost(in_rows(body), tmp_path)
    assert recurrence_interval(recurrences(flow, loop.variable, loop.step)) == interval


def test_a_schedule_by_hand(tmp_path: Path) -> None:
    """Two loads at once, a third later; the products behind their loads; the sum of both; the store: 3 + 4 + 5 + 1."""
    flow = flow_of(in_rows("for (int j = 0; j < 62; j++) y[i][j] = x[i][j] * x[i][j + 1] + x[i][j + 2] * a;"), tmp_path)
    assert flow.counts() == {"load x": 3, "float_multiply": 2, "float_add": 1, "store y": 1}
    assert ports_interval(flow, {"load x": 2, "store y": 1}) == 2
    units = units_for(flow, 2)
    assert units == {"load x": 2, "float_multiply": 1, "float_add": 1, "store y": 1}
    begins = list_schedule(flow, units)
    by_kind = [(one.operator, begin) for one, begin in zip(flow.operations, begins, strict=True)]
    assert sorted(b for o, b in by_kind if o == "load x") == [0, 0, 1]
    assert sorted(b for o, b in by_kind if o == "float_multiply") == [2, 3]
    assert [b for o, b in by_kind if o == "float_add"] == [7]
    assert depth_cycles(flow, 2) == 13


def test_the_longest_path_goes_first() -> None:
    """One unit, two operations ready: the one that others wait for begins first."""
    flow = Dataflow(
        operations=(
            Operation("float_add", 5, ()),
            Operation("float_add", 5, ()),
            Operation("float_multiply", 4, (1,)),
        )
    )
    assert list_schedule(flow, {"float_add": 1, "float_multiply": 1}) == (1, 0, 5)


def test_what_is_done_once_or_costs_nothing(tmp_path: Path) -> None:
    flow = flow_of(
        in_rows("for (int j = 0; j < 64; j++) { float s = x[i][j] * a; y[i][j] = s + x[i][j] * a + x[i][j] * b; }"),
        tmp_path,
    )
    assert flow.counts() == {"load x": 1, "float_multiply": 2, "float_add": 2, "store y": 1}


def test_a_stored_element_is_not_loaded_again(tmp_path: Path) -> None:
    flow = flow_of(in_rows("for (int j = 0; j < 64; j++) { y[i][j] = x[i][j] * a; y[i][j] = y[i][j] + b; }"), tmp_path)
    assert flow.counts() == {"load x": 1, "float_multiply": 1, "float_add": 1, "store y": 2}


def test_both_sides_of_conditions(tmp_path: Path) -> None:
    flow = flow_of(
        in_rows("for (int j = 0; j < 64; j++) if (x[i][j] > 0) y[i][j] = x[i][j] * a; else y[i][j] = x[i][j] + b;"),
        tmp_path,
    )
    assert flow.counts() == {"load x": 1, "float_multiply": 1, "float_add": 1, "store y": 2}


@pytest.mark.parametrize(
    ("body", "counts"),
    [
        # Operands that no unit computes are told apart by what they say.
        (
            "y[i][j] = x[i][j] * (float)(j + 1) + x[i][j] * (float)(j + 2);",
            {"load x": 1, "float_multiply": 2, "float_add": 1, "store y": 1},
        ),
        (
            "{ float k = 1; float s = x[i][j] * k; k = 2; y[i][j] = s + x[i][j] * k; }",
            {"load x": 1, "float_multiply": 2, "float_add": 1, "store y": 1},
        ),
        (
            "y[i][j] = sqrtf(x[i][j]) + sqrtf(x[i][j]);",
            {"load x": 1, "float_function": 1, "float_add": 1, "store y": 1},
        ),
        ("y[i][j] = fmaxf(fabsf(x[i][j]), a) + b;", {"load x": 1, "float_add": 1, "store y": 1}),
        # Whether an element was stored to a counter tells only when it runs.
        (
            "{ if (j < 5) y[i][j] = x[i][j] + a; x[i][j] = y[i][j]; }",
            {"load x": 1, "float_add": 1, "store y": 1, "load y": 1, "store x": 1},
        ),
    ],
)
def test_what_is_told_apart(body: str, counts: dict[str, int], tmp_path: Path) -> None:
    assert flow_of(in_rows(f"for (int j = 0; j < 62; j++) {body}"), tmp_path).counts() == counts


def test_steps_reach_as_far_as_multiples(tmp_path: Path) -> None:
    """Every second element by a step of 2 is every second element by a subscript ``2 * j``."""
    (step,) = text_estimates(tmp_path, in_rows("for (int j = 0; j < 63; j += 2) y[i][j] = x[i][j] + a;"))
    (multiple,) = text_estimates(tmp_path, in_rows("for (int j = 0; j < 32; j++) y[i][2 * j] = x[i][2 * j] + a;"))
    assert step == multiple


def test_what_takes_no_time_lets_others_begin_at_once() -> None:
    flow = Dataflow(
        operations=(
            Operation("load x", 2, ()),
            Operation(None, 0, (0,)),
            Operation("float_add", 10**9, (1,)),
            Operation("store x", 1, (2,)),
        )
    )
    assert list_schedule(flow, units_for(flow, 1)) == (0, 2, 2, 10**9 + 2)


def test_a_histogram_has_one_port_for_all(tmp_path: Path) -> None:
    """Each addition waits for the one before: a load, an addition, a store; lanes bring nothing."""
    (found,) = text_estimates(
        tmp_path, "void f(int x[4096], int h[256]) { for (int i = 0; i < 4096; i++) h[x[i]] += 1; }"
    )
    assert found.lanes == 1
    assert found.compute_s == pytest.approx(4096 * (2 + 1 + 1) / 100e6, rel=0.02)
    assert "add to one array" in found.limit or found.transfer_s > found.compute_s


def test_triangles_have_half_the_rounds(tmp_path: Path) -> None:
    path = tmp_path / "k.c"
    path.write_text(in_rows("{ y[i][0] = 0; for (int j = 0; j <= i; j++) y[i][0] += x[i][j]; }"))
    (kernel,) = KernelSource(str(path)).work()
    loop = pieces_of(kernel, ZC702)[-1]
    assert isinstance(loop, Nested)
    assert loop.rounds == (1 + 64) / 2


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            "void f(float y[64], int n[64]) { for (int i = 0; i < 64; i++) for (int j = 0; j < n[i]; j++) y[i] += 1; }",
            "how often this loop runs is not known",
        ),
        (
            "void f(float y[64]) { for (int i = 0; i < 64; i++) { while (y[i] < 9) y[i] += 1; } }",
            "how often this runs is not known",
        ),
        (in_rows("for (int j = 0; j < 64; j++) ;"), "f computes nothing"),
    ],
)
def test_what_cannot_be_scheduled(text: str, message: str, tmp_path: Path) -> None:
    with pytest.raises(DseError, match=message):
        text_estimates(tmp_path, text)


def test_tiles_of_gpus_are_refused() -> None:
    with pytest.raises(DseError, match="tiles and barriers are those of a GPU"):
        estimates(KERNELS / "gemm_tiled.c", N=64)


def small_fpga(folder: Path, change: tuple[str, str]) -> Path:
    source = Path(__file__).resolve().parents[2] / "configs" / "platforms" / "fpgas" / "zc702.yaml"
    text = source.read_text()
    assert change[0] in text
    path = folder / "small.yaml"
    path.write_text(text.replace(*change).replace("name: zc702\n", ""))
    return path


def test_files_of_ones_own(tmp_path: Path) -> None:
    """A tenth of the slices is a quarter of the lanes or less; without an operator the kernel says what it lacks."""
    assert builtin_fpgas() == ("zc702",)
    options = KernelOptions(path=str(KERNELS / "gemm.c"), defines=(("N", "256"),))
    small = read_fpga(str(small_fpga(tmp_path, ("dsp: 220", "dsp: 22"))))
    assert small.name == "small"
    assert fpga_estimates(options, small)[0].compute_s > 7 * fpga_estimates(options, ZC702)[0].compute_s
    overlapping = read_fpga(str(small_fpga(tmp_path, ("overlap: {value: false", "overlap: {value: true"))))
    (found,) = fpga_estimates(options, overlapping)
    assert found.time_s == max(found.compute_s, found.transfer_s)
    lacking = read_fpga(_without(tmp_path))
    with pytest.raises(DseError, match="has no operator float_add"):
        fpga_estimates(options, lacking)
    none = read_fpga(str(small_fpga(tmp_path, ("dsp: 220", "dsp: 1"))))
    with pytest.raises(DseError, match="nothing of gemm fits small"):
        fpga_estimates(options, none)


def _without(folder: Path) -> str:
    path = small_fpga(folder, ("name: zc702", "name: zc702"))
    path.write_text("\n".join(line for line in path.read_text().split("\n") if "float_add" not in line))
    return str(path)
