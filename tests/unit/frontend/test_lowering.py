"""Lowering of actors: scopes, imports, sizes, model R at declarations, routines, actions."""

from typing import cast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dse.base.diagnostics import Gatherer
from dse.frontend.cal.lower_actor import check_actor, check_unit
from dse.program import ir
from dse.program.types import BOOL, FLOAT32, INT32, STRING, IntType, ListType, dimensions_of
from dse.program.typing import int_type
from tests.unit.frontend.lowering_support import actor_of, body_actor, parse, variable


def state_of(declarations: str, name: str) -> ir.Variable:
    return variable(actor_of(f"actor A() ==> :\n{declarations}\nend"), name)


def values_of(declarations: str, name: str) -> object:
    initial = state_of(declarations, name).initial
    assert isinstance(initial, ir.Const | ir.ConstList), initial
    return initial.value if isinstance(initial, ir.Const) else initial.values


# Sizes and initial values ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("declarations", "expected"),
    [
        ("int(size=8) x := 200 + 0;", -56),
        ("uint(size=3) x := 4 + 5;", 9),
        ("uint(size=16) x := -1 + 0;", 65535),
        ("int x := 7 / -2;", -3),
        ("int x := (0 - 7) mod 3;", -1),
        ("uint(size=4) a := 15 + 8; int x := a * 16;", 368),
        ("int(size=8) a = 255 + 0; int x := a;", -1),
        ("function f(uint(size=8) v) --> int(size=8): v + v end int x := f(300);", 88),
        ("function f(int n) --> int: if n = 0 then 1 else n * f(n - 1) end end int x := f(5);", 120),
        ("function f(int n) --> int var int m = n + 1, int k := m * 2: m + k end int x := f(3);", 12),
        ("int t[3] = [1, 2, 3]; int x := t[2] + t[7];", 3),
        ("bool x := 1 = 2 or 3 > 2;", True),
        ("int x := y; int y := 5;", 5),
        ("int x := #[1, 2, 3, 4];", 4),
        ("int t[2][3] = [[1, 2, 3], [4, 5, 6]]; int x := t[1][0];", 4),
        ("int x := if false then 1 elsif true then 2 elsif true then 3 else 4 end;", 2),
        ('String x := "a" + 1;', "a1"),
        ('String x := "" + true;', "1"),
        ('int t[2] = [1, 2]; String x := t + "" + [[-3]];', "[1, 2][[-3]]"),
        ("int x := -200 >> -31;", -100),
        ("int(size=64) x := 1 << -31;", 2),
        ("int(size=64) a = 1; int(size=64) x := a << -31;", 1 << 33),
        ("int(size=64) x := 1 << 32;", 1 << 32),
        ("int x := 1 << 32;", 0),
        ("int(size=512) x := (1 << 511) - 1;", 2**511 - 1),
        ("int x := 1 << 100000000000000000000;", 0),
    ],
)
def test_scalar_initial_values_fold_as_they_execute(declarations: str, expected: object) -> None:
    value = values_of(declarations, "x")
    assert value == expected
    assert type(value) is type(expected)


@pytest.mark.parametrize(
    ("declarations", "expected"),
    [
        ("int x[4] = [i * i : for int i in 0 .. 3];", (0, 1, 4, 9)),
        ("int x[4] = [10 * i + j : for int i in 1 .. 2, for int j in 3 .. 4];", (13, 14, 23, 24)),
        ("int x[2][2] = [[i + j : for int j in 0 .. 1] : for int i in 0 .. 1];", ((0, 1), (1, 2))),
        ("int N = 3; int x[N] = [N, N + 1, N];", (3, 4, 3)),
        ("int(size=8) x[3] = [i : for int i in 127 .. 128];", (127, -128, 0)),
        ("List(type: List(type: bool, size=2), size=1) x := [[true, 1 = 1]];", ((True, True),)),
        ("int x[2] = [i : for int i in 7 .. 7];", (7, 0)),
        ("int x[5] := [0, 1] + [2, -3];", (0, 1, 2, -3, 0)),
        ("int a[2] = [7, 8]; int x[4] := a + [i : for int i in 1 .. 2];", (7, 8, 1, 2)),
        ("int x[2][2] := [[1]] + [[2, 3]];", ((1, 0), (2, 3))),
        ("function f(int t[2]) --> int: #(t + t) end int x[1] := [f([1, 2, 3])];", (4,)),
    ],
)
def test_list_initial_values_fold(declarations: str, expected: object) -> None:
    assert values_of(declarations, "x") == expected


