"""Results of earlier tree checks, kept on disk for each project, so that an unchanged project is not checked again.

A result holds only as long as nothing that could change it does: the checker itself, the options, the files of the
project that are checked, and every CAL, XDF and project file under its source roots (a new file may hide another).
One JSON file a project and set of options, in a cache folder (``dse.base.caches``); it may be deleted at
any time, and damaged ones are written anew.
"""

import contextlib
import functools
import json
import os
from collections.abc import Iterable, Sequence
from hashlib import blake2b
from pathlib import Path

from dse.base.caches import cache_folder
from dse.base.errors import Diagnostic
from dse.base.files import write_whole
from dse.base.source import Span
from dse.flows.check_report import CheckOptions, FileCheck
from dse.formats.eclipse import CLASSPATH_FILE, PROJECT_FILE
from dse.frontend.network.projects import SourceRoots

_PACKAGE = Path(__file__).parents[1]
_CHECKER_SOURCES = ("base", "program", "model", "formats", "passes", "frontend", "flows")
_SUFFIXES = (".cal", ".xdf", PROJECT_FILE, CLASSPATH_FILE)


class CheckStore:
    """The kept results. Digests of files are computed once in its life: make a new one for each run."""

    def __init__(self, options: CheckOptions) -> None:
        self._folder = cache_folder("check")
        self._options = repr(options)
        self._trees: dict[str, bytes] = {}

    def load(self, project: str, key: str) -> dict[str, FileCheck]:
        """Return the results of a project by path, or nothing when the kept ones are of another state."""
        entry = self._entry(project)
        if entry is None:
            return {}
        with contextlib.suppress(OSError, ValueError, TypeError, KeyError):
            document = json.loads(entry.read_text(encoding="utf-8"))
            if document["key"] == key:
                return {check.path: check for check in map(_decoded, document["checks"])}
        return {}

    def save(self, project: str, key: str, checks: Iterable[FileCheck]) -> None:
        """Keep the results of a project in place of earlier ones. What cannot be written is not kept."""
        entry = self._entry(project)
        if entry is None:
            return
        document = {"key": key, "checks": [_encoded(check) for check in checks]}
        with contextlib.suppress(OSError):
            entry.parent.mkdir(parents=True, exist_ok=True)
            write_whole(entry, json.dumps(document))

    def key(self, project: str, roots: Sequence[SourceRoots], paths: Sequence[str]) -> str:
        """Return the digest of everything that the results of a project depend on."""
        state = blake2b(_checker_digest(), digest_size=20)
        state.update(repr((self._options, project, roots, paths)).encode("utf-8", "surrogateescape"))
        folders = {folder: None for of in roots for folder in of.folders}
        for folder in (project, *folders):
            state.update(self._tree_digest(folder))
        return state.hexdigest()

    def _entry(self, project: str) -> Path | None:
        if self._folder is None:
            return None
        name = blake2b(repr((str(Path(project).absolute()), project, self._options)).encode(), digest_size=16)
        return self._folder / f"{name.hexdigest()}.json"

    def _tree_digest(self, folder: str) -> bytes:
        """Return the digest of names and contents of the source and project files of a tree."""
        if folder not in self._trees:
            state = blake2b(digest_size=20)
            for parent, folders, files in os.walk(folder):
                folders.sort()
                for name in sorted(files):
                    if name.endswith(_SUFFIXES):
                        path = f"{parent}{os.sep}{name}"
                        state.update(f"{path}\0".encode("utf-8", "surrogateescape"))
                        state.update(_content_digest(path))
            self._trees[folder] = state.digest()
        return self._trees[folder]


def _content_digest(path: str) -> bytes:
    try:
        return blake2b(Path(path).read_bytes(), digest_size=20).digest()
    except OSError:
        return b"unreadable"


@functools.cache
def _checker_digest() -> bytes:
    """Return the digest of the checker's own source: a changed checker finds none of the old results."""
    state = blake2b(digest_size=20)
    for package in _CHECKER_SOURCES:
        for path in sorted((_PACKAGE / package).rglob("*.py")):
            state.update(path.read_bytes())
    return state.digest()


def _encoded(check: FileCheck) -> list[object]:
    found = [[d.message, list(d.span), d.severity, d.expected] for d in check.diagnostics]
    return [check.path, check.kind, found, check.actors, check.classes, check.connections]


def _decoded(entry: list[object]) -> FileCheck:
    """Return a result as it was encoded. Raises ``TypeError`` or ``ValueError`` for anything else."""
    path, kind, found, actors, classes, connections = entry
    assert isinstance(found, list)
    diagnostics = tuple(
        Diagnostic(message=message, span=Span(*span), severity=severity, expected=expected)
        for message, span, severity, expected in found
    )
    return FileCheck(
        path=path,  # type: ignore[arg-type]  # written by _encoded, under a key of this very source
        kind=kind,  # type: ignore[arg-type]
        diagnostics=diagnostics,
        actors=actors,  # type: ignore[arg-type]
        classes=classes,  # type: ignore[arg-type]
        connections=connections,  # type: ignore[arg-type]
    )
