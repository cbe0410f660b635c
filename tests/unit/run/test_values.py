"""What values become: containers, operators, lists, floats, text (cal.md 2.0 to 2.2)."""

import struct
from pathlib import Path

import pytest

from dse.base.errors import ExecutionError
from tests.unit.run.programs import SINK, run_body, run_program


def test_a_store_wraps_to_the_container_and_not_to_the_declared_size(tmp_path: Path) -> None:
    var = "int(size=8) a := 200, uint(size=3) b := 9, uint(size=16) c := -1, int(size=33) d := 1 << 63, uint d2"
    body = "println(a); println(b); println(c); println(d); d2 := -1; println(d2); b := 300; println(b);"
    assert run_body(tmp_path, body, var=var).split() == ["-56", "9", "65535", str(-(1 << 63)), "4294967295", "44"]


def test_intermediates_are_exact(tmp_path: Path) -> None:
    declarations = "int x := 2147483647; uint(size=64) y := 0xFFFFFFFFFFFFFFFF; int z;"
    body = "z := (x * 4 + 4) >> 2; println(z); println((y * y) >> 64); z := x; x := x + 1; println(x);"
    expected = ["-2147483648", str((((1 << 64) - 1) ** 2) >> 64), "-2147483648"]
    assert run_body(tmp_path, body, declarations).split() == expected


def test_a_wrapped_table_keeps_values_beyond_the_declared_size(tmp_path: Path) -> None:
    declarations = "uint(size=4) t[6] = [10, 13, 16, 18, 20, 23]; int i := 0;"
    body = "i := 5; println(t[i] + t[2]);"
    assert run_body(tmp_path, body, declarations) == "39\n"


def test_parameters_results_and_the_loop_variable_wrap(tmp_path: Path) -> None:
    declarations = """
        function f(uint(size=8) a) --> int(size=32) : a end
        function g(int a) --> int(size=8) : a end
        procedure p(int(size=16) a) begin println(a); end
        uint(size=16) low = -1;
        int n := 0;
    """
    body = "println(f(-1)); println(g(200)); p(40000); foreach int(size=16) x in low .. 1 do print(x + n); end"
    assert run_body(tmp_path, body, declarations).split() == ["255", "-56", "-25536", "-101"]


def test_tokens_of_a_choice_of_lists_are_converted(tmp_path: Path) -> None:
    source = """actor S () ==> int(size=16) P : int n := 0;
        action ==> P:[if n > 0 then [n + i : for int i in 1 .. 2] else [70000 + n, 1] end] repeat 2
        guard n < 2 do n := n + 1; end end"""
    sink = "actor T () int(size=32) B ==> : action B:[b] repeat 2 ==> do println(b); end end"
    assert run_program(tmp_path, (source, sink), "s=S t=T s.P->t.B").stdout == "[2, 3]\n[3, 4]\n"


def test_too_many_loops_inside_each_other_are_an_error(tmp_path: Path) -> None:
    loops = "".join(f"foreach int i{k} in 0 .. 0 do " for k in range(22))
    with pytest.raises(ExecutionError, match="cannot be compiled to Python: too many statically nested blocks"):
        run_body(tmp_path, loops + "println(1);" + " end" * 22)


def test_tokens_wrap_when_written_and_when_read(tmp_path: Path) -> None:
    source = """actor S () ==> uint(size=8) O, int(size=16) P : int n := 0;
        action ==> O:[300 + n, -1], P:[l] repeat 2 guard n = 0 var int l[2] := [70000, -70000] do n := 1; end end"""
    sink = """actor T () int(size=8) A, int(size=8) B ==> :
        action A:[x, y] ==> do println(x); println(y); end
        action B:[b] repeat 2 ==> do println(b[0]); println(b[1]); end end"""
    result = run_program(tmp_path, (source, sink), "s=S t=T s.O->t.A s.P->t.B")
    assert result.stdout.split() == ["45", "-1", "112", "-112"]


def test_division_and_remainder_truncate_toward_zero(tmp_path: Path) -> None:
    declarations = "int a := 0; int b := 0;"
    body = """a := -7; b := 2; println(a / b); println(a mod b); println(a div -b); println(7 mod -b);
        println(a / 2); println(a mod 2); println((a + 1) / 3); println(a >> 1); println(-a / b);"""
    assert run_body(tmp_path, body, declarations).split() == ["-3", "-1", "3", "1", "-3", "-1", "-2", "-4", "3"]


def test_operands_that_may_just_be_negative(tmp_path: Path) -> None:
    """A dividend, and a shift count, whose least value is -1."""
    declarations = "uint(size=8) x := 0; int d := 3;"
    body = """x := 0; println((x - 1) / 2); println((x - 1) mod 2); println((x - 1) / (x + 2));
        println(1 << (x - 1)); println(1000 >> (x - 1)); d := d;"""
    assert run_body(tmp_path, body, declarations).split() == ["0", "-1", "0", str(1 << 31), "0"]


