"""Recorded runs that may have happened, and such that may not: each with the firing and the reason."""

from functools import partial
from pathlib import Path

import numpy as np
import pytest

from dse.frontend.network.elaborate import load_network
from dse.program.network import Network
from dse.run import execution
from dse.run.execution import RunResult, run_network
from dse.run.options import RunOptions
from dse.run.replay import replay_run
from dse.run.schedule import StopRules
from tests.examples import seldom
from tests.property.native_networks import random_network
from tests.unit.run.programs import network_of

FEED = "actor F () ==> int O, int P : int n := 0; action ==> O:[n - 1], P:[n] guard n < 3 do n := n + 1; end end"
WIRES = "f=F a=A f.O->a.I f.P->a.J"


def replayed(folder: Path, body: str, actions: list[int]) -> list[str]:
    """What is wrong with a run in which the feeding actor fires three times, and actor A as told."""
    network = network_of(folder, (FEED, f"actor A () int I, int J ==> : int n := 0; {body} end"), WIRES)
    record = [np.array([0, 0, 0]), np.array(actions, dtype=np.uint8)]
    return [str(i) for i in replay_run(network, record, RunOptions()).illegal]


MERGER = "x: action I:[a] ==> end y: action J:[c] ==> end"
CASES = {
    "one input first": (MERGER, [0, 0, 0, 1, 1, 1], []),
    "the other input first": (MERGER, [1, 1, 1, 0, 0, 0], []),
    "fewer firings than there could be": (MERGER, [0, 1], []),
    "more firings than there are tokens": (
        MERGER,
        [0, 0, 0, 0],
        ["'a', firing 3 ('x'): its tokens never come, or the actor has ended"],
    ),
    "a guard that holds": ("x: action I:[a] ==> guard a = 0 end y: action I:[a] ==> end", [0, 1, 1], []),
    "a guard that does not hold": (
        "x: action I:[a] ==> guard a = 1 end y: action I:[a] ==> end",
        [0],
        ["'a', firing 0 ('x'): its guards do not hold"],
    ),
    "a second guard that does not hold": (
        "x: action I:[a] ==> guard a >= 0, n = 1 end y: action I:[a] ==> end",
        [0],
        ["'a', firing 0 ('x'): its guards do not hold"],
    ),
    "an action that was tried before": (
        "x: action I:[a] ==> guard a = 1 end y: action I:[a] ==> end",
        [1, 1],
        ["'a', firing 1 ('y'): 'x' would have been chosen"],
    ),
    "an action before that asks for less": (
        "x: action I:[a] ==> guard a = 0 end y: action I:[a], J:[c] ==> end",
        [1],
        ["'a', firing 0 ('y'): 'x' would have been chosen"],
    ),
    "an action before that asks for more": ("x: action I:[a, aa] ==> end y: action I:[a] ==> end", [1, 0], []),
    "an action before by its priority": (
        "x: action I:[a] ==> end y: action I:[a] ==> guard n = 0 do n := 1; end priority y > x; end",
        [0],
        ["'a', firing 0 ('x'): 'y' would have been chosen"],
    ),
    "an action of another state": (
        "x: action I:[a] ==> end y: action J:[c] ==> end schedule fsm s : s (x) --> t; t (y) --> s; end",
        [0, 1, 0, 0],
        ["'a', firing 3 ('x'): it is not tried in the state 't'"],
    ),
    "the initializer": ("x: action I:[a] ==> guard n = 7 end initialize ==> do n := 7; end", [1, 0, 0], []),
    "without the initializer": (
        "x: action I:[a] ==> end initialize ==> do n := 7; end",
        [0],
        ["'a', firing 0 ('x'): 'initialize' fires instead"],
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_a_record_is_accepted_or_the_first_wrong_firing_is_told(name: str, tmp_path: Path) -> None:
    body, actions, expected = CASES[name]
    assert replayed(tmp_path, body, actions) == expected


def test_lack_of_room_may_let_another_action_fire_where_it_is_part_of_the_condition(tmp_path: Path) -> None:
    text = """actor A () int I ==> int O : @schedule_outputs x: action I:[a] ==> O:[a] end
        y: action I:[a] ==> end end"""
    sink = "actor S () int I ==> : action I:[a] ==> end end"
    network = network_of(tmp_path, (FEED, text, sink), "f=F a=A s=S f.O->a.I a.O->s.I")
    record = [np.array([0, 0, 0]), np.array([1, 0, 1]), np.array([0])]
    assert replay_run(network, record, RunOptions()).illegal == ()


def in_bursts(network: Network, burst: int, options: RunOptions, monkeypatch: pytest.MonkeyPatch) -> RunResult:
    with monkeypatch.context() as patch:
        patch.setattr(execution, "StopRules", partial(StopRules, burst_firings=burst))
        return run_network(network, options)


@pytest.mark.parametrize("seed", [*range(40, 50), *seldom(*range(50, 60))])
@pytest.mark.parametrize("timed", [False, True])
def test_runs_of_python_are_legal_under_every_schedule(
    seed: int, timed: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    drawn = random_network(seed, timed=timed, small_fifos=seed % 2 == 0)
    network = load_network(str(drawn.write(tmp_path))).network
    source = tmp_path / "input"
    source.write_bytes(bytes(range(256)))
    options = RunOptions(input=str(source), hash_channels=True)
    if any("source_readByte" in a.text for a in drawn.actors):
        pytest.skip("its actors share an input")
    for burst in (4096, 2):
        result = in_bursts(network, burst, options, monkeypatch)
        replay = replay_run(network, result.trace.firings, options)
        assert [str(i) for i in replay.illegal] == []
        assert replay.channels == result.channels
        assert sorted(replay.stdout.splitlines()) == sorted(result.stdout.splitlines())
