"""JSON that every reader accepts."""

import json
import math

import pytest

from dse.base.escaping import json_text


def refuse(constant: str) -> None:
    pytest.fail(f"{constant} is no JSON")


def test_numbers_that_json_lacks_are_null() -> None:
    document = {"most": math.inf, "rows": [(1.5, -math.inf), {"rank": math.nan}], "named": "Infinity"}
    expected = {"most": None, "rows": [[1.5, None], {"rank": None}], "named": "Infinity"}
    assert json.loads(json_text(document), parse_constant=refuse) == expected
    assert json.loads(json_text({"a": [1, 2.5, None, True]}), parse_constant=refuse) == {"a": [1, 2.5, None, True]}
