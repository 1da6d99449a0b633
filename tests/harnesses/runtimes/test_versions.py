"""Which versions may be asked for, and which Python fits."""

from __future__ import annotations

import pytest

from clawbench.errors import InputError
from clawbench.harnesses.runtimes.interpreter import fits
from clawbench.harnesses.runtimes.parts import NpmPart, Part, PythonPart, SourcePart, check_version


@pytest.mark.parametrize(
    "version", ["1.2.3", "2026.9.6", "0.1.0-beta.3", "1.0.0+build.7", "1.0rc1", "0.3.5.post1"]
)
def test_exact_versions_are_taken(version: str) -> None:
    check_version(NpmPart("one", "one", version))
    check_version(PythonPart("one", "one", version))


@pytest.mark.parametrize(
    "version", ["latest", "", "../up", "1.2.x/..", "^1.2.3", ">=1", "1.2 3", "1.2.3\n", "v1"]
)
def test_anything_else_is_refused_with_a_remedy(version: str) -> None:
    with pytest.raises(InputError, match="exact version"):
        check_version(NpmPart("one", "one", version))


@pytest.mark.parametrize("version", ["main", "abc123", "v1.0", "A" * 40])
def test_source_is_pinned_by_a_whole_commit(version: str) -> None:
    part: Part = SourcePart("one", "owner/one", version)
    with pytest.raises(InputError, match="40 hexadecimal"):
        check_version(part)


@pytest.mark.parametrize(
    ("version", "wanted", "does"),
    [
        ("3.12.1", ">=3.11,<3.14", True),
        ("3.14.0", ">=3.11,<3.14", False),
        ("3.10.13", ">=3.11,<3.14", False),
        ("3.12.1", "==3.12.1", True),
        ("3.12.1", "==3.12", True),
        ("3.12.10", "==3.12.1", False),
        ("3.13.0", "<=3.13", True),
        ("3.13.4", ">3.13", False),
        ("3.11.7", "", True),
    ],
)
def test_which_python_fits(version: str, wanted: str, does: bool) -> None:
    assert fits(version, wanted) is does
