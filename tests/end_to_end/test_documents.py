"""Every command quoted in the documents is run, and what the documents print is what the commands print.

A quoted command is a line ``$ command`` in a fenced ``console`` block. Lines below it, up to the next command, are its
output: they must appear in the real output, in order, with numbers of seconds masked; ``...`` stands for what is left
out, lines or, inside of a line, characters. Of a command that measures the machine all numbers are masked, and nothing
is compared where there is no compiler to measure with. Pages whose commands build on each other are tested as a whole,
see ``stories``.
"""

import contextlib
import io
import os
import re
import shlex
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from dse.base.errors import BuildError
from dse.cli.main import main
from dse.native.toolchain import find_compiler
from tests.end_to_end.stories import is_story

ROOT = Path(__file__).resolve().parents[2]
DOCUMENTS = [ROOT / n for n in ("README.md", "ARCHITECTURE.md", "CONTRIBUTING.md", "CHANGELOG.md")]
DOCUMENTS += sorted((ROOT / "docs").glob("*.md")) + sorted((ROOT / "actors").glob("*/README.md"))
NEEDED_FOLDERS = ("actors", "configs", "weights", "tests", "benchmarks", "docs", "dse")
NUMBERS = re.compile(r"\d[\d.,]*( [pnum]?s\b)?|#")
TIMES = re.compile(r"\d+(\.\d+)? ?(s|ms|seconds)\b|\d+(\.\d+)? ?[kM]?firings/s|\d+(\.\d+)? evaluations/s")


def quoted_commands() -> Iterator[tuple[str, str, list[str]]]:
    """(document, command, expected output lines) in document order."""
    for document in DOCUMENTS:
        if is_story(document):
            continue
        for block in re.findall(r"^```console\n(.*?)^```", document.read_text(), re.M | re.S):
            command, output = "", list[str]()
            for line in block.splitlines():
                if line.startswith("$ "):
                    if command:
                        yield document.relative_to(ROOT).as_posix(), command, output
                    command, output = line[2:], []
                else:
                    output.append(line)
            if command:
                yield document.relative_to(ROOT).as_posix(), command, output


COMMANDS = list(quoted_commands())


@pytest.fixture(scope="module")
def checkout(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder that looks like a checkout, in which commands may write."""
    return make_checkout(tmp_path_factory.mktemp("checkout"))


def make_checkout(folder: Path) -> Path:
    """Link what a checkout has into a folder."""
    for name in NEEDED_FOLDERS:
        if (ROOT / name).exists():
            (folder / name).symlink_to(ROOT / name)
    for name in ("Makefile", "pyproject.toml"):
        (folder / name).symlink_to(ROOT / name)
    return folder


def run_dse(argv: list[str], folder: Path) -> tuple[int, str]:
    """Run the command line in this process with ``folder`` as working directory; exit code and all output."""
    text = io.StringIO()
    before = Path.cwd()
    os.chdir(folder)
    try:
        with contextlib.redirect_stdout(text), contextlib.redirect_stderr(text):
            try:
                code = main(argv)
            except SystemExit as stop:
                code = int(stop.code or 0)
    finally:
        os.chdir(before)
    return code, text.getvalue()


def dry_run(targets: list[str]) -> subprocess.CompletedProcess[str]:
    """What make would do. These tests themselves run under make, which hands its state to every make below it."""
    environment = {name: value for name, value in os.environ.items() if not name.startswith(("MAKE", "MFLAGS"))}
    command = ["make", "--no-print-directory", "-n", *targets]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False, env=environment)


def run_command(command: str, folder: Path) -> tuple[int, str]:
    words = shlex.split(command)
    if words[:2] == ["make", "explore"]:
        words = shlex.split(dry_run(words[1:]).stdout.strip().splitlines()[-1])
        assert words[0].endswith("/dse")
        return run_dse(words[1:], folder)
    if words[0] == "make":
        return dry_run(words[1:]).returncode, ""
    if words[0] == "dse":
        return run_dse(words[1:], folder)
    if words[0] in (".venv/bin/pytest", "pytest"):
        assert all((ROOT / w).exists() for w in words[1:] if not w.startswith("-"))
        return 0, ""
    if words[0] in (".venv/bin/python", "python"):
        assert (ROOT / words[1]).exists()
        return 0, ""
    if words[:2] == ["git", "clone"] or words[0] == "cd" or command == "pip install .":
        return 0, ""  # the clone is where this test runs; installation is tested by test_install.py
    raise AssertionError(f"the documents quote a command that no test knows how to run: {command}")


def fits(quoted: str, found: str, *, numbers: bool) -> bool:
    """Whether a masked line is what a document quotes; ``...`` in the quotation fits anything. Without ``numbers``."""
    quoted, found = (masked(line) if numbers else NUMBERS.sub("#", masked(line)) for line in (quoted, found))
    return re.fullmatch(".*".join(map(re.escape, quoted.split("..."))), found) is not None


def measures(command: str) -> bool:
    """Whether the output of a command depends on what is measured."""
    return command.startswith("make explore") or " --measure " in command


def compiler_is_there() -> bool:
    """Whether this machine can measure."""
    try:
        find_compiler()
    except BuildError:
        return False
    return True


def masked(line: str) -> str:
    """``line`` without what changes from run to run: times, and the padding they cause."""
    return re.sub(r"\s+", " ", TIMES.sub("#", line)).strip()


@pytest.mark.parametrize(("document", "command", "output"), COMMANDS, ids=[f"{d}: {c}"[:70] for d, c, _ in COMMANDS])
def test_quoted_command(document: str, command: str, output: list[str], checkout: Path) -> None:
    code, text = run_command(command, checkout)
    assert code == 0, f"{document}: {command}\n{text}"
    if measures(command) and not compiler_is_there():
        pytest.skip("the command ran, but there is no compiler to measure with, so its output is another one")
    real = iter(text.splitlines())
    for line in output:
        if line.strip() in ("", "...") or command.startswith(("make test", "make lint")):
            continue
        assert any(fits(line, found, numbers=not measures(command)) for found in real), (
            f"{document}: {command} does not print: {line}\n{text}"
        )


def test_the_two_commands_are_quoted() -> None:
    commands = [c for d, c, _ in COMMANDS if d == "README.md"]
    assert "make explore" in commands
    assert "make test" in commands


def test_quoted_paths_exist() -> None:
    quoted = re.compile(r"`((?:dse|actors|configs|weights|tests|benchmarks|docs)/[\w./-]+)`")
    missing = [
        f"{document.name}: {path}"
        for document in DOCUMENTS
        for path in quoted.findall(document.read_text())
        if not (ROOT / path).exists()
    ]
    assert missing == []


def test_no_private_words() -> None:
    """No path of a build machine and no registry host in what is published."""
    words = re.compile("/" + "work/|/" + "tmp/corpora|pypi" + r"\.org|regi" + "stry\\.npm")
    listing = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=False)
    found = []
    for name in listing.stdout.split("\n"):
        path = ROOT / name
        if name and path.is_file() and path.stat().st_size < 1_000_000:
            with contextlib.suppress(UnicodeDecodeError):
                found += [name for line in path.read_text().splitlines() if words.search(line)]
    assert sorted(set(found)) == []
