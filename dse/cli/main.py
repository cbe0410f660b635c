"""The command line: one table of verbs, each in a file of its own that is imported only when it is asked for.

Exit codes: 0 done, 1 the input is wrong or the output could not be written, 2 the usage is wrong, 3 deadlock,
130 interrupted, 143 terminated, 129 the terminal was closed (work kept), 141 ended because nobody reads what a network
prints.
"""

import argparse
import importlib
import sys

import dse
from dse.cli.signals import INTERRUPTED, KEPT, Terminated, watched_signals
from dse.cli.streams import final_code, unfailing
from dse.cli.timing import note_stage, timed_stages

VERBS: dict[str, str] = {
    "example": "list the applications that come with dse, and copy them to start from",
    "new": "make a small program of your own that runs, explores and has a test",
    "check": "parse, elaborate and type-check a network or a tree of files",
    "build": "write a network as C++ and build a native program of it",
    "run": "execute a network on an input",
    "trace": "execute a network and record its trace; inspect, import and export traces",
    "estimate": "estimate the makespan of given mappings",
    "what-if": "tell what a mapping would gain from faster actors, roomier FIFOs and better links",
    "why": "explain a mapping: its critical path, bottlenecks, slack; or the program itself",
    "explore": "search for the best mappings, rank them, write their configuration files",
    "studio": "open a live page: move actors, change FIFOs and costs, see at once what it does",
    "study": "run a study file; show, compare and export the results of searches",
    "throughput": "the most that a static graph or region can do, what limits it, and sizes that allow it",
    "buffers": "size the FIFOs of a mapping: minimal, maximal, or as little as costs no time",
    "gpu": "predict the cost of C kernels on GPUs, and choose an accelerator",
    "profile": "measure the weights of a network on this machine",
    "measure": "run mappings on this machine, beside their estimates",
    "lsp": "serve an editor: diagnostics, definitions, hovers and outlines of CAL and XDF",
    "weights": "show, convert and merge weight sets; predict those of a GPU",
    "completion": "print a script by which a shell completes verbs, options and their values",
}
"""Verb -> one line of help.

Its arguments are in ``dse.cli.arguments.<verb>``, ``configure(parser)``, which imports nothing heavy so that ``--help``
is quick; what it does in ``dse.cli.<verb>``, ``run(args) -> int``. A hyphen is an underscore there.
"""


def module_of(verb: str) -> str:
    """Return the name of the modules of a verb."""
    return verb.replace("-", "_")


_LIMIT_HELP = "raise a limit on what small files may grow to (actors, fifos, c-tokens, step-bytes); may be repeated"


def build_parser(verb: str | None) -> argparse.ArgumentParser:
    """Return the argument parser; of the verbs only ``verb`` has arguments, so that ``--help`` stays quick."""
    parser = argparse.ArgumentParser(
        prog="dse",
        description="Find the best split of a dataflow program over CPU cores and a GPU.",
        epilog="example: dse explore actors/jpeg/jpeg.xdf -i actors/jpeg/input.jpg",
    )
    parser.add_argument("--version", action="version", version=f"dse {dse.__version__}")
    verbs = parser.add_subparsers(dest="verb", metavar="VERB", required=True)
    for name, help_line in VERBS.items():
        sub = verbs.add_parser(name, help=help_line, description=help_line[0].upper() + help_line[1:] + ".")
        if name == verb:
            _configure(sub, name)
    return parser


def _configure(sub: argparse.ArgumentParser, verb: str) -> None:
    """Add the arguments of a verb, and those that all verbs have."""
    sub.formatter_class = argparse.RawDescriptionHelpFormatter
    sub.add_argument("--json", action="store_true", help="print one JSON document on standard output")
    sub.add_argument("--quiet", action="store_true", help="print results only, no progress")
    sub.add_argument(
        "-v", "--verbose", action="count", default=0, help="say what the stages took; -vv: each as it begins, too"
    )
    sub.add_argument("--limit", metavar="NAME=N", action="append", default=[], help=_LIMIT_HELP)
    importlib.import_module(f"dse.cli.arguments.{module_of(verb)}").configure(sub)


def main(argv: list[str] | None = None) -> int:
    """Run the command line and return its exit code; an interrupt, even of the imports, is no traceback."""
    with unfailing() as output:
        try:
            with watched_signals():
                code = _main(argv)
        except KeyboardInterrupt as interrupt:
            notes = "".join(f"; {note}" for note in getattr(interrupt, "__notes__", ()))  # where a run was
            print(f"interrupted{notes}; {KEPT}", file=sys.stderr)
            code = INTERRUPTED
        except Terminated as end:
            code = end.exit_code
        except SystemExit as leaving:  # of argparse: --help, --version, wrong usage
            leaving.code = final_code(leaving.code if isinstance(leaving.code, int) else 0, output)
            raise
        return final_code(code, output)


