"""Elaboration of small networks: flattening order, parameters, buffer sizes, warnings, and each kind of error."""

from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from dse.base.diagnostics import Gatherer
from dse.base.errors import SourceError
from dse.base.source import NO_SPAN
from dse.formats.xdf import parse_xdf
from dse.frontend.network.elaborate import LoadedNetwork, load_network
from dse.frontend.network.network_scope import NetworkScope, same_kind
from dse.frontend.network.projects import SourceRoots
from dse.frontend.network.sources import Library, SourceFiles
from dse.model.xdf import XdfLiteral, XdfType
from dse.program.ir import Actor, Const, ConstList
from dse.program.network import Network
from dse.program.types import BOOL, IntType, ListType
from tests.examples import examples

SOURCE = "actor Source() ==> int(size=8) O: go: action ==> O:[ 1 ] end end"
SINK = "actor Sink() int(size=16) I ==> : take: action I:[ x ] ==> end end"
COPY = "actor Copy(int k) int I ==> int O: action I:[ x ] ==> O:[ x + k ] end end"
FLAG = "actor Flag() bool I ==> : action I:[ x ] ==> end end"
PORTS = '<Port kind="Input" name="In"><Type name="int"/></Port><Port kind="Output" name="Out"><Type name="int"/></Port>'


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A source root with four actors; searched upwards only to here."""
    (tmp_path / ".git").mkdir()
    for name, text in (("Source", SOURCE), ("Sink", SINK), ("Copy", COPY), ("Flag", FLAG)):
        (tmp_path / f"{name}.cal").write_text(text)
    return tmp_path


def integer(value: int | str) -> str:
    return f'<Expr kind="Literal" literal-kind="Integer" value="{value}"/>'


def instance(name: str, of: str, **parameters: str) -> str:
    inner = "".join(f'<Parameter name="{key}">{value}</Parameter>\n' for key, value in parameters.items())
    return f'<Instance id="{name}"><Class name="{of}"/>{inner}</Instance>\n'


def connect(source: str, target: str, size: str = "") -> str:
    (src, src_port), (dst, dst_port) = source.split("."), target.split(".")
    inner = f'<Attribute kind="Value" name="bufferSize">{size}</Attribute>' if size else ""
    return f'<Connection src="{src}" src-port="{src_port}" dst="{dst}" dst-port="{dst_port}">{inner}</Connection>\n'


def write(folder: Path, name: str, *body: str) -> str:
    path = folder / f"{name}.xdf"
    path.write_text(f'<XDF name="{name}">\n{"".join(body)}</XDF>\n')
    return str(path)


def load(folder: Path, *body: str, strict: bool = False) -> LoadedNetwork:
    return load_network(write(folder, "top", *body), strict=strict)


def errors(folder: Path, *body: str, strict: bool = False) -> list[str]:
    with pytest.raises(SourceError) as caught:
        load(folder, *body, strict=strict)
    found = [d for d in caught.value.diagnostics if d.severity == "error"]
    assert all(d.span.line > 0 for d in found)
    return [d.message for d in found]


def names(network: Network) -> list[str]:
    return [network.connection_name(connection) for connection in network.connections]


def parameter(actor: Actor, name: str) -> object:
    variable = next(v for v in actor.variables if v.source_name == name)
    match variable.initial:
        case Const(value=value):
            return value
        case ConstList(values=values):
            return values
    raise AssertionError(variable.initial)


def test_flattening_is_depth_first(folder: Path) -> None:
    write(folder, "Inner", PORTS, instance("x", "Copy", k=integer(1)), instance("y", "Copy", k=integer(2)),
          connect(".In", "x.I"), connect("x.O", "y.I"), connect("y.O", ".Out"))  # fmt: skip
    write(folder, "Outer", PORTS, instance("c", "Copy", k=integer(1)), instance("i", "Inner"),
          connect(".In", "c.I"), connect("c.O", "i.In"), connect("i.Out", ".Out"))  # fmt: skip
    loaded = load(folder, instance("s", "Source"), instance("o", "Outer"), instance("t", "Sink"),
                  connect("o.Out", "t.I"), connect("s.O", "o.In"))  # fmt: skip
    network = loaded.network
    assert [i.name for i in network.instances] == ["s", "o/c", "o/i/x", "o/i/y", "t"]
    assert names(network) == ["o/i/x.O->o/i/y.I", "o/c.O->o/i/x.I", "o/i/y.O->t.I", "s.O->o/c.I"]
    assert loaded.warnings == ()
    assert [Path(path).name for path in network.sources][:3] == ["top.xdf", "Source.cal", "Outer.xdf"]
    assert str(network.connections[3].type) == "int(size=8)"


def test_fan_out_through_a_network_makes_one_connection_a_reader(folder: Path) -> None:
    write(folder, "Inner", PORTS.split("<Port", 2)[1].join(["<Port", ""]), instance("a", "Sink"), instance("b", "Sink"),
          connect(".In", "a.I"), connect(".In", "b.I"))  # fmt: skip
    network = load(folder, instance("s", "Source"), instance("i", "Inner"), instance("t", "Sink"),
                   connect("s.O", "t.I"), connect("s.O", "i.In")).network  # fmt: skip
    assert names(network) == ["s.O->t.I", "s.O->i/a.I", "s.O->i/b.I"]


def test_the_outermost_buffer_size_wins(folder: Path) -> None:
    write(folder, "Inner", PORTS, instance("x", "Copy", k=integer(0)),
          connect(".In", "x.I", integer(7)), connect("x.O", ".Out", integer(8)))  # fmt: skip
    ends = instance("s", "Source") + instance("i", "Inner") + instance("t", "Sink")
    outer = load(folder, ends, connect("s.O", "i.In", integer(99)), connect("i.Out", "t.I")).network
    assert [c.capacity for c in outer.connections] == [99, 8]
    inner = instance("i", "Inner") + connect(".In", "i.In", integer(5)) + connect("i.Out", ".Out")
    write(folder, "Middle", PORTS, inner)
    nested = load(folder, ends.replace('"Inner"', '"Middle"'), connect("s.O", "i.In"), connect("i.Out", "t.I")).network
    assert [c.capacity for c in nested.connections] == [5, 8]
    plain = load(folder, instance("s", "Source"), instance("t", "Sink"), connect("s.O", "t.I")).network
    assert plain.connections[0].capacity is None


@pytest.mark.parametrize(("size", "good"), [(1, True), (1 << 40, True), ((1 << 40) + 1, False)])
def test_the_limits_of_buffer_sizes(folder: Path, size: int, good: bool) -> None:
    body = instance("s", "Source") + instance("t", "Sink") + connect("s.O", "t.I", integer(size))
    if good:
        assert load(folder, body).network.connections[0].capacity == size
    else:
        assert errors(folder, body) == [f"bufferSize is {size}"]


def xdf_type(name: str, size: int, element: XdfType | None = None) -> XdfType:
    return XdfType(name=name, size=XdfLiteral(kind="Integer", value=size, text=str(size)), element=element)


@pytest.mark.parametrize(
    ("written", "good"),
    [
        (xdf_type("int", 1), True),
        (xdf_type("uint", 512), True),
        (xdf_type("uint", 513), False),
        (xdf_type("List", 1 << 32, xdf_type("int", 8)), True),
        (xdf_type("List", (1 << 32) + 1, xdf_type("int", 8)), False),
        (xdf_type("List", 1 << 16, xdf_type("List", 1 << 16, xdf_type("int", 8))), True),
        (xdf_type("List", 1 << 16, xdf_type("List", (1 << 16) + 1, xdf_type("int", 8))), False),
    ],
)
def test_the_limits_of_types(folder: Path, written: XdfType, good: bool) -> None:
    gather = Gatherer()
    network = parse_xdf(write(folder, "empty"), gather)
    assert network is not None
    of = NetworkScope(network, {}, gather).type_of(written)
    assert (of is not None) == good == (not gather.errors)


def test_lists_flow_into_ports_of_lists_that_are_as_long() -> None:
    byte, word = IntType(8, False), IntType(16, True)
    assert same_kind(ListType(byte, 3), ListType(word, 3))
    assert not same_kind(ListType(byte, 4), ListType(word, 3))
    assert not same_kind(ListType(byte, 3), byte)
    assert not same_kind(ListType(BOOL, 3), ListType(byte, 3))


def test_parameters_reach_actors_through_expressions(folder: Path) -> None:
    two_plus = '<Expr kind="BinOpSeq"><Expr kind="Var" name="N"/><Op name="+"/>' + integer(2) + '<Op name="*"/>'
    value = two_plus + '<Expr kind="UnaryOp"><Op name="-"/><Expr kind="Var" name="V"/></Expr></Expr>'
    write(folder, "Inner", PORTS, '<Decl kind="Param" name="N"><Type name="int"/></Decl>',
          f'<Decl kind="Variable" name="V"><Type name="int"/>{integer("0x10")}</Decl>',
          instance("x", "Copy", k=value),
          connect(".In", "x.I", '<Expr kind="Var" name="V"/>'), connect("x.O", ".Out"))  # fmt: skip
    ends = instance("s", "Source") + instance("t", "Sink") + connect("s.O", "i.In") + connect("i.Out", "t.I")
    network = load(folder, instance("i", "Inner", N=integer(100)), ends).network
    assert parameter(network.instances[0].actor, "k") == 100 + 2 * -16
    assert network.connections[0].capacity == 16


def test_an_actor_is_lowered_once_for_each_set_of_arguments(folder: Path) -> None:
    chain = [instance("s", "Source"), *(instance(f"c{i}", "Copy", k=integer(i % 2)) for i in range(4))]
    links = [connect("s.O", "c0.I"), *(connect(f"c{i}.O", f"c{i + 1}.I") for i in range(3))]
    actors = [i.actor for i in load(folder, *chain, *links).network.instances]
    assert actors[1] is actors[3]
    assert actors[2] is actors[4]
    assert actors[1] is not actors[2]


def test_doubts_are_warnings_and_errors_when_strict(folder: Path) -> None:
    body = instance("s", "Source") + instance("c", "Copy", K=integer(3)) + connect("s.O", "c.I")
    expected = [
        "instance 'c' has no argument for the parameter 'k', 0 is taken",
        "output port 'O' of instance 'c' is not connected",
        "'Copy' (instance 'c') has no parameter 'K'",
    ]
    loaded = load(folder, body)
    assert [w.message for w in loaded.warnings] == expected
    assert parameter(loaded.network.instances[1].actor, "k") == 0
    assert errors(folder, body, strict=True) == expected


def test_defaults_of_parameters_are_used(folder: Path) -> None:
    (folder / "Copy.cal").write_text(COPY.replace("int k", "int k = 5"))
    loaded = load(folder, instance("s", "Source"), instance("c", "Copy"), connect("s.O", "c.I"))
    assert parameter(loaded.network.instances[1].actor, "k") == 5


def test_list_parameters(folder: Path) -> None:
    (folder / "Table.cal").write_text("actor Table(List(type:int, size=2) t) ==> int O: action ==> O:[ t[0] ] end end")
    values = f'<Expr kind="List">{integer(4)}{integer(5)}</Expr>'
    network = load(folder, instance("t", "Table", t=values)).network
    assert parameter(network.instances[0].actor, "t") == (4, 5)


def test_a_network_as_top_reports_its_ports(folder: Path) -> None:
    loaded = load(folder, PORTS, instance("x", "Copy", k=integer(0)), connect(".In", "x.I"), connect("x.O", ".Out"))
    assert [w.message for w in loaded.warnings] == ["nothing is connected to the ports of the top network: 'In', 'Out'"]
    assert loaded.network.connections == ()


def test_a_network_that_contains_itself_names_the_circle(folder: Path) -> None:
    write(folder, "Inner", instance("deep", "Deep"))
    write(folder, "Deep", instance("inner", "Inner"))
    with pytest.raises(SourceError) as caught:
        load(folder, instance("i", "Inner"))
    (found,) = caught.value.diagnostics
    assert found.message == "network 'Inner' contains itself"
    assert [Path(path).name for path in found.expected.split(" -> ")] == ["Inner.xdf", "Deep.xdf", "Inner.xdf"]
    with pytest.raises(SourceError) as caught:
        load(folder, instance("i", "top"))
    (found,) = caught.value.diagnostics
    assert found.message == "network 'top' contains itself"
    assert [Path(path).name for path in found.expected.split(" -> ")] == ["top.xdf", "top.xdf"]


def test_an_actor_is_lowered_again_where_its_units_come_from_another_folder(folder: Path) -> None:
    (folder / "A.cal").write_text("import U.*; actor A() ==> : int x = N; end")
    files = SourceFiles()
    found = []
    for name, value in (("one", 1), ("two", 2), ("one", 1)):
        (folder / name).mkdir(exist_ok=True)
        (folder / name / "U.cal").write_text(f"unit U: int N = {value}; end")
        library = Library(SourceRoots(folders=(str(folder), str(folder / name))), files)
        actor = library.actor(str(folder / "A.cal"), (), NO_SPAN, Gatherer())
        assert actor is not None
        found.append(parameter(actor, "x"))
    assert found == [1, 2, 1]


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        (instance("a", "Sorce"), ["class 'Sorce' not found"]),
        (instance("a", "Source") + instance("a", "Sink"), ["the instance 'a' is there twice"]),
        (connect("a.O", "b.I"), ["unknown instance 'a'", "unknown instance 'b'"]),
        (
            instance("s", "Source") + instance("t", "Sink") + connect("s.X", "t.Y"),
            [
                "actor 'Source' (instance 's') has no output port 'X'",
                "actor 'Sink' (instance 't') has no input port 'Y'",
            ],
        ),
        (
            instance("s", "Source") + instance("r", "Source") + instance("t", "Sink") + connect("s.O", "t.I")
            + connect("r.O", "t.I"),
            ["two writers to 't.I'"],
        ),
        (
            instance("s", "Source") + instance("f", "Flag") + connect("s.O", "f.I"),
            ["the types of the connected ports differ"],
        ),
        (
            instance("s", "Source") + instance("t", "Sink") + connect("s.O", "t.I", integer(0)),
            ["bufferSize is 0"],
        ),
        (instance("c", "Copy", k='<Expr kind="Var" name="N"/>'), ["network 'top' has no parameter or variable 'N'"]),
        (
            instance("c", "Copy", k='<Expr kind="Literal" literal-kind="String" value="3"/>'),
            ["parameter 'k' of actor 'Copy' is declared int"],
        ),
    ],
)  # fmt: skip
def test_errors(folder: Path, body: str, expected: list[str]) -> None:
    assert errors(folder, body) == expected


def test_a_second_buffer_size_is_told(folder: Path) -> None:
    twice = (
        connect("s.O", "t.I", integer(3)).replace("</Connection>", "")
        + connect("s.O", "t.I", integer(4)).split(">", 1)[1]
    )
    loaded = load(folder, instance("s", "Source") + instance("t", "Sink") + twice)
    assert [c.capacity for c in loaded.network.connections] == [3]
    assert [d.message for d in loaded.warnings] == ["bufferSize is given twice, and the first one holds"]


def test_an_error_inside_a_network_used_twice_is_reported_once(folder: Path) -> None:
    write(folder, "Inner", instance("a", "Gone"))
    assert errors(folder, instance("i", "Inner"), instance("j", "Inner")) == ["class 'Gone' not found"]


def test_errors_of_actors_and_of_the_network_come_together(folder: Path) -> None:
    (folder / "Sink.cal").write_text(SINK.replace("take:", "take: action I:[ x ] ==> guard y end other:"))
    found = errors(folder, instance("s", "Source"), instance("t", "Sink"), connect("s.O", "t.J"))
    assert len(found) == 2
    assert found[1] == "actor 'Sink' (instance 't') has no input port 'J'"


def test_a_missing_class_says_where_it_was_searched_and_what_is_near(folder: Path) -> None:
    with pytest.raises(SourceError) as caught:
        load(folder, instance("a", "Sorce"))
    (found,) = caught.value.diagnostics
    assert str(folder) in found.expected
    assert "'Source'" in found.expected


def test_a_missing_file_is_an_error_without_line(tmp_path: Path) -> None:
    with pytest.raises(SourceError, match="no such file"):
        load_network(str(tmp_path / "none.xdf"))


def test_deep_nesting_is_an_error_or_works(folder: Path) -> None:
    for level in range(400):
        write(folder, f"N{level}", instance("n", f"N{level + 1}"))
    write(folder, "N400", instance("s", "Source"))
    assert errors(folder, instance("n", "N0")) == ["the networks nest too deeply"]
    deep = integer(1)
    for _ in range(120):
        deep = f'<Expr kind="UnaryOp"><Op name="-"/>{deep}</Expr>'
    assert parameter(load(folder, instance("c", "Copy", k=deep)).network.instances[0].actor, "k") == 1


WHOLE = (
    instance("s", "Source") + instance("c", "Copy", k=integer(1)) + instance("t", "Sink")
    + connect("s.O", "c.I", integer(9)) + connect("c.O", "t.I")
)  # fmt: skip
SNIPPETS = ["", "s", "c", "I", "O", "Source", "Sink", "Copy", "top", '"', "<", "k", "Flag", "Var", "Real", "1e9", "x.y"]


@settings(max_examples=examples(100), deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(cuts=st.lists(st.tuples(st.integers(0, len(WHOLE)), st.integers(0, 8), st.sampled_from(SNIPPETS)), max_size=3))
def test_mutated_networks_are_loaded_or_refused(folder: Path, cuts: list[tuple[int, int, str]]) -> None:
    text = WHOLE
    for at, length, insert in cuts:
        text = text[:at] + insert + text[at + length :]
    path = write(folder, "top", text)
    try:
        network = load_network(path, partial=len(cuts) == 2).network
    except SourceError:
        return
    for connection in network.connections:
        assert network.connection_name(connection)
