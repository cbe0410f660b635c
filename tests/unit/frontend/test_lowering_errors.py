"""Every error of the semantic half of the front-end: what it says and the place that it names."""

import pytest

from dse.base.diagnostics import Gatherer
from dse.base.source import NO_SPAN, file_span
from dse.frontend.cal import ast
from dse.frontend.cal.consteval import Value
from dse.frontend.cal.imports import BrokenUnit
from dse.frontend.cal.lower_actor import check_unit, lower_actor
from tests.unit.frontend.lowering_support import body_actor, errors_of, lower_text, parse

STATE = (
    "int i; bool b; float f; int t[4]; int m[2][3]; int K = 1; function g(int a, bool c) --> int : a end "
    "procedure p(int a) begin end"
)


@pytest.mark.parametrize(
    ("statement", "place", "message", "expected"),
    [
        ("i := nope;", "nope", "unknown variable 'nope'", "known: "),
        ("nope := 1;", "nope", "unknown variable 'nope'", "known: "),
        ("i := tt[0];", "tt", "unknown variable 'tt'", "did you mean 't'?"),
        ("i := g;", "g", "unknown variable 'g'", "it is a routine, not a variable"),
        ("K := 2;", "K", "cannot assign to 'K', it is a constant", "declare it with ':='"),
        ("i := b;", "b;", "cannot assign bool to 'i' of type int(size=32)", "an integer is expected"),
        ("b := 1;", "1", "cannot assign uint(size=1) to 'b' of type bool", "expected bool"),
        ("i := f;", "f;", "cannot assign float to 'i' of type int(size=32)", "an integer is expected"),
        ("t := [1, 2, 3, 4, 5];", "[", "cannot assign List(type: uint(size=3), size=5) to 't'", "at least as long"),
        ("t := 1;", "1", "cannot assign uint(size=1) to 't' of type List(type: int(size=32), size=4)", "expected List"),
        ("t[1] := t;", "t;", "cannot assign List(type: int(size=32), size=4) to 't[...]'", "an integer is expected"),
        ("i[0] := 1;", "i[", "'i' is no list and takes no index", "it is int(size=32)"),
        ("i := t[0][1];", "t[", "'t' takes at most 1 indices, 2 given", "it is List"),
        ("i := t[b];", "b]", "an index must be an integer, not bool", ""),
        ("t[f] := 1;", "f]", "an index must be an integer, not float", ""),
        ("i := i + b;", "i + b", "'+' does not apply to int(size=32) and bool", "'+' takes two numbers"),
        ("b := i and b;", "i and", "'and' does not apply to int(size=32) and bool", "'and' takes two bools"),
        ("b := i && b;", "i &&", "'&&' does not apply to int(size=32) and bool", "'and' takes two bools"),
        ("b := t = t;", "t = t", "'=' does not apply to List", "'=' compares"),
        ("i := i ** 2;", "i **", "the operator '**' is not supported", "multiply"),
        ("b := not i;", "not i", "'not' does not apply to int(size=32)", "'not' takes a bool"),
        ("i := #i;", "#i", "'#' does not apply to int(size=32)", "'#' takes a list"),
        (
            "i := if i then 1 else 2 end;",
            "i then",
            "the condition of an if must be a bool, not int(size=32)",
            "compare",
        ),
        ("i := if b then 1 else b end;", "if b", "the branches of an if have no common type", "both must be numbers"),
        ("t := [1, b];", "b]", "the elements of a list have no common type", "all must be numbers"),
        ("i := h(1);", "h", "unknown function 'h'", "known: g"),
        ("i := p(1);", "p", "'p' is a procedure and has no value", "call it as a statement"),
        ("i := g(1);", "g(", "function 'g' takes 2 arguments, 1 given", "its parameters: int(size=32), bool"),
        ("i := g(1, 2);", "2)", "argument 2 of 'g' is uint(size=2), which does not convert to bool", "expects bool"),
        ("q(1);", "q", "unknown procedure 'q'", "known: p, print, println"),
        ("g(1, b);", "g", "'g' is a function and cannot be called as a statement", "assign its result"),
        ("p(1, 2);", "p(", "procedure 'p' takes 1 argument, 2 given", "its parameters: int(size=32)"),
        ("p(t);", "t)", "argument 1 of 'p' is List(type: int(size=32), size=4)", "expects int(size=32)"),
        ("print(1, 2);", "print", "'print' takes at most one argument, 2 given", "join the parts"),
        ("t := t + t;", "t + t", "cannot assign List(type: int(size=32), size=8) to 't'", "at least as long"),
        ("t := t + i;", "t + i", "'+' does not apply to List(type: int(size=32), size=4) and int", "two lists of one"),
        ("if i then end", "i then", "the condition of an if must be a bool, not int(size=32)", "compare"),
        ("while f do end", "f do", "the condition of a while must be a bool, not float", "compare"),
        ("foreach int k in f .. 3 do end", "f ..", "the bound of a foreach must be an integer, not float", ""),
        ("foreach bool k in 0 .. 3 do end", "bool", "the loop variable 'k' must be an integer, not bool", ""),
        ("t := [k : for int k in 0 .. i];", "i]", "the bound of a generator must be a constant: 'i' has no", "use lit"),
        ("t := [k : for int k in 3 .. 1];", "for", "the generator runs from 3 down to 1", "the upper bound"),
    ],
)
def test_errors_in_statements(statement: str, place: str, message: str, expected: str) -> None:
    text = body_actor("\n" + statement, STATE)
    errors = errors_of(text)
    assert len(errors) == 1, errors
    assert errors[0].message.startswith(message)
    assert expected in errors[0].expected
    line = text.splitlines()[errors[0].span.line - 1]
    assert line == statement
    assert line[errors[0].span.column - 1 :].startswith(place)


