"""Answers about XDF files."""

from typing import Protocol

from dse.base.escaping import shown
from dse.frontend.cal.references import Declaration, entity_of, parameters_of, ports_of
from dse.lsp.answers import Hovered, Location, Offered, Outlined
from dse.lsp.cal_questions import Files, actor_lines, hover_text, location_of
from dse.lsp.markdown import code
from dse.lsp.workspace import XDF, Workspace
from dse.lsp.xdf_tags import Tag
from dse.lsp.xdf_view import Named, XdfView, text_of

_OUTLINED = {"Port": "name", "Decl": "name", "Instance": "id"}


class NetworkFiles(Files, Protocol):
    """Where XDF files come from as well."""

    @property
    def workspace(self) -> Workspace:
        """Where classes are looked up."""

    def xdf(self, path: str) -> XdfView | None:
        """Return an XDF file."""


class XdfQuestions:
    """Questions about one XDF file."""

    def __init__(self, files: NetworkFiles, path: str) -> None:
        self._files = files
        self._path = path
        self._view = files.xdf(path)

    # Definition

    def definition(self, offset: int) -> tuple[Location, ...]:
        """Return what declares the name at a place: a file for a class, a port of its actor for a port."""
        named = None if self._view is None else self._view.named_at(offset)
        if self._view is None or named is None:
            return ()
        tag = self._declaring_tag(self._view, named)
        if tag is not None:
            return (_tag_location(self._view, *tag),)
        found = self._in_class(self._view, named)
        if isinstance(found, Declaration):
            location = location_of(self._files, found)
            return () if location is None else (location,)
        return () if found is None else (found,)

    def _declaring_tag(self, view: XdfView, named: Named) -> tuple[Tag, str] | None:
        """Return the element of this file, and its attribute, that declares a name."""
        tag: Tag | None = None
        match named.meaning:
            case "instance":
                tag = view.instance(named.name)
            case "network port":
                tag = view.port(named.name, named.owner)
            case "declaration":
                tag = view.declaration(named.name)
        return None if tag is None else (tag, _OUTLINED[tag.name])

    def _in_class(self, view: XdfView, named: Named) -> Declaration | Location | None:
        """Return what a name means in the file of a class."""
        name = named.name if named.meaning == "class" else view.class_of(named.owner)
        path = self._files.workspace.class_file(self._path, name)
        if path is None:
            return None
        if path.endswith(XDF):
            return self._in_network(path, named)
        return self._in_actor(path, named)

    def _in_actor(self, path: str, named: Named) -> Declaration | None:
        view = self._files.cal(path)
        if view is None or view.tree is None:
            return None
        if named.meaning == "class":
            return entity_of(view.tree)
        known = (*parameters_of(view.tree), *ports_of(view.tree))
        return next((d for d in known if d.kind == named.meaning and d.name == named.name), None)

    def _in_network(self, path: str, named: Named) -> Location | None:
        view = self._files.xdf(path)
        if view is None:
            return None
        match named.meaning:
            case "class":
                root = view.network()
                return _start_of(view) if root is None else _tag_location(view, root, "name")
            case "parameter":
                found = view.declaration(named.name)
            case "input port":
                found = view.port(named.name, "Input")
            case "output port":
                found = view.port(named.name, "Output")
            case _:
                found = None
        return None if found is None else _tag_location(view, found, "name")

    # Hover

    def hover(self, offset: int) -> Hovered | None:
        """Return what is known of the name at a place."""
        named = None if self._view is None else self._view.named_at(offset)
        if self._view is None or named is None:
            return None
        text = self._hover_text(self._view, named)
        return Hovered(text=text, start=named.start, end=named.end) if text else None

    def _hover_text(self, view: XdfView, named: Named) -> str:
        match named.meaning:
            case "instance":
                return self._instance_text(view, named.name)
            case "network port" | "declaration":
                declaring = self._declaring_tag(view, named)
                return "" if declaring is None else _tag_text(declaring[0])
        found = self._in_class(view, named)
        if isinstance(found, Declaration):
            return hover_text(self._files, found, self._path)
        return "" if found is None else f"*network* {code(found.source.path.rpartition('/')[2])}"

    def _instance_text(self, view: XdfView, name: str) -> str:
        class_name = view.class_of(name)
        path = self._files.workspace.class_file(self._path, class_name)
        lines = [f"*instance* {code(name)} of {code(class_name)}" + ("" if path else ", which is not found")]
        facts = None if path is None or path.endswith(XDF) else self._files.facts(path)
        return "\n\n".join([*lines, *(actor_lines(facts) if facts is not None else [])])

    # Outline

    def outline(self) -> tuple[Outlined, ...]:
        """Return the network with its ports, declarations, instances and connections."""
        view = self._view
        root = None if view is None else view.network()
        if view is None or root is None:
            return ()
        children = []
        for tag in root.children:
            if tag.name in _OUTLINED and tag.value(_OUTLINED[tag.name]):
                children.append(_outlined(tag, _OUTLINED[tag.name], _tag_detail(tag)))
            elif tag.name == "Connection":
                children.append(_connection(tag))
        return (_outlined(root, "name", "network", tuple(children)),)

    # Completion

    def completion(self, offset: int) -> tuple[Offered, ...]:
        """Return the names that an attribute at a place may have: classes, instances, ports, parameters."""
        named = None if self._view is None else self._view.named_at(offset)
        if self._view is None or named is None:
            return ()
        names, kind = self._offered(self._view, named)
        return tuple(
            Offered(name=shown(name), kind=kind, detail=detail, start=named.start, end=named.end)
            for name, detail in names.items()
        )

    def _offered(self, view: XdfView, named: Named) -> tuple[dict[str, str], str]:
        """Return names with a detail, and their kind."""
        match named.meaning:
            case "class":
                return dict.fromkeys(self._files.workspace.class_names(self._path), ""), "class"
            case "instance":
                instances = [text_of(t.value("id")) for t in view.all("Instance")]
                return {name: view.class_of(name) for name in instances if name}, "Instance"
            case "network port":
                return dict.fromkeys(view.ports(named.owner), ""), "Port"
            case "declaration":
                return dict.fromkeys((text_of(t.value("name")) for t in view.all("Decl")), ""), "Decl"
            case _:
                return self._members(view.class_of(named.owner), named.meaning), named.meaning

    def _members(self, class_name: str, kind: str) -> dict[str, str]:
        """Return the ports of one side, or the parameters, of a class."""
        path = self._files.workspace.class_file(self._path, class_name)
        if path is None:
            return {}
        if path.endswith(XDF):
            view = self._files.xdf(path)
            return {} if view is None else dict.fromkeys(_network_members(view, kind), "")
        actor = self._files.cal(path)
        if actor is None or actor.tree is None:
            return {}
        known = parameters_of(actor.tree) if kind == "parameter" else ports_of(actor.tree)
        return {d.name: actor.head_text(d) for d in known if d.kind == kind}


