"""What a search is about to do, and who is told."""

from collections.abc import Callable
from dataclasses import dataclass

from dse.explore.evaluator import Budget, Progress
from dse.flows.program import unheard


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchPlan:
    """What is about to happen, for those who watch: shown before the first evaluation."""

    network: str
    firings: int
    points: int
    space: str
    method: str
    reason: str
    budget: Budget
    assumed: tuple[str, ...]
    notes: tuple[str, ...]
    """How the weights came to be, or why they were not measured, in words."""
    moved_aside: str
    """What of an earlier study in the folder was moved where, in words; empty where there was none."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Watcher:
    """Whom to tell what. Nothing that is told influences a result."""

    planned: Callable[[SearchPlan], None] = unheard
    progress: Callable[[Progress], None] = unheard
    stage: Callable[[str], None] = unheard
