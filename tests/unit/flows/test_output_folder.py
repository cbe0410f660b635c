"""The folder of a search that is removed or replaced meanwhile, and what a second search does to the first one's."""

import errno
import json
import shutil
import threading
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from dse.base.errors import DseError, ExecutionError, OptionError
from dse.base.files import TEMPORARY
from dse.base.limits import Limits
from dse.cli.main import main
from dse.explore import evaluator as evaluator_module
from dse.explore.evaluator import Budget, Progress
from dse.flows import deliver as deliver_module
from dse.flows.explore import explore
from dse.flows.options import ExploreOptions, ProblemOptions
from dse.flows.search.plan import SearchPlan, Watcher
from dse.flows.search.store import STORE_NAME
from dse.flows.study_options import read_study_options
from dse.formats.study_place import put_aside
from tests.examples import seldom
from tests.unit.run.programs import network_of

ACTORS = (
    "actor S () ==> int O : int n := 0; action ==> O:[n] guard n < 5 do n := n + 1; end end",
    "actor T () int I ==> int O : action I:[x] ==> O:[x + 1] end end",
    "actor K () int I ==> : action I:[x] ==> end end",
)
PLATFORM = "name: box\nunits:\n  cpu: {kind: cpu, cores: 4, clock_mhz: 1000}\n"


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("program")
    wiring = "s=S t=T u=T v=T k=K s.O->t.I t.O->u.I u.O->v.I v.O->k.I"
    network_of(folder, ACTORS, wiring)
    (folder / "box.yaml").write_text(PLATFORM)
    return folder


def options(program: Path, out: Path, budget: int = 40, **more: object) -> ExploreOptions:
    problem = ProblemOptions(program=str(program / "Top.xdf"), platform=str(program / "box.yaml"))
    return ExploreOptions(
        problem=problem, out=out, method="random", budget=Budget(evaluations=budget), workers=1, **more
    )  # type: ignore[arg-type]


@pytest.fixture(scope="module")
def ranking(program: Path, tmp_path_factory: pytest.TempPathFactory) -> str:
    """What an undisturbed search finds."""
    out = tmp_path_factory.mktemp("undisturbed")
    explore(options(program, out))
    return (out / "ranking.json").read_text()


def replaced(out: Path) -> None:
    shutil.rmtree(out)
    out.mkdir()
    (out / "mine.txt").write_text("somebody else's")


def study_replaced(out: Path) -> None:
    (out / "new").write_bytes((out / STORE_NAME).read_bytes())
    (out / "new").replace(out / STORE_NAME)


def cut_short(out: Path) -> None:
    with (out / STORE_NAME).open("r+b") as file:
        file.truncate(4096)


def overwritten(out: Path) -> None:
    with (out / STORE_NAME).open("r+b") as file:
        file.seek(20_000)
        file.write(bytes(8_000))


SABOTAGE: dict[str, tuple[Callable[[Path], object], str]] = {
    "folder-removed": (shutil.rmtree, "the folder '.*' was removed"),
    "folder-renamed": (lambda out: out.rename(out.with_name("elsewhere")), "the folder '.*' was removed or renamed"),
    "folder-replaced": (replaced, "the folder '.*' was replaced by another one"),
    "study-removed": (lambda out: (out / STORE_NAME).unlink(), "the study '.*' was removed"),
    "study-replaced": (study_replaced, "the study '.*' was replaced by another one"),
    "study-cut-short": (cut_short, "the study '.*' was cut short|overwritten"),
    "study-overwritten": (overwritten, "the study '.*' was overwritten"),
}


@pytest.mark.parametrize("moment", ["first", "report", *seldom("last")])
@pytest.mark.parametrize("what", SABOTAGE)
def test_what_is_lost_while_a_search_runs_is_noticed_and_kept_elsewhere(
    program: Path, ranking: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, what: str, moment: str
) -> None:
    monkeypatch.setattr(evaluator_module, "COMMIT_SECONDS", 0.0)
    out, rescued = tmp_path / "out", tmp_path / "out-rescued"
    act, message = SABOTAGE[what]
    done = []

    def strike() -> None:
        if not done:
            done.append(True)
            act(out)

    def progress(at: Progress) -> None:
        if moment == "first" or (moment == "last" and at.evaluations == 40):
            strike()

    def stage(name: str) -> None:
        if moment == "report" and name == "writing the report":
            strike()

    with pytest.raises(ExecutionError, match=message) as caught:
        explore(options(program, out), Watcher(progress=progress, stage=stage))
    assert caught.value.exit_code == 1
    assert f"continue with --resume --out '{rescued}'" in caught.value.diagnostics[0].expected
    if what == "folder-replaced":
        assert [path.name for path in out.iterdir()] == ["mine.txt"]
    explore(options(program, rescued, resume=True))
    assert (rescued / "ranking.json").read_text() == ranking


