"""A native program with hostile mapping files and options, compiled once under sanitizers, which end it at a fault.

Where there is no compiler nothing is attacked.
"""

import random
import subprocess
from functools import cache
from pathlib import Path

from tests.fuzz.behaviour import EXIT_CODES, SECONDS, is_live
from tests.fuzz.hostile import NAMES, NUMBERS
from tests.fuzz.mutations import mutate_bytes, mutate_words, mutate_xml
from tests.native.config.comparison import difference, same_as_lxml
from tests.native.config.documents import random_document
from tests.native.config.readers import Readers, compiled
from tests.native.shared import COMPILER
from tests.unit.formats.test_xcf import EXELIXI, NET, STREAMBLOCKS, TURNUS

_MAPPINGS = (EXELIXI, EXELIXI.replace('"PG"', '"P2"'), TURNUS, STREAMBLOCKS, STREAMBLOCKS.replace('"gpu"', '"ARM"'))
_SIZES = """<bxdf network="jpeg" default-size="32">
  <connection source="src" source-port="O0" target="idct/row" target-port="I0" size="7"/>
  <connection source-actor="src" source-port="O1" target-actor="sink" target-port="I0" size="9"/>
</bxdf>"""
_VALUES = ("-s", "-l", "-f", "--tolerance", "--idle-firings", "--max-memory", "--mapping", "--buffers", "-i", "-y")
_WRITING = ("--trace", "--result")
_PLACES = ("t", "t", "no/such/t", "/dev/full", "/dev/null", ".", "", " ", "x" * 3000, "\x1b[31m", "a\nb")
"""What may be written: a case must not reach beyond its folder, whoever runs it."""
_SWITCHES = ("--pin", "--no-pin", "--show-mapping", "--hashes", "--why", "--quiet", "--help", "--version")
_UNLIMITED = ("sh", "-c", 'ulimit -Sv unlimited; exec "$0" "$@"')
"""A sanitizer needs addresses without end, which the fuzzers bound."""


@cache
def _readers() -> Readers:
    return Readers(*_UNLIMITED, str(compiled()))


def documents(rng: random.Random, _folder: Path) -> str | None:
    """Read a changed XML document, which lxml reads too."""
    data = rng.choice((mutate_bytes, mutate_words))(rng, random_document(rng))
    return None if COMPILER is None or same_as_lxml(_readers(), data) else f"not as lxml: {data!r}"


def mappings(rng: random.Random, folder: Path) -> str | None:
    """Read a changed mapping file, or file of sizes, as Python does."""
    sizes = rng.random() < 0.25
    path = folder / ("map.bxdf" if sizes else "map.xcf")
    text = _SIZES if sizes else rng.choice(_MAPPINGS)
    path.write_bytes(rng.choice((mutate_xml, mutate_xml, mutate_words, mutate_bytes))(rng, text.encode()))
    return None if COMPILER is None else difference(_readers(), path, NET)


def options(rng: random.Random, folder: Path) -> str | None:
    """Start a program with options of chance."""
    arguments: list[str] = []
    for _ in range(rng.choice((1, 1, 2, 3))):
        name = rng.choice(_VALUES if rng.random() < 0.8 else _WRITING)
        value = rng.choice(_PLACES if name in _WRITING else NUMBERS if rng.random() < 0.6 else NAMES)
        forms = ([name, value], [f"{name}={value}"], [f"{name}{value}"], [rng.choice(_SWITCHES)], [value])
        arguments += rng.choice(forms)
    if COMPILER is None or any("\0" in argument for argument in arguments):
        return None
    command = [*_UNLIMITED, str(compiled()), "fan", "--max-firings", "3000", *arguments]
    try:
        done = subprocess.run(
            command, cwd=folder, stdin=subprocess.DEVNULL, capture_output=True, timeout=SECONDS, check=False
        )
    except subprocess.TimeoutExpired:
        return f"{arguments}\ntakes more than {SECONDS:g} s"
    said = done.stderr.decode("utf-8", "replace")
    wrong = _wrong(done.returncode, said)
    return None if wrong is None else f"{arguments}\n{wrong}\n{said[-2000:]}"


def _wrong(code: int, said: str) -> str | None:
    if code not in EXIT_CODES:
        return f"exit code {code}"
    if code == 2 and not said.startswith("error: ") and ": error: " not in said:
        return "refuses without a word"
    live = next((c for c in said if is_live(c)), None)
    return None if live is None else f"prints {live!r} as it is"
