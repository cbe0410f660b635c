"""What a run that got stuck tells: the least capacity with which the blocked action could fire, tried on both sides."""

from pathlib import Path

import pytest

from dse.run.execution import RunResult, run_network
from dse.run.options import RunOptions
from tests.unit.run.programs import counts, network_of

READER = """actor J () int I, int K ==> : int n := 0;
    head: action K:[k] ==> guard n = 0 do n := 1; end
    rest: action I:[x] repeat {rate} ==> guard n = 1 end
    priority head > rest; end end"""


def writer(burst: int, rate: int) -> str:
    """Writes ``burst`` times ``rate`` tokens to O, then the one on P that the reader wants first."""
    return f"""actor S () ==> int O, int P : int n := 0;
        all: action ==> O:[l] repeat {rate} guard n < {burst} var int l[{rate}] do n := n + 1; end
        last: action ==> P:[n] guard n = {burst} do n := n + 1; end end"""


def stuck(folder: Path, texts: tuple[str, ...], wiring: str) -> tuple[RunResult, int]:
    """The result, and how often s fired its first action."""
    network = network_of(folder, texts, wiring)
    result = run_network(network, RunOptions(fifo_tokens=1))
    return result, counts(network, result).get("s", {}).get("all", 0)


@pytest.mark.parametrize(("rate", "size"), [(1, 1), (1, 4), (3, 3), (3, 5), (3, 8), (4, 4)])
@pytest.mark.parametrize("read", [1, 2])
def test_the_capacity_that_is_told_is_the_least_that_helps(tmp_path: Path, rate: int, size: int, read: int) -> None:
    """A FIFO holds whole bursts only; it has room for one firing of its writer and of its reader at least."""
    capacity = max(size, rate, read)
    left = capacity // rate * rate
    texts = (writer(9, rate), READER.format(rate=read))
    result, before = stuck(tmp_path, texts, f"s=S j=J s.O->j.I:{size} s.P->j.K")
    assert result.deadlock is not None
    told = result.deadlock
    assert (told.fifo, told.capacity_tokens, told.needed_tokens) == ("s.O->j.I", capacity, left + rate)
    assert before == left // rate
    (room,) = [w for w in result.waits if w.kind == "room"]
    assert (room.actor, room.port, room.have, room.need, room.peers) == ("s", "O", capacity - left, rate, ("j",))
    for tokens, fired in ((told.needed_tokens - 1, before), (told.needed_tokens, before + 1)):
        if tokens >= capacity:
            assert stuck(tmp_path, texts, f"s=S j=J s.O->j.I:{tokens} s.P->j.K")[1] == fired
    whole, _ = stuck(tmp_path, texts, f"s=S j=J s.O->j.I:{9 * rate} s.P->j.K")
    assert whole.deadlock is None


@pytest.mark.parametrize("order", ["s.O->q.I:20 s.O->j.I:5", "s.O->j.I:5 s.O->q.I:20"])
def test_of_several_readers_the_full_one_is_told(tmp_path: Path, order: str) -> None:
    """q takes all it gets; j, which waits for P, has room for 5."""
    quick = "actor Q () int I ==> : action I:[x] ==> end end"
    texts = (writer(9, 2), READER.format(rate=1), quick)
    result, before = stuck(tmp_path, texts, f"s=S q=Q j=J {order} s.P->j.K")
    assert before == 2
    assert result.deadlock is not None
    assert result.deadlock.actors == ("j", "s")
    assert (result.deadlock.fifo, result.deadlock.capacity_tokens) == ("s.O->j.I", 5)
    assert result.deadlock.needed_tokens == 4 + 2
    (room,) = [w for w in result.waits if w.kind == "room"]
    assert (room.have, room.peers) == (1, ("j",))
    assert stuck(tmp_path, texts, f"s=S q=Q j=J {order.replace(':5', ':6')} s.P->j.K")[1] == 3


def test_both_full_readers_are_named_and_the_deadlock_is_that_of_the_one_in_the_cycle(tmp_path: Path) -> None:
    """z never reads; only the wait of s for j, which waits for s, is a deadlock."""
    lazy = "actor Z () int I ==> : int n := 0; action I:[x] ==> guard n = 1 end end"
    texts = (writer(9, 2), READER.format(rate=1), lazy)
    result, before = stuck(tmp_path, texts, "s=S z=Z j=J s.O->z.I:7 s.O->j.I:6 s.P->j.K")
    assert before == 3
    (room,) = [w for w in result.waits if w.kind == "room"]
    assert (room.have, room.need, room.peers) == (0, 2, ("z", "j"))
    assert result.deadlock is not None
    assert (result.deadlock.fifo, result.deadlock.needed_tokens) == ("s.O->j.I", 8)


