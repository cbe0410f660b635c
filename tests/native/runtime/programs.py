"""Compiles and runs the C++ programs of these tests, plain and under sanitizers."""

import subprocess
from pathlib import Path

from tests.native.shared import compiled

HERE = Path(__file__).parent
FLAGS = ("-std=c++20", "-Wall", "-Wextra", "-Wconversion", "-Wpedantic", "-Werror", "-pthread")
VARIANTS = {
    "plain": ("-O2",),
    "thread": ("-Og", "-g1", "-fsanitize=thread"),
    "address": ("-Og", "-g1", "-fsanitize=address,undefined", "-fno-sanitize-recover=all"),
}


def built(source: str, variant: str = "plain", *defines: str) -> Path:
    """Return the program made of a source file of this folder."""
    return compiled(HERE / source, *FLAGS, *VARIANTS[variant], *(f"-D{d}" for d in defines))


def fan(variant: str = "plain", *, timed: bool = False) -> Path:
    """Return the program that runs ``fan.hpp``; ``timed``: it can note its visits.

    Under sanitizers both are one: what notes visits runs as the other does where it has no file for them.
    """
    defines = ("DSE_TIMED=1",) if timed or variant != "plain" else ()
    return built("run_fan.cpp", variant, *defines)


def output_of(program: Path, *arguments: str, seconds: float = 60, code: int = 0) -> str:
    """Run a program to its end; return what it printed."""
    run = subprocess.run([str(program), *arguments], capture_output=True, text=True, timeout=seconds, check=False)
    assert run.returncode == code, f"exit code {run.returncode}\n{run.stdout[-2000:]}\n{run.stderr[-4000:]}"
    return run.stdout
