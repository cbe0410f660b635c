"""Lowering of CAL given as text, for the tests of the semantic half of the front-end."""

from collections.abc import Mapping

from dse.base.diagnostics import Gatherer
from dse.base.errors import Diagnostic
from dse.frontend.cal.ast import CalFile
from dse.frontend.cal.consteval import Value
from dse.frontend.cal.lower_actor import lower_actor
from dse.frontend.cal.parser import parse_cal
from dse.program import ir
from tests.unit.frontend.well_formed import assert_well_formed


def parse(text: str, path: str = "a.cal") -> CalFile:
    gather = Gatherer()
    file = parse_cal(path, text, gather)
    assert file is not None, gather.errors
    assert not gather.errors
    return file


def lower_text(
    text: str, units: Mapping[str, str] | None = None, arguments: Mapping[str, Value] | None = None
) -> tuple[ir.Actor | None, Gatherer]:
    """Lower an actor; ``units`` maps the qualified name of a unit to its text."""
    texts = units or {}
    parsed = {name: parse(unit, name + ".cal") for name, unit in texts.items()}
    gather = Gatherer()
    return lower_actor(parse(text), arguments or {}, parsed.get, gather), gather


def actor_of(
    text: str, units: Mapping[str, str] | None = None, arguments: Mapping[str, Value] | None = None
) -> ir.Actor:
    """Return a lowered actor that must have no errors."""
    actor, gather = lower_text(text, units, arguments)
    assert not gather.errors, gather.errors
    assert actor is not None
    assert_well_formed(actor)
    return actor


def body_actor(body: str, declarations: str = "") -> str:
    """Return the text of an actor with one action around statements."""
    return f"actor A() int I ==> int O:\n{declarations}\naction I:[x] ==> do\n{body}\nend\nend"


def errors_of(text: str, units: Mapping[str, str] | None = None) -> list[Diagnostic]:
    """Return the errors of an actor that must have some."""
    actor, gather = lower_text(text, units)
    assert actor is None
    assert gather.errors
    return gather.errors


def variable(actor: ir.Actor, name: str) -> ir.Variable:
    return next(v for v in actor.variables if v.name == name)
