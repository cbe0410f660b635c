"""Compiles and runs the C++ programs of these tests, plain and under sanitizers."""

import hashlib
import os
import shutil
import subprocess
import tempfile
from functools import cache
from pathlib import Path

import pytest

HERE = Path(__file__).parent
RUNTIME = HERE.parents[2] / "dse" / "native" / "runtime"
FLAGS = ("-std=c++20", "-Wall", "-Wextra", "-Wconversion", "-Wpedantic", "-Werror", "-pthread")
VARIANTS = {
    "plain": ("-O2",),
    "thread": ("-Og", "-g1", "-fsanitize=thread"),
    "address": ("-Og", "-g1", "-fsanitize=address,undefined", "-fno-sanitize-recover=all"),
}


@cache
def built(source: str, variant: str = "plain", *defines: str) -> Path:
    """Return the program made of a source file of this folder. Workers of one test run share it by its digest."""
    compiler = shutil.which("g++") or shutil.which("clang++")
    if compiler is None:
        pytest.skip("no g++ and no clang++")
    command = [compiler, *FLAGS, *VARIANTS[variant], *(f"-D{d}" for d in defines), f"-I{RUNTIME}", str(HERE / source)]
    folder = Path(tempfile.gettempdir()) / f"dse-runtime-tests-{os.getuid()}"
    folder.mkdir(mode=0o700, exist_ok=True)
    program = folder / f"{Path(source).stem}-{_digest(command, source)}"
    if not program.exists():
        fresh = program.with_suffix(f".{os.getpid()}")
        made = subprocess.run([*command, "-o", str(fresh)], capture_output=True, text=True, check=False)
        assert made.returncode == 0, made.stderr
        fresh.replace(program)
    return program


def _digest(command: list[str], source: str) -> str:
    """Return a digest of a command and of all that it may read."""
    found = hashlib.sha256(" ".join(command).encode())
    for path in (HERE / source, *sorted(HERE.glob("*.hpp")), *sorted(RUNTIME.rglob("*.hpp"))):
        found.update(path.read_bytes())
    return found.hexdigest()[:20]


def output_of(program: Path, *arguments: str, seconds: float = 60, code: int = 0) -> str:
    """Run a program to its end; return what it printed."""
    run = subprocess.run([str(program), *arguments], capture_output=True, text=True, timeout=seconds, check=False)
    assert run.returncode == code, f"exit code {run.returncode}\n{run.stdout[-2000:]}\n{run.stderr[-4000:]}"
    return run.stdout
