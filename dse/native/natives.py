"""Which C++ stands for a native: by declaring unit first, as names collide; the same order as in ``dse/run/natives``.

``native_forms`` gives for each native of an actor the text that a generated call starts with: ``TEXT(arguments)``.
Where it stands, ``context`` is the ``dse::Context`` of the run. Arguments come as ``std::int64_t``, ``bool``,
``double``, ``const std::string&`` and ``dse::View<T, D>``. What comes back is a number, which becomes a value of the
declared type (an integer is exact modulo 2**64), or a ``std::string`` where a String is declared.

A native that has no form gets a text too: one whose call ends the run and says how to bind it, since programs declare
many natives that they never call. The user binds one with ``--native UNIT.FUNCTION=FILE.cpp:SYMBOL``; behind the text
of the file stands a function with the types of the native's declaration, which calls the user's (``entry_text``).
"""

import re
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, TypeAlias

from dse.base.errors import ModelNotApplicable, OptionError
from dse.base.paths import is_file_there
from dse.base.registry import nearest_names
from dse.codegen.cpp.natives import NativeForm, NativeForms
from dse.program.ir import Actor, Native
from dse.program.network import Network
from dse.program.types import (
    BoolType,
    FloatType,
    IntType,
    ListType,
    StringType,
    Type,
    dimensions_of,
    scalar_of,
)

Kind: TypeAlias = Literal["int", "number", "float", "text", "bytes", "buffer", "samples", "floats", "any", "bool"]
"""What a parameter takes: an integer of at most 64 bits with its sign (``number``: any), a float, a text, a list
to be read (``bytes``: of integers; ``samples``: of any dimensions) or filled with bytes (``buffer``), a list of floats,
or whatever comes. What a function gives is ``int``, ``bool``, ``float`` or ``text``."""


@dataclass(frozen=True, slots=True)
class Form:
    """A C++ function of the runtime. ``callee``: below ``context.natives``; ``more``: kinds that may follow."""

    callee: str
    takes: tuple[Kind, ...] = ()
    gives: Kind | None = None
    more: tuple[Kind, ...] = ()
    repeated: Kind | None = None
    """Kind of any number of further parameters."""


Family: TypeAlias = Mapping[str, Form]
_NOTHING = Form("simulation.nothing", repeated="any")
_NO_PARAMETERS = Form("simulation.nothing")

