"""All that users need is importable from ``dse``, and importing it loads nothing."""

import ast
import subprocess
import sys
from pathlib import Path

import pytest

import dse

STUB = Path(dse.__file__).with_suffix(".pyi")
HEAVY = ("numpy", "numba", "lxml", "rich", "yaml", "dse.api", "dse.base")


def test_the_stub_names_the_same() -> None:
    """Type checkers read the stub, Python the table in ``__init__``."""
    of_stub = {
        (node.module, alias.name)
        for node in ast.parse(STUB.read_text()).body
        if isinstance(node, ast.ImportFrom)
        for alias in node.names
    }
    assert {(module, name) for name, module in dse._MODULE_OF.items()} == of_stub


def test_each_name_is_there() -> None:
    for name in dse.__all__:
        assert getattr(dse, name) is not None
    assert set(dse.__all__) <= set(dir(dse))
    assert dse.load.__module__ == "dse.api.load"
    with pytest.raises(AttributeError, match="no attribute 'lod'"):
        dse.lod  # noqa: B018


def test_the_import_loads_nothing() -> None:
    """The cause, not the time: the modules that are there after it."""
    code = "import sys, dse; print(dse.__version__, *sys.modules)"
    told = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.split()
    assert told[0] == dse.__version__
    assert [name for name in told[1:] if name.startswith(HEAVY)] == []


def test_accounts_and_results_have_docstrings() -> None:
    undocumented = [
        f"{name}.{member}"
        for name in ("Program", "EstimatedMapping", "EstimatedMappings", "Exploration", "RankedMapping", "load")
        for member, value in vars(getattr(dse, name)).items()
        if not member.startswith("_") and (callable(value) or isinstance(value, property)) and not value.__doc__
    ]
    assert undocumented == []
