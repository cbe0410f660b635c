"""Excerpts of source lines below a message."""

from pathlib import Path

import pytest

from dse.base.diagnostics import render
from dse.base.errors import Diagnostic
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
