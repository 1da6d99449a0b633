"""Which harnesses there are: ours, and those of any installed package, through entry points."""

from __future__ import annotations

import re
from importlib.metadata import EntryPoint, entry_points

from clawbench.errors import InputError
from clawbench.harnesses.protocol import Harness

GROUP = "clawbench.harnesses"
_VERSION = re.compile(r"[A-Za-z0-9_.+-]+")


def harness_names() -> list[str]:
    return sorted(_entries())


def get_harness(named: str) -> Harness:
    """A new adapter for `NAME`, or for another than its usual version: `NAME@VERSION`."""
    name, at, version = named.partition("@")
    entries = _entries()
    if name not in entries:
        known = ", ".join(sorted(entries)) or "none; is clawbench installed?"
        raise InputError(f"no harness is called {name!r}", remedy=f"Known harnesses: {known}")
    if at and _VERSION.fullmatch(version) is None:
        raise InputError(
            f"{version!r} is no version", field=named, remedy=f"Write {name}@1.2.3, or {name} alone"
        )
    try:
        factory = entries[name].load()
        harness: Harness = factory(version) if version else factory()
    except InputError:
        raise
    except Exception as error:
        if version and isinstance(error, TypeError):
            raise InputError(
                f"harness {name!r} has no versions to choose from",
                field="--harness",
                remedy=f"Name it without one: {name}",
            ) from None
        raise InputError(
            f"harness {name!r} cannot be loaded from {entries[name].value} ({error!r})",
            remedy="Reinstall or update the package that provides it",
        ) from error
    return harness


def _entries() -> dict[str, EntryPoint]:
    return {entry.name: entry for entry in entry_points(group=GROUP)}


def asks_model(harness: Harness) -> bool:
    """Whether it needs a model; a harness that does not says `asks_model = False`."""
    return bool(getattr(harness, "asks_model", True))


def installed_hash(harness: Harness) -> str | None:
    """Of the harness's installed files; MissingPartError where they are not there. Our own have none."""
    found: str | None = getattr(harness, "content_hash", None)
    return found
