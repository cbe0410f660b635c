"""Networks that never end: where they stop, what of their trace counts, interrupts, and the memory that they get."""

import signal
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from dse.base.errors import ExecutionError
from dse.model.trace import Trace
from dse.run.execution import RunResult, run_network
from dse.run.options import RunOptions
from dse.run.record import without_tail
from tests.unit.run.programs import SINK, network_of, run_program

COUNTER = """actor S () ==> int O : int n := 0;
    send: action ==> O:[n] guard n < 3 do n := n + 1; end
    idle: action ==> guard n >= 3 do n := 4; end
    priority send > idle; end end"""
LAZY = """actor L () int I ==> : int n := 0; wait: action ==> guard n < 50 do n := n + 1; end
    take: action I:[x] ==> end
    idle: action ==> end
    priority wait > take > idle; end end"""


def firings(trace: Trace) -> list[list[str]]:
    """Return the names of the actions that fired, by actor."""
    return [
        [actor.actions[k].name for k in ids] for actor, ids in zip(trace.topology.actors, trace.firings, strict=True)
    ]


def endless(folder: Path, actors: tuple[str, ...], wiring: str, **options: int) -> RunResult:
    return run_program(folder, actors, wiring, RunOptions(**{"idle_firings": 20_000, **options}))  # type: ignore[arg-type]


def test_firings_after_the_last_token_are_left_out_of_what_is_estimated(tmp_path: Path) -> None:
    result = endless(tmp_path, (COUNTER, SINK), "s=S k=Sink s.O->k.I")
    assert result.why == "livelock"
    assert result.n_firings > 20_000
    assert result.trace.n_firings == result.n_firings, "the run itself is told in full"
    sent, taken = firings(result.settled_trace)
    assert taken == ["untagged_0"] * 3
    # The reader comes after the writer in a round: what the writer did before is before the last token was read.
    assert sent == ["send"] * 3 + ["idle"] * 4093
    assert sum(result.idle_tail) == result.n_firings - 4096 - 3


def test_the_tail_begins_exactly_after_the_last_firing_that_moved_a_token(tmp_path: Path) -> None:
    result = endless(tmp_path, (COUNTER, LAZY), "l=L s=S s.O->l.I")
    taken, sent = firings(result.settled_trace)
    assert sent == ["send"] * 3 + ["idle"] * 4093
    last = max(k for k, name in enumerate(taken) if name == "take")
    assert taken[last + 1 :] == [], "after the last read there is nothing"
    assert taken.count("take") == 3
    assert taken[:50] == ["wait"] * 50, "what fires before it without a token stays"


def test_idle_rounds_before_the_last_token_are_no_tail(tmp_path: Path) -> None:
    late = """actor S () ==> int O : int n := 0; count: action ==> guard n < 10000 do n := n + 1; end
        send: action ==> O:[n] guard n = 10000 do n := n + 1; end end"""
    busy = "actor Z () ==> : idle: action ==> end end"
    result = endless(tmp_path, (busy, SINK, late), "a=Z s=S k=Sink z=Z s.O->k.I", idle_firings=100_000)
    before, sent, taken, after = firings(result.settled_trace)
    assert (sent.count("send"), len(taken)) == (1, 1)
    # Rounds of 4,096 firings: the token is sent and read in the third, after the turn of the first actor in it.
    assert (len(before), len(sent), len(after)) == (3 * 4096, 10_001, 2 * 4096)


def test_a_write_to_nobody_moves_no_token(tmp_path: Path) -> None:
    text = """actor W () int I ==> int O : take: action I:[x] ==> end
        shout: action ==> O:[1] end
        priority take > shout; end end"""
    source = "actor S () ==> int O : int n := 0; action ==> O:[n] guard n < 2 do n := n + 1; end end"
    result = endless(tmp_path, (source, text), "s=S w=W s.O->w.I", max_firings=50_000)
    assert result.why == "livelock"
    assert firings(result.settled_trace)[1] == ["take", "take"]


