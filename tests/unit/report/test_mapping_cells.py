"""Mappings in tables: broken between names only, shorter where they are long, near-ties together, what cores give."""

import dataclasses

import pytest
from rich.console import Console

from dse.formats.mapping_text import CompleteTexts, MappingTexts, common_prefix, read_mapping_text
from dse.model.design_point import DesignPoint
from dse.model.estimate import PartitionAccount
from dse.model.measurement import MeasuredPoint, StateTimes
from dse.model.platform import Platform, Unit
from dse.model.study import Evaluation, LowerBound, Study
from dse.model.trace import Topology, TraceActor
from dse.report.cores import best_by_cores, cores_json, cores_table, cores_title, pays_text
from dse.report.mapping_cells import ShownMappings, difference_text, lines_of
from dse.report.mapping_table import MappingRow, console_for, mapping_table, plain_console
from dse.report.ranking import RankedRow, near_ties, ranked_rows, ranking_table, render
from dse.report.tables import NamesTable

BOX = Platform(
    name="box", units=(Unit(name="cpu", kind="cpu", cores=4), Unit(name="gpu", kind="gpu", partition="PG"))
)  # fmt: skip


def topology(*names: str) -> Topology:
    actors = tuple(TraceActor(name=n, class_name="A", inputs=(), outputs=(), actions=()) for n in names)
    return Topology(name="net", actors=actors, buffers=())


NOTHING = PartitionAccount(
    scheduling=0, reading=0, processing=0, writing=0, link_waiting=0, unoccupied=0, cores=1
)  # fmt: skip
SMALL = MappingTexts(topology=topology("a", "b", "c", "d"), platform=BOX)
WIDE = MappingTexts(topology=topology(*(f"decoder/{'xy'[i % 2]}_{i}/actor_{i}" for i in range(48))), platform=BOX)


def point(text: str, texts: MappingTexts = SMALL) -> DesignPoint:
    return read_mapping_text(text, texts.topology, BOX)


def study_of(*ranked: tuple[str, int], texts: MappingTexts = SMALL, one_core: int | None = None) -> Study:
    def evaluation(ordinal: int, text: str, makespan: int) -> Evaluation:
        found = point(text, texts)
        return Evaluation.of(
            ordinal=ordinal, point=found, digest=found.digest(), makespan=makespan, tick_unit="cycles",
            deadlock=False, partitions=[NOTHING] * len(found.partitions), seconds=0.0,
        )  # fmt: skip

    return Study(
        network="net", method="m", method_reason="r", seed=1, space_size=9, evaluations=9, deadlocks=0, pruned=0,
        complete=True, stop="complete", seconds=1.0, assumed=(), lower_bounds=(LowerBound(makespan=1, reason="w"),),
        ranking=tuple(evaluation(k, *row) for k, row in enumerate(ranked)),
        baseline=None if one_core is None else evaluation(99, "P0:*", one_core),
    )  # fmt: skip


def shown_rows(study: Study, texts: MappingTexts = SMALL, width: int = 100) -> tuple[list[str], str]:
    table, note = ranking_table(ranked_rows(study, texts, 20), texts, width)
    return render(table, console=plain_console(width)).splitlines()[2:], note


@pytest.mark.parametrize("width", [1, 7, 10, 30, 200])
def test_lines_end_between_names(width: int) -> None:
    text = "P0:alpha,'b, c',gamma P1@gpu/static-order=x,y:delta,'it\\'s',eps buffers=1,2,3"
    lines = lines_of(text, width)
    assert "".join(lines).replace(" ", "") == text.replace(" ", "")
    words = [word for line in lines for word in line.replace("'b, c'", "'b-c'").replace(",", ", ").split()]
    assert words == text.replace("'b, c'", "'b-c'").replace(",", ", ").split()
    assert all(len(line) <= width or "," not in line[:-1].replace("'b, c'", "") for line in lines)
    assert lines_of(text, 500) == [text]


def test_lines_are_still_a_mapping() -> None:
    names = topology("alpha", "b, c", "it's", "d\\")
    texts = MappingTexts(topology=names, platform=BOX)
    whole = point("P0:alpha,'b, c' P1:*", texts)
    for width in range(1, 40):
        assert read_mapping_text("\n   ".join(lines_of(texts.of(whole), width)), names, BOX) == whole


def test_common_prefixes() -> None:
    assert common_prefix(["a_b_x", "a_b_y"]) == "a_b_"
    assert common_prefix(["dec/x", "dec/y/z"]) == "dec/"
    assert common_prefix(["decx", "decy"]) == common_prefix(["a_b"]) == common_prefix([]) == ""
    assert common_prefix(["a_b_", "a_b_c"]) == "a_"


def test_names_without_what_all_begin_with_are_understood() -> None:
    names = topology("p_a", "p_b_a", "p_c")
    texts = MappingTexts(topology=names, platform=BOX)
    assert point("P0:a P1:b_a,c", texts) == point("P0:p_a P1:p_b_a,p_c", texts)


