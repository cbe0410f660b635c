"""Capacities of the FIFOs: those of ``--buffers``, else those of the network, else a default."""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from dse.base.errors import OptionError
from dse.base.numbers import shortened
from dse.base.paths import is_file_there
from dse.estimate.deadlock import always_deadlocks, enough_capacities
from dse.flows.program import run_tokens
from dse.flows.setting import Setting
from dse.formats.bxdf import read_bxdf
from dse.model.design_point import DEFAULT_CAPACITY_TOKENS, MOST_TOKENS
from dse.model.trace import Topology

_NUMBER = re.compile(r"-?[0-9]+", re.ASCII)
_MOST_DIGITS = 1000
_MOST_ROOM = 1 << 20
"""Where enlarging the FIFOs of a search ends."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Capacities:
    """A capacity in tokens for each buffer, and the assumptions in it."""

    tokens: tuple[int, ...]
    assumed: tuple[str, ...]


def default_capacities(topology: Topology, least: Sequence[int]) -> Capacities:
    """Return the network's buffer sizes where it gives them, else 512, never below what a firing needs.

    ``least``: the capacity of each buffer below which some firing can never happen.
    """
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


def search_capacities(setting: Setting) -> Capacities:
    """Return the default capacities of a search: as ``default_capacities``, but never such that all mappings deadlock.

    No buffer is smaller than its largest rate. Where every mapping still deadlocks, those whose capacity nobody gave
    are enlarged to what the run that made the trace had, and on by factors of two until the firings fit. (Actors of a
    run take tokens out of their inputs before they need them, so the capacity of the run may not do.) Where that does
    not help, single buffers are raised by Parks' rule, those with a given capacity too.
    """
    topology, least, tokens = setting.trace.topology, setting.tables.least_capacity, run_tokens(setting.trace)
    usual = _raised(default_capacities(topology, least), least, topology, "raised to what one firing needs")
    if _has_run_with_them(setting):
        return usual
    if not always_deadlocks(setting.tables, usual.tokens):
        return usual
    room = 2 * DEFAULT_CAPACITY_TOKENS if tokens is None else int(tokens)
    while room <= _MOST_ROOM:
        wanted = tuple(room if buffer.capacity is None else 1 for buffer in topology.buffers)
        enlarged = _raised(usual, wanted, topology, "because with less every mapping deadlocks")
        if not always_deadlocks(setting.tables, enlarged.tokens):
            return enlarged
        room *= 2
    enough = enough_capacities(setting.tables, usual.tokens)
    if enough is None:
        return usual  # nothing helps: the search says so
    return _raised(usual, enough, topology, "because with less every mapping deadlocks")


def _has_run_with_them(setting: Setting) -> bool:
    """Return whether the network has just run with the default capacities: a run gives no FIFO less than the usual."""
    if setting.network is None or run_tokens(setting.trace) is not None:
        return False
    sizes = (buffer.capacity for buffer in setting.trace.topology.buffers)
    return all(size is None or size >= DEFAULT_CAPACITY_TOKENS for size in sizes)


def _raised(found: Capacities, least: Sequence[int], topology: Topology, why: str) -> Capacities:
    """Return capacities of at least ``least`` tokens, and what was raised."""
    tokens = tuple(map(max, found.tokens, least))
    changed = [b for b, (before, after) in enumerate(zip(found.tokens, tokens, strict=True)) if after > before]
    if not changed:
        return found
    first = f"{topology.buffer_name(changed[0])} {found.tokens[changed[0]]} -> {tokens[changed[0]]}"
    more = f" and {len(changed) - 1} more" if len(changed) > 1 else ""
    return Capacities(tokens=tokens, assumed=(*found.assumed, f"capacity of {first}{more} ({why})"))


def read_capacities(text: str, setting: Setting) -> Capacities:
    """Return the capacities of ``--buffers``: a number of tokens, a ``.bxdf`` file, or nothing for the default.

    Raises:
        OptionError: a number below 1. FormatError: the file is wrong or does not fit the network.
    """
    topology, least = setting.trace.topology, setting.tables.least_capacity
    if not text:
        return default_capacities(topology, least)
    return Capacities(tokens=given_capacities(text, topology), assumed=())


def given_capacities(text: str, topology: Topology) -> tuple[int, ...]:
    """Return the capacities that a number of tokens or a ``.bxdf`` file gives; errors as ``read_capacities``.

    They replace the network's and are not raised: what cannot run is then an error of the estimation.
    """
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
        return (value,) * len(topology.buffers)
    if not is_file_there(text):
        raise OptionError(
            f"buffers '{shortened(text)}' is neither a number nor a file", expected="--buffers 512, --buffers X.bxdf"
        )
    return read_bxdf(text, topology)
