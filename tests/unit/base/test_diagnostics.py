"""Excerpts of source lines below a message."""

from pathlib import Path

import pytest

from dse.base.diagnostics import render, render_all
from dse.base.errors import Diagnostic, DseError, SourceError
from dse.base.source import Span


def excerpt(path: Path, text: str, column: int, width: int) -> tuple[str, str]:
    path.write_text(text)
    span = Span(str(path), 1, column, 1, column + width)
    _, line, carets = render(Diagnostic(message="m", span=span)).split("\n")
    return line, carets


def test_the_caret_stands_below_the_place(tmp_path: Path) -> None:
    assert excerpt(tmp_path / "f", "\tab := cd;", 8, 2) == ("    \tab := cd;", "    \t      ^^")


@pytest.mark.parametrize("column", [1, 30, 5000, 99_990, 100_000])
def test_a_long_line_is_cut_around_the_place(tmp_path: Path, column: int) -> None:
    text = "x" * (column - 1) + "HERE" + "x" * (100_000 - column)
    line, carets = excerpt(tmp_path / "f", text, column, 4)
    assert len(line) < 260
    assert line[carets.index("^") :].startswith("HERE")
    assert carets.strip() == "^^^^"
    assert line.strip().startswith("...") == (column > 100)
    assert line.endswith("...") == (column < 99_000)


def test_a_mark_longer_than_the_window_is_cut(tmp_path: Path) -> None:
    line, carets = excerpt(tmp_path / "f", "x" * 1000, 10, 900)
    assert len(carets) <= len(line)


def at(path: str, *lines: int, message: str = "class 'a.B' not found") -> list[Diagnostic]:
    return [Diagnostic(message=message, span=Span(path, n, 1, n, 2), expected="look") for n in lines]


def test_what_a_file_has_often_is_told_once_with_its_lines() -> None:
    texts = render_all([*at("f", *range(2, 21)), *at("g", 3), *at("f", 9, message="other")])
    assert texts == [
        "f:2:1: error: class 'a.B' not found\n  = look\n"
        "  = the same 18 times more, in lines 3, 4, 5, 6, 7, 8, 9, 10 and 10 more",
        "g:3:1: error: class 'a.B' not found\n  = look",
        "f:9:1: error: other\n  = look",
    ]
    assert render_all(at("f", 5, *[7] * 6))[0].endswith("the same 6 times more, in line 7")


def test_what_a_file_has_a_few_times_is_told_each_time() -> None:
    assert render_all(at("f", *range(5))) == [render(one) for one in at("f", *range(5))]


def test_a_warning_that_comes_first_is_no_reason() -> None:
    warning, error = Diagnostic(message="not connected", severity="warning"), Diagnostic(message="not found")
    found = SourceError([warning, error, Diagnostic(message="not read")])
    assert found.first_error is error
    assert (found.args, str(found).split("\n")[0]) == (("not found",), "warning: not connected")
    assert DseError("alone", expected="do").first_error == Diagnostic(message="alone", expected="do")
