"""The argument that binds a native function to one of the user."""

import argparse

from dse.base.errors import OptionError


def add_native_binding(parser: argparse._ActionsContainer, *, python: bool, prefix: str = "") -> None:
    """Add ``--native``; ``python``: whether a Python callable may stand for a native; ``prefix``: before the help."""
    target = "a Python callable (MODULE:CALLABLE) or to C++ (FILE.cpp:SYMBOL)" if python else "C++"
    parser.add_argument(
        "--native",
        action="append",
        default=[],
        metavar=f"UNIT.FUNCTION={'TARGET' if python else 'FILE.cpp:SYMBOL'}",
        help=f"{prefix}bind a native function to {target}, which may do what it likes; may be repeated",
    )


def native_binding(text: str) -> tuple[str, str]:
    """Return (native, target) of a binding. Raises ``OptionError``."""
    key, equals, target = text.partition("=")
    if not equals or "." not in key or ":" not in target:
        raise OptionError(
            f"'{text}' binds no native",
            expected="--native UNIT.FUNCTION=FILE.cpp:SYMBOL, or =MODULE:CALLABLE for the execution in Python",
        )
    return key, target