@pytest.mark.parametrize(
    ("declaration", "message"),
    [
        ("int x := true;", "the value of 'x' is bool, which does not convert to int(size=32)"),
        ("int x[2] = [1, 2, 3];", "the value of 'x' is List(type: uint(size=2), size=3), which does not convert"),
        ("int x[0];", "the size of a list must be greater than zero, not 0"),
        ("int(size=1 - 3) x;", "the size of int must be greater than zero, not -2"),
        ("uint(size=513) x;", "the size of uint is 513"),
        ("int(size=1 << 600) x;", "the size of int is about 2^600"),
        ("int x[1 << 16][1 << 16][2];", "a list of 8589934592 elements is too large"),
        ("int x[1 << 32]; int y[2] := [x, x];", "a list of 8589934592 elements is too large"),
        ("int x[1 << 32]; int y[2] := x + [0];", "a list of 4294967297 elements is too large"),
        ("uint(size=true) x;", "the size of uint must be an integer, not bool"),
        ("int n; int x[n];", "the size of a list must be a constant: 'n' has no initial value"),
        ("int x[clock()]; @native function clock() --> int end", "the size of a list must be a constant: the native"),
        ("int x[1 / 0];", "the size of a list must be a constant: it divides by zero"),
        ("int x[f(1)]; function f(int n) --> int : f(n) end", "the size of a list must be a constant: calls of 'f'"),
        ("int x := y; int y := x;", "'x' is defined by itself: 'x' -> 'y' -> 'x'"),
        ("float x := y; float y := x;", "'x' is defined by itself: 'x' -> 'y' -> 'x'"),
        ("int x[y]; int y = #x;", "'x' is defined by itself: 'x' -> 'y' -> 'x'"),
        ("int x := f(); function f() --> int : x end", "'x' is defined by itself"),
        ("float x := f(); function f() --> float : x end", "'x' is defined by itself"),
        ("int x; bool x;", "'x' is declared twice"),
        ("int x; function x() --> int : 1 end", "'x' is declared twice"),
        ("function f(int a, int a) --> int : a end", "'a' is declared twice"),
        ("function f() --> bool : 1 end", "the result of 'f' is uint(size=1), which does not convert to bool"),
        ("function f() --> int end", "'f' has no body"),
        ("procedure q() end", "'q' has no body"),
        ("procedure q() var int a, int a begin end", "'a' is declared twice"),
        ("procedure q() var int a = 1 begin a := 2; end", "cannot assign to 'a', it is a constant"),
    ],
)
def test_errors_in_declarations(declaration: str, message: str) -> None:
    errors = errors_of(f"actor A() ==> :\n{declaration}\nend")
    assert len(errors) == 1, errors
    assert errors[0].message.startswith(message)
    assert errors[0].span.line == 2


