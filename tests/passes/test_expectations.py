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
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TypeAlias

import pytest

from dse.passes.rewrites.cost_view import cost_view
from dse.passes.rewrites.explicit import make_explicit
from dse.program.explicit import ExplicitActor, Wiring
from dse.program.ir import Actor
from dse.program.text.printer import print_actor, print_explicit
from dse.program.text.reader import read_actor, read_explicit
from dse.program.types import IntType
from dse.program.verify.actors import verify
from dse.program.verify.explicit import DeclaredRanges, RangesOf, verify_explicit
from dse.program.verify.findings import assert_none
from tests.unit.frontend.lowering_support import actor_of

FOLDER = Path(__file__).parent
CASES = sorted(FOLDER.glob("*/*.ir"))
DIVIDER = "// ----\n"

Tree: TypeAlias = Actor | ExplicitActor
Options: TypeAlias = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Known:
    """An explicit actor, with what the pass that made it knows of values."""

    explicit: ExplicitActor
    ranges: RangesOf


Made: TypeAlias = Tree | Known | str
Pass: TypeAlias = Callable[[Tree, Options], Made]
"""A pass gives an actor, or, if it only reads, a text of what it found."""


def identity(tree: Tree, _options: Options) -> Tree:
    """Nothing happens: what comes out shows the text form."""
    return tree


def explicit(tree: Tree, options: Options) -> Known:
    """Everything implied becomes a node. Options wire ports otherwise than to one peer of their type, see ``wired``."""
    assert isinstance(tree, Actor)
    made, values = make_explicit(tree, wired(tree, options))
    return Known(replace(made, start=(), choice=()) if "firings" in options else made, values)


def selection(tree: Tree, options: Options) -> str:
    """The choice of an action, alone."""
    lines = print_explicit(explicit(tree, options).explicit).splitlines()
    first, last = lines.index("  start"), lines.index(next(line for line in lines if line.startswith("  actor ")))
    return "\n".join(line[2:] for line in lines[first:last]) + "\n"


def costs(tree: Tree, options: Options) -> str:
    """The statements of an action as the costs of a GPU see them."""
    assert isinstance(tree, Actor)
    action = next(a for a in tree.actions if a.name == options[0])
    view = cost_view(tree, action)
    shown = replace(action, declarations=(), body=view.statements, outputs=())
    text = print_actor(replace(tree, actions=(shown,), transitions=(), initializers=(), routines=()))
    lines = text.splitlines()
    first = lines.index("    do")
    return "\n".join(line[4:] for line in lines[first : lines.index("  end", first)]) + "\n"


def wired(actor: Actor, options: Options) -> Wiring:
    """The wiring that options say: ``I=none`` or ``I=u8`` (what arrives), ``O=2`` (readers), ``rounds``."""
    said = dict(option.split("=") for option in options if "=" in option)
    inputs = []
    for port in actor.inputs:
        text = said.get(port.name, "")
        arriving = IntType(int(text[1:]), text[0] == "i") if text not in ("", "none") else port.type
        inputs.append(None if text == "none" else arriving)
    readers = tuple(int(said.get(port.name, "1")) for port in actor.outputs)
    return Wiring(inputs=tuple(inputs), loops=(), fan_outs=readers, rounds="rounds" in options)


PASSES: dict[str, Pass] = {
    "cost_view": costs,
    "explicit": explicit,
    "identity": identity,
    "selection": selection,
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


def assert_verified(made: Made, title: str) -> None:
    """Run the verifier. Where nothing is known of values, all that may not fit must be converted and checked."""
    match made:
        case Actor():
            assert_none(verify(made), title)
        case ExplicitActor():
            assert_none(verify_explicit(made, DeclaredRanges()), title)
        case Known(explicit=found, ranges=ranges) if found.choice:
            assert_none(verify_explicit(found, ranges), title)
        case _:
            pass


def text_of(made: Made) -> str:
    match made:
        case str():
            return made
        case Actor():
            return print_actor(made)
        case ExplicitActor():
            return print_explicit(made)
        case Known(explicit=found):
            text = print_explicit(found)
            return text[: text.index("\n  actor ") + 1]  # the actor that it was made of stands above


@pytest.mark.parametrize("path", CASES, ids=lambda path: path.relative_to(FOLDER).with_suffix("").as_posix())
def test_pass_makes_what_is_expected(path: Path) -> None:
    case = read_case(path)
    assert case.name in PASSES, f"{path}: the passes are {', '.join(PASSES)}"
    given = input_of(case, str(path))
    assert_verified(given, f"what goes into {case.name}")
    made = PASSES[case.name](given, case.options)
    assert_verified(made, f"what comes out of {case.name}")
    text = text_of(made)
    if os.environ.get("DSE_ACCEPT") == "1":
        path.write_text(case.head + case.text + DIVIDER + text)
    else:
        assert text == case.expected


def test_each_pass_has_a_case() -> None:
    assert {read_case(path).name for path in CASES} == set(PASSES)
