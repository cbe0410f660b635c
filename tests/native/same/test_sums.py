"""Stores that were wrong natively, in one program.

Two sums over one list by turns, and a shift of that list: g++ 12 made wrong code of it where it vectorized loops. An
index that acts, of a store of rows of different sizes, acted once for each row; it acts once, before the rows are made.
"""

from pathlib import Path

import pytest

from dse.frontend.network.elaborate import load_network
from dse.run.options import RunOptions
from tests.native.same.comparing import built, compared, compiler

pytestmark = pytest.mark.skipif(compiler() is None, reason="there is no C++ compiler")
FILTER = """actor Filter () ==> :
    int h[24] = [12, -44, -44, 212, 48, -624, 128, 1448, -840, -3220, 3804, 15504,
                 15504, 3804, -3220, -840, 1448, 128, -624, 48, 212, -44, -44, 12];
    int past[24];
    int fired := 0;
    action ==>
    guard fired < 50
    var
        int i := 0, int k := 0, int p := 0, int q := 0, int even, int odd
    do
        even := past[p] * h[k];
        p := p + 1;
        k := k + 1;
        odd := past[p] * h[k];
        p := p + 1;
        k := k + 1;
        while i < 10 do
            even := even + past[p] * h[k];
            p := p + 1;
            k := k + 1;
            odd := odd + past[p] * h[k];
            p := p + 1;
            k := k + 1;
            i := i + 1;
        end
        even := even + past[p] * h[k];
        p := p + 1;
        k := k + 1;
        odd := odd + past[p] * h[k];
        q := p - 2;
        i := 0;
        while i < 22 do
            past[p] := past[q];
            p := p - 1;
            q := q - 1;
            i := i + 1;
        end
        past[p] := 68 - fired;
        past[p - 1] := 67 + fired;
        fired := fired + 1;
        println("" + even + " " + odd);
    end
end
"""
ROWS = """actor Rows () ==> :
    @native function native_source_produce() --> int end
    List(type: List(type: List(type: int, size=2), size=2), size=2) table;
    int fired := 0;
    action ==>
    guard fired < 3
    do
        table[native_source_produce() & 1] := [[native_source_produce()], [native_source_produce(), 7]];
        fired := fired + 1;
        println("" + fired + " " + table[0][0][0] + " " + table[0][1][0] + " " + table[1][0][0] + " " + table[1][1][0]);
    end
end
"""
NETWORK = """<?xml version="1.0"?>
<XDF name="sums"><Instance id="filter"><Class name="Filter"/></Instance>
<Instance id="rows"><Class name="Rows"/></Instance></XDF>
"""


def test_stores_are_the_same_natively(tmp_path: Path) -> None:
    (tmp_path / "Filter.cal").write_text(FILTER)
    (tmp_path / "sums.xdf").write_text(NETWORK)
    (tmp_path / "Rows.cal").write_text(ROWS)
    (tmp_path / "numbers").write_text(" ".join(map(str, range(1, 20))))
    of = built(load_network(str(tmp_path / "sums.xdf")).network)
    assert compared(of, RunOptions(input=str(tmp_path / "numbers")), tmp_path) == []
