"""Bodies of actions cut into kernels: calls replaced, lists as loops, which loops are threads and why not."""

from fractions import Fraction
from pathlib import Path

import pytest

from dse.base.errors import ModelNotApplicable
from dse.formats.device_yaml import load_device
from dse.gpu.actors.bodies import Body, body_of, simd_kernel
from dse.gpu.actors.firing import FiringModel
from dse.gpu.trace.features import kernel_features
from dse.model.kernel import TraceMachine
from dse.model.rounds import loop_key
from dse.passes.analyses.operations import ASSUMED_TRIPS
from dse.program.ir import Const, ForEach, If
from dse.program.walk import sub_statements
from tests.unit.gpu.actor_support import actor, body

COPY = """
  x: action I:[v] repeat 64 ==> O:[w] repeat 64
  var int(size=32) w[64]
  do {BODY} end
"""


def of(folder: Path, statements: str, before: str = "") -> Body:
    return body(folder, before + COPY.replace("{BODY}", statements))


def kernels(found: Body) -> list[tuple[tuple[int, ...], Fraction]]:
    """Extents of the parallel loops (x first) and executions of each kernel."""
    return [(tuple(p.extent for p in k.parallel), q.times) for q in found.pieces if (k := q.kernel) is not None]


def test_each_outermost_loop_is_a_kernel(tmp_path: Path) -> None:
    found = of(
        tmp_path,
        "foreach int i in 0 .. 63 do w[i] := v[i]; end w[0] := 1;"
        "foreach int i in 0 .. 7 do foreach int j in 0 .. 7 do w[8 * i + j] := v[8 * j + i]; end end",
    )
    assert kernels(found) == [((64,), 1), ((8, 8), 1)]
    assert [p.kernel is None for p in found.pieces] == [True, False, True, False]  # the declaration, the assignment


def test_what_is_carried_is_for_one_thread(tmp_path: Path) -> None:
    found = of(tmp_path, "foreach int i in 0 .. 63 do s := s + v[i]; w[i] := s; end", "  int s := 0;\n")
    assert kernels(found) == []
    assert "s is carried from one iteration" in found.pieces[-1].reason


def test_a_branch_is_taken_half_the_time(tmp_path: Path) -> None:
    found = of(tmp_path, "if v[0] > 0 then foreach int i in 0 .. 31 do w[i] := v[i]; end else w[0] := 1; end")
    assert kernels(found) == [((32,), Fraction(1, 2))]


def test_a_loop_around_parallel_ones_repeats_them(tmp_path: Path) -> None:
    found = of(
        tmp_path,
        "foreach int t in 1 .. 5 do foreach int i in 0 .. 63 do w[i] := w[i] + v[(i + t) & 63]; end w[t] := 0; end",
    )
    assert kernels(found) == [((64,), 5)]


def test_a_list_that_a_condition_chooses_is_copied_in_a_branch(tmp_path: Path) -> None:
    """Threads share the loop of either branch; a run says how often each is taken."""
    text = "  x: action I:[v] repeat 64 ==> O:[w] repeat 64\n"
    text += "  var int w[64] := if v[0] > 0 then [v[i] * 2 : for int i in 0 .. 63] else v end do end"
    found = actor(tmp_path, text)
    halves = body_of(found, found.actions[0])
    assert kernels(halves) == [((64,), Fraction(1, 2))] * 2
    assert halves.flat is not None
    (branch,) = (s for s in halves.flat.statements if isinstance(s, If))
    of_run = body_of(found, found.actions[0], {loop_key(branch): Fraction(1, 16)})
    assert kernels(of_run) == [((64,), Fraction(1, 16)), ((64,), Fraction(15, 16))]


def test_a_while_is_for_one_thread(tmp_path: Path) -> None:
    found = of(tmp_path, "while w[0] < 5 do foreach int i in 0 .. 63 do w[i] := w[i] + v[i]; end end")
    assert kernels(found) == []
    assert "the while in line" in found.pieces[-1].reason


