"""What compilers of CUDA make of device code, where there is one: no warnings, system-scope order, what a kernel takes.

One architecture always, all of them in the full test.
"""

import re
from functools import cache
from pathlib import Path

import pytest

from dse.base.errors import BuildError, OptionError
from dse.frontend.network.elaborate import load_network
from dse.native.build import BuildOptions
from dse.native.cuda import (
    ARCHITECTURES,
    DeviceBuild,
    KernelResources,
    Nvcc,
    architectures_of,
    find_nvcc,
    libcuxx_folder,
    resources_in,
)
from dse.native.emission import EmissionOptions, emit
from dse.native.project import write_sources
from dse.native.toolchain import Compiler, call_tool
from dse.run.execution import RunResult
from dse.run.options import RunOptions
from tests.examples import IN_FULL
from tests.native.device.mixed import on_gpu, write_mapping
from tests.native.device.test_ends import TRIAL, WORK
from tests.native.same.batches import CASES
from tests.native.same.comparing import built, compiler

ROOTS = (str(Path(__file__).parents[3] / "actors"),)


@cache
def nvcc() -> Nvcc | None:
    try:
        return find_nvcc()
    except BuildError:
        return None


def wanted() -> tuple[int, ...]:
    """Return one architecture; in the full test ours and those that this nvcc knows besides."""
    found = nvcc()
    if not CASES or found is None:
        return ARCHITECTURES[:1]
    listed = re.findall(r"compute_(\d+)", call_tool((found.path, "--list-gpu-arch")).text)
    return tuple(sorted({*ARCHITECTURES, *map(int, listed)}))


def compiler_of_cuda() -> Nvcc:
    found = nvcc()
    if found is None:
        pytest.skip("there is no nvcc: neither on the path nor in the wheels of NVIDIA (pip install 'dse[cuda]')")
    return found


def compiled(folder: Path, file: str, *how: str) -> Path:
    """Compile the device code of the trial network, without a word of the compiler; return the file."""
    project = emit(load_network(str(TRIAL), source_paths=ROOTS).network, EmissionOptions(device=True)).project
    write_sources(project, folder, {})
    flags = ("-std=c++20", "--expt-relaxed-constexpr", "--fmad=false", "--Werror=all-warnings", "-I", "runtime")
    said = call_tool((compiler_of_cuda().path, *flags, *how, "src/device.cu", "-o", file), folder=folder)
    assert (said.code, said.text.strip()) == (0, "")
    return folder / file


def ptx_of(folder: Path, architecture: int, *more: str) -> str:
    """Return the PTX of the device code; ``more``: flags."""
    compiler_of_cuda()
    return compiled(folder, "device.ptx", *more, "-ptx", f"-arch=compute_{architecture}").read_text()


def sass_of(folder: Path, architecture: int, *more: str) -> str:
    """Return what the machine executes, by the disassembler beside nvcc; ``more``: flags."""
    disassembler = Path(compiler_of_cuda().path).with_name("nvdisasm")
    if not disassembler.is_file():
        pytest.skip("there is no nvdisasm beside nvcc (pip install nvidia-cuda-nvdisasm)")
    cubin = compiled(folder, "device.cubin", *more, "-cubin", f"-arch=sm_{architecture}")
    return call_tool((str(disassembler), "-c", str(cubin))).text


@pytest.mark.parametrize("architecture", wanted())
def test_words_across_the_link_have_system_scope_and_order(architecture: int, tmp_path: Path) -> None:
    ptx = ptx_of(tmp_path, architecture)
    assert re.search(r"ld\.acquire\.sys\.", ptx), "positions of the processor are read in order"
    assert re.search(r"st\.release\.sys\.", ptx), "tokens are there before their position"
    assert re.search(r"ld\.acquire\.gpu\.", ptx), "FIFOs in the memory of the GPU stay there"
    assert re.search(r"nanosleep", ptx)
    assert re.search(r"barrier(\.cta)?\.sync +0", ptx), "lanes meet their leader"
    assert not re.search(r"\bfma\.", ptx), "a network rounds operation by operation"


