"""Check a corpus of RVC-CAL applications and sum up the result by application (the first folder below the corpus).

usage: python benchmarks/corpus_check.py DIR [--json] [--markdown]

``--markdown`` prints the tables of docs/corpora.md. The time is that of the machine it runs on; it is not compared.
"""

import argparse
import json
import sys
import time
from collections import Counter
from pathlib import Path

from dse.base.errors import Diagnostic
from dse.flows.check import check_tree
from dse.flows.check_report import CheckReport, FileCheck


def application(path: str, corpus: str) -> str:
    """Return the first folder of a path below the corpus."""
    return Path(path).relative_to(corpus).parts[0]


def as_document(report: CheckReport, corpus: str, seconds: float) -> dict[str, object]:
    """Return counts for each application, and every failing top network with its first error."""
    counts: dict[str, Counter[str]] = {}
    for check in report.checks:
        of = counts.setdefault(application(check.path, corpus), Counter())
        of["cal" if check.path.endswith(".cal") else "xdf"] += 1
        of["parsed"] += check.kind != "unknown"
        of["correct"] += check.ok and check.path.endswith(".cal")
        if check.kind == "top":
            of["tops"] += 1
            of["tops_ok"] += check.ok
    keys = ("cal", "xdf", "parsed", "correct", "tops", "tops_ok")
    return {
        "applications": {name: {key: of[key] for key in keys} for name, of in counts.items()},
        "total": {key: sum(of[key] for of in counts.values()) for key in keys},
        "failing_tops": {relative(top, corpus): reasons(top, corpus) for top in report.tops if not top.ok},
        "failing_cal": {
            relative(check, corpus): reasons(check, corpus)
            for check in report.checks
            if check.path.endswith(".cal") and not check.ok
        },
        "seconds": round(seconds, 1),
    }


def relative(check: FileCheck, corpus: str) -> str:
    return Path(check.path).relative_to(corpus).as_posix()


def reasons(check: FileCheck, corpus: str) -> list[str]:
    """Return the errors of a file in one line each, paths relative to the corpus."""
    return [one_line(error, corpus) for error in check.errors]


def one_line(error: Diagnostic, corpus: str) -> str:
    path = Path(error.span.path)
    place = path.relative_to(corpus).as_posix() if path.is_relative_to(corpus) else path.name
    return f"{place}:{error.span.line}: {error.message}"


def markdown(document: dict[str, dict[str, dict[str, int]]]) -> str:
    """Return the tables of the document: results by application, failing networks with their first error."""
    lines = [
        "| application | .cal files | without error | .xdf files | top networks | elaborated |",
        "|---|---|---|---|---|---|",
    ]
    rows = [*document["applications"].items(), ("**total**", document["total"])]
    for name, of in rows:
        cells = (name, of["cal"], of["correct"], of["xdf"], of["tops"], of["tops_ok"])
        lines.append("| " + " | ".join(str(cell) for cell in cells) + " |")
    lines += ["", "| network | errors | first error |", "|---|---|---|"]
    for name, found in document["failing_tops"].items():
        lines.append(f"| {name} | {len(found)} | {found[0]} |")
    return "\n".join(lines)


def main() -> int:
    parser = argparse.ArgumentParser(description="Check a corpus and sum up by application.")
    parser.add_argument("corpus", metavar="DIR")
    parser.add_argument("--json", action="store_true", help="print one JSON document")
    parser.add_argument("--markdown", action="store_true", help="print the tables of docs/corpora.md")
    args = parser.parse_args()
    start = time.perf_counter()
    report = check_tree(args.corpus)
    document = as_document(report, args.corpus, time.perf_counter() - start)
    if args.json:
        print(json.dumps(document, indent=1))
    elif args.markdown:
        print(markdown(document))  # type: ignore[arg-type]
    else:
        print(markdown({**document, "failing_tops": {}}).rsplit("\n\n", 1)[0])  # type: ignore[arg-type]
        for kind in ("failing_tops", "failing_cal"):
            for name, found in document[kind].items():  # type: ignore[attr-defined]
                print(name, *found[:1], sep=": ")
        print(f"{document['seconds']} s")
    return 0


if __name__ == "__main__":
    sys.exit(main())
