"""``manifest.json`` beside a native program: what was built, of what, by which compiler with which flags."""

import platform as host
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import dse
from dse.base.escaping import encodable, json_text
from dse.base.files import write_whole
from dse.native.build import BuildOptions
from dse.native.project import KIND, MANIFEST
from dse.native.toolchain import Compiler, CompilerVersion
from dse.program.network import Network


@dataclass(frozen=True, slots=True, kw_only=True)
class ManifestFacts:
    """What a manifest tells of a build. ``files``: digests (sha256) of the files of the folder, by path.

    ``sources``: digests of the files of the network. ``natives``: (native, what stands for it) that the user bound.
    """

    network: Network
    compiler: Compiler
    version: CompilerVersion
    options: BuildOptions
    sources: Mapping[str, str]
    files: Mapping[str, str]
    natives: tuple[tuple[str, str], ...] = ()


def write_manifest(folder: Path, facts: ManifestFacts) -> None:
    """Write the manifest of a folder. Raises ``OSError``."""
    write_whole(folder / MANIFEST, json_text(manifest_document(facts)) + "\n")


def manifest_document(facts: ManifestFacts) -> dict[str, object]:
    """Return the JSON document. ``portable``: whether the program runs on every machine of this kind."""
    options = facts.options
    return {
        "kind": KIND,
        "tool": f"dse {dse.__version__}",
        "network": encodable(facts.network.path),
        "name": encodable(facts.network.name),
        "machine": host.machine(),
        "system": host.system(),
        "compiler": facts.compiler.name,
        "compiler_version": facts.version.text,
        "flags": [*options.portable_flags(facts.compiler), *options.flags],
        "link_flags": [*options.portable_flags(facts.compiler), *options.link_flags],
        "portable": not options.march_native,
        "march_native": options.march_native,
        "sanitize": list(options.sanitize),
        "timed": options.timed,
        "cuda": None if options.device is None else options.device.document(),
        "natives": {encodable(native): encodable(target) for native, target in facts.natives},
        "sources": {encodable(path): digest for path, digest in facts.sources.items()},
        "files": dict(facts.files),
    }
