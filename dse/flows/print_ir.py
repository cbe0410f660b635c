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
from dse.program.ir import Actor
from dse.program.network import Network
from dse.program.text.printer import print_actor


def actor_text(path: str, name: str, options: CheckOptions = DEFAULT_OPTIONS) -> str:
    """Return the text of an actor of a file without errors.

    ``name`` is an instance or a class of a network, or the class of a CAL file; of a class, the package may be left
    out. A class that has several actors, for different parameters, gives all of them, each below the names of its
    instances. Raises OptionError when there is no such actor, SourceError when the file has errors after all.
    """
    if Path(path).suffix == ".cal":
        return print_actor(_of_cal_file(path, name, options))
    loaded = load_network(path, source_paths=options.source_paths, strict=options.strict, partial=options.partial)
    found = _of_network(loaded.network, name)
    if len(found) == 1:
        return print_actor(found[0][0])
    return "\n".join(f"// {', '.join(instances)}\n{print_actor(actor)}" for actor, instances in found)


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


def _of_network(network: Network, name: str) -> list[tuple[Actor, list[str]]]:
    """Return the actors that a name means, each with the names of its instances."""
    exact = [instance for instance in network.instances if instance.name == name]
    meant = exact[:1] or [instance for instance in network.instances if _is_class(name, instance.actor)]
    if not meant:
        classes = (_short(instance.actor) for instance in network.instances)
        known = dict.fromkeys([*(instance.name for instance in network.instances), *classes])
        raise OptionError(f"'{network.path}' has no actor '{name}'", expected=nearest_names(name, tuple(known)))
    found: dict[int, tuple[Actor, list[str]]] = {}
    for instance in meant:
        found.setdefault(id(instance.actor), (instance.actor, []))[1].append(instance.name)
    return list(found.values())


def _is_class(name: str, actor: Actor) -> bool:
    """Return whether an actor is of a class, whose package may be left out."""
    return name in (actor.name, _short(actor))


def _short(actor: Actor) -> str:
    return actor.name.rpartition(".")[2]
