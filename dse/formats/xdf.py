"""XDF networks (formats.md, "XDF network"; cal.md section 3): reader and writer.

The reader is liberal: element order is free, unknown elements and attributes are kept and written back. What is missing
or malformed is reported with file, line, column and what was expected, all of a file in one go. It knows nothing of
classes and values: that is elaboration (``dse.frontend.network``).
"""

import copy
import re
from collections.abc import Iterator
from typing import Literal, cast, get_args

from lxml import etree

from dse.base.diagnostics import Gatherer
from dse.base.errors import FormatError
from dse.base.escaping import name_of_file
from dse.base.files import write_whole
from dse.base.registry import nearest_names
from dse.base.source import Span
from dse.formats.xdf_write import xdf_bytes
from dse.formats.xml_source import XmlSource, local_name, parse_xml
from dse.model.xdf import (
    DeclKind,
    Direction,
    LiteralKind,
    XdfAttribute,
    XdfConnection,
    XdfDecl,
    XdfEndpoint,
    XdfExpr,
    XdfExtra,
    XdfInstance,
    XdfListExpr,
    XdfLiteral,
    XdfNetwork,
    XdfParameter,
    XdfPort,
    XdfSequence,
    XdfType,
    XdfUnary,
    XdfVar,
)

_INTEGER = re.compile(r"[+-]?(?:0[xX][0-9a-fA-F]{1,1000}|[0-9]{1,1000})", re.ASCII)
_REAL = re.compile(r"[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?[fFdD]?", re.ASCII)
_EXPR_KINDS = ("Literal", "Var", "UnaryOp", "BinOpSeq", "BinOp", "List")


def parse_xdf(path: str, gather: Gatherer, text: str | None = None) -> XdfNetwork | None:
    """Return the network of an XDF file, or None with every error of the file in ``gather``.

    ``text`` stands for the content of the file where an editor holds it.
    """
    source = parse_xml(path, gather, text)
    if source is None:
        return None
    try:
        return _Reader(source, gather).network()
    except RecursionError:
        gather.error("the elements nest too deeply", source.span(source.root), "split long expressions into variables")
        return None


def read_xdf(path: str) -> XdfNetwork:
    """Return the network of an XDF file. Raises ``FormatError`` with everything that is wrong in it."""
    gather = Gatherer()
    network = parse_xdf(path, gather)
    if network is None:
        error = FormatError(gather.errors[0].message, span=gather.errors[0].span)
        error.diagnostics = tuple(gather.diagnostics)
        raise error
    return network


def write_xdf(network: XdfNetwork, path: str) -> None:
    """Write an XDF file: UTF-8, elements grouped as in ``XdfNetwork``, four spaces a level."""
    write_whole(path, xdf_bytes(network))


class _Malformed(Exception):
    """An element could not be understood; it has been reported already."""


