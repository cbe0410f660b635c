"""Every action of the acceptance networks has a GPU cost: nothing crashes, nothing is dearer than one thread."""

from pathlib import Path

import pytest

from dse.formats.device_yaml import load_device
from dse.gpu.actors.firing import FiringModel
from tests.golden.acceptance import NETWORKS, Acceptance, Missing, corpus, prepare


@pytest.mark.parametrize("case", NETWORKS, ids=lambda case: case.name)
def test_every_action_has_a_cost(case: Acceptance, tmp_path: Path) -> None:
    try:
        network, _ = prepare(case, corpus(), tmp_path)
    except Missing as missing:
        pytest.skip(str(missing))
    model = FiringModel(load_device("gtx1660s"))
    actors = {id(instance.actor): instance.actor for instance in network.instances}
    for actor in actors.values():
        for action in actor.actions:
            cost = model.firing(actor, action)
            assert 0 < cost.cycles <= cost.alone_cycles, f"{actor.name}.{action.name}"
            assert cost.threads > 1 or cost.reason.startswith("one thread: ")
