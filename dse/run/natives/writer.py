"""Output files: ``Writer_*`` of a single file, ``writer_*`` by descriptor. Closing the last one ends the program."""

from pathlib import Path

from dse.base.errors import ExecutionError
from dse.run.natives.access import OpenFile
from dse.run.natives.context import NativeContext, ProgramExit, amount

NativeTable = dict[str, object]


class FileWriter:
    """One output file, byte by byte. Closing it ends the program, as its C body does (cal.md 2.5)."""

    def __init__(self, context: NativeContext) -> None:
        self.context = context
        self.file: OpenFile | None = None

    def init(self) -> None:
        """Create the file."""
        if self.file is None:
            self.file = self._create()

    def _create(self) -> OpenFile:
        path, unnamed = self.context.writer_path(), self.context.options.unnamed_output
        if path is not None:
            return self.context.create(path)
        if unnamed is None:
            raise ExecutionError("the network writes a file, but no name was given", expected="give one with -o OUT")
        file: OpenFile = self.context.access.create_named(unnamed)
        self.context.keep(file)
        return file

    def write(self, byte: int) -> None:
        """Append one byte."""
        if self.file is None:
            raise ExecutionError("the program writes before it opened its output")
        self.file.write(bytes((byte & 0xFF,)))

    def close(self) -> None:
        """Write everything out and end the program."""
        if self.file is not None:
            self.file.flush()
        raise ProgramExit(0)


def natives(context: NativeContext) -> NativeTable:
    """Return the functions of the family."""
    writer = FileWriter(context)
    stop = [False]
    opened: set[int] = set()

    def writer_open(name: str) -> int:
        path = context.writer_path()
        if path is None:
            number = context.keep(context.access.create_named(name))
        elif Path(path).is_dir():
            number = context.keep(context.access.create_in(Path(path), name))
        else:
            context.create(path)
            number = max(context.handles)
        opened.add(number)
        return number

    def write_tokens(number: int, data: list[int], count: int) -> None:
        context.handle(number).write(bytes(b & 0xFF for b in data[: amount(count, "writes")]))

    def close_and_quit(number: int) -> None:
        context.close_handle(number)
        if number in opened:
            opened.remove(number)
            if not opened:
                raise ProgramExit(0)

    def set_stop(value: bool) -> None:
        stop[0] = value

    return {
        "Writer_init": writer.init,
        "Writer_write": writer.write,
        "Writer_close": writer.close,
        "writer_open": writer_open,
        "writer_writeNTokens": write_tokens,
        "writer_closeAndQuit": close_and_quit,
        "writer_getStop": lambda: stop[0],
        "writer_setStop": set_stop,
    }
