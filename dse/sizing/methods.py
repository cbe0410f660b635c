"""The names of the ways to size FIFOs (``dse/sizing/buffers.py``)."""

from typing import Literal, TypeAlias

SizingMethod: TypeAlias = Literal["minimal", "maximal", "critical", "heavy", "top-down", "throughput"]
SIZING_METHODS: tuple[SizingMethod, ...] = ("minimal", "maximal", "critical", "heavy", "top-down", "throughput")
