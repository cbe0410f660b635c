"""The classes of a program's device code: of each actor one, or the reason why it runs on a processor only."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from dse.base.source import Span
from dse.codegen.cpp.actor_unit import ActorUnit, actor_unit
from dse.codegen.cpp.no_native_form import NoNativeForm
from dse.codegen.cuda.target import GPU
from dse.passes.analyses.gpu_ability import host_reasons
from dse.passes.analyses.uses import gather_facts


@dataclass(frozen=True, slots=True, kw_only=True)
class DeviceClass:
    """An actor on a GPU: its class, or None and the ``reason``, a part of a sentence, with its place."""

    unit: ActorUnit | None
    reason: str = ""
    span: Span | None = None


def device_class(unit: ActorUnit, source: Callable[[str], Sequence[str]]) -> DeviceClass:
    """Return the class that an actor has in device code; ``unit``: that of the processor."""
    reasons = host_reasons(unit.actor, gather_facts(unit.actor))
    if reasons:
        return DeviceClass(unit=None, reason=reasons[0].text, span=reasons[0].span)
    try:
        found = actor_unit(unit.actor, unit.wiring, {}, name=unit.name, source=source, target=GPU)
    except NoNativeForm as error:
        first = error.first_error
        return DeviceClass(unit=None, reason=first.message, span=first.span)
    assert found.sites == unit.sites, "places have one number on both sides"
    assert found.loops == unit.loops, "counters have one number on both sides"
    return DeviceClass(unit=found)
