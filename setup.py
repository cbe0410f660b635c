"""Puts ``configs/`` and ``actors/`` into the package when it is built; ``pyproject.toml`` holds everything else."""

import shutil
from pathlib import Path

from setuptools import setup
from setuptools.command.build_py import build_py


class BuildWithData(build_py):
    """Copies ``configs`` and ``actors`` into ``dse``; an editable install reads them where they are."""

    def run(self) -> None:
        """Build the package, then copy the files."""
        super().run()
        if not self.editable_mode:
            for name in ("configs", "actors"):
                target = Path(self.build_lib) / "dse" / name
                unwanted = shutil.ignore_patterns("__pycache__", "*.pyc", "dse-out")
                shutil.copytree(Path(__file__).parent / name, target, dirs_exist_ok=True, ignore=unwanted)


setup(cmdclass={"build_py": BuildWithData})