@pytest.mark.parametrize(
    ("action", "place", "message", "expected"),
    [
        ("action Q:[x] ==> end", "Q", "the actor has no input port 'Q'", "known: I"),
        ("action O:[x] ==> end", "O", "the actor has no input port 'O'", "'O' is an output port"),
        ("action I:[x], I:[y] ==> end", "I:[y", "the port 'I' occurs twice in one action", "one pattern"),
        ("action I:[x, x] ==> end", "x]", "the token name 'x' is used twice", "a name of its own"),
        ("action I:[x] repeat n ==> end", "n ==>", "a repeat must be a constant: 'n' has no initial value", "use lit"),
        ("action I:[x] repeat (1 << 32) + 1 ==> end", "(", "a repeat of 4294967297 is too large", "1 to 4294967296"),
        ("action I:[x] repeat 0 ==> end", "0", "a repeat must be greater than zero, not 0", ""),
        ("action I:[x] repeat -2 ==> end", "-2", "a repeat must be greater than zero, not -2", ""),
        ("action ==> I:[1] end", "I", "the actor has no output port 'I'", "'I' is an input port"),
        ("action ==> O:[true] end", "true", "cannot write bool to the port 'O' of type int(size=8)", "expected int"),
        ("action ==> O:[1.5] end", "1.5", "cannot write float to the port 'O'", "floats do not convert"),
        ("action ==> O:[[1, 2]] end", "[1", "cannot write List(type: uint(size=2), size=2) to", "give 'repeat n'"),
        ("action ==> O:[1] repeat 2 end", "1]", "with repeat the port 'O' is written from a list", "at least 2 x int"),
        (
            "action ==> O:[[1]] repeat 2 end",
            "[1]",
            "the list has 1 elements, but the port 'O' is written 2",
            "at least 2",
        ),
        ("action ==> O:[[true]] repeat 1 end", "[true", "cannot write bool to the port 'O'", "expected int"),
        (
            "action ==> var int m := 4, int t[m] end",
            "m]",
            "the size of a list must be a constant: it depends",
            "use lit",
        ),
        ("action I:[x] ==> guard x end", "x end", "a guard must be a bool, not int(size=16)", "compare it: 'x != 0'"),
        ("action I:[x] ==> guard x | 2 end", "x | 2", "a guard must be a bool", "compare it: '(x | 2) != 0'"),
        (
            "action I:[x] ==> guard (x + 1) * -x end",
            "(x + 1)",
            "a guard must be a bool",
            "compare it: '(x + 1) * -x != 0'",
        ),
        ("action I:[x] ==> guard y > 1 var int y end", "y >", "unknown variable 'y'", ""),
        ("action ==> var int y := true end", "true", "the value of 'y' is bool", "expected int(size=32)"),
    ],
)
def test_errors_in_actions(action: str, place: str, message: str, expected: str) -> None:
    errors = errors_of(f"actor A() int(size=16) I ==> int(size=8) O:\nint n;\n{action}\nend")
    assert len(errors) == 1, errors
    assert errors[0].message.startswith(message)
    assert expected in errors[0].expected
    assert errors[0].span.line == 3
    assert action[errors[0].span.column - 1 :].startswith(place)


def test_errors_in_ports() -> None:
    errors = errors_of("actor A() int X, bool Y ==>\nint X, int(size=0) Z:\nend")
    assert [(e.message, e.span.line) for e in errors] == [
        ("there are two ports 'X'", 2),
        ("the size of int must be greater than zero, not 0", 2),
    ]


