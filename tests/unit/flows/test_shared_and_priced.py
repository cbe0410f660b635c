"""Loops that a program shares out to threads are loops that predictions price as threads; the others are named here."""

from pathlib import Path

import pytest

from dse.flows.gpu_actors import abilities_of
from dse.frontend.network.elaborate import load_network
from dse.gpu.actors.bodies import body_of

ACTORS = Path(__file__).parents[3] / "actors"
TOO_LITTLE = "it has too little to do for several threads"


@pytest.mark.parametrize(
    ("name", "shared", "only_priced"),
    [
        ("matrix", 3, {}),
        ("denoise", 2, {}),
        (
            "jpeg",
            6,
            {
                ("scan.start", 478): TOO_LITTLE,
                ("setup.scan", 217): TOO_LITTLE,
                (
                    "scale",
                    65,
                ): "a round may access what another one writes: 'scaled' at a place that is not known beforehand",
            },
        ),
    ],
)
def test_what_is_shared_is_priced(name: str, shared: int, only_priced: dict[tuple[str, int], str]) -> None:
    network = load_network(str(ACTORS / name / f"{name}.xdf")).network
    count = 0
    others: dict[tuple[str, int], str] = {}
    for instance, found in zip(network.instances, abilities_of(network), strict=True):
        for of in found.actions:
            action = next(a for a in instance.actor.actions if a.name == of.name)
            priced = {p.kernel.span.line for p in body_of(instance.actor, action).pieces if p.kernel is not None}
            lines = {loop.loops[0].span.line for loop in of.loops if loop.able}
            assert lines <= priced
            count += len(lines)
            others |= {
                (of.name, x.loops[0].span.line): x.reason for x in of.loops if x.loops[0].span.line in priced - lines
            }
    assert (count, others) == (shared, only_priced)
