"""``python -m dse.native.warm``: compile what all native programs share, so that the first build is as quick as others.

Without a compiler, or with one that fails, nothing happens: whoever builds a program is told then.
"""

import tempfile
from pathlib import Path

from dse.base.errors import BuildError
from dse.codegen.cpp.target import ACTOR_HEADERS
from dse.native.build import BuildCounts, BuildOptions, build_objects
from dse.native.emission import SHARED_UNITS
from dse.native.project import Project, runtime_headers, write_sources
from dse.native.toolchain import compiler_version, find_compiler

PLAIN = BuildOptions()


def warm(options: BuildOptions = PLAIN) -> BuildCounts | None:
    """Compile the shared files of a kind of build; return what was done, None where that was not possible."""
    project = Project(name="shared", units=SHARED_UNITS, headers=runtime_headers())
    try:
        compiler = find_compiler()
        compiler_version(compiler)
        with tempfile.TemporaryDirectory(prefix="dse-warm-") as folder:
            write_sources(project, Path(folder), {})
            return build_objects(project, Path(folder), compiler, options, preludes=(ACTOR_HEADERS,))
    except (BuildError, OSError):
        return None


if __name__ == "__main__":
    warm()
