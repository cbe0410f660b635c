"""Which networks may depend on when tokens arrive: pairs of actions, natives that share something, and why not."""

from pathlib import Path

import pytest

from dse.frontend.network.elaborate import load_network
from dse.passes.analyses.time_dependence import find_time_dependence
from dse.program.ir import Native
from dse.run.natives import display, files, signals, source, writer
from dse.run.natives.access import FileAccess
from dse.run.natives.context import NativeContext
from dse.run.natives.effects import native_effects
from dse.run.natives.registry import _simulation
from dse.run.natives.screen import Screen
from dse.run.options import RunOptions
from tests.examples import seldom
from tests.golden.acceptance import Missing, corpus
from tests.property.native_networks import random_network
from tests.unit.run.programs import network_of

ACTORS = Path(__file__).parents[3] / "actors"
FEED = "actor F () ==> int O, int P : int n := 0; action ==> O:[n], P:[n] guard n < 9 do n := n + 1; end end"
WIRES = "f=F a=A f.O->a.I f.P->a.J"


def found(folder: Path, body: str, wires: str = WIRES) -> list[str]:
    text = f"actor A () int I, int J ==> int O : int n := 0; bool b := false; int K = 1; {body} end"
    network = network_of(folder, (FEED, text), wires)
    return [str(f) for f in find_time_dependence(network, native_effects())]