def test_tables_beyond_their_declared_size_keep_their_values() -> None:
    initial = state_of("uint(size=4) t[6] = [10, 13, 16, 18, 20, 23];", "t")
    assert initial.type == ListType(IntType(4, False), 6)
    assert isinstance(initial.initial, ir.ConstList)
    assert initial.initial.values == (10, 13, 16, 18, 20, 23)


@given(st.integers(-(2**70), 2**70), st.integers(1, 64), st.booleans())
def test_folded_initial_values_wrap_in_the_container(value: int, size: int, signed: bool) -> None:
    name = "int" if signed else "uint"
    text = f"{name}(size={size}) x := {value} + 0;".replace("-", "0 - ")
    of = IntType(size, signed)
    bits = of.container_bits
    expected = (value + (1 << (bits - 1))) % (1 << bits) - (1 << (bits - 1)) if signed else value % (1 << bits)
    assert values_of(text, "x") == expected


def expressions() -> st.SearchStrategy[str]:
    leaves = st.integers(0, 2**40).map(str)
    binary = st.sampled_from(["+", "-", "*", "&", "|", "^"])
    return st.recursive(leaves, lambda e: st.tuples(e, binary, e).map(lambda t: f"({' '.join(t)})"), max_leaves=8)


@given(expressions(), st.sampled_from([8, 16, 32, 64]))
def test_expressions_are_exact_until_they_are_stored(text: str, bits: int) -> None:
    exact = eval(text)
    expected = (exact + (1 << (bits - 1))) % (1 << bits) - (1 << (bits - 1))
    assert values_of(f"int(size={bits}) x := ({text}) + 0;", "x") == expected


def test_lists_are_printed_and_joined() -> None:
    body = 'println(t); print("t = " + t); s := [x] + t; u(t + t);'
    actor = actor_of(body_actor(body, "int t[3]; int s[4]; procedure u(int l[1]) begin end"))
    whole, text_of, joined, call = actor.actions[0].body
    assert isinstance(whole, ir.Print)
    assert isinstance(whole.value, ir.Load)
    assert isinstance(text_of, ir.Print)
    assert isinstance(text_of.value, ir.Binary)
    assert (text_of.value.op, text_of.value.type, text_of.value.right.type) == ("+", STRING, ListType(INT32, 3))
    assert isinstance(joined, ir.Assign)
    assert isinstance(joined.value, ir.Binary)
    assert (joined.value.op, joined.value.type) == ("+", ListType(INT32, 4))
    assert isinstance(call, ir.CallStmt)
    assert call.arguments[0].type == ListType(INT32, 6)


def test_floats_stay_as_written() -> None:
    initial = state_of("float a = 0.5; float x := a * 2;", "x").initial
    assert isinstance(initial, ir.Binary)
    assert initial.type == FLOAT32


def test_long_generators_stay_generators() -> None:
    initial = state_of("int x[100000] := [0 : for int i in 1 .. 100000];", "x").initial
    assert isinstance(initial, ir.Generator)
    assert initial.type == ListType(int_type(1, False), 100000)


def test_the_longest_literal_and_the_first_generator_that_stays() -> None:
    assert len(cast("tuple[object, ...]", values_of("int x[65536] := [0 : for int i in 1 .. 65536];", "x"))) == 65536
    assert isinstance(state_of("int x[65537] := [0 : for int i in 1 .. 65537];", "x").initial, ir.Generator)


def test_the_largest_sizes_are_accepted() -> None:
    sizes = "int x[1 << 16][1 << 16]; action I:[t] repeat 1 << 32 ==> end"
    actor = actor_of(f"actor A(int p[1 << 21]) int I ==> : {sizes} end")
    assert dimensions_of(variable(actor, "p").type) == (1 << 21,)
    assert dimensions_of(variable(actor, "x").type) == (1 << 16, 1 << 16)
    assert actor.actions[0].inputs[0].repeat == 1 << 32


def test_all_initializers_come_behind_the_actions() -> None:
    members = "initialize ==> end a: action ==> end b: initialize ==> end action ==> end"
    actor = actor_of(f"actor A() ==> : {members} end")
    assert [a.name for a in actor.actions] == ["a", "untagged_0", "initialize", "b"]
    assert actor.initializers == (2, 3)


