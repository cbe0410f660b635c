"""What shells complete: each that is there is asked, zsh on a terminal; the scripts of the others are looked at."""

import os
import pty
import re
import select
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
    "predict choose sweep calibrate breakdown link scaling devices train judge",
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
def test_the_other_scripts_have_all_verbs(shell: str, capsys: pytest.CaptureFixture[str]) -> None:
    text = script(shell, capsys)
    assert all(verb in text for verb in VERBS)
    assert "'auto native python'" in text


@pytest.mark.skipif(shutil.which("fish") is None, reason="there is no fish")
def test_fish_completes_verbs_options_and_values(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "dse.fish").write_text(script("fish", capsys))
    (tmp_path / "zz").touch()
    asked = [*ASKED, ("run", "z"), ("gpu", "predict", "z")]
    lines = [f"complete -C 'dse {' '.join(words)}'; echo ==" for words in asked]
    command = ["fish", "--no-config", "-c", "\n".join(["source dse.fish", *lines])]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=True)
    assert done.stderr == ""
    found = [{line.split("\t")[0] for line in block.splitlines()} for block in done.stdout.split("==\n")]
    wanted = [set(answer.split()) for answer in (*ANSWERS, "zz", "zz")]
    for words, there, answer in zip(asked, found, wanted, strict=False):
        assert there - {"dse.fish", "zz"} == answer - {"zz"}, words
        assert ("zz" in there) == ("zz" in answer or words == ("gpu", "")), words


@pytest.mark.skipif(shutil.which("zsh") is None, reason="there is no zsh")
def test_zsh_completes_on_a_terminal(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "dse.zsh").write_text(script("zsh", capsys))
    (tmp_path / "zz").touch()
    child, terminal = pty.fork()
    if child == 0:  # the shell; nothing of the test goes on in it
        os.chdir(tmp_path)
        os.environ.update(TERM="dumb", PS1="% ")
        os.execvp("zsh", ["zsh", "-f", "-i"])
    try:
        typed(terminal, "autoload -U compinit && compinit -u -D; source ./dse.zsh; echo be''gin\n", "begin")
        for line, answer in (
            ("dse exp", "explore"),
            ("dse run --exec", "--execution"),
            ("dse run x --execution p", "python"),
            ("dse example j", "jpeg"),
            ("dse run z", "zz"),
        ):
            typed(terminal, f"{line}\t", f"{line.rpartition(' ')[0]} {answer}")
            os.write(terminal, b"\x15")  # the line is empty again
    finally:
        os.close(terminal)
        os.waitpid(child, 0)


def typed(terminal: int, text: str, answer: str) -> None:
    """Type something; wait until the terminal shows the answer."""
    os.write(terminal, text.encode())
    shown = ""
    while answer not in re.sub(r"\x1b\[[0-9;?]*[A-Za-z]|.\x08|[\x07\r]", "", shown):
        assert select.select([terminal], [], [], 20)[0], shown
        shown += os.read(terminal, 4096).decode(errors="replace")
