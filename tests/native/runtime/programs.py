"""Compiles and runs the C++ programs of these tests, plain and under sanitizers."""

import shutil
import subprocess
from functools import cache
from pathlib import Path
from tempfile import mkdtemp

import pytest

HERE = Path(__file__).parent
RUNTIME = HERE.parents[2] / "dse" / "native" / "runtime"
FLAGS = ("-std=c++20", "-Wall", "-Wextra", "-Wconversion", "-Wpedantic", "-Werror", "-pthread")
VARIANTS = {
    "plain": ("-O2",),
    "thread": ("-O1", "-g", "-fsanitize=thread"),
    "address": ("-O1", "-g", "-fsanitize=address,undefined", "-fno-sanitize-recover=all"),
}


@cache
def built(source: str, variant: str = "plain", *defines: str) -> Path:
    """Return the program made of a source file of this folder."""
    compiler = shutil.which("g++") or shutil.which("clang++")
    if compiler is None:
        pytest.skip("no g++ and no clang++")
    program = Path(mkdtemp(prefix="dse-runtime-")) / Path(source).stem
    command = [compiler, *FLAGS, *VARIANTS[variant], *(f"-D{d}" for d in defines), f"-I{RUNTIME}", str(HERE / source)]
    made = subprocess.run([*command, "-o", str(program)], capture_output=True, text=True, check=False)
    assert made.returncode == 0, made.stderr
    return program


def output_of(program: Path, *arguments: str, seconds: float = 60, code: int = 0) -> str:
    """Run a program to its end; return what it printed."""
    run = subprocess.run([str(program), *arguments], capture_output=True, text=True, timeout=seconds, check=False)
    assert run.returncode == code, f"exit code {run.returncode}\n{run.stdout[-2000:]}\n{run.stderr[-4000:]}"
    return run.stdout
