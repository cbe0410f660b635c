"""The parser: trees, spans, and the errors of broken files."""

import os
from pathlib import Path

import pytest

from dse.base.diagnostics import Gatherer, read_source, render
from dse.base.source import Span
from dse.frontend.cal.ast import (
    ActorDecl,
    AssignStmt,
    BinaryExpr,
    CallExpr,
    CallStmt,
    Expr,
    FsmDecl,
    IfExpr,
    IfStmt,
    IndexExpr,
    IntList,
    ListLit,
    ListTypeExpr,
    Lit,
    Name,
    NamedType,
    RegExpChoice,
    RegExpDecl,
    RegExpRepeat,
    RegExpSequence,
    Stmt,
    UnaryExpr,
    UnitDecl,
)
from dse.frontend.cal.parser import parse_cal
from tests.unit.frontend.cal_expression_printer import expression_text
from tests.unit.frontend.syntax_support import parse_clean


def actor(members: str, head: str = "actor A() ==> :") -> ActorDecl:
    entity = parse_clean(f"{head}\n{members}\nend").entity
    assert isinstance(entity, ActorDecl)
    return entity


def expression(text: str) -> Expr:
    value = actor(f"int x := {text};").variables[0].value
    assert value is not None
    return value


def statements(text: str) -> tuple[Stmt, ...]:
    return actor(f"action ==> do {text} end").actions[0].body


def errors(text: str) -> list[tuple[int, int, str]]:
    gather = Gatherer()
    parse_cal("a.cal", text, gather)
    return [(d.span.line, d.span.column, d.message) for d in gather.diagnostics]


def shape(node: Expr) -> str:
    """Return an expression with every pair of parentheses written out."""
    match node:
        case BinaryExpr(op=op, left=left, right=right):
            return f"({shape(left)} {op} {shape(right)})"
        case UnaryExpr(op=op, operand=operand):
            return f"({op} {shape(operand)})"
        case _:
            return expression_text(node)


# Expressions ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a - b - c", "((a - b) - c)"),
        ("a + b * c", "(a + (b * c))"),
        ("a & 1 = 0", "(a & (1 = 0))"),
        ("a || b && c | d ^ e & f", "(a || (b && (c | (d ^ (e & f)))))"),
        ("a & b ^ c | d && e || f", "(((((a & b) ^ c) | d) && e) || f)"),
        ("a = b < c << d + e * f ** g", "(a = (b < (c << (d + (e * (f ** g))))))"),
        ("a ** b * c + d << e < f = g", "((((((a ** b) * c) + d) << e) < f) = g)"),
        ("not a = b", "((not a) = b)"),
        ("-a + ~b", "((- a) + (~ b))"),
        ("not f(x)", "(not f(x))"),
        ("-a[1] * #b", "((- a[1]) * (# b))"),
        ("a or b and c", "(a or (b and c))"),
        ("a div b mod c / d", "(((a div b) mod c) / d)"),
        ("a ^b", "(a ^ b)"),
        ("(a + b) * c", "((a + b) * c)"),
    ],
)
def test_precedence(text: str, expected: str) -> None:
    assert shape(expression(text)) == expected


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("0", 0),
        ("017", 15),
        ("0xFF", 255),
        ("18446744073709551616", 2**64),
        ("0x" + "F" * 200, 16**200 - 1),
        ("1.5", 1.5),
        (".5", 0.5),
        ("2.", 2.0),
        ("1e3", 1000.0),
        ("true", True),
        ("false", False),
        (r'"a\n\"b\""', r"a\n\"b\""),
        ("'x'", "x"),
        (r"""'say "x\"'""", r"say \"x\""),
    ],
)
def test_literals(text: str, value: object) -> None:
    node = expression(text)
    assert isinstance(node, Lit)
    assert node.value == value
    assert type(node.value) is type(value)


