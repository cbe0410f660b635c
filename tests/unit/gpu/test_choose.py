import pytest

from dse.formats.device_yaml import load_device
from dse.gpu.advise.choose import Accelerator, choose, host_seconds
from dse.model.kernel_cost import ClassCost, KernelCost


def cost(time_s: float, uncoalesced: float, coalesced: float) -> KernelCost:
    classes = tuple(
        ClassCost(kind=kind, instructions=n, dram_transactions=0, mem_l_cycles=1, departure_delay_cycles=1)
        for kind, n in (("coalesced", coalesced), ("uncoalesced", uncoalesced))
        if n
    )
    return KernelCost(
        model="m", kernel="k", device="d", time_s=time_s, cycles=1, bottleneck="memory", reason="", classes=classes
    )


def gpu(name: str, time_s: float, uncoalesced: float = 0, host_s: float | None = None) -> Accelerator:
    return Accelerator(
        name=name, kind="gpu", time_s=time_s, origin="predicted", costs=(cost(time_s, uncoalesced, 4),), host_s=host_s
    )


def test_table_7_of_the_paper() -> None:
    """MM: the GPU; MVT: the FPGA, since the accesses are uncoalesced."""
    fpga = Accelerator(name="FPGA", kind="fpga", time_s=1.18, origin="given")
    choice = choose((fpga, gpu("tk1", 0.24251)))
    assert choice.winner.name == "tk1"
    assert choice.margin == pytest.approx(1180 / 242.51)
    assert "coalesced or constant" in choice.reason
    choice = choose(
        (gpu("tk1", 0.04831, uncoalesced=4), Accelerator(name="FPGA", kind="fpga", time_s=9.09e-3, origin=""))
    )
    assert choice.winner.name == "FPGA"
    assert choice.margin == pytest.approx(48.31 / 9.09)
    assert "50 % of its accesses are uncoalesced" in choice.reason


def test_host_costs_can_turn_a_choice() -> None:
    cpu = Accelerator(name="CPU", kind="cpu", time_s=1e-3, origin="given")
    quick = gpu("gtx", 1e-4, host_s=2e-3)
    assert choose((cpu, quick)).winner.name == "gtx"
    choice = choose((cpu, quick), with_host=True)
    assert choice.winner.name == "CPU"
    assert "95 % of the time of gtx is starting and copying" in choice.reason


def test_one_candidate_and_ties() -> None:
    assert choose((gpu("a", 1.0),)).margin == 1
    assert [c.name for c in choose((gpu("b", 1.0), gpu("a", 1.0))).ranking] == ["b", "a"]


def test_host_seconds() -> None:
    device = load_device("gtx1660s")
    assert host_seconds(device, 2, 12_000_000) == pytest.approx((2 * 5 + 8 + 2 * 10) * 1e-6 + 1e-3)
