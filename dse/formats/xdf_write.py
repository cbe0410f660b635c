"""Writer of XDF networks: the documented dialect, UTF-8, unknown parts as they were read."""

from typing import assert_never

from lxml import etree

from dse.model.xdf import (
    XdfAttribute,
    XdfConnection,
    XdfDecl,
    XdfExpr,
    XdfExtra,
    XdfInstance,
    XdfListExpr,
    XdfLiteral,
    XdfNetwork,
    XdfPort,
    XdfSequence,
    XdfType,
    XdfUnary,
    XdfVar,
)


def xdf_bytes(network: XdfNetwork) -> bytes:
    """Return the XML of a network: ports, declarations, instances, connections, then what the reader did not know."""
    root = etree.Element("XDF", nsmap=dict(network.namespaces), name=network.name)
    for port in network.ports:
        _add_port(root, port)
    for declaration in network.declarations:
        _add_decl(root, declaration)
    for instance in network.instances:
        _add_instance(root, instance)
    for connection in network.connections:
        _add_connection(root, connection)
    _add_extra(root, network.extra)
    etree.indent(root, space="    ")
    return etree.tostring(root, encoding="UTF-8", xml_declaration=True, pretty_print=True)


def _add_port(parent: etree._Element, port: XdfPort) -> None:
    element = etree.SubElement(parent, "Port", kind=port.direction, name=port.name)
    _add_type(element, port.type)
    _add_attributes(element, port.attributes)
    _add_extra(element, port.extra)


def _add_decl(parent: etree._Element, declaration: XdfDecl) -> None:
    element = etree.SubElement(parent, "Decl", kind=declaration.kind, name=declaration.name)
    _add_type(element, declaration.type)
    if declaration.value is not None:
        _add_expr(element, declaration.value)
    _add_extra(element, declaration.extra)


def _add_instance(parent: etree._Element, instance: XdfInstance) -> None:
    element = etree.SubElement(parent, "Instance", id=instance.id)
    etree.SubElement(element, "Class", name=instance.class_name)
    for parameter in instance.parameters:
        child = etree.SubElement(element, "Parameter", name=parameter.name)
        _add_expr(child, parameter.value)
        _add_extra(child, parameter.extra)
    _add_attributes(element, instance.attributes)
    _add_extra(element, instance.extra)


def _add_connection(parent: etree._Element, connection: XdfConnection) -> None:
    element = etree.SubElement(parent, "Connection")
    element.set("dst", connection.target.instance)
    element.set("dst-port", connection.target.port)
    element.set("src", connection.source.instance)
    element.set("src-port", connection.source.port)
    _add_attributes(element, connection.attributes)
    _add_extra(element, connection.extra)


def _add_attributes(parent: etree._Element, attributes: tuple[XdfAttribute, ...]) -> None:
    for attribute in attributes:
        element = etree.SubElement(parent, "Attribute", kind=attribute.kind, name=attribute.name)
        if attribute.value is not None:
            _add_expr(element, attribute.value)
        _add_extra(element, attribute.extra)


def _add_type(parent: etree._Element, written: XdfType | None) -> None:
    if written is None:
        return
    element = etree.SubElement(parent, "Type", name=written.name)
    if written.element is not None:
        _add_type(etree.SubElement(element, "Entry", kind="Type", name="type"), written.element)
    if written.size is not None:
        _add_expr(etree.SubElement(element, "Entry", kind="Expr", name="size"), written.size)
    _add_extra(element, written.extra)


def _add_expr(parent: etree._Element, expr: XdfExpr) -> None:
    match expr:
        case XdfLiteral():
            literal = etree.SubElement(parent, "Expr", kind="Literal")
            literal.set("literal-kind", expr.kind)
            literal.set("value", expr.text)
        case XdfVar():
            etree.SubElement(parent, "Expr", kind="Var", name=expr.name)
        case XdfUnary():
            unary = etree.SubElement(parent, "Expr", kind="UnaryOp")
            etree.SubElement(unary, "Op", name=expr.op)
            _add_expr(unary, expr.operand)
        case XdfSequence():
            sequence = etree.SubElement(parent, "Expr", kind="BinOpSeq")
            _add_expr(sequence, expr.operands[0])
            for operator, operand in zip(expr.operators, expr.operands[1:], strict=True):
                etree.SubElement(sequence, "Op", name=operator)
                _add_expr(sequence, operand)
        case XdfListExpr():
            elements = etree.SubElement(parent, "Expr", kind="List")
            for item in expr.elements:
                _add_expr(elements, item)
        case _:
            assert_never(expr)


def _add_extra(parent: etree._Element, extra: XdfExtra) -> None:
    for name, value in extra.attributes:
        parent.set(name, value)
    for text in extra.elements:
        parent.append(etree.fromstring(text, etree.XMLParser(resolve_entities=False, no_network=True)))