def test_lists_of_integers_fold_and_others_do_not() -> None:
    folded = expression("[1, 0x10, -3, 017]")
    assert isinstance(folded, IntList)
    assert folded.values == (1, 16, -3, 15)
    nested = expression("[[1, 2], [3]]")
    assert isinstance(nested, ListLit)
    assert [e.values for e in nested.elements if isinstance(e, IntList)] == [(1, 2), (3,)]
    for text in ("[1, a]", "[1, 2 + 3]", "[true]", "[1.0]", "[1 : for int i in 0 .. 3]", "[~1]"):
        assert isinstance(expression(text), ListLit), text


def test_generators() -> None:
    node = expression("[i * j : for int i in 0 .. N - 1, for uint(size=3) j in a..b]")
    assert isinstance(node, ListLit)
    assert [g.variable.name for g in node.generators] == ["i", "j"]
    assert [expression_text(g.high) for g in node.generators] == ["N - 1", "b"]


def test_references_calls_and_conditionals() -> None:
    node = expression("@pure a.b.f(x, m[1][i], if c then 1 elsif d then 2 else 3 end)")
    assert isinstance(node, CallExpr)
    assert node.function.name == "a.b.f"
    assert [a.name for a in node.annotations] == ["pure"]
    name, index, conditional = node.arguments
    assert isinstance(name, Name)
    assert isinstance(index, IndexExpr)
    assert len(index.indices) == 2
    assert isinstance(conditional, IfExpr)
    assert isinstance(conditional.otherwise, IfExpr)


def test_escaped_names() -> None:
    declared = actor("int ^end := ^if + 1; ^do: action ==> do ^end := 2 ^ ^end; end")
    assert declared.variables[0].name == "end"
    assert declared.actions[0].tag == "do"
    assigned = declared.actions[0].body[0]
    assert isinstance(assigned, AssignStmt)
    assert assigned.target.name == "end"


# Statements and declarations ------------------------------------------------------------------------------------------


def test_statements() -> None:
    body = statements(
        """
        @unroll(factor="2", full) a[i][0] := b;
        u.p(); print("x");
        if a then x := 1; elsif b then x := 2; else x := 3; end
        while x < 3 do end
        foreach int i in 0 .. 3 do foreach uint j in i .. 4 do q(i, j); end end
        """
    )
    assert [type(s).__name__ for s in body] == [
        "AssignStmt",
        "CallStmt",
        "CallStmt",
        "IfStmt",
        "WhileStmt",
        "ForeachStmt",
    ]
    assert isinstance(body[0], AssignStmt)
    assert body[0].annotations[0].arguments == (("factor", "2"), ("full", ""))
    assert isinstance(body[1], CallStmt)
    assert body[1].procedure.name == "u.p"
    conditional = body[3]
    assert isinstance(conditional, IfStmt)
    assert isinstance(conditional.otherwise[0], IfStmt)
    assert len(conditional.otherwise[0].otherwise) == 1


def test_an_annotation_of_an_if_is_not_that_of_its_elsif() -> None:
    conditional = statements("@likely if a then x := 1; elsif b then x := 2; end")[0]
    assert isinstance(conditional, IfStmt)
    assert isinstance(conditional.otherwise[0], IfStmt)
    assert [a.name for a in conditional.annotations] == ["likely"]
    assert conditional.otherwise[0].annotations == ()


def test_actor_head_and_variables() -> None:
    file = parse_clean(
        """
        package a.b;
        import c.D.*; import c.E.f;
        @top @other(name="x")
        actor A(int n = 3, String name, bool b)
          @native int(size=8) X, List(type: uint(size=4), size=3) L ==> float Y :
          int(size=N + 1) t[3][4] := [[1]];
          List(type: List(type: int, size=2), size=3) l;
          bool c = true;
        end
        """
    )
    entity = file.entity
    assert isinstance(entity, ActorDecl)
    assert (file.path, file.package) == ("a.cal", "a.b")
    assert [(i.name, i.wildcard) for i in file.imports] == [("c.D", True), ("c.E.f", False)]
    assert [a.name for a in entity.annotations] == ["top", "other"]
    assert [(p.name, p.value is not None) for p in entity.parameters] == [("n", True), ("name", False), ("b", False)]
    assert [p.name for p in entity.inputs + entity.outputs] == ["X", "L", "Y"]
    assert entity.inputs[0].annotations[0].name == "native"
    assert isinstance(entity.inputs[1].type, ListTypeExpr)
    table, nested, constant = entity.variables
    assert (len(table.dimensions), table.constant, constant.constant) == (2, False, True)
    assert isinstance(nested.type, ListTypeExpr)
    assert isinstance(nested.type.element, ListTypeExpr)
    assert isinstance(constant.type, NamedType)


