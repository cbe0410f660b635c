"""The natives that the tests call: each as a program declares it, and with which lists it is called."""

from dataclasses import dataclass

from dse.program.ir import Native, Variable
from dse.program.types import BOOL, FLOAT32, FLOAT64, INT32, STRING, UINT32, IntType, ListType, Type

U8, U16, I64, U64 = IntType(8, False), IntType(16, False), IntType(64, True), IntType(64, False)
ELEMENTS: dict[str, tuple[Type, str]] = {
    "u8": (U8, "std::uint8_t"),
    "i32": (INT32, "std::int32_t"),
    "u64": (U64, "std::uint64_t"),
    "bool": (BOOL, "bool"),
    "f32": (FLOAT32, "float"),
    "f64": (FLOAT64, "double"),
}
"""Elements of lists: their type in a program, and what C++ stores them in."""
SCALARS: dict[str, Type] = {
    "int": INT32,
    "uint": UINT32,
    "i64": I64,
    "u64": U64,
    "byte": U8,
    "flag": BOOL,
    "real": FLOAT64,
    "text": STRING,
}


@dataclass(frozen=True, slots=True)
class Call:
    """One native that may be called. ``parameters``: names of scalars, or of elements with dimensions (``u8*1``)."""

    unit: str
    name: str
    parameters: tuple[str, ...]
    result: str | None

    @property
    def key(self) -> str:
        """What a script calls it."""
        return f"{self.unit}.{self.name}({','.join(self.parameters)})"

    @property
    def native(self) -> Native:
        """The native as the IR holds it."""
        variables = tuple(
            Variable(f"p{k}", f"p{k}", _type(text), "parameter") for k, text in enumerate(self.parameters)
        )
        result = None if self.result is None else SCALARS[self.result]
        return Native(self.name, self.name, self.unit, variables, result)


def _type(text: str) -> Type:
    element, star, dimensions = text.partition("*")
    if not star:
        return SCALARS[element]
    of = ELEMENTS[element][0]
    for _ in range(int(dimensions)):
        of = ListType(of, 4)
    return of


_LINES = """
S source_init
S source_sizeOfFile > int
S source_readNBytes u8*1 uint
S source_readNBytes i32*1 uint
S source_readByte > byte
S source_rewind
S source_decrementNbLoops
S source_isMaxLoopsReached > flag
S source_getNbLoop > int
S source_exit int
S source_close
S source_open text > i64
S source_sizeOfFileFd i64 > uint
S source_readNBytesFd i64 u8*1 uint
S source_readNBytesFd i64 i32*1 int
S source_rewindFd i64
S source_closeFd i64
W Writer_init
W Writer_write byte
W Writer_close
W writer_open text > uint
W writer_writeNTokens int u8*1 int
W writer_writeNTokens int i32*1 int
W writer_closeAndQuit int
W writer_getStop > flag
W writer_setStop flag
D displayYUV_init
D displayYUV_displayPicture u8*1 u8*1 u8*1 int int
D displayYUV_displayPicture i32*2 u64*1 bool*1 int int
D displayYUV_getFlags > byte
D displayYUV_getNbFrames > int
D displayYUV_getEvent
D displayYUV444_init int int
D displayYUV444_displayPicture u8*1 u8*1 u8*1 int int
D compareYUV_init
D compareYUV_comparePicture u8*1 u8*1 u8*1 int int
D fpsPrintInit
D fpsPrintNewPicDecoded
D initDisplayGray uint uint
D displayGray uint uint u8*1 i32*1
D display_getnbframes > int
D display_checksum int
P picture_start int int int
P picture_line u8*1 u8*1 u8*1
P picture_line i32*1
P picture_end
C compare_init
C compare_close
C compare_readByte byte
C compare_NBytes u8*1 int
C compare_NBytes i32*1 int
C compare_NBytesNext u8*1 int int
F native_source_init int
F native_source_init
F native_source_close
F native_source_produce int > int
F native_source_produce > int
F native_source_produce int > real
F native_source_produce_sf > real
F native_source_produce_hf int > real
F native_source_produce_sf > int
F native_sink_init
F native_sink_consume int
F native_sink_consume u64
F native_sink_consume flag
F native_sink_consume_sf real
F native_sink_consume_sf int
F native_sink_consume_hf real
M throw_away int
M print_cyclecount
R report_fail text text
Z source_init
Z source_sizeOfFile > int
Z source_readByte > byte
Z throw_away int
Z print_cyclecount
Q source_init
Q source_read_i > real
Q source_read_q > real
Q source_read_i f32*1 int int
Q source_read_q f64*1 int int
Q sink_init
Q sink_consume_i real
Q sink_consume_q real
Q sink_consume_i f32*1 int
Q sink_consume_q f64*1 int
Q fpsPrintInit
Q fpsPrintNewPicDecoded
A openFile text > int
A closeFile int > int
A readByte int > byte
A readBytes int u8*1 int
A readBytes int i32*1 int
A writeByte int int
A writeBytes int u8*1 int
A writeBytes int i32*1 int
A sizeOfFile int > int
A seek int i64
A filePointer int > uint
K openConsole text > int
K closeConsole int > int
K read int > text
K readInteger int > int
K write int text
H open text text > int
H exists int > flag
H close int
H isInputShutdown int > flag
H isOutputShutdown int > flag
H readByte int > int
H writeByte int int
H setOption int text text
H getOption int text > text
N strange int > int
N source_init int
N display_checksum > int
N source_readNBytes bool*1 uint
"""
_UNITS = {
    "S": "std.stdio.Source",
    "W": "writer.Writer",
    "D": "std.video.Display",
    "P": "dse.Picture",
    "C": "std.util.Compare",
    "F": "fir.source",
    "M": "sim.Sink",
    "R": "dse.Report",
    "Z": "common_tx.source",
    "Q": "common_dpd.source",
    "A": "system.io.AccessFile",
    "K": "system.io.Console",
    "H": "intf.channel.File",
    "N": "other.Unit",
}


def _calls() -> tuple[Call, ...]:
    found = []
    for line in _LINES.strip().splitlines():
        (unit, name, *parameters), result = line.partition(" > ")[0].split(), line.partition(" > ")[2] or None
        found.append(Call(_UNITS[unit], name, tuple(parameters), result))
    return tuple(found)


CALLS = _calls()
