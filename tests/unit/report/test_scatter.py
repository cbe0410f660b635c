"""Scatter pictures: what is drawn, and that both forms can be read."""

import io
import xml.etree.ElementTree as ET

import numpy as np
from PIL import Image

from dse.report.scatter import SIZE, Scatter, ScatterPoint, scatter_png, scatter_svg
from dse.report.small_font import dots

SCATTER = Scatter(
    title="chain, near",
    points=(
        ScatterPoint(name="P0:a <b>", estimated=0.5, measured=0.25),
        ScatterPoint(name="m2", estimated=1.0, measured=1.0, group=1, hollow=True),
    ),
    groups=("512 tokens", "1024 tokens"),
)


def test_svg_holds_points_identity_and_names() -> None:
    root = ET.fromstring(scatter_svg(SCATTER))
    circles = [e for e in root.iter() if e.tag.endswith("circle")]
    assert len(circles) == 2 + 2
    assert circles[0][0].text == "P0:a <b>: 0.500, 0.250"
    assert float(circles[0].get("cx", "")) == round(SCATTER.across(0.5), 2)
    (line,) = [e for e in root.iter() if e.tag.endswith("}line")]
    assert line.get("stroke") == "#f28e2b"


def test_png_shows_the_same() -> None:
    samples = np.asarray(Image.open(io.BytesIO(scatter_png(SCATTER))).convert("RGB")).astype(int)
    assert samples.shape == (SIZE, SIZE, 3)
    x, y = round(SCATTER.across(0.5)), round(SCATTER.up(0.25))
    assert samples[y, x, 2] > samples[y, x, 0] + 40  # a blue point
    middle = round(SCATTER.across(0.75)), round(SCATTER.up(0.75))
    assert samples[middle[1], middle[0], 0] > samples[middle[1], middle[0], 2] + 60  # on the orange line
    assert (samples[60, 300] == 255).all()


def test_axes_end_behind_the_farthest_point() -> None:
    far = Scatter(title="", points=(ScatterPoint(name="a", estimated=0.5, measured=2.5),))
    assert far.most == 2.5
    assert Scatter(title="", points=()).most == 1.0


def test_letters() -> None:
    assert dots("1").shape == (7, 6)
    assert dots("A").tolist() == dots("a").tolist()
    assert dots("€")[0].sum() == 5
