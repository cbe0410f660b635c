"""Every folder here is one mistake a user can make: its ``cmd`` must print exactly its ``expect``.

``cmd`` is one command line (``dse check broken.xdf``), run in a copy of the folder; ``$ACTORS`` in it stands for our
``actors``. ``expect`` is the combined output and, in its last line, the exit code. ``DSE_ACCEPT=1 pytest tests/errors``
rewrites the ``expect`` files; read the difference before committing it.
"""

import contextlib
import io
import os
import shlex
import shutil
from pathlib import Path

import pytest

from dse.cli.main import main

HERE = Path(__file__).parent
ACTORS = HERE.parents[1] / "actors"
CASES = sorted(path.parent.name for path in HERE.glob("*/cmd"))
ACCEPT = os.environ.get("DSE_ACCEPT") == "1"


def run_case(folder: Path) -> str:
    """Return the combined output of the command of a case, the exit code as its last line."""
    command = shlex.split((folder / "cmd").read_text().replace("$ACTORS", os.path.relpath(ACTORS)))
    assert command[0] == "dse"
    output = io.StringIO()
    with contextlib.redirect_stdout(output), contextlib.redirect_stderr(output):
        try:
            code = main(command[1:])
        except SystemExit as leaving:
            code = leaving.code if isinstance(leaving.code, int) else 1
    return output.getvalue() + f"exit {code}\n"


def test_there_are_cases() -> None:
    assert len(CASES) >= 30


@pytest.mark.parametrize("name", CASES)
def test_error_is_reported_exactly(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tmp_path / name
    shutil.copytree(HERE / name, folder)
    (folder / ".git").mkdir()  # classes are searched upwards only to here
    monkeypatch.chdir(folder)
    monkeypatch.setenv("COLUMNS", "100")
    output = run_case(folder)
    assert str(tmp_path) not in output, "a message shows a path that the user did not write"
    assert "Traceback" not in output
    expect = HERE / name / "expect"
    if ACCEPT:
        expect.write_text(output)
    assert output == expect.read_text()
    assert output.splitlines()[-1] != "exit 0", "an error case must fail"
