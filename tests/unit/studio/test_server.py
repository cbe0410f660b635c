"""Who is served: real sockets, and what other pages in a browser, other names and other programs would send."""

import asyncio
import contextlib
import json
import socket
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import pytest

from dse.base.errors import OptionError
from dse.studio import guard
from dse.studio.answers import Answer
from dse.studio.assets import read_assets
from dse.studio.server import ADDRESS, Listening, Pages, bound_socket, serving
from tests.unit.studio.conftest import in_a_loop

TOKEN = guard.new_token()


@dataclass
class Running:
    """A server in a thread, and what it was told."""

    port: int
    pages: Pages
    heard: list[str]
    call: Callable[[Callable[[], None]], None]

    def request(self, path: str = "/", method: str = "GET", **headers: str | None) -> tuple[int, dict[str, str], bytes]:
        """Return status, headers and body of an answer; a header None is left out."""
        given = {"Host": f"127.0.0.1:{self.port}", "Connection": "close"}
        given |= {name.replace("_", "-"): value for name, value in headers.items() if value is not None}
        if "Host" in headers and headers["Host"] is None:
            del given["Host"]
        lines = [f"{method} {path} HTTP/1.1", *(f"{name}: {value}" for name, value in given.items()), "", ""]
        return self.raw("\r\n".join(lines).encode("latin-1"))

    def raw(self, data: bytes) -> tuple[int, dict[str, str], bytes]:
        with socket.create_connection((ADDRESS, self.port), timeout=10) as connection:
            connection.sendall(data)
            connection.settimeout(10)
            return _read(connection)

    def socket_request(self, **headers: str | None) -> tuple[int, dict[str, str], bytes]:
        """Ask for a socket as a page of this server does, but for some headers."""
        base: dict[str, str | None] = {
            "Upgrade": "websocket",
            "Connection": "Upgrade",
            "Sec-WebSocket-Key": "AAAAAAAAAAAAAAAAAAAAAA==",
            "Sec-WebSocket-Version": "13",
            "Sec-WebSocket-Protocol": f"{guard.PROTOCOL}, {TOKEN}",
            "Origin": f"http://127.0.0.1:{self.port}",
        }
        return self.request("/live", **{**base, **{n.replace("_", "-"): v for n, v in headers.items()}})


def _read(connection: socket.socket) -> tuple[int, dict[str, str], bytes]:
    data = b""
    while b"\r\n\r\n" not in data:
        part = connection.recv(65536)
        if not part:
            break
        data += part
    head, _, body = data.partition(b"\r\n\r\n")
    lines = head.decode("latin-1").split("\r\n")
    headers = {name.lower(): value for name, value in (line.split(": ", 1) for line in lines[1:])}
    status = int(lines[0].split()[1])
    while len(body) < int(headers.get("content-length", "0")) and status != 101:
        body += connection.recv(65536)
    return status, headers, body


@pytest.fixture(scope="module")
def server() -> Iterator[Running]:
    sockets, port = bound_socket(0)
    pages, heard, ready = Pages(), list[str](), threading.Event()
    loops: list[asyncio.AbstractEventLoop] = []
    ends: list[asyncio.Event] = []

    def receive(text: str) -> Answer | None:
        heard.append(text)
        return Answer("error", json.dumps({"type": "error", "message": text}))

    async def serve() -> None:
        loops.append(asyncio.get_running_loop())
        ends.append(asyncio.Event())
        listening = Listening(
            port=port,
            token=TOKEN,
            assets=read_assets(),
            greeting=lambda: [Answer("hello", '{"type":"hello"}')],
            receive=receive,
        )
        async with serving(sockets, listening, pages):
            ready.set()
            await ends[0].wait()

    thread = threading.Thread(target=lambda: asyncio.run(serve()))
    thread.start()
    assert ready.wait(20)
    yield Running(port, pages, heard, lambda call: loops[0].call_soon_threadsafe(call))
    loops[0].call_soon_threadsafe(ends[0].set)
    thread.join(20)


def test_the_page_is_served_with_what_keeps_others_out(server: Running) -> None:
    status, headers, body = server.request()
    assert status == 200
    assert headers["content-type"].startswith("text/html")
    assert body.startswith(b"<!DOCTYPE html>")
    policy = headers["content-security-policy"]
    assert "default-src 'none'" in policy
    assert "unsafe" not in policy
    assert headers["x-frame-options"] == "DENY"
    assert headers["referrer-policy"] == "no-referrer"
    assert headers["x-content-type-options"] == "nosniff"
    assert headers["cross-origin-resource-policy"] == "same-origin"
    assert "access-control-allow-origin" not in headers
    assert "set-cookie" not in headers
    assert TOKEN.encode() not in body


@pytest.mark.parametrize("name", ["127.0.0.1", "localhost", "LOCALHOST"])
def test_names_of_this_machine_are_ours(server: Running, name: str) -> None:
    assert server.request(Host=f"{name}:{server.port}")[0] == 200


@pytest.mark.parametrize(
    "host",
    [
        "evil.example",
        "evil.example:{port}",
        "127.0.0.1",
        "127.0.0.1.evil.example:{port}",
        "127.0.0.1:1",
        "localhost.:1",
        "0",
    ],
)
@pytest.mark.parametrize("path", ["/", "/live", "/studio/index.html"])
def test_other_names_are_refused(server: Running, host: str, path: str) -> None:
    """DNS rebinding: a page of another name that resolves to this machine asks with its own name."""
    host = host.format(port=server.port)
    asking = server.socket_request if path == "/live" else lambda **given: server.request(path, **given)
    assert asking(Host=host)[0] == 403
    assert asking(Host=host, Origin=f"http://{host}")[0] == 403


