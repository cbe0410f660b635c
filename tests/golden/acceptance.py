"""The acceptance networks of cal.md section 4: how each is run, and what is compared with its golden record.

Golden records (``tests/golden/cal``) are from an independent implementation. The public corpus orc-apps is found by
DSE_CORPORA (the folder of orc-apps), inputs by DSE_REFERENCE_DATA (default: ``shared`` beside the checkout).
"""

import json
import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, Protocol, TypeAlias

from dse.frontend.network.elaborate import load_network
from dse.program.network import Network
from dse.run.execution import RunResult, run_network
from dse.run.options import RunOptions

HERE = Path(__file__).parent
RECORDS = HERE / "cal"
REFERENCE_DATA = Path(os.environ.get("DSE_REFERENCE_DATA", HERE.parents[2] / "shared"))
Extent: TypeAlias = Literal["all", "tokens", "output"]
"""What is compared: everything; tokens and output (firings depend on the schedule); output only (it never ends)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Acceptance:
    """One network: its path in orc-apps, its input (in ``streams``, or below orc-apps), and what is compared."""

    path: str
    stream: str = ""
    corpus_input: str = ""
    extent: Extent = "all"
    hashed: bool = True
    """Whether the hash of each channel is compared (not where the merge order depends on the schedule)."""
    reference: str = ""
    """Expected output below orc-apps; its numbers are the first ones of ours."""
    pictures: str = ""
    """Expected pictures in ``streams``."""
    slow: bool = False

    @property
    def name(self) -> str:
        """Name of the golden record."""
        return self.path.replace("/", ".")


NETWORKS = (
    Acceptance(path="HelloWorld/src/Example"),
    Acceptance(path="AddArray/src/xdf/TopAddArray"),
    Acceptance(path="Filters/src/iir/DUT_IIR"),
    Acceptance(path="CALHStone/src/adpcm/Codec"),
    Acceptance(path="CALHStone/src/aes/enc/top_AESenc"),
    Acceptance(path="CALHStone/src/blowfish/BlowFish"),
    Acceptance(path="CALHStone/src/dfmul/Top_DF_MUL"),
    Acceptance(path="Crypto/Testbeds/Block_Ciphers/DES/DES_Encipher_testbed", hashed=False),
    Acceptance(path="Crypto/Testbeds/Block_Ciphers/Modes/AES_CBC_Encipher_testbed"),
    Acceptance(path="Crypto/Testbeds/Hash_Functions/SHA_2/SHA-256_testbed", extent="tokens"),
    Acceptance(
        path="DigitalFiltering/src/FIR/FIR_lowlevel",
        corpus_input="DigitalFiltering/lib/input_signals/fir",
        reference="DigitalFiltering/lib/reference_output/fir/sink.out",
        extent="output",
    ),
    Acceptance(
        path="DigitalFiltering/src/IIR/IIR_monolithic",
        corpus_input="DigitalFiltering/lib/input_signals/iir",
        reference="DigitalFiltering/lib/reference_output/iir/sink.out",
        extent="output",
    ),
    Acceptance(
        path="ZigBee/src/multitoken_tx/Top_ZigBee_tx",
        corpus_input="ZigBee/lib/input_signals/tx_stream.in",
        reference="ZigBee/lib/reference_output/tx_stream.out",
        extent="output",
    ),
    Acceptance(
        path="Genetic/src/alignement/smithwaterman/systolic/Top_SW_from_file", stream="dna.txt", extent="tokens"
    ),
    Acceptance(path="JPEG/src/jpeg/decoder/Top_Decoder", stream="foreman_qcif_5f.mjpg"),
    Acceptance(path="RVC/src/org/sc29/wg11/mpeg4/part2/sp/Top_mpeg4_part2_SP_decoder", stream="bits.bin"),
    Acceptance(
        path="RVC/src/org/sc29/wg11/mpeg4/part10/cbp/Top_mpeg4_part10_CBP_decoder",
        stream="b1n.264",
        pictures="b1n.yuv",
        slow=True,
    ),
)


class Missing(Exception):
    """Data that a comparison needs are not on this machine."""


class Runner(Protocol):
    """Runs a network; another execution may be put in the place of the interpreter."""

    def __call__(self, network: Network, options: RunOptions) -> RunResult:
        """Return what the run gave."""
        ...


def corpus() -> Path:
    """Return the folder of orc-apps. Raises ``Missing``."""
    folder = os.environ.get("DSE_CORPORA")
    if folder is None:
        raise Missing("DSE_CORPORA does not name the folder of the public corpus orc-apps")
    for path in (Path(folder), Path(folder) / "orc-apps"):
        if (path / "HelloWorld" / "src").is_dir():
            return path
    raise Missing(f"DSE_CORPORA={folder} holds no orc-apps")


def golden(case: Acceptance) -> dict[str, Any]:
    """Return the golden record of a network."""
    record: dict[str, Any] = json.loads((RECORDS / f"{case.name}.json").read_text())
    return record


def prepare(case: Acceptance, root: Path, folder: Path, *, hashed: bool = True) -> tuple[Network, RunOptions]:
    """Return the network and the options it is run with. Raises ``Missing`` when its data are not there."""
    path = root / f"{case.path}.xdf"
    if not path.is_file():
        raise Missing(f"{case.path}.xdf is not in the corpus")
    given = root / case.corpus_input if case.corpus_input else None
    pictures = None
    if case.stream:
        given = REFERENCE_DATA / "streams" / case.stream
    if case.pictures:
        pictures = str(REFERENCE_DATA / "streams" / case.pictures)
    if given is not None and not given.exists():
        raise Missing(f"{given.name} is not on this machine (DSE_REFERENCE_DATA)")
    options = RunOptions(
        input=str(given) if given else None,
        output=str(folder / "out.txt") if case.reference else None,
        reference=pictures,
        hash_channels=hashed and case.hashed and case.extent != "output",
    )
    return load_network(str(path)).network, options


def differences(case: Acceptance, network: Network, options: RunOptions, result: RunResult, root: Path) -> list[str]:
    """Return what differs from the golden record and the expected output, one line each."""
    record = golden(case)
    found = []
    if result.stdout != record["stdout"]:
        found.append("standard output differs")
    if case.extent != "output":
        found += _channel_differences(result, record)
    if case.extent == "all":
        found += _firing_differences(network, result, record)
    if case.reference:
        assert options.output is not None
        found += _output_differences(Path(options.output), root / case.reference)
    comparison = result.comparison
    if case.pictures and (comparison is None or comparison.equal < comparison.compared):
        found.append(f"pictures differ: {comparison}")
    if result.deadlock is not None:
        found.append(f"deadlock: {result.deadlock}")
    return found


def _channel_differences(result: RunResult, record: dict[str, Any]) -> list[str]:
    ours = {c.name: c for c in result.channels}
    theirs = record["channels"]
    if ours.keys() != theirs.keys():
        return ["the channels differ"]
    found = []
    for name, channel in ours.items():
        expected = theirs[name]
        if (channel.tokens, channel.left) != (expected["n"], expected["left"]):
            found.append(f"{name}: {channel.tokens} tokens, {channel.left} left, not {expected}")
        if channel.digest is not None and f"{channel.digest:016x}" != expected["h"]:
            found.append(f"{name}: other tokens")
    return found


def _firing_differences(network: Network, result: RunResult, record: dict[str, Any]) -> list[str]:
    """Compare firings by action; the records number untagged actions by their place among all, without initializers."""
    found = []
    for instance, counts in zip(network.instances, result.actions, strict=True):
        actor = instance.actor
        ours = {
            (a.name if a.tagged else f"untagged_{k}"): n
            for k, (a, n) in enumerate(zip(actor.actions, counts, strict=True))
            if n and k not in actor.initializers
        }
        if ours != record["actions"][instance.name]:
            found.append(f"{instance.name}: fired {ours}, not {record['actions'][instance.name]}")
    return found


def _output_differences(ours: Path, theirs: Path) -> list[str]:
    """Compare numbers; a reference may end one early, for its program ends as soon as its input does."""
    got, expected = ours.read_text().split(), theirs.read_text().split()
    if got[: len(expected)] != expected or len(got) > len(expected) + 1:
        return [f"the output differs from {theirs.name}"]
    return []


def run_case(case: Acceptance, root: Path, folder: Path, runner: Runner = run_network) -> tuple[RunResult, list[str]]:
    """Run one network and return what it gave and what is wrong with that."""
    network, options = prepare(case, root, folder)
    result = runner(network, options)
    return result, differences(case, network, options, result, root)
