"""The text form: what is printed reads back, for random actors of every node and for the actors of applications."""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dse.base.errors import FormatError
from dse.frontend.network.elaborate import load_network
from dse.program import explicit as ex
from dse.program import ir
from dse.program.explicit import ExplicitActor
from dse.program.ir import Actor
from dse.program.text.printer import print_actor, print_explicit
from dse.program.text.reader import read_actor, read_explicit
from dse.program.text.spans import without_spans
from dse.program.types import FloatType, IntType, ListType
from dse.program.walk import nodes_of
from tests.examples import examples
from tests.unit.frontend.lowering_support import actor_of
from tests.unit.program.random_ir import RandomIr

ACTORS = Path(__file__).resolve().parents[3] / "actors"
SEEDS = st.integers(0, 1 << 32)


def assert_round_trip(actor: Actor) -> None:
    """An actor, and its text, are the same after printing and reading; with spans and without."""
    text = print_actor(actor)
    again = read_actor(text)
    # Values that are not equal to themselves (nan) and -0.0 are compared as they are written.
    assert repr(again) == repr(without_spans(actor))
    assert print_actor(again) == text
    assert repr(read_actor(print_actor(actor, spans=True))) == repr(actor)


def assert_explicit_round_trip(explicit: ExplicitActor) -> None:
    text = print_explicit(explicit)
    again = read_explicit(text)
    assert repr(again) == repr(without_spans(explicit))
    assert print_explicit(again) == text
    assert repr(read_explicit(print_explicit(explicit, spans=True))) == repr(explicit)


@settings(max_examples=examples(12), deadline=None)
@given(SEEDS, st.booleans())
def test_random_actors_read_back(seed: int, spans: bool) -> None:
    assert_round_trip(RandomIr(seed, spans=spans).actor())


@settings(max_examples=examples(12), deadline=None)
@given(SEEDS, st.booleans())
def test_random_explicit_actors_read_back(seed: int, spans: bool) -> None:
    assert_explicit_round_trip(RandomIr(seed, spans=spans).explicit())


def test_random_actors_hold_every_node() -> None:
    """The tests above would not see a node that the generator forgets."""
    made = {type(node) for seed in range(60) for node in nodes_of(RandomIr(seed).explicit())}
    declared = {
        item
        for module in (ir, ex)
        for item in vars(module).values()
        if isinstance(item, type) and hasattr(item, "__dataclass_fields__")
    }
    assert declared - made <= {IntType, FloatType, ListType}


def test_literals_and_operations_that_look_alike_are_told_apart() -> None:
    actor = actor_of("""
        actor A() ==> :
            int a := -5; int b := 7;
            action ==> do a := 2 - -b; b := (a - b) - (a - b); b := a - 2; end
        end""")
    text = print_actor(actor)
    assert "state a: i32 = -5" in text
    assert "a := 2 - -b" in text
    assert "b := a - b - (a - b)" in text
    negated = ir.Unary("-", ir.Const(2, IntType(2, signed=False)), IntType(3, signed=True))
    text = text.replace("a - 2", "-(2)")
    assert repr(negated) in repr(read_actor(text))
    assert print_actor(read_actor(text)) == text
    assert_round_trip(actor)


def test_long_chains_do_not_nest_calls() -> None:
    actor = actor_of(f"actor A() ==> : int a; action ==> do a := {'+'.join(['a'] * 190)}; end end")
    text = print_actor(actor)
    assert f"a := {' + '.join(['a'] * 190)}\n" in text.replace("(", "").replace(")", "")
    assert print_actor(read_actor(text)) == text


# Applications ---------------------------------------------------------------------------------------------------------


def actors_of(network: Path) -> Iterator[Actor]:
    seen: set[int] = set()
    for instance in load_network(str(network)).network.instances:
        if id(instance.actor) not in seen:
            seen.add(id(instance.actor))
            yield instance.actor


@pytest.mark.parametrize("network", sorted(ACTORS.glob("*/*.xdf")), ids=lambda path: path.stem)
def test_actors_of_our_applications_read_back(network: Path) -> None:
    for actor in actors_of(network):
        assert_round_trip(actor)


def corpus() -> Path:
    folder = Path(os.environ.get("DSE_CORPORA", "")) / "orc-apps"
    if "DSE_CORPORA" not in os.environ or not folder.is_dir():
        pytest.skip("DSE_CORPORA does not name a folder with orc-apps")
    return folder


def test_actors_of_a_public_network_read_back() -> None:
    for actor in actors_of(corpus() / "JPEG/src/jpeg/codec/Codec.xdf"):
        assert_round_trip(actor)


# Malformed text -------------------------------------------------------------------------------------------------------

WHOLE = """actor A from "a.cal"
  input I: i32
  state s: i32 = 1
  action go
    input I: [x: i32]
    do
      s := s + x
  end
  schedule
    states ''
    initial ''
    in ''
      go
  end
end
"""


@pytest.mark.parametrize(
    ("old", "new", "line", "column", "message", "expected"),
    [
        ("s := s + x", "s := s + ", 7, 16, "unexpected end of the line", "expected an expression"),
        ("s := s + x", "s := s + y", 7, 16, "no rule gives the type of this", "write (... as TYPE)"),
        ("s := s + x", "s = s + x", 7, 9, "unexpected '='", "expected ':='"),
        (
            "s := s + x",
            's := "s',
            7,
            12,
            "unexpected character '\"'",
            "a string or quoted name ends on the line it begins on",
        ),
        ("s := s + x", "s := [1, 2]", 7, 12, "no rule gives the type of this", "write (... as TYPE)"),
        (
            "state s: i32",
            "state s: int",
            3,
            12,
            "unexpected 'int'",
            "expected a type (i32, u8, f32, bool, str, list<8 x i32>, ...)",
        ),
        ("input I: [x", "input J: [x", 5, 11, "'J' is declared never as an input", "expected one of: I"),
        ("      go\n", "      went\n", 13, 7, "'went' is declared never as an action", "expected one of: go"),
        ("  schedule\n", "  plan\n", 9, 3, "unexpected 'plan'", "expected 'schedule'"),
        ("end\nend\n", "end\n", 15, 1, "unexpected end of the text", "expected 'end'"),
        ("end\nend\n", "end\nend\nend", 16, 1, "unexpected 'end'", "expected the end of the text"),
    ],
)
def test_malformed_text_is_refused_with_its_place(
    old: str, new: str, line: int, column: int, message: str, expected: str
) -> None:
    head, found, tail = WHOLE.rpartition(old)
    assert found
    with pytest.raises(FormatError) as raised:
        read_actor(head + new + tail, "case.ir")
    (diagnostic,) = raised.value.diagnostics
    assert (diagnostic.message, diagnostic.expected) == (message, expected)
    assert (diagnostic.span.path, diagnostic.span.line, diagnostic.span.column) == ("case.ir", line, column)


@settings(max_examples=examples(40), deadline=None)
@given(st.data())
def test_no_foreign_exception_for_damaged_text(data: st.DataObject) -> None:
    text = print_explicit(RandomIr(data.draw(st.integers(0, 40))).explicit())
    begin = data.draw(st.integers(0, len(text)))
    end = min(len(text), begin + data.draw(st.integers(0, 12)))
    damaged = text[:begin] + data.draw(st.sampled_from(["", "(", "end", "\n", "5", "'", "@1:1-1:1", ":="])) + text[end:]
    try:
        read_explicit(damaged)
    except FormatError as error:
        place = error.diagnostics[0].span
        assert place.line > 0, place