SOURCE: Family = {
    "source_init": Form("source.init"),
    "source_sizeOfFile": Form("source.size", (), "int"),
    "source_readNBytes": Form("source.read", ("buffer", "int")),
    "source_readByte": Form("source.read_byte", (), "int"),
    "source_rewind": Form("source.rewind"),
    "source_decrementNbLoops": Form("source.decrement_loops"),
    "source_isMaxLoopsReached": Form("source.loops_reached", (), "bool"),
    "source_getNbLoop": Form("source.loops", (), "int"),
    "source_exit": Form("source.exit", ("int",)),
    "source_close": Form("source.close"),
    "source_open": Form("descriptors.open", ("text",), "int"),
    "source_sizeOfFileFd": Form("descriptors.size", ("int",), "int"),
    "source_readNBytesFd": Form("descriptors.read", ("int", "buffer", "int")),
    "source_rewindFd": Form("descriptors.rewind", ("int",)),
    "source_closeFd": Form("descriptors.close", ("int",)),
}
WRITER: Family = {
    "Writer_init": Form("writer.init"),
    "Writer_write": Form("writer.write", ("int",)),
    "Writer_close": Form("writer.close"),
    "writer_open": Form("writers.open", ("text",), "int"),
    "writer_writeNTokens": Form("writers.write", ("int", "bytes", "int")),
    "writer_closeAndQuit": Form("writers.close_and_quit", ("int",)),
    "writer_getStop": Form("writers.stop", (), "bool"),
    "writer_setStop": Form("writers.set_stop", ("bool",)),
}
DISPLAY: Family = {
    "displayYUV_init": _NOTHING,
    "displayYUV_displayPicture": Form("display.show", ("samples", "samples", "samples", "int", "int")),
    "displayYUV_getFlags": Form("display.flags", (), "int"),
    "displayYUV_getNbFrames": Form("display.frames", (), "int"),
    "displayYUV_getEvent": _NOTHING,
    "displayYUV444_init": _NOTHING,
    "displayYUV444_displayPicture": Form("display.show_whole", ("samples", "samples", "samples", "int", "int")),
    "compareYUV_init": _NOTHING,
    "compareYUV_comparePicture": Form("display.compare", ("samples", "samples", "samples", "int", "int")),
    "fpsPrintInit": _NOTHING,
    "fpsPrintNewPicDecoded": _NOTHING,
    "initDisplayGray": _NOTHING,
    "displayGray": Form("display.show_gray", ("int", "int", "samples", "any")),
    "display_getnbframes": Form("display.frames", (), "int"),
    "display_checksum": _NOTHING,
    "picture_start": Form("picture.start", ("int", "int", "int")),
    "picture_line": Form("picture.line", repeated="bytes"),
    "picture_end": Form("picture.end"),
}
COMPARE: Family = {
    "compare_init": Form("compare.init"),
    "compare_close": Form("compare.close"),
    "compare_readByte": Form("compare.byte", ("int",)),
    "compare_NBytes": Form("compare.block", ("bytes", "int")),
    "compare_NBytesNext": Form("compare.next_block", ("bytes", "int", "int")),
}
DIGITAL_FILTERING: Family = {
    "native_source_init": Form("samples.init", (), None, ("int",)),
    "native_source_close": Form("samples.close"),
    "native_source_produce": Form("samples.produce", (), "int", ("int",)),
    "native_source_produce_sf": Form("samples.produce_double", (), "float", ("int",)),
    "native_source_produce_hf": Form("samples.produce_double", (), "float", ("int",)),
    "native_sink_init": Form("samples.sink_init"),
    "native_sink_consume": Form("samples.consume", ("number",)),
    "native_sink_consume_sf": Form("samples.consume_double", ("float",)),
    "native_sink_consume_hf": Form("samples.consume_double", ("float",)),
}
SIMULATION: Family = {
    "throw_away": Form("simulation.nothing", ("any",)),
    "print_cyclecount": _NO_PARAMETERS,
    "report_fail": Form("simulation.fail", ("text", "text")),
}
ZIGBEE: Family = {
    "source_init": Form("packets.init"),
    "source_sizeOfFile": Form("packets.size", (), "int"),
    "source_readByte": Form("packets.read_byte", (), "int"),
    "throw_away": Form("packets.consume", ("number",)),
    "print_cyclecount": _NO_PARAMETERS,
}
PREDISTORTION: Family = {
    "source_init": _NO_PARAMETERS,
    "source_read_i": Form("quadrature.read_i", (), "float"),
    "source_read_q": Form("quadrature.read_q", (), "float"),
    "sink_init": _NO_PARAMETERS,
    "sink_consume_i": Form("quadrature.consume_i", ("float",)),
    "sink_consume_q": Form("quadrature.consume_q", ("float",)),
    "fpsPrintInit": _NO_PARAMETERS,
    "fpsPrintNewPicDecoded": _NO_PARAMETERS,
}
PREDISTORTION_BLOCKS: Family = {
    "source_read_i": Form("quadrature.read_block_i", ("floats", "int", "int"), "float"),
    "source_read_q": Form("quadrature.read_block_q", ("floats", "int", "int"), "float"),
    "sink_consume_i": Form("quadrature.consume_block_i", ("floats", "int")),
    "sink_consume_q": Form("quadrature.consume_block_q", ("floats", "int")),
}
"""The same names with lists."""
ACCESS_FILE: Family = {
    "openFile": Form("access_file.open", ("text",), "int"),
    "closeFile": Form("access_file.close", ("int",), "int"),
    "readByte": Form("access_file.read_byte", ("int",), "int"),
    "readBytes": Form("access_file.read", ("int", "buffer", "int")),
    "writeByte": Form("access_file.write_byte", ("int", "int")),
    "writeBytes": Form("access_file.write", ("int", "bytes", "int")),
    "sizeOfFile": Form("access_file.size", ("int",), "int"),
    "seek": Form("access_file.seek", ("int", "int")),
    "filePointer": Form("access_file.position", ("int",), "int"),
}
CONSOLE: Family = {
    "openConsole": Form("console.open", ("text",), "int"),
    "closeConsole": Form("console.close", ("int",), "int"),
    "read": Form("console.read", ("int",), "text"),
    "readInteger": Form("console.read_integer", ("int",), "int"),
    "write": Form("console.write", ("int", "text")),
}
CHANNEL: Family = {
    "open": Form("channel.open", ("text", "text"), "int"),
    "exists": Form("channel.exists", ("int",), "bool"),
    "close": Form("channel.close", ("int",)),
    "isInputShutdown": Form("channel.input_ended", ("int",), "bool"),
    "isOutputShutdown": Form("channel.output_ended", ("int",), "bool"),
    "readByte": Form("channel.read_byte", ("int",), "int"),
    "writeByte": Form("channel.write_byte", ("int", "int")),
    "setOption": Form("channel.set_option", ("int", "text", "text")),
    "getOption": Form("channel.option", ("int", "text"), "text"),
}

