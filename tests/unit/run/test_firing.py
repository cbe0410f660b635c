"""When actions fire: selection, guards, FSM, blocking, ports, initialisers, stop rules (cal.md 2.3)."""

from pathlib import Path

import pytest

from dse.base.errors import ExecutionError, OptionError
from dse.run.execution import run_network
from dse.run.options import RunOptions
from tests.unit.run.programs import SINK, counts, network_of, run_program

SOURCE = "actor S () ==> int O : int n := 0; action ==> O:[n - 1] guard n < 6 do n := n + 1; end end"


def test_untagged_actions_come_first_then_priorities_then_document_order(tmp_path: Path) -> None:
    text = """actor A () ==> : int n := 0; int m := 0;
        c: action ==> guard n < 4 do print("c"); n := n + 1; end
        b: action ==> guard n < 2 do print("b"); n := n + 1; end
        a: action ==> guard n < 1 do print("a"); n := n + 1; end
        action ==> guard m < 2 do print("u"); m := m + 1; end
        priority a > b; b > c; end end"""
    assert run_program(tmp_path, (text,), "a=A").stdout == "uuabcc"


def test_an_initializer_may_write_to_an_own_input_that_no_action_reads(tmp_path: Path) -> None:
    text = "actor A () int I, int J ==> int O : initialize ==> O:[7] end action I:[x], J:[y] ==> O:[x] end end"
    result = run_program(tmp_path, (text,), "a=A a.O->a.I")
    assert (result.n_firings, result.tokens_left) == (1, 1)


def test_a_priority_tag_matches_all_actions_with_the_prefix(tmp_path: Path) -> None:
    text = """actor A () ==> : int n := 0;
        z: action ==> guard n < 5 do print("z"); n := n + 1; end
        x.one: action ==> guard n = 1 do print("1"); n := n + 1; end
        x.two: action ==> guard n = 3 do print("2"); n := n + 1; end
        priority x > z; end end"""
    assert run_program(tmp_path, (text,), "a=A").stdout == "z1z2z"


def test_fsm_prefix_tags_untagged_actions_and_dead_ones(tmp_path: Path) -> None:
    text = """actor A () ==> : int n := 0; int m := 0;
        action ==> guard m < 2 do print("u"); m := m + 1; end
        go.a: action ==> guard n mod 2 = 0 do print("a"); n := n + 1; end
        go.b: action ==> guard n mod 2 = 1 do print("b"); n := n + 1; end
        back: action ==> guard n < 5 do print("-"); m := 1; end
        dead: action ==> do print("never"); end
        schedule fsm one : one (go) --> two; two (back) --> one; end end"""
    assert run_program(tmp_path, (text,), "a=A").stdout == "uua-ub-ua-ub-ua"


def test_an_action_in_many_states_is_the_same_action(tmp_path: Path) -> None:
    body = " ".join(f'print("{k}");' for k in range(30))
    states = "\n".join(f"s{k} (long) --> s{(k + 1) % 9}; s{k} (skip) --> s{(k + 1) % 9};" for k in range(9))
    text = f"""actor A () ==> int O : int n := 0;
        long: action ==> O:[n] guard n mod 2 = 0, n < 9 do n := n + 1; {body} end
        skip: action ==> guard n mod 2 = 1 do n := n + 1; end
        schedule fsm s0 : {states} end end"""
    network = network_of(tmp_path, (text,), "a=A")
    result = run_network(network, RunOptions())
    assert counts(network, result) == {"a": {"long": 5, "skip": 5}}
    assert result.stdout == "".join(map(str, range(30))) * 5


def test_guards_peek_scalars_and_lists_without_reading(tmp_path: Path) -> None:
    filter_ = """actor F () int I ==> int(size=64) O :
        pair: action I:[l] repeat 2 ==> O:[l[0] + l[1]] guard l[0] mod 4 = 0, l[1] > 0 end
        odd: action I:[x] ==> O:[-x] guard x mod 2 = 1 end
        even: action I:[x] ==> O:[x] end
        priority pair > odd > even; end end"""
    result = run_program(tmp_path, (SOURCE, filter_, SINK), "s=S f=F k=Sink s.O->f.I f.O->k.I")
    assert result.stdout.split() == ["1", "2", "-3", "9"]


def test_several_names_with_repeat_interleave(tmp_path: Path) -> None:
    split = """actor P () int I ==> int(size=64) O, int(size=64) Q :
        action I:[a, b] repeat 3 ==> O:[a], Q:[b, a] repeat 3 end end"""
    split = split.replace("O:[a]", "O:[a[2]]")
    result = run_program(tmp_path, (SOURCE, split, SINK), "s=S p=P k=Sink q=Sink s.O->p.I p.O->k.I p.Q->q.I")
    assert result.stdout.split() == ["4", "1", "0", "3", "2", "5", "4"]


