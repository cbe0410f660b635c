"""The server: the files of the page, and one socket for each page that is open. On the loopback interface alone.

The library is Tornado: one package without others behind it, with HTTP and WebSocket, that Jupyter serves its pages
with on the same interface. Of the kept ones aiohttp brings seven packages, Starlette needs uvicorn and websockets.
"""

import asyncio
import contextlib
import socket
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import tornado.httpserver
import tornado.netutil
import tornado.web
import tornado.websocket

from dse.base.errors import OptionError
from dse.studio import guard
from dse.studio.answers import LASTING, Answer
from dse.studio.assets import Asset
from dse.studio.messages import LONGEST_MESSAGE

ADDRESS = "127.0.0.1"
_PING_SECONDS = 20
_MOST_PAGES = 32


@dataclass(frozen=True, slots=True, kw_only=True)
class Listening:
    """Whom a server serves. ``greeting``: what a new page is told; ``receive``: takes what one says, and may answer."""

    port: int
    token: str
    assets: Mapping[str, Asset]
    greeting: Callable[[], list[Answer]]
    receive: Callable[[str], Answer | None]


class Pages:
    """The pages that are open."""

    def __init__(self) -> None:
        self.all: set[Live] = set()

    def send(self, answer: Answer) -> None:
        """Send an answer to each page."""
        for page in list(self.all):
            page.send(answer)


class _Guarded(tornado.web.RequestHandler):
    """Refuses what does not come from a page of this server."""

    def initialize(self, listening: Listening) -> None:
        """Take what all handlers share."""
        self.listening = listening

    def set_default_headers(self) -> None:
        """Give each answer the headers that keep others out."""
        self.clear_header("Server")
        for name, value in self.settings["guard_headers"]:
            self.set_header(name, value)

    def refused(self, *, site: bool) -> bool:
        """Refuse the request where it has to be; ``site``: also where a browser says that it comes from elsewhere."""
        headers = self.request.headers
        fetched = headers.get("Sec-Fetch-Site") if site else None
        reason = guard.refusal(headers.get("Host"), headers.get("Origin"), fetched, self.listening.port)
        if reason is None:
            return False
        self.tell(403, reason)
        return True

    def tell(self, status: int, text: str) -> None:
        """Answer with a line of text."""
        self.set_status(status)
        self.set_header("Content-Type", "text/plain; charset=utf-8")
        self.finish(f"{text}\n")

    def write_error(self, status_code: int, **_: Any) -> None:
        """Say no more than what the status says."""
        self.tell(status_code, self._reason)


class Files(_Guarded):
    """The files of the page. They hold no secret: a page without the token is empty."""

    def prepare(self) -> None:
        """Look at who asks; a link or a bookmark may lead here from anywhere."""
        self.refused(site=False)

    def get(self) -> None:
        """Answer with a file."""
        asset = self.listening.assets.get(self.request.path)
        if asset is None:
            self.tell(404, "there is no such file")
            return
        self.set_header("Content-Type", asset.content_type)
        self.finish(asset.data)


class Live(_Guarded, tornado.websocket.WebSocketHandler):
    """The socket of a page. Answers wait while the page is slow; of most kinds only the newest one waits."""

    def initialize(self, listening: Listening, pages: Pages) -> None:  # type: ignore[override]  # one thing more
        """Take what all pages share."""
        super().initialize(listening)
        self._pages = pages
        self._waiting: list[Answer] = []
        self._sending = False

    def prepare(self) -> None:
        """Refuse whoever does not know the token, before the socket is one."""
        if self.refused(site=True):
            return
        offered = [part.strip() for part in self.request.headers.get("Sec-WebSocket-Protocol", "").split(",")]
        if guard.PROTOCOL not in offered or not any(guard.knows_token(o, self.listening.token) for o in offered):
            self.tell(403, "the token is missing or of an earlier start: open the address that dse studio printed")
        elif len(self._pages.all) >= _MOST_PAGES:
            self.tell(503, f"{_MOST_PAGES} pages are open: close one")

    def check_origin(self, origin: str) -> bool:
        """Allow what ``prepare`` allowed."""
        return bool(origin)

    def select_subprotocol(self, subprotocols: list[str]) -> str | None:
        """Speak our protocol; the token is not sent back."""
        return guard.PROTOCOL if guard.PROTOCOL in subprotocols else None

    def open(self, *_: str, **__: str) -> None:
        """Greet the page."""
        self.set_nodelay(True)  # else a small answer waits 40 ms behind the one before it (Nagle's algorithm)
        self._pages.all.add(self)
        for answer in self.listening.greeting():
            self.send(answer)

    def on_close(self) -> None:
        """Forget the page."""
        self._pages.all.discard(self)

    def on_message(self, message: str | bytes) -> None:
        """Do what the page asks for."""
        text = message if isinstance(message, str) else message.decode("utf-8", "replace")
        answer = self.listening.receive(text)
        if answer is not None:
            self.send(answer)

    def send(self, answer: Answer) -> None:
        """Send an answer when those before it are sent; it takes the place of an older one that still waits."""
        if answer.kind not in LASTING:
            self._waiting = [other for other in self._waiting if other.kind != answer.kind]
        self._waiting.append(answer)
        if not self._sending:
            self._sending = True
            asyncio.get_running_loop().create_task(self._send_all())

    async def _send_all(self) -> None:
        try:
            while self._waiting:
                await self.write_message(self._waiting.pop(0).text)
        except tornado.websocket.WebSocketClosedError:
            self._waiting.clear()
        finally:
            self._sending = False


def bound_socket(port: int) -> tuple[list[socket.socket], int]:
    """Return sockets that listen on a port (0: any that is free), and the port. Raises ``OptionError``."""
    try:
        sockets = tornado.netutil.bind_sockets(port, ADDRESS, family=socket.AF_INET)
    except OSError as cause:
        raise OptionError(
            f"cannot listen on port {port}: {cause.strerror or cause}",
            expected="another program has it: leave out --port, or choose another one",
        ) from cause
    return sockets, sockets[0].getsockname()[1]


@contextlib.asynccontextmanager
async def serving(sockets: Sequence[socket.socket], listening: Listening, pages: Pages) -> AsyncIterator[None]:
    """Serve inside; the sockets are closed behind it."""
    shared: dict[str, Any] = {"listening": listening}
    application = tornado.web.Application(
        [(r"/live", Live, {**shared, "pages": pages}), (r"/.*", Files, shared)],
        log_function=lambda _: None,
        guard_headers=guard.headers_of(listening.port),
        websocket_ping_interval=_PING_SECONDS,
        websocket_max_message_size=4 * LONGEST_MESSAGE,
        compress_response=False,
    )
    server = tornado.httpserver.HTTPServer(application)
    server.add_sockets(sockets)
    try:
        yield
    finally:
        for page in list(pages.all):
            page.close(1001, "dse studio ended")
        server.stop()
        await server.close_all_connections()
