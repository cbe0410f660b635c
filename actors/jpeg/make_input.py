"""Make JPEG files to decode: a rendered landscape of any size; the same options give the same pixels.

Needs numpy and Pillow. Run without options it makes the default input of the network again.
"""

import argparse
import sys
from pathlib import Path

try:
    import numpy as np
    from numpy.typing import NDArray
    from PIL import Image
except ImportError as missing:
    sys.exit(f"make_input.py needs numpy and Pillow ({missing})\n  = {sys.executable} -m pip install numpy pillow")

SAMPLINGS = {"4:4:4": 0, "4:2:2": 1, "4:2:0": 2}
"""Chroma sampling to the number that Pillow knows it by."""
DEFAULT = Path(__file__).with_name("input.jpg")


def _octaves(height: int, width: int, generator: np.random.Generator, *, rough: float) -> NDArray[np.float64]:
    """Sum of noise at scales from the whole picture down to a pixel, in [-1, 1]; shape (height, width).

    ``rough`` is the weight of each scale relative to the next larger one.
    """
    total = np.zeros((height, width))
    scale, weight = max(height, width), 0.5
    while scale >= 1:
        rows, columns = height // scale + 2, width // scale + 2
        lattice = generator.uniform(-1, 1, (rows, columns))
        y, x = np.arange(height)[:, None] / scale, np.arange(width)[None, :] / scale
        i, j = y.astype(int), x.astype(int)
        v, u = (t * t * (3 - 2 * t) for t in (y - i, x - j))
        upper = lattice[i, j] * (1 - u) + lattice[i, j + 1] * u
        lower = lattice[i + 1, j] * (1 - u) + lattice[i + 1, j + 1] * u
        total += weight * (upper * (1 - v) + lower * v)
        scale, weight = scale // 2, weight * rough
    return np.clip(total, -1, 1)


def scene(width: int, height: int, seed: int = 1) -> NDArray[np.uint8]:
    """Render sky with clouds and a sun, two ridges of hills and a red house; RGB, shape (height, width, 3)."""
    generator = np.random.default_rng(seed)
    y, x = np.mgrid[0:height, 0:width] / np.array([[[max(height, 2)]], [[max(width, 2)]]])
    clouds = _octaves(height, width, generator, rough=0.6)
    grain = _octaves(height, width, generator, rough=0.85)
    sky = np.stack([90 + 120 * y, 140 + 80 * y, 235 - 20 * y], axis=-1)
    picture = sky + 70 * np.clip(clouds, 0, 1)[..., None]
    sun = np.clip(1.3 - np.hypot(x - 0.75, y - 0.2) / 0.09, 0, 1)[..., None]
    picture = picture * (1 - sun) + sun * np.array([255, 240, 150])
    for base, height_of_hill, colour in ((0.55, 0.12, (70, 110, 90)), (0.72, 0.08, (60, 130, 40))):
        ridge = base + height_of_hill * np.sin(5 * x + 9 * base) + 0.03 * grain
        hill = np.array(colour) * (1 + 0.5 * grain[..., None]) - 40 * (y - base)[..., None]
        picture = np.where((y > ridge)[..., None], hill, picture)
    wall = (abs(x - 0.3) < 0.1) & (abs(y - 0.78) < 0.08)
    roof = (y > 0.6) & (y < 0.7) & (abs(x - 0.3) < (y - 0.58))
    window = (abs(x - 0.3) % 0.1 < 0.025) & (abs(y - 0.77) < 0.03) & wall
    for shape, colour in ((wall, (210, 190, 160)), (roof, (190, 40, 30)), (window, (40, 50, 90))):
        picture = np.where(shape[..., None], np.array(colour) * (1 + 0.15 * grain[..., None]), picture)
    picture += generator.normal(0, 1.5, picture.shape)
    rounded: NDArray[np.uint8] = np.clip(np.rint(picture), 0, 255).astype(np.uint8)
    return rounded


def write_jpeg(path: Path, pixels: NDArray[np.uint8], *, quality: int, sampling: str, restart_mcus: int = 0) -> None:
    """Write RGB pixels of shape (height, width, 3), or grey ones of shape (height, width), as a baseline JPEG."""
    options = {"restart_marker_blocks": restart_mcus} if restart_mcus else {}
    Image.fromarray(pixels).save(path, "JPEG", quality=quality, subsampling=SAMPLINGS[sampling], **options)


def main() -> None:
    """Make one file as the options say."""
    parser = argparse.ArgumentParser(description="Make a JPEG file of a rendered landscape.")
    parser.add_argument("-o", "--output", type=Path, default=DEFAULT)
    parser.add_argument("--width", type=int, default=128)
    parser.add_argument("--height", type=int, default=128)
    parser.add_argument("--quality", type=int, default=95)
    parser.add_argument("--sampling", choices=SAMPLINGS, default="4:2:0")
    parser.add_argument("--restart", type=int, default=0, help="MCUs between restart markers; 0 for none")
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    for name, least, most in (
        ("width", 1, 65500), ("height", 1, 65500), ("quality", 1, 100), ("restart", 0, 65535), ("seed", 0, 2**32)
    ):  # fmt: skip
        if not least <= getattr(options, name) <= most:
            parser.error(f"--{name} is from {least} to {most}")
    pixels = scene(options.width, options.height, options.seed)
    try:
        write_jpeg(
            options.output, pixels, quality=options.quality, sampling=options.sampling, restart_mcus=options.restart
        )
    except OSError as error:
        parser.error(f"cannot write the file: {error}")


if __name__ == "__main__":
    main()
