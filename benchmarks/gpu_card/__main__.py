"""Measure the card of this machine: the kernels of docs/gpu-truth.md over blocks, and constants of a device file.

usage: python -m benchmarks.gpu_card -o DIR [--nvcc NVCC] [--arch native|75,86] [--quick | --n N] [--compile-only]
           [--read F]

Compiles ``card.cu`` for the card that is there and runs it; ``--quick``: n 512 only; ``--n``: that one only (1024 and
2048 by default). Writes into DIR what it said
(``output.txt``), ``measured.csv`` with the columns that ``dse gpu calibrate`` and ``python -m benchmarks.gpu_truth
--ours DIR/measured.csv --device D`` read, and ``constants.csv``: keys of device files, values, how they were measured.
``--read`` takes the output of an earlier run instead, of another machine too.

nvcc is the one on the path, that of the wheels of NVIDIA (``dse[cuda]``), or ``--nvcc``. Cards before Turing need that
of CUDA 12. Loads bypass L1, as in the public measurements.
"""

import argparse
import csv
import io
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from math import isfinite
from pathlib import Path

from dse.native.cuda import Nvcc, find_nvcc

SOURCE = Path(__file__).with_name("card.cu")
COLUMNS = ("gpu", "benchmark", "kernel", "n", "block_x", "block_y", "repeats", "min_ms", "median_ms", "max_ms")
NATIVE = "native"


@dataclass(frozen=True, slots=True, kw_only=True)
class Constant:
    """A key of a device file, or what one follows from, as it was measured."""

    key: str
    value: float
    how: str


@dataclass(frozen=True, slots=True, kw_only=True)
class CardRun:
    """What the program said: the card, rows by ``COLUMNS`` without the first, constants."""

    card: str
    capability: int
    sms: int
    mhz: float
    rows: tuple[tuple[str, ...], ...]
    constants: tuple[Constant, ...]

    @property
    def gpu(self) -> str:
        """The name of the card as the tables call cards: ``gtx1080-ti`` of ``NVIDIA GeForce GTX 1080 Ti``."""
        words = [word for word in self.card.lower().split() if word not in ("nvidia", "geforce", "tesla")]
        if len(words) > 1 and words[0] in ("gtx", "rtx"):
            words = [words[0] + words[1], *words[2:]]
        return "-".join(words or self.card.lower().split())


def parse(text: str) -> CardRun:
    """Return what the program said. Raises ``ValueError`` with the line that is none of its lines."""
    card: tuple[str, int, int, float] | None = None
    rows: list[tuple[str, ...]] = []
    constants: list[Constant] = []
    for number, line in enumerate(text.splitlines(), start=1):
        kind, _, rest = line.partition(",")
        try:
            match kind:
                case "card":
                    name, capability, sms, mhz = rest.rsplit(",", 3)
                    if not name.strip():
                        raise ValueError("the card has no name")
                    card = (name, int(capability), int(sms), _above_zero(mhz))
                case "row":
                    rows.append(_row(rest))
                case "constant":
                    key, value, how = rest.split(",", 2)
                    constants.append(Constant(key=key, value=_finite(value), how=how))
                case _:
                    raise ValueError("it begins with none of card, row, constant")
        except ValueError as error:
            raise ValueError(f"line {number} of the output is '{line[:80]}': {error}") from error
    if card is None or not rows:
        raise ValueError("the output is not whole: it has no card or no row")
    name, capability, sms, mhz = card
    return CardRun(card=name, capability=capability, sms=sms, mhz=mhz, rows=tuple(rows), constants=tuple(constants))


def _row(text: str) -> tuple[str, ...]:
    cells = tuple(text.split(","))
    if len(cells) != len(COLUMNS) - 1:
        raise ValueError(f"it has {len(cells)} cells, not {len(COLUMNS) - 1}")
    for cell in cells[2:6]:
        if int(cell) < 1:
            raise ValueError(f"'{cell}' is not above 0")
    least, median, most = map(_above_zero, cells[6:])
    if not least <= median <= most:
        raise ValueError("its times are in no order")
    return cells


