"""The space is counted exactly, enumerated once, and its canonical form identifies symmetric mappings."""

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dse.base.errors import InfeasibleDesign
from dse.explore.space.build import build_space
from dse.explore.space.space import Candidate, Space, SpaceOptions
from dse.model.platform import Platform, Unit
from dse.model.trace import Topology, TraceActor
from tests.examples import examples
from tests.unit.explore.fakes import chain


def topology(n: int) -> Topology:
    actors = tuple(TraceActor(name=f"a{i}", class_name="A", inputs=(), outputs=(), actions=()) for i in range(n))
    return Topology(name="net", actors=actors, buffers=())


def platform(cores: int, gpus: int = 0, capable: tuple[str, ...] | None = None) -> Platform:
    gpu = tuple(Unit(name=f"gpu{g}", kind="gpu", memory_bytes=g + 1) for g in range(gpus))  # no twins
    return Platform(name="box", units=(Unit(name="cpu", kind="cpu", cores=cores), *gpu), gpu_capable=capable)


def options(**wishes: object) -> SpaceOptions:
    return SpaceOptions(capacities=((),), **wishes)  # type: ignore[arg-type]


def brute_force(space: Space) -> list[frozenset[tuple[int, frozenset[int]]]]:
    """Every mapping as a set of (unit, set of actors), found by trying all slot tuples; duplicates by symmetry gone."""
    slots = range(len(space.unit_of_slot))
    found = set()
    for tuple_of_slots in itertools.product(slots, repeat=space.n_actors):
        if any(space.unit_of_slot[s] not in space.allowed[a] for a, s in enumerate(tuple_of_slots)):
            continue
        used = set(tuple_of_slots)
        if space.least <= len(used) <= space.most:
            found.add(blocks(space, tuple_of_slots))
    return sorted(found, key=repr)


def blocks(space: Space, assignment: tuple[int, ...]) -> frozenset[tuple[int, frozenset[int]]]:
    return frozenset(
        (space.unit_of_slot[s], frozenset(a for a, t in enumerate(assignment) if t == s)) for s in set(assignment)
    )


@given(
    n=st.integers(1, 5),
    cores=st.integers(1, 4),
    gpus=st.integers(0, 2),
    capable=st.sets(st.integers(0, 4)),
    pins=st.dictionaries(st.integers(0, 4), st.just("cpu"), max_size=2),
    bounds=st.tuples(st.integers(1, 3), st.integers(1, 6)),
)
@settings(max_examples=examples(60), deadline=None)
def test_count_and_enumeration_equal_brute_force(n, cores, gpus, capable, pins, bounds) -> None:  # type: ignore[no-untyped-def]
    names = tuple(f"a{i}" for i in sorted(capable))
    wishes = options(partitions=bounds, pins=tuple((f"a{a}", u) for a, u in sorted(pins.items()) if a < n))
    try:
        space = build_space(topology(n), platform(cores, gpus, names), wishes)
    except InfeasibleDesign:
        return
    enumerated = list(space.assignments())
    assert len(enumerated) == space.mappings == space.size
    assert enumerated == sorted(enumerated)
    assert sorted((blocks(space, a) for a in enumerated), key=repr) == brute_force(space)
    assert all(space.canonical(a) == a for a in enumerated)


def test_stirling_numbers() -> None:
    assert build_space(topology(6), platform(4), options()).mappings == 187  # S(6,1)+S(6,2)+S(6,3)+S(6,4)
    assert build_space(topology(5), platform(8), options()).mappings == 52  # Bell(5)
    assert build_space(topology(300), platform(2), options()).mappings == 2**299


def test_long_networks_are_enumerated_without_recursion() -> None:
    pins = tuple((f"a{i}", "cpu") for i in range(1500))
    space = build_space(topology(1500), platform(1), options(pins=pins))
    assert len(list(space.assignments())) == 1


def test_policies_and_capacities_multiply() -> None:
    wishes = SpaceOptions(policies=("NON_PREEMPTIVE", "ROUND_ROBIN"), capacities=((1,), (2,), (3,)))
    space = build_space(topology(3), platform(2), wishes)
    assert space.size == 4 * 2 * 3 == len(set(space.candidates()))


def test_canonical_form_renames_slots_in_order_of_first_use() -> None:
    space = build_space(topology(3), platform(3, 1), options())
    assert space.canonical((2, 1, 2)) == (0, 1, 0)
    assert space.canonical((3, 2, 0)) == (3, 0, 1)
    assert build_space(topology(3), platform(3), options(partitions=(1, 2))).canonical((0, 1, 2)) is None


def test_random_assignments_are_uniform() -> None:
    space = build_space(topology(4), platform(2, 1), options())
    rng = np.random.default_rng(5)
    counts = dict.fromkeys(space.assignments(), 0)
    draws = 60 * len(counts)
    for _ in range(draws):
        counts[space.random_assignment(rng)] += 1
    chi2 = sum((c - 60) ** 2 / 60 for c in counts.values())
    assert chi2 < len(counts) + 5 * (2 * len(counts)) ** 0.5


