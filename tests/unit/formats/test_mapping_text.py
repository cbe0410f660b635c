"""Mappings as text: what the words mean, exact round trips, all errors at once with their places."""

from contextlib import suppress
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dse.base.diagnostics import Gatherer, render
from dse.base.errors import DseError, FormatError
from dse.formats.connections import Buffers
from dse.formats.mapping_csv import read_mapping_csv
from dse.formats.mapping_text import mapping_text, read_mapping_text, states_buffers
from dse.formats.mapping_words import TextOrigin
from dse.model.design_point import DesignPoint, Partition
from dse.model.platform import Platform, Unit
from dse.model.trace import Topology
from tests.examples import examples
from tests.unit.formats.strategies import NAMES, PLATFORM, design_points, topologies
from tests.unit.formats.test_xcf import network

NET = network()  # src, idct/row, idct/col, sink; three FIFOs of 64, 512 and 600 tokens
BOX = Platform(
    name="box",
    units=(
        Unit(name="big", kind="cpu", cores=4),
        Unit(name="little", kind="cpu", cores=4),
        Unit(name="gpu", kind="gpu", partition="PG"),
    ),
)


def read(text: str, topology: Topology = NET) -> DesignPoint:
    return read_mapping_text(text, topology, BOX)


def partitions(text: str) -> list[Partition]:
    return list(read(text).partitions)


def found(text: str, origin: TextOrigin | None = None) -> list[str]:
    """Everything that is said of a wrong text."""
    with pytest.raises(FormatError) as caught:
        read_mapping_text(text, NET, BOX, origin=origin)
    return [render(diagnostic) for diagnostic in caught.value.diagnostics]


def test_the_text_of_the_issue() -> None:
    assert partitions("P0@big=2000:src,sink P1@little:idct/row PG:idct/col") == [
        Partition(name="P0", actors=(0, 3), unit="big", clock_mhz=Fraction(2000)),
        Partition(name="P1", actors=(1,), unit="little"),
        Partition(name="PG", actors=(2,), unit="gpu"),
    ]
    assert read("P0:src P1:*").capacities == (64, 512, 600)


def test_cores_policies_and_orders() -> None:
    first, second = partitions("A/round-robin*2:src B@little/Static_Order=row,col,row,sink:row,col,sink")
    assert (first.cores, first.policy, first.unit) == (2, "ROUND_ROBIN", "big")
    assert (second.policy, second.static_order, second.actors) == ("STATIC_ORDER", (1, 2, 1, 3), (1, 2, 3))
    (alone,) = partitions("A/static-order:sink,*")
    assert alone.static_order == alone.actors == (3, 0, 1, 2)


@pytest.mark.parametrize("name", ["idct/row", "idct_row", "idct.row", "row", "'row'"])
def test_names_that_are_clear(name: str) -> None:
    assert partitions(f"P0:{name} P1:*")[0].actors == (1,)


def test_blanks_and_lines() -> None:
    assert read("P0: src , sink\n  P1:\tidct/row,\n idct/col\n") == read("P0:src,sink P1:idct/row,idct/col")


def test_a_clock_holds_for_the_unit() -> None:
    assert [p.clock_mhz for p in partitions("P0:src P1@big=1200.5:* PG:col")] == [Fraction("1200.5")] * 2 + [None]


@pytest.mark.parametrize(
    ("setting", "sizes"),
    [
        ("buffers=7", (7, 7, 7)),
        ("buffers=1,2,3", (1, 2, 3)),
        ("buffers=src.O1->sink.I0=9", (64, 512, 9)),
        ("buffers=8,src.O0->idct_row.I0=9", (9, 8, 8)),
    ],
)
def test_sizes_of_fifos(setting: str, sizes: tuple[int, ...]) -> None:
    text = f"P0:* {setting}"
    assert read(text).capacities == sizes
    assert states_buffers(text)
    assert not states_buffers("buffers:*")
    assert read_mapping_text(mapping_text(read(text), NET, BOX), NET, BOX) == read(text)


