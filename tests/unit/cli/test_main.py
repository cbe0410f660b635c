"""The command line itself: verbs and what is said of a wrong one."""

import subprocess
import sys
from pathlib import Path

import pytest

from dse.cli.main import VERBS, main


@pytest.mark.parametrize(
    ("typed", "said"), [("chekc", "did you mean 'check'?"), ("zzz", "choose from example, new, check")]
)
def test_a_wrong_verb_is_answered_with_the_nearest_one(
    typed: str, said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as leaving:
        main([typed, "some.xdf"])
    assert leaving.value.code == 2
    assert said in capsys.readouterr().err


def test_an_interrupt_is_no_traceback_even_while_modules_are_imported(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def interrupted(verb: str | None) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("dse.cli.main.build_parser", interrupted)
    assert main(["check", "some.xdf"]) == 130
    assert "interrupted" in capsys.readouterr().err


def test_every_verb_says_how_it_is_used(capsys: pytest.CaptureFixture[str]) -> None:
    for verb in VERBS:
        with pytest.raises(SystemExit) as leaving:
            main([verb, "--help"])
        assert leaving.value.code == 0
        assert "example" in capsys.readouterr().out


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="this system has no /dev/full")
def test_a_full_disk_is_no_traceback() -> None:
    network = Path(__file__).resolve().parents[3] / "actors" / "pingpong" / "pingpong.xdf"
    with Path("/dev/full").open("w") as full:
        command = [sys.executable, "-m", "dse.cli.main", "check", str(network)]
        run = subprocess.run(command, stdout=full, stderr=subprocess.PIPE, text=True, check=False)
    assert run.returncode == 1
    assert run.stderr.startswith("error: standard output: No space left on device\n")
    assert "Traceback" not in run.stderr
    assert "Exception ignored" not in run.stderr