BY_UNIT: tuple[tuple[str, Family], ...] = (
    ("common_tx.", ZIGBEE),
    ("embedded_tx.", ZIGBEE),
    ("common_dpd.", PREDISTORTION),
    ("filter_dpd", PREDISTORTION),
    ("system.io.AccessFile", ACCESS_FILE),
    ("system.io.Console", CONSOLE),
    ("intf.channel.", CHANNEL),
)
"""Prefix of the declaring unit's name -> family whose functions its natives are."""
BY_NAME: tuple[Family, ...] = (SOURCE, WRITER, DISPLAY, COMPARE, DIGITAL_FILTERING, SIMULATION)
"""Families whose function names mean the same wherever they are declared."""

_FILE_SUFFIXES = (".cpp", ".cc", ".cxx")
_IN_CPP = re.compile(r".+?\.(?:cpp|cc|cxx):.*", re.DOTALL)
_TARGET = re.compile(r"(?P<file>.+?\.(?:cpp|cc|cxx)):(?P<symbol>[A-Za-z_]\w*(?:::[A-Za-z_]\w*)*)", re.ASCII)
_KEY = re.compile(r"[^=]*\.[^=.]+")


@dataclass(frozen=True, slots=True, kw_only=True)
class UserNative:
    """A native bound by the user. ``key``: ``UNIT.FUNCTION``; ``symbol``: a C++ function, maybe in namespaces."""

    key: str
    file: Path
    symbol: str


Overrides: TypeAlias = Mapping[str, UserNative]
"""By ``UNIT.FUNCTION``."""


def is_user_native(text: str) -> bool:
    """Return whether the text of a ``--native`` binds a function in C++, and not a Python callable."""
    return _IN_CPP.fullmatch(text.partition("=")[2]) is not None


def user_natives(texts: Iterable[str]) -> dict[str, UserNative]:
    """Return what ``--native UNIT.FUNCTION=FILE.cpp:SYMBOL`` binds; of several for one native the last holds.

    Raises:
        OptionError: a text has another form, or there is no such file.
    """
    found = {}
    for text in texts:
        key, _, target = text.partition("=")
        parts = _TARGET.fullmatch(target)
        if parts is None or not _KEY.fullmatch(key):
            raise OptionError(
                f"'{text}' binds no native in C++, and a native program cannot call Python",
                expected=f"--native UNIT.FUNCTION=FILE.cpp:SYMBOL, the file ending in {' '.join(_FILE_SUFFIXES)}",
            )
        path = Path(parts["file"])
        if not is_file_there(path):
            raise OptionError(f"the native '{key}' cannot be bound to '{target}': there is no file '{path}'")
        found[key] = UserNative(key=key, file=path, symbol=parts["symbol"])
    return found


