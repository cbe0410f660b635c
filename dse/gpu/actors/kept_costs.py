"""Predicted costs of an actor's firings, kept on disk: a prediction that was made before is only read.

One JSON file an actor, in the folder ``gpu`` of ``dse.base.caches``. Its name is the digest of all that the costs
depend on: the IR of the actor with its places, the rounds of its loops in the run, how many firings of each action may
stand beside each other, the constants of the device, the threads of a launch, the model, and the sources of what
predicts. A file that is damaged or cannot be written costs time, never an error.
"""

import contextlib
import functools
import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import fields, replace
from fractions import Fraction
from pathlib import Path
from typing import Any

from dse.base.caches import cache_folder, digest_of, shrink_folder
from dse.base.files import write_whole
from dse.base.kept_code import sources_digest
from dse.gpu.actors.firing import FiringCost, FiringModel, PieceCost
from dse.gpu.models import KERNEL_COST_MODELS
from dse.model.device import Device
from dse.model.rounds import Rounds
from dse.program.ir import Actor
from dse.program.text.printer import print_actor

MOST_BYTES = 1 << 27
"""Bound of the folder. The costs of an actor take some kilobytes, 10 more for each action that fires in blocks."""
_NO_CONSTANTS = ("origins", "places", "known_in")
_PACKAGE = Path(__file__).parents[2]


class KeptCosts:
    """The costs of actors by one ``FiringModel``, from disk where they are known."""

    def __init__(self, model: FiringModel) -> None:
        self._model = model
        self._folder = cache_folder("gpu")
        self._printed: dict[int, str] = {}
        """By identity, the text of each actor: instances share actors."""

    def costs(self, actor: Actor, longest_runs: Sequence[int], rounds: Rounds) -> tuple[FiringCost, ...]:
        """Return the cost of a firing of each action, as ``FiringModel.firing`` does; its pieces have no features."""
        if self._folder is None:
            return self._priced(actor, longest_runs, rounds)
        path = self._folder / f"{self._key(actor, longest_runs, rounds)}.json"
        with contextlib.suppress(OSError, ValueError, TypeError, KeyError, ZeroDivisionError, RecursionError):
            found = tuple(map(_decoded, json.loads(path.read_text(encoding="utf-8"))))
            if [cost.action for cost in found] == [action.name for action in actor.actions]:
                os.utime(path)  # used last of all
                return found
        found = self._priced(actor, longest_runs, rounds)
        with contextlib.suppress(OSError):
            self._folder.mkdir(parents=True, exist_ok=True)
            write_whole(path, json.dumps([_encoded(cost) for cost in found]))
            shrink_folder(self._folder, MOST_BYTES, kept=path)
        return found

    def _priced(self, actor: Actor, longest_runs: Sequence[int], rounds: Rounds) -> tuple[FiringCost, ...]:
        pairs = zip(actor.actions, longest_runs, strict=True)
        found = (self._model.firing(actor, action, longest_run=run, rounds=rounds) for action, run in pairs)
        return tuple(replace(c, pieces=tuple(replace(p, features=None) for p in c.pieces)) for c in found)

    def _key(self, actor: Actor, longest_runs: Sequence[int], rounds: Rounds) -> str:
        if id(actor) not in self._printed:
            self._printed[id(actor)] = print_actor(actor, spans=True)
        of_run = repr((list(longest_runs), sorted((tuple(k[0]), k[1], str(v)) for k, v in rounds.items())))
        machine = _constants(self._model.device), self._model.shape.text, self._model.model.name
        return digest_of(sources_of(self._model.model.name), actor.path, self._printed[id(actor)], of_run, *machine)


@functools.cache
def sources_of(model: str) -> str:
    """Return a digest of the sources that price firings by a model: after a change of them nothing old is found."""
    by_name = Path(KERNEL_COST_MODELS.load(model).__class__.__module__.replace(".", "/") + ".py")
    modules = Path(__file__).with_name("firing.py"), _PACKAGE.parent / by_name, Path(__file__)
    return "".join(sources_digest(module, _PACKAGE) for module in modules)


def _constants(device: Device) -> str:
    return repr([(f.name, getattr(device, f.name)) for f in fields(device) if f.name not in _NO_CONSTANTS])


# JSON -----------------------------------------------------------------------------------------------------------------


def _encoded(cost: FiringCost) -> dict[str, Any]:
    return {
        "action": cost.action,
        "cycles": str(cost.cycles),
        "alone_cycles": str(cost.alone_cycles),
        "threads": cost.threads,
        "pieces": [_encoded_piece(piece) for piece in cost.pieces],
        "confidence": cost.confidence,
        "reason": cost.reason,
        "simd_cycles": [str(cycles) for cycles in cost.simd_cycles],
        "made_up": cost.made_up,
    }


def _encoded_piece(piece: PieceCost) -> dict[str, Any]:
    return {
        "line": piece.line,
        "times": str(piece.times),
        "threads": piece.threads,
        "cycles": piece.cycles,
        "alone_cycles": piece.alone_cycles,
        "reason": piece.reason,
        "assumed": piece.assumed,
    }


def _decoded(entry: Mapping[str, Any]) -> FiringCost:
    """Return a cost as it was encoded. Raises ``KeyError``, ``TypeError`` or ``ValueError`` for anything else."""
    return FiringCost(
        action=str(entry["action"]),
        cycles=Fraction(entry["cycles"]),
        alone_cycles=Fraction(entry["alone_cycles"]),
        threads=int(entry["threads"]),
        pieces=tuple(map(_decoded_piece, entry["pieces"])),
        confidence="medium" if entry["confidence"] == "medium" else "low",
        reason=str(entry["reason"]),
        simd_cycles=tuple(map(Fraction, entry["simd_cycles"])),
        made_up=tuple(map(str, entry["made_up"])),
    )


def _decoded_piece(entry: Mapping[str, Any]) -> PieceCost:
    return PieceCost(
        line=None if entry["line"] is None else int(entry["line"]),
        times=Fraction(entry["times"]),
        threads=int(entry["threads"]),
        cycles=float(entry["cycles"]),
        alone_cycles=float(entry["alone_cycles"]),
        reason=str(entry["reason"]),
        assumed=tuple(map(str, entry["assumed"])),
    )
