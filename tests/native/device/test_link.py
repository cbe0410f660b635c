"""``dse gpu link``: tokens cross the link in the emulation, what is found of it becomes a platform; bad input."""

import json
import re
import subprocess
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import pytest

from dse.base.errors import ExecutionError
from dse.cli.main import main
from dse.flows.cuda_request import CudaRequest
from dse.flows.link import LinkOptions, measure_link_here
from dse.formats.platform_yaml import load_platform
from dse.measure import link_program
from dse.measure.gpu_times import GpuClock
from dse.measure.link import LinkFigures, LinkPlan, measure_link
from dse.measure.link_program import LinkCase, LinkEnds, LinkProgram, LinkRow, LinkRun, build_link_program
from dse.native.cuda import DeviceBuild
from dse.native.toolchain import call_tool, find_compiler
from tests.native.device.test_code import nvcc, wanted
from tests.native.same.batches import CASES
from tests.native.same.comparing import compiler
from tests.native.shared import RUNTIME

needs_compiler = pytest.mark.skipif(compiler() is None, reason="there is no C++ compiler")
PROBE = Path(link_program.__file__).parent / "probe"


@pytest.fixture(autouse=True, scope="module")
def _own_atomics() -> Iterator[None]:
    """Those of libcu++ take seconds to compile; another test has them."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("dse.flows.build.libcuxx_folder", lambda: None)
        patch.setattr("dse.flows.link._TRIPS_EMULATED", 20)
        patch.setattr("dse.flows.link._TOKENS_EMULATED", 400)
        yield


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> LinkProgram:
    return build_link_program(find_compiler(), DeviceBuild(), tmp_path_factory.mktemp("link"))


def case(word: str) -> LinkCase:
    """Return a case as the program takes it: way, FIFOs, capacity, block, bytes of a token, blocks."""
    way, *numbers = word.split(",")
    fifos, capacity, block, size, blocks = map(int, numbers)
    return LinkCase(
        way=way,  # type: ignore[arg-type]
        fifos=fifos,
        capacity_tokens=capacity,
        block_tokens=block,
        token_bytes=size,
        blocks=blocks,
    )


@needs_compiler
def test_every_token_arrives_in_every_way(program: LinkProgram) -> None:
    words = ("echo,1,4,1,4,30", "to-gpu,3,64,16,8,40", "from-gpu,1,5,5,1,20", "both,2,32,7,2,30", "echo,2,8,3,1,9")
    run = program.measure([case(word) for word in words])
    assert run.emulated
    assert run.card == "emulated GPU, compute capability 7.5"
    known = [
        [end for end in ("cpu_writes", "gpu_reads", "gpu_writes", "cpu_reads") if getattr(r.ends, end)]
        for r in run.rows
    ]
    assert [tuple(ends) for ends in known[1:4]] == [
        ("cpu_writes", "gpu_reads"),
        ("gpu_writes", "cpu_reads"),
        ("cpu_writes", "gpu_reads", "gpu_writes", "cpu_reads"),
    ]
    assert all(row.all_ns > 0 and row.clock.mhz == pytest.approx(2000, rel=0.1) for row in run.rows)


@needs_compiler
@pytest.mark.parametrize(
    ("setting", "said"),
    [
        ("DSE_EMULATED_GPUS=0", "there is none that CUDA can use"),
        ("DSE_EMULATED_MEMORY=1000", "there is too little pinned memory"),
        ("DSE_EMULATED_BLOCKS=1", "has room for 1 ends of FIFOs at once, not for 2"),
        ("DSE_EMULATED_FAILURE=cudaLaunchCooperativeKernel", "the kernel cannot be started"),
        ("DSE_EMULATED_FAILURE=cudaFuncGetAttributes", "for which the program was not built"),
        ("DSE_EMULATED_FAILURE=cudaStreamQuery", "the kernel failed"),
    ],
)
def test_what_a_card_lacks_is_said(
    setting: str, said: str, program: LinkProgram, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(*setting.split("="))
    with pytest.raises(ExecutionError, match=said):
        program.measure([case("to-gpu,2,64,16,8,4")])


@needs_compiler
@pytest.mark.parametrize("words", [(), ("up,1,4,1,4,3",), ("echo,1,4,5,4,3",), ("echo,1,4,1,3,3",), ("echo,1,4,1,4",)])
def test_the_program_takes_cases_only(words: tuple[str, ...], program: LinkProgram) -> None:
    said = subprocess.run([program._app, *words], capture_output=True, text=True, check=False)
    assert (said.returncode, said.stdout) == (2, "")
    assert "usage: link WAY,FIFOS" in said.stderr


@needs_compiler
def test_the_command_writes_a_platform_that_estimates_take(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = tmp_path / "here.yaml"
    options = ("--cuda", "emulated", "--fifos", "2", "--fifo-size", "64", "-o", str(out))
    out.write_text("of an earlier measurement")
    assert main(["gpu", "link", *options, "--platform", "desktop-gtx1660s", "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert told["emulated"]
    assert set(told["slower_by_fifos"]) == {"1", "2"}
    before, after = load_platform("desktop-gtx1660s"), load_platform(str(out))
    link = after.links[-1]
    assert (after.units, len(after.links)) == (before.units, len(before.links))
    assert (link.emulated, link.shared, link.directions) == (True, told["shared"], told["directions"])
    assert float(link.latency_ns) == told["latency_ns"]
    network = str(Path(__file__).parents[3] / "actors" / "pingpong" / "pingpong.xdf")
    given = ["estimate", network, "--platform", str(out), "--mapping", "P0:*"]
    assert main([*given, "--weights", "nominal", "--json"]) == 0
    assert f"link '{link.name}' of an emulated GPU, a rehearsal" in capsys.readouterr().out
    weights = tmp_path / "weights"
    assert main(["weights", "nominal", network, "-o", str(weights)]) == 0
    for file in weights.glob("*.?xdf"):
        file.write_text(file.read_text().replace('origin="nominal"', 'origin="measured"'))
    assert main([*given, "--weights", str(weights)]) == 2
    assert f"link '{link.name}' of the platform is that of an emulated GPU" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (("--fifos", "0"), "--fifos is 0"),
        (("--fifo-size", "1"), "--fifo-size is 1"),
        (("-o", "nowhere/here.yaml"), "'nowhere/here.yaml' cannot be a file"),
        (("-o", "here.txt"), "'here.txt' is no name of a platform file"),
        (("--platform", "big-little"), "has no GPU"),
        (("--cuda-arch", "80"), "--cuda-arch is for --cuda with nvcc"),
    ],
)
def test_options_that_make_no_sense(options: tuple[str, ...], said: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["gpu", "link", "--cuda", "emulated", *options]) == 2
    assert said in capsys.readouterr().err


def ideal(cases: Sequence[LinkCase], *, mhz: float = 1500.0, servers: int = 1, directions: int = 2) -> LinkRun:
    """Return what a link would tell at whose ends a block takes 300 ns and half a nanosecond a byte."""
    rows = []
    for one in cases:
        took = 300.0 + 0.5 * one.block_bytes
        at_once = max(1.0, one.fifos / servers) * (2 / directions if one.way == "both" else 1)
        ends = LinkEnds(
            cpu_writes=1900.0 if one.way == "echo" else took,
            gpu_reads=took if one.way in ("to-gpu", "both") else None,
            gpu_writes=took if one.way in ("from-gpu", "both") else None,
            cpu_reads=took if one.way in ("from-gpu", "both") else None,
        )
        clock = GpuClock(mhz=mhz, least_mhz=mhz, most_mhz=mhz)
        rows.append(LinkRow(case=one, all_ns=round(took * one.blocks * at_once), ends=ends, clock=clock))
    return LinkRun(card="a card", emulated=False, rows=tuple(rows))


PLAN = LinkPlan(capacity_tokens=512, fifos=(1, 2, 4), trips=10, tokens=1000)


@pytest.mark.parametrize(("servers", "directions", "shared"), [(1, 2, True), (4, 1, False)])
def test_the_numbers_of_an_ideal_link_are_found(servers: int, directions: int, shared: bool) -> None:
    found = measure_link(lambda cases: ideal(cases, servers=servers, directions=directions), PLAN)
    assert found.trip_ns == 1900
    assert found.latency_ns == pytest.approx(300)
    assert found.bandwidth_gb_s == pytest.approx(2)
    assert found.directions == directions
    assert found.shared(4) == shared
    assert not found.shared(1), "one core serves one FIFO at a time: that says nothing of the link"
    link = found.link("pcie", ("cpu", "gpu"), 4)
    assert (float(link.latency_ns), float(link.bandwidth_gb_s or 0), link.emulated) == (300.0, 2.0, False)
    assert link.source.startswith("measured by dse gpu link on a card: a token there and back takes 1900 ns")


@needs_compiler
def test_a_link_between_other_units_stays(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("dse.flows.link.build_link_program", lambda *_: SimpleNamespace(measure=ideal))
    units = "units:\n  cpu: {kind: cpu, cores: 4, clock_mhz: 2900}\n  one: {kind: gpu, clock_mhz: 1800}\n"
    other = "  host: {between: [cpu, two], latency_ns: 7, bandwidth_gb_s: 12, shared: true, directions: 1}\n"
    path = tmp_path / "two.yaml"
    path.write_text(f"name: two\n{units}  two: {{kind: gpu, clock_mhz: 1800}}\nlinks:\n{other}")
    options = LinkOptions(cuda=CudaRequest(emulated=True), platform=str(path), output=str(tmp_path / "out.yaml"))
    for _ in range(2):
        measure_link_here(options)
        options = replace(options, platform=options.output)
    links = load_platform(str(tmp_path / "out.yaml")).links
    assert [(link.name, *link.between) for link in links] == [("host", "cpu", "two"), ("host_2", "cpu", "one")]


def test_cases_in_which_the_clock_moved_are_measured_again() -> None:
    asked: list[int] = []

    def moving(cases: Sequence[LinkCase]) -> LinkRun:
        asked.append(len(cases))
        run = ideal(cases)
        if len(asked) == 2:
            slow = GpuClock(mhz=1400, least_mhz=1400, most_mhz=1400)
            return replace(run, rows=(replace(run.rows[0], clock=slow), *run.rows[1:]))
        return run

    found: LinkFigures = measure_link(moving, PLAN)
    assert asked == [1, 32, 1, 9]
    assert found.moved == 0


@pytest.mark.skipif(not CASES, reason="DSE_NATIVE_CASES is not set: make test-full does")
@pytest.mark.parametrize("architecture", wanted())
def test_nvcc_takes_the_device_code_for_every_card(architecture: int, tmp_path: Path) -> None:
    found = nvcc()
    if found is None:
        pytest.skip("there is no nvcc: neither on the path nor in the wheels of NVIDIA (pip install 'dse[cuda]')")
    flags = ("-std=c++20", "--expt-relaxed-constexpr", "--fmad=false", "--Werror=all-warnings", "-I", str(RUNTIME))
    (tmp_path / "probe").symlink_to(PROBE)
    target = ("-ptx", f"-arch=compute_{architecture}", str(PROBE / "link.cu"), "-o", "link.ptx")
    said = call_tool((found.path, *flags, "-I", str(tmp_path), *target), folder=tmp_path)
    assert (said.code, said.text.strip()) == (0, "")
    ptx = (tmp_path / "link.ptx").read_text()
    assert re.search(r"ld\.acquire\.sys\.", ptx)
    assert re.search(r"st\.release\.sys\.", ptx)
    assert "%clock64" in ptx