def check_user_natives(network: Network, overrides: Overrides) -> None:
    """Raise what is wrong with the natives that the user binds.

    Raises:
        OptionError: the network declares no such native.
        ModelNotApplicable: a parameter or the result of a native has no C++ type; the place is its declaration.
    """
    declared = {key_of(native): native for native in _natives(network)}
    for key, bound in overrides.items():
        if key not in declared:
            raise OptionError(f"the network declares no native '{key}'", expected=nearest_names(key, tuple(declared)))
        _signature(declared[key], bound)


def native_forms(actor: Actor, overrides: Overrides) -> NativeForms:
    """Return the C++ form of each native of an actor, by declaring unit and name.

    Raises ``ModelNotApplicable`` as ``check_user_natives``.
    """
    return {(native.declared_in, native.source_name): _native_form(native, overrides) for native in actor.natives}


def compares_itself(network: Network, overrides: Overrides) -> bool:
    """Return whether the program compares its pictures by natives of its own, so that showing one must not."""
    return any(n.source_name.startswith("compareYUV") and key_of(n) not in overrides for n in _natives(network))


def key_of(native: Native) -> str:
    """Return the name by which the user binds a native: ``UNIT.FUNCTION``."""
    return f"{native.declared_in}.{native.source_name}"


def without_form(network: Network, overrides: Overrides) -> tuple[Native, ...]:
    """Return the natives that end the run when they are called, each once, in the order of the actors."""
    found = {key_of(n): n for n in _natives(network) if key_of(n) not in overrides and _problem(n) is not None}
    return tuple(found.values())


def unbound_natives(network: Network, bound: Collection[str]) -> tuple[Native, ...]:
    """Return the natives that dse does not know, in Python or C++, and the user does not bind (``UNIT.FUNCTION``)."""
    found = {key_of(n): n for n in _natives(network) if key_of(n) not in bound and not _is_known(n)}
    return tuple(found.values())


def declared_natives(network: Network) -> tuple[str, ...]:
    """Return the natives that a network uses, by ``UNIT.FUNCTION``, each once."""
    return tuple(dict.fromkeys(map(key_of, _natives(network))))


def _is_known(native: Native) -> bool:
    form = _form_of(native)
    return form is not None and _kinds(form, len(native.parameters)) is not None


def _natives(network: Network) -> tuple[Native, ...]:
    return tuple(native for instance in network.instances for native in instance.actor.natives)


# Forms ----------------------------------------------------------------------------------------------------------------


def _native_form(native: Native, overrides: Overrides) -> NativeForm:
    user = overrides.get(key_of(native))
    if user is not None:
        what = cpp_string(f"the native '{user.key}' ({user.file.name}:{user.symbol}) failed: ")
        call = f"dse::natives::guarded({what}, [](const auto&... a) {{ return {_ENTRIES}::{_entry(user)}(a...); }})"
        return NativeForm(call, f"namespace {_ENTRIES} {{ {_signature(native, user).format(_entry(user))}; }}")
    problem = _problem(native)
    if problem is not None:
        message, expected = (cpp_string(text) for text in problem)
        return NativeForm(f"dse::natives::Missing<{_result_text(native.result_type)}>{{{message}, {expected}}}")
    form = _form_of(native)
    assert form is not None, "a native without a form has a problem"
    rounded = form.callee == "samples.produce" and isinstance(native.result_type, FloatType)
    return NativeForm(f"context.natives.{form.callee}{'_as_double' if rounded else ''}")


