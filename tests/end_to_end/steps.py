"""What a page asks its reader to do: files to write and commands to type, in order.

A fenced block that names a file behind its language (``cal first/Wave.cal``) is written to that file. A ``console``
block holds commands and what they print; words behind ``console`` say more:

* ``exit=N``: the commands of the block end with that exit code;
* ``measured``: it builds programs and measures, so numbers are not compared; it is run by ``make test-full`` alone.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass

_BLOCK = re.compile(r"^```(\w+) ?([^\n]*)\n(.*?)^```$", re.M | re.S)
_FILE = re.compile(r"[\w.-]+(?:/[\w.-]+)*\.\w+")


@dataclass(frozen=True, slots=True, kw_only=True)
class WrittenFile:
    """A file that the reader is asked to write."""

    path: str
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class QuotedCommand:
    """A command with the lines that the page shows of its output."""

    command: str
    output: tuple[str, ...]
    exit_code: int = 0
    measured: bool = False


def steps(text: str) -> Iterator[WrittenFile | QuotedCommand]:
    """Yield what a page asks its reader to do, in order."""
    for language, words, body in _BLOCK.findall(text):
        if language == "console":
            yield from quoted(body, words.split())
        elif _FILE.fullmatch(words):
            yield WrittenFile(path=words, text=body)


def quoted(body: str, words: list[str]) -> Iterator[QuotedCommand]:
    """Yield the commands of one ``console`` block."""
    codes = [int(word.removeprefix("exit=")) for word in words if word.startswith("exit=")]
    unknown = [word for word in words if word != "measured" and not word.startswith("exit=")]
    assert not unknown, f"a console block has words that mean nothing: {unknown}"
    parts = re.split(r"^\$ ", body, flags=re.M)
    assert not parts[0].strip(), f"output before the first command of a block: {parts[0]}"
    for part in parts[1:]:
        command, *output = part.splitlines()
        code = codes[0] if codes else 0
        yield QuotedCommand(command=command, output=tuple(output), exit_code=code, measured="measured" in words)
