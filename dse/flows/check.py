"""Checking of programs: parse, elaborate and type-check one file or a whole tree, and say everything that is wrong.

A tree is checked file by file: every CAL file is type-checked on its own (parameters at their defaults, or 0), every
XDF file is parsed and validated, and every top network (one without ports) is elaborated.
"""

from collections.abc import Callable, Iterator
from pathlib import Path

from dse.base.collector import collector_paused
from dse.base.diagnostics import Gatherer, in_reading_order
from dse.base.errors import Diagnostic, OptionError
from dse.base.registry import nearest_names
from dse.base.source import file_span
from dse.flows.check_report import DEFAULT_OPTIONS, CheckOptions, CheckReport, FileCheck, FileKind
from dse.flows.check_store import CheckStore
from dse.frontend.cal.ast import UnitDecl
from dse.frontend.network.elaborate import elaborate
from dse.frontend.network.projects import SourceRoots, find_source_roots, refuse_absent
from dse.frontend.network.sources import Library, SourceFiles
from dse.native.natives import declared_natives, key_of, unbound_natives
from dse.program.network import Network

Progress = Callable[[int, int, str], None]
"""Called with files done, files in all, and the path of the next one."""

_CHECKED_SUFFIXES = (".cal", ".xdf")


def check_file(path: str, options: CheckOptions = DEFAULT_OPTIONS) -> CheckReport:
    """Check one XDF or CAL file and everything it uses. Raises ``OptionError`` for a folder."""
    if Path(path).is_dir():
        raise OptionError(f"'{path}' is a folder", expected="check a tree of files with --all")
    with collector_paused():
        return CheckReport(checks=(_Checker(options).check(path, elaborate_always=True),))


def check_tree(  # ways: one loop with a store on either side of it
    folder: str, options: CheckOptions = DEFAULT_OPTIONS, *, progress: Progress | None = None
) -> CheckReport:
    """Check all CAL and XDF files of a folder and of those below it. Raises ``OptionError`` if there is none.

    Projects that have not changed since an earlier check are not checked again (``check_store``).
    """
    if not Path(folder).is_dir():
        raise OptionError(f"'{folder}' is no folder", expected="--all takes the folder of a tree of files")
    paths = list(source_files(folder))
    if not paths:
        raise OptionError(f"there is no .cal and no .xdf file in '{folder}'")
    checker = _Checker(options)
    store = CheckStore(options)
    checks: dict[str, FileCheck] = {}

    def check(path: str) -> FileCheck:
        if progress is not None:
            progress(len(checks), len(paths), path)
        checks[path] = checker.check(path)
        return checks[path]

    with collector_paused():
        for project, members in _by_project(paths, checker).items():
            key = None if project is None else store.key(project, [checker.roots(path) for path in members], members)
            known = {} if project is None or key is None else store.load(project, key)
            if known.keys() >= set(members):
                checks.update(known)
                continue
            results = [check(path) for path in members]
            if project is not None and key is not None:
                store.save(project, key, results)
    return CheckReport(checks=tuple(checks[path] for path in paths))


def _by_project(paths: list[str], checker: "_Checker") -> dict[str | None, list[str]]:
    """Return the files of each project, and under None those outside any project."""
    groups: dict[str | None, list[str]] = {}
    for path in paths:
        groups.setdefault(checker.roots(path).project, []).append(path)
    return groups


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
        refuse_absent(options.source_paths)
        self.options = options
        self.files = SourceFiles(partial=options.partial)
        self._roots: dict[Path, tuple[SourceRoots, tuple[Diagnostic, ...]]] = {}

    def check(self, path: str, *, elaborate_always: bool = False) -> FileCheck:
        """Check one file by its suffix; a network with ports is elaborated only if asked for."""
        gather = Gatherer()
        match Path(path).suffix:
            case ".cal":
                return self._check_cal(path, gather)
            case suffix if suffix == ".xdf" or _is_xml(path):
                return self._check_xdf(path, gather, elaborate_always)
            case _:
                wanted = "expected a .xdf or .cal file"
                gather.error("this is neither a network nor an actor", file_span(path, 0), wanted)
                return _finished(path, "unknown", gather)

    def roots(self, path: str) -> SourceRoots:
        """Return the source roots of a file, which depend on its folder only."""
        folder = Path(path).parent
        if folder not in self._roots:
            own = Gatherer()
            self._roots[folder] = (find_source_roots(path, self.options.source_paths, own), tuple(own.diagnostics))
        return self._roots[folder][0]

    def _library(self, path: str, gather: Gatherer) -> Library:
        roots = self.roots(path)
        gather.extend(self._roots[Path(path).parent][1])
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
        if network is not None and elaborate_always:
            _warn_of_unbound(network, self.options.natives, gather)
        return _finished(path, kind, gather, network)


def _warn_of_unbound(network: Network, bound: tuple[str, ...], gather: Gatherer) -> None:
    """Warn of each native that nothing stands for. Raises ``OptionError`` if one is bound that is not declared."""
    declared = declared_natives(network)
    for key in bound:
        if key not in declared:
            raise OptionError(f"the network declares no native '{key}'", expected=nearest_names(key, declared))
    for native in unbound_natives(network, bound):
        gather.warning(
            f"nothing is bound to the native '{native.source_name}' of {native.declared_in}: a run that calls it fails",
            native.span,
            f"bind it with --native {key_of(native)}=MODULE:CALLABLE, or =FILE.cpp:SYMBOL",
        )


def _is_xml(path: str) -> bool:
    """Return whether a file of another suffix begins like XML: files are told apart by their root element."""
    try:
        with Path(path).open("rb") as file:
            return file.read(200).lstrip(b"\xef\xbb\xbf \t\r\n").startswith(b"<")
    except (OSError, ValueError):
        return False


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
