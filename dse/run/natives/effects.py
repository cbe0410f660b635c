"""What the natives have to do with each other: which of them share something, and which change it.

For ``dse.passes.analyses.time_dependence``. A native that is bound by the user, or that nothing is known of, has
unknown effects. That ``source_exit`` and the displays end the run once ``-f`` pictures were shown is not counted: who
asks for that cuts the run off.
"""

from collections.abc import Iterable, Mapping
from types import MappingProxyType

from dse.passes.analyses.time_dependence import Effects, NativeEffects, find_time_dependence
from dse.program.ir import Native
from dse.program.network import Network


def _reads(state: str, *names: str) -> dict[str, NativeEffects]:
    return dict.fromkeys(names, NativeEffects(state=frozenset((state,))))


def _changes(state: str, *names: str) -> dict[str, NativeEffects]:
    return dict.fromkeys(names, NativeEffects(state=frozenset((state,)), changes=True))


def _ends(state: str, *names: str) -> dict[str, NativeEffects]:
    return dict.fromkeys(names, NativeEffects(state=frozenset((state,)), changes=True, ends=True))


def _nothing(*names: str) -> dict[str, NativeEffects]:
    return dict.fromkeys(names, NativeEffects())


_ZIGBEE = {
    **_changes("ZigBee's input", "source_init", "source_sizeOfFile", "source_readByte"),
    **_changes("ZigBee's output", "throw_away"),
    **_nothing("print_cyclecount"),
}
_PREDISTORTION = {
    **_nothing("source_init", "sink_init", "fpsPrintInit", "fpsPrintNewPicDecoded"),
    **_changes("the input of part i", "source_read_i"),
    **_changes("the input of part q", "source_read_q"),
    **_changes("the output of part i", "sink_consume_i"),
    **_changes("the output of part q", "sink_consume_q"),
}
_FILES = _changes(
    "files",
    "openFile",
    "seek",
    "closeFile",
    "sizeOfFile",
    "readByte",
    "readBytes",
    "writeByte",
    "writeBytes",
    "filePointer",
)
_CHANNELS = {
    **_changes("files", "open", "exists", "close", "isInputShutdown", "isOutputShutdown", "readByte", "writeByte"),
    **_nothing("setOption", "getOption"),
}
_CONSOLE = {
    **_changes("the console's input", "openConsole", "read", "readInteger"),
    **_nothing("closeConsole", "write"),
}
_BY_UNIT: tuple[tuple[str, Mapping[str, NativeEffects]], ...] = (
    ("common_tx.", _ZIGBEE),
    ("embedded_tx.", _ZIGBEE),
    ("common_dpd.", _PREDISTORTION),
    ("filter_dpd", _PREDISTORTION),
    ("system.io.AccessFile", _FILES),
    ("system.io.Console", _CONSOLE),
    ("intf.channel.", _CHANNELS),
)
"""As in the registry: prefix of the declaring unit's name -> the natives of its family."""
_BY_NAME: Mapping[str, NativeEffects] = MappingProxyType(
    {
        **_reads("the input", "source_isMaxLoopsReached"),
        **_changes("the input", "source_init", "source_readNBytes", "source_readByte", "source_rewind"),
        **_changes("the input", "source_decrementNbLoops"),
        **_nothing("source_sizeOfFile", "source_getNbLoop", "source_exit", "source_close"),
        **_changes("files", "source_open", "source_sizeOfFileFd", "source_readNBytesFd", "source_rewindFd"),
        **_changes("files", "source_closeFd"),
        **_changes("the output", "Writer_init", "Writer_write"),
        **_ends("the output", "Writer_close", "writer_closeAndQuit"),
        **_changes("files", "writer_open", "writer_writeNTokens"),
        **_changes("the stop flag", "writer_setStop"),
        **_reads("the stop flag", "writer_getStop"),
        **_changes("the screen", "displayYUV_displayPicture", "displayYUV444_displayPicture", "displayGray"),
        **_changes("the screen", "compareYUV_comparePicture", "picture_start", "picture_line", "picture_end"),
        **_nothing("displayYUV_init", "displayYUV_getFlags", "displayYUV_getNbFrames", "displayYUV_getEvent"),
        **_nothing("displayYUV444_init", "compareYUV_init", "fpsPrintInit", "fpsPrintNewPicDecoded"),
        **_nothing("initDisplayGray", "display_getnbframes", "display_checksum"),
        **_changes("the reference", "compare_readByte", "compare_NBytes", "compare_NBytesNext"),
        **_nothing("compare_init", "compare_close"),
        **_changes("the sample sources", "native_source_init", "native_source_produce", "native_source_produce_sf"),
        **_changes("the sample sources", "native_source_produce_hf"),
        **_changes("the sample sink", "native_sink_consume", "native_sink_consume_sf", "native_sink_consume_hf"),
        **_nothing("native_source_close", "native_sink_init"),
        **_nothing("throw_away", "print_cyclecount"),
        "report_fail": NativeEffects(fails=True),
    }
)


def why_time_matters(network: Network, bound: Iterable[str] = ()) -> str:
    """Return in a sentence why a run on several threads may not be the one on one thread; empty if it is.

    ``bound``: as for ``native_effects``.
    """
    found = find_time_dependence(network, native_effects(bound))
    if not found:
        return ""
    return f"what the network does may depend on time, and its runs may not be the one that is estimated: {found[0]}"


def native_effects(bound: Iterable[str] = ()) -> Effects:
    """Return the function that tells the effects of a native. ``bound``: "unit.function" of those a user binds."""
    unknown = frozenset(bound)

    def effects(native: Native) -> NativeEffects | None:
        if f"{native.declared_in}.{native.source_name}" in unknown:
            return None
        for prefix, family in _BY_UNIT:
            if native.declared_in.startswith(prefix):
                return family.get(native.source_name)
        return _BY_NAME.get(native.source_name)

    return effects