def test_initializers_stay_and_without_any_token_nothing_is_a_tail(tmp_path: Path) -> None:
    first = "actor I () ==> int O : initialize ==> O:[7] end idle: action ==> end end"
    result = endless(tmp_path, (first, SINK), "i=I k=Sink i.O->k.I")
    assert firings(result.settled_trace)[0][:1] == ["initialize"]
    assert firings(result.settled_trace)[1] == ["untagged_0"]
    alone = endless(tmp_path, ("actor A () ==> : idle: action ==> end end",), "a=A")
    assert (alone.why, any(alone.idle_tail)) == ("livelock", False)
    assert alone.settled_trace is alone.trace


def test_a_run_that_comes_to_rest_has_no_tail(tmp_path: Path) -> None:
    source = "actor S () ==> int O : int n := 0; action ==> O:[n] guard n < 2 do n := n + 1; end end"
    result = run_program(tmp_path, (source, SINK), "s=S k=Sink s.O->k.I")
    assert (result.why, result.idle_tail, result.settled_trace.digest) == ("quiescent", (), result.trace.digest)


def test_accesses_are_cut_with_their_firings(tmp_path: Path) -> None:
    options = RunOptions(idle_firings=20_000, record_accesses=True)
    result = run_program(tmp_path, (COUNTER, SINK), "s=S k=Sink s.O->k.I", options)
    for ids, table in zip(result.settled_trace.firings, result.settled_trace.accesses, strict=True):
        assert len(table.ids) == len(ids)
    shorter = without_tail(result.trace, (result.trace.n_firings - 6, 0))
    assert len(shorter.firings[0]) == 3
    assert shorter.digest != result.trace.digest


def test_firings_that_only_a_native_lets_happen_count_for_the_end(tmp_path: Path) -> None:
    text = """actor L () ==> : @native function writer_getStop() --> bool end
        @native procedure writer_setStop(bool x) end
        bool asked := false;
        go: action ==> guard writer_getStop() do writer_setStop(false); end
        ask: action ==> guard not asked do asked := true; writer_setStop(true); end end"""
    again = """actor M () ==> : @native function writer_getStop() --> bool end
        @native procedure writer_setStop(bool x) end
        set: action ==> guard not writer_getStop() do writer_setStop(true); end end"""
    result = endless(tmp_path, (text, again), "l=L m=M")
    assert result.why == "livelock"
    limited = endless(tmp_path, (text, again), "l=L m=M", max_firings=1_000)
    assert (limited.why, limited.n_firings <= 1_001) == ("budget", True)


def test_closing_the_last_writer_ends_an_endless_program(tmp_path: Path) -> None:
    source = "actor S () ==> int O : int n := 0; action ==> O:[n] do n := n + 1; end end"
    writer = """actor W () int I ==> : @native procedure Writer_init() end
        @native procedure Writer_write(uint(size=8) b) end
        @native procedure Writer_close() end int n := 0; initialize ==> do Writer_init(); end
        put: action I:[x] ==> guard n < 4 do Writer_write(x); n := n + 1; end
        close: action ==> guard n = 4 do Writer_close(); end end"""
    options = RunOptions(output=str(tmp_path / "out"), max_firings=100_000)
    result = run_program(tmp_path, (source, writer), "s=S w=W s.O->w.I", options)
    assert (result.why, result.exit_code, (tmp_path / "out").read_bytes()) == ("exit", 0, bytes((1, 2, 3, 4)))


