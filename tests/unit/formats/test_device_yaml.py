from pathlib import Path

import pytest

from dse.base.errors import DseError, FormatError, OptionError
from dse.formats.device_yaml import builtin_devices, load_device, read_device
from dse.model.device import DEVICE_KEYS, Device

ROOT = Path(__file__).resolve().parents[3]


def write(folder: Path, text: str) -> str:
    path = folder / "d.yaml"
    path.write_text(text)
    return str(path)


def messages(error: DseError) -> list[tuple[int, str]]:
    return [(d.span.line, d.message) for d in error.diagnostics]


def test_builtin_devices_are_those_of_configs() -> None:
    documented = sorted((ROOT / "configs" / "platforms" / "devices").glob("*.yaml"))
    assert [p.stem for p in documented] == list(builtin_devices())
    for path in documented:
        assert load_device(path.stem).name == path.stem


def test_the_device_of_the_paper() -> None:
    device = load_device("jetson-tk1")
    assert (device.sms, device.clock_hz, device.inst_cycle) == (1, 852e6, 0.5)
    latencies = (device.latency_l2_cycles, device.latency_dram_cycles, device.latency_shared_cycles)
    assert latencies == (164, 332, 67)
    assert (device.shared_load_cycles, device.delay_l2_cycles, device.delay_dram_cycles) == (506, 2, 10)
    assert (device.l2_bytes, device.l2_line_bytes, device.l2_ways) == (131072, 64, 16)
    assert (device.threads_per_sm, device.blocks_per_sm, device.shared_bytes) == (2048, 16, 49152)


def test_every_constant_of_every_installed_device_has_a_source() -> None:
    for name in builtin_devices():
        device = load_device(name)
        known = {DEVICE_KEYS[field] for field in DEVICE_KEYS if getattr(device, field) is not None}
        assert {origin.key for origin in device.origins} == known
        assert [origin.key for origin in device.origins if not origin.source] == []


def test_a_constant_s_own_source_goes_before_the_section_s(tmp_path: Path) -> None:
    device = read_device(
        write(
            tmp_path,
            "sms: 2\nclock_mhz: {value: 1e3, source: a}\nsource: g\nl2: {bytes: 64, ways: {value: 4, assumed: true}}\n",
        )
    )
    found = [(origin.key, origin.source, origin.assumed) for origin in device.origins]
    assert found == [("sms", "g", False), ("clock_mhz", "a", False), ("l2.bytes", "g", False), ("l2.ways", "", True)]
    assert [o.key for o in device.assumed(("l2_ways", "l2_bytes"))] == ["l2.ways"]
    assert device.name == "d"


def test_all_errors_of_a_file_at_once_with_their_places(tmp_path: Path) -> None:
    path = write(
        tmp_path,
        "clock_mhz: fast\nlatency_cycle: {}\nl2: {byte: 3, ways: 2.5}\nbank_conflicts: {constant: 1}\nlimits: 4\n"
        "inst_cycle: {source: x}\n",
    )
    with pytest.raises(FormatError) as raised:
        read_device(path)
    assert messages(raised.value) == [
        (2, "unknown key 'latency_cycle' in a device"),
        (1, "clock_mhz is 'fast'"),
        (3, "unknown key 'byte' in l2"),
        (3, "l2.ways is '2.5'"),
        (4, "bank_conflicts has no 'coalesced'"),
        (4, "bank_conflicts has no 'uncoalesced'"),
        (5, "limits is '4'"),
        (6, "inst_cycle has no 'value'"),
        (1, "the device has no 'sms'"),
    ]
    assert "'latency_cycles'" in raised.value.diagnostics[0].expected


def test_a_missing_constant_names_its_key_and_its_section(tmp_path: Path) -> None:
    device = read_device(write(tmp_path, "sms: 1\nclock_mhz: 900\nlatency_cycles: {l2: 100}\n"))
    assert device.require("latency_l2_cycles", "cgpredict") == 100
    error = device.missing("latency_dram_cycles", "cgpredict").diagnostics[0]
    assert (error.span.line, error.message) == (3, "device 'd' has no latency_cycles.dram, which cgpredict needs")
    having = device.missing("dram_t_ras_cycles", "memory_pipeline").diagnostics[0].expected
    assert having.endswith("built-in devices that have it: tesla-m2050")
    with pytest.raises(FormatError, match=r"no l2\.ways, which cgpredict needs"):
        device.require("l2_ways", "cgpredict")
    with pytest.raises(FormatError, match="no bank_conflicts"):
        device.require_classes("bank_conflicts", "cgpredict")


def test_unknown_device_names_the_nearest() -> None:
    with pytest.raises(OptionError) as raised:
        load_device("jetson-tk2")
    assert "'jetson-tk1'" in raised.value.diagnostics[0].expected
    with pytest.raises(FormatError):
        load_device("no/such/file.yaml")


def test_a_device_without_a_file_says_so_without_a_place() -> None:
    with pytest.raises(FormatError, match=r"device 'x' has no l2\.ways"):
        Device(name="x", sms=1, clock_mhz=1.0).require("l2_ways", "the cache")


@pytest.mark.parametrize("name", ["gtx1080-ti", "NVIDIA GeForce GTX 1080 Ti", "GTX1080Ti"])
def test_devices_answer_to_the_names_of_data_and_drivers(name: str) -> None:
    assert load_device(name).name == "gtx1080ti"