def test_a_folder_that_is_lost_twice_is_kept_twice(
    program: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(evaluator_module, "COMMIT_SECONDS", 0.0)
    for name in ("out-rescued", "out-rescued-2"):
        with pytest.raises(ExecutionError, match="was removed"):
            explore(
                options(program, tmp_path / "out"),
                Watcher(progress=lambda _: shutil.rmtree(tmp_path / "out", ignore_errors=True)),
            )
        assert (tmp_path / name / STORE_NAME).exists()


def test_nothing_is_claimed_by_the_command(
    program: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    page = deliver_module.report_page

    def page_after_removal(inputs: deliver_module.ReportInputs) -> str:
        shutil.rmtree(tmp_path / "out")
        return page(inputs)

    monkeypatch.setattr(deliver_module, "report_page", page_after_removal)
    argv = ["explore", str(program / "Top.xdf"), "--weights", "nominal", "--budget", "9"]
    argv += ["--out", str(tmp_path / "out")]
    assert main(argv) in (1, 2)
    out, err = capsys.readouterr()
    assert "written to" not in out
    assert "makespan" not in out
    assert "Traceback" not in err
    assert "out" in err


def test_a_search_that_is_killed_has_left_its_study_file(
    program: Path, ranking: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    out, early = tmp_path / "out", []

    def keep(_: SearchPlan) -> None:
        early.append((out / "study.yaml").read_text())
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        explore(options(program, out), Watcher(planned=keep))
    explore(replace(read_study_options(str(out / "study.yaml")), out=out, workers=1))
    assert (out / "study.yaml").read_text() == early[0]
    assert (out / "ranking.json").read_text() == ranking


def test_limits_of_a_search_hold_in_it(program: Path, tmp_path: Path) -> None:
    with pytest.raises(DseError, match="actors"):
        explore(options(program, tmp_path, limits=Limits(actors=2)))


def tree(folder: Path) -> dict[str, bytes]:
    return {str(p.relative_to(folder)): p.read_bytes() for p in sorted(folder.rglob("*")) if p.is_file()}


def test_a_second_search_keeps_everything_of_the_first_one(program: Path, tmp_path: Path) -> None:
    out, heard = tmp_path, []
    (out / "best-mine.xcf").write_text("mine")
    (out / "pareto-notes.xcf").write_text("mine")
    watcher = Watcher(planned=lambda plan: heard.append(plan.moved_aside))
    kept: list[dict[str, bytes]] = []
    for number in range(1, 4):
        explore(options(program, out, budget=8 * number, best=7 - 2 * number, seed=number), watcher)
        now = {p.name: p.read_bytes() for p in out.iterdir() if p.is_file() and "previous" not in p.name}
        assert now.pop("best-mine.xcf") == now.pop("pareto-notes.xcf") == b"mine"
        assert len([name for name in now if name.endswith(".xcf")]) == 7 - 2 * number
        kept.append(now)
    for number, before in enumerate(kept[:-1], start=1):
        end = "" if number == 1 else f"-{number}"
        assert (out / f"study-previous{end}.sqlite").read_bytes() == before.pop(STORE_NAME)
        assert (out / f"study-previous{end}.yaml").read_bytes() == before.pop("study.yaml")
        assert tree(out / f"results-previous{end}") == before
    assert heard == [
        "",
        "an earlier study in the folder was moved to study-previous.sqlite, its results to results-previous",
        "an earlier study in the folder was moved to study-previous-2.sqlite, its results to results-previous-2",
    ]


def test_the_numbers_of_earlier_studies_are_counted_up(tmp_path: Path) -> None:
    (tmp_path / "study-previous-7.sqlite").write_text("seven")
    (tmp_path / "results-previous-9").mkdir()
    (tmp_path / "study-previous-x.sqlite").write_text("not one of ours")
    kept = []
    for text in ("a", "b"):
        (tmp_path / STORE_NAME).write_text(text)
        (tmp_path / f"{STORE_NAME}-journal").write_text(f"of {text}")
        kept.append(put_aside(tmp_path / STORE_NAME))
    assert [path.name for path in kept] == ["study-previous-10.sqlite", "study-previous-11.sqlite"]
    assert [path.read_text() for path in kept] == ["a", "b"]
    assert (tmp_path / "study-previous-10.sqlite-journal").read_text() == "of a"
    assert (tmp_path / "study-previous-7.sqlite").read_text() == "seven"


def test_two_that_put_aside_at_once_take_different_names(tmp_path: Path) -> None:
    for number in range(12):
        (tmp_path / f"study{number}.sqlite").write_text(str(number))
    kept: list[Path] = []
    threads = [
        threading.Thread(target=lambda n=n: kept.append(put_aside(tmp_path / f"study{n}.sqlite"))) for n in range(12)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len({*kept}) == 12
    assert {path.read_text() for path in kept} == {str(n) for n in range(12)}


def test_a_search_that_starts_while_another_one_runs_takes_nothing_of_it(program: Path, tmp_path: Path) -> None:
    refused = []

    def second(_plan: SearchPlan) -> None:
        with pytest.raises(OptionError, match="cannot use the study") as error:
            explore(options(program, tmp_path))
        refused.append(error.value.diagnostics[0].expected)

    def third(name: str) -> None:
        if name == "writing the report":
            second(None)  # type: ignore[arg-type]

    explore(options(program, tmp_path, budget=5), Watcher(planned=second, stage=third))
    assert refused == ["another search is writing it"] * 2
    assert not [path.name for path in tmp_path.iterdir() if "previous" in path.name]


@pytest.mark.parametrize("failing", range(1, 8))
def test_results_that_cannot_all_be_written_leave_the_earlier_ones(
    program: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, failing: int
) -> None:
    explore(options(program, tmp_path, budget=5, best=5))
    before = tree(tmp_path)
    calls = []
    write = deliver_module.write_whole

    def full(path: Path, data: str) -> None:
        calls.append(path)
        if len(calls) == failing:
            raise OSError(errno.ENOSPC, "No space left on device", str(path))
        write(path, data)

    monkeypatch.setattr(deliver_module, "write_whole", full)
    monkeypatch.setattr("dse.formats.xml_reading.write_whole", full)
    with pytest.raises(ExecutionError, match=rf"cannot write the results '{tmp_path}/[a-z].*No space left"):
        explore(options(program, tmp_path, budget=30, best=4, resume=True))
    after = tree(tmp_path)
    del before[STORE_NAME], after[STORE_NAME]
    assert after == before
    assert not [path for path in tmp_path.iterdir() if path.name.startswith(TEMPORARY)]


def test_a_delivery_that_is_killed_leaves_no_ranking_without_its_files(
    program: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whatever the instant: with a ``ranking.json``, all mapping files are those of that ranking."""
    explore(options(program, tmp_path / "new", budget=30, best=4))
    explore(options(program, tmp_path / "old", budget=5, best=5))
    new, old = tree(tmp_path / "new"), tree(tmp_path / "old")
    for store in (new, old):
        store.pop(STORE_NAME)
        store.pop("manifest.json")  # has the budget
        store.pop("report.html")  # has times
    put = deliver_module.put_in_place

    class Killed(BaseException):
        pass

    steps = 8
    for instant in range(steps + 1):
        out = tmp_path / f"out-{instant}"
        shutil.copytree(tmp_path / "old", out)
        calls = []

        def kill(stage: Path, folder: Path, name: str, calls: list[str] = calls, instant: int = instant) -> None:
            calls.append(name)
            if len(calls) > instant:
                raise Killed
            put(stage, folder, name)

        monkeypatch.setattr(deliver_module, "put_in_place", kill)
        if instant < steps:
            with pytest.raises(Killed):
                explore(options(program, out, budget=30, best=4, resume=True))
        else:
            explore(options(program, out, budget=30, best=4, resume=True))
        found = {name: data for name, data in tree(out).items() if name in new or name in old}
        assert json.loads(found["ranking.json"]) if instant == steps else "ranking.json" not in found
        assert found == new if instant == steps else True