def test_procedures_and_functions_are_replaced_by_their_bodies(tmp_path: Path) -> None:
    routines = """
  function clip(int x) --> int : if x < 0 then 0 else x end end
  procedure line(int from[64], int to[64], int first)
  begin foreach int i in 0 .. 7 do to[first + i] := clip(from[first + i] - 3); end end
"""
    found = of(tmp_path, "foreach int row in 0 .. 7 do line(v, w, 8 * row); end line(w, w, 8);", routines)
    assert kernels(found) == [((8, 8), 1), ((8,), 1)]
    features = kernel_features(found.pieces[1].kernel, found.pieces[1].kernel, TraceMachine(), compiled=False)  # type: ignore[arg-type]
    assert features.dependences == ()
    assert [i.array for i in features.instructions] == ["v", "w"]


def test_lists_become_loops(tmp_path: Path) -> None:
    copied = of(tmp_path, "w := v;")
    generated = of(tmp_path / "b", "w := [v[i] * i : for int i in 0 .. 63];")
    assert kernels(copied) == kernels(generated) == [((64,), 1)]


def test_an_output_that_is_computed_is_part_of_the_body(tmp_path: Path) -> None:
    text = "x: action I:[v] repeat 16 ==> O:[[v[15 - i] + 1 : for int i in 0 .. 15]] repeat 16 end"
    assert kernels(body(tmp_path, text)) == [((16,), 1)]


def test_tables_of_constants_keep_their_contents(tmp_path: Path) -> None:
    """Threads scatter by a permutation: made-up contents would make them collide."""
    table = f"  int(size=8) P[64] = [{', '.join(str(37 * i % 64) for i in range(64))}];\n"
    found = of(tmp_path, "foreach int i in 0 .. 63 do w[P[i]] := v[i]; end", table)
    (kernel,) = (p.kernel for p in found.pieces if p.kernel is not None)
    assert kernel_features(kernel, kernel, TraceMachine(), compiled=False).dependences == ()
    assert found.pieces[-1].assumed == ()


def test_what_is_made_up_is_said(tmp_path: Path) -> None:
    steered = of(tmp_path, "foreach int i in 0 .. 63 do w[i] := v[v[i] & 63]; end")
    assert steered.pieces[-1].assumed == ("contents of v",)
    ended = of(
        tmp_path / "b",
        "foreach int i in 0 .. 63 do w[i] := 0; foreach int k in 0 .. n - 1 do w[i] := w[i] + v[k]; end end",
        "  int n := 3;\n",
    )
    assert ended.pieces[-1].assumed == (f"n = {ASSUMED_TRIPS}",)


@pytest.mark.parametrize(
    ("statements", "before", "why"),
    [
        ("println(v[0]);", "", "it prints"),
        ("w[0] := magic(v[0]);", "  @native function magic(int x) --> int end\n", "it calls the native magic"),
    ],
)
def test_what_kernels_cannot_represent_is_said(tmp_path: Path, statements: str, before: str, why: str) -> None:
    found = of(tmp_path, statements, before)
    assert found.pieces == ()
    assert why in found.why_not
    with pytest.raises(ModelNotApplicable):
        simd_kernel(found, 8)


