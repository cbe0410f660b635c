"""Printing a syntax tree and parsing the text gives the tree again; so does the byte codec."""

from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings

from dse.base.diagnostics import read_source
from dse.frontend.cal.ast import ActorDecl, CalFile, Expr
from dse.frontend.cal.tree_codec import decode, encode
from tests.examples import examples
from tests.property.cal_trees import cal_files, expressions
from tests.unit.frontend.cal_expression_printer import expression_text
from tests.unit.frontend.cal_printer import print_cal
from tests.unit.frontend.syntax_support import parse_clean, without_spans

SLOW_TO_DRAW = [HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.filter_too_much]


@settings(max_examples=examples(200), deadline=None, suppress_health_check=SLOW_TO_DRAW)
@given(expressions)
def test_expressions_survive_printing(expression: Expr) -> None:
    text = expression_text(expression)
    entity = parse_clean(f"actor A() ==> : int x := {text}; end").entity
    assert isinstance(entity, ActorDecl)
    assert without_spans(entity.variables[0].value) == expression


@settings(max_examples=examples(60), deadline=None, suppress_health_check=SLOW_TO_DRAW)
@given(cal_files)
def test_files_survive_printing(file: CalFile) -> None:
    parsed = parse_clean(print_cal(file))
    assert without_spans(parsed) == file
    assert decode(encode((parsed, ()))) == (parsed, ())


ACTORS = sorted((Path(__file__).parents[2] / "actors").rglob("*.cal"))


@pytest.mark.parametrize("path", ACTORS, ids=lambda p: p.stem)
def test_our_actors_survive_printing(path: Path) -> None:
    parsed = parse_clean(read_source(str(path)))
    assert without_spans(parse_clean(print_cal(parsed))) == without_spans(parsed)