INDEPENDENT = {
    "the same tokens": "x: action I:[a] ==> guard a > 3 end y: action I:[b] ==> end",
    "the second asks for more": "x: action I:[a] ==> guard a > 3 end y: action I:[b], J:[c] ==> end",
    "guards of state": "x: action I:[a] ==> guard n = 0 end y: action J:[b] ==> guard n = 1 end",
    "guards of a constant": "x: action I:[a] ==> guard n = K end y: action J:[b] ==> guard n != 1 end",
    "a bool and its opposite": "x: action I:[a] ==> guard b end y: action J:[c] ==> guard not b end",
    "a bool compared": "x: action I:[a] ==> guard b = true end y: action J:[c] ==> guard b = false end",
    "orders": "x: action I:[a] ==> guard n < K end y: action J:[b] ==> guard n >= K end",
    "orders of two variables": """int m := 0;
        x: action I:[a] ==> guard n < m end y: action J:[b] ==> guard not (n < m) end""",
    "orders turned around": "int m := 0; x: action I:[a] ==> guard n < m end y: action J:[b] ==> guard m <= n end",
    "the same token by other names": """x: action I:[a, aa] ==> guard a = 1 end
        y: action I:[c], J:[d] ==> guard c != 1 end""",
    "a token of a list": """x: action I:[a] repeat 2 ==> guard a[1] = 1, a[0] = 2 end
        y: action I:[c], J:[d] ==> guard c = 3 end""",
    "a function of state": """function f (int k) --> bool : n = k end
        x: action I:[a] ==> guard f(2) end y: action J:[c] ==> guard not f(2) end""",
    "a function and what it says": """function f () --> bool : n < 3 and b end
        x: action I:[a] ==> guard f() do n := a; b := a = 2; end y: action J:[c] ==> guard n >= 3 end""",
    "a function of functions": """function f () --> bool : not g() end function g () --> bool : n = 2 or b end
        x: action I:[a] ==> guard f() do n := a; b := a = 2; end y: action J:[c] ==> guard b end""",
    "a function with many cases and its opposite": """int m := 0; function f () --> bool :
            (n = 1 or n = 2 or n = 3) and (m = 1 or m = 2 or m = 3) and (n != m or n > 7 or m > 8) end
        x: action I:[a] ==> guard f() do n := a; m := n; end y: action J:[c] ==> guard not f() end""",
    "alternatives": """x: action I:[a] ==> guard n = 1 or n = 2 end
        y: action J:[c] ==> guard n != 1 and n != 2 end""",
    "a narrow range": """x: action I:[a] ==> guard n > 1, n < 4 end
        y: action J:[c] ==> guard n != 2, n != 3 end""",
    "states": "x: action I:[a] ==> end y: action J:[c] ==> end schedule fsm s : s (x) --> t; t (y) --> s; end",
    "an input that is not connected": "x: action J:[a] ==> end y: action I:[b] ==> end",
    "room that is awaited": "x: action I:[a] ==> O:[a] guard a > 1 end y: action I:[a] ==> end",
    "room with nothing else to do": "@schedule_outputs x: action I:[a] ==> O:[a] end",
    "a native of its own": """@native procedure source_init () end @native function source_readByte () --> int end
        x: action I:[a] ==> O:[source_readByte()] end""",
    "an error that ends the run": """@native procedure report_fail (String m, String a) end
        procedure refuse (int k) begin if k > 1 then report_fail("a", "b"); else report_fail("c", "d"); end end
        action I:[a] ==> do refuse(a); end x: action J:[c] ==> O:[c] end""",
}
DEPENDENT = {
    "a merger": (
        "x: action I:[a] ==> end y: action J:[c] ==> end",
        ["'a': 'y' may fire while 'x', which is tried first, waits for tokens on 'I'"],
    ),
    "more tokens of one input": (
        "x: action I:[a, c] ==> end y: action I:[a] ==> end",
        ["'a': 'y' may fire while 'x', which is tried first, waits for tokens on 'I'"],
    ),
    "guards that may both hold": (
        "x: action I:[a] ==> guard n < 3 do n := a; end y: action J:[c] ==> guard n > 1 end",
        ["'a': 'y' may fire while 'x', which is tried first, waits for tokens on 'I'"],
    ),
    "a function that may be true beside": (
        """function f () --> bool : n < 3 or b end
        x: action I:[a] ==> guard f() do n := a; b := a = 2; end y: action J:[c] ==> guard n >= 3 end""",
        ["'a': 'y' may fire while 'x', which is tried first, waits for tokens on 'I'"],
    ),
    "a variable of a function that is named as a token": (
        """int k := 0; function f () --> bool : k = 1 end
        x: action I:[a] ==> guard f() do k := a; end y: action J:[k] ==> guard k != 1 end""",
        ["'a': 'y' may fire while 'x', which is tried first, waits for tokens on 'I'"],
    ),
    "other tokens": (
        "x: action I:[a] ==> guard a = 1 end y: action J:[c] ==> guard c != 1 end",
        ["'a': 'y' may fire while 'x', which is tried first, waits for tokens on 'I'"],
    ),
    "other places of one input": (
        "x: action I:[a, c] ==> guard c = 1 end y: action I:[c] ==> guard c != 1 end",
        ["'a': 'y' may fire while 'x', which is tried first, waits for tokens on 'I'"],
    ),
    "an element beyond a short list": (
        "x: action I:[a] repeat 2 ==> guard a[2] = 1 end y: action I:[c] ==> guard c = 0 end",
        ["'a': 'y' may fire while 'x', which is tried first, waits for tokens on 'I'"],
    ),
    "a constant that is none": (
        "int k := 1; x: action I:[a] ==> guard n = k do k := 2; end y: action J:[c] ==> guard n != 1 end",
        ["'a': 'y' may fire while 'x', which is tried first, waits for tokens on 'I'"],
    ),
    "idling": (
        "x: action I:[a] ==> end y: action ==> guard n < 9 do n := n + 1; end",
        ["'a': 'y' may fire while 'x', which is tried first, waits for tokens on 'I'"],
    ),
    "no number": (
        "float f := 0.0; x: action I:[a] ==> guard not (f < 1.0) end y: action J:[c] ==> guard not (f >= 1.0) end",
        ["'a': 'y' may fire while 'x', which is tried first, waits for tokens on 'I'"],
    ),
    "a native in a guard": (
        """@native function source_readByte () --> int end
        x: action I:[a] ==> guard source_readByte() = 0 end y: action I:[a] ==> end""",
        ["'a': the guard of 'x' calls 'source_readByte', whose value may change"],
    ),
    "a native of unknown effect": (
        "@native function odd () --> int end x: action I:[a] ==> O:[odd()] end",
        ["'a': what the native 'odd' does is not known"],
    ),
    "the end of the program": (
        "@native procedure Writer_close () end x: action I:[a] ==> do Writer_close(); end",
        ["'a': 'Writer_close' ends the program, wherever the other actors are"],
    ),
    "an error that does not always end the run": (
        """@native procedure report_fail (String m, String a) end
        action I:[a] ==> do if a > 3 then report_fail("a", "b"); end end x: action J:[c] ==> O:[c] end""",
        ["'a': 'x' may fire while 'untagged_0', which is tried first, waits for tokens on 'I'"],
    ),
}


@pytest.mark.parametrize("name", INDEPENDENT)
def test_choices_that_wait_do_not_depend_on_time(name: str, tmp_path: Path) -> None:
    wires = "f=F a=A f.O->a.I" if "not connected" in name else WIRES
    assert found(tmp_path, INDEPENDENT[name], wires) == []


