"""The arguments of ``dse completion``."""

import argparse

SHELLS = ("bash", "zsh", "fish")


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the options of ``dse completion``."""
    parser.epilog = (
        'examples: eval "$(dse completion bash)"               (in ~/.bashrc)\n'
        '          eval "$(dse completion zsh)"                (in ~/.zshrc, behind compinit)\n'
        "          dse completion fish > ~/.config/fish/completions/dse.fish"
    )
    parser.add_argument("shell", choices=SHELLS, help="the shell that is to complete verbs, options and their values")
