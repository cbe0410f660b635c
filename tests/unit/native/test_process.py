"""A program that runs: its output, its progress, its end, and how it is ended."""

import os
import signal
import sys
import threading
import time

import pytest

from dse.base.errors import ExecutionError
from dse.native import process
from dse.native.process import Listeners, run_program


def python(code: str) -> list[str]:
    return [sys.executable, "-S", "-c", code]


def test_output_errors_and_code() -> None:
    heard: list[str] = []
    code = "import sys; print('out \\u00e4'); print('err', file=sys.stderr); sys.exit(3)"
    ended = run_program(python(code), listeners=Listeners(output=heard.append))
    assert (ended.code, ended.output, ended.errors, ended.crash) == (3, "out ä\n", "err\n", None)
    assert "".join(heard) == "out ä\n"


def test_characters_that_come_in_two_pieces() -> None:
    code = "import os, time\nfor b in '\\u00e4'.encode():\n os.write(1, bytes([b])); time.sleep(.05)"
    assert run_program(python(code)).output == "ä"


def test_progress() -> None:
    heard: list[int] = []
    code = "import os, sys; os.write(int(sys.argv[2]), b'12\\n345\\n6')"
    ended = run_program(python(code), listeners=Listeners(progress=heard.append), progress_option="--progress")
    assert (ended.code, heard) == (0, [345])


def test_long_output_of_both_streams_blocks_nobody() -> None:
    code = "import os\nfor _ in range(30):\n os.write(1, b'x' * 10000); os.write(2, b'y' * 100000)"
    ended = run_program(python(code))
    assert (len(ended.output), ended.code) == (300_000, 0)
    assert 1_000_000 < len(ended.errors) <= 1 << 20


def test_a_crash_has_the_name_of_its_signal() -> None:
    assert run_program(python("import os, signal; os.kill(os.getpid(), signal.SIGSEGV)")).crash == "SIGSEGV"
    said = "import sys; sys.stderr.write(\"crash: SIGFPE in 'a'\\n\"); sys.exit(136)"
    assert run_program(python(said)).crash == "SIGFPE in 'a'"


def test_a_time_limit_ends_it() -> None:
    started = time.monotonic()
    with pytest.raises(ExecutionError, match=r"has not ended after 0\.3 s"):
        run_program(python("import time; time.sleep(60)"), time_limit_s=0.3)
    assert time.monotonic() - started < 30


def test_a_time_limit_holds_when_the_streams_are_closed() -> None:
    with pytest.raises(ExecutionError, match=r"has not ended"):
        run_program(python("import os, time; os.close(1); os.close(2); time.sleep(60)"), time_limit_s=0.5)


TELLS = "import os, signal, time\nsignal.signal(signal.SIGUSR1, lambda *_: os.write(2, b'wrong\\nat work: {}\\n'))\n"


@pytest.mark.parametrize(
    ("told", "said"),
    [
        (
            "'a', act (1233 firings before), 'b ()' (0 firings before)",
            "in 'a', act (its firing 1,234 or one soon after), 'b ()' (its firing 1 or one soon after)",
        ),
        ("no actor", "; no actor was at work"),
    ],
)
def test_a_program_that_is_ended_says_where_it_is(told: str, said: str) -> None:
    code = TELLS.format(told.replace("'", "\\'")) + "print(1, flush=True)\nwhile True: time.sleep(0.01)"
    with pytest.raises(ExecutionError, match=r"has not ended after 2 s, with 0 firings at last; ") as caught:
        run_program(python(code), time_limit_s=2)
    assert said in str(caught.value)


def test_one_that_does_not_say_where_it_is_is_ended(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(process, "_TELLING_SECONDS", 0.2)
    code = "import signal, time\nsignal.signal(signal.SIGUSR1, signal.SIG_IGN)\ntime.sleep(60)"
    with pytest.raises(ExecutionError, match=r"has not ended after 2 s, with 0 firings at last(\n|$)"):
        run_program(python(code), time_limit_s=2)


def test_what_cannot_be_started() -> None:
    with pytest.raises(ExecutionError, match="cannot be started: No such file"):
        run_program(["/no/such/program"])


def test_a_listener_that_fails_ends_it() -> None:
    def fail(_text: str) -> None:
        raise RuntimeError("enough")

    started = time.monotonic()
    with pytest.raises(RuntimeError, match="enough"):
        run_program(python("import time; print(1, flush=True); time.sleep(60)"), listeners=Listeners(output=fail))
    assert time.monotonic() - started < 30


def test_an_interrupt_is_handed_on() -> None:
    code = "import signal, sys, time\nsignal.signal(signal.SIGINT, lambda *_: sys.exit(9))\nprint(1, flush=True)\n"
    started = time.monotonic()
    heard: list[str] = []

    def interrupt(text: str) -> None:
        if not heard:
            threading.Timer(0.2, lambda: os.kill(os.getpid(), signal.SIGINT)).start()
        heard.append(text)

    with pytest.raises(KeyboardInterrupt) as caught:
        run_program(python(code + "time.sleep(60)"), listeners=Listeners(output=interrupt))
    assert caught.value.__notes__ == ["the run had made 0 firings"]
    assert "".join(heard) == "1\n"
    assert time.monotonic() - started < 30
