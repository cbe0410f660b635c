"""The files of the page: those of the package and no others, read once. No path of a request reaches the disk."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

import dse

_TYPES = {".html": "text/html", ".js": "text/javascript", ".css": "text/css", ".svg": "image/svg+xml"}
FOLDERS = {"/studio/": "studio/web", "/report/": "report/web"}
"""Where the files of folders of the package are found."""
START = "/studio/index.html"


@dataclass(frozen=True, slots=True)
class Asset:
    """A file of the page."""

    content_type: str
    data: bytes


def read_assets() -> Mapping[str, Asset]:
    """Return the files of the page by the path under which they are asked for."""
    found = dict(_files())
    found["/"] = found[START]
    return found


def _files() -> Iterator[tuple[str, Asset]]:
    package = Path(dse.__file__).parent
    for prefix, folder in FOLDERS.items():
        root = package / folder
        for path in sorted(root.rglob("*")):
            kind = _TYPES.get(path.suffix)
            if kind is not None and path.is_file():
                name = prefix + path.relative_to(root).as_posix()
                yield name, Asset(f"{kind}; charset=utf-8", path.read_bytes())