def test_partitions_have_names_of_their_own_whatever_the_units_ask_for() -> None:
    box = platform(2, gpus=2)
    named = Platform(name="box", units=tuple(Unit(name=f"c{i}", kind="cpu", partition=p) for i, p in enumerate("PQP")))
    for space in (build_space(topology(4), box, options()), build_space(topology(3), named, options())):
        names = [[p.name for p in space.to_point(candidate).partitions] for candidate in space.candidates()]
        assert all(len(set(found)) == len(found) for found in names)
    assert ["P0", "PG", "P2"] in [
        [p.name for p in space.to_point(Candidate(assignment=a)).partitions]
        for space in [build_space(topology(3), box, options())]
        for a in space.assignments()
    ]


def test_point_of_a_candidate() -> None:
    space = build_space(topology(4), platform(4, 1), SpaceOptions(capacities=((7,), (9,))))
    point = space.to_point(Candidate(assignment=(0, 4, 1, 0), capacity=1))
    assert [(p.name, p.unit, p.actors) for p in point.partitions] == [
        ("P0", "cpu", (0, 3)),
        ("P1", "cpu", (2,)),
        ("PG", "gpu0", (1,)),
    ]
    assert point.capacities == (9,)
    one = space.one_core()
    assert one is not None
    assert one.partitions[0].actors == (0, 1, 2, 3)


@pytest.mark.parametrize(
    ("n", "box", "wishes", "message"),
    [
        (0, platform(2), options(), "has no actors"),
        (2, Platform(name="p", units=(Unit(name="g", kind="gpu"),)), options(), "no CPU unit"),
        (2, platform(2), options(partitions=(1, 3)), "3 partitions are asked for, but platform 'box' holds 2"),
        (2, platform(4), options(partitions=(3, 4)), "the network has 2 actors"),
        (2, platform(4), options(partitions=(2, 1)), "not a range"),
        (2, platform(2), options(pins=(("a0", "fpga"),)), "pinned to unit 'fpga'"),
        (2, platform(2), options(pins=(("b0", "cpu"),)), "'b0' is not in the network"),
        (2, platform(2, 1), options(pins=(("a0", "cpu"), ("a0", "gpu0"))), "pinned to two units"),
        (2, platform(2, 1, ("a1",)), options(pins=(("a0", "gpu0"),)), "where it cannot run"),
        (2, platform(2, 1), options(pins=(("a0", "gpu0"), ("a1", "gpu0")), partitions=(2, 2)), "no mapping"),
        (2, platform(2), options(policies=("STATIC_ORDER",)), "cannot be searched"),
    ],
)
def test_impossible_spaces_say_why(n: int, box: Platform, wishes: SpaceOptions, message: str) -> None:
    with pytest.raises(InfeasibleDesign, match=message):
        build_space(topology(n), box, wishes)


def test_all_problems_are_gathered() -> None:
    with pytest.raises(InfeasibleDesign) as caught:
        build_space(topology(2), platform(2), options(partitions=(1, 9), pins=(("x", "y"),)))
    assert len(caught.value.diagnostics) == 3


def test_each_partition_may_have_its_own_policy() -> None:
    """Every set partition into at most 3 blocks, each block with one of two policies; nothing twice, nothing else."""
    options = SpaceOptions(
        capacities=((8,) * 4,), policies=("NON_PREEMPTIVE", "ROUND_ROBIN"), policy_per_partition=True
    )  # fmt: skip
    box = Platform(name="box", units=(Unit(name="cpu", kind="cpu", cores=3),))
    space = build_space(chain(5), box, options)
    stirling = {1: 1, 2: 15, 3: 25}
    assert space.size == sum(count * 2**k for k, count in stirling.items())
    seen = {
        frozenset((p.actors, p.policy) for p in space.to_point(candidate).partitions)
        for candidate in space.candidates()
    }
    assert len(seen) == space.size
    assert {policy for point in seen for _, policy in point} == {"NON_PREEMPTIVE", "ROUND_ROBIN"}
    rng = np.random.default_rng(1)
    for _ in range(50):
        drawn = space.random_assignment(rng)
        assert space.canonical(drawn) == drawn
    assert space.canonical((0, 1, 3, 4, 0)) is None  # two partitions of each policy: four on three cores


def test_a_gpu_holds_one_partition_whatever_the_policies() -> None:
    options = SpaceOptions(
        capacities=((8,),), policies=("NON_PREEMPTIVE", "ROUND_ROBIN"), policy_per_partition=True
    )  # fmt: skip
    units = (Unit(name="cpu", kind="cpu", cores=1), Unit(name="gpu", kind="gpu"))
    space = build_space(chain(2), Platform(name="box", units=units), options)
    points = [space.to_point(candidate) for candidate in space.candidates()]
    assert len(points) == space.size == 4 + 8  # both on one unit, or one on each: two policies a partition
    assert all([p.unit for p in point.partitions].count("gpu") <= 1 for point in points)


def test_full_parallel_mixes_with_nothing() -> None:
    options = SpaceOptions(capacities=((8,),), policies=("ROUND_ROBIN", "FULL_PARALLEL"), policy_per_partition=True)
    with pytest.raises(InfeasibleDesign, match="cannot be mixed"):
        build_space(chain(2), Platform(name="box", units=(Unit(name="cpu", kind="cpu", cores=2),)), options)
