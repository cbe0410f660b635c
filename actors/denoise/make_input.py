"""Make noisy grey pictures to clean: shapes with edges and textures, and noise with a standard deviation of 15.

Needs numpy. The same options give the same file. Run without options it makes the default input of the network again; a
picture of a usual size comes from ``python actors/denoise/make_input.py --size 512 -o noisy.pgm``.
"""

import argparse
import sys
from pathlib import Path

try:
    import numpy as np
    from numpy.typing import NDArray
except ImportError as missing:
    sys.exit(f"make_input.py needs numpy ({missing})\n  = {sys.executable} -m pip install numpy")

DEFAULT = Path(__file__).with_name("input.pgm")
NOISE = 15.0


def scene(height: int, width: int) -> NDArray[np.float64]:
    """Return a picture without noise, from 0 to 255; shape (height, width)."""
    y, x = np.mgrid[0:height, 0:width] / max(height, width, 2)
    picture = 60 + 90 * y + 30 * np.sin(9 * x)
    stripes = 40 * np.sign(np.sin(70 * x + 25 * y))
    picture = np.where((x - 0.3) ** 2 + (y - 0.35) ** 2 < 0.04, 150 + stripes, picture)
    checks = 50 * np.sign(np.sin(50 * x) * np.sin(50 * y))
    picture = np.where((abs(x - 0.72) < 0.18) & (abs(y - 0.6) < 0.22), 120 + checks, picture)
    return np.clip(picture, 0, 255)


def noisy(height: int, width: int, seed: int = 1) -> NDArray[np.uint8]:
    """Return the picture with noise; shape (height, width)."""
    noise = np.random.default_rng(seed).normal(0, NOISE, (height, width))
    rounded: NDArray[np.uint8] = np.clip(np.rint(scene(height, width) + noise), 0, 255).astype(np.uint8)
    return rounded


def pgm(picture: NDArray[np.uint8]) -> bytes:
    """Return a picture as a binary PGM file."""
    height, width = picture.shape
    return f"P5\n{width} {height}\n255\n".encode() + picture.tobytes()


def main() -> None:
    """Make one file as the options say."""
    parser = argparse.ArgumentParser(description="Make a noisy grey picture.")
    parser.add_argument("-o", "--output", type=Path, default=DEFAULT)
    parser.add_argument("--size", type=int, default=64, help="lines, and columns unless --width is given (default 64)")
    parser.add_argument("--width", type=int, help="columns")
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    width = options.size if options.width is None else options.width
    for name, value, least in (("size", options.size, 1), ("width", width, 1), ("seed", options.seed, 0)):
        if not least <= value <= 65535:
            parser.error(f"--{name} is from {least} to 65535")
    try:
        options.output.write_bytes(pgm(noisy(options.size, width, options.seed)))
    except OSError as error:
        parser.error(f"cannot write the file: {error}")


if __name__ == "__main__":
    main()
