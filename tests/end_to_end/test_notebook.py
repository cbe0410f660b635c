"""docs/notebook.ipynb runs in a kernel as users have it; long calls show progress there, and can be interrupted."""

import json
import re
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import pytest
from jupyter_client.blocking.client import BlockingKernelClient
from jupyter_client.manager import KernelManager, start_new_kernel

from tests.end_to_end.test_documents import ROOT, make_checkout

NOTEBOOK = json.loads((ROOT / "docs" / "notebook.ipynb").read_text())
CELLS = [cell for cell in NOTEBOOK["cells"] if cell["cell_type"] == "code"]
SECONDS = 60
LONG = "x = p.explore(budget=50_000, method='random', buffers=list(range(500, 540)), workers=1)"
"""More than half a minute."""
ESTIMATED = re.compile(r"\d mappings, best")


@dataclass(slots=True)
class Kernel:
    """A kernel, and what each cell of the notebook showed, by the kind of data."""

    manager: KernelManager
    client: BlockingKernelClient
    shown: dict[str, dict[str, str]] = field(default_factory=dict)

    def run(self, code: str, *, interrupt: bool = False) -> list[dict[str, Any]]:
        """Run code and return its messages; it is interrupted when it shows that mappings were estimated, if asked."""
        request, messages, waiting = self.client.execute(code), list[dict[str, Any]](), interrupt
        until = time.monotonic() + SECONDS
        while time.monotonic() < until:
            message = self.client.get_iopub_msg(timeout=SECONDS)
            if message["parent_header"].get("msg_id") != request:
                continue
            messages.append(message)
            if waiting and ESTIMATED.search(message["content"].get("data", {}).get("text/plain", "")):
                waiting = False
                self.manager.interrupt_kernel()
            if message["msg_type"] == "status" and message["content"]["execution_state"] == "idle":
                return messages
        raise AssertionError(f"the kernel does not end: {code}")

    def of_cell(self, words: str) -> dict[str, str]:
        """What the cell with some words in it showed."""
        return next(shown for code, shown in self.shown.items() if words in code)


def data_of(messages: list[dict[str, Any]], kind: str) -> list[dict[str, str]]:
    """The data of the messages of one kind."""
    return [message["content"]["data"] for message in messages if message["msg_type"] == kind]


@pytest.fixture(scope="module")
def kernel(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Kernel]:
    """A kernel in which all cells have run, without an error."""
    folder = tmp_path_factory.mktemp("notebook")
    make_checkout(folder)
    manager, client = start_new_kernel(kernel_name="python3", cwd=str(folder))
    found = Kernel(manager, client)
    try:
        found.run(f"import sys; sys.path.insert(0, {str(ROOT)!r})")
        for cell in CELLS:
            code = "".join(cell["source"])
            messages = found.run(code)
            errors = [m["content"]["traceback"] for m in messages if m["msg_type"] == "error"]
            assert not errors, "\n".join(errors[0])
            found.shown[code] = {k: text for data in data_of(messages, "execute_result") for k, text in data.items()}
        yield found
    finally:
        client.stop_channels()
        manager.shutdown_kernel(now=True)


def test_it_is_kept_without_outputs() -> None:
    assert len(CELLS) > 8
    assert [cell["id"] for cell in CELLS if cell["outputs"] or cell["execution_count"]] == []


def test_results_show_pictures_and_tables(kernel: Kernel) -> None:
    compared = kernel.of_cell("p.compare(")
    assert compared["text/plain"].startswith("<3 estimated mappings, best")
    assert "<svg" in compared["text/html"]
    assert "<svg" in kernel.of_cell('plot("timeline")')["image/svg+xml"]
    assert "blocked reading" in kernel.of_cell("best.actors")["text/html"]
    assert "<table" in kernel.of_cell("x = p.explore(")["text/html"]
    assert "speedup" in kernel.of_cell("x.to_frame(5)")["text/html"]
    own = [text for shown in kernel.shown.values() if (text := shown.get("text/plain", "")).startswith("<")]
    assert len(own) > 5
    assert max(map(len, own)) < 300


def test_a_long_search_shows_progress_and_can_be_interrupted(kernel: Kernel) -> None:
    messages = kernel.run(LONG, interrupt=True)
    lines = [data["text/plain"] for data in data_of(messages, "display_data")]
    assert len(lines) == 1, "one line that changes"
    assert lines[0].endswith(" s")
    assert [m for m in messages if m["msg_type"] == "error"] == []
    assert data_of(messages, "update_display_data")[-1] == {"text/plain": ""}, "the line goes away"
    told = kernel.run("(x.stop, 0 < x.study.evaluations < 50_000, len(x.ranking) > 0)")
    assert data_of(told, "execute_result")[0]["text/plain"] == "('interrupted', True, True)"


def test_an_error_is_its_message_alone(kernel: Kernel) -> None:
    messages = kernel.run("p.estimate('P0:sorce P1:*')")
    (error,) = [message["content"] for message in messages if message["msg_type"] == "error"]
    assert error["ename"] == "FormatError"
    assert error["traceback"][-1].strip() == "= did you mean 'source'?"
    assert "File" not in "".join(error["traceback"])
