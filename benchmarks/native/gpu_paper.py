"""The experiments of paper 004 (figures 11, 12, 14 and 15) on the GPU of this machine: estimates against the clock.

    python -m benchmarks.native.gpu_paper [--cuda nvcc|emulated] [--only NAME,...] [--mappings N] [--runs N]
        [--profiles N] [--cuda-arch LIST] [--out DIR] [--weights DIR] [--configs DIR] [--device D]

It wants the machine for itself. First the link is measured (``dse gpu link``), then each experiment profiles the four
configurations of figure 6, estimates its mappings by them and runs each. Tables say "not measured" where there is no
GPU. ``--cuda emulated`` rehearses it with small inputs: its figures say nothing of a card, and are marked so.
"""

import argparse
import csv
import subprocess
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal, TypeAlias

import numpy as np

from benchmarks.native.agreement import IMAGES, PAIRS
from dse.base.errors import BuildError, DseError, ExecutionError
from dse.base.files import write_whole
from dse.cli.arguments.cuda import add_cuda_arch
from dse.cli.cuda_arguments import cuda_request
from dse.cli.option_types import option_integer
from dse.flows.cuda_request import CudaRequest
from dse.flows.gpu_actors import abilities_of
from dse.flows.link import LinkOptions, measure_link_here
from dse.flows.measure import Measured, measure_mappings
from dse.flows.measure_files import measured_document, write_measured
from dse.flows.measure_options import MeasureOptions
from dse.flows.measure_points import MeasureSettings
from dse.flows.measured_kernels import rank_correlation
from dse.flows.predict import predict_for_device
from dse.flows.profile import ProfileSettings
from dse.flows.profile_files import write_profiled_set
from dse.flows.program import load_program, record_trace
from dse.formats.device_yaml import load_device
from dse.frontend.network.elaborate import load_network
from dse.gpu.actors.firing import LaunchShape
from dse.model.platform import Platform
from dse.model.weights import WeightTable

ROOT = Path(__file__).resolve().parents[2]
SMALL_IMAGES = (
    (64, 48, 90),
    (48, 32, 90),
    (64, 48, 50),
    (48, 32, 50),
    (40, 40, 55),
    (32, 32, 65),
    (32, 16, 80),
    (16, 16, 75),
)
SMALL_PAIRS = ((15, 25), (15, 20), (10, 25), (10, 20))
"""Inputs of a rehearsal, in the order of those of the paper."""
NOT_MEASURED = "not measured"


@dataclass(frozen=True, slots=True, kw_only=True)
class Experiment:
    """One figure of the paper. ``paper``: its largest divergence, in percent; ``goal``: half of it, about.

    ``inputs``: arguments of ``make_input.py`` by file name; ``every``: all mappings of the actors that can run on a
    GPU, or an even sample of them; else the one with all of them there. ``buffers``: sizes of FIFOs in tokens.
    """

    name: str
    figure: int
    network: str
    inputs: tuple[tuple[str, tuple[str, ...]], ...]
    buffers: tuple[int, ...]
    every: bool
    paper: float
    goal: float

    @property
    def path(self) -> Path:
        """The file of the network."""
        return ROOT / "actors" / self.network / f"{self.network}.xdf"


def experiments(*, small: bool) -> tuple[Experiment, ...]:
    """Return the experiments in the order of the paper; ``small``: with inputs for a rehearsal."""
    images = tuple(_image(*size) for size in (SMALL_IMAGES if small else IMAGES))
    pairs = tuple(_pair(*lengths) for lengths in (SMALL_PAIRS if small else PAIRS))
    jpeg, waterman = (512, 1024), (256, 1024)
    return (
        Experiment(
            name="jpeg-images", figure=11, network="jpeg", inputs=images, buffers=jpeg, every=False, paper=6.0, goal=3.0
        ),
        Experiment(
            name="jpeg-mappings",
            figure=12,
            network="jpeg",
            inputs=images[3:4],
            buffers=jpeg,
            every=True,
            paper=26.5,
            goal=13.0,
        ),
        Experiment(
            name="sw-inputs",
            figure=14,
            network="smith_waterman",
            inputs=pairs,
            buffers=waterman,
            every=False,
            paper=15.6,
            goal=8.0,
        ),
        Experiment(
            name="sw-mappings",
            figure=15,
            network="smith_waterman",
            inputs=pairs[:1],
            buffers=waterman,
            every=True,
            paper=22.7,
            goal=11.0,
        ),
    )