@pytest.mark.parametrize(
    ("size", "dimensions"),
    [
        ("[4]", (4,)),
        ("[2][3]", (2, 3)),
        ("[N]", (5,)),
        ("[M * 2 + 1]", (13,)),
        ("[f(N, 1)]", (6,)),
        ("[if N > 3 then 7 else 8 end]", (7,)),
        ("[T[1]]", (9,)),
        ("[#T]", (2,)),
        ("[1 << 4]", (16,)),
    ],
)
def test_sizes_are_constant_expressions(size: str, dimensions: tuple[int, ...]) -> None:
    text = f"""
    int x{size};
    int N = 5;
    int M := N + 1;
    int T[2] = [4, 9];
    function f(int a, int b) --> int : a + b end"""
    assert dimensions_of(state_of(text, "x").type) == dimensions


def test_sizes_of_integers_ports_and_locals_use_constants() -> None:
    actor = actor_of(
        """
        actor A() int(size=W) I ==> uint(size=W * 2) O:
          int W = 12;
          action I:[x] ==> var int n = 4, uint(size=n + 1) t[n] do t[0] := x; end
        end"""
    )
    assert actor.inputs[0].type == IntType(12, True)
    assert actor.outputs[0].type == IntType(24, False)
    assert actor.actions[0].declarations[1].variable.type == ListType(IntType(5, False), 4)


def test_constant_locals_wrap_before_sizes_use_them() -> None:
    actor = actor_of("actor A() ==> : action ==> var uint(size=8) n = 260, int t[n] end end")
    assert actor.actions[0].declarations[1].variable.type == ListType(INT32, 4)


def test_a_local_may_hide_a_parameter() -> None:
    routine = actor_of("actor A() ==> : function f(int a) --> int var int a = 1: a end end").routines[0]
    assert routine.result == ir.Load("a_1", INT32, routine.result.span)  # type: ignore[union-attr]


def test_initial_values_come_in_an_order_that_can_be_evaluated() -> None:
    actor = actor_of(
        """
        actor A() ==> :
          float a := b + f(1);
          float b := c;
          function f(int n) --> float : n * d end
          float c := 1.5;
          float d := 2.5;
        end"""
    )
    order = [v.name for v in actor.variables]
    assert order == ["c", "b", "d", "a"]


# Parameters -----------------------------------------------------------------------------------------------------------

PARAMETERS = """
actor A(int N, bool B = true, String S = "x\\n", float F, uint(size=8) W, int T[2]) int I ==> :
  int x := N + 1;
  int y[N + 2];
  action I:[t] repeat N + 1 ==> end
end
"""


def test_arguments_defaults_and_zeros() -> None:
    actor = actor_of(PARAMETERS, arguments={"N": 3, "F": 2, "W": -1, "T": (7,)})
    values = {v.name: v.initial for v in actor.variables if v.kind == "constant"}
    assert {n: v.value for n, v in values.items() if isinstance(v, ir.Const)} == {
        "N": 3,
        "B": True,
        "S": "x\n",
        "F": 2.0,
        "W": 255,
    }
    table = values["T"]
    assert isinstance(table, ir.ConstList)
    assert table.values == (7, 0)
    full = variable(actor_of(PARAMETERS, arguments={"T": (7, 8)}), "T").initial
    assert isinstance(full, ir.ConstList)
    assert full.values == (7, 8)
    assert variable(actor, "x").initial == ir.Const(4, INT32, variable(actor, "x").initial.span)  # type: ignore[union-attr]
    assert dimensions_of(variable(actor, "y").type) == (5,)
    assert actor.actions[0].inputs[0].repeat == 4


def test_missing_arguments_are_defaults_or_zero() -> None:
    actor = actor_of(PARAMETERS)
    assert variable(actor, "N").initial == ir.Const(0, INT32, variable(actor, "N").span)
    assert variable(actor, "B").initial == ir.Const(True, BOOL, parse(PARAMETERS).entity.parameters[1].value.span)  # type: ignore[union-attr]
    assert actor.actions[0].inputs[0].repeat == 1


def test_an_actor_without_an_instance_is_checked_with_sizes_of_one() -> None:
    gather = Gatherer()
    text = "actor A(int N) ==> int O:\nint x[N];\naction ==> O:[x] repeat N end\nend"
    actor = check_actor(parse(text), lambda _name: None, gather)
    assert actor is not None
    assert not gather.diagnostics
    assert dimensions_of(variable(actor, "x").type) == (1,)


