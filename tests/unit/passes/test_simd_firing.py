"""Which actions may fire several times at once: each kind of reason, and the other side of its boundary."""

import pytest

from dse.passes.analyses.simd_firing import SimdFiring, simd_firings
from dse.passes.analyses.uses import gather_facts
from dse.passes.rewrites.explicit import make_explicit
from dse.program.explicit import Wiring
from tests.unit.frontend.lowering_support import actor_of

ACTOR = """
actor A () int I, int J ==> int O :
    int n := 0;
    int k := 3;
    int table[4] := [1, 2, 3, 4];
    function plain (int x) --> int : x + n end
    procedure count () begin n := n + 1; end
    {actions}
end
"""


def firings(actions: str, loops: tuple[tuple[int, int], ...] = (), readers: int = 1) -> tuple[SimdFiring, ...]:
    actor = actor_of(ACTOR.format(actions=actions))
    wiring = Wiring(inputs=tuple(p.type for p in actor.inputs), loops=loops, fan_outs=(readers,))
    facts = gather_facts(actor)
    explicit, values = make_explicit(actor, wiring, facts)
    return simd_firings(explicit, facts, values)


@pytest.mark.parametrize(
    ("actions", "reason", "asks"),
    [
        ("a: action I:[x] ==> O:[x / n + table[x]] end", "", False),
        ("a: action I:[x] ==> O:[x] do n := x; end", "it changes 'n'", False),
        ("a: action I:[x] ==> O:[x] do table[1] := x; end", "it changes 'table'", False),
        ("a: action I:[x] ==> O:[x] do count(); end", "it changes 'n'", False),
        ("a: action I:[x] ==> O:[y] var int y := 0 do y := x; end", "", False),
        ("a: action I:[x] ==> O:[x] do println(x); end", "it prints", False),
        ("a: action I:[x] ==> end", "it sends nothing, so that there is nothing to be gained", False),
        ("a: action ==> O:[k] end", "", False),
        ("a: action I:[x] ==> O:[x] guard x > 3, plain(x) != 2 end", "", True),
        ("a: action I:[x] ==> O:[x] guard n > 3 end", "", False),
        ("a: action I:[x] ==> O:[x] guard x / 2 > 1 end", "", True),
        ("a: action I:[x] ==> O:[x] guard x / k > 1 end", "", True),
        ("a: action I:[x] ==> O:[x] guard 7 / x > 1 end", "the guard of 'a' is asked before it, which may fail", False),
        (
            "a: action I:[x] ==> O:[x] guard table[x] > 1 end",
            "the guard of 'a' is asked before it, which may access a list out of bounds",
            False,
        ),
        ("a: action I:[x] ==> O:[x] guard table[x & 3] > 1 end", "", True),
    ],
)
def test_one_action(actions: str, reason: str, asks: bool) -> None:
    (found,) = firings(actions)
    assert (found.reason, found.asks) == (reason, asks)


def test_the_guards_before_an_action_count_too() -> None:
    rest = "a: action I:[x] ==> O:[x] end b: action {port}:[x] ==> O:[1] guard {guard} end priority b > a; end"
    assert [f.asks for f in firings(rest.format(port="I", guard="x > 2"))] == [True, True]
    assert [f.asks for f in firings(rest.format(port="J", guard="x > 2"))] == [False, True]
    refused = firings(rest.format(port="J", guard="1 / x > 2"))
    assert {f.reason for f in refused} == {"the guard of 'b' is asked before it, which may fail"}


def test_an_action_that_changes_the_state_of_the_machine_fires_one_by_one() -> None:
    machine = "schedule fsm s : s (a) --> {target}; s (b) --> t; t (a) --> s; end"
    both = "a: action I:[x] ==> O:[x] end b: action J:[x] ==> O:[x] end "
    moves, stays = firings(both + machine.format(target="t")), firings(both + machine.format(target="s"))
    assert moves[0].reason == moves[1].reason == "each firing changes the state of the machine"
    assert [f.able for f in stays] == [True, False]


def test_tokens_that_come_back_and_outputs_that_nobody_reads() -> None:
    action = "a: action I:[x] ==> O:[x] end initialize ==> O:[1] end"
    round_trip = firings(action, loops=((0, 0),))
    assert round_trip[0].reason == "a connection leads from the output 'O' back to the actor itself"
    assert firings(action)[1].reason == "it fires once, at the start"
    assert firings(action, readers=0)[0].reason == "it sends nothing, so that there is nothing to be gained"
