"""What the natives of one run share: options, files, pictures; and how a native ends an actor or the run."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from dse.base.errors import ExecutionError
from dse.run.natives.access import FileAccess, OpenFile
from dse.run.natives.screen import Screen
from dse.run.options import RunOptions


class ProgramExit(Exception):
    """A native ends the program with an exit code; ``frames``: because enough pictures were shown."""

    def __init__(self, exit_code: int, *, frames: bool = False) -> None:
        super().__init__(exit_code)
        self.exit_code = exit_code
        self.frames = frames


class SourceExhausted(Exception):
    """A native source has no more samples: the actor that called it ends, the others run on to quiescence.

    The C bodies of these natives end the program as soon as a sink sees that the input is used up, which cuts off
    what is still in the FIFOs, depending on the schedule (cal.md 2.5).
    """


class InputRefused(ExecutionError):
    """The program says what is wrong with its input (``dse.Report``); the place is in the input, not in the program."""


@dataclass(slots=True)
class NativeContext:
    """The outside world of one run. ``output`` takes what the program prints."""

    options: RunOptions
    output: Callable[[str], object]
    access: FileAccess
    """The files that the program may open."""
    screen: Screen
    handles: dict[int, OpenFile] = field(default_factory=dict)
    input_bytes: bytes | None = None
    asked_input: bool = False
    """Whether a native asked where the input is."""
    asked_loops: bool = False
    """Whether a native asked how often the input is to be read."""
    _next_handle: int = 3

    def read_input(self) -> bytes:
        """Return the bytes of the input file. Raises ``ExecutionError`` when there is none or it cannot be read."""
        if self.input_bytes is None:
            path = self.input_path()
            if path.is_dir():
                raise ExecutionError(f"the input '{path}' is a folder", expected="give a file with -i")
            self.input_bytes = read_file(path, "input")
        return self.input_bytes

    def input_path(self) -> Path:
        """Return the path of the input. Raises ``ExecutionError`` when none was given."""
        self.asked_input = True
        if self.options.input is None:
            raise ExecutionError("the network reads an input, but none was given", expected="give a file with -i INPUT")
        return Path(self.options.input)

    def input_in(self, name: str) -> tuple[Path, bytes]:
        """Return input file ``name`` of the input folder, and its bytes; ``-i`` may also name that file itself."""
        path = self.input_path()
        if not path.is_dir():
            return path, read_file(path, "input")
        with self.access.read_path(path / name) as file:
            return path / name, file.read()

    def writer_path(self) -> str | None:
        """Return where a writer native writes by the options, or None where they say nothing."""
        return self.options.write or self.options.output

    def create(self, path: str) -> OpenFile:
        """Open a file that the user named for writing; it is an output of the run, and closed at its end."""
        try:
            file: OpenFile = Path(path).open("wb")  # noqa: SIM115  # closed at the end of the run
        except OSError as error:
            raise ExecutionError(f"cannot open '{path}': {error.strerror}") from error
        self.keep(file)
        self.access.written.append(path)
        return file

    def keep(self, file: OpenFile) -> int:
        """Return the number under which the program knows an open file."""
        number = self._next_handle
        self._next_handle += 1
        self.handles[number] = file
        return number

    def handle(self, number: int) -> OpenFile:
        """Return an open file. Raises ``ExecutionError`` for a number that is none."""
        if number not in self.handles:
            raise ExecutionError(f"the program uses file {number}, which is not open")
        return self.handles[number]

    def close_handle(self, number: int) -> None:
        """Close a file; closing one that is not open has no effect."""
        if number in self.handles:
            self.handles.pop(number).close()

    def close(self) -> None:
        """Close all files and finish the pictures."""
        for number in list(self.handles):
            self.close_handle(number)
        self.screen.close()


def read_file(path: Path, what: str) -> bytes:
    """Return the bytes of a file that the user named. Raises ``ExecutionError`` that calls it ``what``."""
    try:
        return path.read_bytes()
    except OSError as error:
        raise ExecutionError(f"cannot read the {what} '{path}': {error.strerror}") from error


def amount(count: int, what: str) -> int:
    """Return a number of bytes that a program asks for. Raises ``ExecutionError`` for one below 0."""
    if count < 0:
        raise ExecutionError(f"the program {what} {count} bytes")
    return count


def flat(values: Any) -> list[int]:
    """Return nested lists as one."""
    if values and isinstance(values[0], list):
        return [v for row in values for v in flat(row)]
    result: list[int] = values
    return result


def numbers(data: bytes, path: Path) -> Iterator[str]:
    """Yield the words of a text file. Raises ``ExecutionError`` for one that is no text."""
    try:
        yield from data.decode("ascii").split()
    except UnicodeDecodeError as error:
        raise ExecutionError(f"'{path}' is no text file: byte {error.start}") from error