def test_a_cycle_of_tokens_alone_is_no_lack_of_room(tmp_path: Path) -> None:
    """Two actors that wait for each other's tokens: no capacity helps, so none is told."""
    pair = "actor P () int I ==> int O : action I:[x] ==> O:[x] end end"
    network = network_of(tmp_path, (pair,), "a=P b=P a.O->b.I b.O->a.I")
    result = run_network(network, RunOptions(fifo_tokens=1))
    assert (result.why, result.deadlock) == ("quiescent", None)
    assert {(w.actor, w.kind, w.peers) for w in result.waits} == {("a", "tokens", ("b",)), ("b", "tokens", ("a",))}


def test_a_long_cycle_is_told_from_the_reader_back_to_the_writer(tmp_path: Path) -> None:
    """s waits for room at m, m for room at j, j for the token that s writes last."""
    middle = "actor M () int I ==> int O : action I:[x] ==> O:[x] end end"
    texts = (writer(9, 1), READER.format(rate=1), middle)
    result, before = stuck(tmp_path, texts, "s=S m=M j=J s.O->m.I:2 m.O->j.I:3 s.P->j.K")
    assert before == 2 + 3
    assert result.deadlock is not None
    assert result.deadlock.actors == ("m", "j", "s")
    assert (result.deadlock.fifo, result.deadlock.needed_tokens) == ("s.O->m.I", 3)


def test_an_action_with_just_enough_room_waits_for_nothing(tmp_path: Path) -> None:
    """After one pair there is room for one: the pairs wait for more, the single ones only for the pairs."""
    source = """actor S () ==> int O : pair: action ==> O:[1, 2] end one: action ==> O:[3] end
        priority pair > one; end end"""
    lazy = "actor Z () int I ==> : int n := 0; action I:[x] ==> guard n = 1 end end"
    result = run_network(network_of(tmp_path, (source, lazy), "s=S z=Z s.O->z.I:3"), RunOptions(fifo_tokens=1))
    assert [(w.action, w.kind, w.have, w.need) for w in result.waits if w.actor == "s"] == [("pair", "room", 1, 2)]


def test_what_a_guard_waits_for_is_asked_of_tokens_as_the_input_takes_them(tmp_path: Path) -> None:
    source = "actor S () ==> int(size=8) O : initialize ==> O:[-1] end end"
    reader = "actor J () uint(size=8) I ==> : action I:[x] ==> guard x < 2 end end"
    result = run_network(network_of(tmp_path, (source, reader), "s=S j=J s.O->j.I"), RunOptions())
    assert [str(w) for w in result.waits] == ["j: the guard of untagged_0 is false"]


@pytest.mark.parametrize("guard", ["total([1, 2]) < x", "#(if x = 0 then [1, 2] else [3, 4] end) < x"])
def test_a_guard_with_a_list_of_constants_is_asked_at_the_end(tmp_path: Path, guard: str) -> None:
    writer = "actor S () ==> int O : int n := 0; action ==> O:[n] guard n < 1 do n := n + 1; end end"
    function = "function total (List(type: int, size=2) l) --> int : l[0] + l[1] end"
    reader = f"actor J () int I ==> : {function} action I:[x] ==> guard {guard} end end"
    result, _ = stuck(tmp_path, (writer, reader), "s=S j=J s.O->j.I")
    assert "j: the guard of untagged_0 is false" in [str(w) for w in result.waits]


def test_what_is_asked_of_guards_at_the_end_counts_as_no_access(tmp_path: Path) -> None:
    source = "actor S () ==> int O : initialize ==> O:[5] end end"
    reader = "actor J () int I ==> : int l[2]; action I:[x] ==> guard l[x] = 1 do l[0] := 0; end end"
    result = run_network(network_of(tmp_path, (source, reader), "s=S j=J s.O->j.I"), RunOptions())
    assert [w.message for w in result.warnings] == [
        "'l' was accessed out of bounds 1 times; reads gave 0, writes were dropped"
    ]
