"""Displays: ``std.video.Display``, grey and RGB windows, comparison of pictures, our own ``dse.Picture``."""

from typing import Any

import numpy as np

from dse.base.errors import ExecutionError
from dse.run.natives.context import NativeContext, ProgramExit, flat
from dse.run.natives.screen import Plane

NativeTable = dict[str, object]
_ENABLED_AND_READY = 3


def plane_of(samples: Any, width: int, height: int) -> Plane:
    """Return the first width * height samples as a plane. Raises ``ExecutionError`` for an impossible size."""
    values = flat(samples)
    if not 0 < width * height <= len(values):
        raise ExecutionError(f"the program shows a picture of {width} x {height} from {len(values)} samples")
    return np.array(values[: width * height], dtype=np.int64).astype(np.uint8).reshape(height, width)


def _subsampled(y: Any, u: Any, v: Any, width: int, height: int) -> tuple[Plane, ...]:
    half = (width // 2, height // 2)
    return plane_of(y, width, height), plane_of(u, *half), plane_of(v, *half)


class LinePicture:
    """A picture that comes line by line (``dse.Picture``)."""

    def __init__(self, context: NativeContext) -> None:
        self.context = context
        self.lines: list[list[bytes]] = []
        self.size = (0, 0, 0)

    def start(self, width: int, height: int, components: int) -> None:
        """Begin a picture of 1 (luma) or 3 components."""
        if width <= 0 or height <= 0 or components not in (1, 3):
            raise ExecutionError(f"the program shows a picture of {width} x {height} with {components} components")
        self.size = (width, height, components)
        self.lines = [[] for _ in range(components)]

    def line(self, *samples: list[int]) -> None:
        """Add a line: the first samples of each list."""
        width = self.size[0]
        for lines, component in zip(self.lines, samples, strict=False):
            lines.append(bytes(component[:width]))

    def end(self) -> None:
        """Show the picture."""
        width, height, _ = self.size
        if any(len(lines) != height for lines in self.lines):
            raise ExecutionError(f"the program ends a picture of {height} lines after {len(self.lines[0])}")
        self.context.screen.show(
            tuple(np.frombuffer(b"".join(lines), np.uint8).reshape(height, width) for lines in self.lines)
        )
        if self.context.screen.full:
            raise ProgramExit(0, frames=True)


def natives(context: NativeContext) -> NativeTable:
    """Return the functions of the family."""
    screen = context.screen
    lines = LinePicture(context)

    def show_yuv(y: Any, u: Any, v: Any, width: int, height: int) -> None:
        if screen.full:
            raise ProgramExit(0, frames=True)
        screen.show(_subsampled(y, u, v, width, height))

    def show_444(y: Any, u: Any, v: Any, width: int, height: int) -> None:
        if screen.full:
            raise ProgramExit(0, frames=True)
        screen.show((plane_of(y, width, height), plane_of(u, width, height), plane_of(v, width, height)))

    def compare(y: Any, u: Any, v: Any, width: int, height: int) -> None:
        screen.compare(_subsampled(y, u, v, width, height))

    def show_gray(width: int, height: int, gray: Any, _mouse: list[int]) -> None:
        screen.show((plane_of(gray, width, height),))

    def nothing(*_arguments: Any) -> None:
        """Stand for what only a window has: opening it, its events, the frame rate."""

    def frames() -> int:
        # -1 is unlimited; 0 would stop the program at once (cal.md 2.5).
        return -1 if context.options.frames is None else context.options.frames

    return {
        "displayYUV_init": nothing,
        "displayYUV_displayPicture": show_yuv,
        "displayYUV_getFlags": lambda: _ENABLED_AND_READY,
        "displayYUV_getNbFrames": frames,
        "displayYUV_getEvent": nothing,
        "displayYUV444_init": nothing,
        "displayYUV444_displayPicture": show_444,
        "compareYUV_init": nothing,
        "compareYUV_comparePicture": compare,
        "fpsPrintInit": nothing,
        "fpsPrintNewPicDecoded": nothing,
        "initDisplayGray": nothing,
        "displayGray": show_gray,
        "display_getnbframes": frames,
        "display_checksum": nothing,
        "picture_start": lines.start,
        "picture_line": lines.line,
        "picture_end": lines.end,
    }