def test_actions() -> None:
    entity = actor(
        """
        initialize ==> Y:[1] do x := 1; end
        a.b: action X:[p, q] repeat 2 * n, Z:[r] ==> Y:[p, q + 1], W:[l] repeat 4
        guard p[0] > 1, r var int i := 3, bool c = true do x := 2; end
        action ==> end
        @hot c: action ==> guard true end
        """
    )
    first, second, third, fourth = entity.actions
    assert (first.initialize, first.tag, len(first.outputs)) == (True, "", 1)
    assert (second.tag, len(second.guards), len(second.locals), len(second.body)) == ("a.b", 2, 2, 1)
    assert [t.name for t in second.inputs[0].tokens] == ["p", "q"]
    assert second.inputs[0].repeat is not None
    assert second.inputs[1].repeat is None
    assert second.outputs[1].repeat is not None
    assert third.body == ()
    assert fourth.annotations[0].name == "hot"


def test_functions_and_procedures() -> None:
    unit = parse_clean(
        """
        unit U :
          int N = 3;
          function f(int a, List(type: int, size=2) b) --> int var int c = a, int d := c : c + d end
          @native function g() --> bool end
          procedure p(int a[4]) var int i begin a[0] := i; end
          @native procedure q(int a) end
          procedure r() begin end
        end
        """
    ).entity
    assert isinstance(unit, UnitDecl)
    assert [(f.name, len(f.locals), f.body is None) for f in unit.functions] == [("f", 2, False), ("g", 0, True)]
    assert [(p.name, p.body is None) for p in unit.procedures] == [("p", False), ("q", True), ("r", False)]
    assert unit.functions[1].annotations[0].name == "native"
    assert unit.procedures[2].body == ()


def test_schedule_and_priorities() -> None:
    entity = actor(
        """
        schedule fsm s0: s0 (a.b) --> s1; s1 (c) --> s0; end
        priority a > b.c > d; end
        priority e > f; end
        """
    )
    assert isinstance(entity.schedule, FsmDecl)
    assert [(t.source.name, t.tag.name, t.target.name) for t in entity.schedule.transitions] == [
        ("s0", "a.b", "s1"),
        ("s1", "c", "s0"),
    ]
    assert [[t.name for t in chain] for chain in entity.priorities] == [["a", "b.c", "d"], ["e", "f"]]


def test_regular_expression_schedule() -> None:
    entity = actor("schedule regexp (a.b c)* | d? (e | f) end")
    assert isinstance(entity.schedule, RegExpDecl)
    choice = entity.schedule.expression
    assert isinstance(choice, RegExpChoice)
    left, right = choice.parts
    assert isinstance(left, RegExpRepeat)
    assert isinstance(left.child, RegExpSequence)
    assert isinstance(right, RegExpSequence)
    assert [type(p).__name__ for p in right.parts] == ["RegExpRepeat", "RegExpChoice"]


def test_spans_cover_what_they_name() -> None:
    text = "actor A() ==> :\n  int x = (a +\n    b) * c[ 1 ];\nend"
    variable = parse_clean(text).entity.variables[0]
    product = variable.value
    assert isinstance(product, BinaryExpr)
    assert variable.span == Span("a.cal", 2, 3, 3, 16)
    assert product.span == Span("a.cal", 2, 11, 3, 16)
    assert product.left.span == Span("a.cal", 2, 12, 3, 6)
    assert product.right.span == Span("a.cal", 3, 10, 3, 16)
    assert parse_clean(text).span == Span("a.cal", 1, 1, 4, 4)


