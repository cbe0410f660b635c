"""PNG and planar files, read back with Pillow."""

import io

import numpy as np
import pytest

from dse.formats.pictures import Picture, planar_bytes, png_bytes, rgb

Image = pytest.importorskip("PIL.Image", reason="Pillow is not installed")


def planes(count: int, height: int = 5, width: int = 7) -> tuple[np.ndarray, ...]:
    generator = np.random.default_rng(3)
    return tuple(generator.integers(0, 256, (height, width), dtype=np.uint8) for _ in range(count))


def test_rgb_agrees_with_pillow_within_a_level() -> None:
    picture = Picture(planes=planes(3, 64, 64))
    expected = np.asarray(Image.merge("YCbCr", [Image.fromarray(p) for p in picture.planes]).convert("RGB"))
    assert np.abs(rgb(picture).astype(int) - expected).max() <= 1


@pytest.mark.parametrize(("count", "mode"), [(1, "L"), (3, "RGB")])
def test_png_is_read_back(count: int, mode: str) -> None:
    picture = Picture(planes=planes(count))
    image = Image.open(io.BytesIO(png_bytes(picture)))
    assert (image.mode, image.size) == (mode, (7, 5))
    expected = picture.planes[0] if count == 1 else rgb(picture)
    np.testing.assert_array_equal(np.asarray(image), expected)


def test_planar_file_holds_plane_after_plane() -> None:
    picture = Picture(planes=planes(3))
    assert planar_bytes(picture) == b"".join(p.tobytes() for p in picture.planes)
    assert len(planar_bytes(picture)) == 3 * 35


def test_grey_becomes_equal_components() -> None:
    samples = rgb(Picture(planes=planes(1)))
    assert samples.shape == (5, 7, 3)
    assert (samples[..., 0] == samples[..., 2]).all()
