"""The text of actors in C++: what is computed in which type, what is tested, what has no form."""

import pytest

from dse.codegen.cpp.actor_unit import unit_name
from dse.codegen.cpp.no_native_form import NoNativeForm
from dse.program.types import INT32
from tests.unit.codegen_cpp.units import body_of, unit_of
from tests.unit.frontend.lowering_support import actor_of

ADDER = """
actor A () int(size=32) I ==> int(size=32) O :
    int(size=8) last := 3;
    add: action I:[x] ==> O:[y] guard x > last var int(size=64) y = {}
    do last := x; end
end
"""


def statements(value: str) -> list[str]:
    unit = unit_of(ADDER.replace("{}", value), inputs=(INT32,), fan_outs=(1,))
    return [line for line in body_of(unit, "add") if not line.startswith("visit.")]


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ("x", "x"),
        ("last + 1", "last + 1"),
        ("x + 1", "i64(x) + 1"),
        ("x * x * x * x", "i64(u64(x) * u64(x) * u64(x) * u64(x))"),
        ("last * last - last", "last * last - last"),
        ("x / 3", "i64(x) / 3"),
        ("x / last", "quotient<i64>(x, last, 0)"),
        ("x mod 8", "x % 8"),
        ("x >> 3", "x >> 3"),
        ("x >> last", "shift_right(x, i32(last), 32)"),
        ("x << 3", "i64(x) << 3"),
        ("x << last", "i64(shift_left(u64(x), i32(last), 32))"),
        ("(x << last) & 255", "i64(shift_left(u64(x), i32(last), 32) & u64(255))"),
        ("if x > 0 then last else x end", "x > 0 ? i32(last) : x"),
        ("~x", "~x"),
        ("-x", "-i64(x)"),
    ],
)
def test_an_operation_is_computed_in_a_type_that_holds_it(value: str, text: str) -> None:
    assert f"const i64 y = {text};" in statements(value)


def test_a_store_wraps() -> None:
    assert "last = i8(x);" in statements("x")


def test_no_template_of_a_value_is_named_where_its_type_may_depend_on_a_parameter() -> None:
    # `visit` makes a template of an action, and `auto` in it may be anything: `t.wrapped<u8>()` is no C++ there
    text = unit_of(
        """actor A () ==> :
            @native function read () --> int end
            uint(size=8) x := 0;
            action ==> do x := (read() + (1 << 200)) mod (read() | 1); end
        end"""
    ).text
    assert "modulo<Big>" in text
    assert "x = stored<u8>([&] {" in text


LISTS = """
actor A () ==> uint(size=256) O :
    int small[2] := [-1, 2];
    uint(size=256) large[2];
    a: action ==> O:[[0 - k : for int k in 1 .. 2]] repeat 2
    var uint(size=256) l[2] := small, int(size=200) m[2] := small
    do small[0] := m[0]; large := small; large := l; end
end
"""


def test_lists_wrap_to_containers_that_cpp_does_not_have() -> None:
    lines = body_of(unit_of(LISTS, fan_outs=(1,)), "a")
    text = " ".join(lines)
    assert "const List<Big, 2> l = wrapped_list(copied<List<Big, 2>>(small), 256, false);" in lines
    assert "const List<Big, 2> m = copied<List<Big, 2>>(small);" in lines
    assert "copy_wrapped(large, small, 256, false);" in lines
    assert "copy_into(large, l);" in lines
    assert "p.O.put(wrapped_list(generated<List<Big, 2>>(" in text


def test_tokens_are_read_computed_and_written() -> None:
    unit = unit_of(ADDER.replace("{}", "x"), inputs=(INT32,), fan_outs=(2,))
    assert body_of(unit, "add") == [
        "Ports& p = visit.ports;",
        "visit.chose(0);",
        "const i32 x = p.I[0];",
        "p.I.consume(1);",
        "visit.have_read(0);",
        "const i64 y = x;",
        "last = i8(x);",
        "visit.computed(0);",
        "p.O.put(y);",
        "visit.fired(0);",
    ]


def test_names_of_c_plus_plus_are_spelt_otherwise() -> None:
    text = """
    actor class () int(size=32) int ==> :
        int(size=32) template := 0;
        go: action int:[new] ==> do template := new; end
    end
    """.replace(" int ==>", " In ==>").replace("int:[new]", "In:[new]")
    unit = unit_of(text, inputs=(INT32,))
    assert unit.name == "class_2"
    assert "template_2 = new_2;" in body_of(unit, "go")


