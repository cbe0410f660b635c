"""A client of the language server over the pipes of a process: what an editor does, without the editor."""

import json
import queue
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

PATIENCE_SECONDS = 60.0
"""For loaded machines; every answer comes within a fraction of a second elsewhere."""


class Client:
    """One server process."""

    def __init__(self, folder: Path, *arguments: str) -> None:
        self._process = subprocess.Popen(
            [sys.executable, "-m", "dse", "lsp", *arguments],
            cwd=folder,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )
        self._messages: queue.Queue[dict[str, Any]] = queue.Queue()
        self._kept: list[dict[str, Any]] = []
        self._next = 0
        self.errors = bytearray()
        threading.Thread(target=self._read, daemon=True).start()
        threading.Thread(target=self._read_errors, daemon=True).start()

    def _read(self) -> None:
        assert self._process.stdout is not None
        stream = self._process.stdout
        while header := stream.readline():
            length = 0
            while header.strip():
                name, _, value = header.partition(b":")
                length = int(value) if name.lower() == b"content-length" else length
                header = stream.readline()
            self._messages.put(json.loads(stream.read(length)))
        self._messages.put({})

    def _read_errors(self) -> None:
        assert self._process.stderr is not None
        while data := self._process.stderr.read1():
            self.errors += data

    def send(self, message: dict[str, Any]) -> None:
        assert self._process.stdin is not None
        body = json.dumps({"jsonrpc": "2.0", **message}).encode()
        self._process.stdin.write(b"Content-Length: %d\r\n\r\n%s" % (len(body), body))
        self._process.stdin.flush()

    def notify(self, method: str, params: object) -> None:
        self.send({"method": method, "params": params})

    def request(self, method: str, params: object) -> Any:
        """The result of a request; an error of the server fails the test."""
        self._next += 1
        number = self._next
        self.send({"id": number, "method": method, "params": params})
        answer = self.wait(lambda m: m.get("id") == number and "method" not in m)
        assert "error" not in answer, answer["error"]
        return answer["result"]

    def wait(self, wanted: Any) -> dict[str, Any]:
        """The first message, kept or to come, that is ``wanted``."""
        for index, message in enumerate(self._kept):
            if wanted(message):
                return self._kept.pop(index)
        while True:
            message = self._messages.get(timeout=PATIENCE_SECONDS)
            assert message, f"the server has ended: {self.errors.decode(errors='replace')}"
            if wanted(message):
                return message
            self._kept.append(message)

    def diagnostics(self, path: Path, *words: str) -> list[dict[str, Any]]:
        """Wait until the diagnostics of a file have all ``words`` in their messages, none where no word is given."""

        def fits(message: dict[str, Any]) -> bool:
            if message.get("method") != "textDocument/publishDiagnostics" or message["params"]["uri"] != path.as_uri():
                return False
            texts = [d["message"] for d in message["params"]["diagnostics"]]
            return all(any(w in t for t in texts) for w in words) if words else not texts

        found: list[dict[str, Any]] = self.wait(fits)["params"]["diagnostics"]
        return found

    def kept(self, method: str, path: Path) -> list[dict[str, Any]]:
        """The messages about a file that came and that nobody waited for."""
        return [m for m in self._kept if m.get("method") == method and m["params"].get("uri") == path.as_uri()]

    def initialize(self, folder: Path, **general: object) -> Any:
        result = self.request(
            "initialize",
            {
                "processId": None,
                "rootUri": folder.as_uri(),
                "workspaceFolders": [{"uri": folder.as_uri(), "name": folder.name}],
                "capabilities": {"general": general} if general else {},
            },
        )
        self.notify("initialized", {})
        return result

    def open(self, path: Path, text: str | None = None) -> None:
        document = {
            "uri": path.as_uri(),
            "languageId": path.suffix[1:],
            "version": 1,
            "text": path.read_text() if text is None else text,
        }
        self.notify("textDocument/didOpen", {"textDocument": document})

    def change(self, path: Path, text: str, version: int = 2) -> None:
        document = {"uri": path.as_uri(), "version": version}
        self.notify("textDocument/didChange", {"textDocument": document, "contentChanges": [{"text": text}]})

    def ask(self, method: str, path: Path, line: int, character: int) -> Any:
        """A request about a place; ``line`` and ``character`` count from 0."""
        place = {"textDocument": {"uri": path.as_uri()}, "position": {"line": line, "character": character}}
        return self.request(f"textDocument/{method}", place)

    def end(self) -> int:
        """Shut the server down; its exit code."""
        self.request("shutdown", None)
        self.notify("exit", None)
        return self._process.wait(PATIENCE_SECONDS)

    def kill(self) -> None:
        if self._process.poll() is None:
            self._process.kill()
            self._process.wait()