# Names and scopes -----------------------------------------------------------------------------------------------------


def test_names_are_unique_in_the_actor_and_sources_are_kept() -> None:
    actor = actor_of(
        """
        actor A() int I ==> int O:
          int x := 1;
          function f(int x) --> int var int y = x: y end
          p: action I:[x] ==> var int y := x do foreach int x in 0 .. 1 do y := x; end end
          q: action I:[i] ==> O:[x] var int i_1 := i do x := i_1; end
        end"""
    )
    f, p, q = actor.routines[0], *actor.actions
    assert variable(actor, "x").kind == "state"
    token = p.inputs[0].variables[0]
    local = p.declarations[0].variable
    loop = p.body[0]
    assert isinstance(loop, ir.ForEach)
    names = [f.parameters[0].name, f.declarations[0].variable.name, token.name, local.name, loop.variable.name]
    names += [q.inputs[0].variables[0].name, q.declarations[0].variable.name, "x", "f"]
    assert len(set(names)) == len(names)
    assert (token.source_name, local.source_name, loop.variable.source_name) == ("x", "y", "x")
    assert p.declarations[0].value == ir.Load(token.name, INT32, p.declarations[0].value.span)  # type: ignore[union-attr]
    inner = loop.body[0]
    assert isinstance(inner, ir.Assign)
    assert isinstance(inner.value, ir.Load)
    assert (inner.name, inner.value.name) == (local.name, loop.variable.name)
    outer = q.body[0]
    assert isinstance(outer, ir.Assign)
    assert outer.name == "x"


def test_a_local_initialised_by_the_name_that_it_shadows() -> None:
    actor = actor_of("actor A() ==> :\nint x := 3;\naction ==> var int x := x do x := 1; end\nend")
    declare = actor.actions[0].declarations[0]
    assert isinstance(declare.value, ir.Load)
    assert (declare.variable.name, declare.value.name) == ("x_1", "x")
    assign = actor.actions[0].body[0]
    assert isinstance(assign, ir.Assign)
    assert assign.name == "x_1"


def test_guards_see_tokens_and_state_but_no_locals() -> None:
    actor = actor_of(
        "actor A() int I ==> :\nint n := 3;\naction I:[x] ==> guard x > n var int n := 1 do n := 2; end\nend"
    )
    guard = actor.actions[0].guards[0]
    assert isinstance(guard, ir.Binary)
    assert (guard.left, guard.right) == (
        ir.Load("x", INT32, guard.left.span),
        ir.Load("n", INT32, guard.right.span),
    )


UNIT = """
package lib; unit U:
  uint(size=8) A = B + 1;
  int B = 4;
  int UNUSED = 99;
  int TABLE[A] = [i : for int i in 1 .. A];
  function twice(int v) --> int : v * helper(B) end
  function helper(int v) --> int : v / 2 end
  procedure fill(int t[4]) begin t[0] := A; end
  @native function clock() --> int end
end
"""


def test_only_what_is_used_of_a_unit_is_taken() -> None:
    actor = actor_of(
        "import lib.U.*; actor A() int I ==> :\nint t[A];\naction I:[x] ==> do t[0] := twice(x); end\nend",
        {"lib.U": UNIT},
    )
    assert [v.name for v in actor.variables] == ["t", "A", "B"]
    assert [r.name for r in actor.routines] == ["twice", "helper"]
    assert actor.natives == ()


def test_natives_are_bound_by_the_unit_that_declares_them() -> None:
    actor = actor_of(
        """
        package apps; import lib.U.clock;
        actor A() ==> int O:
          @native procedure put(int t[3], String s) end
          int buffer[100];
          action ==> O:[clock()] do put(buffer, "x"); end
        end""",
        {"lib.U": UNIT},
    )
    assert [(n.name, n.declared_in, n.result_type) for n in actor.natives] == [
        ("put", "apps.A", None),
        ("clock", "lib.U", INT32),
    ]
    assert [p.type for p in actor.natives[0].parameters] == [ListType(INT32, 3), STRING]
    assert actor.name == "apps.A"


def test_own_names_hide_imported_ones_and_single_imports_hide_wildcards() -> None:
    units = {
        "p.U": "package p; unit U: int A = 1; int B = 1; int C = 1; end",
        "p.V": "package p; unit V: int A = 2; int B = 2; end",
    }
    actor = actor_of(
        "import p.U.*; import p.V.B; actor A() ==> :\nint A = 3;\nint x := 100 * A + 10 * B + C;\nend", units
    )
    initial = variable(actor, "x").initial
    assert isinstance(initial, ir.Const)
    assert initial.value == 321


