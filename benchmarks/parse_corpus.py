"""Parse every ``.cal`` file under a directory: without a cache, then from the cache in a fresh folder.

    python benchmarks/parse_corpus.py DIR [--json]

Prints files, lines, seconds of both, and the errors. Exit code 1 when there are errors.
"""

import argparse
import json
import os
import sys
import tempfile
import time
from pathlib import Path

from dse.base.diagnostics import Gatherer, read_source, render
from dse.frontend.cal import cache


def load_all(files: list[str]) -> tuple[Gatherer, float]:
    """Return what loading ``files`` reported, and the seconds it took."""
    gather = Gatherer()
    start = time.perf_counter()
    for file in files:
        cache.load_cal(file, gather)
    return gather, time.perf_counter() - start


def measure(directory: Path) -> tuple[dict[str, object], Gatherer]:
    """Return the figures of a directory by their ``--json`` names, and everything that was reported."""
    files = sorted(str(f) for f in directory.rglob("*.cal") if f.is_file())
    lines = sum(read_source(file).count("\n") for file in files)
    os.environ["DSE_CACHE"] = ""
    gather, cold_seconds = load_all(files)
    with tempfile.TemporaryDirectory() as folder:
        os.environ["DSE_CACHE"] = folder
        cache.forget()
        filling_seconds = load_all(files)[1]
        size_bytes = sum(f.stat().st_size for f in Path(folder).rglob("*") if f.is_file())
        cache.forget()
        warm_seconds = load_all(files)[1]
    memory_seconds = load_all(files)[1]
    figures: dict[str, object] = {
        "files": len(files),
        "lines": lines,
        "cold_s": round(cold_seconds, 3),
        "cold_and_write_s": round(filling_seconds, 3),
        "warm_s": round(warm_seconds, 3),
        "in_memory_s": round(memory_seconds, 3),
        "cache_bytes": size_bytes,
        "errors": [
            {"file": d.span.path, "line": d.span.line, "column": d.span.column, "message": d.message}
            for d in gather.errors
        ],
    }
    return figures, gather


def main() -> int:
    parser = argparse.ArgumentParser(description="Time the parsing of a tree of CAL files.")
    parser.add_argument("directory", type=Path)
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    figures, gather = measure(options.directory)
    if options.json:
        print(json.dumps(figures, indent=1))
    else:
        for diagnostic in gather.errors:
            print(render(diagnostic))
        print("\n".join(f"{key:18}{value}" for key, value in figures.items() if key != "errors"))
        print(f"{'errors':18}{len(gather.errors)}")
    return 1 if gather.errors else 0


if __name__ == "__main__":
    sys.exit(main())
