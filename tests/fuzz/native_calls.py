"""Natives called with arguments of every type and size: an error of the run, never a traceback or an endless call."""

import contextlib
import random
from pathlib import Path

from dse.base.errors import DseError
from dse.frontend.network.elaborate import load_network
from dse.run.execution import run_network
from dse.run.options import RunOptions
from tests.fuzz.behaviour import Hang, bounded, fault_text

_NATIVES = {
    "": """source_init: source_sizeOfFile: source_readNBytes:ui source_readByte: source_rewind: source_decrementNbLoops:
        source_isMaxLoopsReached: source_getNbLoop: source_exit:i source_open:s source_sizeOfFileFd:i
        source_readNBytesFd:iui source_rewindFd:i source_closeFd:i Writer_init: Writer_write:i Writer_close:
        writer_open:s writer_writeNTokens:iui writer_closeAndQuit:i writer_getStop: writer_setStop:b displayYUV_init:
        displayYUV_displayPicture:uuuii displayYUV_getFlags: displayYUV_getNbFrames: displayYUV444_displayPicture:uuuii
        compareYUV_comparePicture:uuuii displayGray:iiul picture_start:iii picture_line:uuu picture_line:u picture_end:
        compare_init: compare_readByte:i compare_NBytes:ui compare_NBytesNext:uii native_source_init:i
        native_source_produce:i native_source_produce_sf:i native_sink_consume:i native_sink_consume_sf:d throw_away:i
        report_fail:ss display_checksum:i""",
    "system.io.AccessFile": """openFile:s openFile:s closeFile:i readByte:i readBytes:iui writeByte:ii writeBytes:iui
        sizeOfFile:i seek:ii filePointer:i""",
    "system.io.Console": """openConsole:s closeConsole:i read:i readInteger:i write:is""",
    "intf.channel.File": """open:ss open:ss exists:i close:i isInputShutdown:i isOutputShutdown:i readByte:i
        writeByte:ii setOption:iss getOption:is""",
    "common_tx.Unit": """source_init: source_sizeOfFile: source_readByte: throw_away:i print_cyclecount:""",
    "filter_dpd.Unit": """source_init: source_read_i:uii source_read_q: sink_init: sink_consume_i:di
        sink_consume_q:d""",
}
"""Native and the types that it takes, by the unit that declares it: see ``_LETTERS``."""
_LETTERS = {"i": "int(size=64)", "s": "String", "b": "bool", "d": "double"}
_LETTERS |= {"u": "uint(size=8) {}[64]", "l": "int(size=64) {}[3]"}
_TYPES = (
    "int",
    "int(size=64)",
    "uint(size=8)",
    "String",
    "bool",
    "double",
    "uint(size=8) {}[64]",
    "int(size=64) {}[3]",
)
_NUMBERS = (0, 3, 4, 3, 4, 1, -1, 2, 3, 4, 7, 8, 64, 65, 255, 1 << 31, -(1 << 31), (1 << 62) + 1, -(1 << 62))


def attack(rng: random.Random, folder: Path) -> str | None:
    """Call a few natives with signatures and arguments of chance; return what went wrong."""
    unit = rng.choice(list(_NATIVES))
    known = _NATIVES[unit].split()
    declared, calls = [], []
    for name, letters in dict(word.split(":") for word in rng.choices(known, k=rng.randint(1, 6))).items():
        types = [_LETTERS[letter] for letter in letters]
        if rng.random() < 0.1:
            types = [rng.choice(_TYPES) for _ in range(rng.randint(0, 5))]
        parameters = ", ".join(t.format(f"p{k}") if "{}" in t else f"{t} p{k}" for k, t in enumerate(types))
        declared.append(f"@native procedure {name}({parameters}) end")
        calls += [f"{name}({', '.join(_value(rng, t) for t in types)});" for _ in range(rng.randint(1, 3))]
    rng.shuffle(calls)
    _write_program(folder, unit, declared, calls)
    (folder / "in").write_bytes(bytes(range(200)))
    (folder / "numbers").write_text("1 2 3 x " + "9" * 5000)
    chosen = rng.choice((None, "in", "numbers"))
    options = RunOptions(
        input=chosen and str(folder / chosen),
        output=rng.choice((None, str(folder / "o.yuv"), str(folder / "o.png"))),
        reference=rng.choice((None, str(folder / "in"))),
        frames=rng.choice((None, 2)),
        console_input=("1", "x"),
        max_firings=50,
    )
    with contextlib.chdir(folder):
        try:
            with bounded(10):
                run_network(load_network("Top.xdf").network, options)
        except DseError:
            pass
        except (Exception, Hang) as fault:
            return f"{calls}: {fault_text(fault)}"
    return None


def _value(rng: random.Random, of: str) -> str:
    if "{}" in of:
        return "small" if "[64]" in of else "large"
    match of:
        case "String":
            return rng.choice(('"x"', '"in"', '""', '"r"', '"w"', '"a b"', '"../x"'))
        case "bool":
            return rng.choice(("true", "false"))
        case "double":
            return rng.choice(("0.0", "1.5", "1e300 * 1e300", "-1e300"))
    return f"({rng.choice(_NUMBERS)})"


def _write_program(folder: Path, unit: str, declared: list[str], calls: list[str]) -> None:
    """Write a network of one actor; the natives are declared in a unit where their meaning depends on it."""
    natives, head = " ".join(declared), ""
    if unit:
        package, _, name = unit.rpartition(".")
        path = folder / Path(*package.split(".")) / f"{name}.cal"
        path.parent.mkdir(parents=True)
        path.write_text(f"package {package}; unit {name} : {natives} end")
        natives, head = "", f"import {unit}.*; "
    lists = "uint(size=8) small[64]; int(size=64) large[3];"
    steps = [f"action ==> guard n = {k} do n := {k + 1}; {call} end" for k, call in enumerate(calls)]
    (folder / "A.cal").write_text(f"{head}actor A () ==> : int n := 0; {lists} {natives} {' '.join(steps)} end")
    (folder / "Top.xdf").write_text('<XDF name="Top"><Instance id="a"><Class name="A"/></Instance></XDF>')
