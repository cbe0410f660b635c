"""Help is quick because it imports next to nothing: here the modules are looked at, in benchmarks/help.py the times."""

import json
import subprocess
import sys
from functools import cache

import pytest

from dse.cli.main import VERBS

PROGRAM = """
import contextlib, io, json, sys
before = set(sys.modules)
from dse.__main__ import main
found = {}
for verb in ["", *json.loads(sys.argv[1])]:
    sys.argv = ["dse", *filter(None, [verb]), "--help"]
    with contextlib.redirect_stdout(io.StringIO()), contextlib.suppress(SystemExit):
        main()
    found[verb] = sorted(set(sys.modules) - before)
print(json.dumps(found))
"""
LIGHT = (
    "dse.__main__",
    "dse.base",
    "dse.cli",
    "dse.explore.batch",
    "dse.explore.methods.registry",
    "dse.explore.objectives.registry",
    "dse.gpu.default_device",
    "dse.run.options",
    "dse.sizing.methods",
)
"""Modules of ours, and packages with all that is in them, that arguments may import: what is heavy in them shows."""
SLOW_STANDARD = {"asyncio", "email", "importlib.metadata", "multiprocessing", "sqlite3", "subprocess", "urllib", "xml"}


@cache
def imported() -> dict[str, list[str]]:
    """Verb -> all modules that are imported when its help has been shown, and those of the verbs before it."""
    command = [sys.executable, "-c", PROGRAM, json.dumps(list(VERBS))]
    run = subprocess.run(command, capture_output=True, text=True, check=True)
    found: dict[str, list[str]] = json.loads(run.stdout)
    return found


def is_light(module: str) -> bool:
    """Whether a module may be imported for help."""
    top = module.split(".")[0]
    if top != "dse":
        return (top in sys.stdlib_module_names or top.startswith("_")) and module not in SLOW_STANDARD
    return any((module + ".").startswith(name + ".") or name.startswith(module + ".") for name in LIGHT)


@pytest.mark.parametrize("verb", ["", *VERBS])
def test_help_imports_nothing_heavy(verb: str) -> None:
    assert [module for module in imported()[verb] if not is_light(module)] == []


def test_the_gate_bites() -> None:
    heavy = ("numpy", "rich.table", "dse.flows.options", "dse.run.execution", "dse.explore.search", "subprocess")
    assert not any(map(is_light, heavy))
    assert all(map(is_light, ("argparse", "dse.base.numbers", "dse.run", "dse.explore.methods.registry")))
