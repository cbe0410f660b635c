"""Capacities of the FIFOs: those of ``--buffers``, else those of the network, else a default."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from dse.base.errors import OptionError
from dse.base.numbers import shortened
from dse.flows.setting import Setting
from dse.formats.bxdf import read_bxdf
from dse.model.design_point import DEFAULT_CAPACITY_TOKENS, MOST_TOKENS
from dse.model.trace import Topology

_NUMBER = re.compile(r"-?[0-9]+", re.ASCII)
_MOST_DIGITS = 1000


@dataclass(frozen=True, slots=True, kw_only=True)
class Capacities:
    """A capacity in tokens for each buffer, and the assumptions in it."""

    tokens: tuple[int, ...]
    assumed: tuple[str, ...]


def default_capacities(topology: Topology, least: Sequence[int], uniform: int | None = None) -> Capacities:
    """Return the network's buffer sizes where it gives them, else ``uniform`` or 512, never below what a firing needs.

    ``least``: the capacity of each buffer below which some firing can never happen. A size that the user gives
    (``uniform``) replaces the network's, and is not raised: what cannot run is then an error of the estimation.
    """
    if uniform is not None:
        return Capacities(tokens=(uniform,) * len(topology.buffers), assumed=())
    tokens, plain, raised = [], 0, 0
    for buffer, needed in zip(topology.buffers, least, strict=True):
        if buffer.capacity is None:
            plain += 1
            raised += needed > DEFAULT_CAPACITY_TOKENS
            tokens.append(max(DEFAULT_CAPACITY_TOKENS, needed))
        else:
            tokens.append(buffer.capacity)
    assumed = []
    if plain:
        of = "all FIFOs" if plain == len(tokens) else f"{plain} of {len(tokens)} FIFOs"
        more = f" ({raised} raised to what one firing needs)" if raised else ""
        assumed.append(f"a capacity of {DEFAULT_CAPACITY_TOKENS} tokens for {of}{more}")
    return Capacities(tokens=tuple(tokens), assumed=tuple(assumed))


def read_capacities(text: str, setting: Setting) -> Capacities:
    """Return the capacities of ``--buffers``: a number of tokens, a ``.bxdf`` file, or nothing for the default.

    Raises:
        OptionError: a number below 1. FormatError: the file is wrong or does not fit the network.
    """
    topology, least = setting.trace.topology, setting.tables.least_capacity
    if not text:
        return default_capacities(topology, least)
    if _NUMBER.fullmatch(text):
        value = int(text[:_MOST_DIGITS])  # more digits than that are beyond measure, whatever follows
        if value < 1:
            raise OptionError(
                f"a capacity of {shortened(text)} tokens holds nothing", expected="--buffers takes 1 or more"
            )
        if value > MOST_TOKENS:
            raise OptionError(
                f"no memory holds {shortened(text)} tokens", expected=f"--buffers takes at most {MOST_TOKENS}"
            )
        return default_capacities(topology, least, value)
    if not _is_file(text):
        raise OptionError(
            f"buffers '{shortened(text)}' is neither a number nor a file", expected="--buffers 512, --buffers X.bxdf"
        )
    return Capacities(tokens=read_bxdf(text, topology), assumed=())


def _is_file(text: str) -> bool:
    """Return whether a text is the path of a file; no file where it cannot be one, as it is too long or holds NUL."""
    try:
        return Path(text).is_file()
    except (OSError, ValueError):
        return False