@IN_FULL
def test_a_profile_reads_the_clock_around_each_phase_of_each_firing(tmp_path: Path) -> None:
    """All programs read it and the timer of the card for its rate; the profiler's one does so in every firing too."""
    plain, timed = ptx_of(tmp_path, wanted()[0]), ptx_of(tmp_path, wanted()[0], "-DDSE_TIMED")
    assert all("%globaltimer" in text for text in (plain, timed))
    reads = [text.count("%clock64") for text in (plain, timed)]
    assert 0 < reads[0] < 20
    firings = 4  # of a firing: chosen, read, computed, written
    assert reads[1] - reads[0] > firings * 7  # actions of the network


def test_the_machine_code_keeps_the_clock_reads_and_the_order_across_the_link(tmp_path: Path) -> None:
    plain, timed = sass_of(tmp_path, 75), sass_of(tmp_path, 75, "-DDSE_TIMED")
    for text in (plain, timed):
        assert re.search(r"\bLD\S*\.STRONG\.SYS\b", text), "positions of the processor are read past the caches"
        assert re.search(r"\bST\S*\.STRONG\.SYS\b", text), "positions are written to where the processor sees them"
        assert re.search(r"\bMEMBAR\.\w+\.SYS\b", text), "tokens are there before their position"
        assert "SR_GLOBALTIMERLO" in text
        assert not re.search(r"\b[FD]FMA\b", text), "a network rounds operation by operation"
    assert timed.count("SR_CLOCKLO") > plain.count("SR_CLOCKLO") + 28, "four of each of seven actions"


SAID = """\
ptxas info    : 0 bytes gmem
ptxas info    : Compiling entry function '_Z10run_actorsP' for 'sm_75'
ptxas info    : Function properties for _Z10run_actorsP
    3472 bytes stack frame, 20 bytes spill stores, 12 bytes spill loads
ptxas info    : Used 96 registers, used 1 barriers, 3472 bytes cumulative stack size, 32 bytes smem, 360 bytes cmem[0]
ptxas info    : Function properties for _Z5other
    16 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads
"""


def test_what_ptxas_says_of_a_kernel_is_read() -> None:
    expected = KernelResources(architecture=75, registers=96, stack_bytes=3472, shared_bytes=32, spilled_bytes=32)
    assert resources_in(SAID) == (expected,)
    assert resources_in("no word of a kernel") == ()


def test_architectures_are_compiled_for_at_once() -> None:
    build = DeviceBuild(nvcc=Nvcc(path="nvcc"), architectures=(75, 80, 90))
    gpp = Compiler(command=("g++",))
    for jobs, threads in ((1, 1), (2, 2), (64, 4)):  # and PTX of the last
        command = build.nvcc_command(gpp, (), jobs)
        assert f"--threads={threads}" in command
        assert len([word for word in command if word.startswith("-gencode=")]) == 4


def test_architectures_are_numbers_from_75_on() -> None:
    assert architectures_of("86, sm_75,86") == (75, 86)
    for wrong in ("", "70", "sm_", "7.5", "75,x", "99999"):
        with pytest.raises(OptionError, match="no architecture of a GPU that dse builds for"):
            architectures_of(wrong)


def test_the_emulation_runs_with_the_atomics_of_libcuxx_too(tmp_path: Path) -> None:
    folder = libcuxx_folder()
    if folder is None or compiler() is None:
        pytest.skip("there are no headers of libcu++ (nvidia-cuda-cccl), or no C++ compiler")
    network = load_network(str(TRIAL), source_paths=ROOTS).network
    of = built(network, BuildOptions(jobs=1, device=DeviceBuild(atomics=folder)))
    source = tmp_path / "letters"
    source.write_text("abc")
    path = write_mapping(network, on_gpu(network, [WORK]), tmp_path / "gpu.xcf")
    native = of.run(RunOptions(input=str(source)), path)
    assert isinstance(native, RunResult)
    assert native.stdout == "97\n98\n99\n"
