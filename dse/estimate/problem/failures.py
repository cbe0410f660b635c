"""Raising one error that holds everything that is wrong with weights or a design point."""

from collections.abc import Sequence
from typing import NoReturn

from dse.base.errors import Diagnostic, DseError


def raise_gathered(error_class: type[DseError], messages: Sequence[str], *, expected: str) -> NoReturn:
    """Raise ``error_class`` with one diagnostic a message; ``expected`` says what to do and stands at the last one.

    The argument of the error itself is the first message and the number of the others.
    """
    others = f" (and {len(messages) - 1} more)" if len(messages) > 1 else ""
    error = error_class(messages[0] + others, expected=expected)
    error.diagnostics = tuple(
        Diagnostic(message=message, expected=expected if index == len(messages) - 1 else "")
        for index, message in enumerate(messages)
    )
    raise error
