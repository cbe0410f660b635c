"""The lock files hold what ``pyproject.toml`` asks for: each group in the file that its make target installs."""

import re
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
GROUPS = {
    "requirements.lock": PROJECT["dependencies"],
    "requirements-search.lock": PROJECT["optional-dependencies"]["search"],
    "requirements-peers.lock": PROJECT["optional-dependencies"]["peers"],
    "requirements-native.lock": PROJECT["optional-dependencies"]["native"],
    "requirements-cuda.lock": PROJECT["optional-dependencies"]["cuda"],
    "requirements-docs.lock": PROJECT["optional-dependencies"]["docs"],
    "requirements-dev.lock": [
        *PROJECT["optional-dependencies"]["dev"],
        *PROJECT["optional-dependencies"]["cluster"],
    ],
}


def name_of(requirement: str) -> str:
    """The normalised name of a requirement (PEP 503)."""
    return re.sub(r"[-_.]+", "-", re.split(r"[\s<>=!~;\[]", requirement, maxsplit=1)[0]).lower()


def pinned(lock: str) -> set[str]:
    """The names of the packages in a lock file itself, without the file that it builds on."""
    return {name_of(line) for line in (ROOT / lock).read_text().splitlines() if "==" in line}


def with_base(lock: str) -> set[str]:
    """The names of all packages that a lock file installs."""
    bases = re.findall(r"^-r (\S+)", (ROOT / lock).read_text(), re.M)
    return pinned(lock).union(*map(with_base, bases))


@pytest.mark.parametrize("lock", GROUPS)
def test_each_group_is_locked(lock: str) -> None:
    assert {name_of(requirement) for requirement in GROUPS[lock]} <= with_base(lock)


@pytest.mark.parametrize("lock", ["requirements-search.lock", "requirements-native.lock", "requirements-cuda.lock"])
def test_what_is_optional_is_so_in_both(lock: str) -> None:
    assert pinned("requirements.lock").isdisjoint(map(name_of, GROUPS[lock]))


def test_nothing_is_pinned_twice() -> None:
    assert pinned("requirements.lock").isdisjoint(pinned("requirements-search.lock"))
    assert with_base("requirements-search.lock").isdisjoint(pinned("requirements-peers.lock"))
    assert with_base("requirements-search.lock").isdisjoint(pinned("requirements-dev.lock"))
    assert with_base("requirements-dev.lock").isdisjoint(pinned("requirements-docs.lock"))


def test_each_lock_says_which_one_it_builds_on() -> None:
    assert with_base("requirements-native.lock") > with_base("requirements.lock")
    assert with_base("requirements-peers.lock") > with_base("requirements-search.lock")
    assert with_base("requirements-cuda.lock") > with_base("requirements.lock")
    assert with_base("requirements-docs.lock") > with_base("requirements-dev.lock")
    assert with_base("requirements-dev.lock") > with_base("requirements-search.lock") > with_base("requirements.lock")
