"""Every command quoted in the documents is run, and what the documents print is what the commands print.

A quoted command is a line ``$ command`` in a fenced ``console`` block. Lines below it, up to the next command, are its
output: they must appear in the real output, in order, with numbers of seconds masked; ``...`` stands for what is left
out, lines or, inside of a line, characters. Of a command that measures the machine all numbers are masked, and nothing
is compared where there is no compiler to measure with. Words behind ``console``, and files that a page asks its reader
to write: see ``steps``. A page is followed from its beginning to its end, in a folder of its own.
"""

import contextlib
import io
import os
import re
import shlex
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from dse.base.cores import usable_cores
from dse.base.errors import BuildError
from dse.cli.main import build_parser, main
from dse.native.toolchain import Compiler, find_compiler
from tests.end_to_end.steps import QuotedCommand, WrittenFile, steps

ROOT = Path(__file__).resolve().parents[2]
DOCUMENTS = [ROOT / n for n in ("README.md", "ARCHITECTURE.md", "CONTRIBUTING.md", "CHANGELOG.md")]
DOCUMENTS += sorted((ROOT / "docs").glob("*.md")) + sorted((ROOT / "actors").glob("*/README.md"))
NEEDED_FOLDERS = ("actors", "configs", "weights", "tests", "benchmarks", "docs", "dse")
NUMBERS = re.compile(r"\d[\d.,]*( [pnum]?s\b)?|#")
TIMES = re.compile(r"\d+(\.\d+)? ?(s|ms|seconds)\b|\d+(\.\d+)? ?[kM]?firings/s|\d+(\.\d+)? evaluations/s")


STEPS = {document: tuple(steps(document.read_text())) for document in DOCUMENTS}
FOLLOWED = [document for document in DOCUMENTS if STEPS[document]]
MEASURED = [d for d in DOCUMENTS if any(isinstance(step, QuotedCommand) and step.measured for step in STEPS[d])]


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


def run_server(argv: list[str], folder: Path) -> tuple[int, str]:
    """Start a server, interrupt it when it says where it is, and return as ``run_dse``."""
    command = [sys.executable, "-m", "dse", *argv]
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.STDOUT}
    with subprocess.Popen(command, cwd=folder, text=True, **pipes) as process:  # type: ignore[call-overload]
        lines = []
        for line in process.stdout:
            lines.append(line)
            if line.startswith("Ctrl-C"):
                process.send_signal(signal.SIGINT)
    return process.returncode, "".join(lines)


def run_command(command: str, folder: Path) -> tuple[int, str]:
    words = shlex.split(command)
    if words[:2] == ["make", "explore"]:
        words = shlex.split(dry_run(words[1:]).stdout.strip().splitlines()[-1])
        assert words[0].endswith("/dse")
        return run_dse(words[1:], folder)
    if words[0] == "make":
        return dry_run(words[1:]).returncode, ""
    if words[:2] == ["dse", "studio"] and "--help" not in words:
        return run_server(words[1:], folder)
    if words[0] == "dse":
        return run_dse(words[1:], folder)
    if words[0] in (".venv/bin/pytest", "pytest"):
        assert all((ROOT / w).exists() for w in words[1:] if not w.startswith("-"))
        return 0, ""
    if words[0] in (".venv/bin/python", "python"):
        assert (ROOT / words[1]).exists()
        return 0, ""
    if words[:2] == ["git", "apply"]:
        applied = subprocess.run(words, cwd=folder, capture_output=True, text=True, check=False)
        return applied.returncode, applied.stdout + applied.stderr
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


def can_measure() -> bool:
    """Whether this machine can measure: with a compiler, on two cores."""
    if len(usable_cores()) < 2:
        return False
    try:
        find_compiler()
    except BuildError:
        return False
    return True


def masked(line: str) -> str:
    """``line`` without what changes from run to run: times, and the padding they cause."""
    return re.sub(r"\s+", " ", TIMES.sub("#", line)).strip()


def name_of(document: Path) -> str:
    return document.relative_to(ROOT).as_posix()


@pytest.mark.parametrize("document", FOLLOWED, ids=map(name_of, FOLLOWED))
def test_document(document: Path, tmp_path: Path, request: pytest.FixtureRequest) -> None:
    if can_measure() and any(isinstance(s, QuotedCommand) and measures(s.command) for s in STEPS[document]):
        request.getfixturevalue("native_compiler")  # what all native programs share is compiled already
    follow_all(document, tmp_path, measured=False)


@pytest.mark.slow
@pytest.mark.skipif("DSE_MEASURED_PAGES" not in os.environ, reason="DSE_MEASURED_PAGES=1 builds and measures")
@pytest.mark.skipif(len(usable_cores()) < 2, reason="measuring needs two cores")
@pytest.mark.parametrize("document", MEASURED, ids=map(name_of, MEASURED))
def test_document_with_measurements(document: Path, tmp_path: Path, native_compiler: Compiler) -> None:
    follow_all(document, tmp_path, measured=True)


def follow_all(document: Path, folder: Path, *, measured: bool) -> None:
    """Do what a page asks for, in order; commands of ``measured`` blocks are only looked at, unless it is asked."""
    make_checkout(folder)
    for step in STEPS[document]:
        if isinstance(step, WrittenFile):
            write(document, step, folder)
        elif measured or not step.measured:
            follow(document, step, folder)
        else:
            verb, *arguments = shlex.split(step.command)[1:]
            build_parser(verb).parse_args([verb, *arguments])


def write(document: Path, file: WrittenFile, folder: Path) -> None:
    """Write a file of a page."""
    assert Path(file.path).parts[0] not in NEEDED_FOLDERS, f"{document.name} writes {file.path}, a link"
    path = folder / file.path
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(file.text)


def follow(document: Path, step: QuotedCommand, folder: Path) -> None:
    """Run one command of a page and compare what it prints."""
    code, text = run_command(step.command, folder)
    assert code == step.exit_code, f"{document.name}: {step.command}\n{text}"
    varies = step.measured or measures(step.command)
    if step.command.startswith(("make test", "make lint")) or (varies and not can_measure()):
        return  # it was not run, or the machine cannot measure and its output is another one
    real = iter(text.splitlines())
    for line in step.output:
        assert line.strip() in ("", "...") or any(fits(line, found, numbers=not varies) for found in real), (
            f"{document.name}: {step.command} does not print: {line}\n{text}"
        )


def test_the_two_commands_are_quoted() -> None:
    commands = [step.command for step in STEPS[ROOT / "README.md"] if isinstance(step, QuotedCommand)]
    assert "make explore" in commands
    assert "make test" in commands


def test_the_tutorial_writes_and_measures() -> None:
    tutorial = STEPS[ROOT / "docs" / "tutorial.md"]
    assert [step.path for step in tutorial if isinstance(step, WrittenFile)][3] == "first/first.xdf"
    assert any(step.measured for step in tutorial if isinstance(step, QuotedCommand))


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


def test_the_changelog_has_one_line_for_each_thing() -> None:
    lines = (ROOT / "CHANGELOG.md").read_text().split("\n## ", 1)[1].splitlines()[1:]
    assert [line for line in lines if line and not line.startswith(("- ", "#"))] == []
    assert [line for line in lines if len(line) > 130] == []
