"""Pictures that a program shows: written to files as they come, compared with a reference."""

from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import IO

import numpy as np
from numpy.typing import NDArray

from dse.base.errors import ExecutionError, OptionError
from dse.base.files import whole_file, write_whole
from dse.formats.pictures import Picture, planar_bytes, png_bytes, rgb
from dse.run.options import RunOptions

Plane = NDArray[np.uint8]
_SUFFIXES = (".yuv", ".png", ".pgm", ".ppm", ".raw")


@dataclass(frozen=True, slots=True, kw_only=True)
class Comparison:
    """Pictures (or blocks of bytes) compared with the reference; ``max_difference`` over all samples."""

    compared: int
    equal: int
    max_difference: int
    missing: int = 0
    """Pictures that the reference still had when the run ended are not counted; those it lacked are."""


class Screen:
    """Takes the pictures of a run. Planes are uint8 of shape (height, width); chroma may be subsampled."""

    def __init__(self, options: RunOptions) -> None:
        self.options = options
        self.frames = 0
        self.files: list[str] = []
        self.compares_itself = False
        """The program calls a compare native of its own, so that ``show`` must not compare too."""
        self._compared = self._equal = self._largest = self._missing = 0
        self._stream: IO[bytes] | None = None
        self._opened = ExitStack()
        self._whole = 0
        self._reference: bytes | None = None
        self._position = 0
        self._suffix = ""
        if options.output is not None:
            self._suffix = Path(options.output).suffix.lower()

    def show(self, planes: tuple[Plane, ...]) -> None:
        """Show one picture: write it if an output is given, compare it if a reference is."""
        if self.options.frames is not None and self.frames >= self.options.frames:
            return
        self.frames += 1
        if self.options.output is not None:
            self._write(planes)
        if not self.compares_itself:
            self.compare(planes)

    @property
    def full(self) -> bool:
        """Whether as many pictures were shown as were asked for."""
        return self.options.frames is not None and self.frames >= self.options.frames

    def compare(self, planes: tuple[Plane, ...]) -> None:
        """Compare a picture with the next one of the reference, which starts again after its last."""
        if self.options.reference is None:
            return
        data = b"".join(p.tobytes() for p in planes)
        if self._reference is None:
            self._reference = _read_reference(self.options.reference)
        if self._position >= len(self._reference):
            self._position = 0
        expected = self._reference[self._position : self._position + len(data)]
        self._position += len(data)
        self.count(data, expected)

    def count(self, data: bytes, expected: bytes) -> None:
        """Count a comparison of bytes with the bytes of the reference."""
        self._compared += 1
        if len(expected) < len(data):
            self._missing += 1
            self._largest = max(self._largest, 255)
            return
        difference = np.abs(np.frombuffer(data, np.uint8).astype(int) - np.frombuffer(expected, np.uint8))
        largest = int(difference.max(initial=0))
        self._largest = max(self._largest, largest)
        self._equal += largest <= self.options.tolerance

    @property
    def comparison(self) -> Comparison | None:
        """What the comparisons gave, or None without a reference or a picture."""
        if self.options.reference is None or not self._compared:
            return None
        return Comparison(
            compared=self._compared, equal=self._equal, max_difference=self._largest, missing=self._missing
        )

    def close(self) -> None:
        """Close the file of planar pictures, which gets its name now: with all whole pictures, also after an error."""
        if self._stream is not None:
            if self._stream.seekable():  # a pipe has taken what it has taken
                self._stream.truncate(self._whole)
            self._stream = None
            self._opened.close()

    def _write(self, planes: tuple[Plane, ...]) -> None:
        assert self.options.output is not None
        if self._suffix not in _SUFFIXES:
            raise OptionError(
                f"no picture format is known for '{self.options.output}'",
                expected="end its name in " + " ".join(_SUFFIXES),
            )
        try:
            if self._suffix in (".yuv", ".raw"):
                self._append(b"".join(p.tobytes() for p in planes))
            else:
                self._file(Path(self.options.output), planes)
        except OSError as error:
            raise ExecutionError(f"cannot write '{self.options.output}': {error.strerror}") from error

    def _append(self, data: bytes) -> None:
        if self._stream is None:
            assert self.options.output is not None
            self._stream = self._opened.enter_context(whole_file(self.options.output, buffered=False))
            self.files.append(self.options.output)
        rest = memoryview(data)
        while rest:
            rest = rest[self._stream.write(rest) :]
        self._whole += len(data)

    def _file(self, path: Path, planes: tuple[Plane, ...]) -> None:
        """Write one picture to a file of its own: the name given for the first, numbered from the second on."""
        if self.frames > 1:
            path = path.with_name(f"{path.stem}_{self.frames}{path.suffix}")
        write_whole(path, encode(self._suffix, planes))
        self.files.append(str(path))


def encode(suffix: str, planes: tuple[Plane, ...]) -> bytes:
    """Return a picture in the format of a file name suffix; chroma is brought to full size by repetition."""
    height, width = planes[0].shape
    whole = tuple(_enlarged(p, height, width) for p in planes)
    if suffix == ".png":
        return png_bytes(Picture(planes=whole))
    if suffix == ".pgm":
        return b"P5\n%d %d\n255\n" % (width, height) + planar_bytes(Picture(planes=whole[:1]))
    return b"P6\n%d %d\n255\n" % (width, height) + rgb(Picture(planes=whole)).tobytes()


def _enlarged(plane: Plane, height: int, width: int) -> Plane:
    rows = np.minimum(np.arange(height) * plane.shape[0] // height, plane.shape[0] - 1)
    columns = np.minimum(np.arange(width) * plane.shape[1] // width, plane.shape[1] - 1)
    result: Plane = plane[rows][:, columns]
    return result


def _read_reference(path: str) -> bytes:
    try:
        data = Path(path).read_bytes()
    except OSError as error:
        raise ExecutionError(f"cannot read the reference '{path}': {error.strerror}") from error
    if not data:
        raise ExecutionError(f"the reference '{path}' is empty")
    return data
