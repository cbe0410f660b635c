"""Our applications and the golden networks in both executions, built with sanitizers too.

All but one run in ``make test-full`` (DSE_NATIVE_CASES) only: building them takes minutes.
"""

from pathlib import Path

import pytest

from dse.frontend.network.elaborate import load_network
from dse.native.build import BuildOptions
from dse.program.network import Network
from dse.run.execution import RunResult, run_network
from dse.run.options import RunOptions
from tests.golden.acceptance import NETWORKS, Acceptance, Missing, corpus, run_case
from tests.native.same.batches import CASES
from tests.native.same.comparing import ADDRESS, PLAIN, built, compared, compiler, differences, sanitizes

pytestmark = pytest.mark.skipif(compiler() is None, reason="there is no C++ compiler")
ACTORS = Path(__file__).parents[3] / "actors"
FIRST = [pytest.param("matrix", ADDRESS, id="matrix-sanitized")]
MORE = [
    pytest.param(name, build, id=f"{name}-{'sanitized' if build.sanitize else 'plain'}")
    for name in ("pingpong", "matrix", "smith_waterman", "jpeg")
    for build in (PLAIN, ADDRESS)
]
BUILDS = [pytest.param(PLAIN, id="plain"), pytest.param(ADDRESS, id="sanitized")]


@pytest.mark.parametrize(("name", "build"), MORE if CASES else FIRST)
def test_an_application_does_the_same(name: str, build: BuildOptions, tmp_path: Path) -> None:
    if not sanitizes(build):
        pytest.skip("this compiler has no sanitizers")
    named = ACTORS / name / "input.default"
    source = str(ACTORS / name / named.read_text().split()[0]) if named.is_file() else None
    of = built(load_network(str(ACTORS / name / f"{name}.xdf")).network, build)
    assert compared(of, RunOptions(input=source, output="out.yuv", hash_channels=True), tmp_path) == []


@pytest.mark.skipif(not CASES, reason="golden networks are built in make test-full (DSE_NATIVE_CASES)")
@pytest.mark.parametrize("build", BUILDS)
@pytest.mark.parametrize("case", [pytest.param(c, id=c.name) for c in NETWORKS])
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
