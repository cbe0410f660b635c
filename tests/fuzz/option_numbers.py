"""Attacks on the numbers of the command line: every option that takes one, with numbers that cannot be."""

import random
from pathlib import Path

from tests.fuzz.input_files import KERNEL, write_demo
from tests.fuzz.mutations import NUMBERS
from tests.fuzz.running import first_fault

_FORMS: dict[str, tuple[str, ...]] = {
    "--budget": ("{}", "{}s", "{}m", "2,{}s", "{},1s", "{}h"),
    "--partitions": ("{}", "{}-2", "1-{}"),
    "--clocks": ("cpu={}", "cpu=1200,{}"),
    "--define": ("N={}",),
    "--block": ("{}", "{}x2", "2x{}"),
    "--tolerance": ("{}", "{}%"),
    "--threads": ("{}", "k={}"),
}

_EXPLORE = ("--partitions", "--buffers", "--seed", "--workers", "--batch", "--best", "--clocks")


def _number(rng: random.Random, option: str) -> str:
    """Return an option with a hostile number in a form of its own."""
    form = rng.choice(_FORMS.get(option, ("{}",)))
    return f"{option}={form.format(rng.choice(NUMBERS))}"


def _commands(folder: Path) -> list[tuple[list[str], tuple[str, ...]]]:
    """Return commands, each with the options of it that take numbers."""
    network = str(write_demo(folder))
    kernel = folder / "k.c"
    kernel.write_text(KERNEL)
    explore = ["explore", network, "--quiet", "--platform", "big-little", "--out", str(folder / "out")]
    by_hand = ["gpu", "predict", "--model", "memory_pipeline", "--device", "gtx1660s"]
    return [
        (
            [*explore, "--budget", "4"],
            ("--partitions", "--buffers", "--seed", "--workers", "--batch", "--best", "--clocks"),
        ),
        (explore, ("--budget",)),
        (["estimate", network, "--quiet"], ("--buffers", "--clocks")),
        (["buffers", network, "--quiet"], ("--tolerance",)),
        (["run", network], ("-l", "-f", "-s", "--max-firings", "--loops", "--frames", "--fifo-size", "--tolerance")),
        (["trace", network, "-o", str(folder / "t.trc")], ("-l", "-f", "-s", "--max-firings")),
        (["gpu", "predict", str(kernel), "--trace-size", "64"], ("--define", "--block", "--launches")),
        (["gpu", "predict", str(kernel)], ("--trace-size",)),
        (["gpu", "choose", str(kernel), "--trace-size", "64"], ("--fpga-ms", "--cpu-ms")),
        ([*by_hand, "--transactions", "2", "--warps", "3"], ("--requests",)),
        ([*by_hand, "--requests", "2", "--warps", "3", "--transactions", "4"], ("--launches",)),
        ([*by_hand, "--requests", "2", "--transactions", "3"], ("--warps",)),
        (["weights", "predict", network, "--device", "gtx1660s", "-o", str(folder / "w")], ("--threads",)),
    ]


def attack(rng: random.Random, folder: Path) -> str | None:
    """Run one command with one hostile number; return the fault of dse, None where there is none."""
    arguments, options = rng.choice(_commands(folder))
    return first_fault([[*arguments, _number(rng, rng.choice(options))]])