def _image(width: int, height: int, quality: int) -> tuple[str, tuple[str, ...]]:
    size = ("--width", str(width), "--height", str(height), "--quality", str(quality))
    return f"{width}x{height}-q{quality}.jpg", (*size, "--sampling", "4:2:0")


def _pair(query: int, reference: int) -> tuple[str, tuple[str, ...]]:
    return f"{query}_{reference}.txt", ("--query", str(query), "--reference", str(reference))


def evenly(count: int, wanted: int) -> list[int]:
    """Return ``wanted`` of the numbers below ``count``, evenly from the first to the last; all if it has fewer."""
    if wanted >= count:
        return list(range(count))
    if wanted == 1:
        return [count - 1]
    return [round(k * (count - 1) / (wanted - 1)) for k in range(wanted)]


def mapping_of(names: Sequence[str], on_gpu: frozenset[str]) -> str:
    """Return the mapping with some actors on the GPU, all at once there, and the others on one core, as text."""
    host = [name for name in names if name not in on_gpu]
    there = [name for name in names if name in on_gpu]
    parts = [f"P0:{','.join(host)}"] if host else []
    return " ".join([*parts, *([f"PG/full-parallel:{','.join(there)}"] if there else [])])


def mappings_of(path: Path, *, every: bool, most: int) -> tuple[tuple[str, ...], int]:
    """Return the mappings of an experiment, and of how many: each actor that can be on the GPU is or is not."""
    actors = abilities_of(load_network(str(path)).network)
    names = [actor.name for actor in actors]
    able = [actor.name for actor in actors if actor.able]
    count = 1 << len(able)
    chosen = evenly(count, most) if every else [count - 1]
    sets = (frozenset(name for bit, name in enumerate(able) if number >> bit & 1) for number in chosen)
    return tuple(mapping_of(names, on_gpu) for on_gpu in sets), count


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """How all is measured. ``link``: the platform file whose link estimates take, None: it could not be measured."""

    cuda: CudaRequest
    out: Path
    weights: Path
    configs: Path
    mappings: int
    rounds: int
    profiles: int
    device: str
    link: Path | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """What an experiment gave; ``document`` None: nothing, and ``why``. ``mappings``: tried, of so many."""

    experiment: Experiment
    document: dict[str, Any] | None
    mappings: int = 0
    of: int = 0
    why: str = ""


