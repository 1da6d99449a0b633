"""What an installed repository says it depends on, read from its metadata without running any of it."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from pathlib import Path

_EXTRA = re.compile(r"""extra\s*==\s*['"]([^'"]+)['"]""")
_ALWAYS = "python_version > '0'"


def needs_of_installed(environment: Path, checkout: Path, extras: Collection[str]) -> set[str]:
    """Requirements in the metadata that an editable installation left in environment or checkout."""
    found: set[str] = set()
    for file in environment.glob("lib/python3*/site-packages/*.dist-info/METADATA"):
        if (file.parent / "direct_url.json").is_file():
            found |= set(of_metadata(file.read_text(encoding="utf-8"), extras))
    for pattern in ("*.egg-info/requires.txt", "*/*.egg-info/requires.txt"):
        for file in checkout.glob(pattern):
            found |= set(of_requires(file.read_text(encoding="utf-8"), extras))
    return found


def of_metadata(text: str, extras: Collection[str]) -> Iterator[str]:
    """`Requires-Dist` lines, those of an extra where it is wanted."""
    for line in text.split("\n\n", 1)[0].splitlines():
        name, _, requirement = line.partition(":")
        if name == "Requires-Dist":
            wanted = _EXTRA.findall(requirement)
            if not wanted or any(extra in extras for extra in wanted):
                yield _EXTRA.sub(_ALWAYS, requirement).strip()


def of_requires(text: str, extras: Collection[str]) -> Iterator[str]:
    """The older form: sections `[extra]`, `[:marker]`, `[extra:marker]`."""
    wanted, marker = True, ""
    for line in (line.strip() for line in text.splitlines()):
        if line.startswith("["):
            extra, _, marker = line.strip("[]").partition(":")
            wanted = not extra or extra in extras
        elif line and wanted:
            yield f"{line}; {marker}" if marker else line
