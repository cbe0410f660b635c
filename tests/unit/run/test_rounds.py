"""Rounds of loops whose ends depend on data, counted in a run."""

from fractions import Fraction
from pathlib import Path

import numpy as np

from dse.run.execution import RunOptions, run_network
from tests.unit.gpu.actor_support import network

TEXT = """
  int sent := 0;
  int total := 0;
  procedure halve(int n) var int m begin m := n;
    while m > 1 do m := m / 2; total := total + 1; end
  end
  start: action ==> O:[8] guard sent < 1 do sent := 1; end
  pass: action I:[v] ==> O:[v / 2]
  guard v > 0
  do
    foreach int i in 0 .. 3 do total := total + i; end
    foreach int i in 1 .. v do
      foreach int j in i .. v do total := total + j; end
      if v > 100 then foreach int k in 0 .. v do total := total + k; end end
    end
    foreach int i in 5 .. v do halve(v); end
  end
  stop: action I:[v] ==> end
  priority start > pass; pass > stop; end
"""


def test_means_by_hand(tmp_path: Path) -> None:
    """Both instances start with an 8; each passes half of what it gets on, so each sees 8, 4, 2 and 1."""
    found = network(tmp_path, TEXT)
    trace = run_network(found, RunOptions(count_rounds=True)).trace
    first = {(span.line - 1, variable): mean for (span, variable), mean in trace.rounds[0].items()}
    assert first == {
        (5, ""): Fraction(3),  # halve(8) is called 4 times, for no other token
        (12, "i"): Fraction(8 + 4 + 2 + 1, 4),
        (13, "j"): Fraction(36 + 10 + 3 + 1, 15),  # triangles
        (16, "i"): Fraction(4, 4),  # 5 .. 8, then three empty ranges
        (14, "if"): Fraction(0),
    }  # neither the loop whose bounds are constants, nor the one that is never reached
    assert trace.rounds[1] == trace.rounds[0]


def test_shares_of_branches_are_counted_to_a_16th(tmp_path: Path) -> None:
    """Of the tokens 1 to 8 three are above 5, and a list is the first one for the one that is 7."""
    text = "  int sent := 0;\n  start: action ==> O:[sent] guard sent < 8 do sent := sent + 1; end\n"
    text += "  look: action I:[v] ==>\n"
    text += "  var int t[2] := if v = 7 then [v, v] else [0, v] end\n"
    text += "  do if v > 5 then sent := sent + t[0] - t[0]; end if v < 99 then t[0] := 1; else t[0] := 2; end end"
    trace = run_network(network(tmp_path, text), RunOptions(count_rounds=True)).trace
    assert sorted(trace.rounds[1].values()) == [Fraction(2, 16), Fraction(6, 16), Fraction(1)]


def test_counting_changes_nothing_else(tmp_path: Path) -> None:
    found = network(tmp_path, TEXT)
    plain, counted = run_network(found, RunOptions()), run_network(found, RunOptions(count_rounds=True))
    assert plain.trace.rounds == ()
    assert plain.trace.digest == counted.trace.digest
    assert plain.channels == counted.channels
    assert all(np.array_equal(a, b) for a, b in zip(plain.trace.firings, counted.trace.firings, strict=True))


def test_loops_that_assign_their_variable(tmp_path: Path) -> None:
    text = "  int sent := 0;\n  start: action ==> O:[9] guard sent < 1 do sent := 1; end\n"
    text += "  odd: action I:[v] ==> var int i := 0 do while i < v do i := i + 2; end end"
    trace = run_network(network(tmp_path, text), RunOptions(count_rounds=True)).trace
    assert list(trace.rounds[0].values()) == [Fraction(5)]
