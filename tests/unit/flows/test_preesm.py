"""Graphs and scenarios of PREESM: hierarchy made flat, parameters, times, and what is refused."""

import contextlib
import shutil
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dse.base.errors import DseError, FormatError
from dse.flows.estimate import estimate_mappings
from dse.flows.graphs import read_graph, unfold_graph
from dse.flows.options import EstimateOptions, GraphOptions, ProblemOptions
from tests.examples import examples
from tests.unit.formats.strategies import damaged

BAKERY = Path(__file__).parents[2] / "graphs" / "bakery"
SCENARIO = str(BAKERY / "Scenarios" / "bakery.scenario")


@pytest.fixture
def bakery(tmp_path: Path) -> Path:
    """A copy that a test may change."""
    return Path(shutil.copytree(BAKERY, tmp_path / "bakery"))


def change(path: Path, old: str, new: str) -> None:
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new))


def test_a_hierarchy_is_made_flat() -> None:
    found = read_graph(SCENARIO)
    assert [actor.name for actor in found.actors] == ["mill", "oven/knead", "oven/bake", "oven/recipe", "copy", "shop"]
    firings = dict(zip((actor.name for actor in found.actors), unfold_graph(SCENARIO).firings, strict=True))
    # 2 batches: the mill makes 4 of dough, the oven takes 2 a firing, kneads it in 2, each for 2 of its 4 loaves
    assert firings == {"mill": 1, "oven/knead": 4, "oven/bake": 8, "oven/recipe": 2, "copy": 1, "shop": 1}


def test_what_is_read_again_comes_from_a_broadcast() -> None:
    recipe = read_graph(SCENARIO).actors[3]
    assert (recipe.class_name, recipe.reads, recipe.writes) == ("broadcast", ((1,),), ((2,),))


def test_tokens_delays_and_types() -> None:
    found = read_graph(SCENARIO)
    by_name = {channel.name: channel for channel in found.channels}
    assert by_name["shop.order->shop.order"].initial_tokens == 1
    assert by_name["shop.order->shop.order"].token_bits == 32
    assert by_name["mill.salt->copy.in"].token_bits == 5


def test_times_of_operators_and_what_has_none() -> None:
    found = read_graph(SCENARIO)
    times = {actor.name: {t.processor: t.times[0] for t in actor.times} for actor in found.actors}
    assert times == {
        "mill": {"x86": 30},
        "oven/knead": {"x86": 7, "arm": 20},
        "oven/bake": {"x86": 20},
        "oven/recipe": {"x86": 0, "arm": 0},
        "copy": {"x86": 0, "arm": 0},
        "shop": {"x86": 100, "arm": 100},
    }
    assert found.notes == (
        "100 cycles for 1 actor without a time in the scenario, as PREESM does",
        "nothing for 2 broadcasts, forks, joins and round buffers without a time",
    )
    options = ProblemOptions(program=SCENARIO, graph=GraphOptions(iterations=5), engine="reference")
    estimate = estimate_mappings(EstimateOptions(problem=options)).mappings[0].estimate
    assert estimate.makespan == 5 * (30 + 4 * 7 + 8 * 20 + 100)


def test_a_graph_without_scenario_has_its_own_parameters_and_no_times() -> None:
    found = unfold_graph(str(BAKERY / "Algo" / "bakery.pi"))
    assert found.weights is None
    assert sum(found.firings) == 1 + 6 + 12 + 3 + 1 + 1


def test_what_is_written_again_goes_to_a_round_buffer(bakery: Path) -> None:
    change(bakery / "Algo" / "bakery.pi", '<port expr="size" kind="output"', '<port expr="2" kind="output"')
    change(bakery / "Algo" / "bakery.pi", 'expr="loaves" kind="input"', 'expr="batches*2" kind="input"')
    change(
        bakery / "Algo" / "oven.pi",
        '<port expr="size" kind="input" name="bread"',
        '<port expr="2" kind="input" name="bread"',
    )
    found = read_graph(str(bakery / "Scenarios" / "bakery.scenario"))
    buffer = next(actor for actor in found.actors if actor.name == "oven/bread")
    assert (buffer.class_name, buffer.reads, buffer.writes) == ("roundbuffer", ((4,),), ((2,),))


def test_initial_tokens_of_older_files(bakery: Path) -> None:
    change(
        bakery / "Algo" / "bakery.pi",
        'target="shop" targetport="order" type="int">',
        'target="shop" targetport="order" expr="batches">',
    )
    change(bakery / "Algo" / "bakery.pi", '<data key="delay">first_order</data>', '<data key="delay"/>')
    found = read_graph(str(bakery / "Scenarios" / "bakery.scenario"))
    assert {c.name: c.initial_tokens for c in found.channels}["shop.order->shop.order"] == 2


