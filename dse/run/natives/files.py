"""Files and consoles that a program names itself: AccessFile, Console, file channels; comparison of bytes."""

from pathlib import Path

from dse.base.errors import ExecutionError
from dse.run.natives.context import NativeContext, amount, read_file

NativeTable = dict[str, object]
_LARGEST_FILE = 1 << 40
"""Bytes; a program that seeks beyond is mistaken."""


def access_file(context: NativeContext) -> NativeTable:
    """Return the functions of ``system.io.AccessFile``. Relative names are looked for beside the network."""

    def close_file(number: int) -> int:
        context.close_handle(number)
        return 0

    def read_byte(number: int) -> int:
        data = context.handle(number).read(1)
        if not data:
            raise ExecutionError("the program reads beyond the end of a file")
        return data[0]

    def read_bytes(number: int, buffer: list[int], count: int) -> None:
        handle = context.handle(number)
        data = handle.read(min(amount(count, "reads"), len(buffer)))
        buffer[: len(data)] = data
        if count > len(buffer):  # what has no place is read all the same
            handle.seek(min(handle.tell() + count - len(buffer), size(number)))

    def write_byte(number: int, byte: int) -> None:
        context.handle(number).write(bytes((byte & 0xFF,)))

    def write_bytes(number: int, buffer: list[int], count: int) -> None:
        context.handle(number).write(bytes(b & 0xFF for b in buffer[: amount(count, "writes")]))

    def size(number: int) -> int:
        handle = context.handle(number)
        here = handle.tell()
        end = handle.seek(0, 2)
        handle.seek(here)
        return end

    def seek(number: int, position: int) -> None:
        if not 0 <= position < _LARGEST_FILE:
            raise ExecutionError(f"the program seeks byte {position} of a file")
        context.handle(number).seek(position)

    return {
        "openFile": lambda name: context.keep(context.access.update_named(name)),
        "closeFile": close_file,
        "readByte": read_byte,
        "readBytes": read_bytes,
        "writeByte": write_byte,
        "writeBytes": write_bytes,
        "sizeOfFile": size,
        "seek": seek,
        "filePointer": lambda number: context.handle(number).tell(),
    }


def channel(context: NativeContext) -> NativeTable:
    """Return the functions of the file channels (``intf.channel``): -1 from ``readByte`` at the end of the file."""
    ended: set[int] = set()

    def open_channel(name: str, mode: str) -> int:
        access = context.access
        return context.keep(access.read_named(name) if "r" in mode else access.create_named(name))

    def read_byte(number: int) -> int:
        data = context.handle(number).read(1)
        if not data:
            ended.add(number)
            return -1
        return data[0]

    return {
        "open": open_channel,
        "exists": lambda number: number in context.handles,
        "close": context.close_handle,
        "isInputShutdown": lambda number: number in ended,
        "isOutputShutdown": lambda number: number not in context.handles,
        "readByte": read_byte,
        "writeByte": lambda number, byte: context.handle(number).write(bytes((byte & 0xFF,))),
        "setOption": lambda _number, _name, _value: None,
        "getOption": lambda _number, _name: "",
    }


def console(context: NativeContext) -> NativeTable:
    """Return the functions of ``system.io.Console``: all consoles are one; it reads the lines given to the run."""
    lines = iter(context.options.console_input)
    count = [0]

    def open_console(_name: str) -> int:
        count[0] += 1
        return count[0]

    def read(_number: int) -> str:
        line = next(lines, None)
        if line is None:
            raise ExecutionError("the program reads from the console, but no line is left for it")
        return line

    def read_integer(number: int) -> int:
        line = read(number)
        try:
            return int(line)
        except ValueError:
            raise ExecutionError(f"the program reads an integer from the console, not '{line}'") from None

    return {
        "openConsole": open_console,
        "closeConsole": lambda _number: 0,
        "read": read,
        "readInteger": read_integer,
        "write": lambda _number, text: context.output(str(text)),
    }


def compare(context: NativeContext) -> NativeTable:
    """Return the functions of ``std.util.Compare``: bytes against the reference; the run goes on after a difference."""
    state = {"position": 0}

    def reference() -> bytes:
        if context.options.reference is None:
            raise ExecutionError(
                "the network compares its output, but no reference was given", expected="give a file with -y REFERENCE"
            )
        return read_file(Path(context.options.reference), "reference")

    cached: list[bytes] = []

    def init() -> None:
        if not cached:
            cached.append(reference())

    def block(values: list[int], count: int) -> None:
        init()
        amount(count, "compares")
        start = state["position"]
        state["position"] += count
        context.screen.count(bytes(v & 0xFF for v in values[:count]), cached[0][start : start + count])

    def block_next(values: list[int], count: int, _display: int) -> None:
        init()
        if count < 1:
            raise ExecutionError(f"the program compares {count} bytes")
        wanted = bytes(v & 0xFF for v in values[:count])
        start = state["position"]
        while start < len(cached[0]) and cached[0][start : start + count] != wanted:
            start += count
        state["position"] = start + count
        context.screen.count(wanted, cached[0][start : start + count])

    return {
        "compare_init": init,
        "compare_close": lambda: None,
        "compare_readByte": lambda byte: block([byte], 1),
        "compare_NBytes": block,
        "compare_NBytesNext": block_next,
    }
