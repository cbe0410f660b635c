"""The order in which actions are tried: priorities with their tie-break, state machines, regular expressions."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dse.program import ir
from tests.unit.frontend.lowering_support import actor_of, errors_of, lower_text


def text_of(actions: str, rest: str = "") -> str:
    """Return an actor with an empty action for each word; ``-`` is an untagged one, ``initialize`` an initializer."""
    made = []
    for word in actions.split():
        if word == "initialize":
            made.append("initialize ==> end")
        else:
            made.append("action ==> end" if word == "-" else f"{word}: action ==> end")
    return "actor A() ==> :\n" + "\n".join(made) + "\n" + rest + "\nend"


def tried(actor: ir.Actor, state: str = "") -> list[str]:
    return [actor.actions[c.action].name for c in actor.transitions[actor.states.index(state)]]


def moves(actor: ir.Actor) -> dict[str, list[tuple[str, str]]]:
    return {
        state: [(actor.actions[c.action].name, actor.states[c.target]) for c in actor.transitions[i]]
        for i, state in enumerate(actor.states)
    }


# Priorities -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("actions", "priorities", "order"),
    [
        ("c a b", "", "c a b"),
        ("c a b", "b > c;", "a b c"),
        ("c a b", "a > b > c;", "a b c"),
        ("- c - a", "", "untagged_0 untagged_1 c a"),
        ("a - b", "b > a;", "untagged_0 b a"),
        # first in, first out: d becomes free after c was queued in document order, so it follows c
        ("a b c d", "a > d;", "a b c d"),
        ("d a b c", "a > d;", "a b c d"),
        ("d e a b", "b > e; a > d;", "a b d e"),
        ("e d a b", "a > d; a > e;", "a b d e"),
        # prefixes
        ("x.a x.b y z.c", "y > x;", "y z.c x.a x.b"),
        ("x.a x.b y.a y.b", "y > x.b;", "x.a y.a y.b x.b"),
        ("xx x.a y", "y > x;", "xx y x.a"),
        ("x x.a y", "y > x;", "y x x.a"),
        # the same inequality twice counts once
        ("b a", "a > b; a > b;", "a b"),
    ],
)
def test_priorities(actions: str, priorities: str, order: str) -> None:
    actor = actor_of(text_of(actions, f"priority {priorities} end" if priorities else ""))
    assert tried(actor) == order.split()
    assert actor.states == ("",)
    assert not actor.has_fsm


@given(st.permutations(range(6)), st.lists(st.tuples(st.integers(0, 5), st.integers(0, 5)), max_size=8))
def test_the_order_keeps_every_priority(ranks: list[int], pairs: list[tuple[int, int]]) -> None:
    acyclic = [(a, b) for a, b in pairs if ranks[a] < ranks[b]]
    rest = "priority " + " ".join(f"t{a} > t{b};" for a, b in acyclic) + " end" if acyclic else ""
    order = tried(actor_of(text_of(" ".join(f"t{i}" for i in range(6)), rest)))
    assert sorted(order) == [f"t{i}" for i in range(6)]
    assert all(order.index(f"t{a}") < order.index(f"t{b}") for a, b in acyclic)


def test_a_cycle_of_priorities_is_named() -> None:
    errors = errors_of(text_of("a b c d", "priority\na > b;\nb > c > a;\nend"))
    assert [e.message for e in errors] == ["the priorities contain a cycle: 'a' > 'b' > 'c' > 'a'"]
    assert errors[0].span.line == 7


def test_an_unknown_tag_in_a_priority() -> None:
    errors = errors_of(text_of("read write", "priority\nraed > write;\nend"))
    assert errors[0].message == "no action has the tag 'raed'"
    assert errors[0].expected == "did you mean 'read'?"
    assert (errors[0].span.line, errors[0].span.column) == (5, 1)


# Names ----------------------------------------------------------------------------------------------------------------


def test_actions_stand_in_document_order_before_the_initializers() -> None:
    actor = actor_of(text_of("- initialize a.b - initialize a.b"))
    assert [a.name for a in actor.actions] == [
        "untagged_0",
        "a.b",
        "untagged_1",
        "a.b_1",
        "initialize",
        "initialize_1",
    ]
    assert actor.initializers == (4, 5)
    assert [a.tagged for a in actor.actions] == [False, True, False, True, False, False]
    assert tried(actor) == ["untagged_0", "untagged_1", "a.b", "a.b_1"]


# State machines -------------------------------------------------------------------------------------------------------

FSM = """
schedule fsm s1 :
  s0 (a) --> s1;
  s1 (x) --> s0;
  s1 (b) --> s1;
