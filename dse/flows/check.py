"""Checking of programs: parse, elaborate and type-check one file or a whole tree, and say everything that is wrong.

A tree is checked file by file: every CAL file is type-checked on its own (parameters at their defaults, or 0), every
XDF file is parsed and validated, and every top network (one without ports) is elaborated.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from dse.base.diagnostics import Gatherer, in_reading_order
from dse.base.errors import Diagnostic, OptionError
from dse.base.source import file_span
from dse.frontend.cal.ast import UnitDecl
from dse.frontend.network.elaborate import elaborate
from dse.frontend.network.projects import SourceRoots, find_source_roots
from dse.frontend.network.sources import Library, SourceFiles
from dse.model.network import Network

FileKind = Literal["actor", "unit", "network", "top", "unknown"]
Progress = Callable[[int, int, str], None]
"""Called with files done, files in all, and the path of the next one."""

_CHECKED_SUFFIXES = (".cal", ".xdf")


@dataclass(frozen=True, slots=True, kw_only=True)
class FileCheck:
    """What the check of one file found. ``actors``, ``classes`` and ``connections`` count the elaborated network.

    ``classes`` counts distinct actors, that is (class, parameter values).
    """

    path: str
    kind: FileKind
    diagnostics: tuple[Diagnostic, ...]
    actors: int = 0
    classes: int = 0
    connections: int = 0

    @property
    def errors(self) -> tuple[Diagnostic, ...]:
        """The errors among the diagnostics."""
        return tuple(d for d in self.diagnostics if d.severity == "error")

    @property
    def ok(self) -> bool:
        """Whether there is no error."""
        return not self.errors


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckReport:
    """The checks of all files, in the order of their paths."""

    checks: tuple[FileCheck, ...]

    @property
    def diagnostics(self) -> tuple[Diagnostic, ...]:
        """Every finding once: a broken actor is found again by each network that uses it."""
        return tuple(dict.fromkeys(d for check in self.checks for d in check.diagnostics))

    @property
    def errors(self) -> tuple[Diagnostic, ...]:
        """The errors, each once."""
        return tuple(d for d in self.diagnostics if d.severity == "error")

    @property
    def warnings(self) -> tuple[Diagnostic, ...]:
        """The warnings, each once."""
        return tuple(d for d in self.diagnostics if d.severity == "warning")

    @property
    def tops(self) -> tuple[FileCheck, ...]:
        """The top networks."""
        return tuple(check for check in self.checks if check.kind == "top")


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckOptions:
    """How to check, as ``load_network`` understands it."""

    source_paths: tuple[str, ...] = ()
    strict: bool = False
    partial: bool = False


DEFAULT_OPTIONS = CheckOptions()


def check_file(path: str, options: CheckOptions = DEFAULT_OPTIONS) -> CheckReport:
    """Check one XDF or CAL file and everything it uses. Raises ``OptionError`` for a folder."""
    if Path(path).is_dir():
        raise OptionError(f"'{path}' is a folder", expected="check a tree of files with --all")
    checker = _Checker(options)
    return CheckReport(checks=(checker.check(path, elaborate_always=True),))


def check_tree(
    folder: str, options: CheckOptions = DEFAULT_OPTIONS, *, progress: Progress | None = None
) -> CheckReport:
    """Check all CAL and XDF files of a folder and of those below it. Raises ``OptionError`` if there is none."""
    if not Path(folder).is_dir():
        raise OptionError(f"'{folder}' is no folder", expected="--all takes the folder of a tree of files")
    paths = list(source_files(folder))
    if not paths:
        raise OptionError(f"there is no .cal and no .xdf file in '{folder}'")
    checker = _Checker(options)
    checks: list[FileCheck] = []
    for done, path in enumerate(paths):
        if progress is not None:
            progress(done, len(paths), path)
        checks.append(checker.check(path))
    return CheckReport(checks=tuple(checks))


def source_files(folder: str) -> Iterator[str]:
    """Yield the CAL and XDF files of a tree in the order of their paths; hidden folders are left out."""
    root = Path(folder)
    for path in sorted(root.rglob("*")):
        hidden = any(part.startswith(".") for part in path.relative_to(root).parts)
        if path.suffix in _CHECKED_SUFFIXES and not hidden and path.is_file():
            yield str(path)


class _Checker:
    """Checks files that share their parsed sources and, where their source roots agree, their lowered actors."""

    def __init__(self, options: CheckOptions) -> None:
        self.options = options
        self.files = SourceFiles(partial=options.partial)
        self._roots: dict[Path, tuple[SourceRoots, tuple[Diagnostic, ...]]] = {}

    def check(self, path: str, *, elaborate_always: bool = False) -> FileCheck:
        """Check one file by its suffix; a network with ports is elaborated only if asked for."""
        gather = Gatherer()
        match Path(path).suffix:
            case ".cal":
                return self._check_cal(path, gather)
            case ".xdf":
                return self._check_xdf(path, gather, elaborate_always)
            case _:
                wanted = "expected a .xdf or .cal file"
                gather.error("this is neither a network nor an actor", file_span(path, 0), wanted)
                return _finished(path, "unknown", gather)

    def _library(self, path: str, gather: Gatherer) -> Library:
        """Return a library of the source roots of a file, which depend on its folder only."""
        folder = Path(path).parent
        if folder not in self._roots:
            own = Gatherer()
            self._roots[folder] = (find_source_roots(path, self.options.source_paths, own), tuple(own.diagnostics))
        roots, diagnostics = self._roots[folder]
        gather.extend(diagnostics)
        return Library(roots, self.files)

    def _check_cal(self, path: str, gather: Gatherer) -> FileCheck:
        file = self._library(path, gather).check_entity(path, gather)
        kind: FileKind = "unknown"
        if file is not None:
            kind = "unit" if isinstance(file.entity, UnitDecl) else "actor"
        return _finished(path, kind, gather)

    def _check_xdf(self, path: str, gather: Gatherer, elaborate_always: bool) -> FileCheck:
        written = self.files.xdf(path, gather)
        kind: FileKind = "unknown"
        if written is not None:
            kind = "network" if written.ports else "top"
        network: Network | None = None
        if written is not None and (elaborate_always or kind == "top"):
            network = elaborate(path, self._library(path, gather), gather, strict=self.options.strict)
        return _finished(path, kind, gather, network)


def _finished(path: str, kind: FileKind, gather: Gatherer, network: Network | None = None) -> FileCheck:
    """Return the result of a file, each finding once."""
    return FileCheck(
        path=path,
        kind=kind,
        diagnostics=in_reading_order(gather.diagnostics),
        actors=0 if network is None else len(network.instances),
        classes=0 if network is None else len({id(instance.actor) for instance in network.instances}),
        connections=0 if network is None else len(network.connections),
    )
