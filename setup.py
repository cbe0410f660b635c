"""Puts the files of ``configs/`` into the package when it is built; ``pyproject.toml`` holds everything else."""

import shutil
from pathlib import Path

from setuptools import setup
from setuptools.command.build_py import build_py


class BuildWithConfigs(build_py):
    """Copies ``configs`` to ``dse/configs``; an editable install reads them where they are."""

    def run(self) -> None:
        """Build the package, then copy the files."""
        super().run()
        if not self.editable_mode:
            target = Path(self.build_lib) / "dse" / "configs"
            shutil.copytree(Path(__file__).parent / "configs", target, dirs_exist_ok=True)


setup(cmdclass={"build_py": BuildWithConfigs})
