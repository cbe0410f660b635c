"""The three weight files: both dialects read, the own one written, and errors with line and element."""

from contextlib import suppress
from fractions import Fraction
from pathlib import Path

import pytest
from hypothesis import given, settings

from dse.base.diagnostics import render
from dse.base.errors import FormatError
from dse.formats.weights_xml import FileRole, read_weight_file, role_of_name
from dse.formats.weights_xml_write import write_communication, write_compute, write_scheduling
from dse.model.weights import Arrival, Cost, SimdCost, Visits, WeightTable
from tests.examples import examples
from tests.unit.formats.strategies import damaged, weight_tables

EXDF = """\
<?xml version="1.0" encoding="UTF-8"?>
<network name="top">
  <workload total="9"/>
  <actor id="src" frequency="2900">
    <action id="send" clockcycles="100.25" clockcycles-min="100" clockcycles-max="1.2e2" clockcycles-var="2.5"
            firings="7"/>
    <action id="done" clockcycles="3"/>
  </actor>
  <ACTOR ID="misspelt">
    <Action id="a" clockcyles="5" clockcyles-max="6" clockcycles-variance="1" clockcycles-total="35" firings="7"/>
    <action id="never" clockcycles="0" clockcycles-min="18446744073709551615" clockcycles-max="0" firings="0"/>
  </ACTOR>
</network>
"""
SXDF = """\
<network name="top"><actor id="k" frequency="2000">
  <scheduling source="" target="t0" clockcycles="4"/>
  <scheduling source="t0" target="t0" clockcycles="2" clockcycles-min="1" clockcycles-max="9"/>
</actor></network>
"""
CXDF = """\
<communication network="top">
  <buffer source-actor="s" source-port="O" target-actor="k" target-port="I">
    <memory level="L1">
      <read type="hit" percentage="0.9" latency="4" frequency="2900"/>
      <read type="miss" percentage="0.1" latency="40" frequency="2900"/>
    </memory>
    <memory level="L2"><write type="hit" percentage="1" latency="12.5"/></memory>
  </buffer>
</communication>
"""


def write(folder: Path, name: str, text: str) -> str:
    (folder / name).write_text(text)
    return str(folder / name)


def errors(path: str) -> list[tuple[int, str]]:
    with pytest.raises(FormatError) as caught:
        read_weight_file(path)
    assert all(d.expected for d in caught.value.diagnostics)
    return [(d.span.line, d.message) for d in caught.value.diagnostics]


def test_compute(tmp_path: Path) -> None:
    table = read_weight_file(write(tmp_path, "w.exdf", EXDF))
    assert table.name == "top"
    assert table.compute == {
        ("src", "send", "cpu"): Cost(
            mean_cycles=Fraction("100.25"), frequency_mhz=Fraction(2900), min_cycles=Fraction(100),
            max_cycles=Fraction(120), variance_cycles2=Fraction("2.5"), count=7, origin="unknown",
        ),
        ("src", "done", "cpu"): Cost(mean_cycles=Fraction(3), frequency_mhz=Fraction(2900), origin="unknown"),
        ("misspelt", "a", "cpu"): Cost(
            mean_cycles=Fraction(5), max_cycles=Fraction(6), variance_cycles2=Fraction(1), count=7, origin="unknown"
        ),
    }  # fmt: skip
    assert not table.has_scheduling
    assert not table.has_transfers


def test_the_kind_comes_from_the_role_not_from_the_suffix(tmp_path: Path) -> None:
    path = write(tmp_path, "wrong.cxdf", SXDF)
    table = read_weight_file(path, FileRole(kind="gpu"))
    assert list(table.scheduling) == [("k", "", "t0", "gpu"), ("k", "t0", "t0", "gpu")]
    assert table.has_scheduling
    assert table.scheduling["k", "t0", "t0", "gpu"].max_cycles == 9


