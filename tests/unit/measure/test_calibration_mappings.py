"""Choice of calibration mappings."""

from dataclasses import replace

from dse.measure.calibration_mappings import calibration_mappings
from tests.unit.measure.networks import chain


def test_the_first_lets_every_fifo_cross() -> None:
    assert calibration_mappings(chain(), [1.0, 1.0, 1.0], 1) == ((0, 1, 0),)


def test_the_next_show_other_sets_of_crossings() -> None:
    found = calibration_mappings(chain(), [5.0, 1.0, 6.0], 3)
    assert found == ((0, 1, 0), (0, 0, 1), (0, 1, 1))


def test_no_more_than_show_something_new() -> None:
    assert len(calibration_mappings(chain(), [1.0, 1.0, 1.0], 10)) == 3


def test_one_actor_has_none() -> None:
    alone = replace(chain(), actors=chain().actors[:1], buffers=())
    assert calibration_mappings(alone, [1.0], 3) == ()


def test_of_many_actors_some_are_drawn() -> None:
    actors = tuple(replace(chain().actors[1], name=f"a{k}") for k in range(20))
    line = replace(chain().buffers[1], source_port=0, target_port=0)
    many = replace(chain(), actors=actors, buffers=tuple(replace(line, source=k, target=k + 1) for k in range(19)))
    (owners,) = calibration_mappings(many, [1.0] * 20, 1)
    assert sum(owners[k] != owners[k + 1] for k in range(19)) >= 14