def test_all_errors_are_gathered_and_follow_ups_are_silent() -> None:
    errors = errors_of(
        """actor A() int I ==> int O:
             int x := nope + 1;
             int y[x];
             action I:[a] ==> O:[b + nope] do c := b; y[0] := true + 1; end
           end"""
    )
    assert sorted((e.span.line, e.span.column, e.message) for e in errors) == [
        (2, 23, "unknown variable 'nope'"),
        (4, 34, "unknown variable 'b'"),
        (4, 38, "unknown variable 'nope'"),
        (4, 47, "unknown variable 'c'"),
        (4, 52, "unknown variable 'b'"),
        (4, 63, "'+' does not apply to bool and uint(size=1)"),
    ]


# Imports --------------------------------------------------------------------------------------------------------------


def test_imports_that_lead_nowhere() -> None:
    errors = errors_of(
        "import p.U.fo;\nimport p.U;\nactor A() ==> : end", {"p.U": "package p; unit U: int foo = 1; end"}
    )
    assert [(e.message, e.span.line) for e in errors] == [
        ("the unit 'p.U' declares no 'fo'", 1),
        ("cannot import the unit 'p'", 2),
    ]
    assert "foo" in errors[0].expected
    assert "write '.*'" in errors[1].expected


def test_a_unit_with_errors_is_no_missing_one() -> None:
    source = "import p.Bad.*;\nimport p.Bad.M;\nactor A() ==> : int x := N; int y := f(1) + true;\nend"
    gather, units = Gatherer(), {"p.Bad": BrokenUnit.BROKEN}
    assert lower_actor(parse(source), {}, units.get, gather) is None
    assert [(e.message, e.span.line) for e in gather.diagnostics] == []
    gather = Gatherer()
    assert lower_actor(parse(source.replace("N;", "true + 1;")), {}, units.get, gather) is None
    assert [e.message for e in gather.diagnostics] == ["'+' does not apply to bool and uint(size=1)"]


def test_one_name_in_two_units_with_all_their_members() -> None:
    units = {"p.U": "package p; unit U: int n = 1; int m = 1; end", "p.V": "package p; unit V: int n = 2; end"}
    body = "actor A() ==> : int x := n + m; int y := p.V.n; end"
    actor, gather = lower_text(f"import p.U.*;\nimport p.V.*;\n{body}", units)
    assert actor is not None
    assert [(w.message, w.span.line) for w in gather.warnings] == [
        ("'n' is in 'p.U' and in 'p.V'; the first one is meant", 3)
    ]
    assert lower_text(f"import p.U.*;\nimport p.V.*;\nimport p.V.n;\n{body}", units)[1].warnings == []


def test_what_is_no_unit_is_told() -> None:
    errors = errors_of("import p.A.*;\nimport U;\nactor B() ==> : end", {"p.A": "package p; actor A() ==> : end"})
    assert [e.message for e in errors] == ["cannot import the unit 'p.A': it is an actor", "'U' is no member of a unit"]


def test_names_are_declared_in_the_order_of_the_text() -> None:
    errors = errors_of("actor A() ==> :\nfunction f(int a) --> int: a end\nint f := 3;\nint f := 4;\nend")
    assert [(e.message, e.span.line, e.expected) for e in errors] == [
        ("'f' is declared twice", line, "rename one; the first declaration is in line 2") for line in (3, 4)
    ]


def test_constants_that_are_filled() -> None:
    text = """actor A(int p[2]) ==> :
        int L[3] = [1, 2, 3];
        int M[3] := [1, 2, 3];
        procedure wipe(int v[3]) begin v[0] := 9; end
        procedure pass(int v[3]) begin wipe(v); end
        function first(int v[3]) --> int: v[0] end
        @native procedure show(int v[3]) end
        action ==> do
          wipe(M); println(first(L)); show(L);
          wipe(L);
          pass(L);
          pass(p);
        end
      end"""
    actor, gather = lower_text(text, arguments={"p": (1, 2)})
    assert actor is not None
    assert [(w.message.split(" is ")[0], w.span.line) for w in gather.warnings] == [
        ("the constant 'L'", 10),
        ("the constant 'L'", 11),
        ("the constant 'p'", 12),
    ]


