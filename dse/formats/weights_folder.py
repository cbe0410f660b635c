"""Weight sets: a folder with the XML files of a network on a platform and a manifest; formats.md, section Weights.

The static heterogeneous set of the paper: ``weights-CPU.exdf`` and ``weights-GPU.exdf``, the same for ``.sxdf`` and
``.cxdf``, and ``weights-CPU-HostFifo.cxdf`` and ``weights-GPU-HostFifo.cxdf`` for the FIFOs between CPU and GPU, whose
write is priced by the writer's unit and whose read by the reader's. A set for CPUs alone is the CPU files only. Names
may have any letter case and anything else around ``CPU``, ``GPU`` and ``HostFifo``; a file with neither is a CPU file.

``manifest.yaml`` says where the numbers come from: ``key: value`` pairs, of which ``how`` (measured, predicted,
nominal, ...), ``where``, ``when``, ``model`` and ``confidence`` are usual; others are kept. Entries that carry no
origin of their own have the one that ``how`` begins with.

A set is written as a whole or not at all. Its files are made aside; in a folder that exists they are then renamed at
once, as one folder ``.dse-set``, and get their own names one by one. Where that folder is left, since the program was
killed between, its files hold and not those of the same names: they are read, and the next set that is written puts
them in their places first.
"""

import errno
import os
import shutil
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import cast, get_args

from dse.base.diagnostics import Gatherer
from dse.base.errors import DseError, FormatError
from dse.base.escaping import shown
from dse.base.source import file_span
from dse.base.staging import check_places, put_in_place, staged
from dse.formats.weights_xml import FileRole, read_weight_file, role_of_name
from dse.formats.weights_xml_write import write_communication, write_compute, write_scheduling
from dse.formats.xml_reading import gathered_error, write_file
from dse.formats.yaml_source import parse_yaml, quoted, yaml_document
from dse.model.origins import why_apart
from dse.model.weights import FifoKind, Origin, UnitKind, WeightTable, merge_weights

SUFFIXES = (".exdf", ".sxdf", ".cxdf")
MANIFEST = "manifest.yaml"
COMPLETE = ".dse-set"
"""The folder of a set that is whole, but whose files do not have their names yet."""
_KINDS: tuple[tuple[UnitKind, str, tuple[FifoKind, ...]], ...] = (
    ("cpu", "CPU", ("local", "cpu_cpu")),
    ("gpu", "GPU", ("cuda",)),
)


def read_weights(paths: Sequence[str]) -> WeightTable:
    """Return the weights of files and folders together; where two know an entry the later one wins.

    Raises:
        FormatError: with everything that is wrong in any of them.
    """
    assert paths, "read_weights needs a path"
    gather = Gatherer()
    tables = []
    for path in paths:
        try:
            tables.append(read_weights_folder(path) if Path(path).is_dir() else read_weight_file(path))
        except DseError as error:
            gather.extend(error.diagnostics)
    if gather.errors:
        raise gathered_error(gather)
    refuse_mixed(list(zip(paths, tables, strict=True)))
    return merge_weights(*tables)


def refuse_mixed(tables: Sequence[tuple[str, WeightTable]]) -> None:
    """Refuse to put weights together that do not belong together; each with the file or folder that it is from.

    Raises:
        FormatError: times of an emulated GPU beside measured ones, or times of two GPUs.
    """
    for number, (path, table) in enumerate(tables):
        for earlier, other in tables[:number]:
            why = why_apart(other, table)
            if why:
                raise FormatError(
                    f"the weights of '{shown(earlier)}' and '{shown(path)}' cannot be put together: {why}",
                    span=file_span(path, 0),
                    expected="take weights that were measured on one machine; or measure again: dse profile --cuda",
                )


