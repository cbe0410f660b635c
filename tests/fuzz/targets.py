"""The table of what is attacked: each kind of file through every verb that reads it, the command line, the names."""

import io
import json
import random
import sqlite3
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import yaml

from tests.fuzz import editor, live_page, native_bindings, native_calls, native_files, native_program, trace_files
from tests.fuzz.behaviour import fault_of
from tests.fuzz.harness import Attack
from tests.fuzz.hostile import NAMES, NUMBERS
from tests.fuzz.mutations import (
    Mutation,
    mutate_bytes,
    mutate_tree,
    mutate_words,
    mutate_xml,
)

ACTORS = Path(__file__).parents[2] / "actors"
CORPUS = Path(__file__).parent / "corpus"
"""``corpus/TARGET/*``: files that once were faults."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FileTarget:
    """A file of the scene, how it is changed, and the commands that read it (one is chosen by chance)."""

    name: str
    file: str
    mutations: tuple[Mutation, ...]
    commands: tuple[str, ...]

    def attack(self, rng: random.Random, folder: Path) -> str | None:
        """Change the file, or one that once was a fault, and read it."""
        path = folder / self.file
        seed = rng.choice([path, *self.kept(), path, path])
        path.write_bytes(rng.choice(self.mutations)(rng, seed.read_bytes()))
        return self.read(folder, rng.choice(self.commands))

    def read(self, folder: Path, command: str) -> str | None:
        """Run a command that reads the file; return its fault."""
        fault = fault_of(command.split(), folder)
        return None if fault is None else f"dse {command}\n{fault}"

    def kept(self) -> list[Path]:
        """Return the files of the corpus."""
        return sorted((CORPUS / self.name).glob("*"))

    def replay(self, kept: Path, folder: Path) -> str | None:
        """Read a file of the corpus as it is, by every command; return the first fault."""
        (folder / self.file).write_bytes(kept.read_bytes())
        faults = (self.read(folder, command) for command in self.commands)
        return next((fault for fault in faults if fault is not None), None)


def _mutate_yaml(rng: random.Random, data: bytes) -> bytes:
    """Change a YAML document as a tree."""
    try:
        tree = yaml.safe_load(io.BytesIO(data))
        return yaml.safe_dump(mutate_tree(rng, tree), allow_unicode=rng.random() < 0.5).encode("utf-8", "replace")
    except (yaml.YAMLError, ValueError, RecursionError):
        return mutate_words(rng, data)


def _counting(mutation: Mutation) -> Mutation:
    """Return a mutation of a study file after which it still names weights: measuring them compiles for long."""

    def mutated(rng: random.Random, data: bytes) -> bytes:
        changed = mutation(rng, data)
        return changed if b"weights: nominal" in changed else changed + b"\nweights: nominal\n"

    return mutated


_TEXT = (mutate_words, mutate_words, mutate_words, mutate_bytes)
_XML = (mutate_xml, mutate_xml, mutate_words, mutate_bytes)
_YAML = (_mutate_yaml, _mutate_yaml, mutate_words, mutate_bytes)
_STUDY = tuple(map(_counting, _YAML))
_RUN = "run net.xdf --max-firings 3000 --quiet"
_SEARCHED = "--weights nominal --partitions 3 --budget 30 --workers 1 --method tabu --best 1 --quiet --out study"
_RESUME = f"explore net.xdf {_SEARCHED} --resume"
_BREAKDOWN = "gpu breakdown kernel.cl --device a8-3870 --define N=64 --measured tiles.csv"
_SEARCH = "--quiet --weights w --budget 4 --workers 1 --best 1 --method random --out out"


def _file(name: str, file: str, mutations: tuple[Mutation, ...], *commands: str) -> FileTarget:
    """Return a file of the scene: how it is changed, and the commands that read it."""
    return FileTarget(name=name, file=file, mutations=mutations, commands=commands)


FILES: tuple[FileTarget, ...] = (
    _file("network", "net.xdf", _XML, "check net.xdf", _RUN, f"explore net.xdf {_SEARCH}"),
    _file("inner-network", "fuzz/Inner.xdf", _XML, "check net.xdf", _RUN, "check --all ."),
    *(
        _file(
            f"actor-{name.lower()}",
            f"fuzz/{name}.cal",
            _TEXT,
            f"check fuzz/{name}.cal",
            _RUN,
            _RUN,
            "trace net.xdf -o out.trace --max-firings 3000 --quiet",
            "check net.xdf --print-ir filter --explicit",
        )
        for name in ("Filter", "Source", "Scale", "Sink", "Constants")
    ),
    _file(
        "trace",
        "net.trace",
        (mutate_bytes,),
        "trace --info net.trace",
        "estimate net.trace --weights w --timeline t.json",
        "estimate net.trace --weights w --timeline t.pftrace",
        "why net.trace --weights w",
    ),
    _file(
        "sdf3",
        "camera.xml",
        _XML,
        "trace --info camera.xml --iterations 3",
        "trace camera.xml --export out.xml --iterations 2",
        "estimate camera.xml --iterations 3 --engine reference",
        "explore camera.xml --iterations 5 --quiet --budget 4 --workers 1 --best 1 --method random --out out",
    ),
    _file(
        "tgff",
        "robot.tgff",
        _TEXT,
        "trace robot.tgff --export out.xml --iterations 2",
        "estimate robot.tgff --iterations 3 --engine reference",
        "estimate robot.tgff --graph 1 --engine reference",
    ),
    *(
        _file(
            f"preesm-{name}",
            f"bakery/{file}",
            _XML,
            "estimate bakery/Scenarios/bakery.scenario --iterations 2 --engine reference",
        )
        for name, file in (
            ("graph", "Algo/bakery.pi"),
            ("inner", "Algo/oven.pi"),
            ("scenario", "Scenarios/bakery.scenario"),
        )
    ),
    *(
        _file(f"turnus-{name}", file, mutations, f"trace --import {trace} --net turnus.net -o out.trace")
        for name, file, mutations, trace in (
            ("trace", "turnus.trace", _XML, "turnus.trace"),
            ("packed", "turnus.tracez", (mutate_bytes,), "turnus.tracez"),
            ("net", "turnus.net", _TEXT, "turnus.trace"),
        )
    ),
    *(
        _file(
            f"weights-{kind}",
            f"w/weights-CPU.{kind}",
            _XML,
            "weights show w",
            "weights merge w -o out",
            "estimate net.trace --weights w --missing-weights zero",
        )
        for kind in ("exdf", "sxdf", "cxdf")
    ),
    _file(
        "weights-visits",
        "far.cxdf",
        _XML,
        "weights show far.cxdf",
        "weights convert far.cxdf -o out.cxdf",
        "estimate net.trace --mapping map.xcf --weights w --weights far.cxdf",
    ),
    _file(
        "weights-manifest",
        "w/manifest.yaml",
        _YAML,
        "weights show w",
        "estimate net.trace --weights w --missing-weights zero",
    ),
    _file(
        "mapping",
        "map.xcf",
        _XML,
        "estimate net.trace --mapping map.xcf --weights w",
        "buffers net.trace --mapping map.xcf --weights w",
    ),
    _file("mapping-csv", "many.csv", _TEXT, "estimate net.trace --mapping many.csv --weights w"),
    _file("measured-times", "times.csv", _TEXT, "gpu calibrate gtx1080ti times.csv"),
    _file("mapping-text", "map.txt", _TEXT, "estimate net.trace --mapping map.txt --weights w"),
    _file(
        "buffer-sizes",
        "sizes.bxdf",
        _XML,
        "estimate net.trace --buffers sizes.bxdf --weights w",
        f"explore net.trace --buffers sizes.bxdf {_SEARCH}",
        "throughput net.trace --buffers sizes.bxdf --weights w",
    ),
    _file(
        "slam", "bakery/Archi/2Cores.slam", _XML, "estimate net.trace --platform bakery/Archi/2Cores.slam --weights w"
    ),
    _file(
        "platform",
        "board.yaml",
        _YAML,
        "estimate net.trace --platform board.yaml --weights w",
        f"explore net.trace --platform board.yaml {_SEARCH}",
    ),
    _file(
        "device",
        "card.yaml",
        _YAML,
        "gpu predict kernel.c --device card.yaml",
        "gpu choose kernel.c --devices card.yaml jetson-tk1",
    ),
    _file("fpga", "fpga.yaml", _YAML, "gpu choose kernel.c --fpga fpga.yaml"),
    _file(
        "kernel",
        "kernel.c",
        _TEXT,
        "gpu predict kernel.c --trace-size 16",
        "gpu choose kernel.c --devices jetson-tk1 --fpga zc702",
    ),
    _file(
        "scaling-set",
        "set.csv",
        _TEXT,
        "gpu scaling train set.csv --base 1000/500 --card mine --clusters 2 --penalty 1 -o out.json",
        "gpu scaling judge set.csv --base 1000/500 --clusters 2 --penalty 1",
    ),
    _file("scaling-blocks", "blocks.csv", _TEXT, "gpu scaling judge blocks.csv --base 500/500 --clusters 2"),
    _file("scaling-counters", "counters.csv", _TEXT, "gpu scaling predict model.json counters.csv"),
    _file("scaling-model", "model.json", _TEXT, "gpu scaling predict model.json counters.csv"),
    _file("tiles", "tiles.csv", _TEXT, _BREAKDOWN),
    _file("opencl-kernel", "kernel.cl", _TEXT, _BREAKDOWN, _BREAKDOWN.replace("a8-3870", "gtx660")),
    _file(
        "host-program", "host.c", _TEXT, "gpu breakdown kernel.cl --device a8-3870 --host host.c --measured tiles.csv"
    ),
    _file("study", "study/study.sqlite", (mutate_bytes,), _RESUME),
    _file(
        "results",
        "study/study.sqlite",
        (mutate_bytes,),
        "study show study",
        "study export study",
        "study compare study study/study.sqlite",
    ),
    _file("ranking", "study/ranking.json", _TEXT, "study show study --json", "study compare study study"),
    _file("study-file", "study/study.yaml", _STUDY, "study run study/study.yaml --out out --workers 1 --quiet"),
    _file("picture", "picture.jpg", (mutate_bytes,), f"run {ACTORS}/jpeg/jpeg.xdf -i picture.jpg -o out.png --quiet"),
    _file("sequences", "dna.txt", _TEXT, f"run {ACTORS}/smith_waterman/smith_waterman.xdf -i dna.txt --quiet"),
    *(
        _file(name, file, _XML, "check net.xdf", "check --all .")
        for name, file in (("project", ".project"), ("source-folders", ".classpath"))
    ),
    _file("default-input", "input.default", _TEXT, _RUN, f"explore net.xdf {_SEARCH}"),
)
"""Every kind of file."""


def study_values(rng: random.Random, folder: Path) -> str | None:
    """Put hostile values into the tables of a study, and continue it."""
    with sqlite3.connect(folder / "study/study.sqlite", isolation_level=None) as connection:
        for _ in range(rng.choice((1, 1, 2))):
            _change_cell(rng, connection)
    connection.close()
    fault = fault_of(_RESUME.split(), folder)
    return None if fault is None else f"dse {_RESUME}\n{fault}"


def _change_cell(rng: random.Random, connection: sqlite3.Connection) -> None:
    """Change one value of a table, drop a row, a column or the table."""
    tables = [row[0] for row in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
    if not tables:
        return
    table = rng.choice(tables)
    columns = [row[1] for row in connection.execute(f"PRAGMA table_info({table})")]
    column, row = rng.choice(columns), rng.randrange(30)
    where = f"WHERE rowid = (SELECT rowid FROM {table} LIMIT 1 OFFSET {row % 7})"
    statements = [
        f"DELETE FROM {table} {where}",
        f"DROP TABLE {table}",
        f"ALTER TABLE {table} RENAME TO t",
        f"ALTER TABLE {table} RENAME {column} TO c",
    ]
    try:
        if rng.random() < 0.12:
            connection.execute(rng.choice(statements))
        else:
            connection.execute(f"UPDATE {table} SET {column} = ? {where}", (_cell(rng),))
    except (sqlite3.Error, OverflowError):
        pass  # the file does not take it: the case is the file as it is


def _cell(rng: random.Random) -> object:
    """Return what stands in the place of a value of a table."""
    blobs = [b"", b"\x01", b"\xff\xff", rng.randbytes(20), b"x\x9c" + rng.randbytes(8), b"\x08" + b"\xff" * 64]
    whole = [0, -1, 1, 7, 2**31, 2**63 - 1, -(2**63)]
    floats = [0.0, -1.5, float("inf"), 1e308, 0.1]
    texts = [*NAMES, *NUMBERS, "[]", "{}", "[1e999]", "[" * 5000, '{"a":[1,{}]}']
    return rng.choice([None, rng.choice(whole), rng.choice(floats), rng.choice(blobs), rng.choice(texts)])


_OPTIONS: tuple[tuple[str, tuple[str, ...]], ...] = (
    (
        f"explore net.trace {_SEARCH}",
        (
            "--partitions",
            "--pin",
            "--policy",
            "--buffers",
            "--clocks",
            "--transfers",
            "--method",
            "--objectives",
            "--budget",
            "--seed",
            "--workers",
            "--batch",
            "--best",
            "--platform",
            "--engine",
        ),
    ),
    (
        "estimate net.trace --weights w",
        ("--buffers", "--clocks", "--mapping", "--release", "--platform", "--engine", "--timeline"),
    ),
    (
        "estimate camera.xml --engine reference",
        ("--iterations", "--processor", "--graph", "--weights", "--missing-weights"),
    ),
    ("throughput camera.xml", ("--buffers", "--storage", "--release", "--processor", "--missing-weights")),
    ("buffers net.trace --weights w", ("--method", "--tolerance", "--mapping")),
    (_RUN, ("--loops", "--frames", "--fifo-size", "--max-firings", "--tolerance", "--native", "--source-path")),
    ("trace net.xdf -o out.trace --quiet", ("--loops", "--frames", "--fifo-size", "--max-firings")),
    (
        "gpu predict kernel.c",
        ("--define", "--block", "--trace-size", "--parallel", "--tile", "--launches", "--model", "--device"),
    ),
    (
        "gpu choose kernel.c --devices jetson-tk1",
        ("--fpga", "--fpga-ms", "--cpu-ms", "--define", "--block", "--trace-size", "--launches"),
    ),
    (
        "gpu predict --model memory_pipeline --requests 5 --transactions 1 --warps 60",
        ("--requests", "--transactions", "--warps", "--launches"),
    ),
    (
        "gpu sweep kernel.c --over N=16,32 --devices gtx1080ti",
        ("--over", "--define", "--block", "--models", "--trace-size", "--warps", "--measured"),
    ),
    (
        "gpu scaling predict model.json counters.csv",
        ("--at",),
    ),
    (
        "gpu scaling judge set.csv --base 1000/500 --clusters 2 --penalty 1",
        ("--base", "--clusters", "--penalty", "--seed"),
    ),
    (
        _BREAKDOWN,
        ("--define", "--device", "--tile", "--size", "--operations", "--repeats", "--kernel", "--host", "--put"),
    ),
    ("weights predict net.xdf -o out --device jetson-tk1", ("--threads", "--platform")),
    ("check net.xdf", ("--print-ir", "--source-path", "--all")),
)
_OPTION_FORMS: tuple[Callable[[str], str], ...] = (
    lambda x: x,
    lambda x: x,
    lambda x: f"{x},{x}s",
    lambda x: f"1-{x}",
    lambda x: f"cpu={x}",
    lambda x: f"cpu={x},{x}1",
    lambda x: f"N={x}",
    lambda x: f"{x}x{x}",
    lambda x: f"{x}s",
    lambda x: f"{x}%",
    lambda x: f"filter={x}",
    lambda x: f"{x}h",
)
"""How a number or a name may stand in the value of an option."""


def options(rng: random.Random, folder: Path) -> str | None:
    """Give hostile values to options of the command line."""
    command, names = rng.choice(_OPTIONS)
    arguments = command.split()
    for _ in range(rng.choice((1, 1, 2))):
        value = rng.choice(_OPTION_FORMS)(rng.choice(NUMBERS if rng.random() < 0.7 else NAMES))
        name = rng.choice(names)
        arguments += [f"{name}={value}"] if rng.random() < 0.5 else [name, value]
    if any("\0" in argument for argument in arguments):
        return None
    fault = fault_of(arguments, folder)
    return None if fault is None else f"dse {json.dumps(arguments)}\n{fault}"


def arguments_at_random(rng: random.Random, folder: Path) -> str | None:
    """Give words of the command line in an order by chance."""
    words = [w for command, names in _OPTIONS for w in (*command.split(), *names)]
    arguments = [rng.choice(words) for _ in range(rng.randrange(1, 7))]
    if "--workers" in arguments:
        return None
    fault = fault_of(arguments, folder)
    return None if fault is None else f"dse {json.dumps(arguments)}\n{fault}"


TARGETS: dict[str, Attack] = {
    **{target.name: target.attack for target in FILES},
    "editor": editor.attack,
    "live-page": live_page.attack,
    "study-values": study_values,
    "trace-contents": trace_files.attack,
    "native-files": native_files.attack,
    "native-calls": native_calls.attack,
    "native-bindings": native_bindings.attack,
    "program-documents": native_program.documents,
    "program-mappings": native_program.mappings,
    "program-options": native_program.options,
    "options": options,
    "arguments": arguments_at_random,
}
"""Name -> the function that makes and runs one case."""


def kept_faults(names: Sequence[str]) -> list[tuple[FileTarget, Path]]:
    """Return the files of the corpus with their targets."""
    return [(target, kept) for target in FILES if target.name in names for kept in target.kept()]
