"""The probe of the machine: built and asked, where there is a compiler."""

from pathlib import Path

import pytest

from dse.base.cores import usable_cores
from dse.base.errors import BuildError, ExecutionError
from dse.measure.crossing_table import (
    BLOCKS,
    CrossingRow,
    crossing_lines,
    line_for,
    table_text,
)
from dse.measure.platform import this_machine
from dse.measure.port_prices import PortPrice
from dse.measure.probe_program import BlockCost, CrossingCase, Probe, build_probe
from dse.native.toolchain import find_compiler


@pytest.fixture(scope="module")
def probe(tmp_path_factory: pytest.TempPathFactory) -> Probe:
    try:
        compiler = find_compiler()
    except BuildError as error:
        pytest.skip(f"no compiler: {error}")
    return build_probe(compiler, tmp_path_factory.mktemp("probe"))


def test_the_counter(probe: Probe) -> None:
    facts = probe.counter()
    assert facts.hz > 1e6
    assert facts.step >= 1
    assert 0 < facts.cost < 10_000
    assert facts.long_steps >= 40
    unit = this_machine(facts, 2).units[0]
    assert unit.clock_mhz is not None
    assert float(unit.clock_mhz) == pytest.approx(facts.mhz, abs=1e-3)


def test_round_trips_and_crossings(probe: Probe) -> None:
    cores = usable_cores()
    if len(cores) < 2:
        pytest.skip("one core only")
    pair = (cores[0], cores[1])
    assert 5 < probe.round_trip_ns(pair) < 1e6
    case = CrossingCase(cores=pair, capacity_tokens=512, block_tokens=16, token_bytes=4)
    cost = probe.crossing(case)
    assert cost.writing > 0
    assert cost.reading > 0


def test_a_core_that_is_not_there(probe: Probe) -> None:
    with pytest.raises(ExecutionError, match="cannot be bound to core"):
        probe.round_trip_ns((0, 1000))


def row(block: int, *, work: int = 0, size: int = 4) -> CrossingRow:
    case = CrossingCase(cores=(0, 1), capacity_tokens=512, block_tokens=block, token_bytes=size, work=work)
    across = BlockCost(writing=130.0 + 2.0 * block, reading=30.0 + 5.0 * block)
    return CrossingRow(case=case, across=across, inside=BlockCost(writing=30.0, reading=30.0))


def test_lines_through_the_rows() -> None:
    rows = [row(block) for block in BLOCKS] + [row(1, work=3000)]
    (line,) = crossing_lines(rows)
    assert line.writing == PortPrice(fixed=pytest.approx(100.0), each=pytest.approx(2.0))
    assert line.reading == PortPrice(fixed=pytest.approx(0.0, abs=1e-6), each=pytest.approx(5.0))


def test_lines_are_nowhere_below_zero() -> None:
    falling = [
        CrossingRow(
            case=row(block).case,
            across=BlockCost(writing=100.0 - block / 10, reading=10.0),
            inside=BlockCost(writing=50.0, reading=30.0),
        )
        for block in BLOCKS
    ]
    (line,) = crossing_lines(falling)
    assert line.writing.each == 0
    assert line.writing.fixed > 0
    assert line.reading.of(1) == 0


def test_the_line_of_the_nearest_size() -> None:
    lines = crossing_lines([row(block, size=size) for block in BLOCKS for size in (1, 8)])
    assert [line_for(lines, size).token_bytes for size in (1, 2, 7, 64)] == [1, 1, 8, 8]


def test_the_table_in_words() -> None:
    text = table_text([row(16), row(16, work=3000)])
    assert text.splitlines()[1].split("\t") == ["512", "4", "16", "at work", "162.0", "110.0", "30.0", "30.0"]
    assert text.splitlines()[2].split("\t")[3] == "waits"


def test_the_source_is_a_part_of_the_package() -> None:
    import dse.measure.probe_program as module

    assert (Path(module.__file__).parent / "probe" / "probe.cpp").is_file()
