"""The XDF reader and writer: round trip, places of errors, and no foreign exception for whatever bytes."""

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dse.base.diagnostics import Gatherer
from dse.base.errors import FormatError
from dse.formats.xdf import parse_xdf, read_xdf, write_xdf
from dse.model.xdf import XdfListExpr, XdfLiteral, XdfNetwork, XdfSequence, XdfUnary, XdfVar
from tests.examples import examples

FULL = """<?xml version="1.0" encoding="UTF-8"?>
<!-- <Instance id="not an element"/> -->
<XDF name="top" version="0.1" xmlns:v="urn:v">
    <Port kind="Input" name="In">
        <Type name="int"><Entry kind="Expr" name="size"><Expr kind="Var" name="N"/></Entry></Type>
        <Attribute kind="Flag" name="native"/>
    </Port>
    <Port kind="Output" name="Out">
        <Type name="List">
            <Entry kind="Type" name="type"><Type name="bool"/></Entry>
            <Entry kind="Expr" name="size"><Expr kind="Literal" literal-kind="Integer" value="0x10"/></Entry>
        </Type>
    </Port>
    <Decl kind="Param" name="N"><Type name="int"/></Decl>
    <Decl kind="Variable" name="M"><Type name="int"/>
        <Expr kind="BinOpSeq">
            <Expr kind="Var" name="N"/><Op name="+"/><Expr kind="Literal" literal-kind="Integer" value="2"/>
            <Op name="*"/><Expr kind="UnaryOp"><Op name="-"/><Expr kind="Var" name="N"/></Expr>
        </Expr>
    </Decl>
    <Instance id="a" partName="left" v:x="1">
        <Class name="p.A"/>
        <Parameter name="s"><Expr kind="Literal" literal-kind="String" value=" a &lt; &quot;b&quot; "/></Parameter>
        <Parameter name="l"><Expr kind="List">
            <Expr kind="Literal" literal-kind="Real" value="1e3"/>
            <Expr kind="Literal" literal-kind="Boolean" value="true"/>
        </Expr></Parameter>
        <v:Layout x="3"><Deep>text &amp; more</Deep></v:Layout>
    </Instance>
    <Connection src="" src-port="In" dst="a" dst-port="I">
        <Attribute kind="Value" name="bufferSize"><Expr kind="Literal" literal-kind="Integer" value="8192"/></Attribute>
    </Connection>
    <Connection dst="" dst-port="Out" src="a" src-port="O"/>
    <Package><ID id="p"/></Package>
</XDF>
"""


def written(folder: Path, text: str | bytes) -> str:
    path = folder / "net.xdf"
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return str(path)


def errors_of(folder: Path, text: str | bytes) -> list[tuple[int, int, str, str]]:
    gather = Gatherer()
    assert parse_xdf(written(folder, text), gather) is None
    return [(d.span.line, d.span.column, d.message, d.expected) for d in gather.errors]


def in_xdf(body: str) -> str:
    return f'<XDF name="n">\n{body}\n</XDF>\n'


def test_everything_of_a_network_is_read(tmp_path: Path) -> None:
    network = read_xdf(written(tmp_path, FULL))
    assert network.name == "top"
    assert network.port_names("Input") == ("In",)
    assert network.port_names("Output") == ("Out",)
    assert network.ports[0].attributes[0].name == "native"
    assert network.ports[1].type is not None
    assert network.ports[1].type.element is not None
    assert network.ports[1].type.size == XdfLiteral(kind="Integer", value=16, text="0x10")
    variable = network.declarations[1].value
    assert isinstance(variable, XdfSequence)
    assert variable.operators == ("+", "*")
    assert variable.operands[2] == XdfUnary(op="-", operand=XdfVar(name="N"))
    instance = network.instances[0]
    assert instance.parameters[0].value == XdfLiteral(kind="String", value=' a < "b" ', text=' a < "b" ')
    assert isinstance(instance.parameters[1].value, XdfListExpr)
    assert [e.value for e in instance.parameters[1].value.elements if isinstance(e, XdfLiteral)] == [1000.0, True]
    connection = network.connections[0]
    assert (connection.source.instance, connection.source.port) == ("", "In")
    assert connection.attributes[0].value == XdfLiteral(kind="Integer", value=8192, text="8192")


def test_places_point_at_tags_and_attribute_values(tmp_path: Path) -> None:
    network = read_xdf(written(tmp_path, FULL))
    lines = FULL.splitlines()

    def cut(span: object) -> str:
        assert isinstance(span, tuple)
        return lines[span[1] - 1][span[2] - 1 : span[4] - 1]

    assert cut(network.instances[0].span) == '<Instance id="a" partName="left" v:x="1">'
    assert cut(network.instances[0].class_span) == "p.A"
    assert cut(network.connections[0].target.port_span) == "I"
    assert cut(network.connections[1].source.instance_span) == "a"


def test_round_trip_keeps_everything_known_and_unknown(tmp_path: Path) -> None:
    network = read_xdf(written(tmp_path, FULL))
    again = tmp_path / "again.xdf"
    write_xdf(network, str(again))
    assert read_xdf(str(again)) == network
    text = again.read_text()
    for kept in ('version="0.1"', 'partName="left"', "<Deep>text &amp; more</Deep>", '<ID id="p"/>', ':x="1"'):
        assert kept in text
    first = again.read_bytes()
    write_xdf(read_xdf(str(again)), str(again))
    assert again.read_bytes() == first


