"""Sums of a path: waits that overlap count once, and text of a path says what its numbers say."""

import numpy as np

from dse.model.critical_path import Cause, CriticalPath, SegmentKind, Segments
from dse.model.design_point import DesignPoint, Partition
from dse.model.estimate import Estimate, LinkAccount
from dse.model.trace import Topology, TraceAction, TraceActor, TraceBuffer, make_trace
from dse.report.bottleneck_text import path_text
from dse.report.bottlenecks import Bottlenecks, bottlenecks_of

ROWS = (
    # kind, actor, firing, buffer, link, start, end, cause, buffer of it, waited
    (SegmentKind.PROCESSING, 0, 0, -1, -1, 0, 40, Cause.START, -1, 0),
    (SegmentKind.WRITING, 0, 0, 0, 0, 40, 50, Cause.STEP, -1, 0),
    (SegmentKind.PROCESSING, 1, 0, -1, -1, 50, 60, Cause.TOKENS, 0, 50),
    (SegmentKind.PROCESSING, 0, 1, -1, -1, 60, 80, Cause.ROOM, 0, 5),
    (SegmentKind.WRITING, 0, 1, 0, 0, 80, 90, Cause.LINK, -1, 8),
    (SegmentKind.ARRIVAL, 0, 1, 0, -1, 90, 95, Cause.PUBLISHED, 0, 0),
    (SegmentKind.PROCESSING, 1, 1, -1, -1, 95, 100, Cause.TOKENS, 0, 50),
)
"""A reader that waited from 0 to 50 and from 45 to 95: 95 ticks in all."""


def found() -> Bottlenecks:
    """The sums of ``ROWS``."""
    write, read = TraceAction(name="w", reads=(), writes=(1,)), TraceAction(name="r", reads=(1,), writes=())
    actors = (
        TraceActor(name="a", class_name="C", inputs=(), outputs=("O",), actions=(write,)),
        TraceActor(name="b", class_name="C", inputs=("I",), outputs=(), actions=(read,)),
    )
    buffer = TraceBuffer(source=0, source_port=0, target=1, target_port=0, token_bytes=4, token_bits=32)
    trace = make_trace(Topology(name="t", actors=actors, buffers=(buffer,)), [[0, 0], [0, 0]])
    point = DesignPoint(
        partitions=tuple(Partition(name=f"P{a}", actors=(a,), unit="cpu") for a in (0, 1)), capacities=(1,)
    )
    link = LinkAccount(name="bus", busy=20, waiting=8, transfers=2)
    estimate = Estimate(
        makespan=100, tick_unit="cycles", actors=(), partitions=(), buffers=(), links=(link,), deadlock=None
    )
    columns = (np.array(column, dtype=np.int64) for column in zip(*ROWS, strict=True))
    names = ("kind", "actor", "firing", "buffer", "link", "start", "end", "cause", "cause_buffer", "waited")
    segments = Segments(**dict(zip(names, columns, strict=True)))
    path = CriticalPath(makespan=100, tick_unit="cycles", deadlock=False, segments=segments)
    return bottlenecks_of(trace, point, estimate, path, (np.array([0, 0]), np.array([7, -1])))


def test_sums_are_those_of_the_segments() -> None:
    sums = found()
    assert sums.kinds == (0, 0, 75, 20, 5)
    assert [(a.name, a.partition, a.total, a.firings) for a in sums.actions] == [
        ("a.w", "P0", 85, 2),
        ("b.r", "P1", 15, 2),
    ]
    assert [a.ticks for a in sums.actors] == [(0, 0, 60, 20, 5), (0, 0, 15, 0, 0)]
    (link,) = sums.links
    assert (link.name, link.moving, link.waits, link.waited) == ("bus", 20, 1, 8)


def test_waits_that_overlap_count_once() -> None:
    sums = found()
    (fifo,) = sums.fifos
    assert (fifo.moving, fifo.arrival) == (20, 5)
    assert (fifo.empty, fifo.empty_waited, fifo.full, fifo.full_waited) == (2, 95, 1, 5)
    waited = {share.cause: (share.times, share.waited) for share in sums.causes}
    assert waited == {Cause.TOKENS: (2, 95), Cause.ROOM: (1, 5), Cause.LINK: (1, 8), Cause.PUBLISHED: (1, 0)}


def test_slack_is_that_of_the_firings_that_were_made() -> None:
    first, second = found().slack
    assert (first.least, first.median, first.critical, first.firings) == (0, 0, 2, 2)
    assert (second.least, second.median, second.critical, second.firings) == (7, 7, 0, 2)


def test_text_says_what_is_largest_and_what_is_full() -> None:
    text = path_text(found(), 1)
    assert "critical path: 100 cycles, through 4 firings" in text
    assert "largest bottleneck: a.w has 85.0 % of the path; without it: up to 6.67x" in text
    assert "a.O->b.I is full 1x on the path and alone took 5.0 %: try more than its 1 tokens" in " ".join(text.split())
    assert "1 more with less; --top 2 shows all" in text
    assert "2x because tokens came (the FIFO had been empty), 95.0 % of the time only for that" in " ".join(
        text.split()
    )
