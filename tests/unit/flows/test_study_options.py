"""Study files: what they say, that writing and reading them are inverse, and that what is wrong has its place."""

from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import get_args

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dse.base.errors import FormatError
from dse.base.limits import Limits, raised_limits
from dse.explore.evaluator import Budget
from dse.flows.cuda_request import request_here
from dse.flows.options import ClockRequest, ExploreOptions, GraphOptions, ProblemOptions
from dse.flows.study_options import StudyNotes, is_study_file, read_study_options, study_text
from dse.formats.xcf_write import XcfDialect
from dse.model.design_point import POLICIES
from dse.run.options import RunOptions
from tests.examples import examples

NOTHING = StudyNotes()
PLAIN = ExploreOptions(problem=ProblemOptions(program="n.xdf"))


def read_back(options: ExploreOptions, folder: Path, notes: StudyNotes = NOTHING) -> ExploreOptions:
    """Options from the file that is written of some, without where the file is."""
    path = folder / "study.yaml"
    path.write_text(study_text(options, folder, notes))
    return replace(read_study_options(str(path), trust=True), study_file=None)


NAMES = st.text(st.sampled_from("abNo01 _.é:,{}#'\"-"), min_size=1, max_size=9).filter(lambda t: t.strip() == t)
PATHS = NAMES.map(lambda name: f"x/{name}y")


@st.composite
def all_options(draw: st.DrawFn) -> ExploreOptions:
    """Options with everything that a study file knows."""
    maybe_count = st.none() | st.integers(1, 99)
    problem = ProblemOptions(
        program=draw(PATHS),
        input=draw(st.none() | PATHS),
        source_paths=tuple(draw(st.lists(PATHS, max_size=2))),
        weights=draw(st.just(()) | st.just(("nominal",)) | st.lists(PATHS, min_size=1, max_size=2).map(tuple)),
        missing_weights=draw(st.sampled_from(("error", "zero", "nominal"))),
        platform=draw(st.none() | st.just("big-little")),
        engine=draw(st.sampled_from(("compiled", "reference"))),
        gpu_capable=draw(st.none() | st.lists(NAMES, max_size=2).map(tuple)),
        graph=GraphOptions(
            graph=draw(st.none() | NAMES),
            iterations=draw(maybe_count),
            processors=draw(st.just(()) | st.just((("cpu", "arm: big"), ("gpu", "p")))),
        ),
        run=RunOptions(
            loops=draw(st.integers(1, 9)),
            frames=draw(maybe_count),
            max_firings=draw(maybe_count),
            max_memory_bytes=draw(st.none() | st.just(1 << 40)),
            execution=draw(st.sampled_from(("auto", "native", "python"))),
            allow_files=tuple(draw(st.lists(PATHS, max_size=2))),
            natives=draw(st.just(()) | st.just((("u.f", "x/n.cpp:f"), ("u.g", "module:g")))),
        ),
    )
    return ExploreOptions(
        problem=problem,
        partitions=draw(st.none() | st.just((2, 5))),
        pins=tuple((name, unit) for name, unit in draw(st.dictionaries(NAMES, NAMES, max_size=2)).items()),
        policies=tuple(draw(st.lists(st.sampled_from(POLICIES), min_size=1, max_size=3, unique=True))),
        policy_per_partition=draw(st.booleans()),
        buffers=tuple(draw(st.lists(st.sampled_from(("512", "7", "minimal", "x/sizes.bxdf")), max_size=3))),
        clocks=draw(
            st.just(()) | st.just((ClockRequest(names=("a", "b"), clocks_mhz=(Fraction(2000), Fraction(5, 2))),))
        ),
        release=draw(st.sampled_from(("reading", "processing"))),
        transfers=draw(st.sampled_from(("sequential", "parallel"))),
        method=draw(st.sampled_from(("auto", "tabu"))),
        objectives=tuple(draw(st.lists(st.sampled_from(("makespan", "throughput:a.Out")), min_size=1, unique=True))),
        budget=draw(
            st.none() | st.builds(Budget, evaluations=st.integers(1, 99), seconds=st.sampled_from((None, 1.5, 60.0)))
        ),
        seed=draw(st.integers(0, 9)),
        batch=draw(st.integers(1, 99)),
        screening=draw(st.booleans()),
        best=draw(st.integers(1, 9)),
        measure=draw(maybe_count),
        robust=draw(st.sampled_from((None, "mean", "95%"))),
        errors=tuple(draw(st.lists(st.sampled_from(("30%", "predicted=30%+10%")), max_size=2))),
        draws=draw(maybe_count),
        dialect=draw(st.sampled_from(get_args(XcfDialect))),
        cuda=draw(st.sampled_from((None, request_here(emulated=False), request_here(emulated=True)))),
        limits=draw(st.none() | st.builds(Limits, actors=st.integers(100_001, 999_999), c_tokens=st.just(1 << 30))),
    )  # fmt: skip


@settings(max_examples=examples(60), deadline=None)
@given(options=all_options())
def test_what_is_written_is_read(options: ExploreOptions, tmp_path_factory: pytest.TempPathFactory) -> None:
    folder = tmp_path_factory.mktemp("study")
    with pytest.MonkeyPatch.context() as patched:
        patched.chdir(folder)
        (folder / "out").mkdir()
        again = read_back(options, folder / "out")
    assert replace(again, workers=options.workers) == options


