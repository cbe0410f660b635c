"""The pictures of a Pareto front: one dot a point, a staircase that never falls, nothing where there is nothing."""

import re
from xml.etree import ElementTree as ET

import pytest

from dse.model.design_point import DesignPoint
from dse.model.study import Evaluation, Front, FrontPoint, ObjectiveAxis
from dse.report.front_picture import front_pictures


def front(values: list[tuple[float, ...]], history: tuple[tuple[int, float], ...]) -> Front:
    evaluation = Evaluation.of(
        ordinal=0, point=DesignPoint(partitions=(), capacities=()), digest="", makespan=1, tick_unit="ps",
        deadlock=False, partitions=(), seconds=0.0,
    )  # fmt: skip
    axes = (
        ObjectiveAxis(name="makespan", unit="ps", maximise=False),
        ObjectiveAxis(name="energy <&>", unit="joule", maximise=False),
    )
    return Front(
        axes=axes[: len(values[0])], points=tuple(FrontPoint(evaluation=evaluation, values=v) for v in values),
        reference=values[-1], ideal=values[0], hypervolume=history[-1][1], history=history,
    )  # fmt: skip


def numbers(text: str) -> list[float]:
    return [float(n) for n in re.findall(r"-?\d+\.?\d*", text)]


def test_every_point_is_a_dot_and_the_share_only_grows() -> None:
    page = front_pictures(front([(10**15, 5.0), (10**15 + 1, 2.0), (2 * 10**15, 1.0)], ((1, 0.2), (4, 0.2), (9, 0.7))))
    root = ET.fromstring(f"<div>{page}</div>")
    space = "{http://www.w3.org/2000/svg}"
    dots = [(float(c.attrib["cx"]), float(c.attrib["cy"])) for c in root.iter(f"{space}circle")]
    assert len(dots) == 3
    assert [x for x, _ in dots] == sorted(x for x, _ in dots)
    assert [y for _, y in dots] == sorted(y for _, y in dots)  # less energy is lower on the picture: a larger y
    line = next(p for p in root.iter(f"{space}polyline") if p.attrib.get("stroke-width"))
    heights = numbers(line.attrib["points"])[1::2]
    assert heights == sorted(heights, reverse=True)


@pytest.mark.parametrize(
    ("values", "history", "pictures"),
    [([(3.0, 4.0)], ((1, 1.0),), 0), ([(3.0,)], ((1, 0.5), (2, 1.0)), 1), ([(3.0, 4.0), (4.0, 3.0)], ((2, 1.0),), 1)],
)
def test_what_shows_nothing_is_left_out(
    values: list[tuple[float, ...]], history: tuple[tuple[int, float], ...], pictures: int
) -> None:
    assert front_pictures(front(values, history)).count("<svg") == pictures