@pytest.mark.parametrize(
    ("text", "place"),
    [
        ('actor A () ==> : String s := "ab"; go: action ==> do s := s + s; end end', "in 'a', go"),
        ("actor A () ==> : go: action ==> var int x[300000000] do x[0] := 1; end end", "in 'a', go"),
        ("actor A () ==> : int x[300000000]; go: action ==> do x[0] := 1; end end", "initial values of 'a'"),
    ],
)
def test_memory_has_a_bound_and_the_actor_is_named(text: str, place: str, tmp_path: Path) -> None:
    pytest.importorskip("resource")
    with pytest.raises(ExecutionError, match=place) as caught:
        run_program(tmp_path, (text,), "a=A", RunOptions(max_memory_bytes=64 << 20))
    (found,) = caught.value.diagnostics
    assert "memory" in found.message
    assert "--max-memory SIZE" in found.expected
    assert found.span.line == 1
    fine = np.zeros(100 << 20, dtype=np.uint8)  # the wall is gone with the run
    assert not fine.any()


def test_what_is_printed_and_what_waits_in_fifos_count_as_memory(tmp_path: Path) -> None:
    pytest.importorskip("resource")
    text = """actor A () ==> String O : String s := ""; int n := 0;
        fill: action ==> guard n < 100000 do s := s + "0123456789"; n := n + 1; end
        send: action ==> O:[s + "x"] end
        priority fill > send; end end"""
    keep = "actor K () String I ==> : action I:[x] ==> guard false end end"
    with pytest.raises(ExecutionError, match=r"in 'a', send: the run needs more memory than the 64 MiB"):
        run_program(tmp_path, (text, keep), "a=A k=K a.O->k.I:100000", RunOptions(max_memory_bytes=64 << 20))


def test_an_interrupted_run_says_where_it_was(tmp_path: Path) -> None:
    text = """actor A () ==> : @native procedure wait_for_it() end int n := 0;
        quick: action ==> guard n < 5 do n := n + 1; end
        stuck: action ==> guard n >= 5 do wait_for_it(); end end"""
    for error in (KeyboardInterrupt, SystemExit, Alarm):
        told = SimpleNamespace(error=error)
        network = network_of(tmp_path, (text,), "a=A")
        options = RunOptions(natives=(("A.wait_for_it", f"{__name__}:interrupt"),))
        CHOSEN.append(told.error)
        with pytest.raises(error) as caught:
            run_network(network, options)
        assert caught.value.__notes__ == ["the run was in 'a', stuck, after 5 firings"]


def test_an_action_that_never_ends_can_be_interrupted(tmp_path: Path) -> None:
    text = """actor A () ==> : int n := 0; first: action ==> guard n < 1 do n := n + 1; end
        stuck: action ==> guard n = 1 do while n > 0 do n := 1; end end end"""
    network = network_of(tmp_path, (text,), "a=A")

    def ring(*_: object) -> None:
        raise Alarm

    before = signal.signal(signal.SIGALRM, ring)
    signal.setitimer(signal.ITIMER_REAL, 0.5)
    try:
        with pytest.raises(Alarm) as caught:
            run_network(network, RunOptions())
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
    assert caught.value.__notes__ == ["the run was in 'a', stuck, after 1 firings"]


def test_an_interrupt_between_two_actors_says_how_far_the_run_was(tmp_path: Path) -> None:
    network = network_of(tmp_path, ("actor A () ==> : idle: action ==> end end",), "a=A")

    def stop(firings: int) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt) as caught:
        run_network(network, RunOptions(), progress=stop)
    assert caught.value.__notes__ == ["the run had made 4,096 firings"]


class Alarm(BaseException):
    """What a time limit raises."""


CHOSEN: list[type[BaseException]] = []


def interrupt() -> None:
    """A native in which the run is interrupted."""
    raise CHOSEN[-1]


def test_the_progress_of_a_run_is_told_while_it_goes_on(tmp_path: Path) -> None:
    told: list[int] = []
    network = network_of(tmp_path, ("actor A () ==> : idle: action ==> end end",), "a=A")
    run_network(network, RunOptions(max_firings=100_000), progress=told.append)
    assert told == sorted(told)
    assert len(told) >= 10
    assert told[0] < 10_000