def test_a_selected_action_without_room_blocks_lower_ones(tmp_path: Path) -> None:
    def run(annotation: str) -> dict[str, dict[str, int]]:
        text = f"""actor A () ==> int O : int n := 0; int m := 0;
            {annotation} w: action ==> O:[n] guard n < 9 do n := n + 1; end
            l: action ==> guard m < 3 do m := m + 1; end
            priority w > l; end end"""
        stop = "actor T () int I ==> : int n := 0; action I:[x] ==> guard n < 2 do n := n + 1; end end"
        network = network_of(tmp_path, (text, stop), "a=A t=T a.O->t.I")
        return counts(network, run_network(network, RunOptions(fifo_tokens=4)))

    assert run("") == {"a": {"w": 6}, "t": {"untagged_0": 2}}
    assert run("@schedule_outputs") == {"a": {"w": 6, "l": 3}, "t": {"untagged_0": 2}}


def test_initialize_runs_once_before_everything_and_may_write(tmp_path: Path) -> None:
    text = """actor A () int I ==> int(size=64) O :
        initialize ==> O:[7, 8] do println("init"); end
        action I:[x] ==> O:[x + 1] guard x < 10 do println("act"); end end"""
    network = network_of(tmp_path, (text, SINK), "a=A k=Sink a.O->a.I a.O->k.I")
    result = run_network(network, RunOptions())
    assert result.stdout.split()[:2] == ["init", "act"]
    assert sorted(result.stdout.split()[1:]) == sorted(["act"] * 5 + ["7", "8", "8", "9", "9", "10", "10"])
    assert counts(network, result)["a"] == {"untagged_0": 5, "initialize": 1}


def test_unconnected_inputs_never_fire_and_unconnected_outputs_discard(tmp_path: Path) -> None:
    text = """actor A () int I, int J ==> int(size=64) O, int X :
        j: action J:[x] ==> O:[x] end
        i: action I:[x] ==> O:[x], X:[x, x, x] end
        priority j > i; end end"""
    result = run_program(tmp_path, (SOURCE, text, SINK), "s=S a=A k=Sink s.O->a.I a.O->k.I", RunOptions(fifo_tokens=2))
    assert result.stdout.split() == ["0", "1", "2", "3", "4", "5"]


def test_fan_out_gives_every_reader_every_token(tmp_path: Path) -> None:
    count = "actor C () int I ==> : int s := 0; action I:[x] ==> do s := s + x; if s = 15 then println(s); end end end"
    network = network_of(tmp_path, (SOURCE, count), "s=S a=C b=C c=C s.O->a.I s.O->b.I:1 s.O->c.I:9")
    result = run_network(network, RunOptions(fifo_tokens=1, hash_channels=True))
    assert result.stdout.split() == ["15"] * 3
    assert [(c.tokens, c.left) for c in result.channels] == [(6, 0)] * 3
    assert len({c.digest for c in result.channels}) == 1


def test_many_tokens_pass_and_are_forgotten(tmp_path: Path) -> None:
    source = "actor S () ==> int O : int n := 0; action ==> O:[n] guard n < 30000 do n := n + 1; end end"
    pair = "actor P () int I, int J ==> : int s := 0; action I:[x], J:[y] ==> do if x != y then println(x); end end end"
    network = network_of(tmp_path, (source, pair), "s=S p=P s.O->p.I s.O->p.J")
    result = run_network(network, RunOptions(hash_channels=True))
    small = run_network(network, RunOptions(hash_channels=True, fifo_tokens=1))
    assert result.stdout == ""
    assert [c.tokens for c in result.channels] == [30000, 30000]
    assert [c.digest for c in result.channels] == [c.digest for c in small.channels]
    assert result.trace.digest == small.trace.digest


def test_the_capacity_follows_the_largest_rate(tmp_path: Path) -> None:
    source = """actor S () ==> int O : int n := 0;
        action ==> O:[l] repeat 700 guard n < 2 var int l[700] do n := n + 1; end end"""
    sink = "actor T () int I ==> : action I:[x] repeat 1400 ==> do println(1); end end"
    assert run_program(tmp_path, (source, sink), "s=S t=T s.O->t.I").stdout == "1\n"


def test_an_endless_idle_actor_ends_the_run_but_not_the_others(tmp_path: Path) -> None:
    idle = "actor I () ==> : bool b := false; action ==> do b := not b; end end"
    network = network_of(tmp_path, (idle, SOURCE, SINK), "i=I s=S k=Sink s.O->k.I")
    result = run_network(network, RunOptions(idle_firings=5000))
    assert result.why == "livelock"
    assert result.stdout.split() == ["0", "1", "2", "3", "4", "5"]


def test_the_firing_budget_is_exact(tmp_path: Path) -> None:
    network = network_of(tmp_path, (SOURCE, SINK), "s=S k=Sink s.O->k.I")
    result = run_network(network, RunOptions(max_firings=7))
    assert (result.why, result.n_firings) == ("budget", 7)


