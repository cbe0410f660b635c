"""Output files: ``Writer_*`` of a single file, ``writer_*`` by descriptor."""

from pathlib import Path
from typing import BinaryIO

from dse.base.errors import ExecutionError
from dse.run.natives.context import NativeContext

NativeTable = dict[str, object]


class FileWriter:
    """One output file, byte by byte. Closing it does not end the run: other actors may still have to finish."""

    def __init__(self, context: NativeContext) -> None:
        self.context = context
        self.file: BinaryIO | None = None

    def init(self) -> None:
        """Create the file."""
        if self.file is None:
            self.file = self.context.create(self.context.writer_path())

    def write(self, byte: int) -> None:
        """Append one byte."""
        if self.file is None:
            raise ExecutionError("the program writes before it opened its output")
        self.file.write(bytes((byte & 0xFF,)))

    def close(self) -> None:
        """Write everything out."""
        if self.file is not None:
            self.file.flush()


def natives(context: NativeContext) -> NativeTable:
    """Return the functions of the family."""
    writer = FileWriter(context)
    stop = [False]

    def writer_open(name: str) -> int:
        folder = Path(context.writer_path())
        path = folder / name if folder.is_dir() else folder
        context.written.append(str(path))
        return context.open_handle(path, "wb")

    def write_tokens(number: int, data: list[int], count: int) -> None:
        context.handle(number).write(bytes(b & 0xFF for b in data[:count]))

    def set_stop(value: bool) -> None:
        stop[0] = value

    return {
        "Writer_init": writer.init,
        "Writer_write": writer.write,
        "Writer_close": writer.close,
        "writer_open": writer_open,
        "writer_writeNTokens": write_tokens,
        "writer_closeAndQuit": context.close_handle,
        "writer_getStop": lambda: stop[0],
        "writer_setStop": set_stop,
    }
