"""Project files beside RVC-CAL programs: ``.project`` (name, referenced projects), ``.classpath`` (source folders).

cal.md 2.4: a ``classpathentry`` of kind ``src`` is a source folder, or another project when its path starts with ``/``.
"""

import os
from dataclasses import dataclass
from pathlib import Path

from lxml import etree

from dse.base.diagnostics import Gatherer
from dse.formats.xml_source import XmlSource, local_name, parse_xml

PROJECT_FILE = ".project"
CLASSPATH_FILE = ".classpath"


@dataclass(frozen=True, slots=True, kw_only=True)
class EclipseProject:
    """What the project files of a folder say. ``source_folders`` are relative to it, references are project names."""

    name: str
    source_folders: tuple[str, ...]
    references: tuple[str, ...]


def is_project(folder: Path) -> bool:
    """Return whether a folder holds one of the two project files."""
    return any(_is_there(folder / name) for name in (PROJECT_FILE, CLASSPATH_FILE))


def read_project(folder: Path, gather: Gatherer) -> EclipseProject:
    """Return the project of a folder; what cannot be read is in ``gather`` and counts as not written.

    Without a ``.classpath`` the source folder is ``src`` where there is one, else the folder itself.
    """
    name, references = _read_description(folder, gather)
    folders: list[str] = []
    classpath = folder / CLASSPATH_FILE
    source = _parse(classpath, "classpath", gather) if _is_there(classpath) else None
    for entry in source.root.iter("classpathentry") if source else ():
        path = str(entry.get("path", ""))
        if entry.get("kind") != "src" or not path:
            continue
        if path.startswith("/"):
            references.append(path.strip("/"))
        else:
            folders.append(path)
    if source is None:
        folders = ["src"] if (folder / "src").is_dir() else ["."]
    return EclipseProject(
        name=name, source_folders=tuple(dict.fromkeys(folders)), references=tuple(dict.fromkeys(references))
    )


def _read_description(folder: Path, gather: Gatherer) -> tuple[str, list[str]]:
    """Return name and referenced projects of a ``.project``; the folder's name where there is none."""
    fallback = folder.absolute().name
    path = folder / PROJECT_FILE
    source = _parse(path, "projectDescription", gather) if _is_there(path) else None
    if source is None:
        return fallback, []
    name = _text(source.root.find("name"))
    references = [_text(project) for project in source.root.findall("projects/project")]
    return name or fallback, [reference for reference in references if reference]


def _is_there(path: Path) -> bool:
    """Return whether there is a project file, and no link to one of another name, whose lines messages would show."""
    return path.is_file() and (not path.is_symlink() or os.path.realpath(path).endswith(path.name))


def _parse(path: Path, root: str, gather: Gatherer) -> XmlSource | None:
    """Return a parsed project file, or None with a diagnostic when it is malformed or has another root."""
    source = parse_xml(str(path), gather)
    if source is not None and local_name(source.root) != root:
        gather.error(f"the root element is '{local_name(source.root)}'", source.span(source.root), f"expected '{root}'")
        return None
    return source


def _text(element: etree._Element | None) -> str:
    return (element.text or "").strip() if element is not None else ""
