"""What a verifier finds wrong, and where."""

from collections.abc import Sequence
from dataclasses import dataclass, field

from dse.base.source import NO_SPAN, Span


@dataclass(frozen=True, slots=True)
class Finding:
    """One broken rule. ``where`` names the part of the actor: ``action go``, ``function f``, ``the choice``."""

    message: str
    where: str
    span: Span = NO_SPAN

    def __str__(self) -> str:
        place = "" if self.span == NO_SPAN else f" ({self.span})"
        return f"{self.where}: {self.message}{place}"


@dataclass(slots=True)
class Findings:
    """Gathers findings; ``where`` is the part that is being looked at."""

    found: list[Finding] = field(default_factory=list)
    where: str = "actor"

    def add(self, message: str, span: Span = NO_SPAN) -> None:
        """Record that a rule is broken."""
        self.found.append(Finding(message, self.where, span))

    def require(self, holds: bool, message: str, span: Span = NO_SPAN) -> bool:
        """Record that a rule is broken unless it holds, and return whether it does."""
        if not holds:
            self.add(message, span)
        return holds


def assert_none(findings: Sequence[Finding], title: str) -> None:
    """Raise AssertionError with all findings if there is one."""
    assert not findings, "\n".join([f"{title} breaks rules of the IR:", *(f"  {finding}" for finding in findings)])