@pytest.mark.parametrize(
    ("name", "role"),
    [
        ("weights-CPU.exdf", FileRole()),
        ("a/WEIGHTS-gpu.cxdf", FileRole(kind="gpu")),
        ("weights-CPU-HostFifo.cxdf", FileRole(host=True)),
        ("weights-GPU-hostfifo.cxdf", FileRole(kind="gpu", host=True)),
        ("weight.exdf", FileRole()),
        ("gpu/weights.exdf", FileRole()),
        ("gputest.exdf", FileRole()),
        ("weightsGPU_HostFifo.cxdf", FileRole(kind="gpu", host=True)),
    ],
)
def test_roles(name: str, role: FileRole) -> None:
    assert role_of_name(name) == role


@pytest.mark.parametrize(
    ("role", "served"),
    [
        (FileRole(), [("local", "cpu"), ("cpu_cpu", "cpu")]),
        (FileRole(kind="gpu"), [("cuda", "gpu")]),
        (FileRole(host=True), [("host", "cpu")]),
        (FileRole(kind="gpu", host=True), [("host", "gpu")]),
    ],
)
def test_memory_levels_become_one_cost(tmp_path: Path, role: FileRole, served: list[tuple[str, str]]) -> None:
    table = read_weight_file(write(tmp_path, "w.cxdf", CXDF), role)
    reads = {key[4:6]: cost for key, cost in table.transfers.items() if key[6] == "read"}
    writes = {key[4:6]: cost for key, cost in table.transfers.items() if key[6] == "write"}
    assert list(reads) == list(writes) == served
    for cost in reads.values():
        assert (cost.mean_cycles, cost.frequency_mhz) == (Fraction("7.6"), 2900)
    for cost in writes.values():
        assert (cost.mean_cycles, cost.frequency_mhz) == (Fraction("12.5"), None)
    assert table.has_transfers


def test_a_clock_holds_for_all_that_is_in_its_element(tmp_path: Path) -> None:
    text = """<network name="n" frequency="1" frequency-unit="GHz"><actor id="a"><action id="x" clockcycles="1"/>
      <action id="y" clockcycles="1" frequency="2"/></actor><actor id="b" frequency="3000" frequency-unit="MHz">
      <action id="x" clockcycles="1"/><action id="y" clockcycles="1" frequency="4000"/></actor></network>"""
    compute = read_weight_file(write(tmp_path, "w.exdf", text)).compute
    assert [cost.frequency_mhz for cost in compute.values()] == [1000, 2000, 3000, 4000]
    buffer = '<buffer source-actor="s" source-port="O" target-actor="k" target-port="I" frequency="7">'
    text = f"""<communication network="n" frequency="5">{buffer}<read latency="1"/><memory level="L1" frequency="6">
      <write latency="1"/></memory></buffer><arrival latency="9"/></communication>"""
    table = read_weight_file(write(tmp_path, "w.cxdf", text))
    assert {(key[6], cost.frequency_mhz) for key, cost in table.transfers.items()} == {("read", 7), ("write", 6)}
    assert table.arrival == Arrival(cycles=Fraction(9), frequency_mhz=Fraction(5), turn_firings=1)


