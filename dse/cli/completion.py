"""``dse completion``: a script by which a shell completes verbs, options and their values; names of files it knows.

The script is made of the parsers of all verbs, so that it has what they have; no ``dse`` is started as one types.
"""

import argparse
import shlex
from collections.abc import Iterator
from dataclasses import dataclass

from dse.cli.main import VERBS, build_parser
from dse.cli.streams import print_json
from dse.flows.examples import example_names


@dataclass(frozen=True, slots=True, kw_only=True)
class Option:
    """An option of a verb. ``values``: what it may be; empty where that is not a choice. ``takes``: whether a value."""

    names: tuple[str, ...]
    help: str
    values: tuple[str, ...]
    takes: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Verb:
    """What may follow a verb. ``words``: of its arguments that are no option; ``files``: whether one may be a file."""

    name: str
    options: tuple[Option, ...]
    words: tuple[str, ...]
    files: bool


def run(args: argparse.Namespace) -> int:
    """Print the script for a shell; return 0."""
    verbs = tuple(_verb(name) for name in VERBS)
    script = {"bash": _bash, "zsh": _zsh, "fish": _fish}[args.shell](verbs)
    if args.json:
        print_json({"shell": args.shell, "script": script})
    else:
        print(script, end="")
    return 0


def _verb(name: str) -> Verb:
    """Return what may follow a verb, from its parser."""
    parsers = next(a for a in build_parser(name)._actions if isinstance(a, argparse._SubParsersAction))
    options: dict[tuple[str, ...], Option] = {}
    examples = example_names() if name == "example" else ()
    words, files = dict.fromkeys(examples), False
    for action in _actions(parsers.choices[name]):
        values = tuple(map(str, action.choices or ()))
        names = tuple(action.option_strings)
        if names:
            help_text = (action.help or "").replace("%%", "%")
            options[names] = Option(names=names, help=help_text, values=values, takes=action.nargs != 0)
        else:
            words.update(dict.fromkeys(values))
            files = files or not (values or examples)
    return Verb(name=name, options=tuple(options.values()), words=tuple(words), files=files)


def _actions(parser: argparse.ArgumentParser) -> Iterator[argparse.Action]:
    """Yield the arguments of a parser, and those of the parsers below it."""
    for action in parser._actions:
        yield action
        if isinstance(action, argparse._SubParsersAction):
            for below in action.choices.values():
                yield from _actions(below)


def _bash(verbs: tuple[Verb, ...]) -> str:
    """Return a script for bash."""
    return _script(
        [
            "_dse() {",
            "  local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD-1]} verb= found= word",
            '  for word in "${COMP_WORDS[@]:1:COMP_CWORD-1}"; do',
            *_cases(verbs),
            '  COMPREPLY=($(compgen -W "$found" -- "$cur"))',
            "}",
            "complete -o default -o bashdefault -F _dse dse",
        ]
    )


def _zsh(verbs: tuple[Verb, ...]) -> str:
    """Return a script for zsh, whose completion has to be set up before (compinit)."""
    return _script(
        [
            "#compdef dse",
            "_dse() {",
            "  local cur=${words[CURRENT]} prev=${words[CURRENT-1]} verb= found= word",
            '  for word in "${(@)words[2,CURRENT-1]}"; do',
            *_cases(verbs),
            "  compadd -- ${=found} || _files",
            "}",
            "compdef _dse dse",
        ]
    )


def _script(lines: list[str]) -> str:
    return "\n".join([*lines, ""])


def _cases(verbs: tuple[Verb, ...]) -> list[str]:
    """Return the lines in which both shells look at the words before the cursor; they set ``found``."""
    options = [f"    {verb.name}:-*) found={shlex.quote(_option_names(verb))};;" for verb in verbs]
    words = [f"    {verb.name}:*) found={shlex.quote(' '.join(verb.words))};;" for verb in verbs if verb.words]
    return [
        '    case "$word" in -*) ;; *) verb=$word; break;; esac',
        "  done",
        '  case "$verb $prev" in',
        *(line for verb in verbs for line in _value_cases(verb)),
        "  esac",
        '  [ -n "$found" ] || case "$verb:$cur" in',
        "    :-*) found='--help --version';;",
        f"    :*) found={shlex.quote(' '.join(verb.name for verb in verbs))};;",
        *options,
        *words,
        "  esac",
    ]


def _option_names(verb: Verb) -> str:
    return " ".join(name for option in verb.options for name in option.names)


def _value_cases(verb: Verb) -> list[str]:
    """Return the cases of the options of a verb that take one of some values."""
    return [
        f"    {shlex.quote(f'{verb.name} {name}')}) found={shlex.quote(' '.join(option.values))};;"
        for option in verb.options
        if option.values
        for name in option.names
    ]


def _fish(verbs: tuple[Verb, ...]) -> str:
    """Return a script for fish."""
    lines = []
    for verb in verbs:
        about = shlex.quote(VERBS[verb.name])
        lines.append(f"complete -c dse -f -n __fish_use_subcommand -a {verb.name} -d {about}")
        seen = f"complete -c dse -n '__fish_seen_subcommand_from {verb.name}'"
        if verb.words:
            lines.append(f"{seen} {'' if verb.files else '-f '}-a {shlex.quote(' '.join(verb.words))}")
        lines += [f"{seen} {_fish_option(option)}" for option in verb.options]
    return "\n".join([*lines, ""])


def _fish_option(option: Option) -> str:
    parts = [f"-l {n[2:]}" if n.startswith("--") else f"-s {n[1:]}" for n in option.names]
    if option.values:
        parts.append(f"-x -a {shlex.quote(' '.join(option.values))}")
    elif option.takes:
        parts.append("-r")
    return " ".join([*parts, f"-d {shlex.quote(option.help)}"])
