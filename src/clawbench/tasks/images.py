"""Names of the container images that SWE-bench's instances run in."""

from __future__ import annotations

from collections.abc import Collection

PREFIX = "sweb.eval.x86_64"


def image_names(instance_id: str, named: str | None = None) -> list[str]:
    """What an instance's image may be called: by its row, as published, as a local build names it."""
    plain = instance_id.lower()
    published = f"swebench/{PREFIX}.{plain.replace('__', '_1776_')}"
    names = [named] if named else []
    return list(dict.fromkeys(_tagged(name) for name in [*names, published, f"{PREFIX}.{plain}"]))


def choose_image(instance_id: str, named: str | None, present: Collection[str]) -> str:
    """The first of these names that is on this machine; else the first, for whoever can fetch it."""
    names = image_names(instance_id, named)
    return next((name for name in names if name in present), names[0])


def _tagged(name: str) -> str:
    last = name.rsplit("/", 1)[-1]
    return name if ":" in last or "@" in last else f"{name}:latest"