def test_what_is_written_is_short() -> None:
    for text in (
        "P0:src,sink P1:idct/row,idct/col",
        "P0@little=1400:src,sink P1:idct/row PG:idct/col",
        "PG@big:src,idct/row,idct/col,sink",
        "P0*2/full-parallel:src,idct/row,idct/col,sink buffers=7 release=processing transfers=parallel",
        "'P1 on big'/static-order=sink,src,sink:src,sink Q:idct/row,idct/col buffers=7,8,9",
        "P0:src,idct/row,idct/col,sink buffers=src.O0->idct/row.I0=9",
    ):
        assert mapping_text(read(text), NET, BOX) == text
    sized = replace(read("P0:*"), capacities=(5, 6, 7))
    assert mapping_text(sized, NET, BOX, capacities=(5, 6, 7)) == "P0:src,idct/row,idct/col,sink"


ODD = NAMES | st.text(min_size=1, max_size=6)


@given(data=st.data())
@settings(max_examples=examples(200), deadline=None)
def test_round_trip(data: st.DataObject) -> None:
    topology = data.draw(topologies(names=ODD))
    point = data.draw(design_points(topology))
    text = mapping_text(point, topology, PLATFORM)
    assert text.isprintable()
    again = read_mapping_text(text, topology, PLATFORM)
    assert again == replace(point, name="")
    assert mapping_text(again, topology, PLATFORM) == text
    usual = data.draw(st.just(point.capacities) | st.just(Buffers(topology).capacities({})))
    shorter = mapping_text(point, topology, PLATFORM, capacities=usual)
    assert read_mapping_text(shorter, topology, PLATFORM, capacities=usual) == again


WRONG = "P0@bug:scr,src P1/robin*0:src,idct PG@gpu=fast:row P0:sink,a/*x bufers=3 release=later buffers=0,2"


def test_all_errors_at_once() -> None:
    with pytest.raises(FormatError) as caught:
        read(WRONG)
    assert [(d.span.column, d.message, d.expected) for d in caught.value.diagnostics] == [
        (4, "there is no unit 'bug' in platform 'box'", "did you mean 'big'?"),
        (8, "there is no actor 'scr' in network 'jpeg'", "did you mean 'src'?"),
        (19, "unknown policy 'robin'", "did you mean 'round-robin'?"),
        (25, "'0' is no number of cores", "expected 1 to 65536 cores"),
        (27, "actor 'src' is placed twice", "the first place is in column 12"),
        (31, "there is no actor 'idct' in network 'jpeg'", "did you mean 'idct/row' or 'idct/col'?"),
        (43, "the clock of partition 'PG' is 'fast'", "expected a number from 1e-06 to 100000 MHz"),
        (52, "partition 'P0' stands twice", "the first one is in column 1; join them"),
        (60, "there is no actor 'a/' in network 'jpeg'", "known: src, idct/row, idct/col, sink"),
        (62, "expected the name of a partition, found '*'", "P0:a,b P1@UNIT:c; quote odd names: P0:'a b'"),
        (65, "there is nothing to set that is called 'bufers'", "did you mean 'buffers'?"),
        (82, "unknown release 'later'", "known: reading, processing"),
        (96, "the size '0' is no number of tokens", "expected a whole number from 1 to 1099511627776"),
        (98, "2 sizes for 3 FIFOs", found(WRONG)[-1].split("  = ")[1]),
    ]


def test_a_caret_below_the_text() -> None:
    assert found("P0:src,sink\n  P1:idct/row,idct/kol") == [
        "mapping:2:15: error: there is no actor 'idct/kol' in network 'jpeg'\n"
        "      P1:idct/row,idct/kol\n"
        "                  ^^^^^^^^\n"
        "  = did you mean 'idct/col' or 'idct/row'?"
    ]


