"""Make two DNA sequences to align: a random reference, and a query that is a mutated piece of it.

The same options give the same file. Run without options it makes the default input of the network again.
"""

import argparse
import random
from pathlib import Path

LETTERS = "ACGT"
DEFAULT = Path(__file__).with_name("input.txt")


def make_pair(query: int, reference: int, *, mutations: float = 0.1, seed: int = 1) -> tuple[str, str]:
    """Return (reference, query) of the given lengths; ``mutations`` is the share of query letters that differ.

    Of the mutations, half are substitutions, a quarter insertions and a quarter deletions.
    """
    generator = random.Random(seed)
    whole = "".join(generator.choices(LETTERS, k=reference))
    start = generator.randrange(max(1, reference - query))
    piece: list[str] = []
    at = start
    while len(piece) < query:
        draw = generator.random()
        if at >= reference or draw < mutations * 0.75:
            piece.append(generator.choice(LETTERS))
        elif draw >= mutations:
            piece.append(whole[at])
        # The rest are deletions; an insertion (the second quarter) does not move on in the reference.
        at += 0 if mutations * 0.5 <= draw < mutations * 0.75 else 1
    return whole, "".join(piece)


def main() -> None:
    """Make one file as the options say."""
    parser = argparse.ArgumentParser(description="Make two DNA sequences to align.")
    parser.add_argument("-o", "--output", type=Path, default=DEFAULT)
    parser.add_argument("--query", type=int, default=100, help="letters of the query")
    parser.add_argument("--reference", type=int, default=200, help="letters of the reference")
    parser.add_argument("--mutations", type=float, default=0.1, help="share of mutated letters")
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    if options.query < 1 or options.reference < 1:
        parser.error("--query and --reference are at least 1")
    pair = make_pair(options.query, options.reference, mutations=options.mutations, seed=options.seed)
    try:
        options.output.write_text("".join(f"{line}\n" for line in pair))
    except OSError as error:
        parser.error(f"cannot write the file: {error}")


if __name__ == "__main__":
    main()