@pytest.mark.parametrize(
    ("file", "old", "new", "message"),
    [
        ("oven.pi", 'expr="size/2"', 'expr="9^13"', "the rate '9^13' of 'knead' is 2541865828329"),
        ("bakery.pi", 'expr="4*batches"', 'expr="4*batch"', "parameter 'loaves' = '4*batch' has no value"),
        ("bakery.pi", 'expr="4" id', 'expr="four" id', "parameter 'four' = 'four' has no value"),
        ("bakery.pi", 'expr="amount/2"', 'expr="0-amount"', "the rate '0-amount' of 'mill' is -8"),
        (
            "bakery.pi",
            'expr="amount/2"',
            'expr="amount/"',
            "the rate 'amount/' of 'mill' has no value: it ends too early",
        ),
        (
            "bakery.pi",
            "Algo/oven.pi",
            "Algo/stove.pi",
            "there is no file 'Algo/stove.pi', which actor 'oven' stands for",
        ),
        ("bakery.pi", "Algo/oven.pi", "../oven.pi", "there is no file '../oven.pi', which actor 'oven' stands for"),
        (
            "oven.pi",
            'id="knead" kind="actor">',
            'id="knead" kind="actor"><data key="graph_desc">Algo/oven.pi</data>',
            "the hierarchy does not end",
        ),
        (
            "bakery.pi",
            'getter="" id="first',
            'getter="x" id="first',
            "delay 'first_order' gets its tokens from an actor",
        ),
        ("bakery.pi", ">first_order<", ">last_order<", "there is no delay 'last_order'"),
        (
            "bakery.pi",
            'kind="cfg_input" name="amount"',
            'kind="cfg_output" name="amount"',
            "actor 'mill' sets parameters when it runs",
        ),
        (
            "oven.pi",
            'expr="size" kind="input"',
            'expr="3" kind="input"',
            "port 'bread' of 'oven' moves 4 tokens, its interface in 'oven' 3",
        ),
        ("oven.pi", 'targetport="bread" type', 'targetport="toast" type', ""),
        (
            "bakery.pi",
            'source="mill" sourceport="salt"',
            'source="mill" sourceport="pepper"',
            "has no output port 'pepper'",
        ),
        ("bakery.pi", 'mill" sourceport="salt"', 'mill" sourceport="flour"', "'flour' of 'mill' has a second FIFO"),
        ("bakery.pi", '<edge kind="fifo"', '<edge kind="fif"', "an edge of kind 'fif'"),
        ("bakery.pi", '<node id="shop"', '<node id="oven"', "node 'oven' is there twice"),
        ("bakery.pi", "kind=", "sort=", "no node has a 'kind': this is GraphML of another tool"),
    ],
)
def test_what_is_refused(bakery: Path, file: str, old: str, new: str, message: str) -> None:
    change(bakery / "Algo" / file, old, new)
    path = str(bakery / "Scenarios" / "bakery.scenario")
    if not message:
        read_graph(path)  # the name of the port of an interface means nothing
        return
    with pytest.raises(FormatError) as error:
        read_graph(path)
    assert message in error.value.diagnostics[0].message


def test_an_interface_that_moves_no_multiple(bakery: Path) -> None:
    change(
        bakery / "Algo" / "bakery.pi",
        '<port expr="2" kind="input" name="dough"',
        '<port expr="3" kind="input" name="dough"',
    )
    change(
        bakery / "Algo" / "oven.pi",
        '<port expr="2" kind="output" name="dough"',
        '<port expr="3" kind="output" name="dough"',
    )
    change(bakery / "Algo" / "oven.pi", 'expr="1" kind="input" name="dough"', 'expr="2" kind="input" name="dough"')
    with pytest.raises(FormatError, match="'oven/dough' moves 3 tokens a firing of 'oven', and 4 inside of it"):
        read_graph(str(bakery / "Scenarios" / "bakery.scenario"))


def test_a_scenario_of_nothing(bakery: Path) -> None:
    change(bakery / "Scenarios" / "bakery.scenario", "/bakery/Algo/bakery.pi", "/bakery/Algo/pastry.pi")
    with pytest.raises(FormatError, match=r"there is no file '/bakery/Algo/pastry\.pi', which the scenario names"):
        read_graph(str(bakery / "Scenarios" / "bakery.scenario"))


DAMAGED = {n: (BAKERY / n).read_bytes() for n in ("Algo/bakery.pi", "Algo/oven.pi", "Scenarios/bakery.scenario")}


@given(changed=st.sampled_from(sorted(DAMAGED)).flatmap(lambda n: st.tuples(st.just(n), damaged(DAMAGED[n], first=60))))
@settings(max_examples=examples(60), deadline=None)
def test_damaged_files_give_errors_of_ours(
    tmp_path_factory: pytest.TempPathFactory, changed: tuple[str, bytes]
) -> None:
    folder = Path(shutil.copytree(BAKERY, tmp_path_factory.mktemp("d") / "bakery"))
    (folder / changed[0]).write_bytes(changed[1])
    with contextlib.suppress(DseError):
        unfold_graph(str(folder / "Scenarios" / "bakery.scenario"))
