"""What threads of a card do with a batch: a processor in their place finds what the burst kernels find, each integer.

The functions are those that become PTX, which is looked at too. All with ``DSE_CASES`` (``make test-full``) only, since
they belong to a benchmark and each takes 20 s to compile.
"""

import os
import shutil
import subprocess
from functools import cache
from pathlib import Path
from typing import get_args

import pytest

from benchmarks.gpu_batch import batch, ptx
from benchmarks.gpu_batch.__main__ import main, points_of
from benchmarks.gpu_batch.batch import CardBatch, LaunchShape
from benchmarks.gpu_batch.driver import Card, CardError
from benchmarks.gpu_batch.share_kernel import SHARES
from dse.estimate.compiled.burst import BurstKind, BurstRun, bursts_of
from dse.estimate.compiled.burst_layout import OVER
from dse.estimate.compiled.engine import CompiledEngine
from tests.unit.estimate.gpu_batch.standing_in import HostCard, HostKernel

NETWORKS: dict[BurstKind, str] = {
    "still": "irregular-10x4",
    "linked": "irregular-16x4g",
    "travelling": "irregular-16x4t",
}
ALL = "DSE_CASES" in os.environ
KINDS: tuple[BurstKind, ...] = get_args(BurstKind)
FULL_ONLY = pytest.mark.skipif(not ALL, reason="DSE_CASES is not set: make test-full does")
FIRINGS, POINTS, BLOCKS = 600, 70, 2


@cache
def kernel_of(kind: BurstKind) -> HostKernel:
    return HostKernel(SHARES[kind], BLOCKS)


@cache
def runs_of(kind: BurstKind) -> tuple[BurstRun, BurstRun]:
    """Runs of random mappings of one kind: to their ends, and within a limit that half of them keep."""
    problem, points = points_of(NETWORKS[kind], FIRINGS, POINTS)
    engine = CompiledEngine(problem)
    bursts = bursts_of(engine.packed)
    assert bursts is not None
    encoded = [one for one in map(engine.encoder.encode, points) if bursts.kernel_of(one) == kind]
    whole = bursts.run(kind, encoded, None)
    makespans = sorted(one if isinstance(one, int) else one.makespan for one in whole.make())
    return whole, bursts.run(kind, encoded, makespans[len(makespans) // 2])


@pytest.fixture(params=KINDS)
def kind(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> BurstKind:
    def text(kind: BurstKind, capability: int) -> str:
        assert capability == HostCard.capability
        return f"{kind} .entry {ptx.ENTRY}"

    monkeypatch.setattr(batch, "share_ptx", text)
    found: BurstKind = request.param
    return found


@FULL_ONLY
@pytest.mark.parametrize(
    ("spread", "block", "free_bytes"),
    [(1, 32, 1 << 30), (32, 64, 1 << 30), (8, 64, 1 << 30), (32, 32, 1)],
    ids=["all at once", "one a warp", "some a warp", "room for one"],
)
def test_as_the_burst_kernels(kind: BurstKind, spread: int, block: int, free_bytes: int) -> None:
    card = HostCard({kind: kernel_of(kind)}, free_bytes)
    for run in runs_of(kind):
        kernel_of(kind).launches.clear()
        there = CardBatch(card, run.bursts, LaunchShape(spread=spread, block=block))  # type: ignore[arg-type]
        expected = run.make()
        assert there.make(run) == expected
        ((n_blocks, n_threads),) = kernel_of(kind).launches
        at_once = 1 if free_bytes == 1 else min(len(run.encoded), card.n_processors * BLOCKS * block // spread)
        assert (n_blocks, n_threads) == (-(-at_once * spread // block), block)
        there.close()
    assert OVER in expected, "a limit that all keep shows nothing"
    assert len({str(one) for one in expected}) > 2
    assert not any(memory.is_held for memory in card.made), "memory of the card is freed"


@FULL_ONLY
def test_memory_is_freed_where_the_card_fails(kind: BurstKind, monkeypatch: pytest.MonkeyPatch) -> None:
    card = HostCard({kind: kernel_of(kind)})
    run, _ = runs_of(kind)
    there = CardBatch(card, run.bursts)  # type: ignore[arg-type]
    held = len([memory for memory in card.made if memory.is_held])

    def fail(*_: int) -> None:
        raise CardError("an illegal memory access was encountered")

    monkeypatch.setattr(HostKernel, "run", fail)
    with pytest.raises(CardError, match="illegal"):
        there.make(run)
    assert len([memory for memory in card.made if memory.is_held]) == held


@FULL_ONLY
def test_ptx_is_whole(tmp_path: Path) -> None:
    """It calls nothing that is not in it, and the assembler of cards takes it where it is there."""
    for kind in KINDS:
        text = ptx.share_ptx(kind, 90)
        assert f".visible .entry {ptx.ENTRY}(" in text
        assert ".extern" not in text
        assert ".target sm_90" in text
        if assembler := shutil.which("ptxas"):
            (tmp_path / "x.ptx").write_text(text)
            subprocess.run([assembler, "-arch=sm_90", tmp_path / "x.ptx", "-o", tmp_path / "x.cubin"], check=True)


def test_without_a_card(capsys: pytest.CaptureFixture[str]) -> None:
    try:
        Card()
    except CardError:
        assert main(["irregular-10x4"]) == 1
        assert "card" in capsys.readouterr().err
    else:
        pytest.skip("there is a card")
