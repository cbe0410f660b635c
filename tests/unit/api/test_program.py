"""The Python API on a small network: load, estimate, compare, explore; what results show; what is refused."""

import dataclasses
import pickle
import xml.etree.ElementTree as ET
from fractions import Fraction
from pathlib import Path

import pytest

import dse
from dse.api import program as program_module
from dse.model.measurement import MeasuredPoint, StateTimes

ROOT = Path(__file__).resolve().parents[3]
PINGPONG = ROOT / "actors" / "pingpong" / "pingpong.xdf"
JPEG = ROOT / "actors" / "jpeg" / "jpeg.xdf"


@pytest.fixture(scope="module")
def p() -> dse.Program:
    return dse.load(JPEG, weights="nominal")


@pytest.fixture(scope="module")
def small() -> dse.Program:
    return dse.load(PINGPONG)


def two_parts(p: dse.Program) -> dict[str, list[str]]:
    names = list(p.actors)
    return {"P0": names[: len(names) // 2], "P1": names[len(names) // 2 :]}


def test_a_program_tells_what_it_is(p: dse.Program) -> None:
    assert p.name == "jpeg"
    assert len(p.actors) == len(p.trace.topology.actors)
    assert len(p.fifos) == len(p.trace.topology.buffers)
    assert any("nominal CPU weights" in text for text in p.assumed)
    assert len(repr(p)) < 150
    assert "jpeg" in repr(p)


def test_paths_of_either_kind_give_the_same(p: dse.Program) -> None:
    assert dse.load(str(JPEG), input=ROOT / "actors" / "jpeg" / "input.jpg").trace.digest == p.trace.digest


def test_every_way_to_say_a_mapping(p: dse.Program, tmp_path: Path) -> None:
    parts = two_parts(p)
    text = " ".join(f"{name}:{','.join(actors)}" for name, actors in parts.items())
    found = p.estimate(text)
    saved = found.save(tmp_path / "m.xcf")
    ways = (parts, found, found.point, saved, str(saved), found.mapping)
    assert [p.estimate(way).makespan for way in ways] == [found.makespan] * len(ways)
    assert p.estimate(saved, name="mine").name == "mine"
    alone = p.estimate()
    assert len(alone.partitions) == 1
    assert alone.makespan != found.makespan


def test_accounts_by_name_add_up(p: dse.Program) -> None:
    found = p.estimate(two_parts(p))
    assert tuple(found.actors) == p.actors
    assert tuple(found.fifos) == p.fifos
    for actor in found.actors.values():
        waits = actor.blocked_reading + actor.blocked_writing + actor.idle + actor.finished
        assert actor.busy + waits == found.makespan
    assert sum(a.firings for a in found.actors.values()) == p.trace.n_firings
    for name, partition in found.partitions.items():
        assert partition.name == name
        assert partition.core_time == found.makespan
    crossing = [f for f in found.fifos.values() if f.crosses]
    assert crossing
    assert all(found.actors[f.source].partition != found.actors[f.target].partition for f in crossing)
    assert found.actors.get("nobody") is None
    with pytest.raises(dse.UnknownName, match="no actor 'sorce'") as raised:
        found.actors["sorce"]
    assert "'source'" in raised.value.diagnostics[0].expected


def test_ticks_and_seconds(p: dse.Program) -> None:
    found = p.estimate()
    assert found.tick_unit == "ps"
    assert found.seconds == found.makespan / 10**12
    assert found.seconds_of(5 * 10**11) == 0.5
    ticks, seconds = found.actors.to_frame(), found.actors.to_frame(unit="seconds")
    assert list(ticks.index) == list(p.actors)
    assert ticks["busy"].sum() + ticks["idle"].sum() > 0
    assert seconds["processing"].iloc[0] == ticks["processing"].iloc[0] / 10**12
    assert (seconds["firings"] == ticks["firings"]).all()
    assert found.partitions.to_frame()["processing"].iloc[0] == found.partitions["P0"].ticks[2]
    assert found.fifos.to_frame()["tokens"].max() == max(f.tokens for f in found.fifos.values())
    with pytest.raises(dse.OptionError, match="unit of time"):
        found.actors.to_frame(unit="hours")  # type: ignore[arg-type]


def test_cycles_are_no_seconds(small: dse.Program) -> None:
    weights = small.weights
    compute = {key: dataclasses.replace(cost, frequency_mhz=None) for key, cost in weights.compute.items()}
    plain = dataclasses.replace(weights, compute=compute, scheduling={}, transfers={})
    plain = dataclasses.replace(plain, has_scheduling=False, has_transfers=False)
    found = dse.load(PINGPONG, weights=plain).estimate()
    assert (found.tick_unit, found.seconds) == ("cycles", None)
    with pytest.raises(dse.OptionError, match="cycles without a clock"):
        found.actors.to_frame(unit="seconds")


def test_sizes_of_fifos(p: dse.Program) -> None:
    first = p.fifos[0]
    assert set(p.estimate(buffers=1024).point.capacities) == {1024}
    named = p.estimate(buffers={first: 2048}).point
    assert named.capacities[0] == 2048
    assert named.capacities[1:] == p.estimate().point.capacities[1:]
    for bad, words in (({"nobody": 3}, "no FIFO 'nobody'"), ({first: 0}, "cannot hold 0"), (0, "holds nothing")):
        with pytest.raises(dse.OptionError, match=words):
            p.estimate(buffers=bad)


def test_a_mapping_can_be_pasted(p: dse.Program) -> None:
    """The text says all that is not usual: sizes, modes, policies."""
    told = p.estimate({"P0/round-robin": list(p.actors)}, buffers={p.fifos[0]: 4096}, transfers="parallel")
    assert p.estimate(told.mapping).point.digest() == told.point.digest()
    assert "buffers=" in told.mapping


def loop(tokens: int) -> dse.Trace:
    """A source that writes three tokens into one FIFO before it writes one into another, which is read first."""
    write = [dse.TraceAction(name=n, reads=(), writes=w) for n, w in (("a", (1, 0)), ("b", (0, 1)))]
    read = [dse.TraceAction(name=n, reads=r, writes=()) for n, r in (("a", (1, 0)), ("b", (0, 1)))]
    actors = (
        dse.TraceActor(name="s", class_name="S", inputs=(), outputs=("A", "B"), actions=tuple(write)),
        dse.TraceActor(name="t", class_name="T", inputs=("A", "B"), outputs=(), actions=tuple(read)),
    )
    fifos = [
        dse.TraceBuffer(source=0, source_port=k, target=1, target_port=k, token_bytes=1, token_bits=8, capacity=tokens)
        for k in range(2)
    ]
    topology = dse.Topology(name="loop", actors=actors, buffers=tuple(fifos))
    return dse.make_trace(topology, [[0, 0, 0, 1], [1, 0, 0, 0]])


def test_a_deadlock_is_a_result_not_an_error() -> None:
    p = dse.load(loop(8), missing_weights="zero")
    found = p.compare([{"P0": ["s"], "P1": ["t"]}], buffers=2)[0]
    assert found.time == "deadlock"
    assert any("s.A->t.A" in line for line in found.deadlock)
    assert found.row()["makespan"] is None
    assert "deadlock" in repr(found)
    assert "deadlock" in found._repr_html_()
    with pytest.raises(dse.DeadlockError):
        found.plot("timeline")
    assert not p.estimate({"P0": ["s"], "P1": ["t"]}).deadlock
    with pytest.raises(dse.DeadlockError, match="every mapping deadlocks"):
        p.explore(buffers=2)


def test_modes_and_clocks(small: dse.Program) -> None:
    slow, fast = (small.estimate(clocks={"cpu": mhz}) for mhz in (500, 1000))
    assert slow.makespan > fast.makespan
    assert {q.clock_mhz for q in slow.point.partitions} == {Fraction(500)}
    assert small.estimate(transfers="parallel").point.transfers == "parallel"
    with pytest.raises(dse.OptionError, match="unknown release 'never'"):
        small.estimate(release="never")  # type: ignore[arg-type]


def test_three_mappings_side_by_side(p: dse.Program) -> None:
    parts = two_parts(p)
    found = p.compare([None, parts, {"P0": list(p.actors)[:1], "P1": list(p.actors)[1:]}])
    assert len(found) == 3
    assert found.best.makespan == min(m.makespan for m in found)
    assert [m.makespan for m in found.sorted()] == sorted(m.makespan for m in found)
    assert list(found.to_frame()["makespan"]) == [m.makespan for m in found]
    assert found.plot().svg.count("<title>") >= 3
    ET.fromstring(found.plot().svg)
    assert isinstance(found[:2], dse.EstimatedMappings)
    assert "3 estimated mappings, best" in repr(found)
    each = {f"P{k}": [actor] for k, actor in enumerate(p.actors)}
    cpu = next(unit for unit in found[0].setting.platform.units if unit.kind == "cpu")
    said = [text for text in p.estimate(each).assumed if text.startswith("cores enough")]
    assert [text.endswith(f"takes {len(each)} of unit 'cpu', which has {cpu.cores}") for text in said] == [True] * (
        len(each) > cpu.cores
    )


def test_results_can_be_pickled(small: dse.Program) -> None:
    found = small.compare([None, {"P0": list(small.actors)}])
    again = pickle.loads(pickle.dumps(found))
    assert [m.row() for m in again] == [m.row() for m in found]
    assert again[0].plot("timeline").svg == found[0].plot("timeline").svg


def test_pictures(p: dse.Program, tmp_path: Path) -> None:
    found = p.estimate(two_parts(p))
    for kind in ("network", "partitions", "occupancy", "timeline"):
        picture = found.plot(kind)  # type: ignore[arg-type]
        ET.fromstring(picture.svg)
        assert len(repr(picture)) < 120
    with pytest.raises(dse.OptionError, match="pictures are SVG"):
        found.plot().save(tmp_path / "x.png")
    with pytest.raises(dse.OptionError, match="there are no mappings"):
        _ = p.compare([]).best
    assert found.plot().save(tmp_path / "x.svg").read_text() == found.plot()._repr_svg_()
    with pytest.raises(dse.OptionError, match="unknown picture 'netwrk'"):
        found.plot("netwrk")  # type: ignore[arg-type]
    with pytest.raises(dse.OptionError, match="cannot write the picture"):
        found.plot().save(tmp_path / "no" / "x.svg")


def test_what_a_notebook_shows(p: dse.Program) -> None:
    found = p.estimate(two_parts(p))
    page = found._repr_html_()
    assert page.count("<svg") == 2
    assert "assumed:" in page
    assert "<script" not in page
    for short in (found, found.actors, found.fifos, found.partitions):
        assert len(repr(short)) < 200
    assert "blocked reading" in found.actors._repr_html_()
    assert found.verdict in str(found)


def test_a_search(small: dse.Program, tmp_path: Path) -> None:
    x = small.explore(budget=40, partitions=2, workers=1)
    assert x.folder is None
    assert x.best.makespan == x.ranking[0].makespan
    assert x.bound.makespan <= x.best.makespan
    assert [m.rank for m in x.ranking[:3]] == [1, 2, 3]
    second, alone = x.ranking[1], small.estimate()
    assert second.gap == second.makespan / x.bound.makespan - 1
    assert second.speedup == alone.makespan / second.makespan
    assert x.ranking[-1].rank == len(x.ranking)
    assert small.estimate(x.ranking[1]).makespan == x.ranking[1].makespan
    table = x.to_frame()
    assert list(table["makespan"]) == [m.makespan for m in x.ranking]
    assert len(x.to_frame(2)) == 2
    ET.fromstring(x.plot().svg)
    assert "lower bound" in x.plot().svg
    assert "<table" in x._repr_html_()
    assert len(repr(x)) < 250
    assert str(x).count("\n") > 3
    assert len(repr(x.ranking[0])) < 200
    assert repr(x.found.study).startswith("<Study of")
    with pytest.raises(dse.OptionError, match="no trade-off"):
        x.plot_front()
    kept = small.explore(budget=40, partitions=2, workers=1, out=tmp_path / "kept")
    assert kept.folder == tmp_path / "kept"
    assert (tmp_path / "kept" / "best-01.xcf").is_file()
    again = small.explore(budget=40, partitions=2, workers=1, out=str(tmp_path / "kept"), resume=True)
    assert [m.digest for m in again.ranking] == [m.digest for m in x.ranking]


def test_a_search_ranks_under_drawn_weights(small: dse.Program) -> None:
    drawn = small.explore(budget=40, partitions=2, workers=1, robust=0.9, errors="50%", draws=64)
    assert drawn.robust is not None
    assert (drawn.robust.by, drawn.robust.draws) == (0.9, 64)
    rows = [ranked.drawn for ranked in drawn.ranking[: len(drawn.robust.rows)]]
    assert tuple(rows) == drawn.robust.rows
    assert "90 % within" in str(drawn)
    assert drawn.robust.sources[0] in drawn._repr_html_()
    assert drawn.ranking[0].row()["first"] == drawn.robust.rows[0].first


def test_a_search_of_two_objectives(small: dse.Program) -> None:
    x = small.explore(budget=40, objectives=["makespan", "partitions"], buffers=[64, 512], workers=1)
    assert x.front is not None
    assert [name for name, _ in x.ranking[0].values] == ["makespan", "partitions"]
    assert "partitions" in x.to_frame().columns
    if len(x.front.points) > 1:
        ET.fromstring(x.plot_front().svg)


def test_nothing_is_left_of_a_search(small: dse.Program, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    small.explore(budget=5, workers=1)
    assert list(tmp_path.iterdir()) == []
    with pytest.raises(dse.OptionError, match="nothing was kept"):
        small.explore(resume=True)


def test_an_interrupt_keeps_what_was_found(p: dse.Program) -> None:
    """As the user's Ctrl-C, which Python raises in the main thread wherever it is."""
    seen: list[int] = []

    def stop(report: dse.ProgressReport) -> None:
        seen.append(report.evaluations)
        if report.evaluations:
            raise KeyboardInterrupt

    x = p.explore(budget=5000, method="random", workers=1, progress=stop)
    assert x.stop == "interrupted"
    assert not x.complete
    assert 0 < x.study.evaluations < 5000
    assert len(x.ranking) > 0
    assert "interrupted" in repr(x)
    assert seen[-1] > 0


def test_a_listener_is_told(small: dse.Program) -> None:
    reports: list[dse.ProgressReport] = []
    small.explore(budget=20, workers=1, progress=reports.append)
    assert reports[-1].evaluations > 0
    assert reports[-1].best is not None
    assert reports[-1].most == 20
    assert "mappings, best" in str(reports[-1])


def test_objects_stand_for_files(small: dse.Program, tmp_path: Path) -> None:
    platform = dse.load_platform("default")
    quick = dataclasses.replace(platform.units[0], clock_mhz=Fraction(4000))
    other = dataclasses.replace(platform, name="quick", units=(quick, *platform.units[1:]))
    found = dse.load(small.trace, weights=small.weights, platform=other)
    assert found.network is None
    assert found.platform is other
    assert found.estimate().makespan == small.estimate().makespan  # weights have a clock of their own
    assert not any(text.startswith("platform ") for text in found.assumed)


def test_errors_name_the_place_and_the_remedy(tmp_path: Path, p: dse.Program) -> None:
    missing = tmp_path / "no.xdf"
    with pytest.raises(dse.FormatError) as raised:
        dse.load(missing)
    assert str(missing) in str(raised.value)
    assert "no such file" in str(raised.value)
    with pytest.raises(dse.FormatError, match="sorce"):
        p.estimate("P0:sorce P1:*")
    for wrong in ({"weights": ["nominal", "w"]}, {"missing_weights": "none"}, {"loops": 0}, {"execution": "fast"}):
        with pytest.raises(dse.OptionError):
            dse.load(PINGPONG, **wrong)  # type: ignore[arg-type]
    with pytest.raises(dse.OptionError, match="of this machine"):
        dse.load(PINGPONG, weights="measured", platform="default")


NETWORK = """<XDF name="top"><Instance id="s"><Class name="Source"/></Instance></XDF>"""
SOURCE = """actor Source () ==> int OUT :
  int n := 0;
  go: action ==> OUT:[n] guard n < 3 do n := n + 1; end
end
"""


def test_warnings_are_those_of_python(tmp_path: Path) -> None:
    """An output that leads nowhere."""
    (tmp_path / "top.xdf").write_text(NETWORK)
    (tmp_path / "Source.cal").write_text(SOURCE)
    with pytest.warns(dse.DseWarning, match="OUT") as found:
        dse.load(tmp_path / "top.xdf")
    assert str(tmp_path) in str(found[0].message)
    assert found[0].filename == __file__


def test_a_warning_of_a_mapping_names_who_gave_it(p: dse.Program, tmp_path: Path) -> None:
    """The file was changed by hand and is no longer what its digest says."""
    saved = p.estimate(two_parts(p)).save(tmp_path / "m.xcf")
    saved.write_text(saved.read_text().replace('scheduling="NON_PREEMPTIVE"', 'scheduling="ROUND_ROBIN"', 1))
    with pytest.warns(dse.DseWarning, match="digest") as found:
        p.estimate(saved)
    assert found[0].filename == __file__


def test_graphs_of_other_tools_are_programs() -> None:
    graph = ROOT / "tests" / "graphs" / "camera.xml"
    once, ten = dse.load(graph, iterations=1), dse.load(graph, iterations=10)
    assert ten.trace.n_firings == 10 * once.trace.n_firings
    assert ten.estimate().makespan > once.estimate().makespan
    with pytest.raises(dse.OptionError, match="iterations is 0"):
        dse.load(graph, iterations=0)


def test_fifos_are_sized(small: dse.Program, tmp_path: Path) -> None:
    mapping = {"P0": list(small.actors[:2]), "P1": list(small.actors[2:])}
    sized = small.size_buffers(mapping, tolerance=0.0)
    assert tuple(sized.sizes) == small.fifos
    assert small.estimate(mapping, buffers=sized.sizes).makespan == sized.makespan == sized.best.makespan
    assert small.estimate(mapping, buffers=sized.save(tmp_path / "x.bxdf")).makespan == sized.makespan
    least = small.size_buffers(mapping, method="minimal")
    assert list(sized.to_frame()["minimal"]) == list(least.sizes.values())
    assert sized.sizing.own is not None
    assert small.size_buffers().sizing.own is None
    assert "CopyTokensB.Out-&gt;Merger.In2" in sized._repr_html_()
    assert len(repr(sized)) < 150
    with pytest.raises(dse.OptionError, match="unknown way to size"):
        small.size_buffers(mapping, method="least")  # type: ignore[arg-type]


def test_what_cannot_be_measured_is_refused(small: dse.Program) -> None:
    with pytest.raises(dse.OptionError, match="a trace cannot be run"):
        dse.load(small.trace, weights=small.weights).measure()
    with pytest.raises(dse.OptionError, match="runs is 0"):
        small.measure(runs=0)
    with pytest.raises(dse.OptionError, match="only measured weights can be refined"):
        small.explore(refine=1)


def test_measured_times_stand_beside_estimates(small: dse.Program, monkeypatch: pytest.MonkeyPatch) -> None:
    times = StateTimes(state="near", median_ns=5e6, lower_ns=4e6, upper_ns=7e6, runs=3)
    found = (MeasuredPoint(times=(times,)), MeasuredPoint(skipped="it needs 9 cores"))
    asked = []

    def measured(_network: object, _platform: object, points: list[dse.DesignPoint], *more: object) -> object:
        asked.append(points)
        return found

    monkeypatch.setattr(program_module, "measure_points", measured)
    assert len(small.compare({"P0": list(small.actors)})) == len(small.compare(small.estimate())) == 1
    ran = small.measure([None, {"P0": list(small.actors)}])
    assert [point.digest() for point in asked[0]] == [m.point.digest() for m in ran]
    first, second = ran
    assert (first.seconds, second.seconds, second.missing) == (0.005, None, "it needs 9 cores")
    assert first.error == pytest.approx((first.estimated.seconds or 0) / 0.005 - 1)
    assert ran.best is first
    assert list(ran.to_frame()["runs"]) == [3, 0]
    assert "5.000 ms" in repr(first)
    assert "it needs 9 cores" in ran._repr_html_()
    with pytest.raises(dse.ExecutionError, match="none of the mappings ran"):
        _ = ran[1:].best


def test_a_study_file_is_written_where_files_can_say_it_all(small: dse.Program, tmp_path: Path) -> None:
    small.explore(budget=5, out=tmp_path / "files")
    assert (tmp_path / "files" / "study.yaml").exists()
    dse.load(PINGPONG, weights=small.weights).explore(budget=5, out=tmp_path / "objects")
    assert not (tmp_path / "objects" / "study.yaml").exists()


def test_nothing_is_a_table_too(small: dse.Program) -> None:
    assert len(small.compare([]).to_frame()) == 0


def test_progress_tells_the_gap() -> None:
    report = dse.ProgressReport(stage="searching", seconds=1.0, evaluations=7, best=150, bound=100, tick_unit="cycles")
    assert str(report) == "searching, 7 mappings, best 150 cycles (+50.0 % to bound), 1 s"
    assert dataclasses.replace(report, bound=None).gap is None


@pytest.mark.parametrize(
    "wrong", [{"budget": 2.5}, {"partitions": (1, 2, 3)}, {"partitions": ("1", "2")}, {"partitions": 2.5}]
)
def test_what_makes_no_search_is_refused(small: dse.Program, wrong: dict[str, object]) -> None:
    with pytest.raises(dse.OptionError, match=r"not understood|no range"):
        small.explore(**wrong)  # type: ignore[arg-type]


def test_graphs_of_other_tools_are_loaded() -> None:
    camera = ROOT / "tests" / "graphs" / "camera.xml"
    arm, dsp = (dse.load(camera, iterations=3, processor=of) for of in ("arm", {"cpu": "arm", "gpu": "dsp"}))
    assert {kind for _, _, kind in arm.weights.compute} == {"cpu"}
    assert {kind for _, _, kind in dsp.weights.compute} == {"cpu", "gpu"}
    with pytest.raises(dse.OptionError, match="has no graph 'other'"):
        dse.load(camera, graph="other")


def test_the_throughput_of_static_regions() -> None:
    camera = dse.load(str(ROOT / "tests" / "graphs" / "camera.xml"))
    (region,) = camera.throughput().regions
    assert (region.period, region.least_cores) == (200, 2)
    (front,) = camera.throughput(storage=400).regions
    assert front.storage is not None
    assert front.storage.points[-1].period == 200
    assert camera.throughput(buffers=8).regions[0].period > 200
    resampler = dse.load(str(ROOT / "tests" / "graphs" / "resampler.xml"))
    (exact,) = resampler.throughput(storage=400).regions
    assert exact.storage is not None
    assert [point.period for point in exact.storage.points] == [14, 13, 11]
    with pytest.raises(dse.OptionError, match="storage is 0"):
        camera.throughput(storage=0)
    with pytest.raises(dse.OptionError, match="holds nothing"):
        camera.throughput(buffers=0)
