"""Many random networks in one program: side by side, without connections, so that one build serves them all."""

import hashlib
import os
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from dse.base.caches import digest_of
from dse.frontend.network.elaborate import load_network
from dse.program.network import Network
from dse.program.verify.actors import verify
from dse.program.verify.findings import assert_none
from tests.native.shared import written_once
from tests.property.native_networks import RandomNetwork, random_network, write_batch

CASES = int(os.environ.get("DSE_NATIVE_CASES", "0"))
"""Random networks more than the fixed sample; ``make test-full`` sets it."""
INPUT = bytes(hashlib.sha256(b"input").digest() * 40)


@dataclass(frozen=True, slots=True, kw_only=True)
class Batch:
    """Random networks as one. ``input``: a file that those read which read one."""

    parts: tuple[RandomNetwork, ...]
    network: Network
    input: Path


def batch(
    seeds: range,
    *,
    timed: tuple[bool, ...] = (False, True),
    small: bool = False,
    reading: bool = True,
    silent: bool = False,
    apart: bool = False,
) -> Batch:
    """Return the networks of some seeds, of both kinds by turns or of one, as one network.

    ``small``: every third has small FIFOs. ``reading``: with those whose actors read one input together. ``silent``:
    of actors that can run on a GPU. ``apart``: of those, and most actions leave nothing for the next firing.
    """
    parts = [
        random_network(s, timed=timed[k % len(timed)], small_fifos=small and k % 3 == 0, silent=silent, apart=apart)
        for k, s in enumerate(seeds)
    ]
    kept = tuple(p for p in parts if reading or not any("source_readByte" in a.text for a in p.actors))
    top = written_once(f"batch-{digest_of(repr(kept))}", partial(write_batch, kept))
    network = load_network(str(top)).network
    for instance in network.instances:
        assert_none(verify(instance.actor), instance.name)
    return Batch(parts=kept, network=network, input=written_once("batch-input", write_input))


def write_input(folder: Path) -> Path:
    """Write the file that those read which read one."""
    (folder / "input").write_bytes(INPUT)
    return folder / "input"