def test_a_deadlock_names_its_actors_and_the_capacity_that_would_help(tmp_path: Path) -> None:
    source = """actor S () ==> int O, int P : int n := 0;
        all: action ==> O:[n] guard n < 10 do n := n + 1; end
        last: action ==> P:[n] guard n = 10 do n := 11; end end"""
    join = "actor J () int I, int K ==> : action K:[k], I:[a, b] ==> do println(k); end end"
    network = network_of(tmp_path, (source, join), "s=S j=J s.O->j.I s.P->j.K")
    result = run_network(network, RunOptions(fifo_tokens=4))
    assert result.deadlock is not None
    assert result.deadlock.actors == ("j", "s")
    assert (result.deadlock.fifo, result.deadlock.capacity_tokens, result.deadlock.needed_tokens) == ("s.O->j.I", 4, 5)
    kinds = {(w.actor, w.action): (w.kind, w.port, w.have, w.need) for w in result.waits}
    assert kinds["s", "all"] == ("room", "O", 0, 1)
    assert kinds["s", "last"][0] == "guard"
    assert kinds["j", "untagged_0"] == ("tokens", "K", 0, 1)
    assert run_network(network, RunOptions(fifo_tokens=10)).deadlock is None


def test_a_reader_that_has_stopped_is_no_deadlock(tmp_path: Path) -> None:
    source = "actor S () ==> int O : action ==> O:[1] end end"
    stop = "actor T () int I ==> : int n := 0; action I:[x] ==> guard n < 3, x = 1 do n := n + x; end end"
    result = run_program(tmp_path, (source, stop), "s=S t=T s.O->t.I", RunOptions(fifo_tokens=2))
    assert (result.why, result.deadlock, result.tokens_left) == ("quiescent", None, 2)
    assert {str(w) for w in result.waits} == {
        "s: untagged_0 waits for room for 1 tokens on O, has room for 0 (t)",
        "t: the guard of untagged_0 is false",
    }


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ("x := 1 / x;", "in 'a', bad: division by zero"),
        ("x := 1 mod x;", "in 'a', bad: division by zero"),
        ("while true do x := x + 1; end", "in 'a', bad: the program enters a loop without end ('while true')"),
        ("x := deep(1);", "in 'a', deep: the recursion is too deep"),
    ],
)
def test_faults_say_where_they_happened(tmp_path: Path, body: str, message: str) -> None:
    text = f"""actor A () ==> : int x := 0;
        function deep(int n) --> int : 1 + deep(n + 1) end
        bad: action ==> do
            {body}
        end end"""
    with pytest.raises(ExecutionError) as caught:
        run_program(tmp_path, (text,), "a=A")
    diagnostic = caught.value.diagnostics[0]
    assert diagnostic.message == message
    assert diagnostic.span.line == (2 if "deep" in body else 4)


@pytest.mark.parametrize(
    ("value", "message"),
    [
        ("7 mod f(0)", "division by zero"),
        ("deep(1)", "the recursion is too deep"),
    ],
)
def test_faults_of_initial_values_are_told_as_those_of_firings(tmp_path: Path, value: str, message: str) -> None:
    text = f"""actor A () ==> : int y := {value};
        function f(int n) --> int : n end
        function deep(int n) --> int : 1 + deep(n + 1) end
        action ==> guard y = 1 do end end"""
    with pytest.raises(ExecutionError) as caught:
        run_program(tmp_path, (text,), "a=A")
    assert caught.value.diagnostics[0].message == f"the initial values of 'a' cannot be computed: {message}"


def test_routines_may_be_nested_so_deep(tmp_path: Path) -> None:
    text = """actor A () ==> : int n := 958;
        function r(int k) --> int : if k = 0 then 0 else 1 + first([s(k) : for int i in 0 .. 0]) end end
        function first(List(type: int, size=1) a) --> int : a[0] end
        function s(int k) --> int : r(k - 1) end
        action ==> guard n < 961 do println(r(n / 2) + r(n / 2)); n := n + 1; end end"""
    with pytest.raises(ExecutionError) as caught:
        run_program(tmp_path, (text,), "a=A")
    assert caught.value.diagnostics[0].message == "in 'a', r: the recursion is too deep"
    assert run_program(tmp_path, (text.replace("< 961", "< 960"),), "a=A").stdout == "958\n958\n"


def test_impossible_options_are_refused(tmp_path: Path) -> None:
    network = network_of(tmp_path, (SOURCE, SINK), "s=S k=Sink s.O->k.I")
    for options in (RunOptions(fifo_tokens=0), RunOptions(loops=0), RunOptions(frames=0), RunOptions(max_firings=0)):
        with pytest.raises(OptionError, match="must be at least 1"):
            run_network(network, options)