def test_a_latin1_file_and_crlf_are_read(tmp_path: Path) -> None:
    head = '<?xml version="1.0" encoding="ISO-8859-1"?>\r\n<XDF name="é">\r\n'
    text = head + '  <Instance id="a"><Class name="A"/></Instance></XDF>'
    network = read_xdf(written(tmp_path, text.encode("latin-1")))
    assert network.name == "é"
    assert (network.instances[0].span.line, network.instances[0].span.column) == (3, 3)


def test_a_network_without_a_name_takes_that_of_its_file(tmp_path: Path) -> None:
    assert read_xdf(written(tmp_path, "<XDF/>")) == XdfNetwork(name="net")


def test_all_errors_of_a_file_are_reported_at_once(tmp_path: Path) -> None:
    body = (
        '<Instance><Class name="A"/></Instance>\n'
        '<Instance id="b"/>\n'
        '<Connection src="a" dst="b" dst-port="I"/>\n'
        '<Port kind="Inout" name="P"/>\n'
        '<Decl kind="Param" name="N"><Expr kind="Literal" literal-kind="Integer" value="12x"/></Decl>\n'
        '<Decl kind="Param" name="N"><Expr kind="BinOpSeq"><Op name="+"/></Expr></Decl>'
    )
    found = errors_of(tmp_path, in_xdf(body))
    assert [(line, column) for line, column, _, _ in found] == [(2, 1), (3, 1), (4, 1), (5, 13), (6, 80), (7, 29)]
    assert [message for _, _, message, _ in found] == [
        "'Instance' has no 'id'",
        "instance 'b' has no class",
        "the connection has no 'src-port'",
        "unknown kind 'Inout' of 'Port'",
        "'12x' is no Integer literal",
        "BinOpSeq with 1 'Op' and 0 'Expr'",
    ]
    assert all(expected for _, _, _, expected in found)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "the file is empty"),
        ("  \n ", "the file is empty"),
        ("<network/>", "the root element is 'network'"),
        ('<XDF name="n"><Instance', "not well-formed XML"),
        (b"\x00\x01\x02\xff" * 20, "this is a binary file"),
        ("<XDF name='n'></XDF><XDF/>", "not well-formed XML"),
        ('<XDF name="n"><Instance id="&undefined;"/></XDF>', "not well-formed XML"),
    ],
)
def test_what_is_no_xdf_is_an_error(tmp_path: Path, text: str | bytes, message: str) -> None:
    assert errors_of(tmp_path, text)[0][2].startswith(message)


def test_files_that_cannot_be_read(tmp_path: Path) -> None:
    for path, message in ((tmp_path / "none.xdf", "no such file"), (tmp_path, "this is a folder, not a file")):
        with pytest.raises(FormatError) as caught:
            read_xdf(str(path))
        assert caught.value.diagnostics[0].message == message
        assert caught.value.diagnostics[0].span.path == str(path)


def test_entities_are_not_expanded(tmp_path: Path) -> None:
    secret = tmp_path / "secret"
    secret.write_text("secret text")
    bomb = "".join(f'<!ENTITY e{i} "{f"&e{i - 1};" * 10}">' for i in range(1, 12))
    text = (
        f'<!DOCTYPE XDF [<!ENTITY e0 "x">{bomb}<!ENTITY f SYSTEM "file://{secret}">]>\n'
        '<XDF name="n"><Extra>&f;&e11;</Extra><Instance id="a"><Class name="A"/></Instance></XDF>'
    )
    gather = Gatherer()
    network = parse_xdf(written(tmp_path, text), gather)
    if network is not None:
        assert "secret text" not in repr(network)
        assert network.instances[0].span.line == 2


ALPHABET = st.sampled_from([*"<>/=\"'&;!-[]?ab \n\t", "Instance", "Expr", "kind", "\x00", "é", "999999999999"])
FUZZ_FILE = "fuzz.xdf"


@settings(max_examples=examples(150), deadline=None)
@given(cuts=st.lists(st.tuples(st.integers(0, len(FULL)), st.integers(0, 12), ALPHABET), min_size=1, max_size=4))
def test_mutated_files_never_raise_a_foreign_exception(
    tmp_path_factory: pytest.TempPathFactory, cuts: list[tuple[int, int, str]]
) -> None:
    text = FULL
    for at, length, insert in cuts:
        text = text[:at] + insert + text[at + length :]
    path = tmp_path_factory.getbasetemp() / FUZZ_FILE
    path.write_bytes(text.encode())
    gather = Gatherer()
    network = parse_xdf(str(path), gather)
    assert all(d.span.path == str(path) for d in gather.diagnostics)
    assert (network is None) == bool(gather.errors)
    if network is not None:
        again = tmp_path_factory.getbasetemp() / "again.xdf"
        write_xdf(network, str(again))
        assert read_xdf(str(again)) == network


@settings(max_examples=examples(60), deadline=None)
@given(data=st.binary(max_size=200))
def test_any_bytes_are_an_error_with_a_place(tmp_path_factory: pytest.TempPathFactory, data: bytes) -> None:
    path = tmp_path_factory.getbasetemp() / FUZZ_FILE
    path.write_bytes(data)
    with pytest.raises(FormatError):
        read_xdf(str(path))