end
"""


def test_states_take_untagged_actions_first_then_transitions_by_priority() -> None:
    actor = actor_of(text_of("x.p x.q a - b dead", FSM + "priority b > x.q; end"))
    assert actor.has_fsm
    assert actor.states == ("s0", "s1")
    assert actor.initial_state == 1
    assert moves(actor) == {
        "s0": [("untagged_0", "s0"), ("a", "s1")],
        "s1": [("untagged_0", "s1"), ("x.p", "s0"), ("b", "s1"), ("x.q", "s0")],
    }


def test_a_tagged_action_outside_the_machine_is_a_warning() -> None:
    _, gather = lower_text(text_of("x a b dead", FSM))
    assert [w.message for w in gather.warnings] == ["the action 'dead' is not in the schedule and never fires"]


@pytest.mark.parametrize(
    ("fsm", "message", "line"),
    [
        ("schedule fsm s9:\ns0 (a) --> s0;\nend", "no transition leaves a state 's9'", 3),
        ("schedule fsm s0:\ns0 (a) --> s9;\nend", "no transition leaves a state 's9'", 4),
        ("schedule fsm s0:\ns0 (q) --> s0;\nend", "no action has the tag 'q'", 4),
        (
            "schedule fsm s0:\ns0 (a) --> s0;\ns0 (a.b) --> s0;\nend",
            "the state 's0' has two transitions for the action 'a.b'",
            5,
        ),
    ],
)
def test_errors_of_state_machines(fsm: str, message: str, line: int) -> None:
    errors = errors_of(text_of("a.b", fsm))
    assert [(e.message, e.span.line) for e in errors] == [(message, line)]


# Regular expressions --------------------------------------------------------------------------------------------------


def words(actor: ir.Actor, length: int) -> set[str]:
    """Return the sequences of that many tags that the schedule lets fire."""
    found = {("", actor.initial_state)}
    for _ in range(length):
        found = {
            (word + actor.actions[c.action].name, c.target) for word, state in found for c in actor.transitions[state]
        }
    return {word for word, _ in found}


@pytest.mark.parametrize(
    ("expression", "length", "expected"),
    [
        ("a b c", 3, "abc"),
        ("a b c", 4, ""),
        ("a | b c", 1, "a b"),
        ("a | b c", 2, "bc"),
        ("a* b", 3, "aaa aab"),
        ("a? b", 1, "a b"),
        ("a? b", 2, "ab"),
        ("(a | b)* c", 2, "aa ab ba bb ac bc"),
        ("(a b)* c", 3, "aba abc"),
        ("c (a* | b*) c", 3, "caa cbb cac cbc"),
    ],
)
def test_regular_expressions(expression: str, length: int, expected: str) -> None:
    actor = actor_of(text_of("a b c", f"schedule regexp {expression} end"))
    assert words(actor, length) == set(expected.split())
    assert actor.has_fsm


def test_prefixes_and_document_order_in_regular_expressions() -> None:
    actor = actor_of(text_of("b x.q - x.p", "schedule regexp b | x end"))
    assert tried(actor, "s0") == ["untagged_0", "b", "x.q", "x.p"]


def test_a_regular_expression_excludes_priorities() -> None:
    errors = errors_of(text_of("a b", "schedule regexp a* b end\npriority a > b; end"))
    assert errors[0].message == "a regexp schedule cannot be combined with priorities"
