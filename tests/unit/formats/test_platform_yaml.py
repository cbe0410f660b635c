"""Platform files: the shipped ones, round trip, and errors with line and column."""

from contextlib import suppress
from fractions import Fraction
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dse.base.diagnostics import render
from dse.base.errors import FormatError
from dse.formats.platform_yaml import (
    builtin_platforms,
    load_platform,
    platform_text,
    read_platform,
    write_platform,
)
from dse.model.platform import ClockScaling, Link, Platform, Unit
from tests.examples import examples
from tests.unit.formats.strategies import NAMES, damaged

ROOT = Path(__file__).resolve().parents[3]
POSITIVE = st.integers(1, 10**8).map(lambda n: Fraction(n, 1000))


@st.composite
def scalings(draw: st.DrawFn) -> ClockScaling | None:
    span = draw(st.none() | st.just((Fraction(1, 1000), Fraction(10**5))))
    if draw(st.booleans()):
        points = draw(st.dictionaries(POSITIVE, POSITIVE, min_size=1, max_size=3))
        return ClockScaling(range_mhz=span, points=tuple(sorted(points.items())))
    return draw(st.none() | st.builds(ClockScaling, range_mhz=st.just(span), exponent=st.integers(1, 4)))


@st.composite
def platforms(draw: st.DrawFn) -> Platform:
    units = []
    for name in draw(st.lists(NAMES, min_size=1, max_size=3, unique=True)):
        kind = draw(st.sampled_from(["cpu", "gpu"]))
        units.append(
            Unit(
                name=name, kind=kind, cores=draw(st.integers(1, 64)) if kind == "cpu" else 1,
                clock_mhz=draw(st.none() | POSITIVE), device=draw(st.none() | NAMES), partition=draw(st.none() | NAMES),
                power_watt=draw(st.none() | POSITIVE), memory_bytes=draw(st.none() | st.integers(1, 2**40)),
                source=draw(st.just("") | NAMES), scaling=draw(scalings()),
            )
        )  # fmt: skip
    links = []
    if len(units) > 1:
        for name in draw(st.lists(NAMES, max_size=2, unique=True)):
            first, second = draw(st.permutations([u.name for u in units]))[:2]
            links.append(
                Link(
                    name=name, between=(first, second), latency_ns=draw(st.just(Fraction(0)) | POSITIVE),
                    bandwidth_gb_s=draw(st.none() | POSITIVE), shared=draw(st.booleans()),
                    directions=draw(st.integers(1, 2)), source=draw(st.just("") | NAMES),
                )
            )  # fmt: skip
    capable = draw(st.none() | st.lists(NAMES, max_size=2).map(tuple))
    return Platform(
        name=draw(NAMES), units=tuple(units), links=tuple(links), dynamic_network=draw(st.booleans()),
        gpu_capable=capable,
    )  # fmt: skip


@given(platform=platforms())
@settings(max_examples=examples(80), deadline=None)
def test_round_trip(tmp_path_factory: pytest.TempPathFactory, platform: Platform) -> None:
    path = str(tmp_path_factory.mktemp("p") / "p.yaml")
    write_platform(platform, path)
    assert read_platform(path) == platform


def test_the_example_of_the_formats_page() -> None:
    platform = load_platform("desktop-gtx1660s")
    cpu, gpu = platform.units
    assert (cpu.kind, cpu.cores, cpu.clock_mhz) == ("cpu", 4, 2900)
    assert (gpu.kind, gpu.clock_mhz, gpu.device, gpu.partition) == ("gpu", 1800, "gtx1660s", "PG")
    link = platform.links[0]
    assert (link.between, link.latency_ns, link.bandwidth_gb_s, link.shared, link.directions) == (
        ("cpu", "gpu"), 900, 12, True, 1,
    )  # fmt: skip


def test_builtin_platforms_are_those_of_configs() -> None:
    documented = sorted((ROOT / "configs" / "platforms").glob("*.yaml"))
    assert [p.stem for p in documented] == list(builtin_platforms())
    for path in documented:
        assert read_platform(str(path)) == load_platform(path.stem)


def test_the_default_platform_has_cores_and_sources() -> None:
    platform = load_platform()
    assert [u.kind for u in platform.units] == ["cpu"]
    assert platform.units[0].cores == 4
    assert platform.units[0].source


