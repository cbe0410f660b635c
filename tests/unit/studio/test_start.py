"""From the command line to a page: what is opened, what is taken up again, and what is wrong."""

import asyncio
import contextlib
import io
import json
import os
import signal
import socket
import stat
import subprocess
import sys
import webbrowser
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from dse.cli.browser import open_page
from dse.cli.main import main
from dse.flows.options import ProblemOptions
from dse.studio import guard
from dse.studio.start import StudioOptions, first_mapping, load
from tests.examples import in_full
from tests.unit.studio.conftest import PINGPONG, in_a_loop

PLAIN = ("--weights", "nominal", "--engine", "reference", "--no-browser")


def dse(*arguments: str) -> tuple[int, str]:
    """Return exit code and all output of a command."""
    output = io.StringIO()
    with contextlib.redirect_stdout(output), contextlib.redirect_stderr(output):
        try:
            code = main(list(arguments))
        except SystemExit as leaving:
            code = leaving.code if isinstance(leaving.code, int) else 1
    return code, output.getvalue()


def test_a_port_that_is_taken_is_said_before_anything_is_loaded(tmp_path: Path) -> None:
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        port = other.getsockname()[1]
        code, text = dse("studio", str(tmp_path / "nothing.xdf"), "--port", str(port), *PLAIN)
    assert code == 2
    assert f"cannot listen on port {port}" in text
    assert "leave out --port" in text


def test_a_trace_without_weights_is_an_error(tmp_path: Path) -> None:
    trace = str(tmp_path / "p.trace")
    assert dse("trace", str(PINGPONG), "--quiet", "-o", trace)[0] == 0
    code, text = dse("studio", trace, "--no-browser", "--quiet", "--out", str(tmp_path / "out"))
    assert code == 2
    assert "weights are needed" in text
    assert "Traceback" not in text


