"""``dse lsp`` where there is no editor, or no extra."""

import io
import sys

import pytest

from dse.cli.main import main


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_a_terminal_is_no_editor(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr(sys, "stdin", Terminal())
    assert main(["lsp"]) == 2
    assert "speaks with an editor, not with a terminal" in capsys.readouterr().err


def test_the_extra_is_named_where_it_is_missing(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "stdin", io.StringIO())
    monkeypatch.setitem(sys.modules, "pygls.lsp.server", None)
    assert main(["lsp", "--stdio"]) == 2
    assert "pip install 'dse[lsp]'" in capsys.readouterr().err
