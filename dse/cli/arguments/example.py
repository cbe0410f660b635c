"""The arguments of ``dse example``."""

import argparse


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the options of ``dse example``."""
    parser.epilog = (
        "examples: dse example\n"
        "          dse example jpeg && dse explore actors/jpeg/jpeg.xdf\n"
        "          dse example --all"
    )
    parser.add_argument(
        "names", nargs="*", metavar="NAME", help="copy it to actors/NAME, with what it imports (default: list them)"
    )
    parser.add_argument("--all", action="store_true", help="copy all of them")
    parser.add_argument(
        "-o", "--out", metavar="DIR", default=".", help="folder in which actors/ is made (default: here)"
    )
    parser.set_defaults(parser_error=parser.error)
