"""Limits on what small files may grow to. A file of a few kilobytes can ask for a million actors, or for gigabytes.

The limits are far above what real programs need, and are there so that a wrong or hostile file ends in an error that
names them instead of filling the memory. ``--limit NAME=N`` raises one for one command; in Python, ``with
raised_limits(Limits(actors=...))``.
"""

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, fields

from dse.base.errors import OptionError
from dse.base.numbers import integer_from
from dse.base.registry import nearest_names

MOST = 1 << 40
"""No limit can be higher: no memory holds so many of anything."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """How many of each there may be at most."""

    actors: int = 100_000
    """Instances of actors and networks in a network with all its sub-networks."""
    fifos: int = 1_000_000
    """Connections from actor to actor in such a network."""
    c_tokens: int = 1_000_000
    """Tokens of a C file after its macros, or words that one line makes of them."""
    step_bytes: int = 1 << 22
    """Bytes of a TURNUS trace from one step to the next."""


_CURRENT: ContextVar[Limits | None] = ContextVar("limits", default=None)


def limits() -> Limits:
    """Return the limits that hold now."""
    return _CURRENT.get() or Limits()


@contextmanager
def raised_limits(raised: Limits) -> Iterator[None]:
    """Let other limits hold inside a ``with``."""
    token = _CURRENT.set(raised)
    try:
        yield
    finally:
        _CURRENT.reset(token)


def limit_names() -> tuple[str, ...]:
    """Return the names of the limits as ``--limit`` takes them."""
    return tuple(field.name.replace("_", "-") for field in fields(Limits))


def parse_limits(texts: Iterable[str]) -> Limits:
    """Return the limits of ``actors=2000000`` and the like, the usual ones else. Raises ``OptionError``."""
    given: dict[str, int] = {}
    for text in texts:
        name, _, number = text.partition("=")
        if name not in limit_names():
            raise OptionError(f"there is no limit '{name[:40]}'", expected=nearest_names(name, limit_names()))
        value = integer_from(number, least=1, most=MOST)
        if value is None:
            raise OptionError(
                f"limit '{text[:60]}' is not understood", expected=f"NAME=N, such as {name}=2000000, N from 1 to {MOST}"
            )
        given[name.replace("-", "_")] = value
    return Limits(**given)


def raise_it(name: str, value: int) -> str:
    """Return what to do where a limit is in the way of something that is wanted."""
    return f"'--limit {name}=N' raises the limit, which is {value}"
