"""The terms of the linear performance breakdown: equations 4.3 to 4.6 of Chapa Martell 2014, in three readings.

PUT as printed (4.3 over 4.4) is smaller where there are more rounds, while the text says that work which is not done at
once takes longer: ``prose`` divides the operations by the groups at once, ``rounds`` multiplies them by the rounds.
"""

from math import ceil

from dse.base.errors import OptionError
from dse.model.breakdown import Factors, KernelCounts, MeasuredTile, Reading
from dse.model.device import Device


def factors(
    counts: KernelCounts,
    measured: MeasuredTile,
    size: int,
    device: Device,
    reading: Reading,
    *,
    total: float | None = None,
) -> Factors:
    """Return the terms of one measured tile. ``total``: floating-point operations of all items; None: as counted.

    Raises ``OptionError`` where the device lacks a constant, or a group does not fit it.
    """
    tile = measured.tile
    local_size = measured.local_size or tile**counts.dims
    per_group = ceil(local_size / device.warp)
    groups = ceil(size / tile) ** counts.dims if measured.local_size is None else ceil(size**counts.dims / local_size)
    per_unit = groups_per_unit(counts, device)
    at_once = per_unit * device.sms * per_group
    wavefronts = groups * per_group
    operations = float(counts.operations) * groups * local_size if total is None else total
    level = wavefronts / at_once
    put = {
        "as_printed": operations / level,
        "prose": operations / (per_unit * device.sms),
        "rounds": operations * level,
    }[reading]
    return Factors(
        tile=tile,
        local_size=local_size,
        wavefronts_per_group=per_group,
        groups=groups,
        groups_per_unit=per_unit,
        wavefronts_at_once=at_once,
        wavefronts=wavefronts,
        put=put,
        g2st=size * per_group / local_size,
        s2pt=groups / at_once,
    )


def groups_per_unit(counts: KernelCounts, device: Device) -> int:
    """Return how many work-groups reside on a compute unit: as many as it takes, and as its local memory holds."""
    most = device.blocks_per_sm
    if most is None or device.shared_bytes is None:
        lacking = "limits.blocks_per_sm" if most is None else "limits.shared_bytes"
        raise OptionError(f"device '{device.name}' lacks {lacking}", expected="add it to the device file")
    fit = most if not counts.local_bytes else min(most, device.shared_bytes // counts.local_bytes)
    if not fit:
        raise OptionError(
            f"a work-group of '{counts.kernel}' needs {counts.local_bytes:,} bytes of local memory, and device"
            f" '{device.name}' has {device.shared_bytes:,}",
            expected="leave out the tiles that do not fit",
        )
    return fit
