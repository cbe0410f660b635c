"""Passes over text: each case is an actor as text, and what a pass makes of it, as text.

A case is a file ``PASS/NAME.ir``::

    // pass: NAME OPTION...
    // input: cal            (only if the actor is written in CAL; it is lowered first)
    actor ...
    // ----
    actor ...

The verifier runs on what goes in and on what comes out. With ``DSE_ACCEPT=1`` in the environment the test writes what
came out to the file; read it then as if somebody else had written it.
"""

import os
import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias

import pytest

from dse.program.explicit import ExplicitActor
from dse.program.ir import Actor
from dse.program.text.printer import print_actor, print_explicit
from dse.program.text.reader import read_actor, read_explicit
from dse.program.verify.actors import verify
from dse.program.verify.explicit import DeclaredRanges, RangesOf, verify_explicit
from dse.program.verify.findings import assert_none
from tests.unit.frontend.lowering_support import actor_of

FOLDER = Path(__file__).parent
CASES = sorted(FOLDER.glob("*/*.ir"))
DIVIDER = "// ----\n"
RANGES: RangesOf = DeclaredRanges()
"""What the verifier of explicit actors knows of values; what it does not know must be converted and checked."""

Tree: TypeAlias = Actor | ExplicitActor
Options: TypeAlias = tuple[str, ...]
Pass: TypeAlias = Callable[[Tree, Options], Tree | str]
"""A pass gives an actor, or, if it only reads, a text of what it found."""


def identity(tree: Tree, _options: Options) -> Tree:
    """Nothing happens: what comes out shows the text form."""
    return tree


PASSES: dict[str, Pass] = {
    "identity": identity,
}


@dataclass(frozen=True, slots=True)
class Case:
    """A file taken apart. ``head``: its first lines, the pass and the kind of input."""

    head: str
    name: str
    options: Options
    is_cal: bool
    text: str
    expected: str


def read_case(path: Path) -> Case:
    match = re.fullmatch(r"(// pass: ([^\n]+)\n(// input: (cal)\n)?)(.*)", path.read_text(), re.S)
    assert match is not None, f"{path} does not begin with '// pass: NAME'"
    text, _, expected = match[5].partition(DIVIDER)
    name, *options = match[2].split()
    return Case(match[1], name, tuple(options), match[4] is not None, text, expected)


def input_of(case: Case, file: str) -> Tree:
    """Return the actor of a case, with places of the file for errors."""
    if case.is_cal:
        return actor_of(case.text)
    text = "\n" * case.head.count("\n") + case.text
    first = next(line for line in case.text.splitlines() if line.strip() and not line.startswith("//"))
    return read_explicit(text, file) if first.startswith("explicit") else read_actor(text, file)


def assert_verified(tree: Tree, title: str) -> None:
    assert_none(verify(tree) if isinstance(tree, Actor) else verify_explicit(tree, RANGES), title)


def text_of(made: Tree | str) -> str:
    match made:
        case str():
            return made
        case Actor():
            return print_actor(made)
        case _:
            return print_explicit(made)


@pytest.mark.parametrize("path", CASES, ids=lambda path: path.relative_to(FOLDER).with_suffix("").as_posix())
def test_pass_makes_what_is_expected(path: Path) -> None:
    case = read_case(path)
    assert case.name in PASSES, f"{path}: the passes are {', '.join(PASSES)}"
    given = input_of(case, str(path))
    assert_verified(given, f"what goes into {case.name}")
    made = PASSES[case.name](given, case.options)
    if not isinstance(made, str):
        assert_verified(made, f"what comes out of {case.name}")
    text = text_of(made)
    if os.environ.get("DSE_ACCEPT") == "1":
        path.write_text(case.head + case.text + DIVIDER + text)
    else:
        assert text == case.expected


def test_each_pass_has_a_case() -> None:
    assert {read_case(path).name for path in CASES} == set(PASSES)