@contextlib.contextmanager
def running(*arguments: str) -> Iterator[tuple["subprocess.Popen[str]", dict[str, Any]]]:
    """A server of its own, and what it says when it is there."""
    command = [sys.executable, "-m", "dse", "studio", *arguments, "--json", "--quiet"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout is not None
            lines = [process.stdout.readline()]
            while lines[-1] not in ("}\n", ""):
                lines.append(process.stdout.readline())
            yield process, json.loads("".join(lines))
        finally:
            process.kill()


async def connected(address: str) -> Any:
    """Return a connection such as a page opens."""
    from tornado.httpclient import HTTPRequest
    from tornado.websocket import websocket_connect

    base, token = address.split("/#")
    request = HTTPRequest(base.replace("http", "ws") + "/live", headers={"Origin": base})
    return await websocket_connect(request, subprotocols=[guard.PROTOCOL, token])


def talk(address: str, *messages: dict[str, object]) -> dict[str, Any]:
    """Say something as a page does, and return the state that the server then tells."""

    async def talking() -> dict[str, Any]:
        page = await connected(address)

        async def state_from(revision: int) -> dict[str, Any]:
            while True:
                answer: dict[str, Any] = json.loads(str(await page.read_message()))
                if answer["type"] == "state" and answer["revision"] >= revision:
                    return answer

        first = await state_from(0)
        for message in messages:
            await page.write_message(json.dumps(message))
        return await state_from(first["revision"] + len(messages)) if messages else first

    return in_a_loop(talking())


def test_what_was_done_survives_a_kill(tmp_path: Path) -> None:
    arguments = (str(PINGPONG), *PLAIN, "--out", str(tmp_path))
    with running(*arguments) as (process, first):
        state = talk(first["address"], {"type": "move", "actor": 1, "unit": "cpu"}, {"type": "pin", "pinned": True})
        assert state["mapping"] == "P0:Prod,CopyTokensA,CopyTokensB,Merger P1:PingPong"
        process.send_signal(signal.SIGKILL)
        process.wait()
    with running(*arguments) as (process, second):
        assert second["address"] != first["address"]
        again = talk(second["address"])
        assert [again[key] for key in ("mapping", "undo", "pinned")] == [state["mapping"], 1, True]
        process.send_signal(signal.SIGINT)
        assert process.wait(timeout=20) == 130
        assert process.stderr is not None
        assert "Traceback" not in process.stderr.read()


async def working(address: str, count: int) -> Any:
    """Return a page whose server has the first of many messages behind it, and is busy with the others."""
    page = await connected(address)
    await page.read_message()
    for number in range(count):
        await page.write_message(json.dumps({"type": "move", "actor": 1, "unit": ["1", "cpu"][number % 2]}))
    await page.read_message()
    return page


@pytest.mark.parametrize(
    ("how", "code", "said"),
    [
        (signal.SIGINT, 130, "interrupted; finishing (interrupt again to end at once)\ninterrupted; "),
        *in_full((signal.SIGTERM, 143, "terminated; ")),
        *in_full((signal.SIGHUP, 129, "the terminal is closed; ")),
    ],
)
def test_a_signal_ends_a_server_at_work(how: signal.Signals, code: int, said: str, tmp_path: Path) -> None:
    """It came within a step of the loop, which told of tasks that were destroyed, with a traceback."""
    with running(str(PINGPONG), *PLAIN, "--out", str(tmp_path)) as (process, opened):

        async def disturbed() -> tuple[int, str]:
            assert await working(opened["address"], 300) is not None
            process.send_signal(how)
            _, errors = await asyncio.to_thread(process.communicate, timeout=20)
            return process.returncode, errors

        ended, errors = in_a_loop(disturbed())
    assert ended == code
    assert errors.startswith(said)
    assert len(errors.splitlines()) == said.count("\n") + 1, errors


class _Browser(webbrowser.BaseBrowser):
    """Keeps what it is asked to open."""

    opened: str | None = None

    def open(self, url: str, new: int = 0, autoraise: bool = True) -> bool:
        self.opened = url
        return True


def test_the_address_is_no_argument_of_the_browser(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    browser = _Browser()
    monkeypatch.setattr(webbrowser, "get", lambda: browser)
    assert open_page("http://127.0.0.1:1/#secret", tmp_path)
    while browser.opened is None:
        pass
    assert "secret" not in browser.opened
    (leading,) = tmp_path.iterdir()
    assert browser.opened == leading.as_uri()
    assert 'content="0;url=http://127.0.0.1:1/#secret"' in leading.read_text()
    if os.name == "posix":
        assert stat.S_IMODE(leading.stat().st_mode) == 0o600


def test_where_no_browser_is_nothing_is_opened(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def none() -> webbrowser.BaseBrowser:
        raise webbrowser.Error("could not locate runnable browser")

    monkeypatch.setattr(webbrowser, "get", none)
    assert not open_page("http://127.0.0.1:1/#secret", tmp_path)
    monkeypatch.setattr(webbrowser, "get", lambda: webbrowser.GenericBrowser("lynx"))  # it would take the terminal
    monkeypatch.delenv("BROWSER", raising=False)
    assert not open_page("http://127.0.0.1:1/#secret", tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_a_folder_of_results_opens_at_its_best_mapping(tmp_path: Path) -> None:
    explore = ("explore", str(PINGPONG), "--weights", "nominal", "--engine", "reference", "--budget", "20", "--quiet")
    assert dse(*explore, "--out", str(tmp_path))[0] == 0
    options = StudioOptions(problem=ProblemOptions(program=str(tmp_path)))
    search, setting = load(options, lambda _: None)
    assert (search.out, search.problem.engine) == (tmp_path, "reference")
    best = json.loads((tmp_path / "ranking.json").read_text())["ranking"][0]
    assert first_mapping(options, tmp_path, setting).digest() == best["digest"]
    given = StudioOptions(problem=options.problem, mapping="P0:*")
    assert len(first_mapping(given, tmp_path, setting).partitions) == 1