def _main(argv: list[str] | None) -> int:
    arguments = sys.argv[1:] if argv is None else argv
    verb = next((a for a in arguments if not a.startswith("-")), None)
    parser = build_parser(verb if verb in VERBS else None)
    if verb is not None and verb not in VERBS:
        parser.error(_no_such_verb(verb))
    code = _run_verb(parser.parse_args(arguments), arguments)
    if code in (1, 2):
        _hint_at_example(arguments)
    return code


def _no_such_verb(verb: str) -> str:
    from difflib import get_close_matches  # imported late: --help must not pay for it

    near = get_close_matches(verb, VERBS, n=1)
    advice = f"; did you mean '{near[0]}'?" if near else f": choose from {', '.join(VERBS)}"
    return f"there is no verb '{verb}'{advice}"


def _refuse_empty(arguments: list[str]) -> None:
    """Raise ``OptionError`` for an empty argument, as of a variable that is not set: it would be the working folder."""
    from dse.base.errors import OptionError  # imported late: --help must not pay for it
    from dse.base.numbers import shortened

    before = "dse"
    for argument in arguments:
        name, sign, value = argument.partition("=") if argument.startswith("--") else (before, "=", argument)
        if sign and not value.strip():
            raise OptionError(
                f"what follows '{shortened(name)}' is empty", expected="give a name or a value, or leave out both"
            )
        before = argument


def _run_verb(args: argparse.Namespace, arguments: list[str]) -> int:
    """Run the chosen verb; user errors become messages."""
    from dse.base.compiled_place import name_compiled_place  # imported late: --help must not pay for it
    from dse.base.diagnostics import render_all
    from dse.base.errors import DseError
    from dse.base.limits import parse_limits, raised_limits
    from dse.cli.places import refuse_clashes

    try:
        _refuse_empty(arguments)
        refuse_clashes(args)
        name_compiled_place()
        with raised_limits(parse_limits(args.limit)), timed_stages(args.verbose):
            verb = importlib.import_module(f"dse.cli.{module_of(args.verb)}")
            note_stage(f"dse {args.verb}")
            code: int = verb.run(args)
    except DseError as error:
        print(*render_all(error.diagnostics), sep="\n", file=sys.stderr)
        return error.exit_code
    except OSError as error:
        _print_refusal(error)
        return 1
    except RecursionError:
        text = "error: something in the input nests too deeply\n  = split long expressions, put less inside each other"
        print(text, file=sys.stderr)
        return 1
    except MemoryError:
        print("error: there is not enough memory for this\n  = give smaller sizes, or a shorter trace", file=sys.stderr)
        return 1
    except SystemExit as leaving:
        _print_exit(leaving)
        return 1
    return code


def _hint_at_example(arguments: list[str]) -> None:
    """Where the paths of the documents are not there, say what makes them: they are those of the examples."""
    from dse.flows.examples import example_of  # imported late: --help must not pay for it

    for name in dict.fromkeys(filter(None, map(example_of, arguments))):
        print(f"  = `dse example {name}` copies it here: it comes with dse", file=sys.stderr)


def _print_exit(leaving: SystemExit) -> None:
    """Say what would have ended this process: a native or a module of the user, if it is not wrong usage of a verb."""
    from traceback import extract_tb  # imported late: --help must not pay for it

    place = extract_tb(leaving.__traceback__)[-1]
    if place.filename == argparse.__file__:
        raise leaving
    notes = "".join(f"; {note}" for note in getattr(leaving, "__notes__", ()))  # where a run was
    print(f"{place.filename}:{place.lineno}: error: this ends the program, with {leaving.code}{notes}", file=sys.stderr)
    print("  = what dse calls returns or raises an error: the exit code of dse says how it ended", file=sys.stderr)


def _print_refusal(error: OSError) -> None:
    """Say what the system refuses: a disk is full, a file may not be written, too many files are open."""
    what = f"'{error.filename}'" if error.filename is not None else "writing"
    print(f"error: {what}: {error.strerror or error}", file=sys.stderr)
    print("  = make room, or choose a place that can be read and written, and start again", file=sys.stderr)


if __name__ == "__main__":
    sys.exit(main())
