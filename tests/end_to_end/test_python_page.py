"""The code of docs/python.md runs from top to bottom in one go, and what it shows is what there is.

``python`` blocks are run, ``pycon`` blocks are doctests in which ``...`` stands for what varies.
"""

import doctest
import re
from pathlib import Path
from typing import Any

import pytest

import dse
from tests.end_to_end.test_documents import ROOT, make_checkout

PAGE = ROOT / "docs" / "python.md"
BLOCKS = re.findall(r"^```(python|pycon)\n(.*?)^```", PAGE.read_text(), re.M | re.S)
FLAGS = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE


def test_the_page(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    make_checkout(tmp_path)
    monkeypatch.chdir(tmp_path)
    names: dict[str, Any] = {}
    for number, (language, code) in enumerate(BLOCKS):
        if language == "python":
            exec(compile(code, f"{PAGE.name}, block {number}", "exec"), names)
            continue
        found: list[str] = []
        test = doctest.DocTestParser().get_doctest(code, names, f"block {number}", str(PAGE), 0)
        doctest.DocTestRunner(optionflags=FLAGS).run(test, out=found.append, clear_globs=False)
        assert not found, "".join(found)
        names |= test.globs
    assert (tmp_path / "three.svg").is_file()


def test_ten_lines_do() -> None:
    language, code = BLOCKS[0]
    assert language == "python"
    assert len([line for line in code.splitlines() if line.strip()]) <= 10
    assert all(word in code for word in ("dse.load", "compare", "plot"))


def test_names_of_the_page_are_in_dse() -> None:
    quoted = set(re.findall(r"`dse\.(\w+)`", PAGE.read_text())) | set(re.findall(r"`(\w+Error)`", PAGE.read_text()))
    assert quoted <= set(dse.__all__)
    assert len(quoted) > 8
