"""Fuzzers with fixed seeds for some seconds, and files that once were faults. ``make fuzz`` runs them for longer."""

import os
from pathlib import Path

import pytest

from tests.fuzz.harness import Case, run_case
from tests.fuzz.scene import make_scene
from tests.fuzz.targets import FILES, TARGETS, FileTarget, kept_faults

SHARE = int(os.environ.get("DSE_FUZZ_PERCENT", "15"))
"""Percent of the cases below; ``make test-full`` makes all."""
CASES = 40
SLOW = {"kernel": 8, "device": 8, "picture": 8, "sequences": 12, "study": 20, "study-values": 20, "default-input": 12}
SLOW |= {"slam": 12, "sdf3": 12, "tgff": 20, "preesm-graph": 12, "preesm-inner": 12, "preesm-scenario": 12}
"""Cases of the targets that take longer than some milliseconds a case."""


@pytest.fixture(scope="session")
def scene(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Every kind of file, made once."""
    folder = tmp_path_factory.mktemp("fuzz") / "scene"
    make_scene(folder)
    return folder


@pytest.mark.slow
@pytest.mark.parametrize("target", TARGETS)
def test_no_case_is_a_fault(target: str, scene: Path, tmp_path: Path) -> None:
    for number in range(SLOW.get(target, CASES) * SHARE // 100):
        fault = run_case(TARGETS[target], Case(target, number), scene, tmp_path)
        assert fault is None, f"python -m tests.fuzz --case {fault.case}\n{fault.text}"


@pytest.mark.parametrize(("target", "kept"), kept_faults([t.name for t in FILES]), ids=lambda x: getattr(x, "name", ""))
def test_what_was_a_fault_is_none(target: FileTarget, kept: Path, scene: Path, tmp_path: Path) -> None:
    def again(_rng: object, folder: Path) -> str | None:
        return target.replay(kept, folder)

    fault = run_case(again, Case(target.name, 0), scene, tmp_path)
    assert fault is None, fault.text
