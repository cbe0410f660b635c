"""``python -m dse``, and the command ``dse``."""

import sys


def main() -> int:
    """Run the command line and return its exit code; an interrupt while it is being imported is no traceback."""
    try:
        from dse.cli.main import main as run  # here, so that its import is guarded too

        return run()
    except KeyboardInterrupt:
        print("interrupted; everything reported so far is kept", file=sys.stderr)
        return 130


if __name__ == "__main__":
    sys.exit(main())
