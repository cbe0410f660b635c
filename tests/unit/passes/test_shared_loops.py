"""Which loops go to the threads of a block: each kind of reason, the other side of its boundary, random subscripts."""

import itertools
import random

import pytest

from dse.passes.analyses.loop_sharing import LoopSharing
from dse.passes.analyses.shared_loops import SharedWork, shared_loops
from dse.passes.analyses.uses import gather_facts
from dse.passes.rewrites.explicit import make_explicit
from dse.program.explicit import Wiring
from tests.unit.frontend.lowering_support import actor_of

ACTOR = """
actor A () int I, uint(size=8) J ==> int O :
    int n := 0;
    int kept[64];
    int square[8][8];
    procedure count () begin n := n + 1; end
    procedure row (int to[64], int first) begin foreach int k in 0 .. 7 do to[first + k] := k; end end
    procedure one (int to[8], int k) begin to[k] := k; end
    procedure first (int to[64], int none[64], int nothing[64], int k) begin to[k] := k * k; end
    function read (int k) --> int : kept[k] end
    a: action I:[x] repeat 64, J:[y] ==> O:[n]
    var
        int list[64], int other[128], int t := 0, int f := x[0], bool seen := false
    do
        {body}
    end
end
"""


def sharings(body: str) -> tuple[LoopSharing, ...]:
    return tuple(found for found in work_of(ACTOR.format(body=body)).loops if not found.routine)


def work_of(text: str) -> SharedWork:
    actor = actor_of(text)
    wiring = Wiring(inputs=tuple(p.type for p in actor.inputs), loops=(), fan_outs=(1,))
    facts = gather_facts(actor)
    explicit, values = make_explicit(actor, wiring, facts)
    return shared_loops(explicit, facts, values)


def loop(body: str, low: str = "0", high: str = "63") -> str:
    return f"foreach int i in {low} .. {high} do {body} end"


CARRIED = "'t' goes from one round to the next"
MEETS = "a round may access what another one writes: "


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        (loop("list[i] := x[i];"), ""),
        (loop("list[63 - i] := x[i] / n;"), ""),
        (loop("kept[i] := kept[i] + f;"), ""),
        (loop("kept[i] := kept[i + 1];"), MEETS + "'kept' at places that may be those of another round"),
        (loop("list[i] := 1; list[63 - i] := 2;"), MEETS + "'list' at places that may be those of another round"),
        (loop("other[2 * i] := other[2 * i + 1];"), ""),
        (loop("other[2 * i] := other[2 * i + 2];"), MEETS + "'other' at places that may be those of another round"),
        (loop("foreach int k in 0 .. 7 do list[8 * i + k] := k; end", high="7"), ""),
        (
            loop("foreach int k in 0 .. 8 do list[8 * i + k] := k; end", high="7"),
            MEETS + "'list' at places that may be those of another round",
        ),
        (loop("foreach int k in 0 .. 7 do list[i + 8 * k] := k + t; end", high="7"), ""),
        (
            loop("foreach int k in 0 .. 7 do list[i + 8 * k] := k + t; end", high="8"),
            MEETS + "'list' at places that may be those of another round",
        ),
        (loop("list[f] := i;"), MEETS + "'list' at a place that 'i' does not change"),
        (loop("list[f + i] := i;"), ""),
        (loop("list[f + 70000000 * i] := i;"), ""),  # indices are unbounded integers
        (loop("row(list, f + 70000000 * i);"), MEETS + "'list' at places that may be those of another round"),
        (loop("row(list, f + 60000000 * i);"), ""),  # but parameters have 32 bits
        (loop("list[x[i]] := i;"), MEETS + "'list' at a place that is not known beforehand"),
        (loop("square[i mod 8][i] := i;"), ""),
        (loop("square[f][f] := square[i][f];", high="7"), MEETS + "'square' at a place that 'i' does not change"),
        (loop("list[i] := kept[f] + read(x[i]);"), ""),
        (loop("kept[i] := read(i);"), ""),
        (loop("kept[i] := read(f);"), MEETS + "'kept' at a place that 'i' does not change"),
        (loop("row(list, 8 * i);", high="7"), ""),
        (loop("row(list, 7 * i);", high="7"), MEETS + "'list' at places that may be those of another round"),
        (loop("one(square[i], f); one(square[i], f + 1);", high="15"), ""),
        (loop("one(square[f], i); list[i] := x[i] + n + i;", high="15"), ""),
        (loop("foreach int k in 0 .. 3 do t := x[k]; list[i] := t; end"), ""),
        (loop("foreach int k in 0 .. y do t := x[k]; list[i] := t; end"), ""),
        (loop("foreach int k in 0 .. y do t := x[k]; list[i] := t; end") + " n := t;", CARRIED),
        (loop("list[i] := i; count();"), "it changes 'n'"),
        (loop("list[i] := i; n := i;"), "it changes 'n'"),
        (loop("list[i] := i; println(i);"), "it prints"),
        (loop("t := t + x[i];"), CARRIED),
        (loop("t := x[i]; list[i] := t * t;"), ""),
        (loop("list[i] := t; t := x[i];"), CARRIED),
        (loop("if x[i] > 3 then t := 1; end list[i] := i;"), ""),
        (loop("if x[i] > 3 then t := 1; else t := 2; end list[i] := i;"), ""),
        (loop("t := x[i] + y;"), "it leaves nothing in a list"),
        (loop("list[i] := x[i];", high="7"), "it has too little to do for several threads"),
        (loop("list[i] := x[i] * x[63 - i] + y;", low="y", high="f"), ""),
        (loop("list[i] := x[i];", high="(1 << 70) * f"), "its bounds may be of any size"),
        (loop("list[i] := sum; list := x;"), None),
    ],
)
def test_one_loop(body: str, reason: str | None) -> None:
    if reason is None:
        body, reason = body.replace("sum", "t"), MEETS + "'list' as a whole"
    first = sharings(body)[0]
    assert first.reason == reason
    assert first.able == (not reason)


