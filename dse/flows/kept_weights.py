"""Measured weights that a search keeps in the folder of its results, with the platform that they were measured on.

The folder ``weights`` is a weight set like any other, and beside it lies ``platform.yaml``: other verbs take both, by
``--weights`` and ``--platform``. The manifest of the set says for what it was measured, as digests. A later search in
the folder takes the set only where they are the same; else the set is put aside and another one is measured.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from dse.base.errors import FormatError, OptionError
from dse.base.files import write_whole
from dse.base.interrupts import held_interrupt
from dse.base.source import file_span
from dse.base.staging import staged
from dse.flows.manifest import platform_digest
from dse.flows.rounds import Rounds, read_rounds, rounds_text
from dse.formats.platform_yaml import platform_text, read_platform
from dse.formats.study_place import made_aside
from dse.formats.weights_folder import MANIFEST, read_weights_folder, write_weights_folder
from dse.model.platform import Platform
from dse.model.weights import WeightTable

WEIGHTS = "weights"
PLATFORM = "platform.yaml"
_KEY = "measured for "
"""How the keys of the manifest begin that say for what a set was measured."""
_PLATFORM_KEY = f"{_KEY}platform"
_ROUNDS_KEY = f"{_KEY}rounds"


@dataclass(frozen=True, slots=True, kw_only=True)
class KeptWeights:
    """A measured set with its platform, as they were read. ``identity``: what it was measured for, by name.

    ``rounds``: of the search that was refined with this set, None where it is no such set.
    """

    folder: Path
    platform: Platform
    table: WeightTable
    identity: dict[str, str]
    rounds: Rounds | None = None

    @property
    def plain_table(self) -> WeightTable:
        """The weights without what their manifest says of what they were measured for."""
        pairs = tuple(pair for pair in self.table.manifest if not pair[0].startswith(_KEY))
        return replace(self.table, manifest=pairs)

    def differences(self, wanted: Mapping[str, str]) -> tuple[str, ...]:
        """Return the names of what is not as it is ``wanted``."""
        return tuple(name for name, value in wanted.items() if self.identity.get(name) != value)


def kept_weights(out: Path) -> KeptWeights | None:
    """Return the measured set in a folder of results, or None where there is none, or half of one.

    Raises:
        OptionError: there are weights, or a platform, that no search has put there. FormatError: a file is damaged.
    """
    folder, described = out / WEIGHTS, out / PLATFORM
    _refuse_foreign(folder, described)
    if not folder.is_dir() or not described.is_file():
        return None
    table, platform = read_weights_folder(str(folder)), read_platform(str(described))
    identity = {key.removeprefix(_KEY): value for key, value in table.manifest if key.startswith(_KEY)}
    if identity.pop("platform", None) != platform_digest(platform):
        return None
    rounds = _rounds(folder, identity.pop("rounds", None))
    return KeptWeights(folder=folder, platform=platform, table=table, identity=identity, rounds=rounds)


def _rounds(folder: Path, text: str | None) -> Rounds | None:
    """Return the rounds that a manifest names. Raises ``FormatError`` where they cannot be read."""
    try:
        return None if text is None else read_rounds(text)
    except ValueError as cause:
        raise FormatError(
            f"'{_ROUNDS_KEY}' cannot be read: {cause}",
            span=file_span(str(folder / MANIFEST), 0),
            expected=f"remove '{WEIGHTS}' and '{PLATFORM}' beside it to measure again",
        ) from cause


def keep_weights(
    out: Path, platform: Platform, table: WeightTable, identity: Mapping[str, str], rounds: Rounds | None = None
) -> KeptWeights:
    """Write a measured set into a folder of results, and return it as it is read again; an earlier one is put aside.

    The earlier one stays where it is until all of the new one is written; an interrupt waits until that is done.

    Raises:
        OptionError: the folder holds others, an earlier set cannot be moved, or the set cannot be written.
    """
    _refuse_foreign(out / WEIGHTS, out / PLATFORM)
    pairs = {_PLATFORM_KEY: platform_digest(platform), **{f"{_KEY}{name}": value for name, value in identity.items()}}
    pairs |= {} if rounds is None else {_ROUNDS_KEY: rounds_text(rounds)}
    described = replace(table, manifest=(*table.manifest, *pairs.items()))
    try:
        out.mkdir(parents=True, exist_ok=True)
        with held_interrupt() as held, staged(out) as stage:
            write_whole(stage / PLATFORM, _MARK + platform_text(platform))
            _write_set(described, stage / WEIGHTS)
            put_weights_aside(out)
            for name in (PLATFORM, WEIGHTS):
                (stage / name).rename(out / name)
    except OSError as cause:
        raise OptionError(
            f"cannot keep the measured weights in '{out}': {cause.strerror or cause}",
            expected="make room, or choose another folder with --out",
        ) from cause
    if held.came:
        raise KeyboardInterrupt
    kept = kept_weights(out)
    assert kept is not None, "what was written is read again"
    return kept


def _write_set(table: WeightTable, folder: Path) -> None:
    """Write a weight set. Raises ``OSError`` where the system does not let it be written."""
    try:
        write_weights_folder(table, str(folder))
    except FormatError as error:
        if isinstance(error.__cause__, OSError):  # what is wrong with a file that has not got its name yet
            raise error.__cause__ from None
        raise


def put_weights_aside(out: Path) -> Path | None:
    """Move a set, or what is left of one, to the folder ``weights-previous``, or ``-2`` and so on.

    Returns the folder, or None where there was nothing. Raises ``OptionError`` where it is not ours, or does not move.
    """
    found = [out / name for name in (WEIGHTS, PLATFORM) if (out / name).exists()]
    _refuse_foreign(out / WEIGHTS, out / PLATFORM)
    if not found:
        return None
    try:
        aside = made_aside(out, "weights-previous", None)
        for path in found:
            path.rename(aside / path.name)
    except OSError as cause:
        raise OptionError(
            f"cannot move earlier weights in '{out}' aside: {cause.strerror or cause}",
            expected="choose another folder with --out",
        ) from cause
    return aside


_MARK = "# This machine, as a search has measured it.\n"


def _refuse_foreign(folder: Path, described: Path) -> None:
    """Raise ``OptionError`` for weights, or a platform, that no search has put there."""
    ours = {folder: _is_ours(folder, folder / MANIFEST, _KEY), described: _is_ours(described, described, _MARK)}
    for path, mine in ours.items():
        if not mine:
            raise OptionError(
                f"'{path}' was not put there by a search, which keeps what it measures under this name",
                expected=f"name it with --{'weights' if path == folder else 'platform'}, or choose another folder with"
                " --out",
            )


def _is_ours(place: Path, file: Path, mark: str) -> bool:
    """Return whether nothing is at a place, or what ``keep_weights`` put there: a file of it holds a mark."""
    if not place.exists() and not place.is_symlink():
        return True
    try:
        return not place.is_symlink() and mark in file.read_text(encoding="utf-8", errors="replace")
    except OSError:
        return False
