"""The design that all pages show, with undo, redo and the pinned design that others are compared with."""

from collections.abc import Callable

from dse.studio.design import Design
from dse.studio.edits import Surroundings, applied
from dse.studio.messages import Change, Pin, Redo, Undo

MOST_UNDONE = 1000
"""So many edits can be undone."""


class Session:
    """The design under change. ``revision`` counts its changes; ``pinned``: what it is compared with, or None."""

    def __init__(self, start: Design, around: Surroundings) -> None:
        self._around = around
        self.design = start
        self.pinned: Design | None = None
        self.revision = 0
        self._before: list[Design] = []
        self._after: list[Design] = []

    @property
    def previous(self) -> Design | None:
        """The design before the last edit."""
        return self._before[-1] if self._before else None

    @property
    def compared(self) -> Design | None:
        """The design that the present one is compared with: the pinned one, else that before the last edit."""
        return self.pinned or self.previous

    @property
    def undoable(self) -> int:
        """So many edits can be undone."""
        return len(self._before)

    @property
    def redoable(self) -> int:
        """So many undone edits can be made again."""
        return len(self._after)

    def change(self, change: Change, check: Callable[[Design], None]) -> bool:
        """Make a change and return whether anything is different now; after an error nothing is.

        ``check`` raises ``DseError`` for a design that can never run.
        """
        match change:
            case Undo() | Redo():
                changed = self._step(self._before, self._after) if isinstance(change, Undo) else self._forth()
            case Pin():
                pinned = self.design if change.pinned else None
                changed = pinned is not self.pinned
                self.pinned = pinned
            case _:
                design = applied(change, self.design, self._around)
                changed = design != self.design
                if changed:
                    check(design)
                    self._before.append(self.design)
                    del self._before[:-MOST_UNDONE]
                    self._after.clear()
                    self.design = design
        self.revision += changed
        return changed

    def _forth(self) -> bool:
        return self._step(self._after, self._before)

    def _step(self, come_from: list[Design], go_to: list[Design]) -> bool:
        """Take the last of some designs for the present one, which goes to the others."""
        if not come_from:
            return False
        go_to.append(self.design)
        self.design = come_from.pop()
        return True
