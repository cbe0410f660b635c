"""Architectures of PREESM as platforms."""

from pathlib import Path

import pytest

from dse.base.errors import FormatError
from dse.formats.platform_yaml import load_platform

TWO = Path(__file__).parents[2] / "graphs" / "bakery" / "Archi" / "2Cores.slam"


def changed(folder: Path, *changes: tuple[str, str]) -> str:
    text = TWO.read_text()
    for old, new in changes:
        assert old in text
        text = text.replace(old, new)
    (folder / "x.slam").write_text(text)
    return str(folder / "x.slam")


def test_each_type_of_operator_is_a_unit(tmp_path: Path) -> None:
    (unit,) = load_platform(str(TWO)).units
    assert (load_platform(str(TWO)).name, unit.name, unit.kind, unit.cores) == ("2Cores", "x86", "cpu", 2)
    arm = '<slam:componentDescription slam:componentRef="arm" slam:componentType="CPU"/></slam:componentDescriptions>'
    path = changed(tmp_path, ("<spirit:instanceName>Apprentice</spirit:instanceName>", ""))
    text = Path(path).read_text()
    last = text.rindex('spirit:name="x86"')
    text = text[:last] + 'spirit:name="arm"' + text[last + len('spirit:name="x86"') :]
    Path(path).write_text(text.replace("</slam:componentDescriptions>", arm))
    assert [(u.name, u.kind, u.cores) for u in load_platform(path).units] == [("x86", "cpu", 1), ("arm", "cpu", 1)]


def test_gpus_are_units_of_their_own(tmp_path: Path) -> None:
    found = load_platform(changed(tmp_path, ('slam:componentType="Operator"', 'slam:componentType="GPU"')))
    assert [(u.name, u.kind, u.partition) for u in found.units] == [("x86", "gpu", "PG"), ("x86-2", "gpu", None)]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (('slam:componentType="Operator"', 'slam:componentType="FPGA"'), "is of type 'fpga', which dse cannot map"),
        (('slam:componentRef="x86"', 'slam:componentRef="arm"'), "component 'x86' is not described"),
        (('<spirit:componentRef spirit:name="x86"/>', ""), "the architecture has no operator"),
        (('slam:componentType="parallelComNode"', ""), "a component has no name or no type"),
    ],
)
def test_what_is_wrong_is_told(change: tuple[str, str], message: str, tmp_path: Path) -> None:
    with pytest.raises(FormatError, match=message) as caught:
        load_platform(changed(tmp_path, change))
    assert caught.value.diagnostics[0].expected
