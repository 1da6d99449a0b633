"""The locks fit pyproject.toml and each other, and hold hashes but no addresses."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).resolve().parent.parent
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())
LOCKS = ["requirements.lock", "requirements-dev.lock", "requirements-bootstrap.lock"]


def entries(lock: str) -> dict[str, str]:
    """Package -> its entry, of which the first line names the version."""
    found = re.split(r"(?m)^(?=[a-z0-9])", (ROOT / lock).read_text())
    return {canonicalize_name(entry.partition("==")[0]): entry for entry in found if entry.strip()}


def versions(lock: str) -> dict[str, str]:
    return {name: entry.partition("==")[2].split()[0] for name, entry in entries(lock).items()}


@pytest.mark.parametrize(
    ("lock", "wanted"),
    [
        ("requirements.lock", PROJECT["project"]["dependencies"]),
        ("requirements-dev.lock", PROJECT["dependency-groups"]["dev"]),
        ("requirements-bootstrap.lock", [*PROJECT["build-system"]["requires"], "uv"]),
    ],
)
def test_every_direct_dependency_is_locked_at_a_version_it_allows(lock: str, wanted: list[str]) -> None:
    locked = versions(lock)
    for requirement in map(Requirement, wanted):
        assert requirement.specifier.contains(locked[canonicalize_name(requirement.name)]), requirement


def test_the_development_lock_holds_all_of_the_other() -> None:
    assert versions("requirements.lock").items() <= versions("requirements-dev.lock").items()


@pytest.mark.parametrize("lock", LOCKS)
def test_every_package_has_hashes_and_no_address(lock: str) -> None:
    assert all("--hash=sha256:" in entry for entry in entries(lock).values())
    assert "://" not in (ROOT / lock).read_text()
