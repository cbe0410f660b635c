"""The pages that tell a story are followed from beginning to end: see ``tests.end_to_end.stories``."""

import os
import re
import shlex
from pathlib import Path

import pytest

from dse.cli.main import build_parser
from dse.native.toolchain import Compiler
from tests.end_to_end.stories import QuotedCommand, WrittenFile, is_story, steps
from tests.end_to_end.test_documents import (
    DOCUMENTS,
    NEEDED_FOLDERS,
    fits,
    make_checkout,
    run_command,
)

STORIES = [document for document in DOCUMENTS if is_story(document)]


MEASURED = [document for document in STORIES if "```console measured" in document.read_text()]


@pytest.mark.parametrize("document", STORIES, ids=[d.name for d in STORIES])
def test_story(document: Path, tmp_path: Path) -> None:
    follow_all(document, tmp_path, measured=False)


@pytest.mark.slow
@pytest.mark.skipif("DSE_MEASURED_STORIES" not in os.environ, reason="DSE_MEASURED_STORIES=1 builds and measures them")
@pytest.mark.parametrize("document", MEASURED, ids=[d.name for d in MEASURED])
def test_story_with_measurements(document: Path, tmp_path: Path, native_compiler: Compiler) -> None:
    follow_all(document, tmp_path, measured=True)


def follow_all(document: Path, folder: Path, *, measured: bool) -> None:
    """Do what a page asks for in a folder; commands that measure are only looked at, unless ``measured``."""
    make_checkout(folder)
    for step in steps(document.read_text()):
        if isinstance(step, WrittenFile):
            file = folder / step.path
            assert Path(step.path).parts[0] not in NEEDED_FOLDERS, f"{document.name} writes {step.path}, a link"
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(step.text)
        elif measured or not step.measured:
            follow(document, step, folder)
        else:
            verb, *arguments = shlex.split(step.command)[1:]
            build_parser(verb).parse_args([verb, *arguments])


def follow(document: Path, step: QuotedCommand, folder: Path) -> None:
    """Run one command of a page and compare what it prints."""
    code, text = run_command(step.command, folder)
    assert code == step.exit_code, f"{document.name}: {step.command}\n{text}"
    real = iter(text.splitlines())
    for line in step.output:
        if line.strip() not in ("", "..."):
            assert any(fits(line, found, numbers=not step.measured) for found in real), (
                f"{document.name}: {step.command} does not print: {line}\n{text}"
            )


def test_the_tutorial_is_a_story() -> None:
    assert "tutorial.md" in [document.name for document in STORIES]


def test_only_stories_say_more_of_a_block() -> None:
    others = {document.name: document.read_text() for document in DOCUMENTS if document not in STORIES}
    assert [name for name, text in others.items() if re.search(r"^```console +\S", text, re.M)] == []