@pytest.mark.parametrize(
    ("second", "difference"),
    [
        ("P0:a,b P1:c,d", "other orders of the same"),
        ("P1:a,b P0:c,d", "other orders of the same"),
        ("P0:a P1:b,c,d", "P1+b"),
        ("P1:d P0:a,b,c", "P0+c"),
        ("P0:a,b PG:c,d", "PG:c,d"),
        ("P0:a,b P7:c P1@gpu:d", "P2@gpu:d"),
        ("P0:a,b P1/round-robin:c,d", "P1/round-robin"),
        ("P0:a,b P1:c,d transfers=parallel", "transfers=parallel"),
    ],
)
def test_differences(second: str, difference: str) -> None:
    assert difference_text(point("P0:a,b P1:c,d"), point(second), SMALL) == difference


def test_near_ties_stand_together() -> None:
    """Rows that tell nothing apart: two of them are shown, by how much longer they take."""
    ties = [(f"P0:{x} P1:*", 100_000 + k) for k, x in enumerate(("a", "b", "c", "d", "a,b", "a,c"))]
    lines, note = shown_rows(study_of(*ties, ("P0:*", 200_000)))
    assert [line.split("   ")[-1].strip() for line in lines] == [
        "P0:a P1:b,c,d",
        "P0:b P1:a,c,d",
        "P0:c P1:a,b,d",
        "3 more that take at most 0.005 % longer",
        "P0:a,b,c,d",
    ]
    assert ["100,000 cycles" in lines[0], "+0.001 %" in lines[1], "+0.002 %" in lines[2]] == [True] * 3
    assert note == ""
    rows = ranked_rows(study_of(*ties), SMALL, 20)
    assert [len(group) for group in near_ties(rows)] == [6]
    assert [len(group) for group in near_ties(rows[:1])] == [1]


def test_measured_near_ties_are_all_shown() -> None:
    ties = study_of(*((f"P0:{x} P1:*", 100) for x in "abcd"))
    times = StateTimes(state="near", median_ns=5.0, lower_ns=4.0, upper_ns=6.0, runs=3)
    rows = [dataclasses.replace(r, measured=MeasuredPoint(times=(times,))) for r in ranked_rows(ties, SMALL, 9)]
    text = render(ranking_table(rows, SMALL)[0])
    assert "more that take" not in text
    assert len(text.splitlines()) == 6


def wide_rows(width: int) -> tuple[list[str], str]:
    half = ",".join(a.name for a in WIDE.topology.actors[:24])
    other = ",".join(a.name for a in WIDE.topology.actors[:25])
    return shown_rows(study_of((f"P0:{half} P1:*", 100), (f"P0:{other} P1:*", 200), texts=WIDE), WIDE, width)


@pytest.mark.parametrize("width", [60, 80, 100, 140])
def test_wide_networks_fit(width: int) -> None:
    lines, note = wide_rows(width)
    assert max(map(len, lines)) <= width
    assert "decoder/" not in "".join(lines)
    assert note == "names of actors are without 'decoder/'; every row in full, for --mapping, is in ranking.json"
    assert lines[-1].endswith("as 1, but P0+x_24/actor_24")
    words = {word.split(":")[-1] for line in lines[:-1] for word in line.replace(",", " ").split()}
    assert {f"{'xy'[i % 2]}_{i}/actor_{i}" for i in range(48)} <= words


def test_what_is_cut_can_be_pasted() -> None:
    shown = ShownMappings.of(WIDE, point("P0:*", WIDE), 60)
    assert shown.prefix == "decoder/"
    assert point("\n".join(shown.full(point("P0:*", WIDE))), WIDE) == point("P0:*", WIDE)


def test_a_narrow_terminal_loses_columns_first() -> None:
    study = study_of(("P0:a,b P1:c,d", 1000), ("P0:*", 3000), one_core=3000)
    wide, _ = shown_rows(study, width=100)
    narrow, _ = shown_rows(study, width=72)
    assert "3.00x" in wide[0]
    assert "+99900.0 %" in wide[0]
    assert "3.00x" in narrow[0]
    assert "+99900.0 %" not in narrow[0]
    assert narrow[0].endswith("P0:a,b P1:c,d")