def test_one_name_from_two_units() -> None:
    units = {"p.U": "package p; unit U: int n = 1; end", "p.V": "package p; unit V: int n = 2; end"}
    actor, gather = lower_text("import p.U.n;\nimport p.U.n;\nimport p.V.n;\nactor A() ==> : int x := n; end", units)
    assert actor is not None
    assert [(w.message, w.span.line) for w in gather.warnings] == [
        ("'n' is imported from 'p.U' already, which is the one that is meant", 3)
    ]


def test_a_missing_unit_is_a_warning_until_a_name_of_it_is_used() -> None:
    actor, gather = lower_text("import p.Gone.*;\nactor A() ==> : end")
    assert actor is not None
    assert [(w.message, w.span.line) for w in gather.warnings] == [("cannot import the unit 'p.Gone'", 1)]
    errors = errors_of("import p.Gone.*;\nactor A() ==> : int x := N; end")
    assert [(e.message, e.span.line) for e in errors] == [("unknown variable 'N'", 2)]


def test_a_cycle_of_imports_is_named() -> None:
    units = {
        "U": "import V.*; unit U: int A = 1; end",
        "V": "import W.*; unit V: int B = 1; end",
        "W": "import U.*; unit W: int C = 1; end",
    }
    errors = errors_of("import U.*; actor A() ==> : end", units)
    assert [(e.message, e.span.path) for e in errors] == [("cyclic import: 'U' -> 'V' -> 'W' -> 'U'", "W.cal")]


def test_errors_in_units_name_the_unit_and_come_once() -> None:
    units = {"U": "unit U:\nint A = nope;\nend"}
    gather = Gatherer()
    parsed = {name: parse(text, name + ".cal") for name, text in units.items()}
    for _ in range(2):
        actor = parse("import U.*; actor A() ==> : int x := A; end")
        assert lower_actor(actor, {}, parsed.get, gather) is None
    assert [(e.message, e.span.path, e.span.line) for e in gather.errors] == [("unknown variable 'nope'", "U.cal", 2)]


# Arguments ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("parameter", "value"),
    [
        ("int N", True),
        ("int N", 1.5),
        ("int N", "1"),
        ("bool N", 1),
        ("String N", 1),
        ("float N", "x"),
        ("int N[2]", (1, 2, 3)),
        ("int N[2]", (1, True)),
        ("int N[2]", 1),
    ],
)
def test_arguments_of_a_wrong_type(parameter: str, value: Value) -> None:
    gather = Gatherer()
    span = file_span("top.xdf", 12, 3)
    assert (
        lower_actor(parse(f"actor A({parameter}) ==> : end"), {"N": value}, {}.get, gather, instance_span=span) is None
    )
    assert [e.span for e in gather.errors] == [span]
    assert gather.errors[0].message.startswith("the parameter 'N' of 'A' is ")
    assert gather.errors[0].expected.startswith("expected a value of type ")


def test_a_unit_has_no_instances() -> None:
    actor, gather = lower_text("package p; unit U: int A = 1; end")
    assert actor is None
    assert gather.errors[0].message == "'p.U' is a unit, not an actor"


def test_very_deep_nests_are_an_error_and_no_crash() -> None:
    deep: ast.Expr = ast.Lit(1, NO_SPAN)
    for _ in range(100_000):
        deep = ast.UnaryExpr("~", deep, NO_SPAN)
    constant = ast.VarDecl(ast.NamedType("int", None, NO_SPAN), "A", (), deep, True, (), NO_SPAN)
    unit = ast.UnitDecl("U", (constant,), (), (), (), NO_SPAN)
    gather = Gatherer()
    assert not check_unit(ast.CalFile("u.cal", "", (), unit, NO_SPAN), {}.get, gather)
    assert gather.errors[0].message == "'U' nests too deeply to be analysed"