def read_weights_folder(path: str) -> WeightTable:
    """Return the weight set of a folder. Raises ``FormatError`` with everything that is wrong in its files."""
    gather = Gatherer()
    files = _files(path, gather)
    manifest = _read_manifest(Path(path), gather)
    origin = _origin(manifest)
    tables = []
    for file, role in files:
        try:
            tables.append(read_weight_file(str(file), role, origin))
        except DseError as error:
            gather.extend(error.diagnostics)
    if gather.errors:
        raise gathered_error(gather)
    refuse_mixed([(str(file), table) for (file, _), table in zip(files, tables, strict=True)])
    named = WeightTable(name="", has_scheduling=False, has_transfers=False, manifest=manifest)
    return merge_weights(*tables, named)


def _files(path: str, gather: Gatherer) -> list[tuple[Path, FileRole]]:
    """Return the weight files of a folder with their roles; two files of one role are an error."""
    try:
        found = sorted(p for p in _members(Path(path)) if p.suffix.lower() in SUFFIXES)
    except OSError as error:
        message = f"cannot read this folder: {error.strerror}"
        raise FormatError(message, span=file_span(path, 0), expected="expected a folder with weights") from error
    if not found:
        names = "weights-CPU.exdf, weights-CPU.sxdf, weights-CPU.cxdf, ..."
        gather.error("there are no weights in this folder", file_span(path, 0), f"expected files such as {names}")
    roles: dict[tuple[str, FileRole], Path] = {}
    for file in found:
        role = role_of_name(str(file))
        first = roles.setdefault((file.suffix.lower(), role), file)
        if first != file:
            message = f"'{file.name}' and '{first.name}' are both {_words(role)} {file.suffix.lower()} files"
            gather.error(message, file_span(str(file), 0), "expected one of them in this folder; merge them first")
    return [(file, role) for (_, role), file in roles.items()]


def _members(folder: Path) -> list[Path]:
    """Return the files of a folder, with those of a complete set in the place of others. Raises ``OSError``."""
    complete = folder / COMPLETE
    newer = list(complete.iterdir()) if complete.is_dir() else []
    return list(({path.name: path for path in folder.iterdir()} | {path.name: path for path in newer}).values())


def _words(role: FileRole) -> str:
    return role.kind.upper() + ("-HostFifo" if role.host else "")


def _read_manifest(folder: Path, gather: Gatherer) -> tuple[tuple[str, str], ...]:
    """Return the pairs of the manifest; none where there is no manifest."""
    path = folder / COMPLETE / MANIFEST
    path = path if path.exists() else folder / MANIFEST
    source = parse_yaml(str(path), gather) if path.exists() else None
    if source is None:
        return ()
    pairs = []
    for key, (_, node) in source.mapping(source.root, "a manifest", None).items():
        text = source.text(node, key)
        if text is not None:
            pairs.append((key, text))
    return tuple(pairs)


def _origin(manifest: tuple[tuple[str, str], ...]) -> Origin:
    """Return the origin that ``how`` begins with."""
    words = dict(manifest).get("how", "").lower().replace(",", " ").split()
    return cast(Origin, words[0]) if words and words[0] in get_args(Origin) else "unknown"


def write_weights_folder(table: WeightTable, path: str, *, keep: str | None = None) -> tuple[str, ...]:
    """Write a weight set as a folder and return the names of its files; unknown parts of the set ``keep`` stay.

    The folder has all of the set, or after any error is as it was; other files in it stay as they are.

    Raises:
        FormatError: the folder cannot be made or written to, or holds weights that this set would not replace.
    """
    folder = Path(path)
    kept = Path(keep) if keep else None
    try:
        if folder.is_dir():
            _put_complete_in_place(folder)
            _refuse_others(table, folder)
            with staged(folder) as stage:
                names = _write_all(table, stage, kept, describes=(folder / MANIFEST).exists())
                check_places(folder, names)
                stage.rename(folder / COMPLETE)
            _put_complete_in_place(folder)
        else:
            _make_parent(folder, path)
            with staged(folder.parent, final=folder) as stage:
                names = _write_all(table, stage, kept, describes=False)
                stage.rename(folder)
    except OSError as error:
        where = file_span(str(error.filename or path), 0)
        raise FormatError(f"cannot write this file: {error.strerror or error}", span=where) from error
    return names


