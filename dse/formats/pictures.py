"""Pictures that programs put out: PNG files (ISO/IEC 15948) and planar sample files, from 8-bit planes.

Owns the conversion of full-range YCbCr to RGB (JFIF 1.02, ITU-T T.871). Reads no pictures.
"""

import struct
import zlib
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

_SIGNATURE = b"\x89PNG\r\n\x1a\n"
_GREY, _RGB = 0, 2


@dataclass(frozen=True, slots=True, kw_only=True)
class Picture:
    """A picture of full-range 8-bit samples: planes (Y) or (Y, Cb, Cr), each uint8 of shape (height, width)."""

    planes: tuple[NDArray[np.uint8], ...]

    def __post_init__(self) -> None:
        assert len(self.planes) in (1, 3), "a picture has one or three planes"
        assert len({plane.shape for plane in self.planes}) == 1, "the planes of a picture have the same size"


def rgb(picture: Picture) -> NDArray[np.uint8]:
    """Return the RGB samples of a picture, shape (height, width, 3); a grey one has three equal components."""
    luma = picture.planes[0].astype(np.float64)
    if len(picture.planes) == 1:
        return np.repeat(picture.planes[0][..., None], 3, axis=-1)
    blue, red = (plane.astype(np.float64) - 128 for plane in picture.planes[1:])
    # T.871 section 7: inverse of the BT.601 matrix on full range.
    channels = (luma + 1.402 * red, luma - (0.299 * 1.402 * red + 0.114 * 1.772 * blue) / 0.587, luma + 1.772 * blue)
    result: NDArray[np.uint8] = np.clip(np.rint(np.stack(channels, axis=-1)), 0, 255).astype(np.uint8)
    return result


def png_bytes(picture: Picture) -> bytes:
    """Return a picture as a PNG file: 8-bit grey for one plane, RGB for three."""
    return png_of_samples(picture.planes[0] if len(picture.planes) == 1 else rgb(picture))


def png_of_samples(samples: NDArray[np.uint8]) -> bytes:
    """Return samples as a PNG file: of shape (height, width) grey, of shape (height, width, 3) RGB."""
    height, width = samples.shape[:2]
    # Each line is preceded by its filter, 0 for none.
    lines = np.zeros((height, 1 + samples.size // height), dtype=np.uint8)
    lines[:, 1:] = samples.reshape(height, -1)
    header = struct.pack(">IIBBBBB", width, height, 8, _GREY if samples.ndim == 2 else _RGB, 0, 0, 0)
    chunks = ((b"IHDR", header), (b"IDAT", zlib.compress(lines.tobytes(), 6)), (b"IEND", b""))
    return _SIGNATURE + b"".join(_chunk(kind, data) for kind, data in chunks)


def planar_bytes(picture: Picture) -> bytes:
    """Return the planes of a picture one after the other, in raster order."""
    return b"".join(plane.tobytes() for plane in picture.planes)


def _chunk(kind: bytes, data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
