"""The native program of a network: its project, and the programs that are kept from earlier builds.

A kept program is found by a key that needs no C++: the digest of the network, of the sources that make C++ of it, of
the runtime, the compiler and the flags. So a network that was built once starts as quickly as any other.
"""

import functools
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from dse.base.caches import digest_of
from dse.base.cores import usable_cores
from dse.native.build import BuildOptions, build_program, compiled_size, missing_objects, prelude_key
from dse.native.cache import FileCache
from dse.native.emission import Emission, EmissionOptions, emit, user_texts
from dse.native.natives import UserNative
from dse.native.prelude import FEWEST_UNITS, kept_preludes, preludes_of
from dse.native.project import emulation_headers, runtime_headers, write_sources
from dse.native.toolchain import Compiler, RunningTools, compiler_version
from dse.program.network import Network

_PACKAGE = Path(__file__).parents[1]
_EMITTING = ("codegen", "native", "passes", "program", "run")
"""The packages whose sources decide what a network becomes in C++."""
_UNIT_SECONDS = 0.6
_UNIT_BEHIND_PRELUDE_SECONDS = 0.3
_PRELUDE_SECONDS = 0.9
_CHARACTER_SECONDS = 1.8e-5
_LINK_SECONDS = 0.2
"""What compiling costs with g++ 12 on a core of 3 GHz: a file with the headers of an actor, the same where these are
precompiled, to precompile them, a character of its text."""
_ACTOR_HEADERS_CHARACTERS = 74_000
_HEADER_CHARACTER_SECONDS = 2.0e-5
"""Of headers beyond those of actors, which are full of functions."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ProgramKind:
    """Which program of a network: what it counts while it runs, and which functions of the user stand for natives."""

    rounds: bool = False
    natives: tuple[UserNative, ...] = ()
    build: BuildOptions = field(default_factory=BuildOptions)


class NativeProgram:
    """One program of one network. It is built, or found, when it is asked for."""

    def __init__(self, network: Network, kind: ProgramKind, compiler: Compiler) -> None:
        self.network = network
        self.kind = kind
        self.compiler = compiler
        self._cache = FileCache("programs")

    @functools.cached_property
    def emission(self) -> Emission:
        """The project, and what a result names by number. Raises ``NoNativeForm``."""
        overrides = {native.key: native for native in self.kind.natives}
        return emit(
            self.network,
            EmissionOptions(rounds=self.kind.rounds, overrides=overrides, device=self.kind.build.device is not None),
        )

    @functools.cached_property
    def key(self) -> str:
        """The key under which the program is kept."""
        return digest_of(
            self.network.text,
            _sources_digest(),
            self.compiler.identity,
            *self.kind.build.portable_flags(self.compiler),
            *self.kind.build.target(self.compiler),
            *self.kind.build.flags,
            *self.kind.build.link_flags,
            repr(self.kind.rounds),
            *(() if self.kind.build.device is None else self.kind.build.device.words),
            *user_texts(self.kind.natives),
        )

    def kept(self) -> Path | None:
        """Return the program of an earlier build, or None."""
        return self._cache.get(self.key)

    def build_seconds(self) -> float:
        """Return about how long building will take, by the texts that have to be compiled."""
        project = self.emission.project
        headers = dict(project.headers)
        missing = missing_objects(project, self.compiler, self.kind.build)
        work = [_compile_seconds(len(unit.text), compiled_size(unit, headers)) for unit in missing]
        for text, uses in preludes_of(missing, self.compiler).items():
            kept = kept_preludes().get(prelude_key(text, headers, self.compiler, self.kind.build)) is not None
            if kept or uses >= FEWEST_UNITS:
                work += [0.0 if kept else _PRELUDE_SECONDS, uses * (_UNIT_BEHIND_PRELUDE_SECONDS - _UNIT_SECONDS)]
        return max(sum(work) / len(usable_cores()), max(work, default=0.0)) + _LINK_SECONDS

    def build(self, scratch: Path, *, tools: RunningTools | None = None, progress: Callable[[int, int], None]) -> Path:
        """Build the program in a folder ``scratch`` that nobody else uses; return where it is.

        Raises:
            NoNativeForm: an actor has no C++ form. BuildError: the compiler fails. OSError: the disk is full.
        """
        compiler_version(self.compiler)
        project = self.emission.project
        write_sources(project, scratch, {})
        app = scratch / "app"
        build_program(project, scratch, app, self.compiler, self.kind.build, progress=progress, tools=tools)
        return self._cache.put(self.key, app)


def _compile_seconds(text_characters: int, all_characters: int) -> float:
    """Return about how long a unit takes to compile."""
    more = max(0, all_characters - text_characters - _ACTOR_HEADERS_CHARACTERS)
    return _UNIT_SECONDS + _CHARACTER_SECONDS * text_characters + _HEADER_CHARACTER_SECONDS * more


@functools.cache
def _sources_digest() -> str:
    """Return the digest of all sources that decide what a network becomes."""
    files = [path for package in _EMITTING for path in sorted((_PACKAGE / package).rglob("*.py"))]
    own = (part for path in files for part in (path.relative_to(_PACKAGE).as_posix(), path.read_bytes()))
    return digest_of(*own, *(part for header in (*runtime_headers(), *emulation_headers()) for part in header))