# Errors ---------------------------------------------------------------------------------------------------------------


def test_every_error_of_a_file_is_reported_once() -> None:
    text = """actor A() int X ==> int Y :
  int s := 1
  a: action X:[x] ==> Y:[x] do
    s := 1 + ;
    foo(1, 2;
    if s = 1 the
      s := 2;
    end
    s = 3;
    x[1,2] := 3;
    while (s > 3 do s := 1; end
    y := ) if a then 1 else 2 end;
    z := 1
    w := 2
  end
  b: action X:[p] repeat ==> guard x > var int q := 1, int := 3 do end
  schedule fsm s0:
    s0 (a --> s1;
    s1 (b) --> if;
  end
  priority a > ; b > c; c end
end
"""
    assert errors(text) == [
        (2, 13, "expected ';' behind the declaration but found name 'a'"),
        (4, 14, "expected an expression but found ';'"),
        (5, 13, "expected ',' or ')' in the arguments but found ';'"),
        (6, 14, "expected 'then' but found name 'the'"),
        (9, 7, "expected ':=' or '(' but found '='"),
        (10, 8, "expected ']' but found ','"),
        (11, 18, "expected ')' but found reserved word 'do'"),
        (12, 10, "expected an expression but found ')'"),
        (13, 11, "expected ';' behind the assignment but found name 'w'"),
        (14, 11, "expected ';' behind the assignment but found reserved word 'end'"),
        (16, 26, "expected an expression but found '==>'"),
        (16, 40, "expected an expression but found reserved word 'var'"),
        (16, 60, "expected a name but found ':='"),
        (18, 11, "expected ')' but found '-->'"),
        (19, 16, "expected the name of a state but found reserved word 'if'"),
        (21, 16, "expected the tag of an action but found ';'"),
        (21, 27, "expected '>' but found reserved word 'end'"),
    ]


HEAD = "actor A() ==> :\n"
NO_MEMBER = "expected a constant, a function, a procedure or 'end' but found reserved word "
NO_STATEMENT = "expected a statement or 'end' but found reserved word "


