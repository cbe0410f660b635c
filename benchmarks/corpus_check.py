"""Check a corpus of RVC-CAL applications and sum up the result by application (the first folder below the corpus).

usage: python benchmarks/corpus_check.py DIR [--json | --markdown]

Every tree is checked twice: as ``dse check --all`` does, and with ``--partial``, which leaves out instances of missing
classes and broken connections. ``--markdown`` prints the tables of docs/corpora.md. Caches are off.
"""

import argparse
import json
import os
import sys
import time
from dataclasses import asdict, dataclass, field
from pathlib import Path

from dse.base.errors import Diagnostic
from dse.flows.check import check_tree
from dse.flows.check_report import CheckOptions, CheckReport, FileCheck


@dataclass(kw_only=True)
class Counts:
    """What was found in an application. ``correct_cal`` counts the CAL files without an error."""

    cal: int = 0
    correct_cal: int = 0
    xdf: int = 0
    parsed_xdf: int = 0
    tops: int = 0
    tops_ok: int = 0
    tops_ok_partial: int = 0

    def add(self, check: FileCheck, partial: FileCheck) -> None:
        """Count one file, checked in both ways."""
        if check.path.endswith(".cal"):
            self.cal += 1
            self.correct_cal += check.ok
        else:
            self.xdf += 1
            self.parsed_xdf += check.kind != "unknown"
        if check.kind == "top":
            self.tops += 1
            self.tops_ok += check.ok
            self.tops_ok_partial += partial.ok


@dataclass(kw_only=True)
class Corpus:
    """The result: counts by application and in all, errors of failing files in one line each."""

    applications: dict[str, Counts] = field(default_factory=dict)
    total: Counts = field(default_factory=Counts)
    failing_tops: dict[str, list[str]] = field(default_factory=dict)
    failing_tops_partial: dict[str, list[str]] = field(default_factory=dict)
    failing_cal: dict[str, list[str]] = field(default_factory=dict)
    seconds: float = 0.0


def summary(whole: CheckReport, partial: CheckReport, corpus: str) -> Corpus:
    """Return the result of both checks of a corpus."""
    result = Corpus()
    for check, lenient in zip(whole.checks, partial.checks, strict=True):
        name = Path(check.path).relative_to(corpus).as_posix()
        for counts in (result.applications.setdefault(name.split("/")[0], Counts()), result.total):
            counts.add(check, lenient)
        if check.kind == "top" and not check.ok:
            result.failing_tops[name] = lines_of(check, corpus)
            if not lenient.ok:
                result.failing_tops_partial[name] = lines_of(lenient, corpus)
        if name.endswith(".cal") and not check.ok:
            result.failing_cal[name] = lines_of(check, corpus)
    return result


def lines_of(check: FileCheck, corpus: str) -> list[str]:
    """Return the errors of a file in one line each."""
    return [line_of(error, corpus) for error in check.errors]


def line_of(error: Diagnostic, corpus: str) -> str:
    path = Path(error.span.path)
    place = path.relative_to(corpus).as_posix() if path.is_relative_to(corpus) else path.name
    return f"{place}:{error.span.line}: {error.message}"


def table(header: tuple[str, ...], rows: list[tuple[object, ...]]) -> str:
    """Return a Markdown table."""
    lines = [header, ("---",) * len(header), *rows]
    return "\n".join("| " + " | ".join(str(cell) for cell in line) + " |" for line in lines)


def applications_table(result: Corpus) -> str:
    header = (
        "application",
        ".cal files",
        "without error",
        ".xdf files",
        "top networks",
        "elaborated",
        "with --partial",
    )
    rows: list[tuple[object, ...]] = [
        (name, of.cal, of.correct_cal, of.xdf, of.tops, of.tops_ok, of.tops_ok_partial)
        for name, of in [*result.applications.items(), ("**total**", result.total)]
    ]
    return table(header, rows)


def markdown(result: Corpus) -> str:
    """Return the tables of docs/corpora.md."""
    parts = [applications_table(result)]
    for title, failing in (
        ("Top networks with errors", result.failing_tops),
        ("Top networks with errors even with --partial", result.failing_tops_partial),
        ("CAL files with errors", result.failing_cal),
    ):
        header = ("file", "errors", "the first")
        rows: list[tuple[object, ...]] = [(name, len(lines), lines[0]) for name, lines in failing.items()]
        parts.append(f"### {title}\n\n" + table(header, rows))
    return "\n\n".join(parts)


def main() -> int:
    parser = argparse.ArgumentParser(description="Check a corpus and sum up by application.")
    parser.add_argument("corpus", metavar="DIR")
    parser.add_argument("--json", action="store_true", help="print one JSON document")
    parser.add_argument("--markdown", action="store_true", help="print the tables of docs/corpora.md")
    args = parser.parse_args()
    os.environ["DSE_CACHE"] = ""
    start = time.perf_counter()
    whole = check_tree(args.corpus)
    seconds = time.perf_counter() - start
    result = summary(whole, check_tree(args.corpus, CheckOptions(partial=True)), args.corpus)
    result.seconds = round(seconds, 1)
    if args.json:
        print(json.dumps(asdict(result), indent=1))
    else:
        print(markdown(result) if args.markdown else applications_table(result))
    return 0


if __name__ == "__main__":
    sys.exit(main())
