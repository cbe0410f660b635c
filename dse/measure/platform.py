"""This machine as a platform: its cores, and the clock that measured weights are counted in."""

from fractions import Fraction

from dse.measure.counter import CounterFacts
from dse.measure.machine import cpu_model
from dse.measure.profile_weights import exact
from dse.model.platform import Platform, Unit


def this_machine(facts: CounterFacts, cores: int) -> Platform:
    """Return this machine as a platform with one CPU unit, whose clock is the rate of the counter."""
    clock: Fraction = exact(facts.mhz)
    source = f"{cpu_model()}, the rate of its counter as measured"
    return Platform(
        name="this machine", units=(Unit(name="cpu", kind="cpu", cores=cores, clock_mhz=clock, source=source),)
    )
