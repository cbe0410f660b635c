"""How many blocks a multiprocessor holds: the limits that every model has (CUDA C Programming Guide, occupancy)."""

from dataclasses import dataclass

from dse.model.device import Device
from dse.model.kernel import KernelFeatures


@dataclass(frozen=True, slots=True, kw_only=True)
class Residence:
    """Blocks on one multiprocessor: as many as fit, and what limits them, in words."""

    blocks: int
    limit: str


def least_residence(
    features: KernelFeatures, device: Device, model: str, own: tuple[tuple[int, str], ...]
) -> Residence:
    """Return the least of a model's own limits, that of the device and that of shared memory.

    Raises ``FormatError`` for a device that lacks a constant.
    """
    limits = [(int(device.require("blocks_per_sm", model)), "blocks a multiprocessor"), *own]
    if features.shared is not None and features.shared.bytes_per_block > 0:
        held = int(device.require("shared_bytes", model))
        limits.append((held // features.shared.bytes_per_block, "shared memory"))
    blocks, limit = min(limits)
    return Residence(blocks=blocks, limit=limit)


def too_large(features: KernelFeatures, device: Device, room: Residence) -> str:
    """Return why a block cannot run on a device, empty if it can."""
    if device.threads_per_block is not None and features.block_threads > device.threads_per_block:
        return f"a block of {features.block_threads} threads; the device takes {device.threads_per_block}"
    return "" if room.blocks else f"no block fits on a multiprocessor (limited by {room.limit})"
