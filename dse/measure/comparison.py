"""Estimates beside measurements in one state of the machine, with the baselines that an estimate has to beat."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from dse.measure.agreement import (
    Agreement,
    Divergence,
    FloatArray,
    Spread,
    agreement,
    divergence_by_first,
    noise_floor,
    random_regret,
    spread_of,
)
from dse.measure.machine import State

FEWEST_RUNS = 2
"""A candidate with fewer runs in a state is not compared there: one run is no measurement."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Prediction:
    """What was predicted of a candidate before it was measured, in ns; ``load_ns``: the work of its busiest core.

    ``scored``: it counts; a mapping that the weights were calibrated with does not.
    """

    name: str
    estimated_ns: float
    load_ns: float
    scored: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class Pair:
    """An estimate and a measurement of one candidate, in ns; ``least``: its fastest run."""

    prediction: Prediction
    measured: Spread
    least: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Comparison:
    """How estimates compare with measurements in one state.

    ``estimated``: by the simulation; ``by_load``: by the heaviest load alone, without simulation; ``random_first`` and
    ``random_ten``: the regret to expect of one and of ten candidates that are picked at random; ``noise``: how one half
    of the runs agrees with the other, None with too few; ``by_first``: divergence with both sides divided by their
    first, as in figures 11 and 14. ``left_out``: candidates with too few runs in this state.

    All that is with the median of the runs of each candidate. ``least`` and ``least_noise`` are ``estimated`` and
    ``noise`` with the fastest run instead: what others do on a machine only ever makes a run longer, so that the
    fastest says most of the program, and the median most of what its user waits for.
    """

    state: State
    pairs: tuple[Pair, ...]
    estimated: Agreement
    by_load: Agreement
    random_first: float
    random_ten: float
    noise: Agreement | None
    by_first: Divergence
    left_out: int
    least: Agreement
    least_noise: Agreement | None

    @property
    def noisy(self) -> bool:
        """Whether the measurements differ by less than three times the noise: then their order says little."""
        medians = [pair.measured.median for pair in self.pairs if pair.prediction.scored]
        if self.noise is None or len(medians) < 2:
            return True
        return (max(medians) - min(medians)) / max(medians) < 3 * self.noise.common.maximum


def compare(state: State, predictions: Sequence[Prediction], runs: Sequence[Sequence[float]]) -> Comparison | None:
    """Return the comparison of candidates, their ``runs`` in ns in the order of making; None with nothing to score."""
    enough = [(p, own) for p, own in zip(predictions, runs, strict=True) if len(own) >= FEWEST_RUNS]
    pairs = tuple(Pair(prediction=p, measured=spread_of(own), least=min(own)) for p, own in enough)
    scored = [pair for pair in pairs if pair.prediction.scored]
    if not scored:
        return None
    estimated, loads, measured = _columns(scored)
    repeats = [own for p, own in enough if p.scored]
    return Comparison(
        state=state,
        pairs=pairs,
        estimated=agreement(estimated, measured),
        by_load=agreement(loads, measured),
        random_first=random_regret(measured, 1),
        random_ten=random_regret(measured, 10),
        noise=noise_floor(repeats),
        by_first=divergence_by_first(estimated, measured),
        left_out=len(predictions) - len(pairs),
        least=agreement(estimated, np.array([pair.least for pair in scored], dtype=np.float64)),
        least_noise=noise_floor(repeats, min),
    )


def _columns(pairs: Sequence[Pair]) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return estimates, loads and measurements of some pairs, each of shape (n,), in ns."""
    rows = [(pair.prediction.estimated_ns, pair.prediction.load_ns, pair.measured.median) for pair in pairs]
    estimated, loads, measured = np.array(rows, dtype=np.float64).T
    return estimated, loads, measured