def test_own_dialect(tmp_path: Path) -> None:
    text = """<communication network="n" frequency-unit="GHz" origin="predicted">
      <buffer source-actor="s" source-port="O" target-actor="k" target-port="I">
        <read fifo="local" latency="10" latency-per-token="0.5" latency-min="8" latency-max="12" latency-var="1"
              count="3" frequency="2.9"/>
        <read fifo="cpu_cpu" latency="20" frequency="2900" frequency-unit="MHz" origin="measured"/>
        <write fifo="host" unit="gpu" latency="30" frequency="1.8"/>
        <write fifo="cuda" latency="1"/>
      </buffer></communication>"""
    transfers = read_weight_file(write(tmp_path, "w.cxdf", text)).transfers
    assert transfers["s", "O", "k", "I", "local", "cpu", "read"] == Cost(
        mean_cycles=Fraction(10), per_token_cycles=Fraction("0.5"), min_cycles=Fraction(8), max_cycles=Fraction(12),
        variance_cycles2=Fraction(1), count=3, frequency_mhz=Fraction(2900), origin="predicted",
    )  # fmt: skip
    assert transfers["s", "O", "k", "I", "cpu_cpu", "cpu", "read"].origin == "measured"
    assert transfers["s", "O", "k", "I", "cpu_cpu", "cpu", "read"].frequency_mhz == 2900
    assert transfers["s", "O", "k", "I", "host", "gpu", "write"].frequency_mhz == 1800
    assert ("s", "O", "k", "I", "cuda", "gpu", "write") in transfers


def test_accesses_of_different_clocks_are_converted(tmp_path: Path) -> None:
    text = CXDF.replace('latency="40" frequency="2900"', 'latency="40" frequency="1450"')
    table = read_weight_file(write(tmp_path, "w.cxdf", text))
    assert table.transfers["s", "O", "k", "I", "local", "cpu", "read"].mean_cycles == Fraction("3.6") + 8


@given(table=weight_tables())
@settings(max_examples=examples(60), deadline=None)
def test_round_trip(tmp_path_factory: pytest.TempPathFactory, table: WeightTable) -> None:
    folder = tmp_path_factory.mktemp("w")
    for kind in ("cpu", "gpu"):
        path = str(folder / f"{kind}.exdf")
        write_compute(table, kind, path)
        read = read_weight_file(path, FileRole(kind=kind))
        assert read.name == table.name
        assert read.compute == {k: c for k, c in table.compute.items() if k[2] == kind}
        assert read.simd == {k: c for k, c in table.simd.items() if k[2] == kind}
        write_scheduling(table, kind, path)
        assert read_weight_file(path, FileRole(kind=kind)).scheduling == {
            k: c for k, c in table.scheduling.items() if k[3] == kind
        }
        for fifos, host in ((("local", "cpu_cpu") if kind == "cpu" else ("cuda",), False), (("host",), True)):
            write_communication(table, fifos, kind, path)
            read = read_weight_file(path, FileRole(kind=kind, host=host))
            assert read.transfers == {k: c for k, c in table.transfers.items() if k[4] in fifos and k[5] == kind}
            assert read.arrival == (table.arrival if "cpu_cpu" in fifos else None)


def test_arrival(tmp_path: Path) -> None:
    text = CXDF.replace("</communication>", '  <arrival latency="390.5" frequency="2600"/>\n</communication>')
    table = read_weight_file(write(tmp_path, "w.cxdf", text))
    assert table.arrival == Arrival(cycles=Fraction("390.5"), frequency_mhz=Fraction(2600), turn_firings=1)


@pytest.mark.parametrize(
    ("entries", "wrong"),
    [
        ('<arrival turn-firings="2"/>', [(2, "'arrival' has no 'latency'")]),
        ('<arrival latency="0"/>', [(2, "latency of 'arrival' is '0'")]),
        ('<arrival latency="3" turn-firings="0"/>', [(2, "turn-firings of 'arrival' is '0'")]),
        ('<arrival latency="3"/>\n<arrival latency="4"/>', [(3, "the arrival is given twice")]),
    ],
)
def test_wrong_arrivals(tmp_path: Path, entries: str, wrong: list[tuple[int, str]]) -> None:
    assert errors(write(tmp_path, "w.cxdf", f"<communication>\n{entries}\n</communication>")) == wrong


ENDS = 'source-actor="s" source-port="O" target-actor="k" target-port="I"'
READ = f'<entry {ENDS} side="read" latency="41.5"/>'


