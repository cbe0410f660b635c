"""Our applications and the golden networks in both executions, built with sanitizers too.

Our applications are always built with both kinds of sanitizers. The rest runs in ``make test-full`` (DSE_NATIVE_CASES)
only: building it takes minutes.
"""

from dataclasses import replace
from pathlib import Path

import pytest

from dse.frontend.network.elaborate import load_network
from dse.native.build import BuildOptions
from dse.program.network import Network
from dse.run.execution import RunResult, run_network
from dse.run.options import RunOptions
from tests.golden.acceptance import NETWORKS, Acceptance, Missing, corpus, prepare, run_case
from tests.native.same.batches import CASES
from tests.native.same.comparing import (
    ADDRESS,
    PLAIN,
    THREAD,
    built,
    compared,
    compiler,
    differences,
    illegal_on_two_threads,
    sanitizes,
)

pytestmark = pytest.mark.skipif(compiler() is None, reason="there is no C++ compiler")
ACTORS = Path(__file__).parents[3] / "actors"
NAMES = ("pingpong", "matrix", "smith_waterman", "jpeg")
ALONE = [pytest.param(name, ADDRESS, id=f"{name}-sanitized") for name in NAMES]
MORE = [pytest.param(name, PLAIN, id=f"{name}-plain") for name in NAMES]
BUILDS = [pytest.param(PLAIN, id="plain"), pytest.param(ADDRESS, id="sanitized")]


@pytest.mark.parametrize(("name", "build"), [*ALONE, *(MORE if CASES else [])])
def test_an_application_does_the_same(name: str, build: BuildOptions, tmp_path: Path) -> None:
    if not sanitizes(build):
        pytest.skip("this compiler has no sanitizers")
    options = RunOptions(input=input_of(name), output="out.yuv", hash_channels=True)
    assert compared(built(application(name), build), options, tmp_path) == []


@pytest.mark.parametrize("name", NAMES)
def test_an_application_on_two_threads_does_what_is_legal(name: str, tmp_path: Path) -> None:
    if not sanitizes(THREAD):
        pytest.skip("this compiler has no sanitizers")
    options = RunOptions(input=input_of(name), output=str(tmp_path / "out.yuv"), hash_channels=True)
    assert illegal_on_two_threads(application(name), options, tmp_path) == []


def application(name: str) -> Network:
    return load_network(str(ACTORS / name / f"{name}.xdf")).network


def input_of(name: str) -> str | None:
    named = ACTORS / name / "input.default"
    return str(ACTORS / name / named.read_text().split()[0]) if named.is_file() else None


BUILT_SELDOM = pytest.mark.skipif(not CASES, reason="golden networks are built in make test-full (DSE_NATIVE_CASES)")
GOLDEN = pytest.mark.parametrize("case", [pytest.param(c, id=c.name) for c in NETWORKS])


@BUILT_SELDOM
@GOLDEN
@pytest.mark.parametrize("build", BUILDS)
def test_a_golden_network_gives_its_record_natively(case: Acceptance, build: BuildOptions, tmp_path: Path) -> None:
    if not sanitizes(build):
        pytest.skip("this compiler has no sanitizers")

    def natively(network: Network, options: RunOptions) -> RunResult:
        python = run_network(network, options)
        result = built(network, build).run(options)
        assert isinstance(result, RunResult), result
        assert differences(python, result) == []
        return result

    try:
        _, found = run_case(case, corpus(), tmp_path, natively)
    except Missing as missing:
        pytest.skip(str(missing))
    assert not found, "\n".join(found[:10])


@BUILT_SELDOM
@GOLDEN
def test_a_golden_network_on_two_threads_does_what_is_legal(case: Acceptance, tmp_path: Path) -> None:
    if not sanitizes(THREAD):
        pytest.skip("this compiler has no sanitizers")
    try:
        network, options = prepare(case, corpus(), tmp_path)
    except Missing as missing:
        pytest.skip(str(missing))
    assert illegal_on_two_threads(network, replace(options, hash_channels=True), tmp_path) == []
