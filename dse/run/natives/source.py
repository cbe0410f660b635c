"""The input file: ``std.stdio.Source`` and the units that declare the same functions; the file-descriptor variant."""

from dse.base.errors import ExecutionError
from dse.run.natives.context import NativeContext, ProgramExit, amount

NativeTable = dict[str, object]


class FileSource:
    """One input file read by position (behaviour of Orcc's source.c, without its exit on success)."""

    def __init__(self, context: NativeContext) -> None:
        self.context = context
        self.position = 0
        self.loops_left = context.options.loops

    def init(self) -> None:
        """Open the input."""
        self.context.read_input()
        self.loops_left = self.context.options.loops

    def size(self) -> int:
        """Return the size of the input in bytes."""
        return len(self.context.read_input())

    def read(self, buffer: list[int], count: int) -> None:
        """Fill the first ``count`` elements of ``buffer``."""
        data = self.context.read_input()
        if self.position + amount(count, "reads") > len(data):
            raise ExecutionError(
                f"the program reads {count} bytes at {self.position} of an input of {len(data)} bytes",
                expected="give the input that the program expects",
            )
        n = min(count, len(buffer))
        buffer[:n] = data[self.position : self.position + n]
        self.position += count

    def read_byte(self) -> int:
        """Return the next byte; after the last comes the first again."""
        data = self.context.read_input()
        if not data:
            raise ExecutionError(f"the input '{self.context.input_path()}' is empty")
        if self.position >= len(data):
            self.position = 0
        self.position += 1
        return data[self.position - 1]

    def rewind(self) -> None:
        """Start again at the first byte."""
        self.position = 0

    def decrement_loops(self) -> None:
        """Count one reading of the input."""
        self.loops_left -= 1

    def loops(self) -> int:
        """Return how often the input is to be read."""
        self.context.asked_loops = True
        return self.context.options.loops

    def loops_reached(self) -> bool:
        """Return whether the input was read as often as asked for."""
        self.context.asked_loops = True
        return self.loops_left <= 0

    def exit(self, code: int) -> None:
        """Ignore a success, which comes before the pipeline has drained (cal.md 2.5); end the run on a failure."""
        if code:
            raise ProgramExit(code)
        if self.context.screen.full:
            raise ProgramExit(0, frames=True)


class DescriptorSource:
    """Input files by descriptor (HEVC test benches)."""

    def __init__(self, context: NativeContext) -> None:
        self.context = context

    def open(self, name: str) -> int:
        """Open file ``name`` in the input folder."""
        path = self.context.input_path()
        return self.context.keep(self.context.access.read_path(path / name if path.is_dir() else path.parent / name))

    def size(self, number: int) -> int:
        """Return the size in bytes."""
        handle = self.context.handle(number)
        here = handle.tell()
        size = handle.seek(0, 2)
        handle.seek(here)
        return size

    def read(self, number: int, buffer: list[int], count: int) -> None:
        """Fill the first ``count`` elements of ``buffer``."""
        left = self.size(number) - self.context.handle(number).tell()
        if left < amount(count, "reads"):
            raise ExecutionError(f"the program reads {count} bytes where file {number} has {left} left")
        data = self.context.handle(number).read(count)
        n = min(count, len(buffer))
        buffer[:n] = data[:n]

    def rewind(self, number: int) -> None:
        """Start again at the first byte."""
        self.context.handle(number).seek(0)


def natives(context: NativeContext) -> NativeTable:
    """Return the functions of the family."""
    source, descriptors = FileSource(context), DescriptorSource(context)
    return {
        "source_init": source.init,
        "source_sizeOfFile": source.size,
        "source_readNBytes": source.read,
        "source_readByte": source.read_byte,
        "source_rewind": source.rewind,
        "source_decrementNbLoops": source.decrement_loops,
        "source_isMaxLoopsReached": source.loops_reached,
        "source_getNbLoop": source.loops,
        "source_exit": source.exit,
        "source_close": lambda: None,
        "source_open": descriptors.open,
        "source_sizeOfFileFd": descriptors.size,
        "source_readNBytesFd": descriptors.read,
        "source_rewindFd": descriptors.rewind,
        "source_closeFd": context.close_handle,
    }