def made_inputs(experiment: Experiment, folder: Path) -> tuple[str, ...]:
    """Make the inputs of an experiment by the script beside its network, and return their files."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, options in experiment.inputs:
        if not (folder / name).is_file():
            maker = experiment.path.with_name("make_input.py")
            subprocess.run([sys.executable, str(maker), *options, "-o", str(folder / name)], check=True)
    return tuple(str(folder / name) for name, _ in experiment.inputs)


def measured_experiment(experiment: Experiment, settings: Settings, stage: Callable[[str], None]) -> Outcome:
    """Measure one experiment and write what it gave. Raises what ``measure_mappings`` does."""
    folder = settings.out / experiment.name
    mappings, of = mappings_of(experiment.path, every=experiment.every, most=settings.mappings)
    options = MeasureOptions(
        program=str(experiment.path),
        inputs=made_inputs(experiment, folder),
        cuda=settings.cuda,
        link=None if settings.link is None else str(settings.link),
        mappings=mappings,
        buffers=experiment.buffers,
        profile=ProfileSettings(runs=settings.profiles, calibrate=1),  # sooner than the micro-benchmark
        settings=MeasureSettings(rounds=settings.rounds),
    )
    measured = measure_mappings(options, stage)
    write_measured(measured, folder)
    _keep_weights(experiment, measured, settings)
    document = measured_document(measured)
    why = (
        "" if document["states"] else "the distance of the cores lasted for no two runs of a mapping: give more --runs"
    )
    return Outcome(experiment=experiment, document=document, mappings=len(mappings), of=of, why=why)


def _keep_weights(experiment: Experiment, measured: Measured, settings: Settings) -> None:
    """Write the weights of each input and size, and how those of actions were predicted."""
    for label, profile in measured.profiles:
        folder = settings.weights / experiment.name / (label.replace(" ", "-") or "weights")
        write_profiled_set(profile, folder)
    _, profile = measured.profiles[0]
    rows = compared(experiment, made_inputs(experiment, settings.out / experiment.name)[0], profile.table, settings)
    with (settings.out / experiment.name / "predicted.csv").open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(("actor", "action", "firings", "predicted_ns", "measured_ns", "ratio"))
        writer.writerows(
            (*row[:3], *(f"{value:.1f}" for value in row[3:]), f"{row[3] / row[4]:.3f}") for row in rows if row[4]
        )


def compared(
    experiment: Experiment, path: str, table: WeightTable, settings: Settings
) -> list[tuple[str, str, int, float, float]]:
    """Return actor, action, firings, predicted and measured ns of each action on the GPU, by one thread."""
    program = load_program(str(experiment.path), ())
    trace, _ = record_trace(program, path, count_rounds=True)
    assert program.network is not None, "an experiment has a network"
    device = load_device(settings.device)
    shape = LaunchShape(threads=1, blocks=1)
    here = Platform(name="here", units=())
    predicted = predict_for_device(program.network, trace, device, here, shape=shape, cpu_clock_mhz=None).table
    found = []
    for (actor, action, kind), cost in sorted(table.compute.items()):
        other = predicted.compute.get((actor, action, kind))
        if kind == "gpu" and other is not None and cost.frequency_mhz and other.frequency_mhz:
            both = (float(one.mean_cycles) * 1e3 / float(one.frequency_mhz or 1) for one in (other, cost))
            found.append((actor, action, cost.count or 0, *both))
    return found


# What is told


HEAD = (
    "experiment",
    "figure",
    "mappings",
    "right",
    "largest divergence",
    "goal",
    "paper",
    "mean divergence",
    "Spearman (goal 0.95)",
    "regret (goal 3 %)",
    "predicted actions: Spearman, median ratio",
)


def row_of(outcome: Outcome, out: Path) -> tuple[str, ...]:
    """Return the cells of an experiment; those that were not measured say so."""
    one = outcome.experiment
    goals = (f"{one.goal:g} %", f"{one.paper:g} %")
    document = outcome.document
    if document is None or not document["states"]:
        return (one.name, str(one.figure), *(NOT_MEASURED,) * 3, *goals, *(NOT_MEASURED,) * 4)
    first = document["states"][0]
    by_first = first["by_first"] if not one.every else None
    most = first["max_divergence"] if by_first is None else by_first["max"]
    mean = first["mean_divergence"] if by_first is None else by_first["mean"]
    runs = outcome.mappings * len(one.inputs) * len(one.buffers)
    wrong = len(document["skipped"]) + len(document["wrong"])
    return (
        one.name,
        str(one.figure),
        f"{outcome.mappings} of {outcome.of}" if one.every else f"1, {len(one.inputs)} inputs",
        f"{runs - wrong} of {runs}",
        _percent(most),
        *goals,
        _percent(mean),
        "-" if first["spearman"] is None else f"{first['spearman']:.3f}",
        _percent(first["regret"]),
        predicted_text(out / one.name / "predicted.csv"),
    )


def predicted_text(path: Path) -> str:
    """Return how well predicted costs of actions order measured ones, and the median of their ratio."""
    with path.open(encoding="utf-8", newline="") as file:
        rows = [(float(row["predicted_ns"]), float(row["measured_ns"])) for row in csv.DictReader(file)]
    if len(rows) < 2:
        return f"{len(rows)} actions"
    ours, theirs = np.array(rows).T
    return f"{rank_correlation(ours, theirs):.3f}, {float(np.median(ours / theirs)):.2f} ({len(rows)} actions)"


def _percent(value: float | None) -> str:
    return "-" if value is None else f"{100 * value:.1f} %"


Kind: TypeAlias = Literal["measured", "emulated", "not measured"]
_KINDS: dict[str, Kind] = {"nvcc": "measured", "emulated": "emulated"}


def table_text(outcomes: Iterable[Outcome], out: Path, kind: Kind) -> str:
    """Return the table of all experiments as a page of Markdown."""
    titles = {
        "measured": "Measured on the GPU of this machine.",
        "emulated": "A rehearsal on an emulated GPU: these figures say nothing of a card.",
        "not measured": "Nothing was measured.",
    }
    lines = ["# The experiments of paper 004 on a GPU", "", titles[kind], ""]
    lines += [f"| {' | '.join(HEAD)} |", "|" + "---|" * len(HEAD)]
    told = list(outcomes)
    lines += [f"| {' | '.join(row_of(outcome, out))} |" for outcome in told]
    reasons = dict.fromkeys(f"{one.experiment.name}: {one.why}" for one in told if one.why)
    return "\n".join([*lines, *([""] if reasons else []), *(f"- {reason}" for reason in reasons), ""])


# The command


def run_all(wanted: Sequence[Experiment], settings: Settings, stage: Callable[[str], None]) -> list[Outcome]:
    """Measure the link, then each experiment; what cannot be measured has the reason."""
    try:
        stage("measuring the link")
        path = settings.configs / "this-machine.yaml"
        path.parent.mkdir(parents=True, exist_ok=True)
        measure_link_here(LinkOptions(cuda=settings.cuda, output=str(path)), stage)
        settings = replace(settings, link=path)
    except (BuildError, ExecutionError) as error:
        return [Outcome(experiment=one, document=None, why=_reason(error)) for one in wanted]
    return list(_each(wanted, settings, stage))


def _each(wanted: Sequence[Experiment], settings: Settings, stage: Callable[[str], None]) -> Iterator[Outcome]:
    for one in wanted:
        stage(one.name)
        try:
            yield measured_experiment(one, settings, lambda what, one=one: stage(f"{one.name}: {what}"))  # type: ignore[misc]
        except DseError as error:
            yield Outcome(experiment=one, document=None, why=_reason(error))


def _reason(error: DseError) -> str:
    found = error.first_error
    return f"{found.message}; {found.expected}" if found.expected else found.message


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(description="The experiments of paper 004 on the GPU of this machine.")
    parser.add_argument("--cuda", choices=("nvcc", "emulated"), default="nvcc")
    parser.add_argument("--only", default="", help="names of experiments, with commas")
    parser.add_argument("--mappings", type=_at_least_one, help="of a figure, at most (default 128; emulated: 4)")
    parser.add_argument("--runs", type=_at_least_one, help="of each mapping (default 7; emulated: 2)")
    parser.add_argument("--profiles", type=_at_least_one, help="runs of each profile (default 5; emulated: 2)")
    add_cuda_arch(parser)
    parser.add_argument("--out", type=Path, default=Path("dse-out") / "gpu-paper")
    parser.add_argument("--weights", type=Path, help="folder of the weight sets (default: OUT/weights)")
    parser.add_argument("--configs", type=Path, help="folder of the platform file (default: OUT/configs)")
    parser.add_argument("--device", default="h100", help="device that the prediction of weights takes")
    return parser


def _at_least_one(text: str) -> int:
    value = option_integer(text)
    if value < 1:
        raise argparse.ArgumentTypeError(f"{value} is too few, expected at least 1")
    return value


def _settings(args: argparse.Namespace) -> Settings:
    emulated = args.cuda == "emulated"
    mappings, rounds, profiles = (4, 2, 2) if emulated else (128, 7, 5)
    cuda = cuda_request(args.cuda, args.cuda_arch, here=True)
    assert cuda is not None, "there is a default"
    return Settings(
        cuda=cuda,
        out=args.out,
        weights=args.weights or args.out / "weights",
        configs=args.configs or args.out / "configs",
        mappings=args.mappings or mappings,
        rounds=args.runs or rounds,
        profiles=args.profiles or profiles,
        device=args.device,
    )


def _wanted(parser: argparse.ArgumentParser, args: argparse.Namespace) -> list[Experiment]:
    """Return the experiments that are asked for; a name that is none ends the command."""
    known = {one.name: one for one in experiments(small=args.cuda == "emulated")}
    names = args.only.split(",") if args.only else list(known)
    for name in names:
        if name not in known:
            parser.error(f"there is no experiment '{name}': {', '.join(known)}")
    return [known[name] for name in names]


def main(given: Sequence[str] | None = None) -> int:
    """Measure what is asked for, write the table and print it; 1 where nothing was measured."""
    parser = _parser()
    args = parser.parse_args(given)
    settings = _settings(args)
    outcomes = run_all(_wanted(parser, args), settings, _say)
    done = any(outcome.document is not None for outcome in outcomes)
    text = table_text(outcomes, settings.out, _KINDS[args.cuda] if done else "not measured")
    settings.out.mkdir(parents=True, exist_ok=True)
    write_whole(settings.out / "table.md", text)
    print(text)
    return 0 if done else 1


def _say(what: str) -> None:
    print(what, file=sys.stderr, flush=True)


if __name__ == "__main__":
    sys.exit(main())