def test_boolean_operators_short_circuit(tmp_path: Path) -> None:
    declarations = "int z := 0; function f(int x) --> bool : 10 / x > 1 end"
    body = "println(z != 0 and f(z)); println(z = 0 or f(z)); println(if z = 0 then 1 else 5 / z end);"
    assert run_body(tmp_path, body, declarations).split() == ["0", "1", "1"]


def test_a_negative_shift_count_is_masked_by_the_type_of_the_left_operand(tmp_path: Path) -> None:
    """To 5 bits, or 6 where the type has more than 32 bits (cal.md 2.1); a count of the width or more is not masked."""
    declarations = "int n := 0; uint(size=32) big := 0; int(size=33) wide := 8; int(size=32) narrow := 8; int m := 32;"
    body = """n := -1; println(narrow << n); println(narrow >> n); println(wide << n); println(wide >> (n * 60));
        n := -8; println((1 << 30) >> n); println(1 << m); narrow := narrow << m; println(narrow);
        big := 4000000000; n := 1 << big; println(n);"""
    expected = [8 << 31, 0, 8 << 63, 8 >> 4, (1 << 30) >> 24, 1 << 32, 0, 0]
    assert run_body(tmp_path, body, declarations).split() == [str(v) for v in expected]


def test_precedence_is_that_of_the_grammar(tmp_path: Path) -> None:
    declarations = "int a := 6; int b := 3; int c := 2;"
    body = """a := a; println(a - b - c); println(a - (b - c)); println(a | b & c); println((a | b) ^ c << 1);
        println(-a + b * c); println((a + b) * c); println(~a & 15); println(not (a = b));"""
    assert run_body(tmp_path, body, declarations).split() == ["1", "5", "6", "3", "0", "18", "9", "1"]


def test_lists_are_copied_and_the_right_side_comes_first(tmp_path: Path) -> None:
    declarations = "int x[2] := [1, 2]; int y[2]; int m[2][2] := [[1, 2], [3, 4]]; int z[4] := [9, 9, 9, 9];"
    body = """y := x; x[0] := 7; println(y[0]); x := [x[1], x[0]]; println(x[0]); println(x[1]);
        m := [m[1], m[0]]; m[0][0] := 8; println(m[0][0]); println(m[1][0]); y := m[0]; m[0][1] := 5; println(y[1]);
        m[1] := y; println(m[1][0]); z[1] := x[0];
        foreach int i in 0 .. 3 do print(z[i]); end"""
    assert run_body(tmp_path, body, declarations).split() == ["1", "2", "7", "8", "1", "4", "8", "9299"]


def test_list_elements_wrap_when_a_list_is_stored(tmp_path: Path) -> None:
    declarations = "int w[2] := [300, -1]; uint(size=8) b[2]; uint(size=8) c[2][2];"
    body = "w[0] := w[0]; b := w; println(b[0]); println(b[1]); c := [w, w]; println(c[1][1]);"
    assert run_body(tmp_path, body, declarations).split() == ["44", "255", "255"]


def test_list_arguments_go_by_reference_whatever_their_sizes(tmp_path: Path) -> None:
    declarations = """int small[3]; int large[8]; int m[2][4];
        procedure fill(int a[5], int n) begin foreach int i in 0 .. n - 1 do a[i] := i + 1; end end
        procedure through(int a[5]) begin fill(a, 2); end
        function sum(int a[5]) --> int : a[0] + a[1] + a[7] end"""
    body = """fill(small, 3); println(small[2]); fill(large, 8); println(large[7]); fill(m[1], 4); println(m[1][3]);
        through(small); println(small[1]); println(sum(large)); println(sum(small));"""
    assert run_body(tmp_path, body, declarations).split() == ["3", "8", "4", "2", "11", "3"]


def test_uninitialised_variables_are_zero_in_every_firing(tmp_path: Path) -> None:
    text = """actor A () ==> : int n := 0;
        action ==> guard n < 2 var int x, int l[3], bool b do
            print(x + l[2]); print(b); x := 5; l[2] := 5; b := true; n := n + 1; end end"""
    assert run_program(tmp_path, (text,), "a=A").stdout == "0000"