def _form_of(native: Native) -> Form | None:
    """Return the form for a native's name, whatever its parameters are."""
    for prefix, family in BY_UNIT:
        if native.declared_in.startswith(prefix):
            lists = any(isinstance(p.type, ListType) for p in native.parameters)
            blocks = PREDISTORTION_BLOCKS if family is PREDISTORTION and lists else family
            return blocks.get(native.source_name) or family.get(native.source_name)
    return next((family[native.source_name] for family in BY_NAME if native.source_name in family), None)


def _problem(native: Native) -> tuple[str, str] | None:
    """Return why a native cannot be called, and what binds it; None where it can."""
    form, name = _form_of(native), native.source_name
    advice = f"bind it with --native {key_of(native)}=FILE.cpp:SYMBOL"
    if form is None:
        near = nearest_names(name, _known_names(native))
        more = f"; {near}" if near.startswith("did") else ""
        return f"native '{name}', declared in {native.declared_in}, has no C++ form", advice + more
    kinds = _kinds(form, len(native.parameters))
    if kinds is None:
        return (
            f"native '{name}' takes another number of parameters than the {len(native.parameters)} with which"
            f" {native.declared_in} declares it",
            advice,
        )
    for parameter, kind in zip(native.parameters, kinds, strict=True):
        if not _takes(kind, parameter.type):
            what = f"'{parameter.source_name}' of type {parameter.type}"
            return f"native '{name}' has no C++ form that takes {what}", advice
    if not _gives(form, native.result_type):
        return f"native '{name}' has no C++ form that gives {native.result_type}", advice
    return None


def _known_names(native: Native) -> tuple[str, ...]:
    for prefix, family in BY_UNIT:
        if native.declared_in.startswith(prefix):
            return tuple(family)
    return tuple(name for family in BY_NAME for name in family)


def _kinds(form: Form, count: int) -> tuple[Kind, ...] | None:
    """Return what so many parameters take, or None where there are too few or too many of them."""
    if form.repeated is not None:
        return form.takes + (form.repeated,) * (count - len(form.takes)) if count >= len(form.takes) else None
    kinds = form.takes + form.more
    return kinds[:count] if len(form.takes) <= count <= len(kinds) else None


def _takes(kind: Kind, of: Type) -> bool:  # ways: one case for each kind of parameter
    match kind, of:
        case "any", _:
            return True
        case "int", IntType():
            return of.container_bits + (0 if of.signed else 1) <= 64
        case "number", IntType():
            return True
        case (("int" | "number" | "bool"), BoolType()):
            return True
        case "bool", IntType():
            return True
        case "float", IntType():
            return of.container_bits <= 64
        case ("float", FloatType()) | ("text", StringType()):
            return True
        case (("bytes" | "buffer" | "samples" | "floats"), ListType()):
            return (kind == "samples" or len(dimensions_of(of)) == 1) and _holds(kind, of)
        case _:
            return False


def _holds(kind: Kind, of: ListType) -> bool:
    """Return whether the elements of a list are of a kind; those of a buffer must hold any byte."""
    element = scalar_of(of)
    match kind:
        case "floats":
            return isinstance(element, FloatType)
        case "buffer":
            return isinstance(element, IntType) and element.container_bits <= 64 and element.limits[1] >= 255
        case _:
            return isinstance(element, BoolType) or (isinstance(element, IntType) and element.container_bits <= 64)


def _gives(form: Form, declared: Type | None) -> bool:
    """Return whether what a form gives can become a value of the declared type."""
    match form.gives, declared:
        case _, None:
            return True
        case "text", _:
            return isinstance(declared, StringType)
        case "int", IntType():
            return declared.container_bits <= 64  # of a number of a file, only the low 64 bits come
        case (("int" | "bool" | "float"), (IntType() | BoolType() | FloatType())):
            return True
        case _:
            return False


def _result_text(of: Type | None) -> str:
    """Return the C++ type of what a call gives back for a declared result type."""
    match of:
        case IntType():
            return "std::int64_t"
        case BoolType():
            return "bool"
        case FloatType():
            return "double"
        case StringType():
            return "std::string"
        case _:
            return "void"


