"""Printing of the IR of one actor, for whoever debugs a program, the front-end or a pass."""

from pathlib import Path

from dse.base.diagnostics import Gatherer
from dse.base.errors import OptionError
from dse.base.registry import nearest_names
from dse.flows.check_report import DEFAULT_OPTIONS, CheckOptions
from dse.frontend.cal.ast import ActorDecl
from dse.frontend.network.elaborate import load_network
from dse.frontend.network.projects import find_source_roots
from dse.frontend.network.sources import Library, SourceFiles
from dse.passes.rewrites.explicit import make_explicit
from dse.program.explicit import Wiring
from dse.program.ir import Actor
from dse.program.network import Network
from dse.program.text.printer import print_actor, print_explicit
from dse.run.instance import wiring_of


def actor_text(path: str, name: str, options: CheckOptions = DEFAULT_OPTIONS, *, explicit: bool = False) -> str:
    """Return the text of an actor of a file without errors; ``explicit``: as backends see it, nothing left implied.

    ``name`` is an instance or a class of a network, or the class of a CAL file; of a class, the package may be left
    out. A class that has several actors, for different parameters, gives all of them, each below the names of its
    instances. An explicit actor is one for each way of being connected; that of a CAL file has every port connected to
    one peer of its type.

    Raises:
        OptionError: there is no such actor. SourceError: the file has errors after all.
    """
    if Path(path).suffix == ".cal":
        actor = _of_cal_file(path, name, options)
        return _text(actor, _fully_wired(actor)) if explicit else print_actor(actor)
    loaded = load_network(path, source_paths=options.source_paths, strict=options.strict, partial=options.partial)
    texts: dict[str, list[str]] = {}
    for index in _of_network(loaded.network, name):
        instance = loaded.network.instances[index]
        if explicit:
            text = _text(instance.actor, wiring_of(loaded.network, index, accesses=False))
        else:
            text = print_actor(instance.actor)
        texts.setdefault(text, []).append(instance.name)
    if len(texts) == 1:
        return next(iter(texts))
    return "\n".join(f"// {', '.join(instances)}\n{text}" for text, instances in texts.items())


def _text(actor: Actor, wiring: Wiring) -> str:
    return print_explicit(make_explicit(actor, wiring)[0])


def _fully_wired(actor: Actor) -> Wiring:
    return Wiring(inputs=tuple(p.type for p in actor.inputs), loops=(), fan_outs=(1,) * len(actor.outputs))


def _of_cal_file(path: str, name: str, options: CheckOptions) -> Actor:
    """Return the actor of a CAL file for the defaults of its parameters."""
    gather = Gatherer()
    library = Library(find_source_roots(path, options.source_paths, gather), SourceFiles(partial=options.partial))
    file = library.cal(path, gather)
    gather.fail_on_errors()
    if file is None or not isinstance(file.entity, ActorDecl):
        raise OptionError(f"'{path}' declares no actor", expected="give an actor (.cal) or a network (.xdf)")
    actor = library.actor_alone(file, path, gather)
    gather.fail_on_errors()
    assert actor is not None, "an actor without errors is lowered"
    if not _is_class(name, actor):
        raise OptionError(f"'{path}' has no actor '{name}'", expected=nearest_names(name, (_short(actor),)))
    return actor


def _of_network(network: Network, name: str) -> list[int]:
    """Return the instances that a name means."""
    named = list(enumerate(network.instances))
    exact = [index for index, instance in named if instance.name == name]
    meant = exact[:1] or [index for index, instance in named if _is_class(name, instance.actor)]
    if not meant:
        classes = (_short(instance.actor) for instance in network.instances)
        known = dict.fromkeys([*(instance.name for instance in network.instances), *classes])
        raise OptionError(f"'{network.path}' has no actor '{name}'", expected=nearest_names(name, tuple(known)))
    return meant


def _is_class(name: str, actor: Actor) -> bool:
    """Return whether an actor is of a class, whose package may be left out."""
    return name in (actor.name, _short(actor))


def _short(actor: Actor) -> str:
    return actor.name.rpartition(".")[2]
