"""GPU device files: the writer. Every constant stands with its value, its source, and whether it is assumed."""

import json
from collections.abc import Mapping
from pathlib import Path

from dse.base.files import write_whole
from dse.model.device import ConstantOrigin, Device, constant_value


def device_text(device: Device) -> str:
    """Return a device as the text of a file that ``read_device`` reads as the same device."""
    sections: dict[str, list[str]] = {}
    lines = [f"name: {json.dumps(device.name)}"]
    for origin in device.origins:
        section, dot, key = origin.key.partition(".")
        value = constant_value(device, origin.key)
        if isinstance(value, Mapping):
            classes = ", ".join(f"{kind}: {number:.6g}" for kind, number in value.items())
            lines.append(f"{section}: {{{classes}, {_origin_text(origin)}}}")
        elif dot:
            sections.setdefault(section, []).append(f"  {key}: {{value: {value:.15g}, {_origin_text(origin)}}}")
        else:
            lines.append(f"{section}: {{value: {value:.15g}, {_origin_text(origin)}}}")
    for section, constants in sections.items():
        lines += [f"{section}:", *constants]
    return "\n".join(lines) + "\n"


def write_device(path: str, device: Device) -> None:
    """Write a device file, whole or not at all. Raises ``OSError`` where it cannot be written."""
    write_whole(Path(path), device_text(device))


def _origin_text(origin: ConstantOrigin) -> str:
    assumed = ", assumed: true" if origin.assumed else ""
    return f"source: {json.dumps(origin.source, ensure_ascii=False)}{assumed}"
