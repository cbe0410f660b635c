"""Opens a page in the browser of the user, without telling its address to other users of the machine.

The address of a local page holds a token, and what a program is started with everybody can see. So the browser is
started with the name of a file that leads on to the page, which only its owner can read.
"""

import os
import threading
import webbrowser
from pathlib import Path

from dse.base.escaping import markup

_FILE = "studio-open.html"


def open_page(address: str, folder: Path) -> bool:
    """Open a page; returns whether there is a browser for it. The file that leads there lies in ``folder``."""
    browser = _browser()
    if browser is None:
        return False
    leading = folder / _FILE
    leading.unlink(missing_ok=True)
    with os.fdopen(os.open(leading, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600), "w", encoding="utf-8") as file:
        file.write(
            '<!DOCTYPE html><meta charset="utf-8"><title>dse studio</title>'
            f'<meta http-equiv="refresh" content="0;url={markup(address)}">'
            f'<p><a href="{markup(address)}">dse studio</a></p>\n'
        )
    # a browser that is started may keep its caller waiting until it is closed
    threading.Thread(target=browser.open, args=(leading.resolve().as_uri(),), name="dse-browser", daemon=True).start()
    return True


def _browser() -> webbrowser.BaseBrowser | None:
    """Return the browser of the user, None where there is none, or one that would take the terminal."""
    try:
        found = webbrowser.get()
    except webbrowser.Error:
        return None
    in_terminal = type(found) is webbrowser.GenericBrowser and not os.environ.get("BROWSER")
    return None if in_terminal else found