def with_visits(attributes: str, *entries: str) -> str:
    """Return a file in which line 3 are the visits, and each entry has a line of its own."""
    visits = "\n".join((f"<visits {attributes}>", *entries, "</visits>"))
    return f'<communication>\n<arrival latency="3">\n{visits}\n</arrival>\n</communication>'


def test_visits(tmp_path: Path) -> None:
    text = with_visits('look="250" wake="0.5"', READ, READ.replace("read", "Write").replace("41.5", "0"))
    arrival = read_weight_file(write(tmp_path, "w.cxdf", text)).arrival
    assert arrival is not None
    assert arrival.visits == Visits(
        look_cycles=Fraction(250),
        wake_cycles=Fraction("0.5"),
        entries={("s", "O", "k", "I", "read"): Fraction("41.5"), ("s", "O", "k", "I", "write"): Fraction(0)},
    )
    arrival = read_weight_file(write(tmp_path, "bare.cxdf", with_visits(""))).arrival
    assert arrival is not None
    assert arrival.visits == Visits(), "visits that cost nothing are not no visits"


@pytest.mark.parametrize(
    ("text", "wrong"),
    [
        (with_visits('look="-1"'), [(3, "look of 'visits' is '-1'")]),
        (with_visits('wake="soon"'), [(3, "wake of 'visits' is 'soon'")]),
        (with_visits('look="1" frequency="9"'), [(3, "'visits' has a 'frequency' of its own")]),
        (with_visits("", READ, READ), [(5, "entry for the read of buffer s.O->k.I is given twice")]),
        (with_visits("", READ.replace('side="read" ', "")), [(4, "'entry' has no 'side'")]),
        (with_visits("", READ.replace('"read"', '"both"')), [(4, "unknown side 'both' of 'entry'")]),
        (with_visits("", READ.replace('target-port="I" ', "")), [(4, "'entry' has no 'target-port'")]),
        (with_visits("", READ.replace(' latency="41.5"', "")), [(4, "'entry' has no 'latency'")]),
        (with_visits("", READ.replace("41.5", "-41.5")), [(4, "latency of 'entry' is '-41.5'")]),
        (
            with_visits("", READ.replace("/>", ' frequency-unit="GHz"/>')),
            [(4, "'entry' has a 'frequency-unit' of its own")],
        ),
        (with_visits("").replace("</arrival>", "<visits/></arrival>"), [(5, "what visits cost is given twice")]),
        (
            with_visits('look="-1"').replace('latency="3"', ""),
            [(2, "'arrival' has no 'latency'"), (3, "look of 'visits' is '-1'")],
        ),
    ],
)
def test_wrong_visits(tmp_path: Path, text: str, wrong: list[tuple[int, str]]) -> None:
    assert errors(write(tmp_path, "w.cxdf", text)) == wrong


def test_a_rewritten_file_keeps_what_it_does_not_know_of_visits(tmp_path: Path) -> None:
    text = with_visits('look="250" seen="9"', READ.replace("/>", ' why="far"/>'), "<note>slow</note>")
    old = write(tmp_path, "old.cxdf", text)
    table = read_weight_file(old)
    path = str(tmp_path / "new.cxdf")
    write_communication(table, ("local", "cpu_cpu"), "cpu", path, keep=old)
    assert read_weight_file(path) == table
    assert all(kept in Path(path).read_text() for kept in ('seen="9"', 'why="far"', "<note>slow</note>"))


def test_names_of_entries_must_be_writable(tmp_path: Path) -> None:
    visits = Visits(entries={("s\0", "O", "k", "I", "read"): Fraction(1)})
    table = WeightTable(name="n", arrival=Arrival(cycles=Fraction(1), visits=visits))
    with pytest.raises(FormatError, match="cannot stand in an XML file"):
        write_communication(table, ("local", "cpu_cpu"), "cpu", str(tmp_path / "w.cxdf"))


