"""Readers of one port on several GPUs are not identical: the first that crosses decides the link of the others."""

from dataclasses import replace
from fractions import Fraction

from dse.estimate.engine import make_engine
from dse.estimate.problem.build import build_tables
from dse.explore.space.build import build_space
from dse.explore.space.merged import merged_space
from dse.explore.space.space import Candidate, SpaceOptions
from dse.model.platform import Link, Platform, Unit
from tests.unit.estimate.networks import cost, network, problem, weights

FAN = network([("s.o", "a"), ("s.o", "b"), ("s.o", "c")], {"s": "x", "a": "x", "b": "x", "c": "x"})


def test_where_two_gpus_have_links_of_their_own_readers_of_a_port_keep_their_order() -> None:
    """c stays on the CPU, but its tokens go as those of the lowest buffer that crosses: over the slow or the fast link.

    With one GPU there is one link to take, and a and b are exchanged at will.
    """
    table = weights(FAN, {"s": 1, "a": 1, "b": 1, "c": 5})
    compute = {key: replace(c, frequency_mhz=Fraction(1000)) for key, c in table.compute.items()}
    near = {key: cost(0) for key in table.transfers if key[4] != "host"}
    table = replace(table, compute=compute, transfers=near)
    units = (
        Unit(name="cpu", kind="cpu", cores=2), Unit(name="gpu", kind="gpu"),
        Unit(name="fast", kind="gpu", cores=1, clock_mhz=Fraction(9)),
    )  # fmt: skip
    links = (
        Link(name="slow", between=("cpu", "gpu"), latency_ns=Fraction(900)),
        Link(name="quick", between=("cpu", "fast"), latency_ns=Fraction(10)),
        Link(name="across", between=("gpu", "fast"), latency_ns=Fraction(20)),
    )
    options = SpaceOptions(
        capacities=((4, 4, 4),), transfers="parallel", pins=(("s", "cpu"), ("c", "cpu")), policies=("FULL_PARALLEL",)
    )
    three, two = (
        Platform(name="box", units=units[:n], links=links[: 1 if n == 2 else 3], gpu_capable=("a", "b")) for n in (3, 2)
    )
    given = problem(FAN, table, three)
    whole = build_space(FAN.topology, three, options)
    merged = merged_space(whole, build_tables(given))
    engine = make_engine("compiled", given)
    one, other = (0, 2, 3, 1), (0, 3, 2, 1)  # a on the slow GPU and b on the fast one, and the other way round
    ends = [
        [account.reading for account in engine.estimate(whole.to_point(Candidate(assignment=slots))).actors]
        for slots in (one, other)
    ]
    assert ends[0][3] > ends[1][3]  # c
    assert merged.canonical(one) != merged.canonical(other)
    single = build_space(FAN.topology, two, options)
    assert merged_space(single, build_tables(replace(given, platform=two))).mappings < single.mappings


def test_readers_of_ports_that_are_shared_otherwise_are_not_exchanged() -> None:
    """a and b have equal buffers from s, but a shares its port with x, whose tokens cross when those of a do."""
    for edges, alike in (([("s.o", "a"), ("s.p", "b"), ("s.q", "x")], True), (
        [("s.o", "a"), ("s.p", "b"), ("s.o", "x")], False)):  # fmt: skip
        trace = network(edges, {"s": "x", "a": "x", "b": "x", "x": "x"})
        table = weights(trace, {"s": 1, "a": 2, "b": 2, "x": 7}, read=1)
        dear = {key: cost(50) for key in table.transfers if key[4] == "host"}
        units = (Unit(name="cpu", kind="cpu", cores=2), Unit(name="gpu", kind="gpu"))
        box = Platform(name="box", units=units, gpu_capable=("a", "b"))
        given = problem(trace, replace(table, transfers=table.transfers | dear), box)
        whole = build_space(trace.topology, box, SpaceOptions(capacities=((4, 4, 4),), transfers="parallel"))
        merged = merged_space(whole, build_tables(given))
        engine = make_engine("compiled", given)
        one, other = (0, 2, 1, 1), (0, 1, 2, 1)
        spans = [engine.estimate(whole.to_point(Candidate(assignment=slots))).makespan for slots in (one, other)]
        assert (spans[0] == spans[1]) == alike
        assert (merged.canonical(one) == merged.canonical(other)) == alike


def test_of_many_equal_branches_some_are_exchanged() -> None:
    """Five branches of two actors have 120 orders, too many to try at once: those of four of them are."""
    names = "abcde"
    edges = [(f"s.{n}", n) for n in names] + [(f"{n}.o", n.upper()) for n in names]
    trace = network(edges, dict.fromkeys(("s", *names, *names.upper()), "x"))
    given = problem(trace, weights(trace, dict.fromkeys(("s", *names, *names.upper()), 3)))
    options = SpaceOptions(
        capacities=((4,) * 10,), transfers="parallel", policies=("FULL_PARALLEL",), partitions=(1, 2)
    )
    whole = build_space(trace.topology, given.platform, options)
    merged = merged_space(whole, build_tables(given))
    own = [0] * 11
    forms = set()
    for branch in range(4):  # the first actor of one branch is apart from all others
        own[1 + branch] = 1
        forms.add(merged.canonical(tuple(own)))
        own[1 + branch] = 0
    assert len(forms) == 1
    assert None not in forms