@pytest.mark.parametrize(
    ("text", "line", "column", "message"),
    [
        ("", 1, 1, "expected 'package', 'import', 'actor' or 'unit' but found the end of the file"),
        ("namespace a:", 1, 1, "expected 'package', 'import', 'actor' or 'unit' but found name 'namespace'"),
        ("package a.b\nactor A() ==> : end", 1, 12, "expected ';' behind the package but found reserved word 'actor'"),
        ("actor A() ==> : end end", 1, 21, "expected the end of the file but found reserved word 'end'"),
        (HEAD, 1, 16, "expected a declaration or 'end' but found the end of the file"),
        (HEAD + "int type; end", 2, 5, "expected a name but found reserved word 'type'"),
        (HEAD + "int x = [1,2; int y = 3; end", 2, 13, "expected ',', ':' or ']' in the list but found ';'"),
        (HEAD + "int(size=8 c; end", 2, 12, "expected ')' but found name 'c'"),
        (HEAD + "uint(8) c; end", 2, 6, "expected 'size' but found number '8'"),
        (HEAD + "native function f() --> int end\nend", 2, 1, "expected '@native' but found name 'native'"),
        (HEAD + "function f() --> int 3 end\nend", 2, 22, "expected ':' but found number '3'"),
        (HEAD + "function f(int x = 3) --> int : 3 end\nend", 2, 18, "expected ',' or ')' but found '='"),
        (HEAD + "procedure p() x := 1; end\nend", 2, 15, "expected 'begin' but found name 'x'"),
        (HEAD + "action ==> do begin x := 1; end end\nend", 2, 15, NO_STATEMENT + "'begin'"),
        (HEAD + "action ==> do int y; x := 1; end\nend", 2, 15, NO_STATEMENT + "'int'"),
        (HEAD + "action ==> do else x := 1; end\nend", 2, 15, NO_STATEMENT + "'else'"),
        (HEAD + "action ==> do x := not not y; end\nend", 2, 24, "expected an operand but found reserved word 'not'"),
        (HEAD + "action ==> do x := 089; end\nend", 2, 20, "'089' has digits that are not octal"),
        (HEAD + "action ==> do x := 1e999; end\nend", 2, 20, "the number 1e999 is too large"),
        (HEAD + "action ==> do x := 1 /* ; end\nend", 2, 22, "this comment is never closed"),
        (HEAD + "int x; $ int y; end", 2, 8, "character '$' has no meaning in CAL"),
        (HEAD + "local fsm l: a (b) --> c; end\nend", 2, 1, "local FSMs are not supported"),
        (HEAD + "schedule fsm s: s (a) --> l.t(a => b); end end", 2, 27, "external FSM targets are not supported"),
        (HEAD + "schedule fsm s: s (a, b) --> s; end end", 2, 21, "several tags in one transition are not supported"),
        (HEAD + "schedule fsm s: end schedule fsm t: end end", 2, 21, "an actor has one schedule"),
        (HEAD + "priority end schedule fsm t: end end", 2, 14, "'schedule' stands before 'priority', not behind it"),
        (HEAD + "@x priority end end", 2, 4, "expected a declaration or 'end' but found reserved word 'priority'"),
        (HEAD + "priority end int x; end", 2, 14, "variables are declared before 'priority', not behind it"),
        ("unit U : int x; end", 1, 15, "expected '=' and a value but found ';'"),
        ("unit U : int x := 3; end", 1, 16, "expected '=' but found ':='"),
        ("unit U : action ==> do x := 1; end int y = 3; end", 1, 10, NO_MEMBER + "'action'"),
        (HEAD + "initialize X:[a] ==> end end", 2, 12, "'initialize' reads no tokens"),
    ],
)  # fmt: skip
def test_one_error_gives_one_report(text: str, line: int, column: int, message: str) -> None:
    found = errors(text)
    if message.startswith("this comment"):
        found = found[-1:]
    assert found == [(line, column, message)]


def test_a_missing_end_is_told_once_and_names_what_it_should_close() -> None:
    text = HEAD + "a: action ==> do\n  if s then\n    x := 1;\n  while b do y := 1; end\nb: action ==> end\nend"
    gather = Gatherer()
    file = parse_cal("a.cal", text, gather)
    assert [(d.span.line, d.expected) for d in gather.diagnostics] == [(6, "nothing closes the 'if' of line 3")]
    assert file is not None
    assert isinstance(file.entity, ActorDecl)
    assert [a.tag for a in file.entity.actions] == ["b"]
    variable_next = HEAD + "  procedure p() begin\n    x := 1;\n  int y := 3;\n  action ==> end\nend"
    assert errors(variable_next) == [(4, 3, "expected a statement or 'end' but found reserved word 'int'")]


def test_an_end_too_many_is_told_once() -> None:
    text = HEAD + "action ==> do\n  if a then x := 1; end end\n  y := 2;\n  z := 3;\nend\nb: action ==> end\nend"
    assert errors(text) == [(4, 3, "expected a declaration or 'end' but found name 'y'")]


def test_broken_parts_are_left_out_and_the_rest_is_kept() -> None:
    gather = Gatherer()
    file = parse_cal("a.cal", HEAD + "int x := ; int y := 2; action ==> do x := ); y := 1; end\nend", gather)
    assert file is not None
    assert isinstance(file.entity, ActorDecl)
    assert [v.name for v in file.entity.variables] == ["y"]
    assert len(file.entity.actions[0].body) == 1
    assert len(gather.errors) == 2


def test_errors_are_in_the_order_of_the_file() -> None:
    found = errors(HEAD + "int x := ;\nint y $ := 1;\nint z := ;\nend")
    assert [line for line, _, _ in found] == [2, 3, 4]