@pytest.mark.parametrize(
    ("text", "message", "carets"),
    [
        ("P0:src,sink", "actors in no partition: 'idct/row', 'idct/col'", "P0:src,sink"),
        ("P0 src", "there is no ':' after partition 'P0'", "P0"),
        ("P0:", "expected the name of an actor, found nothing", ""),
        ("P0:src,,sink", "expected the name of an actor, found ','", ","),
        ("P0:'src", "the quote is not closed", "'"),
        ("P0:'s\\q'", "a backslash has no meaning here", "\\q"),
        ("P0:'s\\u12'", "a backslash has no meaning here", "\\u"),
        ("P0@big@little:*", "'@' stands twice in partition 'P0'", "@little"),
        ("P0:* P1:*", "'*' stands twice", "*"),
        ("P0@big=1:src P1@big=2:*", "unit 'big' has another clock in a partition before this one", "2"),
        ("P0/round-robin=src:*", "this policy takes no order", "src"),
        ("P0/static-order=src:*", "the static order leaves out actor 'idct/row'", "src"),
        ("P0/static-order=sink:src P1:*", "actor 'sink' of the order is not in the partition", "sink"),
        ("P0:* buffers=7 buffers=8", "'buffers=' stands twice", "buffers"),
        ("P0:* buffers=src.O->sink.I=8", "there is no FIFO 'src.O->sink.I' in network 'jpeg'", "src.O->sink.I"),
        ("P0:* buffers=src.O1->sink.I0=8,src.O1->sink.I0=8", "FIFO 'src.O1->sink.I0' has two sizes", "src.O1->sink.I0"),
    ],
)
def test_errors(text: str, message: str, carets: str) -> None:
    with pytest.raises(FormatError) as caught:
        read(text)
    first = next(d for d in caught.value.diagnostics if d.message == message)
    assert text[first.span.column - 1 : first.span.end_column - 1] == carets
    assert first.expected


def test_names_that_are_not_clear() -> None:
    actors = tuple(replace(actor, name=f"{side}/dct") for actor, side in zip(NET.actors, "abcd", strict=True))
    with pytest.raises(FormatError, match="'dct' fits 4 actors of network 'jpeg'") as caught:
        read("P0:dct", replace(NET, actors=actors))
    assert caught.value.diagnostics[0].expected == "did you mean 'a/dct' or 'b/dct' or 'c/dct'?"


def test_a_platform_without_gpu() -> None:
    cpu = Platform(name="desktop", units=(Unit(name="cpu", kind="cpu"),))
    with pytest.raises(FormatError, match="platform 'desktop' has no gpu unit for partition 'PG'"):
        read_mapping_text("PG:*", NET, cpu)


def test_rows_of_a_csv_file(tmp_path: Path) -> None:
    path = tmp_path / "many.csv"
    path.write_text(
        'rank,Mapping,name\r\n1,"P0:src,sink P1:*",two\r\n\r\n2,P0:*,\r\n3,"P0:srk ""x"" P1:*",\r\n4,,x\r\n'
    )
    told = Gatherer()
    rows = read_mapping_csv(str(path), told)
    assert [(d.message, d.span.line) for d in told.warnings] == [
        ("1 of 4 rows have no mapping and are left out, this one first", 6)
    ]
    assert [(row.name, row.text, row.origin.line) for row in rows] == [
        ("two", "P0:src,sink P1:*", 2),
        ("", "P0:*", 4),
        ("", 'P0:srk "x" P1:*', 5),
    ]
    assert found("P0:src,sik P1:*", rows[0].origin)[0].startswith(f"{path}:2:11: error: there is no actor 'sik'")
    assert '    P0:srk "x" P1:*\n       ^^^\n' in found(rows[2].text, rows[2].origin)[0]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "there is no column 'mapping'"),
        (b"a,b\n1,2\n", "there is no column 'mapping'"),
        (b"mapping\n,\n", "there is no mapping in the file"),
        (b'mapping\n"P0:a\n', "this is no CSV"),
        (b"mapping\n\xff", "the text is not UTF-8"),
        (b"mapping\n\0", "this is a binary file"),
    ],
)
def test_wrong_csv_files(tmp_path: Path, content: bytes, message: str) -> None:
    path = tmp_path / "many.csv"
    path.write_bytes(content)
    with pytest.raises(FormatError, match=message):
        read_mapping_csv(str(path))
    with pytest.raises(FormatError, match="no such file"):
        read_mapping_csv(str(tmp_path / "none.csv"))


@given(st.text(st.sampled_from("P01:*@=/,'\" \n\\u4src.kbuffers"), max_size=40) | st.text(max_size=30))
@settings(max_examples=examples(300), deadline=None)
def test_no_text_raises_anything_else(text: str) -> None:
    with suppress(DseError):
        point = read(text)
        assert read(mapping_text(point, NET, BOX)) == point
    with suppress(FormatError):
        read(text)
