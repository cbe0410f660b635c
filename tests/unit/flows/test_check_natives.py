"""``dse check`` says which natives of a network nothing stands for, and is quiet about those that are bound."""

from pathlib import Path

import pytest

from dse.base.errors import OptionError
from dse.flows.check import check_file, check_tree
from dse.flows.check_report import CheckOptions

CALLER = """actor Caller () ==> :
    @native function gain(int x) --> int end
    @native procedure source_init() end
    action ==> guard false do source_init(); println(gain(1)); end
end"""


@pytest.fixture
def network(tmp_path: Path) -> str:
    (tmp_path / "Caller.cal").write_text(CALLER)
    path = tmp_path / "net.xdf"
    path.write_text('<XDF name="n"><Instance id="c"><Class name="Caller"/></Instance></XDF>')
    return str(path)


def test_what_nothing_stands_for_is_named_with_what_binds_it(network: str) -> None:
    (found,) = check_file(network).warnings
    assert "native 'gain' of Caller" in found.message
    assert "--native Caller.gain=MODULE:CALLABLE" in found.expected
    assert found.span.line == 2


def test_what_is_bound_is_not_named(network: str) -> None:
    assert check_file(network, CheckOptions(natives=("Caller.gain",))).warnings == ()


def test_a_native_that_is_not_declared_cannot_be_bound(network: str) -> None:
    with pytest.raises(OptionError, match=r"no native 'Caller\.gian'"):
        check_file(network, CheckOptions(natives=("Caller.gian",)))


def test_trees_are_not_asked(network: str) -> None:
    assert check_tree(str(Path(network).parent)).warnings == ()


@pytest.mark.parametrize(
    ("package", "name", "warned"),
    [
        ("deep.inner", "Good", ()),
        ("inner", "Good", ()),
        ("", "Good", ()),
        ("outer.inner", "Good", ("package",)),
        ("inner", "Other", ("file of another name",)),
    ],
)
def test_a_package_or_a_name_that_is_not_of_its_place(
    package: str, name: str, warned: tuple[str, ...], tmp_path: Path
) -> None:
    folder = tmp_path / "deep" / "inner"
    folder.mkdir(parents=True)
    head = f"package {package};\n" if package else ""
    (folder / "Good.cal").write_text(f"{head}actor {name} () ==> : action ==> guard false end end")
    found = check_file(str(folder / "Good.cal")).warnings
    assert len(found) == len(warned)
    assert all(word in w.message for word, w in zip(warned, found, strict=True))