def test_a_request_without_a_name_is_refused(server: Running) -> None:
    assert server.raw(b"GET / HTTP/1.0\r\n\r\n")[0] == 403
    assert server.raw(b"GET / HTTP/1.1\r\n\r\n")[0] == 400


@pytest.mark.parametrize(
    "origin",
    ["http://evil.example", "null", "https://127.0.0.1:{port}", "http://127.0.0.1:1", "http://127.0.0.1", "file://"],
)
def test_other_origins_are_refused(server: Running, origin: str) -> None:
    """Cross-site requests: another page in the same browser opens our socket, or posts."""
    origin = origin.format(port=server.port)
    assert server.socket_request(Origin=origin)[0] == 403
    assert server.request(Origin=origin)[0] == 403


@pytest.mark.parametrize("site", ["cross-site", "same-site"])
def test_sockets_that_a_browser_says_come_from_elsewhere_are_refused(server: Running, site: str) -> None:
    assert server.socket_request(Sec_Fetch_Site=site)[0] == 403
    assert server.socket_request(Sec_Fetch_Site="same-origin")[0] == 101
    assert server.request(Sec_Fetch_Site=site)[0] == 200  # a link leads here: the page is empty without its token


@pytest.mark.parametrize(
    "offered",
    [None, "", guard.PROTOCOL, f"{guard.PROTOCOL}, {'0' * 64}", TOKEN, f"{guard.PROTOCOL}, é"],
    ids=["nothing", "empty", "no token", "another token", "no protocol", "no ASCII"],  # a token differs in each process
)
def test_without_the_token_there_is_no_socket(server: Running, offered: str | None) -> None:
    assert server.socket_request(Sec_WebSocket_Protocol=offered)[0] == 403
    assert server.heard == []


def test_a_socket_does_not_give_the_token_away(server: Running) -> None:
    status, headers, _ = server.socket_request()
    assert status == 101
    assert headers["sec-websocket-protocol"] == guard.PROTOCOL


@pytest.mark.parametrize("method", ["POST", "PUT", "DELETE", "OPTIONS", "PATCH"])
def test_nothing_is_changed_by_a_request(server: Running, method: str) -> None:
    assert server.request(method=method, Content_Length="0")[0] == 405
    assert server.request("/live", method=method, Content_Length="0")[0] in (403, 405)


@pytest.mark.parametrize(
    "path",
    [
        "/nowhere",
        "/../pyproject.toml",
        "/studio/../../pyproject.toml",
        "/studio/%2e%2e/server.py",
        "//etc/passwd",
        "/studio/",
    ],
)
def test_only_the_files_of_the_page_are_served(server: Running, path: str) -> None:
    status, headers, body = server.request(path)
    assert status == 404
    assert headers["content-type"].startswith("text/plain")
    assert body == b"there is no such file\n"


def test_pages_hear_what_they_and_others_do(server: Running) -> None:
    from tornado.httpclient import HTTPRequest
    from tornado.websocket import WebSocketClientConnection, WebSocketClosedError, websocket_connect

    async def opened() -> WebSocketClientConnection:
        request = HTTPRequest(
            f"ws://127.0.0.1:{server.port}/live", headers={"Origin": f"http://127.0.0.1:{server.port}"}
        )
        return await websocket_connect(request, subprotocols=[guard.PROTOCOL, TOKEN])

    async def talk() -> None:
        first, second = await opened(), await opened()
        assert await first.read_message() == await second.read_message() == '{"type":"hello"}'
        await first.write_message("é" * 10)
        assert json.loads(str(await first.read_message()))["message"] == "é" * 10
        await second.write_message(b"\xff\xfe", binary=True)
        assert json.loads(str(await second.read_message()))["message"] == "\ufffd\ufffd"
        server.call(lambda: server.pages.send(Answer("state", '{"type":"state"}')))
        assert await first.read_message() == await second.read_message() == '{"type":"state"}'
        with contextlib.suppress(WebSocketClosedError):
            await first.write_message("x" * (5 << 20))  # longer than any message may be
        assert await first.read_message() is None
        second.close()

    in_a_loop(talk())
    server.heard.clear()


def test_a_slow_page_gets_the_newest_answer_of_a_kind(server: Running) -> None:
    from tornado.httpclient import HTTPRequest
    from tornado.websocket import websocket_connect

    long = "x" * 200_000

    async def read_slowly() -> list[str]:
        request = HTTPRequest(
            f"ws://127.0.0.1:{server.port}/live", headers={"Origin": f"http://127.0.0.1:{server.port}"}
        )
        page = await websocket_connect(request, subprotocols=[guard.PROTOCOL, TOKEN], max_message_size=1 << 20)
        await page.read_message()

        def send() -> None:
            for number in range(200):
                server.pages.send(Answer("estimate", f"{number} {long}"))

        server.call(send)
        found = []
        while not found or found[-1] != "199":
            found.append(str(await page.read_message()).split()[0])
        page.close()
        return found

    found = in_a_loop(read_slowly())
    assert len(found) < 20


def test_a_port_that_is_taken_is_said(server: Running) -> None:
    with pytest.raises(OptionError, match=f"cannot listen on port {server.port}"):
        bound_socket(server.port)


def test_only_the_loopback_interface_listens() -> None:
    sockets, _ = bound_socket(0)
    assert [one.getsockname()[0] for one in sockets] == ["127.0.0.1"]
    for one in sockets:
        one.close()


def test_tokens_are_long_and_new_each_time() -> None:
    tokens = {guard.new_token() for _ in range(100)}
    assert len(tokens) == 100
    assert all(len(token) == 64 for token in tokens)
