"""From a network to its C++ project: a unit for each actor and way of being connected, the tables, and the natives."""

import functools
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import dse
from dse.base.diagnostics import read_source
from dse.base.errors import Diagnostic
from dse.codegen.cpp.actor_unit import ActorUnit, actor_unit, unit_name
from dse.codegen.cpp.network_unit import DeviceTables, FixedMapping, network_unit
from dse.codegen.cpp.target import ACTOR_HEADERS
from dse.codegen.cuda.device_unit import PROGRAM, device_unit
from dse.native.device import DeviceClass, device_class
from dse.native.natives import (
    Overrides,
    UserNative,
    check_user_natives,
    compares_itself,
    cpp_string,
    entry_text,
    key_of,
    native_forms,
    without_form,
)
from dse.native.project import Project, SourceUnit, emulation_headers, runtime_headers
from dse.native.result import ActorTables
from dse.program.explicit import Wiring
from dse.program.network import Network
from dse.run.instance import wiring_of
from dse.run.natives.effects import why_time_matters

SHARED_UNITS = (
    SourceUnit(
        path="src/main.cpp",
        text=f'#define DSE_VERSION "{dse.__version__}"\n#include "dse/main.hpp"\n#include "dse/natives/bodies.hpp"\n',
        cold=True,
        untimed=True,
    ),
    SourceUnit(path="src/engine.cpp", text='#include "dse/engine_bodies.hpp"\n'),
)
"""Command line with the native functions, and engine: the same for every network, so that their objects serve all. In
one file the first two compile in three quarters of the time, and they read whole blocks and pictures, so that it is
not they who take time in a run."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Emission:
    """A network in C++. ``tables``: what results name by number, by instance; ``warnings``: natives without form.

    ``able``: the instances that have device code.
    """

    project: Project
    tables: tuple[ActorTables, ...]
    warnings: tuple[Diagnostic, ...] = ()
    able: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class EmissionOptions:
    """What a program records besides its firings, and which C++ functions of the user stand for natives.

    ``device``: with the device code of the actors that may run on a GPU; ``fixed``: for one mapping alone, so only of
    those that it has there.
    """

    rounds: bool = False
    device: bool = False
    fixed: FixedMapping | None = None
    overrides: Overrides = field(default_factory=dict)


def emit(network: Network, options: EmissionOptions) -> Emission:
    """Return the C++ of a network.

    Raises:
        NoNativeForm: an actor does what has no C++ form. OptionError, ModelNotApplicable: a native cannot be bound.
    """
    check_user_natives(network, options.overrides)
    units: dict[tuple[int, Wiring], ActorUnit] = {}
    of_instances, names, source = [], set[str](), _source_lines()
    for index, instance in enumerate(network.instances):
        wiring = wiring_of(network, index, accesses=False, rounds=options.rounds)
        key = (id(instance.actor), wiring)
        if key not in units:
            units[key] = actor_unit(
                instance.actor,
                wiring,
                native_forms(instance.actor, options.overrides),
                name=unit_name(instance.actor, names),
                source=source,
            )
        of_instances.append(units[key])
    own = compares_itself(network, options.overrides)
    differs = why_time_matters(network, options.overrides)
    wanted = _wanted(of_instances, options)
    classes = {
        u.name: device_class(u, source) if u.name in wanted else DeviceClass(unit=None, reason=NOT_IN_MAPPING)
        for u in units.values()
        if options.device
    }
    device = _device_tables(of_instances, classes)
    fixed = options.fixed
    text = network_unit(network, of_instances, compares_itself=own, time_matters=differs, device=device, fixed=fixed)
    sources = (
        SourceUnit(path="src/network.cpp", text=text),
        *(_of_actor(unit) for unit in units.values()),
        *_device_sources(network, classes),
        *SHARED_UNITS,
        *_user_units(network, options.overrides),
    )
    return Emission(
        project=Project(
            name=network.name,
            units=sources,
            headers=runtime_headers(),
            others=emulation_headers() if options.device else (),
        ),
        tables=tuple(ActorTables(sites=u.sites, loops=u.loops) for u in of_instances),
        warnings=_warnings(network, options.overrides),
        able=_able(network, of_instances, classes),
    )


NOT_IN_MAPPING = "the mapping that this program is for has it on a processor"


def _wanted(units: Sequence[ActorUnit], options: EmissionOptions) -> frozenset[str]:
    """Return the classes that need device code, if they can have it."""
    fixed = options.fixed
    return frozenset(u.name for k, u in enumerate(units) if fixed is None or k in fixed.on_gpu)


def _able(network: Network, units: Sequence[ActorUnit], classes: Mapping[str, DeviceClass]) -> tuple[str, ...]:
    """Return the instances that have device code."""
    pairs = zip(network.instances, units, strict=True)
    return tuple(i.name for i, u in pairs if u.name in classes and classes[u.name].unit is not None)


def _device_tables(units: Sequence[ActorUnit], classes: Mapping[str, DeviceClass]) -> DeviceTables | None:
    """Return what the tables of the network say of the device code; None where there is none."""
    able = [name for name, found in classes.items() if found.unit is not None]
    if not able:
        return None
    numbers = {name: k for k, name in enumerate(able)}
    return DeviceTables(function=PROGRAM, classes=[numbers.get(u.name, classes[u.name].reason) for u in units])


def _of_actor(unit: ActorUnit) -> SourceUnit:
    return SourceUnit(path=f"src/actors/{unit.name}.cpp", text=unit.text, spans=unit.spans, prelude=ACTOR_HEADERS)


def _device_sources(network: Network, classes: Mapping[str, DeviceClass]) -> Iterator[SourceUnit]:
    """Yield the file of device code, if an actor has any."""
    able = [found.unit for found in classes.values() if found.unit is not None]
    if able:
        unit = device_unit(network, able)
        yield SourceUnit(path="src/device.cu", text=unit.text, spans=unit.spans, device=True)


def _source_lines() -> Callable[[str], Sequence[str]]:
    """Return what gives the lines of a source file by its path, for comments; none where it cannot be read."""

    @functools.cache
    def lines(path: str) -> Sequence[str]:
        try:
            return read_source(path).split("\n")
        except (OSError, ValueError):
            return ()

    return lines


def _user_units(network: Network, overrides: Overrides) -> tuple[SourceUnit, ...]:
    """Return the files of the user's functions, each once, as units of a project. Raises ``OSError``."""
    declared = {key_of(native): native for instance in network.instances for native in instance.actor.natives}
    files = dict.fromkeys(native.file for native in overrides.values())
    units = []
    for number, path in enumerate(files):
        entries = [entry_text(declared[key], user) for key, user in overrides.items() if user.file == path]
        text = f'#line 1 {cpp_string(str(path))}\n{_text_of(path)}\n#include "dse/lists.hpp"\n'
        text += '#include "dse/natives/bound.hpp"\n' + "".join(entries)
        units.append(SourceUnit(path=f"src/natives/{number}_{path.name}", text=text, foreign=True))
    return tuple(units)


def _text_of(path: Path) -> str:
    return path.read_text(encoding="utf-8", errors="surrogateescape")


def user_texts(natives: tuple[UserNative, ...]) -> tuple[str, ...]:
    """Return all that a program depends on in the user's functions: names, symbols and the texts of the files."""
    bound = {native.key: native for native in natives}
    names = (f"{native.key}={native.symbol}" for native in natives)
    return (*names, *map(_text_of, dict.fromkeys(native.file for native in bound.values())))


def _warnings(network: Network, overrides: Overrides) -> tuple[Diagnostic, ...]:
    """Return a warning for each native that ends the run if it is called."""
    return tuple(
        Diagnostic(
            message=f"the native '{native.source_name}' has no C++ form: calling it ends the program",
            span=native.span,
            severity="warning",
            expected=f"bind it with --native {key_of(native)}=FILE.cpp:SYMBOL, if it is called",
        )
        for native in without_form(network, overrides)
    )
