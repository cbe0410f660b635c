"""How runs end: faults, exits, sources without more, deadlocks and signals; and that a choice sees one moment."""

import signal
import subprocess
import time

import pytest

from tests.native.runtime.programs import built, output_of

VARIANTS = ("plain", "thread", "address")
THREADS = ("1", "nonpreemptive", "roundrobin")
ON_TWO = THREADS[1:]


@pytest.mark.parametrize("variant", VARIANTS)
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


@pytest.mark.parametrize("variant", VARIANTS)
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
