"""What shells complete: bash is asked; the scripts of the others are looked at, and run where the shell is there."""

import shutil
import subprocess
from pathlib import Path

import pytest

from dse.cli.main import VERBS, main

ASKED = (
    ("",),
    ("ex",),
    ("run", "--exec"),
    ("run", "x.xdf", "--execution", ""),
    ("--quiet", "explore", "--transfers", "p"),
    ("example", "j"),
    ("gpu", ""),
    ("gpu", "choose", "--dev"),
    ("run", "x"),
    ("completion", "z"),
)
ANSWERS = (
    " ".join(VERBS),
    "example explore",
    "--execution",
    "auto native python",
    "parallel",
    "jpeg",
    "predict choose",
    "--device --devices",
    "",
    "zsh",
)


def script(shell: str, capsys: pytest.CaptureFixture[str]) -> str:
    assert main(["completion", shell]) == 0
    return capsys.readouterr().out


@pytest.mark.skipif(shutil.which("bash") is None, reason="there is no bash")
def test_bash_completes_verbs_options_and_values(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    lines = [script("bash", capsys)]
    for words in ASKED:
        quoted = " ".join(f"'{word}'" for word in words)
        lines.append(f'COMP_WORDS=(dse {quoted}); COMP_CWORD={len(words)}; _dse; echo "${{COMPREPLY[*]}}"')
    (tmp_path / "asked.sh").write_text("\n".join(lines))
    found = subprocess.run(["bash", "--norc", tmp_path / "asked.sh"], capture_output=True, text=True, check=True)
    assert found.stderr == ""
    assert dict(zip(ASKED, found.stdout.splitlines(), strict=True)) == dict(zip(ASKED, ANSWERS, strict=True))


@pytest.mark.parametrize("shell", ["zsh", "fish"])
def test_the_other_shells_read_their_scripts(shell: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    text = script(shell, capsys)
    assert all(verb in text for verb in VERBS)
    assert "'auto native python'" in text
    if shutil.which(shell) is None:
        pytest.skip(f"there is no {shell} to read it")
    (tmp_path / "script").write_text(text)
    subprocess.run([shell, "-n", tmp_path / "script"], check=True)
