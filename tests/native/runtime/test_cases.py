"""How runs end: faults, exits, sources without more, deadlocks and signals; and that a choice sees one moment."""

import signal
import subprocess
import time

import pytest

from tests.native.runtime.programs import TRIED, built, output_of

THREADS = ("1", "nonpreemptive", "roundrobin")
ON_TWO = THREADS[1:]


@pytest.mark.parametrize("variant", TRIED)
@pytest.mark.parametrize("threads", THREADS)
@pytest.mark.parametrize(
    ("case", "code", "expected"),
    [
        ("stream", 0, "quiescent 0 300000 300000 0"),
        ("deadlock", 0, "quiescent 0 8 0 0\ndeadlock in 0 of 8, needs 9"),
        ("fault", 1, "Writer.cal:7: in 'writer', both: division by zero"),
        ("exit", 0, "exit 7 5000"),
        ("source", 0, "quiescent 0 5000 5000 0"),
        ("memory", 1, "Writer.cal:7: in 'writer', both: the run needs more memory, after "),
        ("initial", 1, "Writer.cal:1: the initial values of 'writer' cannot be computed: division by zero"),
    ],
)
def test_ends(variant: str, threads: str, case: str, code: int, expected: str) -> None:
    text = output_of(built("run_cases.cpp", variant), case, threads, "8" if case == "deadlock" else "400", code=code)
    assert text.startswith(expected)


@pytest.mark.parametrize("threads", THREADS)
@pytest.mark.parametrize("sent", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_ends_a_run(threads: str, sent: signal.Signals) -> None:
    with subprocess.Popen([built("run_cases.cpp"), "endless", threads, "512"], stdout=subprocess.PIPE) as run:
        time.sleep(0.3)
        run.send_signal(sent)
        text, _ = run.communicate(timeout=30)
    assert run.returncode == 128 + sent
    assert text.decode().startswith("the run was in '" if threads == "1" else "the run was on 2 threads, after ")


@pytest.mark.parametrize("variant", TRIED)
@pytest.mark.parametrize("threads", ON_TWO)
def test_a_choice_sees_one_moment(variant: str, threads: str) -> None:
    """The writer writes both tokens while the reader stands between its two guards: the first one must hold later.

    An actor that reads the levels again between the guards, as this runtime does not, lets the wrong action fire.
    """
    program = built("run_cases.cpp", variant)
    assert output_of(program, "race", threads, "8") == "quiescent 0 1 1 0\n"
    assert output_of(program, "race_looking_again", threads, "8") == "quiescent 0 1 0 1\n"


@pytest.mark.parametrize("threads", ON_TWO)
@pytest.mark.parametrize("fifo_tokens", [16, 512, 4096])
def test_tokens_written_together_are_seen_together(threads: str, fifo_tokens: int) -> None:
    """Nobody forces the moment here: of 300,000 pairs none is ever seen in halves."""
    assert output_of(built("run_cases.cpp"), "stream", threads, str(fifo_tokens)) == "quiescent 0 300000 300000 0\n"


@pytest.mark.parametrize(
    ("fifo_tokens", "apart"), [(512, 1024), (500, 1024), (480, 512), (16, 64), (1 << 17, 1 << 18), (1 << 18, 1 << 18)]
)
def test_the_writer_of_a_full_fifo_stays_two_lines_off_the_reader(fifo_tokens: int, apart: int) -> None:
    """Tokens of four bytes: 32 of them are two lines. On one thread nobody takes a line from anybody.

    From one MiB on it does not, which would take twice the memory.
    """
    program = built("run_cases.cpp")
    power = 2 ** (fifo_tokens - 1).bit_length()
    assert output_of(program, "storage", "1", str(fifo_tokens)) == f"{power}\n"
    assert all(output_of(program, "storage", threads, str(fifo_tokens)) == f"{apart}\n" for threads in ON_TWO)


@pytest.mark.parametrize("variant", ["plain", "thread"])
@pytest.mark.parametrize("threads", ON_TWO)
def test_idle_firings_of_one_thread_do_not_end_a_run_in_which_another_still_works(variant: str, threads: str) -> None:
    """The reader fires without tokens for ever; the writer does so for a while, then writes in one long firing."""
    text = output_of(built("run_cases.cpp", variant), "late", threads, "400")
    assert text.startswith("livelock 0 40001 1 ")


@pytest.mark.parametrize("variant", TRIED)
def test_a_program_that_ends_itself_out_of_turn_is_a_wrong_order(variant: str) -> None:
    text = output_of(built("run_cases.cpp", variant), "quitter", "static", "400")
    assert text.startswith("quiescent 0 5 0 0\nthe static order of 'p0' cannot be followed: when it was the turn of 'r")


@pytest.mark.parametrize("threads", THREADS)
def test_what_the_progress_throws_ends_all_threads(threads: str) -> None:
    assert output_of(built("run_cases.cpp"), "endless", threads, "512", "deaf", code=1) == "nobody listens\n"
