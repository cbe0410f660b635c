"""Deadlocks in a search: found once, never explained by the thousand, and not met at all with default sizes."""

import json
from collections.abc import Sequence
from pathlib import Path

import pytest

from dse.cli.main import main
from dse.estimate.compiled.engine import CompiledEngine
from dse.flows.capacities import search_capacities
from dse.flows.estimate import one_core
from dse.flows.options import ProblemOptions
from dse.flows.setting import load_setting
from dse.model.estimate import Estimate

A = """actor A () ==> int(size=32) O, int(size=32) P :
  int(size=32) n := 0;
  first: action ==> O:[n] guard n < {n} do n := n + 1; end
  last: action ==> P:[n] guard n = {n} do n := n + 1; end
end
"""
B = """actor B () int(size=32) I, int(size=32) J ==> :
  int(size=32) n := 0;
  first: action J:[x] ==> guard n = 0 do n := 1; end
  rest: action I:[x] ==> guard n = 1 end
end
"""
XDF = """<XDF name="late">
  <Instance id="a"><Class name="A"/></Instance>
  <Instance id="b"><Class name="B"/></Instance>
  <Connection src="a" src-port="O" dst="b" dst-port="I"/>
  <Connection src="a" src-port="P" dst="b" dst-port="J"/>
</XDF>
"""
TOKENS = 700
"""The second actor reads the first token when so many wait: more than FIFOs have by default."""


@pytest.fixture
def late(tmp_path: Path) -> str:
    (tmp_path / "A.cal").write_text(A.format(n=TOKENS))
    (tmp_path / "B.cal").write_text(B)
    (tmp_path / "late.xdf").write_text(XDF)
    return str(tmp_path / "late.xdf")


def test_default_sizes_let_the_run_happen(late: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    setting = load_setting(ProblemOptions(program=late, missing_weights="nominal"))
    found = search_capacities(setting)
    assert found.tokens == (4096, 4096)
    assert "capacity of a.O->b.I 512 -> 4096 and 1 more (because with less every mapping deadlocks)" in found.assumed
    assert main(["explore", late, "--missing-weights", "nominal", "--out", str(tmp_path / "out"), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["deadlocks"] == 0


def test_default_sizes_of_a_trace_let_its_firings_happen(late: str, tmp_path: Path) -> None:
    """Also of a trace that was recorded with other sizes."""
    trace = str(tmp_path / "late.trace")
    assert main(["trace", late, "-s", "3000", "-o", trace, "--quiet"]) == 0
    found = search_capacities(load_setting(ProblemOptions(program=trace, missing_weights="zero")))
    assert found.tokens == (1024, 1024)


def test_sizes_of_the_network_below_those_of_its_run_are_raised_where_all_would_deadlock(tmp_path: Path) -> None:
    """A run gives its FIFOs 512 tokens or more, so that it tells nothing of a ``bufferSize`` of 8."""
    size = (
        '<Attribute kind="Value" name="bufferSize"><Expr kind="Literal" literal-kind="Integer" value="8"/></Attribute>'
    )
    (tmp_path / "A.cal").write_text(A.format(n=100))
    (tmp_path / "B.cal").write_text(B)
    (tmp_path / "late.xdf").write_text(XDF.replace('dst-port="I"/>', f'dst-port="I">{size}</Connection>'))
    late = str(tmp_path / "late.xdf")
    found = search_capacities(load_setting(ProblemOptions(program=late, weights=("nominal",))))
    assert found.tokens == (100, 512)
    assert "capacity of a.O->b.I 8 -> 100 (because with less every mapping deadlocks)" in found.assumed
    assert main(["trace", late, "-o", str(tmp_path / "late.trace"), "--quiet"]) == 0
    of_trace = load_setting(ProblemOptions(program=str(tmp_path / "late.trace"), missing_weights="zero"))
    assert search_capacities(of_trace).tokens == found.tokens


def test_default_sizes_grow_until_the_firings_fit(tmp_path: Path) -> None:
    """1,500 tokens have to wait: 1,024 are not enough, the next power of two is."""
    (tmp_path / "A.cal").write_text(A.format(n=1500))
    (tmp_path / "B.cal").write_text(B)
    (tmp_path / "late.xdf").write_text(XDF)
    trace = str(tmp_path / "late.trace")
    assert main(["trace", str(tmp_path / "late.xdf"), "-s", "3000", "-o", trace, "--quiet"]) == 0
    found = search_capacities(load_setting(ProblemOptions(program=trace, missing_weights="zero")))
    assert found.tokens == (2048, 2048)


def test_a_size_that_deadlocks_is_found_once(
    late: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """One mapping is estimated, and what would help is looked for once; the sizes that are named do help."""
    estimated, explained = [0], [0]
    simulate, deadlock = CompiledEngine._stoppable, CompiledEngine._deadlock

    def counted(self: CompiledEngine, run: object, make: object, n_points: int) -> object:
        estimated[0] += n_points
        return simulate(self, run, make, n_points)  # type: ignore[arg-type, var-annotated]

    def noted(self: CompiledEngine, *arguments: object, explain: bool) -> object:
        explained[0] += explain
        return deadlock(self, *arguments, explain=explain)  # type: ignore[arg-type]

    monkeypatch.setattr(CompiledEngine, "_stoppable", counted)
    monkeypatch.setattr(CompiledEngine, "_deadlock", noted)
    argv = ["explore", late, "--missing-weights", "nominal", "--out", str(tmp_path / "out"), "--quiet"]
    assert main([*argv, "--buffers", "600"]) == 3
    error = capsys.readouterr().err
    assert f"larger capacities that would do: a.O->b.I 600 -> {TOKENS}\n" in error
    assert estimated == [3]  # the mapping on one core, again to explain it, and the remedy
    assert explained == [1]
    assert main([*argv, "--buffers", str(TOKENS)]) == 0
    assert main([*argv, "--buffers", str(TOKENS - 1)]) == 3


def test_sizes_that_deadlock_are_left_out_of_the_choice(
    late: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    sizes = [word for tokens in ("600", "700", "650", "800") for word in ("--buffers", tokens)]
    argv = ["explore", late, "--missing-weights", "nominal", "--out", str(tmp_path / "out"), *sizes]
    assert main(argv) == 0
    shown = " ".join(capsys.readouterr().out.split())
    assert "2 of 4 choices of --buffers left out: with them every mapping deadlocks" in shown
    document = json.loads((tmp_path / "out" / "ranking.json").read_text())
    assert document["space"] == 4  # two mappings with either of two sizes


def test_all_estimates_of_a_search_leave_the_explanation_out(late: str) -> None:
    setting = load_setting(ProblemOptions(program=late, missing_weights="nominal"))
    engine = CompiledEngine(setting.problem)

    found: Sequence[Estimate] = engine.estimates([one_core(setting, (1, 1))])
    assert found[0].deadlock is not None
    assert not found[0].deadlock.sought
    assert found[0].deadlock.rows