def test_the_best_for_each_number_of_cores() -> None:
    study = study_of(
        ("P0:a P1:*", 50), ("P0:b P1:*", 60), ("P0:a PG:*", 60), ("P0:a P1:b PG:*", 70), one_core=100
    )  # fmt: skip
    rows = best_by_cores(study, BOX)
    assert [(row.label, row.makespan, row.speedup) for row in rows] == [
        ("1", 100, 1.0),
        ("2", 50, 2.0),
        ("2 + GPU", 70, 100 / 70),
    ]
    text = render(cores_table(rows, SMALL))
    assert "P0:a P1:b PG:c,d" in text
    assert "2.00x" in text
    assert pays_text(study, rows) == ""
    assert repr(rows[1]) == "<CoresRow 2: 50 cycles, 2.00x>"
    assert best_by_cores(study_of(("P0:a P1:*", 50)), BOX) == ()
    assert cores_json(rows, SMALL)[1] == {
        "cores": 2, "gpus": 0, "makespan": 50, "unit": "cycles", "speedup": 2.0, "mapping": "P0:a P1:b,c,d",
        "digest": rows[1].point.digest(),
    }  # fmt: skip
    assert "--partitions" not in cores_title(study)
    for more in ({"pruned": 1}, {"cut": 1}, {"complete": False}):
        assert "--partitions" in cores_title(dataclasses.replace(study, **more))  # type: ignore[arg-type]


HEADS = ("n",)


def halves(texts: MappingTexts) -> list[DesignPoint]:
    names = [a.name for a in texts.topology.actors]
    return [point(f"P0:{','.join(names[:n])} P1:*", texts) for n in (len(names) // 2, len(names) // 2 + 1)]


@pytest.mark.parametrize("width", [60, 100])
def test_any_table_of_mappings_fits(width: int) -> None:
    points = halves(WIDE)
    rows = [MappingRow(cells=(str(n),), point=of, name=WIDE.of(of)) for n, of in enumerate(points)]
    rows.append(MappingRow(cells=("2",), point=points[0], name="best.xcf", textual=False))
    table, note = mapping_table(HEADS, rows, WIDE, width=width, whole="--json")
    lines = render(table, console=plain_console(width)).splitlines()
    assert max(map(len, lines)) <= width
    assert lines[-1].split() == ["2", "best.xcf"]
    assert lines[-2].endswith("as the first, but P0+x_24/actor_24")
    assert note == "names of actors are without 'decoder/'; every row in full, for --mapping, is in --json"
    few = [MappingRow(cells=("0",), point=point("P0:*"), name="mine")]
    assert mapping_table(HEADS, few, SMALL, width=width, whole="--json")[1] == ""


@pytest.mark.parametrize(("width", "heads"), [(100, 4), (85, 3), (75, 2), (60, 1)])
def test_columns_go_before_mappings_break(width: int, heads: int) -> None:
    names, cells = ("one", "two", "three", "four"), ("100,000 cycles",) * 4
    rows = [MappingRow(cells=cells, point=of) for of in halves(WIDE)]
    table, _ = mapping_table(names, rows, WIDE, width=width, whole="--json", keep=1)
    text = render(table, console=plain_console(width))
    assert [name in text.splitlines()[0] for name in names] == [k < heads for k in range(4)]
    assert "..." not in text
    assert "\u2026" not in text
    assert "x_24/actor_24" in text


def test_a_long_name_cuts_no_number() -> None:
    rows = [MappingRow(cells=("100,000 cycles",), point=point("P0:*"), name="a" * 90 + ".xcf", textual=False)]
    table, _ = mapping_table(HEADS, rows, SMALL, width=60, whole="--json", keep=1)
    assert "100,000 cycles   aaa" in render(table, console=console_for(table, 60))


def test_mappings_of_an_unknown_platform_say_all() -> None:
    rows = [MappingRow(cells=("0",), point=point("P0:a PG:*"))]
    text = render(mapping_table(HEADS, rows, CompleteTexts(topology=SMALL.topology), whole="--json")[0])
    assert "P0@cpu:a PG@gpu:b,c,d" in text


@pytest.mark.parametrize(
    ("best", "said"),
    [
        (120, "parallelising does not pay here: 100 cycles on one core, 120 cycles at best on several"),
        (100, "parallelising does not pay here: 100 cycles on one core, 100 cycles at best on several"),
        (98, "parallelising hardly pays here: 100 cycles on one core, 98 cycles at best on several (1.02x)"),
        (90, ""),
    ],
)
def test_whether_it_pays_is_said(best: int, said: str) -> None:
    study = study_of(("P0:a P1:*", best), one_core=100)
    assert pays_text(study, best_by_cores(study, BOX)) == said


def test_lines_of_a_cell_are_filtered() -> None:
    table = NamesTable()
    table.add_column("x")
    table.add_column("y")
    table.add_row_of_lines("a\nb", last=["c\x1b", "d\ne"])
    console = Console(width=80, color_system=None)
    assert render(table, console=console).splitlines()[2:] == ["a\ufffdb   c\ufffd", "      d\ufffde"]


def row_of(study: Study) -> RankedRow:
    return ranked_rows(study, SMALL, 1)[0]


def test_rows_hold_what_mapping_takes() -> None:
    row = row_of(study_of(("P0:d P1:*", 5)))
    assert point(row.mapping) == row.point == point("P0:d P1:*")