class _Reader:
    """Reads one document; ``gather`` receives every error."""

    def __init__(self, source: XmlSource, gather: Gatherer) -> None:
        self.source = source
        self.gather = gather
        self.failed = False

    def network(self) -> XdfNetwork | None:
        """Return the network, or None when anything in the file is wrong."""
        root = self.source.root
        if local_name(root) != "XDF":
            self._error(f"the root element is '{local_name(root)}'", root, "expected 'XDF': this is not an XDF network")
            return None
        groups: dict[str, list[object]] = {tag: [] for tag in ("Port", "Decl", "Instance", "Connection")}
        readers = {"Port": self._port, "Decl": self._decl, "Instance": self._instance, "Connection": self._connection}
        for child in self._children(root):
            tag = local_name(child)
            try:
                if tag in readers:
                    groups[tag].append(readers[tag](child))
            except _Malformed:
                continue
        name = root.get("name") or name_of_file(self.source.path)
        if self.failed:
            return None
        return XdfNetwork(
            name=name,
            path=self.source.path,
            ports=tuple(cast(list[XdfPort], groups["Port"])),
            declarations=tuple(cast(list[XdfDecl], groups["Decl"])),
            instances=tuple(cast(list[XdfInstance], groups["Instance"])),
            connections=tuple(cast(list[XdfConnection], groups["Connection"])),
            extra=self._extra(root, ("name",), tuple(readers)),
            namespaces=self._namespaces(root),
            span=self.source.span(root),
        )

    # Structure

    def _port(self, element: etree._Element) -> XdfPort:
        kind = self._choice(element, "kind", get_args(Direction))
        return XdfPort(
            name=self._required(element, "name"),
            direction=cast(Direction, kind),
            type=self._optional_type(element),
            attributes=self._attributes(element),
            extra=self._extra(element, ("kind", "name"), ("Type", "Attribute")),
            span=self.source.span(element),
        )

    def _decl(self, element: etree._Element) -> XdfDecl:
        kind = self._choice(element, "kind", get_args(DeclKind))
        value = self._child(element, "Expr")
        return XdfDecl(
            name=self._required(element, "name"),
            kind=cast(DeclKind, kind),
            type=self._optional_type(element),
            value=None if value is None else self._expr(value),
            extra=self._extra(element, ("kind", "name"), ("Type", "Expr")),
            span=self.source.span(element),
        )

    def _instance(self, element: etree._Element) -> XdfInstance:
        identifier = self._required(element, "id")
        class_element = self._child(element, "Class")
        if class_element is None:
            raise self._error(
                f"instance '{identifier}' has no class", element, "expected '<Class name=\"...\"/>' in it"
            )
        return XdfInstance(
            id=identifier,
            class_name=self._required(class_element, "name"),
            parameters=tuple(self._parameters(element)),
            attributes=self._attributes(element),
            extra=self._extra(element, ("id",), ("Class", "Parameter", "Attribute")),
            span=self.source.span(element),
            class_span=self.source.attribute_span(class_element, "name"),
        )

    def _parameters(self, instance: etree._Element) -> Iterator[XdfParameter]:
        for element in self._children(instance, "Parameter"):
            name = self._required(element, "name")
            value = self._child(element, "Expr")
            if value is None:
                raise self._error(f"parameter '{name}' has no value", element, "expected an 'Expr' element in it")
            yield XdfParameter(
                name=name,
                value=self._expr(value),
                extra=self._extra(element, ("name",), ("Expr",)),
                span=self.source.span(element),
            )

    def _connection(self, element: etree._Element) -> XdfConnection:
        names = ("src", "src-port", "dst", "dst-port")
        missing = [name for name in names if name not in element.attrib]
        if missing:
            given = "a connection has src, src-port, dst and dst-port; an empty src or dst is the network itself"
            raise self._error(f"the connection has no {' and no '.join(map(repr, missing))}", element, given)
        for name in ("src-port", "dst-port"):
            self._required(element, name)
        return XdfConnection(
            source=self._endpoint(element, "src", "src-port"),
            target=self._endpoint(element, "dst", "dst-port"),
            attributes=self._attributes(element),
            extra=self._extra(element, names, ("Attribute",)),
            span=self.source.span(element),
        )

    def _endpoint(self, element: etree._Element, instance: str, port: str) -> XdfEndpoint:
        return XdfEndpoint(
            instance=_text(element, instance),
            port=_text(element, port),
            instance_span=self.source.attribute_span(element, instance),
            port_span=self.source.attribute_span(element, port),
        )

    def _attributes(self, owner: etree._Element) -> tuple[XdfAttribute, ...]:
        attributes: list[XdfAttribute] = []
        for element in self._children(owner, "Attribute"):
            value = self._child(element, "Expr")
            attributes.append(
                XdfAttribute(
                    name=self._required(element, "name"),
                    kind=_text(element, "kind"),
                    value=None if value is None else self._expr(value),
                    extra=self._extra(element, ("name", "kind"), ("Expr",)),
                    span=self.source.span(element),
                )
            )
        return tuple(attributes)

    # Types

    def _optional_type(self, owner: etree._Element) -> XdfType | None:
        element = self._child(owner, "Type")
        return None if element is None else self._type(element)

    def _type(self, element: etree._Element) -> XdfType:
        size: XdfExpr | None = None
        inner: XdfType | None = None
        for entry in self._children(element, "Entry"):
            kind = self._choice(entry, "kind", ("Expr", "Type"))
            name = self._required(entry, "name")
            content = self._child(entry, kind)
            if content is None:
                raise self._error(f"the entry '{name}' is empty", entry, f"expected an element '{kind}' in it")
            if kind == "Expr" and name == "size":
                size = self._expr(content)
            elif kind == "Type" and name == "type":
                inner = self._type(content)
            else:
                raise self._error(f"unknown type entry '{name}' of kind '{kind}'", entry, "expected 'size' or 'type'")
        return XdfType(
            name=self._required(element, "name"),
            size=size,
            element=inner,
            extra=self._extra(element, ("name",), ("Entry",)),
            span=self.source.span(element),
        )

    # Expressions

    def _expr(self, element: etree._Element) -> XdfExpr:
        kind = self._choice(element, "kind", _EXPR_KINDS)
        span = self.source.span(element)
        match kind:
            case "Literal":
                return self._literal(element, span)
            case "Var":
                return XdfVar(name=self._required(element, "name"), span=span)
            case "UnaryOp":
                (operator,), (operand,) = self._operands(element, 1)
                return XdfUnary(op=operator, operand=operand, span=span)
            case "List":
                return XdfListExpr(elements=tuple(map(self._expr, self._children(element, "Expr"))), span=span)
            case _:
                operators, operands = self._operands(element, 2)
                return XdfSequence(operands=operands, operators=operators, span=span)

    def _operands(self, element: etree._Element, arity: Literal[1, 2]) -> tuple[tuple[str, ...], tuple[XdfExpr, ...]]:
        """Return operators and operands of a ``UnaryOp`` (arity 1) or a sequence of binary operators (arity 2)."""
        operators = tuple(self._required(op, "name") for op in self._children(element, "Op"))
        operands = tuple(map(self._expr, self._children(element, "Expr")))
        fits = len(operators) == len(operands) == 1 if arity == 1 else 1 <= len(operands) == len(operators) + 1
        if not fits:
            wanted = "one 'Op' and one 'Expr'" if arity == 1 else "'Expr' elements with one 'Op' between each two"
            found = f"{len(operators)} 'Op' and {len(operands)} 'Expr'"
            raise self._error(f"{element.get('kind')} with {found}", element, f"expected {wanted}")
        return operators, operands

    def _literal(self, element: etree._Element, span: Span) -> XdfLiteral:
        kind = self._choice(element, "literal-kind", get_args(LiteralKind))
        if "value" not in element.attrib:
            raise self._error("the literal has no value", element, "expected the attribute 'value'")
        text = _text(element, "value")
        value = _literal_value(kind, text)
        if value is None:
            place = self.source.attribute_span(element, "value")
            self.failed = True
            self.gather.error(f"'{_shorten(text)}' is no {kind} literal", place, _LITERAL_FORMS[kind])
            raise _Malformed
        return XdfLiteral(kind=cast(LiteralKind, kind), value=value, text=text, span=span)

    # Elements and attributes

    def _children(self, element: etree._Element, tag: str | None = None) -> Iterator[etree._Element]:
        """Yield the child elements of a local name (or all), without comments and processing instructions."""
        for child in element:
            name = local_name(child)
            if name and (tag is None or name == tag):
                yield child

    def _child(self, element: etree._Element, tag: str) -> etree._Element | None:
        """Return the only child of that name, or None. Two of them are an error."""
        found = list(self._children(element, tag))
        if len(found) > 1:
            raise self._error(f"a second '{tag}' in '{local_name(element)}'", found[1], f"expected one '{tag}'")
        return found[0] if found else None

    def _required(self, element: etree._Element, name: str) -> str:
        """Return an attribute that must be there and not be empty."""
        value = _text(element, name)
        if value:
            return value
        tag = local_name(element)
        problem = (
            f"the attribute '{name}' of '{tag}' is empty" if name in element.attrib else f"'{tag}' has no '{name}'"
        )
        raise self._error(problem, element, f"expected '<{tag} {name}=\"...\"'")

    def _choice(self, element: etree._Element, name: str, known: tuple[str, ...]) -> str:
        """Return an attribute that must be one of ``known``; letter case is not significant."""
        value = self._required(element, name)
        for choice in known:
            if choice.lower() == value.lower():
                return choice
        place = self.source.attribute_span(element, name)
        self.failed = True
        self.gather.error(
            f"unknown {name} '{_shorten(value)}' of '{local_name(element)}'", place, nearest_names(value, known)
        )
        raise _Malformed

    def _extra(self, element: etree._Element, attributes: tuple[str, ...], children: tuple[str, ...]) -> XdfExtra:
        """Return what the reader does not know of an element."""
        unknown = tuple((str(k), str(v)) for k, v in element.attrib.items() if k not in attributes)
        elements = tuple(_unindented(child) for child in self._children(element) if local_name(child) not in children)
        return XdfExtra(attributes=unknown, elements=elements)

    def _namespaces(self, root: etree._Element) -> tuple[tuple[str, str], ...]:
        """Return the prefixes declared anywhere in the file, each once; the first wins."""
        found: dict[str, str] = {}
        for node in root.iter():
            for prefix, uri in node.nsmap.items():
                if prefix is not None and uri not in found.values():
                    found.setdefault(prefix, uri)
        return tuple(found.items())

    def _error(self, message: str, element: etree._Element, expected: str) -> _Malformed:
        """Record an error at an element; return the exception that abandons the element."""
        self.failed = True
        self.gather.error(message, self.source.span(element), expected)
        return _Malformed()


