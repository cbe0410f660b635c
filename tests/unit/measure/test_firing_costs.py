"""Costs of single firings, from synthetic runs whose costs are known."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from dse.measure.firing_costs import firing_costs
from dse.measure.profile import make_profile
from tests.unit.measure.networks import FACTS, TrueCosts, chain, chain_trace, timed_run
from tests.unit.measure.test_profile import run_steps

TRUE = TrueCosts(noise=0.0)


@pytest.mark.parametrize("singly", [(), ((2, 0),)])
def test_costs_follow_the_data(tmp_path: Path, singly: tuple[tuple[int, int], ...]) -> None:
    rng = np.random.default_rng(31)
    trace, visits = chain_trace(300, rng)
    # in the second half every visit takes twice as long
    half = len(visits) // 2
    slow = replace(
        TRUE, visit=tuple(2 * v for v in TRUE.visit), actions=tuple(tuple(2 * c for c in a) for a in TRUE.actions)
    )
    runs = []
    for k in range(3):
        first = timed_run(tmp_path / f"a{k}", trace.firings, visits, TRUE, rng, singly=singly)
        second = timed_run(tmp_path / f"b{k}", trace.firings, visits, slow, rng, singly=singly)
        runs.append(_halves(first, second, half))
    plain = run_steps(trace, visits) * 1.5 / 2
    profile = make_profile(runs, chain(), trace.firings, [plain], FACTS)
    found = firing_costs(profile, runs, chain(), trace.firings)
    assert [costs.name for costs in found] == ["source", "filter", "sink"]
    source = found[0].counts.astype(float) / profile.closure.factor
    border = sum(n for actor, _, n in visits[:half] if actor == 0)
    assert source[:border].mean() * 2 == pytest.approx(source[border:].mean(), rel=0.02)
    sink = found[2].counts.astype(float) / profile.closure.factor
    assert sink.max() == pytest.approx(2 * sink.min(), rel=0.05)
    total = sum(float(costs.counts.sum()) for costs in found)
    assert total < plain * 2


def _halves(first, second, half: int):
    """Return records whose first visits are of one run and whose others are of another."""
    (a,), (b,) = first.threads, second.threads
    end = np.concatenate([a.visits.start[:half], b.visits.start[half:]])
    length = np.concatenate([(a.visits.end - a.visits.start)[:half], (b.visits.end - b.visits.start)[half:]])
    apart = np.arange(len(end)) == half  # the two runs do not follow each other
    visits = replace(a.visits, start=end, end=end + length, apart=apart)
    border = int(a.visits.start[half])
    later = b.singles.chosen >= b.visits.start[half]
    earlier = a.singles.chosen < border
    names = ("actor", "action", "firing", "chosen", "choosing", "reading", "computing", "writing")
    joined = {n: np.concatenate([getattr(a.singles, n)[earlier], getattr(b.singles, n)[later]]) for n in names}
    return replace(first, threads=(replace(a, visits=visits, singles=replace(a.singles, **joined)),))