def _above_zero(text: str) -> float:
    value = float(text)
    if not 0 < value < float("inf"):
        raise ValueError(f"'{text}' is no time or clock")
    return value


def _finite(text: str) -> float:
    value = float(text)
    if not isfinite(value):
        raise ValueError(f"'{text}' is no constant")
    return value


def measured_csv(run: CardRun) -> str:
    """Return the rows as CSV."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(COLUMNS)
    writer.writerows((run.gpu, *row) for row in run.rows)
    return out.getvalue()


def constants_csv(run: CardRun) -> str:
    """Return the constants as CSV, with what the card says of itself."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(("key", "value", "how"))
    own = (Constant(key="sms", value=run.sms, how=run.card), Constant(key="clock_mhz", value=run.mhz, how=run.card))
    writer.writerows((one.key, f"{one.value:.6g}", one.how) for one in (*own, *run.constants))
    return out.getvalue()


def compile_command(nvcc: Nvcc, architectures: str, program: Path) -> list[str]:
    """Return the call of nvcc. ``architectures``: ``native``, or compute capabilities times 10 with commas."""
    if architectures == NATIVE:
        codes = ["-arch=native"]
    else:
        codes = [f"-gencode=arch=compute_{a},code=sm_{a}" for a in architectures.split(",")]
    flags = ["-std=c++17", "-O3", "--Werror=all-warnings", "-Xcompiler=-Wall", "-Xptxas", "-dlcm=cg"]
    return [
        nvcc.path,
        *flags,
        *codes,
        str(SOURCE),
        "-o",
        str(program),
        "--cudart",
        "none",
        *nvcc.libraries,
        "-lpthread",
    ]


def measure(folder: Path, nvcc: Nvcc, architectures: str, *, sizes: Sequence[str], compile_only: bool) -> str | None:
    """Return what the program said, None where it was only compiled. Raises ``CalledProcessError``."""
    program = folder / "card"
    subprocess.run(compile_command(nvcc, architectures, program), check=True)
    if compile_only:
        return None
    command = [str(program.resolve()), *sizes]
    text = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout
    (folder / "output.txt").write_text(text)
    return text


def main(words: Sequence[str] | None = None) -> int:
    """Measure, or read what was measured, and write."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("-o", "--out", type=Path, required=True, metavar="DIR")
    parser.add_argument("--nvcc", help="the compiler of CUDA (default: on the path, or of the wheels)")
    parser.add_argument("--arch", default=NATIVE, help="compute capabilities times 10 (default: of the card)")
    sized = parser.add_mutually_exclusive_group()
    sized.add_argument("--quick", action="store_true", help="n 512, three repeats")
    sized.add_argument("--n", type=int, choices=(512, 1024, 2048), help="one size only")
    parser.add_argument("--compile-only", action="store_true", help="do not run, for machines without a card")
    parser.add_argument("--read", type=Path, metavar="OUTPUT.txt", help="what the program said elsewhere")
    args = parser.parse_args(words)
    args.out.mkdir(parents=True, exist_ok=True)
    sizes = ("--quick",) if args.quick else () if args.n is None else ("--n", str(args.n))
    try:
        if args.read is not None:
            text = args.read.read_text()
        else:
            nvcc = find_nvcc() if args.nvcc is None else Nvcc(path=args.nvcc)
            text = measure(args.out, nvcc, args.arch, sizes=sizes, compile_only=args.compile_only)
        if text is None:
            print(f"compiled for {args.arch}, not run: nothing is measured")
            return 0
        run = parse(text)
    except (ValueError, OSError, subprocess.CalledProcessError) as error:
        print(error, file=sys.stderr)
        return 1
    (args.out / "measured.csv").write_text(measured_csv(run))
    (args.out / "constants.csv").write_text(constants_csv(run))
    print(f"{run.card}: {len(run.rows)} rows, {len(run.constants)} constants in {args.out}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
