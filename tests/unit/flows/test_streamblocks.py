"""Software profiles of StreamBlocks as weights."""

from fractions import Fraction
from pathlib import Path

import pytest

from dse.base.errors import FormatError
from dse.cli.main import main
from dse.flows.estimate import estimate_mappings
from dse.flows.options import EstimateOptions, ProblemOptions
from dse.flows.trace import open_trace, profile_weights

ROOT = Path(__file__).parents[3]
PINGPONG, PROFILE = str(ROOT / "actors/pingpong/pingpong.xdf"), str(ROOT / "tests/graphs/pingpong-profile.xml")


@pytest.fixture
def traced(tmp_path: Path) -> str:
    path = str(tmp_path / "p.trace")
    assert (
        main(["trace", PINGPONG, "--quiet", "-o", path, "--profile", PROFILE, "--write-weights", str(tmp_path / "w")])
        == 0
    )
    return path


def test_ticks_are_shared_by_the_firings(traced: str, tmp_path: Path) -> None:
    table = profile_weights(open_trace(traced), PROFILE)
    assert table.compute["PingPong", "ping", "cpu"].mean_cycles == 250
    assert table.compute["PingPong", "pong", "cpu"].mean_cycles == 250
    assert table.compute["CopyTokensA", "copy", "cpu"].mean_cycles == Fraction(45, 2)
    options = ProblemOptions(program=traced, weights=(str(tmp_path / "w"),), engine="reference")
    found = estimate_mappings(EstimateOptions(problem=options)).mappings[0].estimate
    assert found.makespan == 400 + 1000 + 4 * 23 + 200 + 4 * 78  # 22.5 and 77.5 are rounded half up


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ('id="Merger"', 'id="Marger"', "the network has no actor 'Marger'"),
        ('id="Merger"', 'id="Prod"', "actor 'Prod' is there twice"),
        ('<instance id="Merger" complexity="310"/>', "", "the profile has no ticks of actor 'Merger'"),
        ('id="Merger" complexity="310"', 'id="Merger"', "'instance' has no 'complexity'"),
        ('complexity="310"', 'complexity="-1"', "complexity of 'instance' is '-1'"),
        ("configuration", "profile", "the root element is 'profile'"),
    ],
)
def test_what_is_wrong_is_said(traced: str, tmp_path: Path, old: str, new: str, message: str) -> None:
    path = tmp_path / "p.xml"
    path.write_text(Path(PROFILE).read_text().replace(old, new))
    with pytest.raises(FormatError) as error:
        profile_weights(open_trace(traced), str(path))
    assert message in error.value.diagnostics[0].message


def test_a_profile_alone_has_no_effect(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    assert main(["trace", PINGPONG, "-o", str(tmp_path / "p.trace"), "--profile", PROFILE]) == 2
    assert "--profile has no effect alone" in capsys.readouterr().err
