"""What a user gives, as options of the flows: paths of either kind, numbers, names, texts of the command line."""

import operator
import os
from collections.abc import Iterable, Mapping, Sequence
from numbers import Integral
from typing import Any, Protocol, TypeAlias, TypeVar, runtime_checkable

from dse.base.errors import OptionError
from dse.base.registry import nearest_names
from dse.explore.evaluator import Budget
from dse.flows.options import ClockRequest, parse_budget, parse_clocks, parse_partitions, parse_policies
from dse.formats.mapping_words import quoted_name
from dse.model.design_point import DesignPoint, Policy

AnyPath: TypeAlias = str | os.PathLike[str]


@runtime_checkable
class HasPoint(Protocol):
    """A mapping that a result holds: ``EstimatedMapping``, ``RankedMapping``."""

    @property
    def point(self) -> DesignPoint:
        """The design point."""


GivenMapping: TypeAlias = AnyPath | DesignPoint | HasPoint | Mapping[str, Sequence[str]]
"""A mapping: a text (``"P0:a,b P1:c"``), the path of a file, partitions with the names of their actors, a result."""
GivenBuffers: TypeAlias = int | AnyPath | Mapping[str, int]
"""Sizes of FIFOs in tokens: one for all, a ``.bxdf`` file, or by name (``source.port->target.port``)."""
GivenClocks: TypeAlias = Mapping[str, float | Sequence[float]] | str
"""Clocks in MHz by unit or kind, one or several to choose from; or the text that ``--clocks`` takes."""


def path_text(path: AnyPath, what: str) -> str:
    """Return a path as text. Raises ``OptionError`` for what is none, or is empty."""
    if not isinstance(path, (str, os.PathLike)):
        raise OptionError(
            f"the {what} is neither a path nor a text but {type(path).__name__}", expected="a str or a pathlib.Path"
        )
    text = os.fspath(path)
    if not isinstance(text, str) or not text.strip():
        raise OptionError(f"the {what} that is given is empty", expected="give a name, or leave it out")
    return text


def optional_path(path: AnyPath | None, what: str) -> str | None:
    """Return a path as text, or None."""
    return None if path is None else path_text(path, what)


def paths_of(given: AnyPath | Sequence[AnyPath], what: str) -> tuple[str, ...]:
    """Return one path or several as texts."""
    if isinstance(given, (str, os.PathLike)) or not isinstance(given, Iterable):
        return (path_text(given, what),)
    return tuple(path_text(path, what) for path in given)


def names_of(given: str | Sequence[str], what: str) -> str:
    """Return one name or several as the command line takes them, with commas between. Raises ``OptionError``."""
    return ",".join(texts_of(given, what))


def texts_of(given: str | Sequence[str], what: str) -> tuple[str, ...]:
    """Return one text or several. Raises ``OptionError``."""
    names = (given,) if isinstance(given, str) or not isinstance(given, Iterable) else tuple(given)
    if not all(isinstance(name, str) for name in names):
        raise OptionError(f"{what} {given!r} is no name", expected="a str, or several")
    return names


MOST_SEED = 2**63 - 1
"""What a study file takes."""


def whole_number(what: str, value: int, least: int = 0, most: int | None = None) -> int:
    """Return a number; ``what``: its name.

    Raises ``OptionError`` for one below ``least`` or above ``most``, for True, for no number.
    """
    try:
        number = operator.index(value)
    except TypeError:
        number = least - 1
    if isinstance(value, bool) or number < least or (most is not None and number > most):
        limit = f"a whole number of {least} or more" if most is None else f"a whole number from {least} to {most}"
        raise OptionError(f"{what} is {value!r}", expected=limit)
    return number


Choice = TypeVar("Choice", bound=str)


def one_of(what: str, given: Choice, known: Iterable[str]) -> Choice:
    """Return a word that is known; ``what``: its name. Raises ``OptionError`` for another one, with the nearest."""
    names = tuple(known)
    if given not in names:
        raise OptionError(f"unknown {what} '{given}'", expected=nearest_names(str(given), names))
    return given


def pairs_of(given: Mapping[str, str] | None, what: str) -> tuple[tuple[str, str], ...]:
    """Return names with what they are given. Raises ``OptionError`` for what is no dict of texts."""
    pairs = tuple(given.items()) if isinstance(given, Mapping) else () if given is None else None
    if pairs is None or not all(isinstance(text, str) for pair in pairs for text in pair):
        raise OptionError(f"the {what} {given!r} are no names with texts", expected="such as {'name': 'text'}")
    return pairs


