"""Lists that are printed and joined, as the Orcc tests ``ListParameter`` and ``ListConcat`` do."""

from pathlib import Path

import pytest

from dse.frontend.network.elaborate import load_network
from dse.run.execution import run_network
from dse.run.options import RunOptions
from tests.unit.run.programs import run_body

PARAMETER = """
actor ListParameter(int N, int M, List(type:List(type:int, size=M), size=N) filter) ==> :
    List(type:List(type:int, size=M), size=N) list2D;
    List(type:int, size=N) list1D;
    initialize ==>
    do
        println(filter);
        foreach int i in 0 .. N - 1 do
            foreach int j in 0 .. M - 1 do
                list2D[i][j] := i * M + j;
            end
        end
        println(list2D);
        foreach int i in 0 .. N - 1 do
            list1D[i] := i;
        end
        println(list1D);
    end
end
"""
NETWORK = """<XDF name="Top"><Instance id="l"><Class name="ListParameter"/>
<Parameter name="N"><Expr kind="Literal" literal-kind="Integer" value="2"/></Parameter>
<Parameter name="M"><Expr kind="Literal" literal-kind="Integer" value="3"/></Parameter>
<Parameter name="filter"><Expr kind="List">
<Expr kind="List"><Expr kind="Literal" literal-kind="Integer" value="2"/></Expr>
<Expr kind="List"><Expr kind="Literal" literal-kind="Integer" value="-3"/></Expr>
</Expr></Parameter></Instance></XDF>"""


def test_lists_are_printed_as_they_are_written(tmp_path: Path) -> None:
    (tmp_path / "ListParameter.cal").write_text(PARAMETER)
    (tmp_path / "Top.xdf").write_text(NETWORK)
    result = run_network(load_network(str(tmp_path / "Top.xdf")).network, RunOptions())
    assert result.stdout == "[[2, 0, 0], [-3, 0, 0]]\n[[0, 1, 2], [3, 4, 5]]\n[0, 1]\n"


def test_an_initial_value_that_joins_two_lists(tmp_path: Path) -> None:
    assert (
        run_body(tmp_path, "println(fib[0] + 10 * fib[3]);", "List(type: int, size=4) fib := [0, 1] + [2, 3];")
        == "30\n"
    )


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("t := [n] + [2]; println(t);", "[7, 2, 0]"),
        ('println("t = " + t + "!");', "t = [0, 0, 0]!"),
        ("println([n = 7, false]);", "[1, 0]"),
        ('println(["a", "" + n]);', "[a, 7]"),
        ("println([0.5, n]);", "[0.500000, 7.000000]"),
        ("s := t + [n] + [300]; println(s);", "[0, 0, 0, 7, 44]"),
        ("println([[n], [1, 2]] + [[3]]);", "[[7, 0], [1, 2], [3, 0]]"),
        ("println(t + [-1] + [4294967295]);", "[0, 0, 0, -1, 4294967295]"),
        ("t := [1] + [2]; t := [t[1]] + [t[0]]; println(t);", "[2, 1, 0]"),
    ],
)
def test_lists_are_joined_and_printed_at_run_time(tmp_path: Path, body: str, expected: str) -> None:
    declarations = "int n := 7; int t[3]; uint(size=8) s[5];"
    assert run_body(tmp_path, body, declarations) == expected + "\n"
