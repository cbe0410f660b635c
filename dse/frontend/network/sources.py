"""The files of a program: every XDF and CAL file is read once, every actor lowered once for each set of arguments.

One ``SourceFiles`` serves a whole run; a ``Library`` looks classes up in the source roots of one network. Diagnostics
are kept with what they belong to, so that each network that uses a broken file reports it.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from dse.base.diagnostics import Gatherer
from dse.base.errors import Diagnostic
from dse.base.registry import did_you_mean, near_names
from dse.base.source import Span
from dse.formats.xdf import parse_xdf
from dse.frontend.cal.ast import ActorDecl, CalFile, UnitDecl
from dse.frontend.cal.cache import load_cal, parse_edited
from dse.frontend.cal.consteval import Value
from dse.frontend.cal.imports import BrokenUnit, UnitLoader
from dse.frontend.cal.lower_actor import check_actor, check_unit, lower_actor
from dse.frontend.network.projects import SourceRoots, absolute, join
from dse.frontend.network.validate import Report, validate_xdf
from dse.model.xdf import XdfNetwork
from dse.program.ir import Actor

Arguments = tuple[tuple[str, Value], ...]
"""The arguments of an actor in the order of its parameters."""


Stamp = tuple[int, int] | None
"""When a file was changed last, in ns, and its size in bytes; None where there is none."""


def stamp_of(path: str) -> Stamp:
    """Return the state of a file on disk."""
    try:
        found = Path(path).stat()
    except (OSError, ValueError):
        return None
    return found.st_mtime_ns, found.st_size


@dataclass(frozen=True, slots=True)
class _Lowered:
    """An actor, or None, with what was found wrong and the files that its unit names led to.

    It serves every network whose roots lead the same names to the same files.
    """

    actor: Actor | None
    diagnostics: tuple[Diagnostic, ...]
    units: dict[str, str | None]

    def depends_on(self, path: str) -> bool:
        """Return whether a unit is in the file at ``path``, or an instance in it whose arguments are reported."""
        return path in self.units.values() or any(d.span.path == path for d in self.diagnostics)


class SourceFiles:
    """Caches of parsed files and lowered actors, by path.

    ``partial``: missing classes and broken connections are warnings, and left out. ``edited``: texts that an editor
    holds, by path, in place of what the files hold; who changes one calls ``forget``.
    """

    def __init__(self, *, partial: bool = False, edited: Mapping[str, str] | None = None) -> None:
        self.partial = partial
        self.edited: Mapping[str, str] = {} if edited is None else edited
        self._cal: dict[str, tuple[CalFile | None, tuple[Diagnostic, ...]]] = {}
        self._xdf: dict[str, tuple[XdfNetwork | None, tuple[Diagnostic, ...]]] = {}
        self._stamps: dict[str, Stamp] = {}
        self.lowered: dict[tuple[str, Arguments], list[_Lowered]] = {}

    def broken(self, gather: Gatherer) -> Report:
        """Return how a broken reference is recorded."""
        return gather.warning if self.partial else gather.error

    def cal(self, path: str, gather: Gatherer) -> CalFile | None:
        """Return a CAL file without syntax errors, or None; its diagnostics go to ``gather`` each time."""
        file, diagnostics = self._parsed(path)
        gather.extend(diagnostics)
        return None if any(d.severity == "error" for d in diagnostics) else file

    def recovered(self, path: str) -> CalFile | None:
        """Return what is left of a CAL file without the constructs that have syntax errors; None if it is nothing."""
        return self._parsed(path)[0]

    def _parsed(self, path: str) -> tuple[CalFile | None, tuple[Diagnostic, ...]]:
        if path not in self._cal:
            own = Gatherer()
            text = self._text(path)
            tree = load_cal(path, own) if text is None else parse_edited(path, text, own)
            if tree is not None and not own.errors and (text is None or Path(path).is_file()):
                _check_names(tree, path, own)
            self._cal[path] = (tree, tuple(own.diagnostics))
        return self._cal[path]

    def _text(self, path: str) -> str | None:
        """Return the text of a file that is being edited; of any other None, with its state noted before it is read."""
        text = self.edited.get(path)
        if text is None:
            self._stamps[path] = stamp_of(path)
        return text

    def changed_on_disk(self) -> tuple[str, ...]:
        """Return the files that have changed since they were read from disk."""
        return tuple(path for path, stamp in self._stamps.items() if stamp != stamp_of(path))

    def forget(self, path: str) -> None:
        """Drop all that came from a file: it has changed."""
        self._stamps.pop(path, None)
        self._cal.pop(path, None)
        self._xdf.pop(path, None)
        for key, known in list(self.lowered.items()):
            if key[0] == path:
                del self.lowered[key]
            else:
                known[:] = [entry for entry in known if not entry.depends_on(path)]

    def xdf(self, path: str, gather: Gatherer) -> XdfNetwork | None:
        """Return a parsed and validated XDF file, or None; its diagnostics go to ``gather`` each time."""
        if path not in self._xdf:
            own = Gatherer()
            network = parse_xdf(path, own, self._text(path))
            if network is not None:
                validate_xdf(network, own, self.broken(own))
            self._xdf[path] = (network, tuple(own.diagnostics))
        network, diagnostics = self._xdf[path]
        gather.extend(diagnostics)
        return network


def _check_names(file: CalFile, path: str, gather: Gatherer) -> None:
    """Warn of a package or a name of an entity that is not that of its folder and file, by which others find it."""
    place = absolute(path)
    package = file.package.split(".") if file.package else []
    if package and place.parent.parts[-len(package) :] != tuple(package):
        message = f"the package is '{file.package}', but the file lies in the folder '{place.parent.name}'"
        gather.warning(message, file.span, "classes are found by their folders and files, whatever the package says")
    if file.entity.name != place.stem:
        message = f"'{file.entity.name}' stands in a file of another name"
        gather.warning(message, file.entity.span, f"others find it as '{place.stem}': give both the same name")


class Library:
    """The classes that a network sees through its source roots. ``read`` lists the files in the order they came up."""

    def __init__(self, roots: SourceRoots, files: SourceFiles) -> None:
        self.roots = roots
        self.files = files
        self.read: dict[str, None] = {}
        self._found: dict[str, str | None] = {}
        self._unit_paths: dict[str, str | None] = {}

    def find(self, class_name: str, span: Span, gather: Gatherer) -> str | None:
        """Return the file of a class; a missing one is an error that says where it was searched."""
        if class_name not in self._found:
            self._found[class_name] = self.roots.find(class_name)
        path = self._found[class_name]
        if path is None:
            self.files.broken(gather)(f"class '{class_name}' not found", span, self._advice(class_name))
        return path

    def xdf(self, path: str, gather: Gatherer) -> XdfNetwork | None:
        """Return a network file."""
        self.read[path] = None
        return self.files.xdf(path, gather)

    def cal(self, path: str, gather: Gatherer) -> CalFile | None:
        """Return an actor or unit file."""
        self.read[path] = None
        return self.files.cal(path, gather)

    def actor(self, path: str, arguments: Arguments, span: Span, gather: Gatherer) -> Actor | None:
        """Return the lowered actor of a file for given arguments, or None with the reasons in ``gather``."""
        known = self.files.lowered.setdefault((path, arguments), [])
        lowered = next((entry for entry in known if self._sees(entry.units)), None)
        if lowered is None:
            lowered = self._lower(path, arguments, span)
            known.append(lowered)
        gather.extend(lowered.diagnostics)
        self._note(lowered.units)
        return lowered.actor

    def check_entity(self, path: str, gather: Gatherer) -> CalFile | None:
        """Type-check an actor or unit on its own, parameters at their defaults or 0; return the parsed file."""
        file = self.cal(path, gather)
        if file is not None and isinstance(file.entity, UnitDecl):
            used: dict[str, str | None] = {}
            check_unit(file, self._units(used, gather), gather)
            self._note(used)
        elif file is not None:
            self.actor_alone(file, path, gather)
        return file

    def actor_alone(self, file: CalFile, path: str, gather: Gatherer) -> Actor | None:
        """Return the actor of a file for the defaults of its parameters, or None with the reasons in ``gather``."""
        assert isinstance(file.entity, ActorDecl), "the caller has checked that it is an actor"
        if not file.entity.parameters:
            return self.actor(path, (), file.span, gather)  # what networks that use it ask for
        used: dict[str, str | None] = {}
        actor = check_actor(file, self._units(used, gather), gather)
        self._note(used)
        return actor

    def _lower(self, path: str, arguments: Arguments, span: Span) -> _Lowered:
        own = Gatherer()
        used: dict[str, str | None] = {}
        file = self.cal(path, own)
        actor: Actor | None = None
        if file is not None:
            assert isinstance(file.entity, ActorDecl), "the caller has checked that it is an actor"
            actor = lower_actor(file, dict(arguments), self._units(used, own), own, instance_span=span)
        return _Lowered(actor, tuple(own.diagnostics), used)

    def _units(self, used: dict[str, str | None], gather: Gatherer) -> UnitLoader:
        """Return the function by which lowering asks for a unit; it notes in ``used`` where each name led."""

        def unit(name: str) -> CalFile | BrokenUnit | None:
            path = used[name] = self._unit_path(name)
            return None if path is None else self.files.cal(path, gather) or BrokenUnit.BROKEN

        return unit

    def _unit_path(self, name: str) -> str | None:
        if name not in self._unit_paths:
            self._unit_paths[name] = self.roots.find(name, (".cal",))
        return self._unit_paths[name]

    def _sees(self, units: dict[str, str | None]) -> bool:
        """Return whether unit names lead to these files from the roots of this library."""
        return all(self._unit_path(name) == path for name, path in units.items())

    def _note(self, units: dict[str, str | None]) -> None:
        self.read.update((path, None) for path in units.values() if path is not None)

    def _advice(self, class_name: str) -> str:
        """Say where a class was searched, and which classes of its package have a similar name."""
        package, _, name = class_name.rpartition(".")
        beside: dict[str, None] = {}
        for root in self.roots.folders:
            folder = Path(join(root, package.replace(".", "/")) if package else root)
            if folder.is_dir():
                beside.update(dict.fromkeys(sorted(p.stem for p in folder.iterdir() if p.suffix in (".cal", ".xdf"))))
        near = near_names(name, tuple(beside))
        meant = did_you_mean(f"{package}.{found}" if package else found for found in near)
        advice = meant if near else self._elsewhere(package, name) or "--source-path DIR searches another folder first"
        return f"{self.roots.describe()}; {advice}"

    def _elsewhere(self, package: str, name: str) -> str:
        """Say which file has the name of a class, but lies in no folder of its package; empty where none does."""
        found = self.roots.find(name) if package else None
        if found is None:
            return ""
        folder = package.replace(".", "/")
        return f"'{found}' would be it in a folder '{folder}': rename the folder, or write the class as '{name}'"
