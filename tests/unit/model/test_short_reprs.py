"""What results hold shows itself in a line: networks, traces and tables are as large as the programs they are of."""

from pathlib import Path

import pytest

from dse.base.digests import text_digest
from dse.flows.estimate import Estimated, estimate_mappings
from dse.flows.options import EstimateOptions, ProblemOptions

JPEG = str(Path(__file__).resolve().parents[3] / "actors" / "jpeg" / "jpeg.xdf")
LONGEST = 200


@pytest.fixture(scope="module")
def estimated() -> Estimated:
    return estimate_mappings(EstimateOptions(problem=ProblemOptions(program=JPEG, weights=("nominal",))))


def test_each_part_is_one_short_line(estimated: Estimated) -> None:
    setting, estimate = estimated.setting, estimated.mappings[0].estimate
    parts = (setting.network, setting.trace, setting.trace.topology, setting.problem.weights, setting.tables, estimate)
    for part in parts:
        text = repr(part)
        assert len(text) < LONGEST
        assert "\n" not in text
        assert type(part).__name__ in text
    assert "jpeg" in repr(setting.network)
    assert f"{estimate.makespan:,} ps" in repr(estimate)


def test_nothing_that_is_made_of_them_is_long(estimated: Estimated) -> None:
    assert len(repr(estimated.setting)) < 20 * LONGEST
    assert len(repr(estimated)) < 60 * LONGEST


def test_networks_that_differ_have_different_texts(estimated: Estimated) -> None:
    """Programs are kept under the digest of the text, which the short form could not replace."""
    network = estimated.setting.network
    assert network is not None
    assert len(network.text) > 100_000
    bodies = {text_digest(repr(instance.actor)) for instance in network.instances}
    assert len(bodies) > 5
    assert all(repr(instance) in network.text for instance in network.instances)