def _make_parent(folder: Path, path: str) -> None:
    try:
        if folder.exists():
            raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST))
        folder.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise FormatError(f"cannot make this folder: {error.strerror}", span=file_span(path, 0)) from error


def _write_all(table: WeightTable, stage: Path, kept: Path | None, *, describes: bool) -> tuple[str, ...]:
    """Write the files of a set and return their names. ``describes``: there is a manifest, of another set.

    Raises ``OSError`` where the system does not let them be written.
    """
    written = []
    try:
        for name, write in _parts(table, kept):
            write(str(stage / name))
            written.append(name)
        if table.manifest or describes:
            lines = [f"{quoted(key)}: {quoted(value)}" for key, value in table.manifest] or ["{}"]
            write_file(str(stage / MANIFEST), yaml_document(iter(lines)).encode())
            written.append(MANIFEST)
    except FormatError as error:
        if isinstance(error.__cause__, OSError):
            raise error.__cause__ from None
        raise
    return tuple(written)


def _put_complete_in_place(folder: Path) -> None:
    """Give the files of a complete set their names, where one is left. Raises ``OSError``."""
    complete = folder / COMPLETE
    if not complete.is_dir():
        return
    for file in sorted(complete.iterdir()):
        put_in_place(complete, folder, file.name)
    shutil.rmtree(complete)


def _refuse_others(table: WeightTable, folder: Path) -> None:
    """Refuse to mix a set with files of another one, which reading the folder would add to it."""
    names = {name for name, _ in _parts(table, None)}
    others = sorted(p.name for p in folder.iterdir() if p.suffix.lower() in SUFFIXES and p.name not in names)
    if others:
        message = f"the folder holds weights that are not part of this set: {', '.join(others)}"
        raise FormatError(message, span=file_span(str(folder), 0), expected="choose another folder, or remove them")


# ways: one case for each file of a set, for what is in it and for what an empty one says
def _parts(table: WeightTable, keep: Path | None) -> Iterator[tuple[str, Callable[[str], None]]]:
    """Yield name and writer of each file that a set needs; unknown parts of the folder ``keep`` are carried over."""
    scheduling = table.has_scheduling and not table.scheduling  # an empty file says that it costs nothing
    transfers = table.has_transfers and not table.transfers
    for kind, word, fifos in _KINDS:
        kept = _kept_files(keep, kind)
        exdf, sxdf, cxdf = kept.get((".exdf", False)), kept.get((".sxdf", False)), kept.get((".cxdf", False))
        if any(key[2] == kind for key in (*table.compute, *table.simd)):
            yield f"weights-{word}.exdf", partial(write_compute, table, kind, keep=exdf)
        if any(key[3] == kind for key in table.scheduling) or (scheduling and kind == "cpu"):
            yield f"weights-{word}.sxdf", partial(write_scheduling, table, kind, keep=sxdf)
        own = {key[4] for key in table.transfers if key[5] == kind}
        if own & set(fifos) or (kind == "cpu" and (transfers or table.arrival is not None)):
            yield f"weights-{word}.cxdf", partial(write_communication, table, fifos, kind, keep=cxdf)
        if "host" in own:
            host = kept.get((".cxdf", True))
            yield f"weights-{word}-HostFifo.cxdf", partial(write_communication, table, ("host",), kind, keep=host)


def _kept_files(folder: Path | None, kind: UnitKind) -> dict[tuple[str, bool], str]:
    """Return the files of one unit kind in a folder by suffix and whether they are for host FIFOs."""
    files = sorted(_members(folder)) if folder is not None and folder.is_dir() else []
    roles = [(file, role_of_name(str(file))) for file in files if file.suffix.lower() in SUFFIXES]
    return {(file.suffix.lower(), role.host): str(file) for file, role in roles if role.kind == kind}
