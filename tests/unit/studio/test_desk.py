"""Messages in, answers out: estimates with what changed, searches, files, the work of a search elsewhere."""

import base64
import json
import subprocess
import sys
import threading
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from dse.cli.main import main
from dse.explore.space.locate import candidate_at
from dse.flows.capacities import search_capacities
from dse.flows.estimate import one_core
from dse.flows.options import ProblemOptions
from dse.flows.search.method import make_method, search_context
from dse.flows.setting import Setting
from dse.formats.mapping_text import mapping_text
from dse.formats.study_file import glimpse_study
from dse.formats.xcf import read_xcf
from dse.model.design_point import DesignPoint
from dse.report.page.timeline import Detail
from dse.studio import following
from dse.studio.design import Design
from dse.studio.edits import Fix, Move, SetPolicy, Surroundings, applied
from dse.studio.estimation import Estimation
from dse.studio.following import followed
from dse.studio.latest import Latest
from dse.studio.searching import SearchFromHere, space_around
from dse.studio.start import StudioOptions, first_mapping, identity_of
from dse.studio.views import design_view
from tests.unit.studio.conftest import PINGPONG, Watched


def test_a_change_is_estimated_and_compared(watched: Watched) -> None:
    first = watched.hear("estimate")
    assert first["change"] is None
    watched.say(type="move", actor=1, unit="cpu")
    state = watched.hear("state")
    assert [partition["actors"] for partition in state["partitions"]] == [[0, 2, 3, 4], [1]]
    second = watched.hear("estimate", lambda answer: answer["revision"] == 1)
    assert second["change"]["makespan"] == first["view"]["makespan"]
    assert second["view"]["owner"] == [0, 1, 0, 0, 0]
    assert second["view"]["makespan"] != first["view"]["makespan"]
    assert any("PingPong" in line for line in second["change"]["lines"])
    watched.say(type="undo")
    third = watched.hear("estimate", lambda answer: answer["revision"] == 2)
    assert third["view"]["makespan"] == first["view"]["makespan"]


def test_the_view_has_the_critical_path(setting: Setting) -> None:
    """Only with the compiled engine, whose record it is read off; its segments add up to the makespan."""
    design = Design(point=_one_core(setting))
    view = design_view(Estimation(setting, "compiled"), design, "d", Detail(packed=False))
    path, timeline = view["path"], view["timeline"]
    assert isinstance(path, dict)
    assert isinstance(timeline, dict)
    assert "processing" in path["kinds"]
    assert sum(_values(path["length"])) + path["first"] == view["makespan"]
    assert len(timeline["parts"]) == 3
    plain = design_view(Estimation(setting, "reference"), design, "d", Detail(packed=False))
    assert (plain["path"], plain["makespan"], plain["actors"]) == (None, view["makespan"], view["actors"])


def _values(column: dict[str, Any]) -> list[int]:
    """Return the integers of a column (``dse/report/page/columns.py``)."""
    planes = base64.b64decode(column["d"])
    n = column["n"]
    return [int.from_bytes(planes[k::n], "little") for k in range(n)]


def test_a_pinned_design_is_what_is_compared_with(watched: Watched) -> None:
    start = watched.hear("estimate")["view"]["makespan"]
    watched.say(type="pin", pinned=True)
    watched.say(type="move", actor=1, unit="cpu")
    watched.say(type="move", actor=2, unit="cpu")
    found = watched.hear("estimate", lambda answer: answer["revision"] == 3)
    assert (found["change"]["pinned"], found["change"]["makespan"]) == (True, start)


def test_errors_go_to_the_page_that_asked(watched: Watched) -> None:
    answer = watched.say(type="move", actor=0, partition="P9")
    assert answer == {"type": "error", "message": "there is no partition 'P9'", "expected": "known: P0"}
    broken = watched.desk.receive("{")
    assert broken is not None
    assert json.loads(broken.text)["type"] == "error"


def test_costs_that_are_too_large_are_told_in_place_of_a_view(watched: Watched, setting: Setting) -> None:
    watched.say(type="clock", unit="cpu", mhz="0.000001")
    watched.say(type="scale", actor=0, factor="1000")
    found = watched.hear("estimate", lambda answer: answer["revision"] == 2)
    assert "1e+15" in found["error"]["expected"]
    watched.say(type="undo")
    assert "view" in watched.hear("estimate", lambda answer: answer["revision"] == 3)


def test_a_new_page_is_told_everything(watched: Watched) -> None:
    watched.hear("estimate")
    kinds = [answer.kind for answer in watched.desk.greeting()]
    assert kinds == ["hello", "state", "estimate"]
    told = json.loads(watched.desk.greeting()[0].text)
    assert [actor["name"] for actor in told["network"]["actors"]][:2] == ["Prod", "PingPong"]