def _network_members(view: XdfView, kind: str) -> tuple[str, ...]:
    if kind == "parameter":
        return tuple(text_of(t.value("name")) for t in view.all("Decl") if t.value("kind").lower() == "param")
    return view.ports("Input" if kind == "input port" else "Output")


def _start_of(view: XdfView) -> Location:
    return Location(source=view.source, start=0, end=0, name_start=0, name_end=0)


def _tag_location(view: XdfView, tag: Tag, attribute: str) -> Location:
    start, end = _name_place(tag, attribute)
    return Location(source=view.source, start=tag.start, end=tag.end, name_start=start, name_end=end)


def _name_place(tag: Tag, attribute: str) -> tuple[int, int]:
    found = tag.attributes.get(attribute)
    return (tag.start, tag.head_end) if found is None else (found.start, found.end)


def _outlined(tag: Tag, attribute: str, detail: str, children: tuple[Outlined, ...] = ()) -> Outlined:
    start, end = _name_place(tag, attribute)
    return Outlined(
        name=shown(text_of(tag.value(attribute))).strip() or tag.name,
        detail=shown(detail),
        kind=tag.name,
        start=tag.start,
        end=tag.end,
        name_start=start,
        name_end=end,
        children=children,
    )


def _connection(tag: Tag) -> Outlined:
    ends = [".".join(filter(None, (tag.value(i), tag.value(p)))) for i, p in (("src", "src-port"), ("dst", "dst-port"))]
    return Outlined(
        name=shown(text_of(" -> ".join(ends))),
        detail="",
        kind=tag.name,
        start=tag.start,
        end=tag.end,
        name_start=tag.start,
        name_end=tag.head_end,
    )


def _tag_detail(tag: Tag) -> str:
    if tag.name == "Instance":
        named = tag.child("Class")
        return "" if named is None else text_of(named.value("name"))
    return tag.value("kind")


def _tag_text(tag: Tag) -> str:
    """Return a port, parameter or variable of the network as Markdown."""
    of = tag.child("Type")
    what = {"Param": "parameter"}.get(tag.value("kind"), tag.value("kind").lower())
    kind = f"{what} port of the network" if tag.name == "Port" else f"{what} of the network"
    literal = next((e for e in tag.children if e.name == "Expr" and e.value("value")), None)
    value = f" = {code(text_of(literal.value('value')))}" if literal is not None else ""
    return f"*{kind}* {code(text_of(tag.value('name')))}{value}" + (
        f", {code(_type_text(of))}" if of is not None and of.value("name") else ""
    )


def _type_text(of: Tag) -> str:
    """Return a type as CAL writes it, as far as its size is a literal."""
    size = next((e.child("Expr") for e in of.children if e.name == "Entry" and e.value("name") == "size"), None)
    value = "" if size is None else size.value("value")
    return text_of(of.value("name")) + (f"(size={text_of(value)})" if value else "")
