"""Names of networks and actors do nothing in a notebook, in a picture or on a terminal."""

from dataclasses import replace
from pathlib import Path

import pytest

import dse
from tests.property.hostile_names import ANYWHERE, HOSTILE, live_in, page_of, unprintable, xml_shape

NAMES = (*HOSTILE, *ANYWHERE)
ODD = HOSTILE[0] + next(name for name in HOSTILE if not name.isprintable())


@pytest.fixture(scope="module")
def p() -> dse.Program:
    """A chain of actors with such names; the platform has one too."""
    last = len(NAMES) - 1
    actors = tuple(
        dse.TraceActor(
            name=name,
            class_name=name,
            inputs=("I",) if k else (),
            outputs=("O",) if k < last else (),
            actions=(dse.TraceAction(name=name, reads=(1,) if k else (), writes=(1,) if k < last else ()),),
        )
        for k, name in enumerate(NAMES)
    )
    fifos = tuple(
        dse.TraceBuffer(source=k, source_port=0, target=k + 1, target_port=0, token_bytes=4, token_bits=32)
        for k in range(last)
    )
    topology = dse.Topology(name=ODD, actors=actors, buffers=fifos)
    platform = dse.load_platform("default")
    named = replace(platform, name=ODD)
    trace = dse.make_trace(topology, [[0, 0]] * len(NAMES))
    return dse.load(trace, platform=named, missing_weights="zero", engine="reference")


def test_nothing_happens(p: dse.Program, tmp_path: Path) -> None:
    parts = {"P0": list(NAMES[::2]), "P1": list(NAMES[1::2])}
    found, several = p.estimate(parts), p.compare([parts, None])
    x = p.explore(budget=3, workers=1)
    results = (p, found, several, x, found.actors, found.fifos, found.partitions)
    for result in results:
        page = result._repr_html_()
        assert live_in(page_of(page)) == []
        assert unprintable(page) == set()
    for result in (*results, x.ranking, x.ranking[0], p.trace, p.trace.topology, p.weights, x.study, p.setting.tables):
        assert unprintable(repr(result)) == set()
        assert unprintable(str(result)) == set()
    for picture in (found.plot(), found.plot("partitions"), found.plot("timeline"), several.plot(), x.plot()):
        assert "script" not in {tag.rpartition("}")[2] for tag, _ in xml_shape(picture.svg.encode())}
    assert p.estimate(found.mapping).point.partitions == found.point.partitions