def test_dotted_references_name_the_members_of_units() -> None:
    actor = actor_of(
        "actor A() int I ==> int O:\naction I:[x] ==> O:[lib.U.twice(x) + lib.U.B] end\nend", {"lib.U": UNIT}
    )
    assert [r.source_name for r in actor.routines] == ["twice", "helper"]


def test_a_unit_is_checked_alone() -> None:
    gather = Gatherer()
    assert check_unit(parse(UNIT), lambda _name: None, gather)
    assert not check_unit(parse("unit U: int A = nope; int B = true; end"), lambda _name: None, gather)
    assert [e.message for e in gather.errors] == [
        "unknown variable 'nope'",
        "the value of 'B' is bool, which does not convert to int(size=32)",
    ]


# Actions and statements -----------------------------------------------------------------------------------------------


def test_patterns() -> None:
    actor = actor_of(
        """
        actor A() int I, bool J ==> int O, int(size=8) P:
          @schedule_outputs
          action I:[a, b], J:[c] repeat 2 ==> O:[a, b + 1], P:[[1, 2, 3]] repeat 2 end
        end"""
    )
    action = actor.actions[0]
    assert [(p.port, p.repeat, p.tokens) for p in action.inputs] == [(0, 0, 2), (1, 2, 2)]
    assert action.inputs[1].variables[0].type == ListType(BOOL, 2)
    assert [(p.port, p.repeat, p.tokens) for p in action.outputs] == [(0, 0, 2), (1, 2, 2)]
    assert action.schedule_outputs


def test_a_repeat_of_one_is_a_list_and_outputs_see_the_locals_of_their_action() -> None:
    members = "action I:[a] repeat 1 ==> O:[y] var int y := a[0] end t: action ==> end"
    untagged, tagged = actor_of(f"actor A() int I ==> int O: {members} end").actions
    assert untagged.inputs[0].variables[0].type == ListType(INT32, 1)
    assert untagged.outputs[0].values == (ir.Load("y", INT32, untagged.outputs[0].values[0].span),)
    assert (untagged.tagged, tagged.tagged) == (False, True)


def test_statements() -> None:
    actor = actor_of(
        body_actor(
            """
            if x > 0 then print("a"); elsif x < 0 then println(x); else println(); end
            while i < 4 do t[i] := x; i := i + 1; end
            foreach uint(size=3) k in 0 .. 63 do m[k] := t; end
            """,
            "int i; int t[4]; int m[64][4];",
        )
    )
    first, second, third = actor.actions[0].body
    assert isinstance(first, ir.If)
    assert isinstance(first.otherwise[0], ir.If)
    assert first.then[0] == ir.Print(ir.Const("a", STRING, first.then[0].value.span), False, first.then[0].span)  # type: ignore[union-attr]
    assert first.otherwise[0].otherwise == (ir.Print(None, True, first.otherwise[0].otherwise[0].span),)
    assert isinstance(second, ir.While)
    assert isinstance(third, ir.ForEach)
    assert third.variable.type == IntType(3, False)
    assert isinstance(third.body[0], ir.Assign)
    assert third.body[0].value.type == ListType(INT32, 4)


def test_operators_are_lowered_to_their_ir_names() -> None:
    actor = actor_of(body_actor("b := x = 1 || x = 2 && not (x div 2 = 3);", "bool b;"))
    assign = actor.actions[0].body[0]
    assert isinstance(assign, ir.Assign)
    value = assign.value
    assert isinstance(value, ir.Binary)
    assert value.op == "or"
    assert isinstance(value.right, ir.Binary)
    assert value.right.op == "and"


def test_scalar_parameters_of_procedures_may_be_assigned() -> None:
    actor = actor_of(body_actor("p(x);", "procedure p(int a) var int b := a begin a := a + b; end"))
    assert actor.routines[0].body == (actor.routines[0].body[0],)


def test_native_actors_and_initial_outputs() -> None:
    actor = actor_of("@native actor A() ==> int O:\ninitialize ==> O:[1] do end\nend")
    assert actor.native
    assert actor.initializers == (0,)
    assert actor.actions[0].outputs[0].tokens == 1
