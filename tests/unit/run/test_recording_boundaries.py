"""What a run records where its storage turns over: archives, compacted FIFOs, bursts, budgets."""

from pathlib import Path

import numpy as np
import pytest

from dse.codegen.python.scheduler import COMPACT_TOKENS
from dse.run.execution import run_network
from dse.run.fifo import PortBuffer, hash_tokens
from dse.run.options import RunOptions
from dse.run.record import topology_of
from dse.run.schedule import StopRules
from tests.unit.run.programs import network_of

FLUSH = 1 << 16
BURST = StopRules().burst_firings


def turns(folder: Path, count: int, **options: object) -> np.ndarray:
    """The firings of an actor whose two actions take turns, two of the one and one of the other."""
    text = f"""actor A () ==> : int n := 0;
        two: action ==> guard n < {count}, n mod 3 != 2 do n := n + 1; end
        one: action ==> guard n < {count}, n mod 3 = 2 do n := n + 1; end end"""
    chosen = {"idle_firings": 10**9, **options}
    result = run_network(network_of(folder, (text,), "a=A"), RunOptions(**chosen))  # type: ignore[arg-type]
    assert result.n_firings == len(result.trace.firings[0])
    assert sum(map(sum, result.actions)) == result.n_firings
    return np.asarray(result.trace.firings[0])


def expected(count: int) -> np.ndarray:
    return (np.arange(count) % 3 == 2).astype(np.uint8)


@pytest.mark.parametrize("count", [BURST - 1, BURST, BURST + 1, FLUSH - 1, FLUSH, FLUSH + 1, FLUSH + BURST + 1])
def test_firings_keep_their_order_over_bursts_and_archives(tmp_path: Path, count: int) -> None:
    assert np.array_equal(turns(tmp_path, count), expected(count))


def test_accesses_stay_with_their_firings_over_archives(tmp_path: Path) -> None:
    count = FLUSH + 5
    text = f"""actor A () ==> : int n := 0; int a := 0; int b := 0;
        two: action ==> guard n < {count}, n mod 3 != 2 do n := n + 1; a := n; end
        one: action ==> guard n < {count}, n mod 3 = 2 do n := n + 1; b := n; end
        priority two > one; end end"""
    options = RunOptions(record_accesses=True, idle_firings=10**9)
    (table,) = run_network(network_of(tmp_path, (text,), "a=A"), options).trace.accesses
    writes = [sorted(signature[2]) for signature in table.signatures]
    assert writes == [["a", "n"], ["b", "n"]]
    assert np.array_equal(table.ids, expected(count))


@pytest.mark.parametrize("budget", [1, BURST - 1, BURST, BURST + 1, FLUSH, FLUSH + 1])
def test_a_budget_of_firings_is_met_exactly(tmp_path: Path, budget: int) -> None:
    assert np.array_equal(turns(tmp_path, 10**6, max_firings=budget), expected(budget))


