"""The locks fit pyproject.toml and each other, and hold hashes but no addresses."""

from __future__ import annotations

import json
import re
import tomllib
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from clawbench.harnesses import get_harness, harness_names
from clawbench.harnesses.runtimes import CargoPart
from clawbench.harnesses.runtimes.inventory import parts_of
from clawbench.harnesses.runtimes.locks import lock_of

ROOT = Path(__file__).resolve().parent.parent
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())
LOCKS = ["requirements.lock", "requirements-dev.lock", "requirements-bootstrap.lock"]
HARNESS_LOCKS = ROOT / "src/clawbench/harnesses/runtimes/locks"
LARGEST = 500_000


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


@pytest.mark.parametrize("path", sorted(HARNESS_LOCKS.iterdir()), ids=lambda path: path.name)
def test_locks_of_harnesses_have_hashes_and_no_address(path: Path) -> None:
    text = path.read_text()
    assert "://" not in text
    assert len(text) < LARGEST
    if path.suffix == ".txt":
        assert all("--hash=sha256:" in entry for entry in entries(str(path.relative_to(ROOT))).values())
    else:
        packages = json.loads(text)["packages"]
        found = [entry for name, entry in packages.items() if name and not entry.get("inBundle")]
        assert all("integrity" in entry for entry in found)


def test_every_default_version_of_a_harness_is_locked() -> None:
    unlocked = [
        f"{part.name} {part.version}"
        for name in harness_names()
        for part in parts_of(get_harness(name))
        if not isinstance(part, CargoPart) and lock_of(part) is None
    ]
    assert not unlocked, "run tools/lock_harnesses.py"
