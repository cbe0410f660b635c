"""Starting the server on standard input and output."""

import os
import sys

from dse.base.extras import import_extra


def serve(source_paths: tuple[str, ...]) -> None:
    """Speak with the editor at the other end of standard input and output until it ends.

    What anything prints meanwhile goes to standard error, where editors keep a log. Raises ``OptionError`` without the
    extra ``lsp``.
    """
    import_extra("pygls.lsp.server", "dse lsp", extra="lsp")
    from dse.lsp.server import make_server  # imported late: it needs the extra

    with os.fdopen(os.dup(1), "wb") as output:
        os.dup2(2, 1)
        make_server(source_paths).start_io(sys.stdin.buffer, output)
