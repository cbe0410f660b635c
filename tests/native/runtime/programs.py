"""Compiles and runs the C++ programs of these tests, plain and under sanitizers; in ``make test`` that of threads.

They are linked with the engine that programs of networks have, which is compiled once for all tests.
"""

import subprocess
from pathlib import Path

from dse.native.build import BuildOptions
from tests.native.same.batches import CASES
from tests.native.shared import compiled, needs_compiler, runtime_objects

HERE = Path(__file__).parent
FLAGS = ("-std=c++20", "-Wall", "-Wextra", "-Wconversion", "-Wpedantic", "-Werror", "-pthread")
VARIANTS = {
    "plain": ("-O2",),
    "thread": ("-Og", "-g1", "-fsanitize=thread"),
    "address": ("-Og", "-g1", "-fsanitize=address,undefined", "-fno-sanitize-recover=all"),
}


TRIED = tuple(VARIANTS) if CASES else ("plain", "thread")
"""What is compiled: in ``make test`` the sanitizer of addresses sees programs of networks and readers only."""
KINDS = {
    "plain": BuildOptions(),
    "timed": BuildOptions(timed=True),
    "thread": BuildOptions(sanitize=("thread",)),
    "address": BuildOptions(sanitize=("address", "undefined")),
}


def built(source: str, variant: str = "plain") -> Path:
    """Return the program made of a source file of this folder."""
    return _linked(source, variant, KINDS[variant])


def alone(source: str) -> Path:
    """Return the program made of a source file of this folder that includes what it needs of the engine."""
    needs_compiler()
    return compiled(HERE / source, *FLAGS, *VARIANTS["plain"])


def fan(variant: str = "plain", *, timed: bool = False) -> Path:
    """Return the program that runs ``fan.hpp``; ``timed``: it can note its visits.

    Under sanitizers the latter has an engine of its own.
    """
    if timed and variant != "plain":
        flags = (*FLAGS, *VARIANTS[variant], "-DDSE_TIMED=1", "-DOWN_ENGINE=1")
        return compiled(HERE / "run_fan.cpp", *flags)
    kind = KINDS["timed" if timed else variant]
    return _linked("run_fan.cpp", variant, kind, "-DOWN_ENGINE=0", *(("-DDSE_TIMED=1",) if timed else ()))


def _linked(source: str, variant: str, kind: BuildOptions, *defines: str) -> Path:
    needs_compiler()
    _, engine = runtime_objects(kind)
    return compiled(HERE / source, *FLAGS, *VARIANTS[variant], *defines, objects=(engine,))


def output_of(program: Path, *arguments: str, seconds: float = 60, code: int = 0) -> str:
    """Run a program to its end; return what it printed."""
    run = subprocess.run([str(program), *arguments], capture_output=True, text=True, timeout=seconds, check=False)
    assert run.returncode == code, f"exit code {run.returncode}\n{run.stdout[-2000:]}\n{run.stderr[-4000:]}"
    return run.stdout
