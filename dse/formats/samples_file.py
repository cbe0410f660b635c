"""``samples.npz`` of a measured set: what each firing cost, by its place in the trace (``dse profile --samples``).

A zip archive with one float32 array in numpy's format for each actor, by its name: shape (n_firings of the actor,), in
cycles of the clock of the set, reading, choosing and writing included. Actors may be absent.
"""

import io
import zipfile
import zlib
from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from dse.base.errors import FormatError
from dse.base.source import file_span
from dse.model.trace import Trace

SAMPLES = "samples.npz"
_SUFFIX = ".npy"
_HEADER_BYTES = 4096
"""More than the header of an array of one dimension takes."""
_WANTED = "a file that 'dse profile --samples' has written for this network and input"


def samples_bytes(counts: Mapping[str, NDArray[np.float32]]) -> bytes:
    """Return the file of the costs of all firings, by the name of the actor."""
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as archive:  # as savez, whose parameters some names are
        for name, of_actor in counts.items():
            told = zipfile.ZipInfo(name + _SUFFIX)
            told.compress_type = zipfile.ZIP_DEFLATED
            member = io.BytesIO()
            np.lib.format.write_array(member, of_actor, allow_pickle=False)
            archive.writestr(told, member.getbuffer())
    return file.getvalue()


def read_samples(path: str, trace: Trace) -> dict[str, NDArray[np.float32]]:
    """Return the costs of the firings of a trace by the name of the actor.

    Raises:
        FormatError: the file cannot be read, is damaged, or is not of this trace.
    """
    firings = {actor.name: len(ids) for actor, ids in zip(trace.topology.actors, trace.firings, strict=True)}
    try:
        with zipfile.ZipFile(path) as archive:
            members = {info.filename.removesuffix(_SUFFIX): info for info in archive.filelist}
            return {name: _array(path, archive, info, name, firings) for name, info in members.items()}
    except (OSError, zipfile.BadZipFile, zlib.error, EOFError, ValueError, NotImplementedError, RuntimeError) as error:
        said = getattr(error, "strerror", None) or str(error)
        raise FormatError(
            f"cannot read the costs of firings: {said}", span=file_span(path, 0), expected=_WANTED
        ) from error


def _array(
    path: str, archive: zipfile.ZipFile, info: zipfile.ZipInfo, name: str, firings: Mapping[str, int]
) -> NDArray[np.float32]:
    """Return the costs of one actor. Raises ``FormatError``, and what zipfile and numpy raise."""
    here = file_span(path, 0)
    if name not in firings:
        raise FormatError(f"it has costs of an actor '{name}', which the trace lacks", span=here, expected=_WANTED)
    if info.file_size > 4 * firings[name] + _HEADER_BYTES:  # before anything is unpacked
        raise FormatError(
            f"it has costs of more firings of '{name}' than the {firings[name]} of the trace",
            span=here,
            expected=_WANTED,
        )
    with archive.open(info) as member:
        counts = np.lib.format.read_array(io.BytesIO(member.read()), allow_pickle=False)
    if counts.dtype != np.float32 or counts.shape != (firings[name],):
        raise FormatError(
            f"it has {counts.dtype} costs of shape {counts.shape} for the {firings[name]} firings of '{name}'",
            span=here,
            expected=_WANTED,
        )
    if not (np.isfinite(counts).all() and (counts >= 0).all()):
        raise FormatError(f"a cost of '{name}' is below 0 or no number", span=here, expected=_WANTED)
    return np.asarray(counts, dtype=np.float32)