def test_sources_of_single_constants(tmp_path: Path) -> None:
    (tmp_path / "p.yaml").write_text(
        "units:\n  cpu: {kind: CPU, clock_mhz: {value: 2.9e3, source: data sheet}, cores: {value: 4}, source: mine}\n"
    )
    unit = read_platform(str(tmp_path / "p.yaml")).units[0]
    assert (unit.clock_mhz, unit.cores, unit.source) == (2900, 4, "mine; clock_mhz: data sheet")
    assert read_platform(str(tmp_path / "p.yaml")).name == "p"


WRONG = """\
name: x
unitz: {}
units:
  cpu: {kind: cpu, core: 4, clock_mhz: fast}
  gpu: {kind: tpu}
  cpu: {kind: cpu}
  gpu2: {kind: gpu, cores: 3, power_watt: -1}
  none: 4
links:
  pcie: {between: [cpu, gpux], bandwith_gb_s: 12, latency_ns: [1], shared: perhaps, directions: 3}
  l2: {latency_ns: 0}
dynamic_network: 1
gpu_capable: yes
"""


def test_all_errors_at_once(tmp_path: Path) -> None:
    path = tmp_path / "p.yaml"
    path.write_text(WRONG)
    with pytest.raises(FormatError) as caught:
        read_platform(str(path))
    found = [(d.span.line, d.span.column, d.message, d.expected) for d in caught.value.diagnostics]
    assert (2, 1, "unknown key 'unitz' in a platform", "did you mean 'units' or 'links'?") in found or (
        2, 1, "unknown key 'unitz' in a platform", "did you mean 'units'?",
    ) in found  # fmt: skip
    messages = [(line, message) for line, _, message, _ in found]
    assert messages == [
        (2, "unknown key 'unitz' in a platform"),
        (6, "'cpu' is given twice in units"),
        (4, "unknown key 'core' in unit cpu"),
        (4, "clock_mhz of unit cpu is 'fast'"),
        (5, "kind of unit gpu is 'tpu'"),
        (7, "unit gpu2 has 3 cores"),
        (7, "power_watt of unit gpu2 is '-1'"),
        (8, "unit none is '4'"),
        (10, "unknown key 'bandwith_gb_s' in link pcie"),
        (10, "unknown unit 'gpux' in link pcie"),
        (10, "latency_ns of link pcie is a list"),
        (10, "shared of link pcie is 'perhaps'"),
        (10, "directions of link pcie is 3"),
        (11, "link l2 has no 'between'"),
        (12, "dynamic_network is '1'"),
        (13, "gpu_capable is 'yes'"),
    ]
    core = next(d for d in caught.value.diagnostics if "'core'" in d.message)
    assert core.expected.startswith("did you mean 'cores'")
    assert "    cpu: {kind: cpu, core: 4" in render(core)
    assert core.span.column == 20


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "the file is empty"),
        ("- a\n", "a platform is a list"),
        ("name: x\n", "has no 'units'"),
        ("units:\n", "units is"),
        ("units: {}\n", "there is no unit"),
        ("units: {cpu: {cores: 1}}\n", "has no 'kind'"),
        ("units: {\n", "not well-formed YAML"),
        ("a: 1\n---\nb: 2\n", "not well-formed YAML"),
        ("\x00", "not well-formed YAML"),
        ("[" * 3000, "nested too deeply"),
        ("units: &u {cpu: {kind: cpu}}\nlinks: *v\n", "not well-formed YAML"),
        ("units: {cpu: {kind: cpu, cores: {source: x}}}\n", "has no 'value'"),
        ("units: {[a]: {kind: cpu}}\n", "a key of units"),
    ],
)
def test_malformed(tmp_path: Path, text: str, message: str) -> None:
    path = tmp_path / "p.yaml"
    path.write_text(text)
    with pytest.raises(FormatError) as caught:
        read_platform(str(path))
    assert any(message in d.message for d in caught.value.diagnostics), caught.value.diagnostics


def test_no_such_platform() -> None:
    with pytest.raises(FormatError, match="no platform 'desktopp'") as caught:
        load_platform("desktopp")
    assert "desktop-gtx1660s" in caught.value.diagnostics[0].expected


@given(content=damaged(platform_text(load_platform("desktop-gtx1660s")).encode()))
@settings(max_examples=examples(100), deadline=None)
def test_damaged_files_never_raise_anything_else(tmp_path_factory: pytest.TempPathFactory, content: bytes) -> None:
    path = tmp_path_factory.mktemp("p") / "p.yaml"
    path.write_bytes(content)
    with suppress(FormatError):
        read_platform(str(path))