def test_paths_lead_from_the_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "deep" / "er").mkdir(parents=True)
    (tmp_path / "link").symlink_to(tmp_path / "deep" / "er")
    text = "network: ../n.xdf\nplatform: own.yaml\nweights: [nominal2, ./nominal]\nspace: {buffers: [64, s.bxdf]}\n"
    (tmp_path / "deep" / "er" / "s.yaml").write_text(text)
    monkeypatch.chdir(tmp_path / "deep")
    for path in ("er/s.yaml", str(tmp_path / "link" / "s.yaml")):
        options = read_study_options(path)
        assert options.problem.program == "n.xdf"
        assert options.problem.weights == ("er/nominal2", "er/nominal")
        assert options.problem.platform == "er/own.yaml"
        assert options.buffers == ("64", "er/s.bxdf")
    monkeypatch.chdir(tmp_path / "deep" / "er")
    assert read_study_options("s.yaml").problem.program == str(tmp_path / "deep" / "n.xdf")


def test_names_that_mean_something_else_are_told_apart(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "default").write_text("")
    odd = replace(PLAIN, problem=replace(PLAIN.problem, weights=("./nominal",), platform="default"), buffers=("./512",))
    text = study_text(odd, tmp_path, NOTHING)
    assert 'weights: "./nominal"' in text
    assert 'platform: "./default"' in text
    assert '"./512"' in text


def test_what_a_search_found_out_is_written(tmp_path: Path) -> None:
    counted = study_text(PLAIN, tmp_path, StudyNotes(counted=True))
    assert "weights: nominal" in counted
    assert "weights: {measured: .}" in study_text(PLAIN, tmp_path, StudyNotes(measured=True))
    timed = replace(PLAIN, budget=Budget(seconds=2.0))
    text = study_text(timed, tmp_path, StudyNotes(ended_after=17))
    assert "budget: {seconds: 2}" in text
    assert "'budget: {evaluations: 17}' gives these again" in text


def test_measured_weights_are_those_of_a_folder(tmp_path: Path) -> None:
    found = read_back(PLAIN, tmp_path, StudyNotes(measured=True))
    assert found.measured_in is not None
    assert found.measured_in.samefile(tmp_path)


WRONG = {
    "seed: 1": "1:1: error: the study has no 'network'",
    "network: n\nsede: 3": "2:1: error: unknown key 'sede' in a study",
    "network: n\nspace: {polici: [A]}": "unknown key 'polici' in space",
    "network: n\nspace: {policy: [FASTEST]}": "2:17: error: unknown policy 'FASTEST'",
    "network: n\nspace: {partitions: [1, 2, 3]}": "partitions is no range",
    "network: n\nspace: {partitions: [3, 2]}": "partitions is no range",
    "network: n\nspace: {clocks: {cpu: [0]}}": "2:23: error: clocks 'cpu=0': nothing runs at 0 MHz",
    "network: n\nbudget: {seconds: 0}": "2:19: error: seconds of budget is '0'",
    "network: n\nbudget: {evaluations: none}": "evaluations of budget is 'none'",
    "network: n\nseed: -1": "2:7: error: seed is '-1'",
    "network: n\nrun: {natives: {u.f: x.cpp:f}}": "2:16: error: this study binds natives to code",
    "network: n\nrun: {allow_files: [/]}": "this study opens folders to the network",
    "network: n\nlimits: {actors: 200000}": "2:9: error: this study raises limits",
    "network: n\nlimits: {actor: 2}": "unknown key 'actor' in limits",
    "network: n\ncuda: opencl": "2:7: error: cuda is 'opencl'",
    "network: n\ndialect: orcc": "2:10: error: dialect is 'orcc'",
    "network: n\nweights: [nominal, w]": "nominal weights stand alone",
    "network: n\nweights: {measured: .}\nplatform: default": "measured weights are of the platform",
    "network: n\nweights: {measured: .}\nrefine: 2": "weights that are kept are not refined",
    "network: n\nmissing_weights: maybe": "missing_weights is 'maybe'",
    "network: [n]": "network is a list",
    "- a": "a study is a list",
}


@pytest.mark.parametrize(("text", "message"), WRONG.items(), ids=lambda t: t.replace("\n", "; ")[:40])
def test_what_is_wrong_is_told_with_its_place(text: str, message: str, tmp_path: Path) -> None:
    path = tmp_path / "s.yaml"
    path.write_text(text)
    with pytest.raises(FormatError) as caught:
        read_study_options(str(path))
    found = caught.value.diagnostics[0]
    assert found.span is not None
    assert message in f"{found.span.line}:{found.span.column}: error: {found.message}"
    assert found.expected


def test_a_seed_of_zero_is_one(tmp_path: Path) -> None:
    path = tmp_path / "s.yaml"
    path.write_text("network: n\nseed: 0\nspace: {gpu_capable: auto, partitions: 3}\n")
    options = read_study_options(str(path))
    assert (options.seed, options.problem.gpu_capable, options.partitions) == (0, None, (1, 3))
    assert is_study_file(path, options.study_file)
    assert not is_study_file(tmp_path / "other", options.study_file)


def test_the_higher_limit_of_file_and_command_holds(tmp_path: Path) -> None:
    path = tmp_path / "s.yaml"
    path.write_text("network: n\nlimits: {actors: 200000, step-bytes: 8000000}\n")
    with raised_limits(Limits(actors=300_000)):
        assert read_study_options(str(path), trust=True).limits == Limits(actors=300_000, step_bytes=8_000_000)
        assert "limits:\n  actors: 300000\n" in study_text(PLAIN, tmp_path, NOTHING)