def test_two_loops_directly_inside_each_other_are_one() -> None:
    nested = "foreach int i in 0 .. 7 do foreach int k in 0 .. 7 do {} end end"
    (found,) = sharings(nested.format("t := x[8 * i + k]; square[i][k] := t + f;"))
    assert (found.names, found.lists, found.taken, found.left) == ("i, k", ("x",), ("f",), ("t",))
    (outer,) = sharings(nested.format("t := x[8 * i + k]; square[i][0] := t + f;"))
    assert (outer.names, outer.left) == ("i", ("t",))
    refused, inner = sharings(nested.format("t := x[8 * i + k]; square[0][k] := t + f + y + x[k] + x[i];"))
    assert (refused.able, inner.able, inner.names, inner.taken) == (False, True, "k", ("f", "i", "y"))


def test_threads_see_lists_that_rounds_only_hand_on() -> None:
    (found,) = sharings(loop("first(list, x, kept, i);"))
    assert (found.reason, found.lists, found.views) == ("", ("list", "x"), ())
    text = "procedure two (int a[64], int b[64]) begin foreach int k in 0 .. 63 do first(a, b, b, k); end end"
    actor = ACTOR.replace("procedure row", text + " procedure row", 1)
    work = work_of(actor.format(body="two(list, list); two(x, kept);"))
    assert [(f.routine, f.reason, f.lists == f.views, len(f.views)) for f in work.loops] == [("two", "", True, 2)]
    assert work.members == {"list", "x"}


def test_functions_that_call_each_other_often_are_given_up() -> None:
    calls = "".join(f"function g{k + 1} (int k) --> int : g{k}(k) + g{k}(k + 1) end " for k in range(26))
    text = ACTOR.replace("procedure count", "function g0 (int k) --> int : kept[k] end " + calls + "procedure count")
    (found,) = work_of(text.format(body=loop("list[i] := g26(i);"))).loops
    assert found.reason == "it calls too much to be looked through"


def test_a_loop_that_may_leave_its_type_has_the_name_of_the_source() -> None:
    one, two = sharings(2 * "foreach int i in f .. f + 63 do list[i - f] := x[i - f] + x[y]; end ")
    assert (one.names, two.names) == ("i", "i")


def test_a_loop_whose_end_depends_on_data_is_not_taken_together_with_the_one_around() -> None:
    (found,) = sharings("foreach int i in 0 .. 7 do foreach int k in 0 .. y do square[i][k] := i; end end")
    assert found.names == "i"


@pytest.mark.parametrize(
    ("low", "names"),
    [("0 * f", "i, k"), ("0 mod 3", "i, k"), ("0 mod n", "i"), ("0 / n", "i"), ("0 * (f mod n)", "i")],
)
def test_a_bound_that_is_a_number_but_may_fail_is_left_to_the_rounds(low: str, names: str) -> None:
    nested = f"foreach int i in 0 .. 7 do foreach int k in {low} .. 7 do square[i][k] := x[i] * y + i * k; end end"
    assert sharings(nested)[0].names == names


LISTS = """
actor A () int I ==> int O, int P :
    int n := 0;
    int kept[64];
    int square[8][64];
    function cube (int k) --> int : k * k * k + kept[k] end
    function row (int by) --> List(type: int, size=64) : [by * cube(i) : for int i in 0 .. 63] end
    function third (int by) --> int var int all[64] := row(by) : all[3] end
    procedure add (int to[64], int from[64]) begin foreach int k in 0 .. 63 do to[k] := to[k] + from[63 - k]; end end
    procedure fill (int to[64]) begin foreach int k in 0 .. 63 do to[k] := k * k; end end
    procedure twice (int to[64]) begin fill(to); add(to, kept); end
    procedure count (int to[64]) begin foreach int k in 0 .. 63 do n := n + to[k]; end end
    a: action I:[x] ==> O:[x]
    guard third(x) > 0
    var int list[64], int other[64], int t := 3, int rows[8][64]
    do
        {body}
    end
end
"""