def test_names_that_may_be_macros_end_in_an_underscore() -> None:
    text = """
    actor A () int EOF ==> :
        int SYS_read := 0;
        SEEK_CUR: action EOF:[x] ==> do SYS_read := x; end
    end
    """
    body = body_of(unit_of(text, inputs=(INT32,)), "SEEK_CUR_")
    assert "const i32 x = p.EOF_[0];" in body
    assert "SYS_read_ = x;" in body


def test_classes_get_names_that_differ_in_more_than_letter_case() -> None:
    taken: set[str] = set()
    actors = [actor_of(f"actor {name} () ==> : end") for name in ("Sink", "sink", "Sink")]
    assert [unit_name(a, taken) for a in actors] == ["Sink", "sink_2", "Sink_3"]


def test_a_list_of_integers_that_goes_as_floats_has_no_form() -> None:
    text = """
    actor A () ==> :
        List(type: int(size=32), size=4) a;
        procedure p (List(type: float, size=4) x) begin x[0] := 1.5; end
        go: action ==> do p(a); end
    end
    """
    with pytest.raises(NoNativeForm, match="elements of different kinds"):
        unit_of(text)


def test_what_nests_too_deep_has_no_form(monkeypatch: pytest.MonkeyPatch) -> None:
    value = "if b then (if b then b else not b end) else b end"
    text = f"actor A () ==> : bool b := true; go: action ==> do b := {value}; end end"
    unit_of(text)
    monkeypatch.setattr("dse.codegen.cpp.actor_unit._MOST_BRACKETS", 3)
    with pytest.raises(NoNativeForm, match="nests too deep"):
        unit_of(text)


def test_lines_know_where_they_stem_from() -> None:
    unit = unit_of(ADDER.replace("{}", "x / last"), inputs=(INT32,), fan_outs=(1,))
    lines = unit.text.splitlines()
    assert len(lines) == len(unit.spans)
    line = next(k for k, text in enumerate(lines) if "last = i8(x)" in text)
    assert unit.spans[line] == unit.spans[line]._replace(path="a.cal", line=5)


def test_lists_that_are_one_list_share_a_storage_that_holds_them_all() -> None:
    text = """
    actor A () ==> :
        List(type: int(size=8), size=4) a;
        procedure p (List(type: int(size=16), size=4) x) begin x[0] := 300; x := a; end
        go: action ==> do p(a); a := [1000, 2, 3, 4]; println(a[0]); end
    end
    """
    unit = unit_of(text)
    assert "List<i16, 4> a;" in unit.text
    assert "void p_2(View<i16, 1> x) {" in unit.text
    body = body_of(unit, "go")
    assert "copy_into(narrow<i8>(a), table);" in body
    assert 'context.output(text_of(i8(a[0])) + "\\n");' in body


def test_an_index_that_may_be_out_of_bounds_is_tested_once() -> None:
    text = """
    actor A () int(size=32) I ==> :
        List(type: int(size=8), size=4) a;
        go: action I:[x] ==> do a[x] := a[x + 1]; end
    end
    """
    assert body_of(unit_of(text, inputs=(INT32,)), "go")[5:-2] == [
        "if (inside(x, 4)) {",
        "a[x] = checked(*this, 0, a, i64(x) + 1);",
        "} else {",
        "stray(1);",
        "}",
    ]


def test_the_outside_world_is_included_where_it_is_used() -> None:
    quiet = unit_of("actor A () ==> : int x := 0; go: action ==> do x := 1; end end")
    loud = unit_of("actor A () ==> : go: action ==> do println(1); end end")
    assert '#include "dse/context.hpp"' not in quiet.text
    assert '#include "dse/context.hpp"' in loud.text


def test_operands_whose_order_can_be_seen_are_evaluated_in_order() -> None:
    text = """
    actor A () ==> :
        int x := 0;
        function next () --> int : x end
        @native function read () --> int end
        go: action ==> do x := read() - read() * 2; end
    end
    """
    body = body_of(unit_of(text), "go")
    assert any(line.startswith("x = i32([&] { const auto t1 = ") for line in body), body


def test_no_line_is_longer_than_120_columns_where_it_can_be_broken() -> None:
    terms = " + ".join(f"a[{k}]" for k in range(4)) * 1
    text = f"actor A () ==> : List(type: int, size=4) a; go: action ==> do a[0] := {' + '.join([terms] * 12)}; end end"
    assert max(map(len, unit_of(text).text.splitlines())) <= 120
