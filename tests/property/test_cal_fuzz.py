"""Whatever the text, parsing gives a tree or diagnostics with places inside the text, and raises nothing."""

from pathlib import Path

from hypothesis import given, settings
from hypothesis import strategies as st

from dse.base.diagnostics import Gatherer, read_source
from dse.frontend.cal.parser import parse_cal
from dse.frontend.cal.tokens import RESERVED, SIGNS
from tests.examples import examples
from tests.unit.frontend.cal_printer import print_cal
from tests.unit.frontend.syntax_support import parse_clean, without_spans

ACTORS = [read_source(str(f)) for f in sorted((Path(__file__).parents[2] / "actors").rglob("*.cal"))]
WORDS = [
    *sorted(RESERVED),
    *SIGNS,
    "a",
    "b",
    "X",
    "0",
    "17",
    "0x1F",
    "1.5",
    '"s"',
    "'",
    '"',
    "/*",
    "//",
    "\n",
    "\0",
    "é",
    "9" * 5000,
]


def check(text: str) -> None:
    """Parse anything: errors lie in the text and in its order, and a tree without errors can be printed and parsed."""
    gather = Gatherer()
    tree = parse_cal("a.cal", text, gather)
    lines = text.split("\n")
    for diagnostic in gather.diagnostics:
        span = diagnostic.span
        assert diagnostic.message
        assert 1 <= span.line <= span.end_line <= len(lines)
        assert 1 <= span.column <= len(lines[span.line - 1]) + 1
        assert (span.line, span.column) <= (span.end_line, span.end_column)
    places = [(d.span.line, d.span.column) for d in gather.diagnostics]
    assert places == sorted(places)
    assert tree is not None or gather.errors
    if tree is not None and not gather.errors:
        assert without_spans(parse_clean(print_cal(tree))) == without_spans(tree)


@settings(max_examples=examples(200), deadline=None)
@given(st.text(max_size=80))
def test_any_text(text: str) -> None:
    check(text)
    check(f"actor A() ==> :\n{text}\nend")


@settings(max_examples=examples(300), deadline=None)
@given(st.lists(st.sampled_from(WORDS), max_size=40).map(" ".join))
def test_any_sequence_of_tokens(text: str) -> None:
    check(text)
    check(f"actor A() ==> : action ==> do {text} end end")
    check(f"actor A() ==> : int x := {text}; {text} end")


@st.composite
def damaged(draw: st.DrawFn) -> str:
    """A real actor with pieces cut out, doubled, swapped for something else, or its end cut off."""
    text = draw(st.sampled_from(ACTORS))
    for _ in range(draw(st.integers(1, 4))):
        start = draw(st.integers(0, len(text)))
        end = min(len(text), start + draw(st.sampled_from([0, 1, 2, 5, 20, 200])))
        piece = draw(st.sampled_from(["", *WORDS, text[start:end] * 2]))
        text = text[:start] + f"{piece}" + text[end:]
    return text[: draw(st.integers(0, len(text)))] if draw(st.booleans()) else text


@settings(max_examples=examples(200), deadline=None)
@given(damaged())
def test_damaged_actors(text: str) -> None:
    check(text)


@settings(max_examples=examples(60), deadline=None)
@given(
    st.lists(
        st.sampled_from(["(", "[", "f(", "a[", "if a then ", "not (", "-(", "1 + ", "[1 : for int i in "]),
        min_size=1,
        max_size=4,
    ),
    st.integers(50, 2000),
)
def test_deep_nesting(parts: list[str], count: int) -> None:
    check("actor A() ==> : int x := " + "".join(parts) * count)
    check("actor A() ==> : action ==> do x := " + "".join(parts) * count + " end end")
