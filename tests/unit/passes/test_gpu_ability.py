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


def test_state_does_not_count_as_memory_of_a_firing() -> None:
    assert reasons("n := a[0];", f"int a[{WORDS + 1}];") == []
