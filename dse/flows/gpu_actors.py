"""Which actors of a network can run on a GPU, and why the others cannot: the question of ``dse check --gpu``."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from dse.base.errors import OptionError
from dse.base.source import NO_SPAN, Span
from dse.codegen.cpp.actor_unit import actor_unit, unit_name
from dse.codegen.cpp.no_native_form import NoNativeForm
from dse.flows.check_report import DEFAULT_OPTIONS, CheckOptions
from dse.frontend.network.elaborate import load_network
from dse.native.device import device_class
from dse.native.natives import native_forms
from dse.passes.analyses.loop_sharing import LoopSharing
from dse.passes.analyses.shared_loops import shared_loops
from dse.passes.analyses.simd_firing import simd_firings
from dse.passes.analyses.uses import gather_facts
from dse.passes.rewrites.explicit import make_explicit
from dse.program.explicit import Wiring
from dse.program.ir import Actor
from dse.program.network import Network
from dse.run.instance import wiring_of


@dataclass(frozen=True, slots=True, kw_only=True)
class GpuAction:
    """An action of an actor that can run there. ``reason``: why several firings cannot be made at once, "" where they
    can; ``span``: where it says so.
    """

    name: str
    reason: str
    span: Span
    loops: tuple[LoopSharing, ...] = ()
    """What is done with the loops of one firing."""

    @property
    def simd(self) -> bool:
        """Whether several threads fire it at once."""
        return not self.reason


@dataclass(frozen=True, slots=True, kw_only=True)
class GpuRoutine:
    """A function or procedure with loops, that a thread calls which fires."""

    name: str
    loops: tuple[LoopSharing, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class GpuActor:
    """An instance of a network. ``reason``: why it cannot run on a GPU, "" where it can; ``span``: where it says so.

    ``actions``: in the order of the source, initializers last; none where it cannot. ``routines``: those with loops.
    """

    name: str
    class_name: str
    reason: str
    span: Span
    actions: tuple[GpuAction, ...] = ()
    routines: tuple[GpuRoutine, ...] = ()

    @property
    def able(self) -> bool:
        """Whether it can run there."""
        return not self.reason


def gpu_actors(path: str, options: CheckOptions = DEFAULT_OPTIONS) -> tuple[GpuActor, ...]:
    """Return for each instance of the network of an XDF file whether it can run on a GPU.

    Raises:
        OptionError: the file is no network. SourceError: it has errors.
    """
    if not path.endswith(".xdf"):
        raise OptionError(f"'{path}' is no network", expected="--gpu tells of the actors of a network (.xdf)")
    loaded = load_network(path, source_paths=options.source_paths, strict=options.strict, partial=options.partial)
    return abilities_of(loaded.network)


def abilities_of(network: Network) -> tuple[GpuActor, ...]:
    """Return for each instance of a network whether it can run on a GPU."""
    known: dict[tuple[int, Wiring], GpuActor] = {}
    found = []
    for index, instance in enumerate(network.instances):
        wiring = wiring_of(network, index, accesses=False)
        key = (id(instance.actor), wiring)
        if key not in known:
            known[key] = _ability(network, index, wiring)
        found.append(replace(known[key], name=instance.name))
    return tuple(found)


def _ability(network: Network, index: int, wiring: Wiring) -> GpuActor:
    """Return what is found of an instance."""
    instance = network.instances[index]
    reason, span = _reason(network, index, wiring)
    actions, routines = ((), ()) if reason else _shares(instance.actor, wiring)
    return GpuActor(
        name=instance.name,
        class_name=instance.actor.name,
        reason=reason,
        span=span,
        actions=actions,
        routines=routines,
    )


def _reason(network: Network, index: int, wiring: Wiring) -> tuple[str, Span]:
    """Return why an instance cannot run on a GPU, and where that stands."""
    actor = network.instances[index].actor
    try:
        unit = actor_unit(actor, wiring, native_forms(actor, {}), name=unit_name(actor, set()))
    except NoNativeForm as error:
        first = error.first_error
        return first.message, first.span
    found = device_class(unit, _no_lines)
    return found.reason, found.span or NO_SPAN


def _shares(actor: Actor, wiring: Wiring) -> tuple[tuple[GpuAction, ...], tuple[GpuRoutine, ...]]:
    """Return what the device code does with each action, and with each routine that has loops."""
    facts = gather_facts(actor)
    explicit, values = make_explicit(actor, wiring, facts)
    loops = shared_loops(explicit, facts, values).loops
    actions = tuple(
        GpuAction(
            name=actor.actions[found.action].name,
            reason=found.reason,
            span=found.span,
            loops=tuple(loop for loop in loops if loop.action == found.action),
        )
        for found in simd_firings(explicit, facts, values)
    )
    routines = tuple(
        GpuRoutine(name=routine.source_name, loops=of)
        for routine in explicit.routines
        if (of := tuple(loop for loop in loops if loop.routine == routine.name))
    )
    return actions, routines


def _no_lines(_path: str) -> Sequence[str]:
    return ()
