"""One door for extensions: a registry maps a name to an attribute that is imported when it is first asked for."""

import difflib
import importlib
from collections.abc import Iterable, Mapping
from typing import Any

from dse.base.errors import OptionError

LONGEST_NAME = 200
"""Nothing is like a longer name: to compare one with many takes time that grows with the square of its length."""
MOST_SHOWN = 100


class Registry:
    """Maps names to lazily imported attributes (``"module:attribute"``).

    A duplicate name is a programming error; an unknown one is an ``OptionError`` that names the nearest known names.
    """

    def __init__(self, kind: str, entries: dict[str, str], removed: Mapping[str, str] | None = None) -> None:
        """``removed``: names that there were once, and which name to use instead."""
        self.kind = kind
        self._entries: dict[str, str] = {}
        self._removed = removed or {}
        for name, target in entries.items():
            self.register(name, target)

    def register(self, name: str, target: str) -> None:
        """Add ``name`` for ``target`` (``"package.module:attribute"``)."""
        assert name not in self._entries, f"{self.kind} {name!r} is registered twice"
        self._entries[name] = target

    def names(self) -> tuple[str, ...]:
        """Return the known names in registration order."""
        return tuple(self._entries)

    def load(self, name: str) -> Any:
        """Return the attribute registered under ``name``. Raises ``OptionError`` when there is none."""
        if name in self._removed:
            raise OptionError(
                f"there is no {self.kind} '{name}' any more", expected=f"use '{self._removed[name]}' instead"
            )
        if name not in self._entries:
            raise OptionError(f"unknown {self.kind} '{name}'", expected=nearest_names(name, self.names()))
        module, _, attribute = self._entries[name].partition(":")
        return getattr(importlib.import_module(module), attribute)


def near_names(name: str, known: tuple[str, ...]) -> list[str]:
    """Return the known names that are like ``name``, at most three, the nearest first."""
    return difflib.get_close_matches(name, known, n=3, cutoff=0.6) if len(name) <= LONGEST_NAME else []


def did_you_mean(near: Iterable[str]) -> str:
    """Return the question whether one of some names is meant."""
    return "did you mean " + " or ".join(f"'{n}'" for n in near) + "?"


def nearest_names(name: str, known: tuple[str, ...]) -> str:
    """Return a sentence that names the known names nearest to ``name``, or all of them when none is near."""
    near = near_names(name, known)
    if near:
        return did_you_mean(near)
    if len(known) > MOST_SHOWN:
        return "known: " + ", ".join(known[:MOST_SHOWN]) + f" and {len(known) - MOST_SHOWN} more"
    return "known: " + ", ".join(known) if known else "none is known"
