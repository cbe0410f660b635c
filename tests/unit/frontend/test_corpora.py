"""The public corpora: every XDF parses and survives a rewrite, networks flatten in the order of the golden records.

The folder that holds ``orc-apps`` is named by ``DSE_CORPORA``; without it these tests are skipped.
"""

import json
import os
from pathlib import Path

import pytest

from dse.flows.check import check_tree
from dse.flows.check_report import CheckOptions
from dse.formats.xdf import read_xdf, write_xdf
from dse.frontend.network.elaborate import load_network

GOLDEN = sorted((Path(__file__).parents[2] / "golden" / "cal").glob("*.json"))


@pytest.fixture(scope="module")
def orc_apps() -> Path:
    """The folder of orc-apps."""
    named = os.environ.get("DSE_CORPORA", "")
    folder = Path(named) / "orc-apps"
    if not named or not folder.is_dir():
        pytest.skip("DSE_CORPORA names no folder with orc-apps")
    return folder


@pytest.mark.parametrize("record", GOLDEN, ids=lambda path: path.stem)
def test_flattening_gives_the_channels_and_actors_of_the_record(record: Path, orc_apps: Path) -> None:
    golden = json.loads(record.read_text())
    network = load_network(str(orc_apps / golden["top"])).network
    assert [network.connection_name(connection) for connection in network.connections] == list(golden["channels"])
    assert [instance.name for instance in network.instances] == list(golden["actions"])


def test_every_xdf_is_read_and_survives_a_rewrite(orc_apps: Path, tmp_path: Path) -> None:
    paths = sorted(orc_apps.rglob("*.xdf"))
    assert len(paths) == 575
    again = str(tmp_path / "again.xdf")
    for path in paths:
        network = read_xdf(str(path))
        write_xdf(network, again)
        assert read_xdf(again) == network, path


@pytest.mark.slow
@pytest.mark.parametrize(("partial", "least"), [(False, 184), (True, 226)])
def test_top_networks_elaborate(partial: bool, least: int, orc_apps: Path) -> None:
    """184 tops are whole; 42 more are when missing classes and broken connections are left out (docs/corpora.md)."""
    report = check_tree(str(orc_apps), CheckOptions(partial=partial))
    assert len(report.checks) == 1148 + 575
    assert all(check.kind != "unknown" for check in report.checks)
    assert sum(top.ok for top in report.tops) >= least
    assert all(error.span.line > 0 and error.message for error in report.errors)
