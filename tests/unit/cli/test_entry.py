"""The command itself: an interrupt at any time is no traceback."""

import builtins
import signal
import sys
from collections.abc import Iterator
from typing import Any

import pytest

from dse.__main__ import main


@pytest.fixture(autouse=True)
def _handler() -> Iterator[None]:
    former = signal.getsignal(signal.SIGINT)
    yield
    signal.signal(signal.SIGINT, former)


def test_the_command_runs_the_command_line(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "argv", ["dse", "no-such-verb"])
    with pytest.raises(SystemExit) as left:
        main()
    assert left.value.code == 2


def test_an_interrupt_of_the_imports_is_no_traceback(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    load = builtins.__import__

    def interrupted(name: str, *rest: Any, **named: Any) -> Any:
        if name == "dse.cli.main":
            raise KeyboardInterrupt
        return load(name, *rest, **named)

    monkeypatch.setattr(builtins, "__import__", interrupted)
    assert main() == 130
    assert capsys.readouterr().err == "interrupted; everything reported so far is kept\n"
