"""The colours of pages: apart for everybody, readable on white and in dark."""

import itertools
import re

import numpy as np
import pytest
from numpy.typing import NDArray

from dse.report.page.assets import WEB

# How people without one kind of cones see linear sRGB (Machado, Oliveira and Fernandes 2009, severity 1).
SIGHTS = {
    "all colours": np.eye(3),
    "no red": np.array([[0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216],
                        [-0.003882, -0.048116, 1.051998]]),
    "no green": np.array([[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413],
                        [-0.01182, 0.04294, 0.968881]]),
    "no blue": np.array([[1.255528, -0.076749, -0.178779], [-0.078411, 0.930809, 0.147602],
                        [0.004733, 0.691367, 0.3039]]),
}  # fmt: skip
# From linear sRGB to OKLab (Ottosson 2020), where equal distances look about equal.
TO_CONES = np.array([[0.4122214708, 0.5363325363, 0.0514459929], [0.2119034982, 0.6806995451, 0.1073969566],
                     [0.0883024619, 0.2817188376, 0.6299787005]])  # fmt: skip
TO_LAB = np.array([[0.2104542553, 0.793617785, -0.0040720468], [1.9779984951, -2.428592205, 0.4505937099],
                   [0.0259040371, 0.7827717662, -0.808675766]])  # fmt: skip


def colours(theme: str, name: str) -> list[str]:
    """Return the colours of a palette of a theme as the script has them."""
    (block,) = re.findall(rf"\n  {theme}: \{{(.*?)\n  \}},", (WEB / "palette.js").read_text(), re.S)
    (value,) = re.findall(rf"\b{name}: (\[.*?\]|\{{.*?\}}|\"#\w+\")", block, re.S)
    return re.findall(r"#[0-9a-f]{6}", value)


def linear(colour: str) -> NDArray[np.float64]:
    parts = np.array([int(colour[k : k + 2], 16) / 255 for k in (1, 3, 5)])
    return np.where(parts <= 0.04045, parts / 12.92, ((parts + 0.055) / 1.055) ** 2.4)


def contrast(a: str, b: str) -> float:
    """Return the contrast of two colours as WCAG 2 defines it."""
    high, low = sorted((float(linear(c) @ [0.2126, 0.7152, 0.0722]) for c in (a, b)), reverse=True)
    return (high + 0.05) / (low + 0.05)


def distance(a: str, b: str, sight: NDArray[np.float64]) -> float:
    first, second = (TO_LAB @ np.cbrt(TO_CONES @ np.clip(sight @ linear(c), 0, 1)) for c in (a, b))
    return float(np.linalg.norm(first - second))


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("name", ["partitions", "kinds"])
def test_colours_are_apart_for_everybody_and_stand_out(theme: str, name: str) -> None:
    found, (paper,) = colours(theme, name), colours(theme, "paper")
    assert len(found) == {"partitions": 8, "kinds": 6}[name]
    for (a, b), (who, sight) in itertools.product(itertools.combinations(found, 2), SIGHTS.items()):
        assert distance(a, b, sight) > 0.085, f"{a} and {b} look alike to people who see {who}"
    shown = found if name == "partitions" else found[:-1]  # unoccupied time is meant to recede
    assert min(contrast(colour, paper) for colour in shown) >= 3


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_texts_can_be_read(theme: str) -> None:
    grounds = [*colours(theme, "paper"), *colours(theme, "raised")]
    for name in ("ink", "quiet", "accent"):
        (text,) = colours(theme, name)
        assert min(contrast(text, ground) for ground in grounds) >= 4.5
    for colour in colours(theme, "partitions"):
        assert max(contrast(colour, "#000000"), contrast(colour, "#ffffff")) >= 4.5