def test_the_design_is_saved_as_a_mapping_file(watched: Watched, setting: Setting, tmp_path: Path) -> None:
    watched.say(type="move", actor=1, unit="cpu")
    answers = [watched.say(type="save"), watched.say(type="save")]
    files = [tmp_path / f"studio-0{n}.xcf" for n in (1, 2)]
    assert [a and a["file"] for a in answers] == [str(file) for file in files]
    point = read_xcf(str(files[1]), setting.trace.topology, setting.platform)
    assert point.digest() == watched.desk.session.design.point.digest()


def test_the_design_is_shared_as_one_file(watched: Watched, tmp_path: Path) -> None:
    watched.say(type="pin", pinned=True)
    watched.say(type="move", actor=1, unit="cpu")
    watched.say(type="scale", actor=0, action=0, factor="0.5")
    watched.say(type="share")
    answer = watched.hear("saved")
    assert answer["file"] == str(tmp_path / "studio-01.html")
    text = (tmp_path / "studio-01.html").read_text()
    document = json.loads(text.split('<script type="application/json" id="document">')[1].split("</script>")[0])
    assert [view["label"] for view in document["mappings"]] == ["the design", "the pinned design"]
    assert document["mappings"][0]["owner"] == [0, 1, 0, 0, 0]
    assert "costs 0.5 times its weight" in text
    assert "http://" not in text.replace("http://www.w3.org/", "")


def test_a_search_from_here_finds_the_best(watched: Watched) -> None:
    watched.hear("estimate")
    refused = watched.say(type="take", found_by="search")
    assert refused is not None
    watched.say(type="search", seconds=60)
    found = watched.hear("search", lambda answer: answer["state"] != "searching")
    assert found["state"] == "proven"
    assert found["best"] < found["start"]
    watched.say(type="take", found_by="search")
    shown = watched.hear("estimate", lambda answer: answer["revision"] == 1)
    assert shown["view"]["makespan"] == found["best"]


def test_fixed_actors_stay_and_the_search_knows_where_it_is(setting: Setting, around: Surroundings) -> None:
    design = Design(point=_one_core(setting))
    for edit in (
        Move(actor=1, unit="cpu"),
        Move(actor=2, unit="cpu"),
        SetPolicy(policy="ROUND_ROBIN", partition="P1"),
        Fix(actor=1, fixed=True),
    ):
        design = applied(edit, design, around)
    space = space_around(design, setting)
    here = candidate_at(space, design.point)
    assert here is not None
    found = space.to_point(here).partitions
    assert {(p.actors, p.policy) for p in found} == {(p.actors, p.policy) for p in design.point.partitions}
    assert all(space.units[unit].unit == "cpu" for unit in space.allowed[1])


@pytest.mark.parametrize("method", ["local-search", "iterated-search"])
def test_a_search_begins_at_the_point_that_it_is_given(setting: Setting, around: Surroundings, method: str) -> None:
    design = applied(Move(actor=3, unit="cpu"), Design(point=_one_core(setting)), around)
    space = space_around(design, setting)
    here = candidate_at(space, design.point)
    assert here is not None
    context = replace(search_context(setting, space, 1, 10, 0), start=(here,))
    first = make_method(method, context, None).ask(1)[0]
    assert first.digest() == space.to_point(here).digest()


def _one_core(setting: Setting) -> DesignPoint:
    return one_core(setting, search_capacities(setting).tokens)


def test_what_no_search_chooses_is_said(watched: Watched) -> None:
    watched.say(type="cores", partition="P0", cores=2)
    watched.say(type="search", seconds=5)
    found = watched.hear("search", lambda answer: answer["state"] != "searching")
    assert found["state"] == "failed"
    assert "several cores" in found["message"]


def test_a_search_can_be_stopped(setting: Setting, around: Surroundings, monkeypatch: pytest.MonkeyPatch) -> None:
    from dse.studio import searching

    monkeypatch.setattr(searching, "EXHAUSTIVE_POINTS", 0)  # this method does not end
    begun, states = threading.Event(), list[str]()

    def told(found: searching.Found) -> None:
        states.append(found.state)
        begun.set()

    search = SearchFromHere(setting, Design(point=_one_core(setting)), engine="reference", seconds=600, told=told)
    search.start()
    assert begun.wait(30)
    search.stop(seconds=30)
    assert not search.running
    assert states[-1] in ("stopped", "ended")


def test_only_the_newest_request_is_worked_on() -> None:
    begun, go_on, done = threading.Event(), threading.Event(), list[int]()

    def work(request: int) -> None:
        begun.set()
        go_on.wait(10)
        done.append(request)

    latest = Latest(work, lambda: None)
    latest.ask(1)
    assert begun.wait(10)
    for request in (2, 3, 4):
        latest.ask(request)
    go_on.set()
    while len(done) < 2:
        pass
    latest.close()
    assert done == [1, 4]


