"""The verifier: each rule of the IR, broken by one change to the text of an actor that keeps them all.

``verify/NAME.ir`` is the actor; ``verify/NAME.broken`` has the changes: behind ``-`` what is replaced, once, behind
``+`` by what, behind ``=`` a finding. A line end within a change is written as ``\\n``.
"""

from pathlib import Path

import pytest

from dse.program.text.reader import read_actor, read_explicit
from dse.program.verify.actors import verify
from dse.program.verify.explicit import DeclaredRanges, verify_explicit

FOLDER = Path(__file__).parent / "verify"
SOURCE = (FOLDER / "source.ir").read_text()
EXPLICIT = (FOLDER / "explicit.ir").read_text()


def changes(name: str) -> list[tuple[str, str, str]]:
    """Return what is replaced, by what, and the finding, for each change of a file."""
    found = []
    for record in (FOLDER / f"{name}.broken").read_text().rstrip("\n").split("\n\n"):
        marks, texts = zip(*((line[0], line[2:].replace("\\n", "\n")) for line in record.split("\n")), strict=True)
        assert marks == ("-", "+", "="), record
        found.append((texts[0], texts[1], texts[2]))
    return found


def changed(text: str, old: str, new: str) -> str:
    assert old in text
    return text.replace(old, new, 1)


def test_an_actor_that_keeps_all_rules_has_no_findings() -> None:
    assert [str(found) for found in verify(read_actor(SOURCE))] == []


@pytest.mark.parametrize(("old", "new", "finding"), changes("source"))
def test_each_broken_rule_is_found(old: str, new: str, finding: str) -> None:
    actor = read_actor(changed(SOURCE, old, new), "case.ir")
    assert finding in [str(found) for found in verify(actor)]


def test_a_finding_names_the_place_in_the_source() -> None:
    text = changed(SOURCE, "l[k] := 0", "@14:7-14:20 l[true@14:9-14:13] := 0")
    (found, *_) = verify(read_actor(text))
    assert str(found) == "procedure p: an index is no integer (a.cal:14:9)"


def test_an_explicit_actor_that_keeps_all_rules_has_no_findings() -> None:
    assert [str(found) for found in verify_explicit(read_explicit(EXPLICIT), DeclaredRanges())] == []


@pytest.mark.parametrize(("old", "new", "finding"), changes("explicit"))
def test_each_broken_promise_of_the_explicit_level_is_found(old: str, new: str, finding: str) -> None:
    explicit = read_explicit(changed(EXPLICIT, old, new), "case.ir")
    assert finding in [str(found) for found in verify_explicit(explicit, DeclaredRanges())]