@pytest.mark.parametrize("name", DEPENDENT)
def test_choices_by_absence_are_told_with_their_actions(name: str, tmp_path: Path) -> None:
    body, expected = DEPENDENT[name]
    assert found(tmp_path, body) == expected


def test_lack_of_room_that_is_passed_over_is_told_only_where_somebody_reads(tmp_path: Path) -> None:
    body = "@schedule_outputs x: action I:[a] ==> O:[a] end y: action I:[a] ==> end"
    sink = "actor S () int I ==> : action I:[a] ==> end end"
    assert found(tmp_path, body) == []
    text = f"actor A () int I, int J ==> int O : {body} end"
    network = network_of(tmp_path, (FEED, text, sink), f"{WIRES} s=S a.O->s.I")
    assert [str(f) for f in find_time_dependence(network, native_effects())] == [
        "'a': 'y' may fire while 'x', which is tried first, waits for room on 'O'"
    ]


def test_actors_that_read_one_file_depend_on_each_other(tmp_path: Path) -> None:
    reader = "@native function source_readByte () --> uint(size=8) end action ==> O:[source_readByte()] guard false end"
    actors = tuple(f"actor {name} () ==> int O : {reader} end" for name in "AB")
    network = network_of(tmp_path, actors, "a=A b=B")
    assert [str(f) for f in find_time_dependence(network, native_effects())] == [
        "'a': 'source_readByte' shares something with natives of 'b'",
        "'b': 'source_readByte' shares something with natives of 'a'",
    ]


def test_a_native_that_the_user_binds_is_unknown(tmp_path: Path) -> None:
    native = "@native function source_readByte () --> int end"
    text = f"actor A () ==> int O : {native} action ==> O:[source_readByte()] end end"
    network = network_of(tmp_path, (text,), "a=A")
    assert find_time_dependence(network, native_effects()) == ()
    bound = find_time_dependence(network, native_effects(["A.source_readByte"]))
    assert [f.cause for f in bound] == ["unknown"]


@pytest.mark.parametrize("name", ["jpeg", "matrix", "pingpong"])
def test_own_applications_do_not_depend_on_time(name: str) -> None:
    assert find_time_dependence(load_network(str(ACTORS / name / f"{name}.xdf")).network, native_effects()) == ()


def test_the_public_jpeg_decoder_does_not_but_a_merging_one_does() -> None:
    try:
        root = corpus()
    except Missing as missing:
        pytest.skip(str(missing))
    decoder = load_network(str(root / "JPEG/src/jpeg/decoder/Top_Decoder.xdf")).network
    assert find_time_dependence(decoder, native_effects()) == ()
    other = load_network(str(root / "RVC/src/org/sc29/wg11/mpeg4/part2/sp/Top_mpeg4_part2_SP_decoder.xdf")).network
    # In another order of actors these four, and the display by its guard, do choose otherwise.
    names = {f.actor for f in find_time_dependence(other, native_effects())}
    wanted = {f"decoder/motion_{c}/FrameBuff" for c in "YUV"} | {"decoder/parser/parseheaders", "display"}
    assert wanted <= names


@pytest.mark.parametrize("seed", [*range(0, 60, 3), *seldom(*range(60, 120, 3))])
def test_networks_that_were_made_without_dependence_by_equal_needs_have_none(seed: int, tmp_path: Path) -> None:
    network = load_network(str(random_network(seed, timed=False).write(tmp_path))).network
    assert find_time_dependence(network, native_effects()) == ()


def test_every_native_of_a_program_has_known_effects(tmp_path: Path) -> None:
    options = RunOptions()
    access = FileAccess(options, tmp_path, tmp_path / "files")
    context = NativeContext(options, lambda _text: None, access, Screen(options))
    families = [source.natives, writer.natives, display.natives, files.compare, signals.digital_filtering, _simulation]
    by_unit = {
        "common_tx.x": signals.zigbee,
        "common_dpd.x": signals.predistortion,
        "system.io.AccessFile": files.access_file,
        "system.io.Console": files.console,
        "intf.channel.x": files.channel,
    }
    named = [("unit", name) for family in families for name in family(context)]
    named += [(unit, name) for unit, family in by_unit.items() for name in family(context)]
    effects = native_effects()

    unknown = [(unit, name) for unit, name in named if effects(Native(name, name, unit, (), None)) is None]
    assert unknown == []
