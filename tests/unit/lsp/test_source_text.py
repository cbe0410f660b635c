"""Places: our lines and columns, offsets, and what an editor counts."""

import pytest

from dse.base.source import Span
from dse.lsp.source_text import Encoding, Place, SourceText


@pytest.mark.parametrize(
    ("encoding", "character"),
    [("utf-8", 7), ("utf-16", 4), ("utf-32", 3)],
)
def test_an_editor_counts_units_of_its_encoding(encoding: Encoding, character: int) -> None:
    source = SourceText("a.cal", "x\né😀z", is_xml=False)
    offset = source.text.index("z")
    assert source.place(offset + 1, encoding) == Place(1, character)
    assert source.at(Place(1, character), encoding) == offset + 1
    assert source.at(Place(1, 99), encoding) == len(source.text)
    assert source.at(Place(99, 0), encoding) == len(source.text)


def test_half_of_a_character_is_its_start() -> None:
    source = SourceText("a.cal", "😀z", is_xml=False)
    assert source.at(Place(0, 1), "utf-16") == 0
    assert source.at(Place(0, 2), "utf-16") == 1


def test_lines_of_an_editor_are_not_always_ours() -> None:
    source = SourceText("a.cal", "a\rb\r\nc\nd", is_xml=False)
    d = source.text.index("d")
    assert source.line_and_column(d) == (3, 1)
    assert source.place(d, "utf-16") == Place(3, 0)
    assert source.at(Place(3, 0), "utf-16") == d
    assert source.at(Place(0, 9), "utf-16") == 1
    assert SourceText("a.xdf", source.text, is_xml=True).line_and_column(d) == (4, 1)


def test_a_byte_order_mark_is_before_column_1() -> None:
    source = SourceText("a.cal", "\ufeffactor", is_xml=False)
    assert source.range_of(Span("a.cal", 1, 1, 1, 6)) == (1, 6)
    assert source.line_and_column(1) == (1, 1)


@pytest.mark.parametrize("span", [(0, 0, 0, 0), (9, 1, 9, 2), (1, 99, 1, 120), (2, 2, 1, 1)])
def test_spans_outside_the_text_are_cut(span: tuple[int, int, int, int]) -> None:
    source = SourceText("a.cal", "ab\ncd", is_xml=False)
    start, end = source.range_of(Span("a.cal", *span))
    assert 0 <= start <= end <= len(source.text)


def test_the_word_at_a_place() -> None:
    source = SourceText("a.cal", "ab;\n", is_xml=False)
    assert [source.word_end(at) for at in (0, 2, 3, 4)] == [2, 3, 3, 4]
