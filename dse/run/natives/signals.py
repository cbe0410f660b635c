"""Sample files of the signal-processing applications: DigitalFiltering, Filters and LBP, ZigBee, Predistortion.

Their names collide with those of other programs, so that they are bound by the declaring unit (cal.md 2.5).
"""

import struct
from collections.abc import Iterator
from pathlib import Path

from dse.base.errors import ExecutionError
from dse.run.natives.access import OpenFile
from dse.run.natives.context import NativeContext, SourceExhausted, numbers, read_file

NativeTable = dict[str, object]


class TextSource:
    """Numbers of a text file. ``next_int`` and ``next_float`` end the calling actor after the last."""

    def __init__(self, path: Path, data: bytes) -> None:
        self.path = path
        self.words: Iterator[str] = numbers(data, path)

    def next_int(self) -> int:
        """Return the next integer."""
        return int(self._convert(int))

    def next_float(self) -> float:
        """Return the next float."""
        return float(self._convert(float))

    def _convert(self, kind: type[int] | type[float]) -> int | float:
        word = next(self.words, None)
        if word is None:
            raise SourceExhausted
        try:
            return kind(word)
        except ValueError:
            raise ExecutionError(f"'{self.path}' holds '{word}' where a number should be") from None


class TextSink:
    """A text file with one number a line; created with the first."""

    def __init__(self, context: NativeContext, suffix: str = "") -> None:
        self.context = context
        self.suffix = suffix
        self.file: OpenFile | None = None

    def write(self, text: str) -> None:
        """Append a line; without an output option there is nothing to write to."""
        path = self.context.options.write or self.context.options.output
        if path is None:
            return
        if self.file is None:
            whole = Path(path)
            name = str(whole.with_name(whole.stem + self.suffix + whole.suffix)) if self.suffix else path
            self.file = self.context.create(name)
        self.file.write(text.encode("ascii") + b"\n")


def digital_filtering(context: NativeContext) -> NativeTable:
    """Return ``native_source_*`` and ``native_sink_*``: -i gives the input file or the folder with ``input_K.in``."""
    sources: dict[int, TextSource] = {}
    sink = TextSink(context)

    def init(index: int = 0) -> None:
        sources[index] = TextSource(*context.input_in(f"input_{index}.in"))

    def source(index: int) -> TextSource:
        if index not in sources:
            init(index)
        return sources[index]

    return {
        "native_source_init": init,
        "native_source_close": lambda: None,
        "native_source_produce": lambda index=0: source(index).next_int(),
        "native_source_produce_sf": lambda index=0: source(index).next_float(),
        "native_source_produce_hf": lambda index=0: source(index).next_float(),
        "native_sink_init": lambda: None,
        "native_sink_consume": lambda value: sink.write(str(value)),
        "native_sink_consume_sf": lambda value: sink.write(f"{value:.0f}"),
        "native_sink_consume_hf": lambda value: sink.write(f"{value:.0f}"),
    }


def zigbee(context: NativeContext) -> NativeTable:
    """Return the natives of the ZigBee transmitter: packets as text integers, their lengths first."""
    sources: list[TextSource] = []

    def source() -> TextSource:
        if not sources:
            path = context.input_path()
            sources.append(TextSource(path, read_file(path, "input")))
        return sources[0]

    def size() -> int:
        # 1 is an invalid length: no further packet is sent.
        try:
            return source().next_int()
        except SourceExhausted:
            return 1

    sink = TextSink(context)
    return {
        "source_init": lambda: source() and None,
        "source_sizeOfFile": size,
        "source_readByte": lambda: source().next_int() & 0xFF,
        "throw_away": lambda value: sink.write(str(value)),
        "print_cyclecount": lambda: None,
    }


def predistortion(context: NativeContext) -> NativeTable:
    """Return the natives of the predistortion filters: ``in_i`` and ``in_q``, as text or as 32-bit floats."""
    sources: dict[str, TextSource] = {}
    sinks = {"i": TextSink(context, "_i"), "q": TextSink(context, "_q")}

    def source(part: str) -> TextSource:
        if part not in sources:
            sources[part] = TextSource(*context.input_in(f"in_{part}.txt"))
        return sources[part]

    def read(part: str) -> object:
        def scalar_or_block(buffer: list[float] | None = None, offset: int = 0, count: int = 0) -> float:
            if buffer is None:
                return source(part).next_float()
            for k in range(offset, min(offset + count, len(buffer))):
                buffer[k] = struct.unpack("<f", struct.pack("<f", source(part).next_float()))[0]
            return 0.0

        return scalar_or_block

    def consume(part: str) -> object:
        def scalar_or_block(value: float | list[float], count: int = 1) -> None:
            for sample in value[:count] if isinstance(value, list) else (value,):
                sinks[part].write(f"{sample:f}")

        return scalar_or_block

    return {
        "source_init": lambda: None,
        "source_read_i": read("i"),
        "source_read_q": read("q"),
        "sink_init": lambda: None,
        "sink_consume_i": consume("i"),
        "sink_consume_q": consume("q"),
        "fpsPrintInit": lambda: None,
        "fpsPrintNewPicDecoded": lambda: None,
    }
