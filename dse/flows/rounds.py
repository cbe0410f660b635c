"""The rounds of a search that is refined, and what a kept weight set remembers of them.

New weights take the place of those that the best mapping was chosen with before the search with them begins. So that
an interrupt between the two, or in that search, loses nothing, the set says which search it followed, with what result.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from dse.base.digests import text_digest
from dse.model.estimate import TickUnit
from dse.model.study import Evaluation, Study


@dataclass(frozen=True, slots=True, kw_only=True)
class Refinement:
    """One round. ``before``, ``after``: the estimates of the mapping that was measured in place, in ticks of ``unit``.

    ``after`` None: the search that followed did not keep it among its best. ``stable``: the ranking stayed as it was.
    """

    mapping: str
    digest: str
    before: int
    after: int | None
    unit: TickUnit
    stable: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Rounds:
    """The rounds until a weight set: those that are over, and the one whose search the set is for.

    Of that one ``mapping``, ``digest``, ``before`` and ``unit`` are as in ``Refinement``; ``weights``: the digest of
    the weights of the search before, ``order``: that of the first ``best`` mappings of its ranking.
    """

    past: tuple[Refinement, ...]
    weights: str
    mapping: str
    digest: str
    before: int
    unit: TickUnit
    best: int
    order: str

    def __len__(self) -> int:
        """Return the number of rounds whose mapping the weights were measured with."""
        return len(self.past) + 1

    def over(self, study: Study) -> tuple[Refinement, ...]:
        """Return all rounds, with what the search with the weights made of the last one."""
        after = {e.digest: e.makespan for e in study.ranking}
        last = Refinement(
            mapping=self.mapping,
            digest=self.digest,
            before=self.before,
            after=after.get(self.digest),
            unit=self.unit,
            stable=self.order == order_digest(study.ranking, self.best),
        )
        return (*self.past, last)


def order_digest(ranking: Sequence[Evaluation], best: int) -> str:
    """Return the identity of the first mappings of a ranking in their order."""
    return text_digest(",".join(e.digest for e in ranking[:best]))


def rounds_text(rounds: Rounds) -> str:
    """Return rounds as one line of JSON, for the manifest of the weights."""
    return json.dumps(asdict(rounds), sort_keys=True)


_REFINEMENT = {
    "mapping": (str,),
    "digest": (str,),
    "before": (int,),
    "after": (int, type(None)),
    "unit": (str,),
    "stable": (bool,),
}
_LAST = {"weights": (str,), "mapping": (str,), "digest": (str,), "before": (int,), "unit": (str,), "best": (int,)}
_ROUNDS = {**_LAST, "past": (list,), "order": (str,)}


def read_rounds(text: str) -> Rounds:
    """Return the rounds of a text. Raises ``ValueError`` where it is none that ``rounds_text`` gives."""
    try:
        values = _checked(json.loads(text), _ROUNDS)
    except RecursionError:
        raise ValueError("it is nested too deeply") from None
    past = tuple(Refinement(**_checked(of, _REFINEMENT)) for of in values["past"])
    return Rounds(**{**values, "past": past})


def _checked(values: Any, kinds: Mapping[str, tuple[type, ...]]) -> dict[str, Any]:
    if not isinstance(values, dict) or values.keys() != kinds.keys():
        raise ValueError(f"expected the keys {', '.join(kinds)}")
    for key, allowed in kinds.items():
        if type(values[key]) not in allowed:
            raise ValueError(f"'{key}' is of another kind")
    return values
