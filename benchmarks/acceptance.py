"""Run the acceptance networks in Python, compare them with the golden records, and measure the execution.

usage: python benchmarks/acceptance.py DIR [--json] [--only TEXT]

DIR is the folder of the public corpus orc-apps. Times are of the run alone (compilation of the actors included,
elaboration of the network not) without the hashes of the channels, which are computed in a second run.
"""

import argparse
import json
import sys
import tempfile
import time
from dataclasses import asdict, dataclass
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

from dse.run.execution import run_network
from tests.golden.acceptance import NETWORKS, Acceptance, Missing, prepare, run_case


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    network: str
    ok: bool
    note: str
    load_s: float = 0.0
    run_s: float = 0.0
    firings: int = 0

    @property
    def rate(self) -> float:
        return self.firings / self.run_s if self.run_s else 0.0


def measure(case: Acceptance, root: Path) -> Row:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        try:
            start = time.perf_counter()
            network, options = prepare(case, root, folder, hashed=False)
            loaded = time.perf_counter()
            result = run_network(network, options)
            done = time.perf_counter()
            _, found = run_case(case, root, folder)
        except Missing as missing:
            return Row(network=case.path, ok=False, note=f"not run: {missing}")
    return Row(
        network=case.path,
        ok=not found,
        note=found[0] if found else f"{result.why}, {case.extent}",
        load_s=loaded - start,
        run_s=done - loaded,
        firings=result.n_firings,
    )


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("dir", type=Path)
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--only", default="", help="networks whose path contains this text")
    args = parser.parse_args()
    rows = []
    for case in NETWORKS:
        if args.only in case.path:
            rows.append(measure(case, args.dir))
            if not args.json:
                r = rows[-1]
                print(
                    f"{'ok  ' if r.ok else 'FAIL'} {r.load_s:6.2f} s load {r.run_s:7.3f} s run {r.firings:9d} firings "
                    f"{r.rate:10.0f}/s  {r.network} ({r.note})",
                    flush=True,
                )
    if args.json:
        print(json.dumps([asdict(r) | {"firings_per_s": round(r.rate)} for r in rows], indent=2))
    return 0 if all(r.ok for r in rows) else 1


if __name__ == "__main__":
    sys.exit(main())
