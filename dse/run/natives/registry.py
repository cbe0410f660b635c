"""Which Python function stands for a native: by declaring unit first, as names collide (cal.md 2.5)."""

import inspect
from collections.abc import Callable
from typing import Any

from dse.base.errors import DseError, ExecutionError, OptionError
from dse.base.registry import nearest_names
from dse.base.source import NO_SPAN, file_span
from dse.program.ir import Actor, Native
from dse.program.types import StringType
from dse.run.natives import display, files, signals, source, writer
from dse.run.natives.context import InputRefused, NativeContext, ProgramExit, SourceExhausted
from dse.run.natives.given_lists import storing_lists
from dse.run.natives.user_modules import UserModules

NativeFunction = Callable[..., Any]
Family = Callable[[NativeContext], dict[str, object]]


def _simulation(context: NativeContext) -> dict[str, object]:
    """Return natives that only matter to a simulator, and our own ``dse.Report``."""

    def fail(message: str, advice: str) -> None:
        span = file_span(context.options.input, 0) if context.options.input is not None else NO_SPAN
        raise InputRefused(message, span=span, expected=advice)

    return {"throw_away": lambda _value: None, "print_cyclecount": lambda: None, "report_fail": fail}


_BY_UNIT: tuple[tuple[str, Family], ...] = (
    ("common_tx.", signals.zigbee),
    ("embedded_tx.", signals.zigbee),
    ("common_dpd.", signals.predistortion),
    ("filter_dpd", signals.predistortion),
    ("system.io.AccessFile", files.access_file),
    ("system.io.Console", files.console),
    ("intf.channel.", files.channel),
)
"""Prefix of the declaring unit's name -> family whose functions its natives are."""
_BY_NAME: tuple[Family, ...] = (
    source.natives,
    writer.natives,
    display.natives,
    files.compare,
    signals.digital_filtering,
    _simulation,
)
"""Families whose function names mean the same wherever they are declared."""


class NativeBindings:
    """The natives of one run."""

    def __init__(self, context: NativeContext, overrides: tuple[tuple[str, str], ...]) -> None:
        self.context = context
        self._families: dict[Family, dict[str, object]] = {}
        modules = UserModules(context.access.home)
        self._overrides = {key: _bound(key, target, modules) for key, target in overrides}
        self._declared: dict[str, None] = {}

    def bind(self, actor: Actor) -> dict[str, NativeFunction]:
        """Return the function for each native of an actor, by its unique name in the IR."""
        return {n.name: self._function(n) for n in actor.natives}

    def check_overrides(self) -> None:
        """Raise ``OptionError`` if an override names a native that the network does not declare."""
        for key in self._overrides:
            if key not in self._declared:
                raise OptionError(
                    f"the network declares no native '{key}'", expected=nearest_names(key, tuple(self._declared))
                )

    def _function(self, native: Native) -> NativeFunction:
        key = f"{native.declared_in}.{native.source_name}"
        self._declared[key] = None
        if key in self._overrides:
            return _giving(native, storing_lists(native, self._overrides[key]))
        if native.source_name.startswith("compareYUV"):
            self.context.screen.compares_itself = True
        for prefix, family in _BY_UNIT:
            if native.declared_in.startswith(prefix):
                return self._of_family(family, native)
        for family in _BY_NAME:
            function = self._table(family).get(native.source_name)
            if callable(function):
                return _taking(native, function)
        return _missing(native, tuple(n for f in _BY_NAME for n in self._table(f)))

    def _of_family(self, family: Family, native: Native) -> NativeFunction:
        function = self._table(family).get(native.source_name)
        known = tuple(self._table(family))
        return _taking(native, function) if callable(function) else _missing(native, known)

    def _table(self, family: Family) -> dict[str, object]:
        if family not in self._families:
            self._families[family] = family(self.context)
        return self._families[family]


def _taking(native: Native, function: NativeFunction) -> NativeFunction:
    """Return the function for a native, or one that fails when it is called where the numbers of parameters differ."""
    try:
        inspect.signature(function).bind(*native.parameters)
    except TypeError:
        declared = len(native.parameters)

        def fail(*_arguments: Any) -> None:
            raise ExecutionError(
                f"native '{native.source_name}' takes another number of parameters than the {declared} with which"
                f" {native.declared_in} declares it",
                expected=f"bind it with --native {native.declared_in}.{native.source_name}=MODULE:CALLABLE",
            )

        return fail
    return function


def _giving(native: Native, function: NativeFunction) -> NativeFunction:
    """Return the function of a user for a native, which fails where it returns what no value of the native is."""
    result = native.result_type
    if result is None:
        return function
    refused = (type(None),) if isinstance(result, StringType) else (type(None), str)

    def call(*arguments: Any) -> Any:
        value = function(*arguments)
        if isinstance(value, refused):
            raise ExecutionError(
                f"native '{native.source_name}', declared in {native.declared_in}, returned {value!r}",
                expected=f"a value of its type, {result}",
            )
        return value

    return call


def _missing(native: Native, known: tuple[str, ...]) -> NativeFunction:
    """Return a function that fails when it is called: programs declare many natives that they never use."""

    def fail(*_arguments: Any) -> None:
        hint = f"bind it with --native {native.declared_in}.{native.source_name}=MODULE:CALLABLE"
        near = nearest_names(native.source_name, known)
        raise ExecutionError(
            f"native '{native.source_name}', declared in {native.declared_in}, has no Python counterpart",
            expected=f"{hint}; {near}" if near.startswith("did") else hint,
        )

    return fail


def _bound(key: str, target: str, modules: UserModules) -> NativeFunction:
    """Return the callable of an override. Raises ``OptionError`` when there is none, or its module fails."""
    module, _, attribute = target.partition(":")
    try:
        loaded = modules.load(module)
        function = getattr(loaded, attribute, None)
    except Exception as error:  # the code of the user may raise anything
        raise OptionError(
            f"the native '{key}' cannot be bound to '{target}': {error}",
            expected=f"MODULE:CALLABLE, MODULE.py in the folder of the network ('{modules.home}'), here, or installed",
        ) from error
    if attribute not in vars(loaded) and function is None:
        known = tuple(name for name, of in vars(loaded).items() if callable(of) and not name.startswith("_"))
        raise OptionError(
            f"the native '{key}' cannot be bound to '{target}': module '{module}' has no '{attribute}'",
            expected=nearest_names(attribute, known),
        )
    if not callable(function):
        raise OptionError(f"the native '{key}' cannot be bound to '{target}', which cannot be called")

    def call(*arguments: Any) -> Any:
        try:
            return function(*arguments)
        except (DseError, ProgramExit, SourceExhausted, MemoryError):
            raise
        except Exception as error:  # the code of the user may raise anything
            raise ExecutionError(f"the native '{key}' ({target}) failed: {type(error).__name__}: {error}") from error

    return call