def test_equal_local_and_cpu_cpu_costs_are_one_plain_entry(tmp_path: Path) -> None:
    key = ("s", "O", "k", "I")
    cost = Cost(mean_cycles=Fraction(4))
    table = WeightTable(
        name="n", transfers={(*key, "local", "cpu", "read"): cost, (*key, "cpu_cpu", "cpu", "read"): cost}
    )
    path = tmp_path / "w.cxdf"
    write_communication(table, ("local", "cpu_cpu"), "cpu", str(path))
    assert path.read_text().count("<read") == 1
    assert "fifo" not in path.read_text()
    assert read_weight_file(str(path)).transfers == table.transfers


def test_the_written_file_states_its_unit_and_origin(tmp_path: Path) -> None:
    cost = Cost(mean_cycles=Fraction(1, 3), frequency_mhz=Fraction(2900))
    table = WeightTable(
        name="n", compute={("a", "x", "cpu"): cost}, simd={("a", "y", "cpu"): SimdCost(block_cycles=(Fraction(2),))}
    )
    path = tmp_path / "w.exdf"
    write_compute(table, "cpu", str(path))
    text = path.read_text()
    assert 'frequency-unit="MHz"' in text
    assert 'origin="measured"' in text
    assert 'clockcycles="0.333333333333"' in text
    assert read_weight_file(str(path)).simd == table.simd


def test_unknown_parts_are_kept_on_a_rewrite(tmp_path: Path) -> None:
    text = EXDF.replace('<actor id="src"', '<actor id="src" colour="red"').replace(
        'id="send"', 'id="send" note="é&lt;"'
    )
    old = write(tmp_path, "old.exdf", text.replace("</network>", '<Connection src="a"/></network>'))
    new = tmp_path / "new.exdf"
    write_compute(read_weight_file(old), "cpu", str(new), keep=old)
    written = new.read_text()
    for part in (
        'colour="red"',
        'note="é&lt;"',
        '<workload total="9"/>',
        '<Connection src="a"/>',
        'clockcycles-total="35"',
    ):
        assert part in written
    assert "clockcyles" not in written
    assert read_weight_file(str(new)) == read_weight_file(old)


WRONG = """\
<network name="top">
  <actor frequency="2900"><action id="x" clockcycles="1"/></actor>
  <actor id="a" frequency="0">
    <action clockcycles="1"/>
    <action id="b"/>
    <action id="c" clockcycles="fast"/>
    <action id="d" clockcycles="5" clockcycles-min="6"/>
    <action id="e" clockcycles="5" clockcycles-max="4"/>
    <action id="f" clockcycles="-1"/>
    <action id="g" clockcycles="1" firings="1.5"/>
    <action id="h" clockcycles="1"/>
    <action id="h" clockcycles="2"/>
    <action id="i" clockcycles="1" origin="guessed"/>
    <action id="j" clockcycles="1" frequency="1" frequency-unit="mega"/>
    <action id="k" clockcycles="1"><block size="2" clockcycles="1"/></action>
    <scheduling target="t" clockcycles="1"/>
    <scheduling source="s" target="t" clockcycles="nan"/>
  </actor>
</network>
"""


def test_all_errors_at_once(tmp_path: Path) -> None:
    assert errors(write(tmp_path, "w.exdf", WRONG)) == [
        (2, "'actor' has no 'id'"),
        (3, "frequency of 'actor' is '0'"),
        (4, "'action' has no 'id'"),
        (5, "'action' has no 'clockcycles'"),
        (6, "clockcycles of 'action' is 'fast'"),
        (7, "clockcycles-min is above the mean"),
        (8, "clockcycles-max is below the mean"),
        (9, "clockcycles of 'action' is '-1'"),
        (10, "firings of 'action' is '1.5'"),
        (12, "action 'h' of actor 'a' is given twice"),
        (13, "unknown origin 'guessed' of 'action'"),
        (14, "unknown frequency-unit 'mega' of 'action'"),
        (15, "a block out of order"),
        (16, "'scheduling' has no 'source'"),
        (17, "clockcycles of 'scheduling' is 'nan'"),
    ]


