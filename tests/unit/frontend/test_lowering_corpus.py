"""Lowering of every CAL file of orc-apps: nothing crashes, and what is wrong is the applications' fault (cal.md 3)."""

import os
from pathlib import Path

import pytest

from dse.base.diagnostics import Gatherer
from dse.frontend.cal.ast import UnitDecl
from dse.frontend.cal.lower_actor import check_actor, check_unit
from dse.frontend.network.projects import find_source_roots
from dse.frontend.network.sources import SourceFiles
from dse.program.text.printer import print_actor
from dse.program.text.reader import read_actor
from dse.program.text.spans import without_spans
from tests.unit.frontend.well_formed import assert_well_formed

ROUND_TRIPS = 10
"""One in so many actors is printed and read again, which takes as long as lowering it."""

BROKEN = {
    "org/ietr/mpegh/part2/common/DisplayYUVWithCrop.cal",
    "org/ietr/mpegh/part2/main/inter/InterPredictionChroma.cal",
    "org/ietr/mpegh/part2/main/inter/InterPredictionLuma.cal",
    "org/ietr/mpegh/part2/main/intra/IntraPredictionChroma.cal",
    "org/ietr/mpegh/part2/main/intra/IntraPredictionLuma.cal",
    "org/ietr/mpegh/part2/main/synParser/Algo_Parser.cal",
    "org/ietr/mpegh/part2/main/synParser/Algo_Parser_FB.cal",
    "org/ietr/mpegh/part2/main/synParser/Algo_Parser_main_FB.cal",
    "org/ietr/mpegh/part2/main/tiles/Pre_Parser.cal",
    "rvc/org/sc29/wg11/common/Mgnt_Merger420.cal",
}
"""Files of Research that use names and arities which RVC no longer has, and one whose unit of constants is missing."""


def corpus() -> Path:
    folder = Path(os.environ.get("DSE_CORPORA", "")) / "orc-apps"
    if "DSE_CORPORA" not in os.environ or not folder.is_dir():
        pytest.skip("DSE_CORPORA does not name a folder with orc-apps")
    return folder


@pytest.mark.slow
def test_every_file_lowers_or_is_known_to_be_broken() -> None:
    files = SourceFiles()
    wrong: dict[str, list[str]] = {}
    checked = 0
    for path in sorted(corpus().rglob("*.cal")):
        gather = Gatherer()
        file = files.cal(str(path), gather)
        assert file is not None
        roots = find_source_roots(str(path), (), gather)

        def unit(name: str, roots=roots, gather=gather):  # type: ignore[no-untyped-def]
            found = roots.find(name, (".cal",))
            return None if found is None else files.cal(found, gather)

        if isinstance(file.entity, UnitDecl):
            check_unit(file, unit, gather)
        else:
            actor = check_actor(file, unit, gather)
            assert (actor is None) == bool(gather.errors)
            if actor is not None:
                assert_well_formed(actor)
                if checked % ROUND_TRIPS == 0:
                    assert repr(read_actor(print_actor(actor))) == repr(without_spans(actor))
        checked += 1
        if gather.errors:
            wrong[str(path).partition("/src/")[2]] = [e.message for e in gather.errors]
    assert checked > 1000
    assert not {name: errors[0] for name, errors in wrong.items() if name not in BROKEN}
    assert set(wrong) == BROKEN
