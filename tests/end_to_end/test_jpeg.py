"""The JPEG decoder against Pillow on rendered pictures, and what it refuses."""

import importlib.util
import io
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest
from numpy.typing import NDArray

from dse.base.errors import ExecutionError
from dse.formats.pictures import Picture, rgb
from dse.frontend.network.elaborate import load_network
from dse.run.execution import RunOptions, RunResult, run_network
from tests.examples import WHOLE, in_full, seldom

Image = pytest.importorskip("PIL.Image", reason="Pillow is not installed")

FOLDER = Path(__file__).resolve().parents[2] / "actors" / "jpeg"
LOADED = load_network(str(FOLDER / "jpeg.xdf"))
Samples = NDArray[np.int64]


def load_generator() -> ModuleType:
    """The script that makes the inputs, as a module."""
    spec = importlib.util.spec_from_file_location("make_jpeg_input", FOLDER / "make_input.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


GENERATOR = load_generator()


@dataclass(frozen=True)
class Decoded:
    planes: Samples  # shape (pictures * components, height, width)
    result: RunResult


def noise(width: int, height: int) -> NDArray[np.uint8]:
    return np.random.default_rng(width).integers(0, 256, (height, width, 3), dtype=np.uint8)


def jpeg(pixels: NDArray[np.uint8], **options: object) -> bytes:
    """Pixels as a JPEG file with the options of Pillow."""
    stream = io.BytesIO()
    Image.fromarray(pixels).save(stream, "JPEG", **options)
    return stream.getvalue()


def pillow_planes(data: bytes) -> Samples:
    """Pillow's own samples before its conversion to RGB; shape (components, height, width)."""
    image = Image.open(io.BytesIO(data))
    if image.mode == "L":
        return np.asarray(image).astype(int)[None]
    image.draft("YCbCr", image.size)
    assert image.mode == "YCbCr"
    return np.asarray(image).astype(int).transpose(2, 0, 1)


def psnr(first: NDArray[np.uint8], second: NDArray[np.uint8]) -> float:
    error = float(((first.astype(float) - second.astype(float)) ** 2).mean())
    return 10 * np.log10(255**2 / error) if error else np.inf


Decoder = Callable[..., Decoded]


@pytest.fixture
def decode(tmp_path: Path) -> Decoder:
    def run(data: bytes, width: int, height: int, **options: int) -> Decoded:
        source, target = tmp_path / "input.jpg", tmp_path / "output.yuv"
        source.write_bytes(data)
        result = run_network(LOADED.network, RunOptions(input=str(source), output=str(target), **options))
        assert result.tokens_left == 0
        assert not result.warnings
        return Decoded(np.fromfile(target, np.uint8).astype(int).reshape(-1, height, width), result)

    return run


def compare(data: bytes, planes: Samples, *, sampling: str) -> None:
    """The accuracy that the application promises: 2 levels, RGB of subsampled pictures 35 dB."""
    expected = pillow_planes(data)
    difference = np.abs(planes - expected)
    assert difference[0].max() <= 2
    if sampling == "4:4:4":
        assert difference.max() <= 2
    if len(expected) == 3:
        own = rgb(Picture(planes=tuple(p.astype(np.uint8) for p in planes)))
        assert psnr(own, np.asarray(Image.open(io.BytesIO(data)).convert("RGB"))) >= 35


def test_network_has_the_six_actors_of_the_paper() -> None:
    assert not LOADED.warnings
    instances = LOADED.network.instances
    assert [i.name for i in instances] == ["source", "parser", "huffman", "dequant", "idct2d", "display"]
    assert [i.name for i in instances if i.actor.natives] == ["source", "display"]  # the others may go anywhere


def test_default_input(decode: Decoder) -> None:
    data = (FOLDER / (FOLDER / "input.default").read_text().strip()).read_bytes()
    decoded = decode(data, 128, 128)
    compare(data, decoded.planes, sampling="4:2:0")
    # 64 MCUs of six blocks, 128 lines.
    firings = dict(zip((i.name for i in LOADED.network.instances), decoded.result.actions, strict=True))
    assert sum(firings["idct2d"]) == 384
    assert 20_000 <= decoded.result.n_firings <= 50_000


@pytest.mark.parametrize("sampling", ["4:2:0", "4:4:4", "4:2:2"])
@pytest.mark.parametrize("quality", [5, 50, 100, *seldom(75, 95)])
def test_qualities(quality: int, sampling: str, decode: Decoder) -> None:
    data = jpeg(GENERATOR.scene(96, 80), quality=quality, subsampling=sampling)
    compare(data, decode(data, 96, 80).planes, sampling=sampling)


@pytest.mark.parametrize("sampling", ["4:2:0", "4:4:4", "4:2:2"])
@pytest.mark.parametrize(
    ("width", "height"),
    [(1, 1), (1, 40), (37, 1), (7, 9), (16, 16), (17, 33), *in_full((8, 8), (15, 17), (65, 49), (64, 31))],
)
def test_sizes(width: int, height: int, sampling: str, decode: Decoder) -> None:
    data = jpeg(GENERATOR.scene(width, height), quality=85, subsampling=sampling)
    compare(data, decode(data, width, height).planes, sampling=sampling)


@pytest.mark.parametrize(("quality", "sampling"), [(75, "4:2:0"), (50, "4:4:4")])
def test_large_picture(quality: int, sampling: str, decode: Decoder) -> None:
    data = jpeg(GENERATOR.scene(512, 512), quality=quality, subsampling=sampling)
    compare(data, decode(data, 512, 512).planes, sampling=sampling)


@pytest.mark.parametrize("size", [(40, 24), (33, 47)])
@pytest.mark.parametrize("quality", [30, 95])
def test_noise_in_444(quality: int, size: tuple[int, int], decode: Decoder) -> None:
    data = jpeg(noise(*size), quality=quality, subsampling="4:4:4")
    compare(data, decode(data, *size).planes, sampling="4:4:4")


@pytest.mark.parametrize("sampling", ["4:2:0", "4:4:4"])
@pytest.mark.parametrize("mcus", [1, 3, 8, 100])
def test_restart_markers(mcus: int, sampling: str, decode: Decoder) -> None:
    pixels = GENERATOR.scene(70, 90)
    data = jpeg(pixels, quality=75, subsampling=sampling, restart_marker_blocks=mcus)
    assert b"\xff\xdd" in data
    planes = decode(data, 70, 90).planes
    compare(data, planes, sampling=sampling)
    plain = jpeg(pixels, quality=75, subsampling=sampling)
    np.testing.assert_array_equal(planes, decode(plain, 70, 90).planes)


@pytest.mark.parametrize("size", [(40, 30), (9, 23)])
def test_grey(size: tuple[int, int], decode: Decoder) -> None:
    data = jpeg(GENERATOR.scene(*size)[..., 1], quality=80)
    planes = decode(data, *size).planes
    assert len(planes) == 1
    compare(data, planes, sampling="4:4:4")


def test_optimised_tables_comment_and_application_data(decode: Decoder) -> None:
    data = jpeg(GENERATOR.scene(50, 40), quality=90, optimize=True, comment="c" * 300, exif=b"Exif\0\0" + bytes(60_000))
    compare(data, decode(data, 50, 40).planes, sampling="4:2:0")


def test_pictures_in_a_row(decode: Decoder) -> None:
    files = [
        jpeg(GENERATOR.scene(40, 24, seed), quality=q, optimize=bool(q % 2)) for seed, q in ((1, 75), (2, 41), (3, 95))
    ]
    decoded = decode(files[0] + files[1] + b"\0\xff\0between" + files[2] + b"\xff", 40, 24)
    assert decoded.result.frames == 3
    for k, data in enumerate(files):
        compare(data, decoded.planes[3 * k : 3 * k + 3], sampling="4:2:0")


@pytest.mark.parametrize("extra", [0, 1, 37])
def test_an_input_is_read_as_often_as_asked(decode: Decoder, extra: int) -> None:
    data = jpeg(GENERATOR.scene(40, 24), quality=75) + b"\0" * extra
    data += b"\0" * (64 - len(data) % 64 if extra == 0 else 0)  # the last 64 bytes full: the END comes by itself
    once, thrice = decode(data, 40, 24), decode(data, 40, 24, loops=3)
    assert (once.result.frames, thrice.result.frames) == (1, 3)
    np.testing.assert_array_equal(thrice.planes, np.concatenate([once.planes] * 3))


def test_pictures_of_different_kinds_in_a_row(decode: Decoder) -> None:
    colour = jpeg(GENERATOR.scene(16, 16), quality=75, restart_marker_blocks=1)
    grey = jpeg(GENERATOR.scene(16, 16)[..., 0], quality=75)
    decoded = decode(colour + grey, 16, 16)
    compare(grey, decoded.planes[3:], sampling="4:4:4")
    compare(colour, decoded.planes[:3], sampling="4:2:0")


def test_fill_bytes_before_markers(decode: Decoder) -> None:
    data = jpeg(GENERATOR.scene(32, 32), quality=75, restart_marker_blocks=2)
    filled = data.replace(b"\xff\xdb", b"\xff\xff\xff\xdb").replace(b"\xff\xd0", b"\xff\xff\xd0")
    assert len(filled) > len(data)
    np.testing.assert_array_equal(decode(filled, 32, 32).planes, decode(data, 32, 32).planes)


def test_sixteen_bit_quantisation_tables(decode: Decoder) -> None:
    data = jpeg(GENERATOR.scene(32, 32), quality=75)
    wide = data
    for table in (0, 1):
        start = data.index(bytes((0xFF, 0xDB, 0, 67, table)))
        old = data[start : start + 69]
        steps = b"".join(bytes((0, step)) for step in old[5:])
        wide = wide.replace(old, bytes((0xFF, 0xDB, 0, 131, 16 + table)) + steps)
    np.testing.assert_array_equal(decode(wide, 32, 32).planes, decode(data, 32, 32).planes)


@pytest.mark.parametrize("fifo_tokens", [1, 64, 4096])
def test_fifo_size_changes_nothing(fifo_tokens: int, decode: Decoder) -> None:
    data = jpeg(GENERATOR.scene(40, 24), quality=75, restart_marker_blocks=2)
    first, second = (decode(data, 40, 24, fifo_tokens=n, hash_channels=True) for n in (512, fifo_tokens))
    np.testing.assert_array_equal(first.planes, second.planes)
    assert first.result.actions == second.result.actions
    assert first.result.channels == second.result.channels


def test_png_output(tmp_path: Path) -> None:
    target = tmp_path / "picture.png"
    result = run_network(LOADED.network, RunOptions(input=str(FOLDER / "input.jpg"), output=str(target)))
    assert result.outputs == (str(target),)
    picture = np.asarray(Image.open(target))
    np.testing.assert_array_equal(picture, np.asarray(Image.open(FOLDER / "expected" / "picture.png")))
    assert psnr(picture, np.asarray(Image.open(FOLDER / "input.jpg"))) >= 35


SMALL = jpeg(GENERATOR.scene(40, 40), quality=75, restart_marker_blocks=2)
SCAN = SMALL.index(b"\xff\xda") + 14  # where its entropy-coded data begins
FRAME = SMALL.index(b"\xff\xc0")
RESTART = SMALL.index(b"\xff\xd1")
NEXT_RESTART = SMALL.index(b"\xff\xd2")


def patched(at: int, *values: int) -> bytes:
    return SMALL[:at] + bytes(values) + SMALL[at + len(values) :]


REFUSED = {
    "text": (b"hello", "not a JPEG: the file does not begin with the bytes FF D8"),
    "png": (b"\x89PNG\r\n\x1a\n" + bytes(50), "not a JPEG: the file does not begin with the bytes FF D8"),
    "one byte": (b"\xff", "not a JPEG: the file does not begin with the bytes FF D8"),
    "marker only": (b"\xff\xd8", "truncated JPEG: the file ends after 2 bytes, inside a picture"),
    "cut in a table": (SMALL[:100], "truncated JPEG: the file ends after 100 bytes, inside a picture"),
    "cut in the data": (
        SMALL[: SCAN + 50],
        f"truncated JPEG: the file ends after {SCAN + 50} bytes, inside a picture",
    ),
    "no end marker": (SMALL[:-2], f"truncated JPEG: the file ends after {len(SMALL) - 2} bytes, inside a picture"),
    "progressive": (
        jpeg(GENERATOR.scene(16, 16), progressive=True),
        "unsupported JPEG: progressive coding (byte 160)",
    ),
    "arithmetic": (
        patched(FRAME + 1, 0xC9),
        f"unsupported JPEG: arithmetic or hierarchical coding, marker 201 (byte {FRAME + 2})",
    ),
    "lossless": (
        patched(FRAME + 1, 0xC3),
        f"unsupported JPEG: lossless or hierarchical coding, marker 195 (byte {FRAME + 2})",
    ),
    "12 bits": (patched(FRAME + 4, 12), "unsupported JPEG: samples of 12 bits"),
    "no lines": (patched(FRAME + 5, 0, 0), "corrupt JPEG: the picture has no lines or no columns"),
    "four components": (
        jpeg(np.zeros((8, 8, 4), np.uint8)[..., :3].copy(), quality=75)
        .replace(b"\xff\xc0\x00\x11\x08\x00\x08\x00\x08\x03", b"\xff\xc0\x00\x14\x08\x00\x08\x00\x08\x04")
        .replace(b"\x03\x11\x01\xff\xc4", b"\x03\x11\x01\x04\x11\x01\xff\xc4"),
        "unsupported JPEG: a picture of 4 components",
    ),
    "sampling": (patched(FRAME + 11, 0x41), "unsupported JPEG: a component sampled 4 by 1"),
    "RGB": (
        jpeg(GENERATOR.scene(16, 16), keep_rgb=True),
        "unsupported JPEG: components that are RGB, not YCbCr",
    ),
    "restart out of order": (
        patched(RESTART + 1, 0xD5),
        f"corrupt JPEG: a restart marker is missing or out of order at byte {RESTART + 2}",
    ),
    "restart missing": (
        SMALL[:RESTART] + SMALL[RESTART + 2 :],
        f"corrupt JPEG: a restart marker is missing or out of order at byte {NEXT_RESTART}",
    ),
    "superfluous data": (SMALL[:-2] + b"123\xff\xd9", "corrupt JPEG: superfluous data before MCU 9 of picture 1"),
    "no picture": (SMALL[:20] + b"\xff\xd9", "corrupt JPEG: no picture before the end marker at byte 22"),
    "no marker": (patched(20, 7), "corrupt JPEG: value 7 at byte 20 where a marker should be"),
    "length": (SMALL[:20] + b"\xff\xfe\0\1", "corrupt JPEG: impossible length of segment 254 before byte 24"),
    "two scans": (
        SMALL[:-2] + SMALL[SCAN - 14 :],
        f"unsupported JPEG: a picture in several scans (byte {len(SMALL) - 2 + 14})",
    ),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_is_no_baseline_jpeg_is_refused(name: str, tmp_path: Path) -> None:
    data, message = REFUSED[name]
    source = tmp_path / "input.jpg"
    source.write_bytes(data)
    with pytest.raises(ExecutionError) as caught:
        run_network(LOADED.network, RunOptions(input=str(source)))
    diagnostic = caught.value.diagnostics[0]
    assert diagnostic.message == message
    assert diagnostic.span.path == str(source)
    assert "baseline JPEG" in diagnostic.expected


def test_data_that_ends_early_is_refused(tmp_path: Path) -> None:
    source = tmp_path / "input.jpg"
    plain = jpeg(GENERATOR.scene(40, 40), quality=75)
    source.write_bytes(plain[:-60] + plain[-2:])
    with pytest.raises(ExecutionError, match=r"corrupt JPEG: (the data of picture 1 ends early|an impossible code)"):
        run_network(LOADED.network, RunOptions(input=str(source)))


def test_empty_file_is_refused(tmp_path: Path) -> None:
    source = tmp_path / "input.jpg"
    source.write_bytes(b"")
    with pytest.raises(ExecutionError, match="empty"):
        run_network(LOADED.network, RunOptions(input=str(source)))


def test_damaged_files_never_end_in_anything_but_an_error_or_a_picture(tmp_path: Path) -> None:
    generator = np.random.default_rng(5)
    source = tmp_path / "input.jpg"
    pictures, messages, damaged = 0, [], 60 if WHOLE else 20
    for _ in range(damaged):
        data = bytearray(SMALL)
        for at in generator.integers(2, len(data) - 2, 3):
            data[at] = int(generator.integers(0, 256))
        source.write_bytes(bytes(data))
        try:
            result = run_network(LOADED.network, RunOptions(input=str(source)))
        except ExecutionError as error:
            messages.append(error.diagnostics[0].message)
        else:
            pictures += result.frames == 1 and result.tokens_left == 0
    assert pictures > 0
    assert all("JPEG: " in message for message in messages)
    assert pictures + len(messages) == damaged
