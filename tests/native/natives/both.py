"""One script of calls, run by the natives in Python and by those in C++: what each call gave, and what is left."""

import struct
import subprocess
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from tempfile import mkdtemp
from types import SimpleNamespace
from typing import Any

from dse.base.errors import ExecutionError, OptionError
from dse.codegen.cpp.natives import NativeForm
from dse.native.natives import native_forms
from dse.run.instance import fault_text
from dse.run.natives.access import FileAccess
from dse.run.natives.context import InputRefused, NativeContext, ProgramExit, SourceExhausted
from dse.run.natives.registry import NativeBindings
from dse.run.natives.screen import Screen
from dse.run.options import RunOptions
from tests.native import shared
from tests.native.natives.declared import CALLS, ELEMENTS, Call

FLAGS = ("-std=c++20", "-Og", "-g1", "-Wall", "-Wextra", "-Wconversion", "-Werror", "-pthread", "-ffp-contract=off")
SANITIZERS = ("-fsanitize=address,undefined", "-fno-sanitize-recover=all")
_OPTIONS = ("input", "output", "write", "reference", "tolerance", "loops", "frames")


@dataclass(slots=True)
class Script:
    """What a program does: lists that it has, and calls of natives with numbers, texts or names of lists."""

    options: RunOptions = field(default_factory=RunOptions)
    home: str = "net"
    files: str = "files"
    lists: dict[str, tuple[str, tuple[int, ...], list[Any]]] = field(default_factory=dict)
    calls: list[tuple[Call, tuple[Any, ...]]] = field(default_factory=list)

    def list(self, name: str, kind: str, sizes: tuple[int, ...], values: Iterable[Any] = ()) -> "Script":
        """Declare a list, zeros after ``values``."""
        self.lists[name] = (kind, sizes, [*values])
        return self

    def call(self, native: str, *arguments: Any, lists: str | None = None) -> "Script":
        """Add a call of ``UNIT_PART.name``; of several declarations that of the given lists, else the first."""
        unit, name = native.split(".")
        found = [c for c in CALLS if c.name == name and unit in c.unit and (lists is None or lists in c.key)]
        found = [c for c in found if len(c.parameters) == len(arguments)] or found
        self.calls.append((found[0], arguments))
        return self


# Python ---------------------------------------------------------------------------------------------------------------


def run_python(script: Script) -> list[str]:
    """Return what the calls of a script gave, and what is left at the end."""
    told: list[str] = []
    printed: list[str] = []
    options = script.options

    def start() -> str:
        access = FileAccess(options, Path(script.home), Path(script.files))
        started.append(NativeContext(options, printed.append, access, Screen(options)))
        return "started"

    started: list[NativeContext] = []
    told.append(_guarded(start))
    if not started:
        return told
    context = started[0]
    bindings = NativeBindings(context, ())
    natives = tuple(dict.fromkeys(call.native for call, _ in script.calls))
    bound = {n: bindings.bind(SimpleNamespace(natives=(n,)))[n.name] for n in natives}  # type: ignore[arg-type]
    lists = {name: _nested(kind, sizes, values) for name, (kind, sizes, values) in script.lists.items()}
    for call, arguments in script.calls:
        values = [lists[a] if "*" in p else a for p, a in zip(call.parameters, arguments, strict=True)]
        told.append(_guarded(lambda c=call, v=values: _result(c, bound[c.native](*v))))
    told += [_shown(script.lists[name][0], values) for name, values in lists.items()]
    told.append(_guarded(lambda: str(context.close() or "closed")))
    return told + _status(context, options, "".join(printed))


def _nested(kind: str, sizes: tuple[int, ...], values: list[Any]) -> list[Any]:
    zero: Any = 0.0 if kind in ("f32", "f64") else kind != "bool" and 0
    count = 1
    for size in sizes:
        count *= size
    flat = [*values, *[zero] * (count - len(values))]
    for size in reversed(sizes[1:]):
        flat = [flat[k : k + size] for k in range(0, len(flat), size)]
    return flat


def _flat(values: Iterable[Any]) -> list[Any]:
    return [w for v in values for w in (_flat(v) if isinstance(v, list) else [v])]


def _shown(kind: str, values: list[Any]) -> str:
    texts = (_c_hex(v) if kind in ("f32", "f64") else str(int(v)) for v in _flat(values))
    return " ".join(("list", *texts))


def _c_hex(value: float) -> str:
    """Return a number as C's ``%a`` may write it, by its value."""
    return struct.pack(">d", value).hex()


def _result(call: Call, value: Any) -> str:
    match call.result:
        case None:
            return "void"
        case "flag":
            return f"bool {int(bool(value))}"
        case "real":
            return f"float {_c_hex(float(value))}"
        case "text":
            return f"text {_hex(value)}"
        case _:
            number = int(value)
            return f"int {(number + (1 << 63)) % (1 << 64) - (1 << 63)}"


def _hex(text: str) -> str:
    return "x" + text.encode("utf-8", "surrogateescape").hex()


def _guarded(call: Callable[[], str]) -> str:
    try:
        return call()
    except InputRefused as error:
        return _failure("refused", error.diagnostics[0].message, error.diagnostics[0].expected)
    except ExecutionError as error:
        return _failure("fault", error.diagnostics[0].message, error.diagnostics[0].expected)
    except OptionError as error:
        return _failure("error2", error.diagnostics[0].message, error.diagnostics[0].expected)
    except SourceExhausted:
        return "exhausted"
    except ProgramExit as stop:
        return f"exit {stop.exit_code} {int(stop.frames)}"
    except (ArithmeticError, ValueError, LookupError, TypeError, AttributeError, RecursionError) as fault:
        return _failure("fault", fault_text(fault), "")