def partitions_text(partitions: Mapping[str, Sequence[str]]) -> str:
    """Return partitions with the names of their actors as the text of a mapping. Raises ``OptionError``."""
    if not partitions:
        raise OptionError("the mapping has no partition", expected="such as {'P0': ['a', 'b']}")
    groups = []
    for head, actors in partitions.items():
        listed = isinstance(actors, Iterable) and not isinstance(actors, str)
        if not listed or not all(isinstance(actor, str) for actor in actors):
            raise OptionError(
                f"the actors of partition '{head}' are no list of names", expected="such as {'P0': ['a', 'b']}"
            )
        groups.append(f"{head}:{','.join(map(quoted_name, actors))}")
    return " ".join(groups)


def budget_of(budget: int | str | Budget | None) -> Budget | None:
    """Return a budget: a number of evaluations, ``"30s"``, ``"2000,30s"``. Raises ``OptionError``."""
    if budget is None or isinstance(budget, Budget):
        return budget
    budget = _plain(budget)
    if isinstance(budget, int) and not isinstance(budget, bool):
        return Budget(evaluations=budget)
    if isinstance(budget, str):
        return parse_budget(budget)
    raise OptionError(f"budget {budget!r} is not understood", expected="a number of evaluations, or a time: '30s'")


def partitions_of(partitions: int | str | tuple[int, int] | None) -> tuple[int, int] | None:
    """Return at most how many partitions, or from and to. Raises ``OptionError``."""
    partitions = _plain(partitions)
    if isinstance(partitions, (int, str)) and not isinstance(partitions, bool):
        return parse_partitions(str(partitions))
    if partitions is None:
        return None
    ends = () if isinstance(partitions, bool) or not isinstance(partitions, Iterable) else tuple(partitions)
    if len(ends) != 2 or not all(isinstance(_plain(number), int) for number in ends):
        raise OptionError(f"partitions {partitions!r} are no range", expected="a number, or from and to: (2, 4)")
    return _plain(ends[0]), _plain(ends[1])


def policies_of(policies: str | Sequence[str]) -> tuple[Policy, ...]:
    """Return scheduling policies by name. Raises ``OptionError``."""
    return parse_policies(names_of(policies, "policy"))


def sizes_texts(buffers: int | AnyPath | Sequence[int | AnyPath] | None) -> tuple[str, ...]:
    """Return one size for all FIFOs, or several to choose from, as texts: tokens, files, methods. ``OptionError``."""
    if buffers is None:
        return ()
    buffers = _plain(buffers)
    if isinstance(buffers, (int, str, os.PathLike)):
        return (size_text(buffers),)
    if isinstance(buffers, Mapping) or not isinstance(buffers, Iterable):
        raise OptionError(
            f"buffers {buffers!r} are no sizes to choose from",
            expected="a number for all FIFOs, a file, a method, or a list of these; sizes by name go to estimate()",
        )
    return tuple(size_text(size) for size in buffers)


def size_text(size: int | AnyPath) -> str:
    """Return one size of all FIFOs as text: tokens, a file, a method. Raises ``OptionError``."""
    size = _plain(size)
    return str(size) if isinstance(size, int) else path_text(size, "size of FIFOs")


def clocks_of(clocks: GivenClocks | None) -> tuple[ClockRequest, ...]:
    """Return the clocks of units. Raises ``OptionError``."""
    if clocks is None:
        return ()
    if isinstance(clocks, str):
        return tuple(parse_clocks(text) for text in clocks.split())
    return tuple(parse_clocks(f"{unit}={_numbers(mhz)}") for unit, mhz in clocks.items())


def _plain(value: Any) -> Any:
    """Return an integer of numpy as one of Python, anything else as it is."""
    return value if isinstance(value, bool) or not isinstance(value, Integral) else int(value)


def _numbers(given: Any) -> str:
    """Return one number or several as text. Raises ``OptionError`` for what is none."""
    several = list(given) if isinstance(given, Iterable) and not isinstance(given, str) else [given]
    try:
        return ",".join(f"{float(mhz):.12g}" for mhz in several)
    except (TypeError, ValueError):
        expected = "MHz, one or several: 1000, [500, 1000]"
        raise OptionError(f"clocks {given!r} are no numbers", expected=expected) from None