@pytest.mark.parametrize("idle", [BURST - 1, BURST, BURST + 1, 2 * BURST])
def test_idle_firings_end_a_run_after_the_burst_that_reaches_them(tmp_path: Path, idle: int) -> None:
    assert len(turns(tmp_path, 10**6, idle_firings=idle)) == -(-idle // BURST) * BURST


# -- FIFOs ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("ahead", [0, 1, 100])
@pytest.mark.parametrize("read", [0, 1, COMPACT_TOKENS - 1, COMPACT_TOKENS, COMPACT_TOKENS + 1, 2 * COMPACT_TOKENS])
def test_tokens_are_dropped_once_the_slowest_reader_is_far_enough(read: int, ahead: int) -> None:
    tokens = [(7 * n) % 1013 - 500 for n in range(2 * COMPACT_TOKENS + 150)]
    buffer = PortBuffer([read + ahead, read], [9, 9], hashing=True, data=list(tokens))
    left = [buffer.left(reader) for reader in (0, 1)]
    waiting = [buffer.data[head:] for head in buffer.heads]
    buffer.compact()
    assert buffer.dropped == (read if read > COMPACT_TOKENS else 0)
    assert buffer.heads == [read + ahead - buffer.dropped, read - buffer.dropped]
    assert [buffer.left(reader) for reader in (0, 1)] == left
    assert [buffer.data[head:] for head in buffer.heads] == waiting
    assert buffer.written == len(tokens)
    assert buffer.final_hash() == by_the_page(tokens)
    buffer.data.append(3)
    assert (buffer.written, buffer.final_hash()) == (len(tokens) + 1, by_the_page([*tokens, 3]))


def test_a_fifo_that_is_not_hashed_does_not_hash_what_it_drops() -> None:
    buffer = PortBuffer([COMPACT_TOKENS + 1], [9], data=[1] * (COMPACT_TOKENS + 1))
    before = buffer.digest
    buffer.compact()
    assert (buffer.dropped, buffer.data, buffer.heads, buffer.digest) == (COMPACT_TOKENS + 1, [], [0], before)


def by_the_page(tokens: list[int]) -> int:
    """FNV-1a over 64-bit words, from its definition."""
    h = 1469598103934665603
    for token in tokens:
        h = ((h ^ (token % 2**64)) * 1099511628211) % 2**64
    return h


def test_the_hash_takes_every_kind_of_token_as_64_bits() -> None:
    assert hash_tokens(1469598103934665603, [-1, 2**63, True, 0]) == by_the_page([2**64 - 1, 2**63, 1, 0])
    assert hash_tokens(1469598103934665603, [1.0, -0.0, "text"]) == by_the_page([0x3FF0000000000000, 2**63, 0])
    begun = hash_tokens(1469598103934665603, [5, 6])
    assert hash_tokens(begun, [7]) == by_the_page([5, 6, 7])


@pytest.mark.parametrize("count", [COMPACT_TOKENS - 1, COMPACT_TOKENS, COMPACT_TOKENS + 1, 3 * COMPACT_TOKENS + 7])
@pytest.mark.parametrize("fifo", [1, 3, COMPACT_TOKENS, COMPACT_TOKENS + 1, 8 * COMPACT_TOKENS])
def test_a_fan_out_gives_every_token_to_fast_and_slow_readers(tmp_path: Path, count: int, fifo: int) -> None:
    """q takes one token at a time, r five, and what is left of five stays; the hash is that of all that was written."""
    source = f"actor S () ==> int O : int n := 0; action ==> O:[n * n] guard n < {count} do n := n + 1; end end"
    one = f"""actor Q () int I ==> : int s := 0; int n := 0;
        action I:[x] ==> do s := s + x mod 10007; n := n + 1; if n = {count} then println(s); end end end"""
    five = "actor R () int I ==> : action I:[x] repeat 5 ==> end end"
    network = network_of(tmp_path, (source, one, five), f"s=S r=R q=Q s.O->r.I:{fifo} s.O->q.I:{fifo}")
    result = run_network(network, RunOptions(fifo_tokens=1, hash_channels=True))
    squares = [n * n for n in range(1, count + 1)]  # outputs are computed behind the body
    stored = [(square + 2**31) % 2**32 - 2**31 for square in squares]
    assert [(c.tokens, c.left) for c in result.channels] == [(count, count % 5), (count, 0)]
    assert {c.digest for c in result.channels} == {by_the_page(stored)}
    assert result.stdout == f"{sum(int(np.fmod(x, 10007)) for x in stored)}\n"
    assert [len(f) for f in result.trace.firings] == [count, count // 5, count]


@pytest.mark.parametrize("rate", [1, 512, 513])
def test_what_a_port_may_hold_is_room_for_its_largest_rate(tmp_path: Path, rate: int) -> None:
    """512 tokens unless a rate wants more: a writer of one token fills that to the last one."""
    source = "actor S () ==> int O : action ==> O:[1] end end"
    reader = f"actor R () int I ==> : int n := 0; action I:[x] repeat {rate} ==> guard n = 1 end end"
    result = run_network(network_of(tmp_path, (source, reader), "s=S r=R s.O->r.I"), RunOptions())
    assert result.tokens_left == result.n_firings == max(512, rate)


def test_tokens_have_the_bits_that_they_are_declared_with(tmp_path: Path) -> None:
    types = {
        "bool": (1, 1), "int": (4, 32), "uint(size=1)": (1, 1), "int(size=9)": (2, 9), "uint(size=33)": (8, 33),
        "float": (4, 32), "String": (8, 64),
    }  # fmt: skip
    ports = [f"{text} P{i}" for i, text in enumerate(types)]
    source = f"actor S () ==> {', '.join(ports)} : end"
    sink = f"actor K () {', '.join(ports)} ==> : end"
    wires = " ".join(f"s.P{i}->k.P{i}" for i in range(len(types)))
    buffers = topology_of(network_of(tmp_path, (source, sink), f"s=S k=K {wires}")).buffers
    assert [(b.token_bytes, b.token_bits) for b in buffers] == list(types.values())
