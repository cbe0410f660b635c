"""The files of an editor's workspace as they stand in the editor: texts that are being edited, before those on disk."""

import itertools
import os
import re
import time
from collections.abc import Iterator, Mapping
from pathlib import Path

from dse.base.diagnostics import Gatherer, read_source
from dse.base.errors import Diagnostic
from dse.frontend.cal.ast import CalFile
from dse.frontend.network.projects import SourceRoots, find_source_roots, is_class_name
from dse.frontend.network.sources import Library, SourceFiles, Stamp, stamp_of

CAL, XDF = ".cal", ".xdf"
MOST_NETWORKS = 2000
"""So many XDF files are looked through for those that use an actor."""
SEARCH_SECONDS = 2.0
"""So long XDF files are looked for; a workspace may be a whole disk."""
_CLASS = re.compile(rb"""<(?:\w+:)?Class\s[^>]*?name\s*=\s*["']([\w.]+)["']""")


class Workspace:
    """Files, parsed and lowered once for each of their states. One thread at a time uses it.

    ``folders``: those of the workspace, in which networks are looked for. ``source_paths`` as ``dse check`` takes them.
    """

    def __init__(self, source_paths: tuple[str, ...] = ()) -> None:
        self.source_paths = source_paths
        self.folders: tuple[str, ...] = ()
        self._edited: dict[str, str] = {}
        self.files = SourceFiles(edited=self._edited)
        self._roots: dict[str, tuple[SourceRoots, tuple[Diagnostic, ...]]] = {}
        self._classes: dict[str, tuple[Stamp, frozenset[str]]] = {}

    # The state of the files

    def sync(self, edited: Mapping[str, str]) -> bool:
        """Take over the texts of the editor, and what has changed on disk; return whether anything has."""
        changed = {path for path, text in edited.items() if self._edited.get(path) != text}
        changed.update(path for path in self._edited if path not in edited)
        changed.update(self.files.changed_on_disk())
        self._edited.clear()
        self._edited.update(edited)
        for path in changed:
            self.files.forget(path)
        return bool(changed)

    def forget_projects(self) -> None:
        """Look for source folders again: files have come or gone."""
        self._roots.clear()

    def text(self, path: str) -> str | None:
        """Return the text of a file as the editor has it, else as the disk has it; None where there is none."""
        if path in self._edited:
            return self._edited[path]
        try:
            return read_source(path)
        except (OSError, ValueError):
            return None

    # Sources

    def library(self, path: str, gather: Gatherer) -> Library:
        """Return the classes that a file sees."""
        folder = os.path.dirname(path)  # noqa: PTH120  # a part of the text: roots begin like the path
        if folder not in self._roots:
            own = Gatherer()
            self._roots[folder] = (find_source_roots(path, self.source_paths, own), tuple(own.diagnostics))
        roots, diagnostics = self._roots[folder]
        gather.extend(diagnostics)
        return Library(roots, self.files)

    def unit(self, path: str, name: str) -> CalFile | None:
        """Return the unit that a name means in the file at ``path``, as far as it can be parsed."""
        found = self.class_file(path, name, (CAL,))
        return None if found is None else self.files.recovered(found)

    def class_file(self, path: str, name: str, suffixes: tuple[str, ...] = (CAL, XDF)) -> str | None:
        """Return the file of a class that is named in the file at ``path``."""
        return self.library(path, Gatherer()).roots.find(name, suffixes) if is_class_name(name) else None

    def class_names(self, path: str) -> tuple[str, ...]:
        """Return the classes in the folder of the file at ``path``, as each source root names them."""
        here = os.path.dirname(path)  # noqa: PTH120
        names: dict[str, None] = {}
        for root in self.library(path, Gatherer()).roots.folders:
            below = os.path.relpath(here, root)
            package = "" if below == "." else below.replace(os.sep, ".") + "."
            if not below.startswith(".."):
                names.update((package + stem, None) for stem in _class_stems(here))
            names.update((stem, None) for stem in _class_stems(root))
        return tuple(name for name in names if is_class_name(name))

    # Who uses a class

    def users_of(self, path: str) -> tuple[str, ...]:
        """Return the XDF files that name the class of a file, those in its own folder first."""
        stem, here = Path(path).stem, os.path.dirname(path)  # noqa: PTH120
        users = []
        for network in self._networks(here):
            named = [name for name in self._classes_in(network) if name.rpartition(".")[2] == stem]
            if any(self.class_file(network, name) == path for name in named):
                users.append(network)
        return tuple(sorted(users, key=lambda user: (os.path.dirname(user) != here, user)))  # noqa: PTH120

    def _networks(self, here: str) -> Iterator[str]:
        """Yield the XDF files of the folder of the workspace that ``here`` is in, else those of ``here`` and below."""
        around = [f for f in self.folders if here == f or here.startswith(f.rstrip(os.sep) + os.sep)]
        latest = time.monotonic() + SEARCH_SECONDS
        networks = itertools.islice(_files_below(max(around, key=len, default=here), XDF), MOST_NETWORKS)
        return itertools.takewhile(lambda _: time.monotonic() < latest, networks)

    def _classes_in(self, network: str) -> frozenset[str]:
        """Return the class names that stand in a network, well-formed or not."""
        if network in self._edited:
            return _named(self._edited[network].encode("utf-8", "replace"))
        stamp = stamp_of(network)
        known = self._classes.get(network)
        if known is None or known[0] != stamp:
            try:
                known = stamp, _named(Path(network).read_bytes())
            except OSError:
                known = stamp, frozenset()
            self._classes[network] = known
        return known[1]


def _named(document: bytes) -> frozenset[str]:
    return frozenset(name.decode("utf-8", "replace") for name in _CLASS.findall(document))


def _files_below(folder: str, suffix: str) -> Iterator[str]:
    """Yield the files of a tree that have a suffix, those of hidden folders left out."""
    for parent, folders, names in os.walk(folder):
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        yield from (f"{parent}{os.sep}{name}" for name in sorted(names) if name.endswith(suffix))


def _class_stems(folder: str) -> list[str]:
    """Return the names of the CAL and XDF files of a folder without their suffixes."""
    try:
        return sorted(p.stem for p in Path(folder).iterdir() if p.suffix in (CAL, XDF))
    except OSError:
        return []
