"""The look at other settings leaves out what takes minutes."""

from unittest.mock import Mock

import pytest

from dse.flows.search import look


@pytest.mark.parametrize(("most", "asked"), [(2, ["maximal"]), (1, [])])
def test_other_sizes_are_looked_for_unless_there_are_very_many_actors(
    monkeypatch: pytest.MonkeyPatch, most: int, asked: list[str]
) -> None:
    found, search = list[str](), Mock()
    search.setting.trace.topology.actors = ("one", "two")
    monkeypatch.setattr(look, "MOST_ACTORS", most)
    monkeypatch.setattr(look, "DOUBLINGS", 0)
    monkeypatch.setattr(look, "sized_capacities", lambda method, *_: found.append(method) or Mock(tokens=(9,)))
    sizes = [size.text for size in look._others(search, (1,))]
    assert found == asked
    assert sizes == asked