def test_accesses_out_of_bounds_read_zero_write_nothing_and_warn_once(tmp_path: Path) -> None:
    text = """actor A () ==> : int n := 0; int l[4] := [1, 2, 3, 4]; bool f[2] := [true, true]; int m[2][2];
        action ==> guard n < 3 do
            print(l[n + 3]); print(l[n - 1]); l[n + 4] := 9; l[-1 - n] := 9; print(f[n]); print(m[n][1]); m[1][n] := 5;
            n := n + 1; end
        action ==> guard n = 3 do n := 4; foreach int i in 0 .. 3 do print(l[i]); end end end"""
    result = run_program(tmp_path, (text,), "a=A")
    assert result.stdout == "4010" + "0110" + "0200" + "1234"
    assert [w.span.line for w in result.warnings] == [3] * len(result.warnings)
    assert sorted(int(w.message.split()[6]) for w in result.warnings) == [1, 1, 1, 1, 2, 3, 3]


def test_large_lists_behave_like_small_ones(tmp_path: Path) -> None:
    declarations = "uint(size=8) p[2][300][300]; uint(size=8) row[300]; int q[70][1000]; int k := 0;"
    body = """p[1][k + 2][299] := 7; p[1][3][0] := 8; println(p[1][2][299] + p[1][3][0]); println(p[0][2][299]);
        println(p[1][2][298]); row := p[1][2]; p[1][2][299] := 1; println(row[299]); q[69][k] := 1; q[0][999] := 2;
        println(q[69][0] + q[68][0] + q[0][999]); k := 70; q[k][0] := 3; println(q[0][0]); println(q[k][0]);"""
    assert run_body(tmp_path, body, declarations).split() == ["15", "0", "0", "7", "3", "0", "0"]


def test_generators_nest_with_the_first_loop_outermost(tmp_path: Path) -> None:
    declarations = "int t[6] := [ 10 * a + b : for int a in 1 .. 2, for int b in 0 .. 2 ]; int n := 2; int s[3];"
    body = "s := [ t[i] * n : for int i in 2 .. 4 ]; foreach int i in 0 .. 5 do print(t[i]); end print(s[0] + s[2]);"
    assert run_body(tmp_path, body, declarations) == "101112202122" + str(24 + 42)


def test_floats_round_to_32_bits_when_stored(tmp_path: Path) -> None:
    declarations = "float a := 0.1; float l[2]; half h; double d; function f(float x) --> float : x * x end int n := 3;"
    body = """l[0] := a * 3; h := 1.1; d := 0.1; println(l[0] = a * 3); println(a = 0.1); println(d = 0.1); println(a);
        println(f(a)); a := n / 2; println(a); a := 1.0 / 3; println(a * 3 = 1.0);
        println(-a); println(h - 1.1 = 0.0);"""
    single = struct.unpack("<f", struct.pack("<f", 0.1))[0]
    got = run_body(tmp_path, body, declarations).split()
    assert got[:7] == ["0", "0", "1", f"{single:f}", f"{single * single:f}", "1.000000", "0"]
    assert got[7:] == ["-0.333333", "0"]


def test_text_is_that_of_the_c_back_end(tmp_path: Path) -> None:
    declarations = 'String s = "a\\tb"; uint(size=64) u := 0; int(size=8) i := -3; float f := 2.5; bool b := true;'
    body = 'u := -1; print(s); println(); println("u=" + u + " i=" + i + " f=" + f + " b=" + b + "\\"!"); print(b);'
    expected = 'a\tb\nu=18446744073709551615 i=-3 f=2.500000 b=1"!\n1'
    assert run_body(tmp_path, body, declarations) == expected


def test_elsif_while_and_nested_loops(tmp_path: Path) -> None:
    declarations = "int n := 0; function kind(int x) --> int : if x < 2 then 1 elsif x < 4 then 2 else 3 end end"
    body = """while n < 6 do if n = 1 then print(9); elsif n = 2 then print(8); else print(kind(n)); end n := n + 1; end
        foreach int i in 0 .. 2 do foreach int j in i .. 2 do print(i * j); end end
        foreach int k in 3 .. 2 do print(7); end"""
    assert run_body(tmp_path, body, declarations) == "198233" + "000124"


def test_state_shared_with_procedures(tmp_path: Path) -> None:
    declarations = """int total := 0; int calls := 0;
        procedure add(int x) begin total := total + x; x := 0; calls := calls + 1; end
        function twice() --> int : total * 2 end"""
    body = "add(4); total := total + 1; add(5); println(total); println(twice()); println(calls);"
    assert run_body(tmp_path, body, declarations).split() == ["10", "20", "2"]


def test_input_tokens_are_assignable_and_shadow_state(tmp_path: Path) -> None:
    source = "actor S () ==> int O : int n := 0; action ==> O:[n, n + 10] guard n < 2 do n := n + 1; end end"
    copy = (
        "actor C () int I ==> int(size=64) O : int x := 5; action I:[x, y] ==> O:[x, y] do x := x + 1; y := x; end end"
    )
    result = run_program(tmp_path, (source, copy, SINK), "s=S c=C k=Sink s.O->c.I c.O->k.I")
    assert result.stdout.split() == ["2", "2", "3", "3"]
