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
