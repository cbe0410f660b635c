"""The applications that come with the program: what there is, and copies of them to start from.

A copy lies below a folder ``actors``, as in the checkout, so that the paths of every example in the documents and in
``--help`` hold where it was made. A program of one's own begins as a copy of ``actors/starter`` under another name.
"""

import os
import re
from dataclasses import dataclass
from pathlib import Path

from dse.base.errors import OptionError
from dse.base.files import write_whole
from dse.base.registry import nearest_names
from dse.formats.builtin import builtin_actors
from dse.frontend.cal.tokens import RESERVED

FOLDER = "actors"
"""The folder below which copies lie."""
STARTER = "starter"
"""The application that a new program is a copy of."""
_TAKEN = frozenset({"dse", "std"})
"""Packages of CAL that come with the program."""
_NAME = re.compile(r"[A-Za-z][A-Za-z_0-9]{0,60}", re.ASCII)
_LEFT_OUT = frozenset({"__pycache__", "dse-out"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Example:
    """An application. ``about``: what it does; ``network``: where its copy lies; ``actors``: how many classes."""

    name: str
    about: str
    network: str
    actors: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Copied:
    """What a copy wrote, and what was there already with the same contents. ``networks``: what can be run now."""

    networks: tuple[str, ...]
    written: tuple[str, ...]
    kept: tuple[str, ...]


def example_names() -> tuple[str, ...]:
    """Return the names of the applications, sorted."""
    return tuple(sorted(path.stem for path in builtin_actors().glob("*/*.xdf") if path.stem == path.parent.name))


def examples() -> tuple[Example, ...]:
    """Return the applications, sorted by name."""
    return tuple(
        Example(
            name=name,
            about=_first_sentence((builtin_actors() / name / "README.md").read_text()),
            network=f"{FOLDER}/{name}/{name}.xdf",
            actors=sum(1 for _ in _instances(name)),
        )
        for name in example_names()
    )


def example_of(path: str) -> str | None:
    """Return the arguments of ``dse example`` that make a path of the documents exist, if it does not and they can."""
    parts = Path(path).parts
    if parts[:1] != (FOLDER,) or os.path.lexists(path):
        return None
    if len(parts) == 1:
        return "--all"
    return parts[1] if parts[1] in example_names() else None


def copy_examples(names: tuple[str, ...], folder: Path = Path()) -> Copied:
    """Copy applications, and what they import, to ``actors`` below a folder. Nothing that is there is changed.

    Raises:
        OptionError: there is no such application; or a file is there with other contents: then nothing is copied.
        OSError: a file cannot be written.
    """
    known = example_names()
    for name in names:
        if name not in known:
            raise OptionError(f"there is no example '{name}'", expected=nearest_names(name, known))
    files = {path: None for name in names for path in _files_of(name)}
    contents = {folder / FOLDER / path: (builtin_actors() / path).read_bytes() for path in files}
    networks = tuple(str(folder / FOLDER / name / f"{name}.xdf") for name in dict.fromkeys(names))
    return _write(contents, networks)


def new_program(name: str, folder: Path = Path()) -> Copied:
    """Make a program called ``name``, with a test, in a new folder of that name below ``folder``.

    Raises:
        OptionError: the name cannot be that of a package, or there is something of that name.
        OSError: a file cannot be written.
    """
    if not _NAME.fullmatch(name) or name in RESERVED or name in _TAKEN:
        raise OptionError(
            f"a program cannot be called '{name}'",
            expected="letters, digits and _, a letter first, no word of CAL and no package of ours: my_filter",
        )
    place = folder / name
    if os.path.lexists(place):
        raise OptionError(f"'{place}' exists", expected="choose another name, or another folder with --out")
    source = builtin_actors() / STARTER
    contents = {}
    for path in _inside(source):
        renamed = str(path.relative_to(source)).replace(STARTER, name)
        contents[place / renamed] = _renamed(path.read_bytes(), name)
    return _write(contents, (str(place / f"{name}.xdf"),))


def _renamed(data: bytes, name: str) -> bytes:
    """Return a text of the starter as one of a program of another name, which lies in no folder ``actors``."""
    text = data.decode().replace(f"{FOLDER}/{STARTER}", name).replace(STARTER, name)
    return text.replace(STARTER.capitalize(), name[0].upper() + name[1:]).encode()


def _instances(name: str) -> list[str]:
    """Return the instances in the network of an application, without elaborating it."""
    return re.findall(r"<Instance\b[^>]*\bid=\"(\w+)\"", (builtin_actors() / name / f"{name}.xdf").read_text())


def _files_of(name: str) -> list[Path]:
    """Return the files of an application and those that it imports from elsewhere, relative to ``builtin_actors``."""
    from dse.frontend.network.elaborate import load_network  # late: a hint asks for names only

    root = builtin_actors()
    network = load_network(str(root / name / f"{name}.xdf")).network
    return [path.relative_to(root) for path in dict.fromkeys((*_inside(root / name), *map(Path, network.sources)))]


def _inside(folder: Path) -> list[Path]:
    return sorted(p for p in folder.rglob("*") if p.is_file() and _LEFT_OUT.isdisjoint(p.relative_to(folder).parts))


def _write(contents: dict[Path, bytes], networks: tuple[str, ...]) -> Copied:
    """Write files that are not there. Raises ``OptionError``, and writes nothing, if one is there and is another."""
    there = [path for path in contents if os.path.lexists(path)]
    others = [path for path in there if not _holds(path, contents[path])]
    if others:
        more = f" (and {len(others) - 1} more)" if len(others) > 1 else ""
        raise OptionError(
            f"'{others[0]}'{more} is there, and is another",
            expected="nothing was copied: choose another folder with --out, or move it away",
        )
    written = [path for path in contents if path not in there]
    for path in written:
        path.parent.mkdir(parents=True, exist_ok=True)
        write_whole(path, contents[path])
    return Copied(networks=networks, written=tuple(map(str, written)), kept=tuple(map(str, there)))


def _holds(path: Path, data: bytes) -> bool:
    """Return whether a file is there and holds the data."""
    return path.is_file() and path.read_bytes() == data


def _first_sentence(readme: str) -> str:
    """Return what a README says first below its title, in one line, to the end of the clause."""
    paragraph = readme.split("\n\n")[1].replace("\n", " ")
    return re.split(r"[.:;,](?:\s|$)| \(", paragraph, maxsplit=1)[0]
