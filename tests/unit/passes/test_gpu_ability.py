"""Which actors can run on a GPU: each kind of reason, just before and just beyond where it begins to hold."""

import pytest

from dse.passes.analyses.gpu_ability import MOST_LOCAL_BYTES, host_reasons, local_bytes
from dse.passes.analyses.uses import gather_facts
from tests.unit.frontend.lowering_support import actor_of

ACTOR = """
actor A () {ports} :
    int n := 0;
    {state}
    @native function asked () --> int end
    function plain (int k) --> int : k + 1 end
    procedure twice () begin n := plain(plain(n)); end
    go: action ==> do {body} end
end
"""
WORDS = MOST_LOCAL_BYTES // 8


def reasons(body: str, state: str = "", ports: str = "==>") -> list[str]:
    actor = actor_of(ACTOR.format(body=body, state=state, ports=ports))
    return [r.text for r in host_reasons(actor, gather_facts(actor))]


@pytest.mark.parametrize(
    ("body", "state", "found"),
    [
        ("n := plain(n); twice();", "", []),
        ("n := asked();", "", ["it calls the native 'asked'"]),
        ("println(n);", "", ["it prints"]),
        ("n := deep(n);", "function deep (int k) --> int : if k > 0 then deep(k - 1) else 0 end end", [
            "'deep' calls itself"
        ]),
        ("n := 1;", 'String name := "a";', ["'name' is a text"]),
        ('if "a" = "b" then n := 1; end', "", ["it works with texts"]),
        ("n := count[if \"a\" = \"b\" then 0 else 1 end];", "int count[2];", ["it works with texts"]),
        ("n := asked(); println(n);", "", ["it calls the native 'asked'", "it prints"]),
        ("n := big[3];", "int big[1000000];", []),
    ],
)  # fmt: skip
def test_each_kind_of_reason(body: str, state: str, found: list[str]) -> None:
    assert reasons(body, state) == found


def test_two_routines_that_call_each_other_are_a_recursion() -> None:
    state = """
    function even (int k) --> bool : if k = 0 then true else odd(k - 1) end end
    function odd (int k) --> bool : if k = 0 then false else even(k - 1) end end
    """
    assert reasons("if even(n) then n := 1; end", state) == ["'even' calls itself"]


@pytest.mark.parametrize(
    ("of", "found"),
    [
        ("String", ["the tokens of 'I' are texts"]),
        ("int(size=128)", []),
        ("int(size=129)", ["the tokens of 'I' have more than 128 bits"]),
    ],
)
def test_tokens_are_words_of_the_machine(of: str, found: list[str]) -> None:
    assert reasons("n := 1;", ports=f"{of} I ==>") == found


@pytest.mark.parametrize(("words", "able"), [(WORDS, True), (WORDS + 1, False)])
def test_lists_of_a_firing_have_to_fit_into_the_memory_of_a_thread(words: int, able: bool) -> None:
    state = f"procedure fill () var int a[{words}] begin a[0] := n; end"
    assert local_bytes(actor_of(ACTOR.format(body="fill();", state=state, ports="==>"))) == words * 8
    assert (reasons("fill();", state) == []) == able


MADE = [
    ("b := [n : for int k in 1 .. {}];", 0),
    ("b := [n : for int k in 1 .. {}] + [n] + [n];", 2),
    ("b := if n > 0 then [n : for int k in 1 .. {}] else [n] end;", 0),
    ("n := #([n : for int k in 1 .. {}]) + #([n]);", 1),
]


@pytest.mark.parametrize(("body", "more"), MADE)
def test_lists_that_are_made_count_where_no_variable_holds_them(body: str, more: int) -> None:
    state, most = f"int b[{WORDS + 1}];", WORDS - more
    assert local_bytes(actor_of(ACTOR.format(body=body.format(most), state=state, ports="==>"))) == WORDS * 8
    assert reasons(body.format(most), state) == []
    assert len(reasons(body.format(most + 1), state)) == 1


@pytest.mark.parametrize(("of", "element_bytes"), [("int(size=64)", 8), ("int(size=65)", 16), ("int(size=129)", 600)])
def test_elements_of_lists_count_as_a_firing_holds_them(of: str, element_bytes: int) -> None:
    state = f"{of} wide := 1;\n    int b[9];"
    made = "b := [wide : for int k in 1 .. 9];"
    assert local_bytes(actor_of(ACTOR.format(body=made, state=state, ports="==>"))) == 9 * element_bytes


def test_a_declared_list_is_filled_where_it_stands() -> None:
    state = f"procedure fill () var int a[{WORDS}] := [n : for int k in 1 .. {WORDS}] begin a[0] := n; end"
    assert local_bytes(actor_of(ACTOR.format(body="fill();", state=state, ports="==>"))) == WORDS * 8


def test_what_a_call_returns_counts_beside_the_lists_of_the_routine() -> None:
    state = "int b[9]; function nine (int m) --> List(type: int, size=9) : [m : for int k in 1 .. 9] end"
    body = "b := nine(n); n := #(nine(n) + nine(n));"
    assert local_bytes(actor_of(ACTOR.format(body=body, state=state, ports="==>"))) == (9 + 9 + 18 + 9 + 9) * 8


def test_guards_and_outputs_make_lists_too() -> None:
    text = """
    actor A () ==> int O :
        int n := 0;
        go: action ==> O:[[n : for int k in 1 .. 10]] repeat 10 guard #([n : for int k in 1 .. 5]) = 5 end
    end
    """
    assert local_bytes(actor_of(text)) == (10 + 5) * 8


def test_state_does_not_count_as_memory_of_a_firing() -> None:
    assert reasons("n := a[0];", f"int a[{WORDS + 1}];") == []
