"""The extension for VS Code: its files are JSON, its grammar knows the words of our lexer, what it names is there."""

import json
import re
import shutil
import subprocess
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from dse.base.diagnostics import Gatherer
from dse.cli.main import VERBS
from dse.frontend.cal.lexer import tokenize
from dse.frontend.cal.tokens import IDENTIFIER, INTEGER, REAL, RESERVED, SIGNS, STRING, TYPE_WORDS

ROOT = Path(__file__).parents[3]
FOLDER = ROOT / "editors/vscode"
GRAMMAR = json.loads((FOLDER / "syntaxes/cal.tmLanguage.json").read_text())
PACKAGE = json.loads((FOLDER / "package.json").read_text())
ALTERNATIVES = re.compile(r"\\b\(([A-Za-z|]+)\)\\b")
PUNCTUATION = set("()[],;:.@")
"""Signs that are not coloured."""


@pytest.mark.parametrize("path", sorted(FOLDER.glob("*.json")) + sorted(FOLDER.glob("syntaxes/*.json")), ids=str)
def test_each_file_is_json_and_its_patterns_are_patterns(path: Path) -> None:
    for pattern in patterns_in(json.loads(path.read_text())):
        re.compile(pattern)  # of the forms that both regular expressions of Python and Oniguruma have


def patterns_in(node: Any) -> Iterator[str]:
    """All regular expressions of a grammar or configuration."""
    if isinstance(node, list):
        for part in node:
            yield from patterns_in(part)
    elif isinstance(node, dict):
        for key, value in node.items():
            if key in ("match", "begin", "end") or key.endswith("Pattern"):
                yield value
            else:
                yield from patterns_in(value)


def words(part: str) -> set[str]:
    """The words that a part of the grammar lists."""
    found = [ALTERNATIVES.search(p["match"]) for p in GRAMMAR["repository"][part]["patterns"]]
    return {word for match in found if match for word in match[1].split("|")}


def test_the_words_of_the_grammar_are_those_of_the_lexer() -> None:
    listed = [words(part) for part in ("control", "words", "types", "constants")]
    assert set().union(*listed) == RESERVED
    assert sum(map(len, listed)) == len(RESERVED)
    assert words("types") == TYPE_WORDS


def test_the_signs_of_the_grammar_are_those_of_the_lexer() -> None:
    (operators,) = GRAMMAR["repository"]["operators"]["patterns"]
    assert [sign for sign in SIGNS if not re.fullmatch(operators["match"], sign)] == [
        sign for sign in SIGNS if sign in PUNCTUATION
    ]


@pytest.mark.parametrize("path", sorted((ROOT / "actors").rglob("*.cal")), ids=lambda path: path.name)
def test_the_grammar_cuts_our_files_as_the_lexer_does(path: Path) -> None:
    text = path.read_text()
    tokens = tokenize(str(path), text, Gatherer())
    lines = text.split("\n")
    for kind, token, line, column in zip(tokens.kinds, tokens.texts, tokens.lines, tokens.columns, strict=True):
        part = {INTEGER: "numbers", REAL: "numbers", STRING: "strings"}.get(kind, "" if kind != IDENTIFIER else "name")
        if part == "name":
            assert not any(starts(p, lines, line, column, token) for p in ("words", "control", "types", "numbers"))
        elif part:
            assert starts(part, lines, line, column, token), f"{path}:{line}:{column} {token}"


def starts(part: str, lines: list[str], line: int, column: int, token: str) -> bool:
    """Whether a pattern of a part of the grammar begins at a token, and takes all of it where it is no string."""
    for pattern in GRAMMAR["repository"][part]["patterns"]:
        found = re.compile(pattern.get("match") or pattern["begin"]).match(lines[line - 1], column - 1)
        if found is not None and ("begin" in pattern or found.end() == column - 1 + len(token)):
            return True
    return False


def test_a_range_is_no_number() -> None:
    for text in ("1..2", "1.5e3", "0x1F", "12", ".5", "2."):
        kinds = tokenize("", text, Gatherer())
        assert starts("numbers", [text], 1, 1, kinds.texts[0]), text
    assert not starts("numbers", ["1..2"], 1, 1, "1.")


def test_the_package_names_what_is_there() -> None:
    contributed = PACKAGE["contributes"]
    named = [PACKAGE["main"], *(one["configuration"] for one in contributed["languages"])]
    named += [grammar["path"] for grammar in contributed["grammars"]]
    assert [path for path in named if not (FOLDER / path).is_file()] == []
    assert {language["id"] for language in contributed["languages"]} == {g["language"] for g in contributed["grammars"]}
    for grammar in contributed["grammars"]:
        assert json.loads((FOLDER / grammar["path"]).read_text())["scopeName"] == grammar["scopeName"]
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    assert PACKAGE["license"] == project["license"]["text"]


def test_the_client_starts_our_verb_with_the_settings_that_there_are() -> None:
    settings = PACKAGE["contributes"]["configuration"]["properties"]
    command = settings["dse.command"]["default"]
    assert command[0] == "dse"
    assert command[1] in VERBS
    client = (FOLDER / "extension.js").read_text()
    assert {f"dse.{name}" for name in re.findall(r'settings\.get\("(\w+)"\)', client)} == set(settings)


@pytest.mark.skipif(shutil.which("node") is None, reason="there is no node to read JavaScript")
def test_the_client_is_javascript() -> None:
    subprocess.run(["node", "--check", str(FOLDER / "extension.js")], check=True)
