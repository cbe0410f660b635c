"""Mappings with partitions on a GPU, as files, and programs whose GPU is emulated."""

import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from xml.sax.saxutils import quoteattr

from dse.flows.gpu_actors import abilities_of
from dse.native.build import BuildOptions
from dse.native.cuda import DeviceBuild
from dse.program.network import Network
from dse.run.instance import capacities

EMULATED = DeviceBuild()
PLAIN = BuildOptions(jobs=1, device=EMULATED)
ADDRESS = BuildOptions(jobs=1, sanitize=("address", "undefined"), device=EMULATED)
THREAD = BuildOptions(jobs=1, sanitize=("thread",), device=EMULATED)
GPU_POLICIES = ("FULL_PARALLEL", "FULL_PARALLEL", "NON_PREEMPTIVE", "ROUND_ROBIN")
CPU_POLICIES = ("NON_PREEMPTIVE", "ROUND_ROBIN", "FULL_PARALLEL")


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """A partition: actors by number."""

    actors: tuple[int, ...]
    policy: str
    gpu: bool


def able(network: Network) -> list[int]:
    """Return the numbers of the actors that can run on a GPU."""
    return [k for k, actor in enumerate(abilities_of(network)) if actor.able]


def write_mapping(network: Network, parts: Sequence[Part], path: Path, fifo_tokens: int = 512) -> Path:
    """Write an XCF file in which the first partition on a GPU is ``PG``; others say it by our own attribute."""
    sizes, seen = capacities(network, fifo_tokens), 0
    lines = ['<Configuration xmlns:dse="urn:dse:design-point:1">', "  <Partitioning>"]
    for k, part in enumerate(parts):
        first = part.gpu and not seen
        seen += part.gpu
        unit = ' dse:unit="gpu"' if part.gpu and not first else ""
        lines.append(f'    <Partition id="{"PG" if first else f"P{k}"}" scheduling="{part.policy}"{unit}>')
        lines += [f"      <Instance id={quoteattr(network.instances[a].name)}/>" for a in part.actors]
        lines.append("    </Partition>")
    lines += ["  </Partitioning>", "  <Connections>"]
    for connection, size in zip(network.connections, sizes, strict=True):
        source, target = network.instances[connection.source], network.instances[connection.target]
        ends = (
            ("source", source.name),
            ("source-port", source.actor.outputs[connection.source_port].name),
            ("target", target.name),
            ("target-port", target.actor.inputs[connection.target_port].name),
        )
        words = " ".join(f"{key}={quoteattr(value)}" for key, value in ends)
        lines.append(f'    <Connection {words} size="{size}"/>')
    lines += ["  </Connections>", "</Configuration>", ""]
    path.write_text("\n".join(lines), encoding="utf-8")
    return path


def on_gpu(network: Network, chosen: Sequence[int], policy: str = "FULL_PARALLEL") -> list[Part]:
    """Return the mapping with some actors on the GPU and all others on one thread."""
    rest = tuple(k for k in range(len(network.instances)) if k not in set(chosen))
    parts = [Part(actors=rest, policy="ROUND_ROBIN", gpu=False), Part(actors=tuple(chosen), policy=policy, gpu=True)]
    return [part for part in parts if part.actors]


def random_parts(network: Network, rng: random.Random) -> list[Part]:
    """Return a random mapping with at least one actor on a GPU, if there is one that can run there."""
    candidates = able(network)
    chosen = [k for k in candidates if rng.random() < 0.7] or candidates[:1]
    rest = [k for k in range(len(network.instances)) if k not in set(chosen)]
    rng.shuffle(chosen)
    rng.shuffle(rest)
    return [*_cut(rest, rng, gpu=False), *_cut(chosen, rng, gpu=True)]


def _cut(actors: list[int], rng: random.Random, *, gpu: bool) -> Iterator[Part]:
    place = rng.randint(0, len(actors)) if rng.random() < 0.5 else len(actors)
    for held in (actors[:place], actors[place:]):
        if held:
            policies = GPU_POLICIES if gpu else CPU_POLICIES[: 3 if len(held) < 6 else 2]
            yield Part(actors=tuple(held), policy=rng.choice(policies), gpu=gpu)
