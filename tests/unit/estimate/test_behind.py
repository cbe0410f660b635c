"""Quicker kernels are compiled beside a search, never before it; until then, and after, results are the same."""

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from dse.estimate.compiled import behind, warm
from dse.estimate.compiled.burst import bursts_of
from dse.estimate.compiled.encode import EncodedPoint
from dse.estimate.compiled.engine import CompiledEngine
from dse.estimate.compiled.ready import is_burst_compiled, is_link_compiled, is_plain_compiled, is_travel_compiled
from dse.estimate.engine import compile_behind
from tests.property.estimation_cases import Case
from tests.property.test_bursts_agree import linked_case, plain_case, travelling_case

SEED = 12


class Started:
    """Stands for processes that are started."""

    def __init__(self, error: OSError | None = None) -> None:
        self.commands: list[list[str]] = []
        self.error = error

    def __call__(self, command: list[str], **options: object) -> "Started":
        if self.error is not None:
            raise self.error
        self.commands.append(command)
        assert options["start_new_session"], "it goes on when the search is over"
        return self


@pytest.fixture
def missing(monkeypatch: pytest.MonkeyPatch) -> Started:
    """Nothing is compiled, and no process was started yet."""
    started = Started()
    monkeypatch.setattr(behind, "_STARTED", [])
    monkeypatch.setattr(behind, "is_burst_compiled", lambda: False)
    monkeypatch.setattr(behind, "is_plain_compiled", lambda: False)
    monkeypatch.setattr(behind, "is_travel_compiled", lambda: False)
    monkeypatch.setattr(behind, "is_link_compiled", lambda: False)
    monkeypatch.setattr("dse.estimate.compiled.behind.subprocess.Popen", started)
    return started


def test_an_empty_cache_means_that_it_is_missing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert is_burst_compiled(), "`make setup` compiles it"
    assert is_plain_compiled(), "`make setup` compiles it"
    assert is_travel_compiled(), "`make setup` compiles it"
    assert is_link_compiled(), "`make setup` compiles it"
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path))
    assert not is_burst_compiled()
    assert not is_plain_compiled()
    assert not is_travel_compiled()
    assert not is_link_compiled()


def test_it_is_compiled_once_where_it_is_missing(missing: Started, monkeypatch: pytest.MonkeyPatch) -> None:
    compile_behind("reference")
    assert missing.commands == []
    compile_behind("compiled")
    compile_behind("compiled")
    assert missing.commands == [[sys.executable, "-P", "-m", "dse.estimate.compiled.behind"]]
    monkeypatch.setattr(behind, "_STARTED", [])
    monkeypatch.setattr(behind, "is_burst_compiled", lambda: True)
    compile_behind("compiled")
    assert len(missing.commands) == 2, "others are missing"
    monkeypatch.setattr(behind, "_STARTED", [])
    monkeypatch.setattr(behind, "is_plain_compiled", lambda: True)
    compile_behind("compiled")
    assert len(missing.commands) == 3, "two are missing"
    monkeypatch.setattr(behind, "_STARTED", [])
    monkeypatch.setattr(behind, "is_travel_compiled", lambda: True)
    compile_behind("compiled")
    assert len(missing.commands) == 4, "that for links is missing"
    monkeypatch.setattr(behind, "_STARTED", [])
    monkeypatch.setattr(behind, "is_link_compiled", lambda: True)
    compile_behind("compiled")
    assert len(missing.commands) == 4


def test_without_a_process_the_general_kernel_goes_on(missing: Started) -> None:
    missing.error = OSError("no more processes")
    compile_behind("compiled")
    assert behind._STARTED == []


def test_the_process_ends_well() -> None:
    subprocess.run([sys.executable, "-m", "dse.estimate.compiled.behind"], check=True, capture_output=True)


def test_who_waits_for_it_has_a_process_of_the_same_priority() -> None:
    with behind.quicker_beside() as beside:
        assert os.getpriority(os.PRIO_PROCESS, beside.pid) == os.getpriority(os.PRIO_PROCESS, 0)
    assert beside.returncode == 0


def test_set_up_fails_where_the_quicker_kernels_cannot_be_compiled(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(warm, "quicker_beside", lambda: subprocess.Popen([sys.executable, "-c", "raise SystemExit(3)"]))
    monkeypatch.setattr(warm, "warm", lambda: None)
    with pytest.raises(SystemExit, match="ended with 3"):
        warm.warm_all()


def test_outcomes_are_the_same_before_and_behind(monkeypatch: pytest.MonkeyPatch) -> None:
    case = plain_case(SEED)
    compiled = False
    monkeypatch.setattr("dse.estimate.compiled.engine.is_burst_compiled", lambda: compiled)
    engine = CompiledEngine(case.problem)
    expected = [engine.estimate(case.point).outcome]
    for _ in range(20):
        assert engine.outcomes([case.point]) == expected
        assert engine._burst_board is None
    compiled = True
    for _ in range(16):
        assert engine.outcomes([case.point]) == expected
    assert engine._burst_board is not None
    assert engine._burst_board[0] is not None
    assert engine._burst_board[0].kernel_of(engine.encoder.encode(case.point))
    assert engine.outcomes([case.point]) == expected


@pytest.mark.parametrize(
    ("drawn", "kind", "asked", "ready"),
    [
        (travelling_case, "travelling", "is_travel_compiled", "_travel_ready"),
        (linked_case, "linked", "is_link_compiled", "_link_ready"),
    ],
)
def test_outcomes_of_variants_are_the_same_before_and_behind(
    drawn: Callable[[int], Case], kind: str, asked: str, ready: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    case = next(c for c in map(drawn, range(99)) if _burst_kind(c) == kind)
    compiled = False
    monkeypatch.setattr(f"dse.estimate.compiled.engine.{asked}", lambda: compiled)
    engine = CompiledEngine(case.problem)
    expected = [engine.estimate(case.point).outcome]
    for _ in range(20):
        assert engine.outcomes([case.point]) == expected
        assert not getattr(engine, ready)
    compiled = True
    for _ in range(16):
        assert engine.outcomes([case.point]) == expected
    assert getattr(engine, ready)


def _burst_kind(case: Case) -> str | None:
    engine = CompiledEngine(case.problem)
    bursts = bursts_of(engine.packed)
    return None if bursts is None else bursts.kernel_of(_encoded(case))


def test_estimates_are_the_same_before_and_behind(monkeypatch: pytest.MonkeyPatch) -> None:
    case = next(
        c for c in map(plain_case, range(99)) if CompiledEngine(c.problem).packed.kind_of(_encoded(c)) != "general"
    )
    compiled = False
    monkeypatch.setattr("dse.estimate.compiled.engine.is_plain_compiled", lambda: compiled)
    engine = CompiledEngine(case.problem)
    expected = engine.estimates([case.point])
    for _ in range(20):
        assert engine.estimates([case.point]) == expected
        assert not engine._plain_ready
    compiled = True
    for _ in range(16):
        assert engine.estimates([case.point]) == expected
    assert engine._plain_ready


def _encoded(case: Case) -> EncodedPoint:
    return CompiledEngine(case.problem).encoder.encode(case.point)