def test_a_thread_for_each_firing(tmp_path: Path) -> None:
    """Lists of a firing, tokens too, lie beside those of the next; a token that is a scalar is in a register."""
    text = "foreach int i in 0 .. 63 do w[i] := v[i] + P[i]; end"
    found = of(tmp_path, text, f"  int P[64] = [{', '.join(map(str, range(64)))}];\n")
    kernel, _ = simd_kernel(found, 96)
    assert [(p.extent, p.variable.source_name) for p in kernel.parallel] == [(96, "firing")]
    assert {a.source_name: a.dims for a in kernel.arrays} == {"v": (64, 96), "w": (64, 96), "P": (64,)}
    features = kernel_features(kernel, kernel, TraceMachine(), compiled=False)
    assert {i.array: i.access for i in features.instructions} == {"v": "coalesced", "P": "constant", "w": "coalesced"}
    assert features.dependences == ()
    table = "  int P[4] = [3, 1, 2, 0];\n  x: action I:[t] ==> O:[s] var int s := P[t & 3] + t do end"
    scalar, _ = simd_kernel(body(tmp_path / "scalar", table), 96)
    found_ = kernel_features(scalar, scalar, TraceMachine(), compiled=False)
    assert [i.array for i in found_.instructions] == ["P"]


def test_lists_of_routines_may_steer(tmp_path: Path) -> None:
    """A list that a call made has a name that is none in Python."""
    routine = "  procedure p(int a[64], int b[64]) var int t[64] begin t := a; "
    routine += "foreach int i in 0 .. 63 do b[i] := a[t[i] & 63]; end end\n"
    found = of(tmp_path, "p(v, w);", routine)
    assert kernels(found) == [((64,), 1)] * 2
    for piece in found.pieces:
        if piece.kernel is not None:
            assert kernel_features(piece.kernel, piece.kernel, TraceMachine(), compiled=False).blocks == 1


def test_loops_run_as_often_as_in_the_run(tmp_path: Path) -> None:
    """What ends a loop is not made up where a run tells; bounds that depend on a loop around stay."""
    text = "foreach int i in 0 .. n - 1 do foreach int k in 0 .. n - 1 do w[i] := w[i] + v[k]; end end"
    found = actor(
        tmp_path, f"  int n := 3;\n  x: action I:[v] repeat 64 ==> O:[w] repeat 64 var int w[64] do {text} end"
    )
    outer = next(s for s in sub_statements(found.actions[0].body) if isinstance(s, ForEach))
    (inner,) = outer.body
    assert isinstance(inner, ForEach)
    of_run = {loop_key(outer): Fraction(28), loop_key(inner): Fraction(37, 4)}
    (piece,) = (p for p in body_of(found, found.actions[0], of_run).pieces if p.kernel is not None)
    assert piece.kernel is not None
    assert (piece.kernel.threads, piece.assumed) == (28, ())
    (k_loop,) = (s for s in sub_statements(piece.kernel.body) if isinstance(s, ForEach))
    assert isinstance(k_loop.high, Const)
    assert k_loop.high.value == 8


@pytest.mark.parametrize(
    "statements",
    [
        "foreach int i in 16 .. 15 do w[i] := v[i]; end",
        "foreach int i in 0 .. 63 do foreach int k in 4 .. 3 do w[i] := v[k]; end end",
        "foreach int k in 4 .. 3 do foreach int i in 0 .. 63 do w[i] := v[i]; end end",
        "if v[0] > 0 then foreach int i in 8 .. N - 1 do w[i] := v[i]; end end",
        "foreach int i in m .. 3 do w[i] := v[i]; end",
    ],
)
def test_loops_that_never_run_cost_little(tmp_path: Path, statements: str) -> None:
    found = actor(tmp_path, "  int N = 8;\n  int m := 1;\n" + COPY.replace("{BODY}", statements))
    model = FiringModel(load_device("gtx1660s"))
    assert model.firing(found, found.actions[0], longest_run=3).cycles < 4000


def test_a_loop_that_assigns_its_variable_is_one_thread(tmp_path: Path) -> None:
    """How some programs leave a loop early."""
    text = "foreach int i in 0 .. 63 do if v[i] = 0 then w[i] := 1; i := 64; end end"
    found = actor(tmp_path, COPY.replace("{BODY}", text))
    cost = FiringModel(load_device("gtx1660s")).firing(found, found.actions[0], longest_run=4)
    assert cost.threads == 1
    assert "assigns its variable i" in cost.reason
