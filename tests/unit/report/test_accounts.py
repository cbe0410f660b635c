"""Accounts by name: what they add up to, whose they are, and the tables of them."""

from dataclasses import replace

import pytest

from dse.estimate.engine import make_engine
from dse.model.design_point import DesignPoint, Partition
from dse.model.estimate import Estimate
from dse.model.problem import Problem
from dse.report.accounts import NamedAccounts, accounts_text, actor_json, fifo_json, named_accounts
from tests.unit.explore.random_problems import BOX, problem_of


@pytest.fixture(scope="module")
def case() -> tuple[Problem, DesignPoint, Estimate]:
    """A tree of actors on two cores: the last one alone on the second."""
    problem = problem_of(11, clock=500, given_host=True, n_actors=4, n_firings=9)
    topology = problem.trace.topology
    *others, last = range(len(topology.actors))
    cpu = BOX.units[0].name
    partitions = (
        Partition(name="P0", actors=tuple(others), unit=cpu),
        Partition(name="far", actors=(last,), unit=cpu),
    )
    point = DesignPoint(partitions=partitions, capacities=(3,) * len(topology.buffers))
    return problem, point, make_engine("reference", problem).estimate(point)


def accounts_of(case: tuple[Problem, DesignPoint, Estimate]) -> NamedAccounts:
    problem, point, estimate = case
    return named_accounts(problem.trace, point, estimate)


def test_the_categories_of_an_actor_add_up_to_the_makespan(case: tuple[Problem, DesignPoint, Estimate]) -> None:
    accounts = accounts_of(case)
    assert accounts.makespan > 0
    for actor in accounts.actors:
        waited = actor.blocked_reading + actor.blocked_writing + actor.idle + actor.finished
        assert actor.busy + waited == accounts.makespan
    document = actor_json(accounts.actors[0])
    assert document["busy"] == accounts.actors[0].busy
    assert document["name"] == accounts.actors[0].name


def test_actors_and_fifos_are_those_of_the_network(case: tuple[Problem, DesignPoint, Estimate]) -> None:
    problem = case[0]
    accounts, topology = accounts_of(case), problem.trace.topology
    assert [a.name for a in accounts.actors] == [a.name for a in topology.actors]
    assert [a.firings for a in accounts.actors] == [len(f) for f in problem.trace.firings]
    assert [a.partition for a in accounts.actors] == ["P0"] * (len(topology.actors) - 1) + ["far"]
    last = len(topology.actors) - 1
    for fifo, buffer in zip(accounts.fifos, topology.buffers, strict=True):
        assert fifo.source == topology.actors[buffer.source].name
        assert fifo.target_port == topology.actors[buffer.target].inputs[buffer.target_port]
        assert fifo.crosses == ((buffer.source == last) != (buffer.target == last))
        assert 0 < fifo.max_tokens <= fifo.capacity_tokens == 3
        assert fifo.tokens == len(problem.trace.firings[buffer.source])
        assert fifo_json(fifo)["read_blocked"] == fifo.read_blocked
    assert any(fifo.crosses for fifo in accounts.fifos)


def test_what_waits_for_a_fifo_is_told_of_both(case: tuple[Problem, DesignPoint, Estimate]) -> None:
    accounts = accounts_of(case)
    for actor in accounts.actors:
        starving = max((f.read_blocked for f in accounts.fifos if f.target == actor.name), default=0)
        assert (starving > 0) == (actor.blocked_reading > 0)


def test_the_tables_keep_names_whole_and_leave_out_empty_columns(
    case: tuple[Problem, DesignPoint, Estimate],
) -> None:
    accounts = accounts_of(case)
    long = replace(accounts.fifos[0], name="decoder/texture/" * 12)
    text = accounts_text(replace(accounts, fifos=(long,)))
    assert long.name in text
    head = next(line for line in text.splitlines() if line.startswith("actor"))
    assert [name in head.split() for name in ("comp", "input", "link")] == [True, True, any(
        a.link_waiting for a in accounts.actors
    )]  # fmt: skip
    unblocked = replace(accounts, actors=tuple(replace(a, blocked_reading=0) for a in accounts.actors))
    assert "input" not in accounts_text(unblocked).splitlines()[1]


def test_nothing_took_any_time() -> None:
    assert "in % of 0 ps" in accounts_text(NamedAccounts(makespan=0, tick_unit="ps", actors=(), fifos=()))
