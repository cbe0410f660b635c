"""Lists and values of more than 128 bits, in which no type of C++ wraps: they are the same natively as in Python."""

from pathlib import Path

import pytest

from dse.frontend.network.elaborate import load_network
from dse.run.options import RunOptions
from tests.native.same.comparing import built, compared, compiler

pytestmark = pytest.mark.skipif(compiler() is None, reason="there is no C++ compiler")
WIDE = """actor Wide () ==> uint(size=256) O, int(size=200) P, uint(size=256) Q :
  @native procedure source_init () end
  @native function source_sizeOfFile () --> int end
  int left := 3;
  uint(size=8) byte;
  int(size=32) some[3] := [-1, -2, 3];
  uint(size=256) state[3] := [left - 8 : for int k in 0 .. 2];
  uint(size=256) kept[2][2];
  function f (uint(size=256) l[3]) --> bool : l[0] > 5 end
  initialize ==> do source_init(); end
  a: action ==> O:[[g : for int g in -2 .. 0]] repeat 3, P:[some] repeat 3, Q:[-1 - left]
  guard left > 0
  var uint(size=256) l[3] := [g : for int g in -2 .. 0], uint(size=256) m[3] := some,
      uint(size=256) n[2] := [left - 7, left], int(size=200) o[1] := [left << 199]
  do
    left := left - 1;
    println("l " + (l[0] > 5) + (m[0] > 5) + (n[0] > 5) + " " + o[0] + " " + state[0]);
    state := [g - left : for int g in -2 .. 0];
    println("s " + state[0] + " " + state[1]);
    state := some;
    println("s " + state[0] + " " + state[1]);
    kept := [[left - 9, left], [left, left - 1]];
    println("k " + kept[0][0] + " " + kept[1][1]);
    kept[1] := [left - 3, left];
    println("k " + kept[1][0] + " " + kept[1][1]);
    kept := [[left - 4], [left, left - 5]];
    println("r " + kept[0][0] + " " + kept[1][0] + " " + kept[1][1]);
    state := if left > 1 then some else [1 - left * 4, 2, 3] end;
    println("c " + state[0] + " " + state[1]);
    byte := ((1 << 200) / (left + 1)) mod ((source_sizeOfFile() * 1000) | 1);
    println("b " + byte);
    println("f " + f([g : for int g in -2 .. 0]) + f(some) + f([left - 9, 1, 2]));
    println("e " + ([g : for int g in -2 .. 0] + [left - 7]));
  end
end
"""
SINK = """actor Sink () uint(size=256) I, int(size=200) J, uint(size=256) K ==> :
  a: action I:[x], J:[y], K:[z] repeat 1 ==> do println("t " + x + " " + y + " " + z); end
end
"""
NETWORK = """<?xml version="1.0"?>
<XDF name="wide">
<Instance id="wide"><Class name="Wide"/></Instance>
<Instance id="sink"><Class name="Sink"/></Instance>
<Connection src="wide" src-port="O" dst="sink" dst-port="I"/>
<Connection src="wide" src-port="P" dst="sink" dst-port="J"/>
<Connection src="wide" src-port="Q" dst="sink" dst-port="K"/>
</XDF>
"""


def test_wide_lists_are_the_same_natively(tmp_path: Path) -> None:
    for name, text in (("Wide.cal", WIDE), ("Sink.cal", SINK), ("wide.xdf", NETWORK)):
        (tmp_path / name).write_text(text)
    (tmp_path / "input").write_bytes(bytes(7))
    of = built(load_network(str(tmp_path / "wide.xdf")).network)
    assert compared(of, RunOptions(input=str(tmp_path / "input"), hash_channels=True), tmp_path) == []
