"""The options ``--cuda`` and ``--cuda-arch`` of all verbs that build device code (see ``dse.cli.cuda_arguments``)."""

import argparse

from dse.base.cuda_kinds import CUDA_EMULATED, CUDA_KINDS, CUDA_NVCC


def add_cuda(parser: argparse._ActionsContainer, help_text: str) -> None:
    """Add both options; without a word behind it ``--cuda`` means nvcc."""
    parser.add_argument(
        "--cuda", nargs="?", const=CUDA_NVCC, type=_kind, metavar=f"{{{','.join(CUDA_KINDS)}}}", help=help_text
    )
    add_cuda_arch(parser)


def _kind(word: str) -> str:
    """Return what ``--cuda`` means. A word behind it is its own, so that a file name there needs advice."""
    if word in CUDA_KINDS:
        return word
    known = f"choose from {', '.join(map(repr, CUDA_KINDS))}"
    if word.endswith((".xdf", ".cal", ".xcf")):
        known = f"'{word}' must stand before it, or behind --cuda={CUDA_NVCC} or --cuda={CUDA_EMULATED}"
    raise argparse.ArgumentTypeError(f"invalid choice: {word!r} ({known})")


def add_cuda_arch(parser: argparse._ActionsContainer) -> None:
    """Add the cards that nvcc compiles for."""
    parser.add_argument(
        "--cuda-arch",
        metavar="LIST",
        help="for which cards: compute capabilities times 10, such as 75,86 (default: 75,80,86,89,90 and newer ones; of"
        " a program that runs here, the cards here)",
    )