def told(body: str) -> list[tuple[str, str, str]]:
    """Return what is found of each loop: where it stands, its variables, and the reason, "" where it is shared out."""
    return [(found.routine, found.names, found.reason) for found in work_of(LISTS.format(body=body)).loops]


@pytest.mark.parametrize(
    ("body", "found"),
    [
        ("list := [t * i : for int i in 0 .. 63];", [("", "i", "")]),
        ("list := [t * i + list[63 - i] : for int i in 0 .. 63];", [("", "i", "")]),  # the list is made first
        ("list := [i : for int i in 0 .. 7];", [("", "i", "it has too little to do for several threads")]),
        ("rows := [[i * k : for int k in 0 .. 63] : for int i in 0 .. 7];", [("", "i", "")]),
        ("foreach int i in 0 .. 7 do kept := [t * k + i : for int k in 0 .. 63]; end", "inner"),
        ("if x > 3 then list := [t * i : for int i in 0 .. 63]; end", [("", "i", "")]),
        ("list := row(3);", [("row", "i", "")]),
        ("fill(list);", [("fill", "k", "")]),
        ("fill([t * i : for int i in 0 .. 63]);", "made"),
        ("add(list, other); add(other, list);", [("add", "k", "")]),
        ("add(list, list);", [("add", "k", "'from' and 'to' may be one list")]),
        ("add(rows[0], rows[1]);", [("add", "k", "'from' and 'to' may be one list")]),
        ("add(kept, list);", [("add", "k", "")]),
        ("twice(list);", [("add", "k", ""), ("fill", "k", "")]),
        ("twice(kept);", [("add", "k", "'from' and 'to' may be one list"), ("fill", "k", "")]),
        ("fill(square[3]);", [("fill", "k", "")]),
        ("fill(square[x]);", [("fill", "k", "'to' may be a list that is made for a call")]),
        ("count(list);", [("count", "k", "it changes 'n'")]),
        ("t := 4;", []),  # a guard calls: its thread shares nothing
        ("foreach int i in 0 .. 7 do fill(rows[i]); end", [("", "i", "")]),  # the outer one is shared, not the inner
    ],
)
def test_lists_as_expressions_and_loops_in_routines(body: str, found: list[tuple[str, str, str]] | str) -> None:
    if found == "inner":
        found = [("", "i", MEETS + "'kept' as a whole"), ("", "k", "")]
    elif found == "made":
        found = [("", "i", ""), ("fill", "k", "'to' may be a list that is made for a call")]
    assert told(body) == found


def test_threads_see_the_lists_that_calls_hand_on() -> None:
    work = work_of(LISTS.format(body="twice(list); other := row(x); t := other[3];"))
    assert {name for name in work.members if "list" in name or "other" in name} == {"list"}
    assert work.routines == ("row", "add", "fill", "twice")
    assert work.reached == (frozenset(("row", "add", "fill", "twice")),)
    assert [s.routine for s in work.of_action(0)] == ["row", "add", "fill"]


def drawn(rng: random.Random) -> tuple[str, list[tuple[int, int, int]], int, int]:
    """Return a random nest of two loops, its subscripts (factor of i, of k, constant), and its numbers of rounds."""
    rounds, inner = rng.randint(2, 9), rng.randint(1, 5)
    forms = [(rng.choice((0, 1, 1, 2, 3, 5, 8, -1)), rng.choice((0, 1, 1, 2, 4, 9)), rng.randint(0, 6))]
    for _ in range(rng.randint(0, 2)):
        a, b, c = forms[0]
        forms.append(rng.choice(((a, b, rng.randint(0, 12)), (a, rng.randint(0, 3), c), (b, a, c))))
    texts = [f"{a} * i + {b} * k + {c}" for a, b, c in forms]
    body = " ".join([f"kept[{texts[0]}] := x[i] + x[k] + f;", *(f"list[k] := kept[{t}];" for t in texts[1:])])
    body = body.replace("list[k] :=", "t :=")
    return (
        f"foreach int i in 0 .. {rounds - 1} do foreach int k in 0 .. {inner - 1} do {body} end t := 0; end",
        forms,
        rounds,
        inner,
    )


def test_rounds_of_a_loop_that_is_shared_out_never_meet() -> None:
    rng = random.Random(11)
    shared = 0
    for _ in range(80):
        body, forms, rounds, inner = drawn(rng)
        first = sharings(body)[0]
        if not first.able:
            continue
        shared += 1
        for one, two in itertools.combinations(range(rounds), 2):
            written = {forms[0][0] * one + forms[0][1] * k + forms[0][2] for k in range(inner)}
            touched = {a * two + b * k + c for a, b, c in forms for k in range(inner)}
            assert not written & touched, body
    assert 10 < shared < 60
