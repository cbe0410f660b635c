"""``python -m dse``."""

import sys

from dse.cli.main import main

sys.exit(main())