def test_work_that_takes_long_is_stopped_for_something_newer(monkeypatch: pytest.MonkeyPatch) -> None:
    from dse.studio import latest as module

    monkeypatch.setattr(module, "PATIENCE_SECONDS", -1.0)
    stopped, begun, done = threading.Event(), threading.Event(), list[int]()

    def work(request: int) -> None:
        begun.set()
        if request == 1:
            assert stopped.wait(10)
        done.append(request)

    latest = Latest(work, stopped.set)
    latest.ask(1)
    assert begun.wait(10)
    latest.ask(2)
    while len(done) < 2:
        pass
    latest.close()
    assert done == [1, 2]


@pytest.fixture(scope="module")
def explored(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("explored")
    arguments = ["explore", str(PINGPONG), "--weights", "nominal", "--engine", "reference", "--budget", "30"]
    assert main([*arguments, "--quiet", "--json", "--out", str(folder)]) == 0
    return folder


def test_a_search_elsewhere_is_followed(
    watched: Watched, setting: Setting, explored: Path, tmp_path: Path, open_desk: Callable[[], Watched]
) -> None:
    watched.desk.follow(explored / "study.sqlite", identity_of(setting))
    found = watched.hear("explore")
    assert found["evaluations"] == 30
    assert found["same"] is True
    makespans = [makespan for _, makespan in found["steps"]]
    assert makespans == sorted(makespans, reverse=True)
    watched.say(type="take", found_by="explore")
    shown = watched.hear("estimate", lambda answer: answer["revision"] == 1)
    assert shown["view"]["makespan"] == makespans[-1]


_SEARCH = """
import sys
from pathlib import Path
from dse.formats.study_file import create_study, read_study
held = read_study(Path(sys.argv[1]))
store = create_study(Path(sys.argv[2]), held.topology, held.identity, held.manifest)
for evaluation in held.evaluations:
    if evaluation.ordinal % 10 == 0:
        store.commit()
        print(evaluation.ordinal, flush=True)
        sys.stdin.readline()
    store.add(evaluation)
"""
"""A search as ``dse explore`` makes it: a process that writes its study, ten mappings for each line that it hears."""


def test_a_search_is_followed_while_it_runs_and_until_it_is_killed(
    watched: Watched, setting: Setting, explored: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(following, "SECONDS", 0.05)
    store = tmp_path / "study.sqlite"
    command = [sys.executable, "-c", _SEARCH, str(explored / "study.sqlite"), str(store)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, bufsize=1) as search:
        assert search.stdin is not None
        try:
            watched.desk.follow(store, identity_of(setting))
            for count in (0, 10, 20):
                found = watched.hear("explore", lambda answer, n=count: answer["evaluations"] == n)  # type: ignore[misc]
                assert (found["running"], found["same"], found["mapping"] is None) == (True, True, count == 0)
                if count < 20:
                    search.stdin.write("\n")
            options = StudioOptions(problem=ProblemOptions(program=str(PINGPONG)))
            begun = first_mapping(options, tmp_path, setting)  # a page that is opened now begins at its best
            assert mapping_text(begun, setting.trace.topology, setting.platform) == found["mapping"]
        finally:
            search.kill()
    ended = watched.hear("explore", lambda answer: not answer["running"])
    assert ended["evaluations"] == 20


def test_a_search_of_something_else_is_no_source_of_mappings(explored: Path) -> None:
    stored = glimpse_study(explored / "study.sqlite")
    assert stored is not None
    assert followed(stored, {"trace": stored.identity["trace"]}, running=False).same
    assert not followed(stored, {"trace": "another one"}, running=False).same


def test_a_study_is_seen_past_the_lock_of_its_search(explored: Path, tmp_path: Path) -> None:
    import sqlite3

    path = tmp_path / "study.sqlite"
    path.write_bytes((explored / "study.sqlite").read_bytes())
    writer = sqlite3.connect(path)
    writer.execute("PRAGMA locking_mode = EXCLUSIVE")
    writer.execute("BEGIN EXCLUSIVE")
    writer.execute("DELETE FROM evaluation WHERE ordinal > 3")  # not committed: what was there is seen, or nothing
    found = glimpse_study(path)
    assert found is None or len(found.evaluations) == 30
    writer.rollback()
    found = glimpse_study(path)
    writer.close()
    assert found is not None
    assert len(found.evaluations) == 30


@pytest.mark.parametrize("cut", [0, 1, 100, 4096, 5000])
def test_a_torn_copy_of_a_study_is_nothing(explored: Path, tmp_path: Path, cut: int) -> None:
    path = tmp_path / "study.sqlite"
    data = (explored / "study.sqlite").read_bytes()
    path.write_bytes(data[:cut])
    assert glimpse_study(path) is None
    path.write_bytes(data[: len(data) - 4096] + bytes(4096))
    assert glimpse_study(path) is None
