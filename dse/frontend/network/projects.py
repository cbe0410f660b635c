"""Where classes are found: the source roots of a network, and the lookup ``a.b.C`` -> ``<root>/a/b/C.cal`` or ``.xdf``.

The rule, in this order (a class is taken from the first root that has it):

1. the folders given with ``--source-path``;
2. if a folder above the XDF holds ``.project`` or ``.classpath``: the source folders of that project, then those of the
   projects it references, recursively (beside the project or in a folder above it, by folder name or by the name
   in their ``.project``); then the folder of the XDF;
3. otherwise the folder of the XDF and each folder above it, nearest first, up to one that holds ``.git``: a class
   ``jpeg.Parser`` used by ``actors/jpeg/jpeg.xdf`` is found from ``actors``, a plain ``Parser`` from ``actors/jpeg``.
"""

import os
import re
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from dse.base.diagnostics import Gatherer
from dse.base.errors import OptionError
from dse.base.escaping import shown
from dse.base.paths import is_file_there
from dse.formats.eclipse import is_project, read_project

_CLASS_NAME = re.compile(r"[A-Za-z_][A-Za-z_0-9]*(?:\.[A-Za-z_][A-Za-z_0-9]*)*", re.ASCII)
_REPOSITORY_MARKER = ".git"


@dataclass(frozen=True, slots=True, kw_only=True)
class SourceRoots:
    """Source folders in search order; ``project`` is the folder of the project they come from (None: rule 3)."""

    folders: tuple[str, ...]
    project: str | None = None
    missing_projects: tuple[str, ...] = ()
    """Referenced projects that are not in the workspace."""

    def find(self, class_name: str, suffixes: tuple[str, ...] = (".cal", ".xdf")) -> str | None:
        """Return the file of a class, or None. The name must be well formed (``is_class_name``)."""
        relative = class_name.replace(".", os.sep)
        for folder in self.folders:
            for suffix in suffixes:
                path = join(folder, relative + suffix)
                if is_file_there(path) and _leads_to(path, suffix):
                    return path
        return None

    def describe(self) -> str:
        """Return a phrase that says which folders are searched."""
        shown = self.folders[:6]
        more = f" and {len(self.folders) - len(shown)} more" if len(self.folders) > len(shown) else ""
        text = "searched in " + ", ".join(shown) + more
        if self.missing_projects:
            text += "; the project refers to " + ", ".join(self.missing_projects) + ", not found beside it"
        return text


def _leads_to(path: str, suffix: str) -> bool:
    """Return whether a file, its links followed, has a suffix: messages show lines of it, which may be of no other."""
    return not Path(path).is_symlink() or os.path.realpath(path).endswith(suffix)


def is_class_name(name: str) -> bool:
    """Return whether ``name`` is identifiers joined with dots."""
    return bool(_CLASS_NAME.fullmatch(name))


def find_source_roots(path: str, source_paths: tuple[str, ...], gather: Gatherer) -> SourceRoots:
    """Return the source roots of the network (or actor) file ``path`` by the rule of this module.

    Roots are written like ``path``: relative to the working folder if it is relative, so that messages stay readable.
    Malformed project files are reported in ``gather``.
    """
    relative = not Path(path).is_absolute()
    here = absolute(path).parent
    project = next((folder for folder in (here, *here.parents) if is_project(folder)), None)
    missing: list[str] = []
    if project is not None:
        found = (*_project_roots(project, relative, missing, gather), here)
    else:
        found = _folders_above(here)
    folders = dict.fromkeys((*map(absolute, source_paths), *found))
    return SourceRoots(
        folders=tuple(_shown(folder, relative) for folder in folders),
        project=None if project is None else _shown(project, relative),
        missing_projects=tuple(missing),
    )


def refuse_absent(source_paths: Iterable[str]) -> None:
    """Raise ``OptionError`` for a source path that is no folder."""
    for path in source_paths:
        if not Path(path).is_dir():
            what = "is no folder" if Path(path).exists() else "does not exist"
            raise OptionError(f"the source path '{shown(path)}' {what}", expected="name a folder that holds classes")


def join(folder: str, relative: str) -> str:
    """Join two paths; the working folder adds no ``./``."""
    return relative if folder in ("", ".") else f"{folder}{os.sep}{relative}"


def absolute(path: str) -> Path:
    """Return the absolute path without ``..``, symbolic links kept: a linked folder belongs where it is seen."""
    return Path(os.path.abspath(path))  # noqa: PTH100  # resolve() would follow the links


def _shown(folder: Path, relative: bool) -> str:
    """Return a folder as the user would write it."""
    return os.path.relpath(folder) if relative else str(folder)


def _folders_above(folder: Path) -> tuple[Path, ...]:
    """Return ``folder`` and those above it, up to the one with ``.git`` or the root of the file system."""
    folders: list[Path] = []
    for candidate in (folder, *folder.parents):
        folders.append(candidate)
        if (candidate / _REPOSITORY_MARKER).exists():
            break
    return tuple(folders)


def _project_roots(folder: Path, relative: bool, missing: list[str], gather: Gatherer) -> tuple[Path, ...]:
    """Return the source folders of a project and of all it references, depth first, each once."""
    workspace = _Workspace(folder.parent)
    roots: list[Path] = []
    visited: set[Path] = set()

    def visit(project_folder: Path) -> None:
        if project_folder in visited:
            return
        visited.add(project_folder)
        project = read_project(Path(_shown(project_folder, relative)), gather)
        candidates = (absolute(str(project_folder / source)) for source in project.source_folders)
        roots.extend(candidate for candidate in candidates if candidate.is_dir())
        for name in project.references:
            referenced = workspace.find(name)
            if referenced is not None:
                visit(referenced)
            elif name not in missing:
                missing.append(name)

    visit(folder)
    return tuple(roots)


class _Workspace:
    """The folders that may hold referenced projects: the one around the project, and those above it, nearest first.

    A project is found by the name of its folder, else by the name in its ``.project``.
    """

    def __init__(self, folder: Path) -> None:
        self.folders = _folders_above(folder)
        self._by_name: dict[Path, dict[str, Path]] = {}

    def find(self, name: str) -> Path | None:
        """Return the folder of a project, or None."""
        for folder in self.folders:
            beside = folder / name
            if absolute(str(beside)).parent == folder and is_project(beside):
                return beside
            if folder not in self._by_name:
                self._by_name[folder] = _projects_in(folder)
            if name in self._by_name[folder]:
                return self._by_name[folder][name]
        return None


def _projects_in(workspace: Path) -> dict[str, Path]:
    """Return the projects in a folder by their written names; unreadable ones do not count here."""
    found: dict[str, Path] = {}
    try:
        folders = sorted(folder for folder in workspace.iterdir() if folder.is_dir() and is_project(folder))
    except OSError:
        return {}
    for folder in folders:
        found.setdefault(read_project(folder, Gatherer()).name, folder)
    return found