def _failure(kind: str, message: str, expected: str) -> str:
    return f"{kind} {_hex(message)} {_hex(expected)}"


def _status(context: NativeContext, options: RunOptions, printed: str) -> list[str]:
    lines = [f"printed {_hex(printed)}"]
    lines += [f"output {_hex(path)}" for path in (*context.access.written, *context.screen.files)]
    lines += [f"read {_hex(path)}" for path in context.access.read]
    if options.input is not None and context.input_bytes is None and not context.asked_input:
        lines.append(f"warning {_hex('the network reads no input; -i has no effect')}")
    if options.loops > 1 and not context.asked_loops:
        lines.append(f"warning {_hex('the network reads its input once; -l has no effect')}")
    lines.append(f"frames {context.screen.frames}")
    found = context.screen.comparison
    if found is not None:
        lines.append(f"comparison {found.compared} {found.equal} {found.max_difference} {found.missing}")
    empty = context.input_bytes == b""
    lines.append(_failure("fault", f"the input '{options.input}' is empty", "") if empty else "checked")
    return lines


# C++ ------------------------------------------------------------------------------------------------------------------


def run_cpp(script: Script, flags: tuple[str, ...] = SANITIZERS) -> list[str]:
    """Return the same of the natives in C++."""
    done = subprocess.run(
        [driver(flags)], input="\n".join(_lines(script)) + "\n", capture_output=True, text=True, timeout=60, check=False
    )
    assert done.returncode == 0, f"{done.returncode}\n{done.stdout[-2000:]}\n{done.stderr[-4000:]}"
    return [_same_floats(line) for line in done.stdout.splitlines()]


def _lines(script: Script) -> list[str]:
    options = script.options
    lines = [f"home {_hex(script.home)}", f"files {_hex(script.files)}"]
    lines += [f"option {n} {_hex(str(getattr(options, n)))}" for n in _OPTIONS if getattr(options, n) is not None]
    lines += [f"option allow {_hex(folder)}" for folder in options.allow_files]
    lines += [f"option console {_hex(line)}" for line in options.console_input]
    if options.unnamed_output is not None:
        lines.append(f"option unnamed {_hex(options.unnamed_output)}")
    lines.append("start")
    if any(call.name.startswith("compareYUV") for call, _ in script.calls):
        lines.append("compares")
    for name, (kind, sizes, values) in script.lists.items():
        lines.append(" ".join(("list", name, kind, *map(str, sizes))))
        lines.append(" ".join(("set", name, *(str(v if isinstance(v, float) else int(v)) for v in values))))
    for call, arguments in script.calls:
        lines.append(" ".join(("call", str(CALLS.index(call)), *(_word(a) for a in arguments))))
    return lines + [f"show {name}" for name in script.lists]


def _word(argument: Any) -> str:
    match argument:
        case bool():
            return str(int(argument))
        case str():
            return argument if argument.startswith("$") else _hex(argument)
        case _:
            return str(argument)


def _same_floats(line: str) -> str:
    """Return a line with each number that ``%a`` wrote as Python's side tells it."""
    words = line.split(" ")
    if words[0] == "float" or (words[0] == "list" and any("p" in w or "n" in w for w in words[1:])):
        return " ".join((words[0], *(_c_hex(float.fromhex(w)) for w in words[1:])))
    return line


def _argument(k: int, text: str) -> str:
    """Return the C++ text of an argument of a call, from word ``k`` of its line."""
    element, star, dimensions = text.partition("*")
    word = f"words[{k}]"
    if star:
        return f"lists.at({word}).view<{ELEMENTS[element][1]}, {dimensions}>()"
    match element:
        case "text":
            return f"from_hex({word})"
        case "real":
            return f"std::stod({word})"
        case "flag":
            return f'({word} == "1")'
        case "u64":
            return f"std::stoull({word})"
        case _:
            return f"integer({word})"


def _case(number: int, call: Call, form: NativeForm) -> str:
    arguments = ", ".join(_argument(k + 2, text) for k, text in enumerate(call.parameters))
    text = f"{form.call}({arguments})"
    match call.result:
        case None:
            body = f'{text};\n      return "void";'
        case "flag":
            body = f"return told(static_cast<bool>({text}));"
        case "real":
            body = f"return told(static_cast<double>({text}));"
        case "text":
            body = f"return told(std::string({text}));"
        case _:
            body = f"return told(dse::as_integer<std::int64_t>({text}, 0));"
    return f"    case {number}:\n      {body}"


def driver_text() -> str:
    """Return the file that calls each native of ``CALLS`` by its number."""
    cases = []
    for number, call in enumerate(CALLS):
        forms = native_forms(SimpleNamespace(natives=(call.native,)), {})  # type: ignore[arg-type]
        cases.append(_case(number, call, forms[call.unit, call.name]))
    return "\n".join((
        '#include "driver.hpp"',
        '#include "dse/natives/bodies.hpp"',
        "std::string driver::call(dse::Context& context, Lists& lists, const Words& words) {",
        "  switch (integer(words[1])) {",
        *cases,
        "  }",
        '  return lists.empty() ? "" : "";',
        "}",
        "int main() { return driver::run(); }",
        "",
    ))  # fmt: skip


@cache
def driver(flags: tuple[str, ...] = SANITIZERS) -> Path:
    """Return the compiled driver."""
    source = Path(mkdtemp(prefix="dse-natives-")) / "driver.cpp"
    source.write_text(driver_text())
    return compiled(source, flags)


def compiled(source: Path, flags: tuple[str, ...]) -> Path:
    """Return the program that one file of C++ is. Skips the test where there is no compiler."""
    return shared.compiled(source, *FLAGS, *flags, f"-I{Path(__file__).parent}")