def cpp_string(text: str) -> str:
    """Return a text as a C++ string literal of UTF-8 bytes."""
    # Octal escapes end after three digits, so that what follows is never taken for a part of one.
    return '"' + "".join(chr(b) if b in _PLAIN else f"\\{b:03o}" for b in text.encode("utf-8", "surrogatepass")) + '"'


_PLAIN = frozenset(b for b in range(32, 127) if chr(b) not in '"\\?')


# Functions of the user ------------------------------------------------------------------------------------------------


_ENTRIES = "dse::natives::bound"
"""Namespace of the functions that call those of users."""


def _entry(user: UserNative) -> str:
    """Return the name of the function that calls one of the user: another one for each native."""
    return "".join(c if c.isalnum() and c.isascii() else f"_{ord(c):x}_" for c in user.key)


def entry_text(native: Native, user: UserNative) -> str:
    """Return what stands behind the user's text: a function with the types of the declaration that calls the user's.

    It sees what only that file knows (``static``, ``extern "C"``); what does not fit the declaration does not compile.
    """
    arguments = [f"a{k}" for k in range(len(native.parameters))]
    parameters = ", ".join(f"{_parameter_text(p.type)} {a}" for p, a in zip(native.parameters, arguments, strict=True))
    result = _result_text(native.result_type)
    expected = cpp_string(f"expected {_signature(native, user).format(user.symbol)}")
    call, made = f"::{user.symbol}", f"call({', '.join(arguments)})"
    lines = (
        f"#line 1 {cpp_string(f'--native {user.key}={user.file.name}:{user.symbol}')}",
        f"namespace {_ENTRIES} {{",
        f"{result} {_entry(user)}({parameters}) {{",
        "  const auto call = [](auto&... a) -> decltype(auto) {",
        f"    static_assert(requires {{ {call}({{a}}...); }}, {expected});",
        f"    return {call}(a...);",
        "  };",
        f"  {made if result == 'void' else f'return dse::natives::given<{result}>({made})'};",
        "}",
        f"}}  // namespace {_ENTRIES}",
    )
    return "\n".join(lines) + "\n"


def _signature(native: Native, user: UserNative) -> str:
    """Return the declaration of a user's function with ``{}`` for its name. Raises ``ModelNotApplicable``."""
    refused = [p for p in native.parameters if _parameter_text(p.type) is None]
    if refused or isinstance(native.result_type, ListType) or _is_too_wide(native.result_type):
        taken = (f"takes '{p.source_name}' of type {p.type}" for p in refused)
        what = next(taken, f"gives {native.result_type}")
        raise ModelNotApplicable(
            f"the native '{user.key}' cannot be bound to {user.file.name}:{user.symbol}: it {what}",
            span=native.span,
            expected="integers of at most 64 bits, floats, bool, String, and lists of those as parameters",
        )
    parameters = ", ".join(_parameter_text(p.type) or "" for p in native.parameters)
    return f"{_result_text(native.result_type)} {{}}({parameters})"


def _is_too_wide(of: Type | None) -> bool:
    return isinstance(of, IntType) and of.container_bits > 64


def _parameter_text(of: Type) -> str | None:
    """Return the C++ type of a parameter; None where there is none."""
    element = _element_text(scalar_of(of))
    if element is None or not isinstance(of, ListType):
        return "const std::string&" if element == "std::string" else element
    return f"dse::View<{element}, {len(dimensions_of(of))}>"


def _element_text(of: Type) -> str | None:
    match of:
        case IntType():
            return f"std::{'' if of.signed else 'u'}int{of.container_bits}_t" if of.container_bits <= 64 else None
        case BoolType():
            return "bool"
        case FloatType():
            return "double" if of.bits == 64 else "float"
        case StringType():
            return "std::string"
        case ListType():
            return None