def test_a_rendered_error_points_at_the_place(tmp_path: Path) -> None:
    source = tmp_path / "a.cal"
    source.write_text(HEAD + "\tint x := 1 +;\nend\n")
    gather = Gatherer()
    parse_cal(str(source), read_source(str(source)), gather)
    assert render(gather.errors[0]).split("\n")[1:] == ["    \tint x := 1 +;", "    \t            ^"]


@pytest.mark.parametrize("levels", [99, 101, 300, 5000])
@pytest.mark.parametrize(
    ("opening", "middle", "closing"),
    [
        ("int x := " + "{(}", "1", "{)};"),
        ("int x := " + "{[}", "a", "{]};"),
        ("int x := " + "{f(}", "1", "{)};"),
        ("int x := " + "{if a then 1 else }", "1", "{ end};"),
        ("int x := " + "{[ 1 : for int i in }", "0", "{.. 1]};"),
        ("{List(type: }", "int", "{, size=1)} x;"),
        ("action ==> do {if a then }", "", "{ end} end"),
        ("action ==> do {foreach int i in 0 .. 1 do }", "", "{ end} end"),
        ("schedule regexp {(}", "a", "{)} end"),
    ],
)
def test_deep_nesting_is_an_error_and_no_crash(opening: str, middle: str, closing: str, levels: int) -> None:
    def repeated(text: str) -> str:
        before, brace, rest = text.partition("{")
        inside, _, after = rest.rpartition("}")
        return before + inside * levels + after if brace else text

    found = errors(HEAD + repeated(opening) + middle + repeated(closing) + "\nend")
    assert [message for _, _, message in found] == ([] if levels < 100 else ["nested deeper than 100 levels"])


@pytest.mark.parametrize(("links", "ok"), [(150, True), (250, False), (20000, False)])
@pytest.mark.parametrize(
    "text",
    [
        "int x := {1 + }1;",
        "int x := if a then 1 {elsif b then 2 }else 3 end;",
        "action ==> do if a then {elsif b then }end end",
    ],
)
def test_long_chains_are_an_error_and_no_crash(text: str, links: int, ok: bool) -> None:
    before, _, rest = text.partition("{")
    inside, _, after = rest.partition("}")
    found = errors(HEAD + before + inside * links + after + "\nend")
    assert len(found) == (0 if ok else 1)


def test_huge_integers() -> None:
    assert errors(HEAD + f"int x := {'9' * 1000}; int y[2] = [1, {'9' * 900}];\nend") == []
    for literal in ("9" * 1001, "0x" + "F" * 5000, "9" * 10000):
        found = errors(HEAD + f"int x := {literal}; int y[2] = [1, 2];\nend")
        assert found == [(2, 10, f"an integer of {len(literal)} digits fits no type")]


# Corpora --------------------------------------------------------------------------------------------------------------


def cal_files(folder: Path) -> list[Path]:
    return sorted(f for f in folder.rglob("*.cal") if f.is_file())


def test_our_own_actors_parse() -> None:
    files = cal_files(Path(__file__).parents[3] / "actors")
    assert files
    for file in files:
        parse_clean(read_source(str(file)), str(file))


@pytest.mark.parametrize(
    ("corpus", "broken"),
    [("orc-apps", set()), ("orcc", {"NativeDecls.cal", "RegExpFSM.cal", "SyntaxErrorList.cal"})],
)
def test_corpora_parse(corpus: str, broken: set[str]) -> None:
    folder = Path(os.environ.get("DSE_CORPORA", "")) / corpus
    if "DSE_CORPORA" not in os.environ or not folder.is_dir():
        pytest.skip(f"DSE_CORPORA does not name a folder with {corpus}")
    failed = set()
    for file in cal_files(folder):
        gather = Gatherer()
        if parse_cal(str(file), read_source(str(file)), gather) is None or gather.diagnostics:
            failed.add(file.name)
    assert failed == broken