_LITERAL_FORMS = {
    "Integer": "expected a decimal or hexadecimal integer such as 512",
    "Real": "expected a number such as 0.5",
    "Boolean": "expected true or false",
    "String": "expected text",
}


_MOST_DIGITS = 1000
"""Longer integers fit no type."""


def _literal_value(kind: str, text: str) -> int | float | bool | str | None:
    """Return the value of a literal, or None when the text is no such literal."""
    bare = text.strip()
    match kind:
        case "Integer":
            if len(bare) > _MOST_DIGITS or not _INTEGER.fullmatch(bare):
                return None
            return int(bare, 16) if "x" in bare.lower() else int(bare)
        case "Real":
            return float(bare.rstrip("fFdD")) if _REAL.fullmatch(bare) else None
        case "Boolean":
            return {"true": True, "false": False}.get(bare.lower())
        case _:
            return text


def _unindented(element: etree._Element) -> str:
    """Return an element as XML text without comments, entity references and the white space that only indents."""
    copied = copy.deepcopy(element)
    copied.tail = None
    etree.strip_elements(copied, etree.Comment, etree.Entity, etree.ProcessingInstruction, with_tail=False)
    for node in copied.iter():
        if len(node) and not (node.text or "").strip():
            node.text = None
        if not (node.tail or "").strip():
            node.tail = None
    etree.cleanup_namespaces(copied)
    return etree.tostring(copied, encoding="unicode", with_tail=False)


def _text(element: etree._Element, name: str) -> str:
    """Return an attribute as text; "" when it is not there."""
    return str(element.get(name, ""))


def _shorten(text: str) -> str:
    """Return ``text`` cut to a length that fits a message."""
    return text if len(text) <= 40 else text[:37] + "..."
