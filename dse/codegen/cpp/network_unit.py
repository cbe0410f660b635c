"""The file of the network: tables of actors and connections, and ``main``.

The types are those of ``dse/native/runtime/dse/tables.hpp``.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from dse.base.source import Span
from dse.codegen.cpp.actor_unit import ActorUnit
from dse.codegen.cpp.layout import folded
from dse.codegen.cpp.spelling import CPP, comment_text, quoted
from dse.codegen.cpp.types import storage_type
from dse.codegen.emitter import Lines
from dse.program.ir import Actor
from dse.program.network import Connection, Network
from dse.program.types import scalar_of


@dataclass(frozen=True, slots=True, kw_only=True)
class DeviceTables:
    """The device code of a program: ``function`` returns it; of each instance the number of its class, or why none."""

    function: str
    classes: Sequence[int | str]


@dataclass(frozen=True, slots=True, kw_only=True)
class FixedMapping:
    """The one mapping that a program is for. ``name``: of its file; ``text``: an XCF; ``on_gpu``: instances there."""

    name: str
    text: str
    on_gpu: frozenset[int]


def network_unit(
    network: Network,
    units: Sequence[ActorUnit],
    *,
    compares_itself: bool = False,
    time_matters: str = "",
    device: DeviceTables | None = None,
    fixed: FixedMapping | None = None,
) -> str:
    """Return the text of ``network.cpp``.

    ``units``: that of each instance, in the order of the network. ``compares_itself``: an actor compares the pictures
    by a native of its own. ``time_matters``: why its runs on several threads may differ, empty if they do not.
    ``device``: None for a program without device code; ``fixed``: None for one that takes any mapping.
    """
    lines = Lines(CPP.indent)
    add = lines.add
    add(f"// {comment_text(f'The network {network.name}, written by dse from {network.path}.')}")
    if device is not None:
        add('#include "dse/device/gpu.hpp"')
    add('#include "dse/program.hpp"')
    add("")
    if device is not None:
        add(f"const dse::device::Program& {device.function}();")
        add("")
    classes: Sequence[int | str | None] = [None] * len(units) if device is None else device.classes
    distinct = {unit.name: unit for unit in units}
    add("namespace actors {")
    add("")
    for name in distinct:
        add(f"dse::Actor* make_{name}(const dse::Wires& wires);")
    add("")
    add("}  // namespace actors")
    add("")
    add("namespace {")
    add("")
    for unit in distinct.values():
        _unit_tables(lines, unit)
    _table(
        lines,
        "dse::ActorInfo",
        "ACTORS",
        (_actor_text(i.name, u, c) for i, u, c in zip(network.instances, units, classes, strict=True)),
    )
    _table(lines, "dse::ConnectionInfo", "CONNECTIONS", (_connection_text(network, c) for c in network.connections))
    text = _network_text(network, compares_itself, time_matters, device, fixed)
    add(f"const dse::NetworkInfo NETWORK = {{{text}}};")
    add("")
    add("}  // namespace")
    add("")
    add("int main(int argc, char** argv) { return dse::main(argc, argv, NETWORK); }")
    return "\n".join(folded(lines).texts) + "\n"


def _network_text(
    network: Network,
    compares_itself: bool,
    time_matters: str,
    device: DeviceTables | None,
    fixed: FixedMapping | None,
) -> str:
    fields = [quoted(network.name), "ACTORS", _span(network.connections, "CONNECTIONS"), _flag(compares_itself)]
    if time_matters or device is not None or fixed is not None:
        fields.append(quoted(time_matters) if time_matters else "nullptr")
    if device is not None or fixed is not None:
        fields.append(f"&{device.function}()" if device is not None else "nullptr")
    if fixed is not None:
        fields += [quoted(fixed.name), quoted(fixed.text)]
    return ", ".join(fields)


def _table(lines: Lines, of: str, name: str, rows: Iterable[str]) -> None:
    """Write a table, unless it is empty: C++ has no empty arrays."""
    found = list(rows)
    if not found:
        return
    lines.add(f"const {of} {name}[] = {{")
    for row in found:
        lines.add(f"{CPP.indent}{row},")
    lines.add("};")
    lines.add("")


def _span(rows: Sequence[object], name: str) -> str:
    return name if rows else "{}"


def _unit_tables(lines: Lines, unit: ActorUnit) -> None:
    actor = unit.actor
    moves = [bool(a.inputs) or any(unit.wiring.fan_outs[p.port] for p in a.outputs) for a in actor.actions]
    initial = actor.initializers
    actions = (f"{{{quoted(a.name)}, {_flag(moves[k])}, {_flag(k in initial)}}}" for k, a in enumerate(actor.actions))
    _table(lines, "dse::ActionInfo", f"{unit.name}_ACTIONS", actions)
    _table(lines, "char* const", f"{unit.name}_INPUTS", (quoted(p.name) for p in actor.inputs))
    _table(lines, "char* const", f"{unit.name}_OUTPUTS", (quoted(p.name) for p in actor.outputs))
    _table(lines, "dse::Site", f"{unit.name}_SITES", (_site_text(span, name) for span, name in unit.sites))
    owners = (f"{{{quoted(n)}, {_site_text(s, '')}}}" for n, s in _owners(actor))
    _table(lines, "dse::OwnerInfo", f"{unit.name}_OWNERS", owners)


def _owners(actor: Actor) -> list[tuple[str, Span]]:
    return [(a.name, a.span) for a in actor.actions] + [(r.source_name, r.span) for r in actor.routines]


def _flag(value: bool) -> str:
    return "true" if value else "false"


def _site_text(span: Span, name: str) -> str:
    numbers = f"{span.line}, {span.column}, {span.end_line}, {span.end_column}"
    return f"{{{quoted(span.path)}, {numbers}, {quoted(name)}}}"


def _actor_text(name: str, unit: ActorUnit, device: int | str | None) -> str:
    actor = unit.actor
    tables = (
        _span(actor.actions, f"{unit.name}_ACTIONS"),
        _span(actor.inputs, f"{unit.name}_INPUTS"),
        _span(actor.outputs, f"{unit.name}_OUTPUTS"),
        _span(unit.sites, f"{unit.name}_SITES"),
        _span(_owners(actor), f"{unit.name}_OWNERS"),
    )
    place = _site_text(actor.span, "")
    rest = f"{place}, {len(unit.loops)}, {_flag(unit.guards_call)}"
    if device is not None:
        rest += f", {device}" if isinstance(device, int) else f", -1, {quoted(device)}"
    return f"{{{quoted(name)}, {quoted(actor.name)}, actors::make_{unit.name}, {', '.join(tables)}, {rest}}}"


def _connection_text(network: Network, connection: Connection) -> str:
    source, target = network.instances[connection.source].actor, network.instances[connection.target].actor
    of = storage_type(scalar_of(source.outputs[connection.source_port].type))
    written = (p.tokens for a in source.actions for p in a.outputs if p.port == connection.source_port)
    read = (p.tokens for a in target.actions for p in a.inputs if p.port == connection.target_port)
    least = max((*written, *read), default=0)
    ends = f"{connection.source}, {connection.source_port}, {connection.target}, {connection.target_port}"
    name = quoted(network.connection_name(connection))
    factory = f"dse::make_fifo<{f'dse::{of.name}' if of.family == 'integer' else of.name}>"
    return f"{{{name}, {ends}, {factory}, {connection.capacity or 0}, {least}}}"
