"""Lists whose sizes or elements are not what a static type says: parameters, short rows, values that are passed."""

from pathlib import Path

import pytest

from tests.unit.run.programs import run_body

CASES = {
    "a parameter declared shorter than the list": (
        "int a[4] := [1,2,3,4]; procedure p(int x[2]) begin x := [9,8]; end",
        "",
        "p(a); println(a[3]); println(a);",
        ["4", "[9, 8, 3, 4]"],
    ),
    "rows declared shorter than those of the list": (
        "int m[2][4]; procedure p(int x[2][2]) begin x[1] := [9,8]; end",
        "",
        "p(m); println(m[1][2]); println(m[1]);",
        ["0", "[9, 8, 0, 0]"],
    ),
    "a parameter declared longer than the list": (
        "int a[2]; procedure p(int x[4]) var int l[4] begin l[3] := 5; x := l; end",
        "",
        "p(a); println(a);",
        ["[0, 0]"],
    ),
    "a local that is filled from rows that are shorter": (
        "int a[2][2] := [[1,2],[3,4]]; procedure p(int x[2][3]) var int l[2][3] := x begin println(l[1][2]); end",
        "",
        "p(a);",
        ["0"],
    ),
    "a local that is filled from rows that are longer": (
        """int a[2][4] := [[1,2,3,4],[5,6,7,8]]; int o[2][5];
        procedure p(int x[2][3]) var int l[2][3] := x begin o[0] := l[1]; println(o[0][3]); end""",
        "",
        "p(a);",
        ["0"],
    ),
    "a local that is filled from a large list": (
        "int m[300][300]; procedure p(int x[300][310]) var int l[300][310] := x begin println(l[2][305]); end",
        "",
        "p(m);",
        ["0"],
    ),
    "a choice of two lists of other sizes": (
        "int a[2][2]; int c[2][3]; int n := 2;",
        "int l[2][3] := if n = 1 then c else a end",
        "println(l[1][2]);",
        ["0"],
    ),
    "short rows of a new list leave what they do not reach": (
        "int m[2][2] := [[1,2],[3,4]]; int n := 9;",
        "",
        "m := [[n,n],[n]]; println(m); m := [[5,6],[7]]; println(m);",
        ["[[9, 9], [9, 4]]", "[[5, 6], [7, 4]]"],
    ),
    "a loose parameter that is shorter than declared": (
        "uint(size=8) s[2] := [1,2]; int d[4]; procedure p(int(size=8) x[4]) begin d := x; println(d); end",
        "",
        "d := [7,7,7,7]; p(s);",
        ["[1, 2, 7, 7]"],
    ),
    "a choice of lists is passed as a list of its own": (
        "int n := 1; procedure p(int x[2]) begin x[1] := x[1]+1; println(x[1]); end",
        "int c[2] = [1,2]",
        "p(if n > 0 then c else c end); println(c[1]);",
        ["3", "2"],
    ),
    "literals that are passed have elements of the parameter's type": (
        "int n := 1; procedure p(uint(size=8) x[2]) begin println(x[0]); end",
        "",
        "p([300,7]); p([n+299,1]); p([i + 299 : for int i in 1 .. 2]);",
        ["44", "44", "44"],
    ),
    "a new list of short rows is filled up": (
        "int x := 4; int a[2] := [1, 2];",
        "int m[2][3] := [[x,x],[x,x]], int k[2][3] := [[x,i] : for int i in 0 .. 1], int j[2][3] := [a, [a[0], a[1]]]",
        "println(m[1][2]); println(k[1][2]); println(j[1][2]);",
        ["0", "0", "0"],
    ),
    "a generator variable wraps": (
        "int t[256]; int z[11]; uint(size=8) r[11];",
        "",
        "t[4] := 6; z := [t[i] : for uint(size=8) i in 250 .. 260]; println(z[10]); "
        "r := [i : for uint(size=8) i in 250 .. 260]; println(r[10]);",
        ["6", "4"],
    ),
    "a generator of two elements with checks": (
        "int a[4] := [1,2,3,4]; int r[6]; int n := 2;",
        "",
        "r := [a[n+i], a[n] : for int i in 0 .. 2]; println(r);",
        ["[3, 3, 4, 3, 0, 3]"],
    ),
    "floats of a list are rounded when they are stored": (
        "float t[1] := [16777217.0]; float z; float u[2]; float s := 4097.0; int n := 1;",
        "",
        "z := t[0]; println(z); u := [s*s, s]; println(u[0]); "
        "u := if n = 1 then [16777217,2] else [0.5,0.5] end; println(u);",
        ["16777216.000000", "16785408.000000", "[16777216.000000, 2.000000]"],
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_lists_hold_what_they_should(tmp_path: Path, name: str) -> None:
    declarations, var, body, expected = CASES[name]
    assert run_body(tmp_path, body, declarations, var=var).splitlines() == expected
