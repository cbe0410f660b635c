"""Lists under another element type, and large lists."""

import tracemalloc
from pathlib import Path

from tests.unit.run.programs import run_body


def test_an_element_read_through_the_callers_name_is_of_the_callers_type(tmp_path: Path) -> None:
    """The procedure stores a negative number through its int; the caller's uint reads it as 2^32 less one."""
    declarations = """
        uint(size=32) res[2];
        procedure p(int(size=32) r[2]) begin r[0] := -1; r[1] := 5; end
    """
    body = "p(res); println(res[0]); println(res[0] >> 28); println(res[1]);"
    assert run_body(tmp_path, body, declarations).split() == ["4294967295", "15", "5"]


def test_an_element_read_through_a_parameter_is_of_the_parameters_type(tmp_path: Path) -> None:
    declarations = """
        uint(size=32) res[2];
        uint(size=8) bytes[2];
        procedure show(int(size=32) r[2], int(size=8) b[2]) begin println(r[0]); println(b[1]); end
        procedure further(uint(size=32) r[2]) begin show(r, bytes); println(r[0]); end
    """
    body = "res[0] := 4294967295; bytes[1] := 200; show(res, bytes); further(res);"
    assert run_body(tmp_path, body, declarations).split() == ["-1", "-56", "-1", "-56", "4294967295"]


def test_a_narrow_parameter_wraps_what_it_writes_and_what_it_reads(tmp_path: Path) -> None:
    declarations = """
        int(size=32) a[2] := [300, 70000];
        int(size=32) copy[2];
        int(size=8) small[2];
        procedure p(uint(size=8) r[2]) begin println(r[0]); r[1] := 511; println(r[1]); copy := r; end
    """
    body = "p(a); println(a[0]); println(a[1]); println(copy[0]); println(copy[1]); small := a; println(small[1]);"
    assert run_body(tmp_path, body, declarations).split() == ["44", "255", "300", "255", "44", "255", "-1"]


def test_whole_lists_are_converted_from_a_loose_list(tmp_path: Path) -> None:
    declarations = """
        uint(size=16) u[3];
        int(size=64) wide[3];
        procedure p(int(size=16) r[3]) begin foreach int i in 0 .. 2 do r[i] := -1 - i; end end
    """
    body = """p(u); wide := u; println(wide[0]); println(wide[2]);
        wide := [u[0], u[1], 7]; println(wide[1]);"""
    assert run_body(tmp_path, body, declarations).split() == ["65535", "65533", "65534"]


def test_floats_under_another_width(tmp_path: Path) -> None:
    declarations = """
        float f[1];
        procedure p(double r[1]) begin r[0] := 0.1; end
    """
    assert run_body(tmp_path, "p(f); println(f[0] = 0.1); println(f[0] - 0.1 < 0.00000001);", declarations).split() == [
        "0",
        "1",
    ]


def test_large_lists_that_go_by_reference_cost_what_is_touched(tmp_path: Path) -> None:
    """The lists of HEVC's MvComponentPred: 71 million elements each, of which a run touches a few."""
    sizes = "[17][4096][256][2][2]"
    declarations = f"""
        int(size=16) mv{sizes};
        int(size=16) other{sizes};
        procedure put(int(size=16) m{sizes}, int at, int v) begin m[at][1][2][1][0] := v; end
        function get(int(size=16) m{sizes}, int at) --> int : m[at][1][2][1][0] + m[at][1][2][0][0] end
    """
    body = "put(mv, 3, 7); put(other, 16, 9); println(get(mv, 3)); println(get(mv, 4)); println(get(other, 16));"
    tracemalloc.start()
    try:
        printed = run_body(tmp_path, body, declarations).split()
        _, peak_bytes = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert printed == ["7", "0", "9"]
    assert peak_bytes < 100_000_000


def test_a_large_list_is_a_list_in_all_else(tmp_path: Path) -> None:
    declarations = """
        int big[300][300];
        int row[300];
        int same[300][300];
    """
    body = """big[7][9] := 5; row := big[7]; println(row[9]); row[0] := 3; println(big[7][0]); big[8] := row;
        println(big[8][9] + big[8][0]); println(#big); println(big[299][299]); same := big;
        println(same[8][9]); println(same[298][1]);
        big[row[0] - 3 + row[9] - 5] := row; println(big[0][9]); println(big[row[9] * 100][0]);"""
    assert run_body(tmp_path, body, declarations).split() == ["5", "0", "8", "300", "0", "5", "0", "5", "0"]


def test_short_rows_of_a_table_are_filled_up_with_zeros(tmp_path: Path) -> None:
    declarations = """
        int state[2][3] := [[1, 2, 3], [4]];
        int fixed[2][3] = [[1], [2, 3]];
        int n := 1;
        procedure show(int r[2][3]) begin println(r[1][2]); end
    """
    body = "n := 1; println(state[1][0]); println(state[1][2]); println(fixed[0][n]); show(fixed); println(own[0][2]);"
    assert run_body(tmp_path, body, declarations, var="int own[2][3] = [[1], [2]]").split() == ["4", "0", "0", "0", "0"]


def test_a_new_list_that_is_shorter_than_its_variable_is_filled_up(tmp_path: Path) -> None:
    body = "println(own[1]); println(own[3]); n := 3; println(own[n]);"
    assert run_body(tmp_path, body, "int n := 2;", var="int own[4] := [n, n]").split() == ["2", "0", "0"]


def test_a_list_parameter_of_another_size_keeps_the_size_of_the_callers_list(tmp_path: Path) -> None:
    """What is longer is cut, and what is not reached stays as it is (cal.md 2.2)."""
    declarations = """
        int short[2] := [8, 9];
        int long[5] := [5, 5, 5, 5, 5];
        int after := 77;
        procedure p(int r[3]) begin r := [1, 2, 3]; end
        procedure q(int(size=8) r[3]) begin r := [1, 2, 300]; end
    """
    body = """p(short); p(long); println(short); println(long); q(long); println(long); q(short); println(short);
        println(after);"""
    assert run_body(tmp_path, body, declarations).splitlines() == [
        "[1, 2]",
        "[1, 2, 3, 5, 5]",
        "[1, 2, 44, 5, 5]",
        "[1, 2]",
        "77",
    ]


def test_a_table_that_is_passed_on_and_on_may_be_written(tmp_path: Path) -> None:
    declarations = """
        int t[3] := [1, 2, 3];
        uint(size=8) y := 0;
        procedure p(int r[3]) begin q(r); end
        procedure q(int r[3]) begin s(r); end
        procedure s(int r[3]) begin r[0] := 300; end
    """
    body = "p(t); y := t[0]; println(y); println(t[0]);"
    assert run_body(tmp_path, body, declarations).split() == ["44", "300"]