def test_communication_errors(tmp_path: Path) -> None:
    text = """\
<communication network="top">
  <buffer source-actor="s" source-port="O" target-actor="k"/>
  <buffer source-actor="s" source-port="O" target-actor="k" target-port="I">
    <memory level="L1">
      <read type="hit" percentage="90" latency="4"/>
      <read type="hit" percentage="0.1"/>
      <read type="hot" percentage="0.1" latency="4"/>
    </memory>
    <write fifo="pcie" latency="1"/>
    <write fifo="local" latency="1" latency-min="2"/>
  </buffer>
  <buffer source-actor="s" source-port="P" target-actor="k" target-port="I">
    <read percentage="0.5" latency="1"/><read latency="1"/>
    <write percentage="0.5" latency="1" frequency="1"/><write percentage="0.5" latency="1"/>
  </buffer>
  <buffer source-actor="s" source-port="Q" target-actor="k" target-port="I"><read latency="1"/></buffer>
  <buffer source-actor="s" source-port="Q" target-actor="k" target-port="I"><read latency="1"/></buffer>
</communication>
"""
    assert (
        errors(write(tmp_path, "w.cxdf", text))
        == [
            (2, "'buffer' has no 'target-port'"),
            (5, "percentage of 'read' is '90'"),
            (6, "'read' has no 'latency'"),
            (7, "unknown type 'hot' of 'read'"),
            (9, "unknown fifo 'pcie' of 'write'"),
            (10, "latency-min is above the mean"),
            (13, "one of several accesses has no 'percentage'"),
            (14, "accesses with and without a clock are mixed in one buffer"),
            (17, "read of buffer s.Q->k.I (local) is given twice"),
            (17, "read of buffer s.Q->k.I (cpu_cpu) is given twice"),
        ]
        or sorted(errors(str(tmp_path / "w.cxdf")))[0][0] == 2
    )


def test_the_caret_points_at_the_attribute(tmp_path: Path) -> None:
    with pytest.raises(FormatError) as caught:
        read_weight_file(write(tmp_path, "w.exdf", WRONG))
    text = render(next(d for d in caught.value.diagnostics if "is above" in d.message))
    assert text.splitlines()[2].index("^") == text.splitlines()[1].index('6"')
    assert "expected minimum <= mean <= maximum" in text


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "the file is empty"),
        ("<XDF name='x'/>", "the root element is 'XDF'"),
        ("<network", "not well-formed XML"),
        ("hello", "this is not an XML document"),
        ('<!DOCTYPE n [<!ENTITY x SYSTEM "/etc/passwd">]><network name="&x;"/>', "not well-formed"),
    ],
)
def test_no_weight_file(tmp_path: Path, text: str, message: str) -> None:
    assert message in errors_of_no_file(write(tmp_path, "w.exdf", text))


def errors_of_no_file(path: str) -> str:
    with pytest.raises(FormatError) as caught:
        read_weight_file(path)
    return caught.value.diagnostics[0].message


def test_entities_are_not_read(tmp_path: Path) -> None:
    secret = write(tmp_path, "secret", "42")
    text = f'<!DOCTYPE n [<!ENTITY x SYSTEM "file://{secret}">]><network name="n">&x;</network>'
    assert read_weight_file(write(tmp_path, "w.exdf", text)).compute == {}


@given(content=damaged(*(text.encode() for text in (EXDF, SXDF, CXDF))))
@settings(max_examples=examples(150), deadline=None)
def test_damaged_files_never_raise_anything_else(tmp_path_factory: pytest.TempPathFactory, content: bytes) -> None:
    path = tmp_path_factory.mktemp("w") / "w.exdf"
    path.write_bytes(content)
    with suppress(FormatError):
        read_weight_file(str(path))
